"""The grader's side: start a fork server, and open sandboxes.

    with ForkServer(withheld=()) as fork_server, fork_server.open_box() as sandbox:
        result = box.run_cell("def dot_product_scores(q, k): return q @ k.mT")
        [observation] = box.observe_cases("dot_product_scores", [case])

A sandbox that ends, hangs, or violates the protocol raises `BoxLost`, once; by then it is dead.
"""

import contextlib
import dataclasses
import logging
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, Self

from autograder.box.box import START_SECONDS, WATCH_SECONDS, Box
from autograder.box.clocks import Clock
from autograder.box.confinement.cgroups import Division, own_division
from autograder.box.confinement.container import ContainerFailed
from autograder.box.confinement.levels import Level
from autograder.box.disk import remove
from autograder.box.endings import BoxUnavailable
from autograder.box.fork_server.handles import ANSWER_SECONDS, BoxHandle, Channel, Spawned
from autograder.box.fork_server.root import BoxRoot, tell
from autograder.box.frames import Frame, encode_frame
from autograder.box.library import copy_library
from autograder.limits import Limits

logger = logging.getLogger(__name__)

StartMethod = Literal["fork", "spawn"]


class ForkServer:
    """A warm process from which sandboxes are forked; with `start="spawn"` each sandbox is a fresh process instead.

    It takes about two seconds to warm up, in the background, so do something else before calling `ready`; `with` and
    the first sandbox call it by themselves.

    Args:
        withheld: modules that must not be in the sandboxes.
        level: the sandboxes' level of confinement.
        limits: of each sandbox.
        channels: how many processes or threads may use this fork server at once, each with its own channel number.
        start: "fork", or "spawn" where forking after importing torch is unsafe (macOS); by default, whichever works.
        trains: whether to preload what training needs. Without it, sandboxes are ready half a second earlier, and one
            that does train loads it itself.
        stand_ins: whether packages that are not installed get a stand-in when cells import them.
        own: the course's own packages, which contain its answers and get no stand-in.
        held: names of `course_lib` that the sandboxes need, along with their imports; None for everything not
            withheld.
        root: an early-started process, with the same level and limits and at least as many channels.

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
        root: BoxRoot | None = None,
    ) -> None:
        self.level = level
        self.limits = limits or Limits()
        self.start: StartMethod = start or ("fork" if _can_fork() else "spawn")
        self._division = own_division() if Level.L0 < level < Level.L4 else None
        self._owner = os.getpid()
        self._is_ready = False
        self._channels: list[Channel] = []
        with _container_is_there():
            self._root = root or BoxRoot(level, self.limits, channels, serves=self.start == "fork")
        library, withheld = self._root.path / "library", sorted(withheld)
        try:
            self._setup = {
                "library": str(library),
                "packages": self._root.enclosure.packages,
                "modules": copy_library(library, withheld, held),
                "withheld": withheld,
                "trains": trains,
                "stand_ins": stand_ins,
                "own": list(own),
                "level": int(level),
            }
            if self.start == "fork":
                self._begin_server()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        self.ready()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def ready(self) -> None:
        """Wait until sandboxes can be opened. Call it before forking processes that use the channels.

        Raises:
            BoxUnavailable: the process did not start, and has been ended.
        """
        if self._is_ready:
            return
        try:
            if self._root.listener is not None:
                self._accept(self._root.listener)
            for channel in self._channels:
                channel.receive(START_SECONDS)
        except BoxUnavailable as error:
            reason = f"{error}: {self._root.last_words()}"
            self.close()
            raise BoxUnavailable(reason) from error
        self._is_ready = True
        logger.info("sandboxes can be opened, at level %s", self.level.name)

    def open_box(
        self,
        channel: int = 0,
        *,
        seed: int | None = None,
        seconds: float | None = None,
        limits: Limits | None = None,
        files: Path | None = None,
    ) -> Box:
        """Open a new, confined sandbox; its folder is empty or starts with a copy of some files.

        Args:
            channel: the channel to use; no two users may share one.
            seed: of the sandbox's random numbers; random by default.
            seconds: the submission's remaining time; by default all of it.
            limits: its limits; by default the fork server's.
            files: a folder with files to copy; it must not contain links.

        Raises:
            BoxUnavailable: it could not be opened.
        """
        self.ready()
        limits = limits or self.limits
        until = Clock.of(limits, "submission_seconds")
        if seconds is not None:
            until = until.with_left(seconds)
        alone = self.level >= Level.L2
        folder = Path(tempfile.mkdtemp(dir=self._root.path / "boxes"))
        if files is not None:
            shutil.copytree(files, folder, dirs_exist_ok=True)
        setup = {"folder": str(folder), "seed": seed, "limits": dataclasses.asdict(limits)}
        ours, theirs = socket.socketpair()
        try:
            ours.sendall(encode_frame(Frame(setup), limits.frame_bytes))  # to the sandbox itself
            with theirs:
                if self.start == "fork":
                    handle: BoxHandle = self._channels[channel].fork(theirs, alone)
                else:
                    process = self._root.start([theirs])
                    tell(process, {**self._setup, "sockets": [theirs.fileno()], "is_box": True})
                    handle = Spawned(process, alone)
            if self._division is not None and handle.process:  # at level L4 its container has a group
                _put_into_group(handle, self._division, limits)
        except BaseException:
            ours.close()
            remove(folder)
            raise
        logger.debug("sandbox %d opened", handle.process)
        return Box(ours, handle, limits, folder, until)

    def take_over(self, channel: int) -> None:
        """End the sandboxes that an earlier user of the channel left open when it died.

        Raises:
            BoxUnavailable: the fork server does not answer.
        """
        if self._channels:
            self._channels[channel].ask({"do": "clear"})

    def revive(self) -> None:
        """Start another process if this one has ended. Like `ready`, call it before forking users of the channels.

        Raises:
            BoxUnavailable: it did not start.
        """
        process = self._root.process
        if process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(WATCH_SECONDS)  # what its channels tell at once can take a moment to be seen here
        if process.returncode is None:
            return
        logger.warning("the fork server has ended with status %s; another one is started", process.returncode)
        for channel in self._channels:
            channel.close(quit_server=False)
        for left in (self._root.path / "boxes").iterdir():
            remove(left)
        self._is_ready = False
        with _container_is_there():
            self._root.start_server()
        self._begin_server()
        self.ready()

    def close(self) -> None:
        """End the fork server and its sandboxes. Call it only in the process that started it."""
        for channel in self._channels:
            channel.close(quit_server=os.getpid() == self._owner)
        self._root.close(ANSWER_SECONDS if self._is_ready else 0)  # one still warming up hears nothing

    def _begin_server(self) -> None:
        """Tell the started process what its sandboxes should have."""
        self._channels = [Channel(end) for end in self._root.ends]
        self._root.tell_server(self._setup)

    def _accept(self, listener: socket.socket) -> None:
        """Let the inside connect once for each channel.

        Raises:
            BoxUnavailable: it has ended, or takes too long.
        """
        until = time.monotonic() + START_SECONDS
        with listener:
            listener.settimeout(WATCH_SECONDS)
            while len(self._channels) < self._root.channels:
                try:
                    self._channels.append(Channel(listener.accept()[0]))
                except TimeoutError as error:
                    ended = self._root.process is None or self._root.process.poll() is not None
                    if ended or time.monotonic() > until:
                        raise BoxUnavailable("the fork server does not start") from error


def _put_into_group(handle: BoxHandle, division: Division, limits: Limits) -> None:
    try:
        handle.group = division.admit(handle.process, limits)
    except OSError as error:
        handle.end()
        raise BoxUnavailable(f"a sandbox could not be put into a control group: {error}") from error


@contextlib.contextmanager
def _container_is_there() -> Iterator[None]:
    try:
        yield
    except ContainerFailed as problem:
        raise BoxUnavailable(f"no container could be started: {problem}") from problem


def _can_fork() -> bool:
    """Return whether sandboxes can be forks: on Linux 5.3 or newer, which has process descriptors."""
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return False
    return True
