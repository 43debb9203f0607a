"""The grader's side: start a fork server, and open boxes.

    with ForkServer(withheld=()) as fork_server, fork_server.open_box() as box:
        result = box.run_cell("def dot_product_scores(q, k): return q @ k.mT")
        observation = box.observe("dot_product_scores", case)

A box that ends, hangs, or breaks the protocol raises `BoxLost`, once; it is dead by then.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, Self

from autograder.box.box import START_SECONDS, WATCH_SECONDS, Box
from autograder.box.clocks import Clock
from autograder.box.confinement.cgroups import own_division
from autograder.box.confinement.container import ContainerFailed
from autograder.box.confinement.enclosure import enclosure_at
from autograder.box.confinement.levels import Level
from autograder.box.disk import made_and_locked, remove
from autograder.box.endings import BoxUnavailable
from autograder.box.fork_server.handles import ANSWER_SECONDS, BoxHandle, Channel, Grouped, Spawned
from autograder.box.frames import Frame, Json, encode_frame
from autograder.box.library import copy_library
from autograder.limits import Limits

logger = logging.getLogger(__name__)

StartMethod = Literal["fork", "spawn"]


class ForkServer:
    """A warm process from which boxes are forked; with `start="spawn"` each box is a fresh process instead.

    It takes two seconds or so to warm up, in the background: there is time for something else before `ready`,
    which `with` and the first box call by themselves.

    Args:
        withheld: modules that must not be in the boxes.
        level: how the boxes are confined.
        limits: what each may use.
        channels: how many processes or threads may use this fork server at once, each with a number of its own.
        start: "fork", or "spawn" where forking after importing torch is unsafe (macOS); by default whichever fits.
        trains: load what training needs; without it, boxes are ready half a second earlier, and any that
            trains after all loads it for itself.
        stand_ins: let something stand in for packages that are not installed, where cells import them.
        own: packages of the course's own, with its answers, for which nothing stands in.
        held: names of `course_lib` that the boxes are for, with whatever they need; None for all that is not withheld.

    Raises:
        BadInput: a withheld module does not exist.
        BoxUnavailable: at level L4, no container can be started.
    """

    def __init__(
        self,
        withheld: Iterable[str] = (),
        level: Level = Level.L2,
        limits: Limits | None = None,
        channels: int = 1,
        start: StartMethod | None = None,
        trains: bool = True,
        stand_ins: bool = True,
        own: Iterable[str] = (),
        held: Iterable[str] | None = None,
    ) -> None:
        self.level = level
        self._trains = trains
        self._stand_ins = stand_ins
        self._own = list(own)
        self.limits = limits or Limits()
        self.start: StartMethod = start or ("fork" if _can_fork() else "spawn")
        self._boxes = channels
        self._division = own_division() if Level.L0 < level < Level.L4 else None
        self._owner = os.getpid()
        self._is_ready = False
        self._root, self._lock = made_and_locked("katze-box-locked_")
        self._enclosure = enclosure_at(level, self.limits, channels)
        self._process: subprocess.Popen[bytes] | None = None
        self._listener: socket.socket | None = None  # where the inside connects, if it cannot inherit its channels
        self._channels: list[Channel] = []
        try:
            for name in ("library", "home", "boxes"):
                (self._root / name).mkdir()
            self._withheld = sorted(withheld)
            self._modules = copy_library(self._root / "library", self._withheld, held)
            if self.start == "fork":
                self._start_server(channels)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        self.ready()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def ready(self) -> None:
        """Wait until boxes can be opened. Call it before this process forks users of the channels.

        Raises:
            BoxUnavailable: the process did not start; it has been ended.
        """
        if self._is_ready:
            return
        try:
            if self._listener is not None:
                self._accept(self._listener)
            for channel in self._channels:
                channel.receive(START_SECONDS)
        except BoxUnavailable as error:
            reason = f"{error}: {self._last_words()}"
            self.close()
            raise BoxUnavailable(reason) from error
        self._is_ready = True
        logger.info("boxes can be opened, at level %s", self.level.name)

    def open_box(
        self,
        channel: int = 0,
        *,
        seed: int | None = None,
        seconds: float | None = None,
        limits: Limits | None = None,
        files: Path | None = None,
    ) -> Box:
        """A new box, confined; its folder is empty, or begins with a copy of some files.

        Args:
            channel: which of the fork server's channels to use; no two users may share one.
            seed: of the box's random numbers; drawn anew by default.
            seconds: how much of its time the submission has left; by default all of it.
            limits: what it may use; by default the fork server's limits.
            files: a folder whose files it begins with; no link may be among them.

        Raises:
            BoxUnavailable: it could not be opened.
        """
        self.ready()
        limits = limits or self.limits
        until = Clock.of(limits, "submission_seconds")
        if seconds is not None:
            until = until.with_left(seconds)
        alone = self.level >= Level.L2
        folder = Path(tempfile.mkdtemp(dir=self._root / "boxes"))
        if files is not None:
            shutil.copytree(files, folder, dirs_exist_ok=True)
        setup = {"folder": str(folder), "seed": seed, "limits": dataclasses.asdict(limits)}
        ours, theirs = socket.socketpair()
        try:
            ours.sendall(encode_frame(Frame(setup), limits.frame_bytes))  # to the box itself
            with theirs:
                if self.start == "fork":
                    handle: BoxHandle = self._channels[channel].fork(theirs, alone)
                else:
                    handle = Spawned(self._run([theirs], {"is_box": True}), alone)
            handle = self._grouped(handle, limits)
        except BaseException:
            ours.close()
            remove(folder)
            raise
        logger.debug("box %d opened", handle.process)
        return Box(ours, handle, limits, folder, until)

    def _grouped(self, handle: BoxHandle, limits: Limits) -> BoxHandle:
        """The box in a control group, where there can be one; at level L4 its container has one."""
        if self._division is None or not handle.process:
            return handle
        try:
            return Grouped(handle, self._division.new_group(limits))
        except OSError as error:
            handle.end()
            raise BoxUnavailable(f"a box could not be put into a control group: {error}") from error

    def take_over(self, channel: int) -> None:
        """End the boxes that an earlier user of the channel, who has died, left open.

        Raises:
            BoxUnavailable: the fork server does not answer.
        """
        if self._channels:
            self._channels[channel].ask({"do": "clear"})

    def revive(self) -> None:
        """Start another process if this one has ended; before this process forks users of the channels, as `ready`.

        Raises:
            BoxUnavailable: it did not start.
        """
        if self._process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(WATCH_SECONDS)  # what its channels tell at once can take a moment to be seen here
        if self._process.returncode is None:
            return
        logger.warning("the fork server has ended with status %s; another one is started", self._process.returncode)
        for channel in self._channels:
            channel.close(quit_server=False)
        for left in (self._root / "boxes").iterdir():
            remove(left)
        self._channels, self._is_ready = [], False
        self._start_server(self._boxes)
        self.ready()

    def close(self) -> None:
        """End the fork server and its boxes; only in the process that started it."""
        for channel in self._channels:
            channel.close(quit_server=os.getpid() == self._owner)
        if os.getpid() != self._owner:
            return
        if self._listener is not None:
            self._listener.close()
        if self._process is not None:
            try:
                self._process.wait(ANSWER_SECONDS if self._is_ready else 0)  # one still warming up hears nothing
            except subprocess.TimeoutExpired:
                self._enclosure.end(self._root)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        remove(self._root)
        with contextlib.suppress(OSError):  # closed before
            os.close(self._lock)

    def _start_server(self, channels: int) -> None:
        if not self._enclosure.passes_descriptors:
            door = self._root / "door"
            door.unlink(missing_ok=True)
            self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self._listener.bind(str(door))
            door.chmod(0o600)
            self._listener.listen(channels)
            try:
                self._process = self._run([], {"door": str(door), "channels": channels})
            except ContainerFailed as problem:
                raise BoxUnavailable(f"no container could be started: {problem}") from problem
            return
        pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(channels)]
        self._channels = [Channel(ours) for ours, _ in pairs]
        try:
            self._process = self._run([theirs for _, theirs in pairs], {})
        finally:
            for _, theirs in pairs:
                theirs.close()

    def _accept(self, listener: socket.socket) -> None:
        """Let the inside connect, once for each channel.

        Raises:
            BoxUnavailable: it has ended, or takes too long.
        """
        until = time.monotonic() + START_SECONDS
        with listener:
            listener.settimeout(WATCH_SECONDS)
            while len(self._channels) < self._boxes:
                try:
                    self._channels.append(Channel(listener.accept()[0]))
                except TimeoutError as error:
                    ended = self._process is None or self._process.poll() is not None
                    if ended or time.monotonic() > until:
                        raise BoxUnavailable("the fork server does not start") from error

    def _last_words(self) -> str:
        lines = (self._root / "log").read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it left no message"

    def _run(self, sockets: list[socket.socket], wish: dict[str, Json]) -> subprocess.Popen[bytes]:
        """A fresh process on the filtered library, with nothing of this one's environment."""
        library, packages = str(self._root / "library"), self._enclosure.packages
        environment = _environment(self._root / "home")
        argument = {
            "library": library,
            "packages": packages,
            "modules": self._modules,
            "withheld": self._withheld,
            "trains": self._trains,
            "stand_ins": self._stand_ins,
            "own": self._own,
            "level": int(self.level),
            "sockets": [end.fileno() for end in sockets],
            **wish,
        }
        code = "import gc, sys; gc.disable(); "  # until all is imported, of which next to nothing is garbage
        code += f"sys.path[:] = [{library!r}, *sys.path, *{packages!r}]; "
        code += "from autograder.box.fork_server.server import main; main(sys.argv[1])"
        arguments = ["-s", "-P", "-S", "-B", "-c", code, json.dumps(argument)]
        with open(self._root / "log", "ab") as log:
            return subprocess.Popen(
                self._enclosure.command(self._root, environment, arguments),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                pass_fds=[end.fileno() for end in sockets],
                cwd=self._root / "home",
                env=self._enclosure.own_environment(environment),
                start_new_session=True,
            )


def _can_fork() -> bool:
    """Whether boxes can be forks: on Linux 5.3 or newer, where a process can be held by a descriptor."""
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return False
    return True


def _environment(home: Path) -> dict[str, str]:
    """All of the environment of a fork server and its boxes. One thread: threads do not survive a fork."""
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
