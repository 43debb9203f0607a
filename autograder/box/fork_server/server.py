"""The fork server: a fresh process that imports everything once, and forks a sandbox from itself on request.

It starts from the filtered library (see `library.py`) and never holds anything that a sandbox must not know. It runs no
student code, so the grader can trust it to report what a sandbox computes, to end it, and to say how it ended.
"""

import _sitebuiltins
import asyncio
import builtins
import contextlib
import ctypes
import gc
import importlib
import importlib.util
import json
import os
import resource
import select
import shutil
import signal
import socket
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from IPython.core.pylabtools import activate_matplotlib
from matplotlib_inline.backend_inline import configure_inline_support

from autograder.box import processes
from autograder.box.confinement import landlock
from autograder.box.confinement.grants import open_grants
from autograder.box.confinement.levels import Level
from autograder.box.fork_server.large_pages import use_large_pages
from autograder.box.inside import child
from autograder.box.inside.missing import MissingPackages
from autograder.box.inside.pristine import Pristine
from autograder.box.inside.recorder import Recorder
from autograder.box.inside.shell import BoxShell, LastValue, Publisher
from autograder.limits import Limits

_MESSAGE_BYTES = 1 << 16
_SUBREAPER = 36  # of prctl
_SWEEPS = 100
_WELCOME = ("ipywidgets", "jaxtyping")  # if installed: they are common
_TRAINING = "torch._dynamo"  # what the first optimizer loads, for longer than a second
_BACKEND = "module://matplotlib_inline.backend_inline"
_REHEARSAL = (
    "import matplotlib.pyplot as plt\nplt.plot([1, 2], label='a')\nplt.legend()\nplt.title('a')",
    "%time 1",
    "1 / 0",
    "def",
    "await __import__('asyncio').sleep(0)",
    "import torch\ntorch.ones(2, 2) @ torch.ones(2, 2)",
)


@dataclass(frozen=True)
class Start:
    """The grader's message to a fresh process, a line of JSON.

    Attributes:
        library: the filtered copy of the library, first on the path.
        packages: folders of installed packages.
        modules: the modules of `course_lib` in the copy.
        withheld: modules that must not be importable.
        level: its sandboxes' level.
        sockets: descriptors: a control socket per channel, or the wire of the only sandbox.
        door: a socket to connect to once per channel, if none can be inherited.
        channels: the number of channels in that case.
        trains: whether to preload what training needs.
        stand_ins: whether packages that are not installed get a stand-in.
        own: the course's own packages, which get no stand-in.
        is_box: whether to become a sandbox itself instead of a fork server.
    """

    library: str
    packages: list[str]
    modules: list[str]
    withheld: list[str]
    level: int
    sockets: list[int]
    door: str = ""
    channels: int = 0
    trains: bool = True
    stand_ins: bool = True
    own: Sequence[str] = ()
    is_box: bool = False

    def confinement(self) -> child.Confinement:
        """Return how its sandboxes confine themselves, and what they may read."""
        grants: list[landlock.Grant] = []
        if self.level >= Level.L2:
            grants = open_grants([Path(self.library)], [Path(path) for path in self.packages])
        return child.Confinement(Level(self.level), tuple(grants))


def main(told: str) -> None:
    """Run a fresh process that has imported packages (`root.py`): as a fork server or, where forking is unsafe, as a
    single sandbox.
    """
    start = Start(**json.loads(told))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # there are no more orders
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # some hundreds of them stay open
    missing = MissingPackages(start.own)
    if start.stand_ins:
        sys.meta_path.append(missing)
    shell, confinement = warm_up(start), start.confinement()
    if start.is_box:
        [wire] = start.sockets
        child.live_in_box(wire, shell, missing, confinement)
    sockets = [*start.sockets, *(_connect(start.door) for _ in range(start.channels))]
    ForkServerProcess(shell, missing, confinement, sockets, Path(start.library).parent).serve()


def _connect(door: str) -> int:
    control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    control.connect(door)
    return control.detach()


def warm_up(start: Start) -> BoxShell:
    """Import what sandboxes need, make their shell, and check that nothing withheld can be imported.

    Everything imported stays forever, so it is excluded from garbage collection, which starts here.
    """
    for name in [*_WELCOME, *([_TRAINING] if start.trains else []), *start.modules]:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for name in start.withheld:
        with contextlib.suppress(ImportError):
            if importlib.util.find_spec(name) is not None:
                raise RuntimeError(f"{name} is withheld but can still be imported")
    gc.freeze()
    gc.enable()
    builtins.help = _sitebuiltins._Helper()  # what `site` would have done
    shell = BoxShell.instance(displayhook_class=LastValue, display_pub_class=Publisher, colors="nocolor")
    shell.db = {}  # what magics remember goes nowhere
    activate_matplotlib(_BACKEND)
    configure_inline_support(shell, _BACKEND)  # type: ignore[no-untyped-call]
    rehearse(shell)
    shell.pristine = Pristine(shell.user_ns)
    return shell


