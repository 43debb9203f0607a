"""The folder of a fork server and its sandboxes, and fresh processes in it.

A fresh process first imports packages, and only then learns what it should become, so it can be started before the
grader itself has imported torch. Nothing here needs torch.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any, Self

from autograder.box.confinement.bubblewrap import Bubblewrap
from autograder.box.confinement.container import Container
from autograder.box.confinement.enclosure import Enclosure
from autograder.box.confinement.levels import Level
from autograder.box.disk import made_and_locked, remove
from autograder.limits import Limits

PACKAGES = (
    "torch",
    "torch.utils.data",
    "numpy",
    "numpy.random",
    "matplotlib.pyplot",
    "matplotlib_inline.backend_inline",
    "safetensors.torch",
)
"""Installed packages that every sandbox needs."""

_PROGRAM = """
import gc, sys
gc.disable()  # until all is imported, of which next to nothing is garbage
sys.path[:] = [{library!r}, *sys.path, *{packages!r}]
for name in {names!r}:
    __import__(name)
told = sys.stdin.readline()
if told:  # else the grader has ended
    from autograder.box.fork_server.server import main
    main(told)
"""


def enclosure_at(level: Level, limits: Limits, boxes: int) -> Enclosure:
    """Return the enclosure of a fork server.

    Args:
        level: its sandboxes' level.
        limits: of a sandbox.
        boxes: the largest number at once.
    """
    if level is Level.L4:
        return Container(limits, boxes)
    return Bubblewrap() if level is Level.L3 else Enclosure()


class BoxRoot:
    """The folder of sandboxes, with their fork server's process and channels, if they have one.

    Args:
        level: the sandboxes' level of confinement.
        limits: of each sandbox.
        channels: the number of channels, each of which opens one sandbox at a time.
        serves: whether to start a process for a fork server; without it, each sandbox is a fresh process.

    Raises:
        ContainerFailed: at level L4, no container can be started.
    """

    def __init__(self, level: Level, limits: Limits, channels: int, serves: bool = True) -> None:
        self.level = level
        self.channels = channels
        self.path, self._lock = made_and_locked("katze-box-locked_")
        self.enclosure = enclosure_at(level, limits, channels)
        self.process: subprocess.Popen[bytes] | None = None
        self.ends: list[socket.socket] = []
        self._theirs: list[socket.socket] = []
        self.listener: socket.socket | None = None  # where the inside connects, if it cannot inherit its channels
        self._owner = os.getpid()
        try:
            for name in ("library", "home", "boxes"):
                (self.path / name).mkdir()
            if serves:
                self.start_server()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def start_server(self) -> None:
        """Start the process that becomes the fork server.

        Raises:
            ContainerFailed: no container can be started.
        """
        if not self.enclosure.passes_descriptors:
            door = self.path / "door"
            door.unlink(missing_ok=True)
            self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self.listener.bind(str(door))
            door.chmod(0o600)
            self.listener.listen(self.channels)
            self.process = self.start([])
            return
        pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(self.channels)]
        self.ends = [ours for ours, _ in pairs]
        self._theirs = [theirs for _, theirs in pairs]
        self.process = self.start(self._theirs)

    def tell_server(self, what: dict[str, Any]) -> None:
        """Tell that process which fork server to become."""
        assert self.process is not None
        if self.listener is not None:
            tell(self.process, {**what, "sockets": [], "door": str(self.path / "door"), "channels": self.channels})
            return
        tell(self.process, {**what, "sockets": [end.fileno() for end in self._theirs]})
        for end in self._theirs:
            end.close()

    def start(self, sockets: list[socket.socket]) -> subprocess.Popen[bytes]:
        """Start a fresh process with the folder's library and none of this one's environment; it waits for `tell`."""
        library, packages = str(self.path / "library"), self.enclosure.packages
        environment = _environment(self.path / "home")
        program = _PROGRAM.format(library=library, packages=packages, names=PACKAGES)
        with open(self.path / "log", "ab") as log:
            return subprocess.Popen(
                self.enclosure.command(self.path, environment, ["-s", "-P", "-S", "-B", "-c", program]),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=log,
                pass_fds=[end.fileno() for end in sockets],
                cwd=self.path / "home",
                env=self.enclosure.own_environment(environment),
                start_new_session=True,
            )

    def last_words(self) -> str:
        """Return the end of its processes' error output."""
        lines = (self.path / "log").read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it left no message"

    def close(self, patience: float = 0.0) -> None:
        """End the fork server and its sandboxes, and remove the folder. Call it only in the process that made it.

        Args:
            patience: seconds it may take to end by itself once asked.
        """
        if os.getpid() != self._owner:
            return
        for end in (*self.ends, *self._theirs, *filter(None, [self.listener])):
            end.close()
        if self.process is not None:
            if self.process.stdin is not None:
                self.process.stdin.close()
            try:
                self.process.wait(patience)
            except subprocess.TimeoutExpired:
                self.enclosure.end(self.path)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        remove(self.path)
        with contextlib.suppress(OSError):  # closed before
            os.close(self._lock)


def tell(process: subprocess.Popen[bytes], what: dict[str, Any]) -> None:
    """Tell a fresh process what to become: the fields of `server.Start`. Do nothing if it has ended."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError), process.stdin as pipe:
        pipe.write(json.dumps(what).encode() + b"\n")


def _environment(home: Path) -> dict[str, str]:
    """Return the whole environment of a fork server and its sandboxes. One thread: threads do not survive a fork."""
    threads = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
    return {
        **dict.fromkeys(threads, "1"),
        **dict.fromkeys(("HOME", "TMPDIR", "IPYTHONDIR", "MPLCONFIGDIR"), str(home)),
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "MALLOC_ARENA_MAX": "2",  # each arena takes 64 MB of address space, which is limited
        "PYTHONHASHSEED": "0",  # so that a set has the same order in every run, and a regrade repeats exactly
    }