def rehearse(shell: BoxShell) -> None:
    """Run one cell of each kind, so that lazy imports happen once for all sandboxes; then forget the cells."""
    loop = asyncio.new_event_loop()
    shell.recorder, shell.loop_runner = Recorder(Limits().output_bytes), loop.run_until_complete
    for source in _REHEARSAL:
        shell.run(source)
    loop.close()
    shell.reset(new_session=True)  # type: ignore[no-untyped-call]


class ForkServerProcess:
    """Forks sandboxes, keeps them as unreaped children until told to reap them, and cleans up after them."""

    def __init__(
        self,
        shell: BoxShell,
        missing: MissingPackages,
        confinement: child.Confinement,
        sockets: Iterable[int],
        root: Path,
    ) -> None:
        self._shell = shell
        self._missing = missing
        self._confinement = confinement
        self._root = root
        self._channels = {descriptor: socket.socket(fileno=descriptor) for descriptor in sockets}
        self._boxes: dict[int, int] = {}  # process -> the channel that opened it

    def serve(self) -> None:
        """Serve the channels until the last one is closed."""
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
        tasks = os.listdir("/proc/self/task")
        if len(tasks) != 1:
            raise RuntimeError(f"{len(tasks)} threads in a process that is about to fork")
        gc.collect()
        gc.freeze()
        for control in self._channels.values():
            control.send(b'{"ready":true}')
        use_large_pages()  # while the grader gets ready as well; the first sandbox waits for it
        while self._channels:
            readable, _, _ = select.select(list(self._channels), [], [])
            for channel in readable:
                if channel in self._channels:
                    self._answer(channel)
        with contextlib.suppress(RecursionError):  # the grader was killed: nobody else will tidy up
            shutil.rmtree(self._root, ignore_errors=True)
        os._exit(0)

    def _answer(self, channel: int) -> None:
        control = self._channels[channel]
        try:
            data, descriptors, _, _ = socket.recv_fds(control, _MESSAGE_BYTES, 1)
        except OSError:
            data, descriptors = b"", []
        if not data:
            self._forget(channel)
            return
        request = json.loads(data)
        if request["do"] == "open":
            self._open(channel, request, descriptors[0])
        elif request["do"] == "look":
            reading = processes.read(request["process"], alone=self._confinement.level >= Level.L2)
            self._reply(channel, request, {} if reading is None else {"reading": asdict(reading)})
        elif request["do"] == "end":
            self._reply(channel, request, {"status": self._end(request["process"])})
        elif request["do"] == "clear":
            self._clear(channel)
            self._reply(channel, request, {})
        else:
            for other in list(self._channels):
                self._forget(other)
            os._exit(0)

    def _reply(
        self, channel: int, request: dict[str, Any], message: dict[str, Any], descriptors: tuple[int, ...] = ()
    ) -> None:
        data = json.dumps({"id": request["id"], **message}).encode()
        with contextlib.suppress(OSError):  # a client that does not wait for the answer is forgotten next
            socket.send_fds(self._channels[channel], [data], descriptors)

    def _open(self, channel: int, request: dict[str, Any], wire: int) -> None:
        try:
            process = os.fork()
        except OSError as error:
            os.close(wire)
            self._reply(channel, request, {"failed": str(error)})
            return
        if process == 0:
            processes.end_with_parent()
            child.live_in_box(wire, self._shell, self._missing, self._confinement)
        os.close(wire)
        self._boxes[process] = channel
        handle = os.pidfd_open(process)
        self._reply(channel, request, {"process": process}, (handle,))
        os.close(handle)

    def _end(self, process: int) -> int:
        """Kill a sandbox and everything it started; return its wait status, whether it ended by itself or by this."""
        if self._boxes.pop(process, None) is None:
            return 0
        for kill, target in ((os.killpg, process), (os.kill, process)):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(target, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        self._sweep()
        return status

    def _sweep(self) -> None:
        """Kill processes that sandboxes left behind: orphans become children of this process."""
        if self._confinement.level >= Level.L2:
            return  # nothing can have been started
        for _ in range(_SWEEPS):
            strays = [process for process in processes.children(os.getpid()) if process not in self._boxes]
            if not strays:
                return
            for process in strays:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process, signal.SIGKILL)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(process, 0)

    def _forget(self, channel: int) -> None:
        """Close a channel whose user is gone, and end its sandboxes."""
        self._channels.pop(channel).close()
        self._clear(channel)

    def _clear(self, channel: int) -> None:
        for process in [process for process, owner in self._boxes.items() if owner == channel]:
            self._end(process)
