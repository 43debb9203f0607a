"""Watches and ends sandboxes: through the fork server over a channel, or from the process that started them."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from autograder.box import processes
from autograder.box.confinement.cgroups import remove_group
from autograder.box.endings import BoxUnavailable, ForkServerEnded
from autograder.box.frames import Json
from autograder.box.processes import Doing, Reading

ANSWER_SECONDS = 20.0
"""Until the fork server, which runs nothing of a student's, has answered."""

LOOK_SECONDS = 0.1
"""Between two looks at what a sandbox computes, where one of them takes microseconds."""

DEAR_LOOK_SECONDS = 0.5
"""The same where it takes milliseconds: to look through all processes, or to ask another one."""

_MESSAGE_BYTES = 1 << 16


class BoxHandle:
    """Watches a sandbox's process, waits for it, and ends it.

    Attributes:
        process: its number here; 0 where it has none.
        look_seconds: how long to leave between two looks.
        group: its control group, where it has one.
    """

    def __init__(self, process: int, alone: bool) -> None:
        self.process = process
        self.look_seconds = (
            LOOK_SECONDS if alone and process and sys.platform.startswith("linux") else DEAR_LOOK_SECONDS
        )
        self._alone = alone
        self.group: Path | None = None

    def look(self) -> Reading | None:
        """What it and the processes that it has started have computed; None where that is unknown.

        Raises:
            BoxUnavailable: the fork server knows, and has gone.
        """
        return processes.read(self.process, self._alone)

    def wait(self, seconds: float) -> bool:
        """Whether the process has ended by itself within `seconds`."""
        raise NotImplementedError

    def end(self) -> int:
        """Kill the process with everything it started; its wait status.

        Raises:
            BoxUnavailable: the fork server has gone, and with it the status.
        """
        try:
            return self._kill()
        finally:
            if self.group is not None:
                remove_group(self.group)

    def _kill(self) -> int:
        raise NotImplementedError


class Channel:
    """One conversation with the fork server, one request and its answer at a time."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._lock = threading.Lock()

    def fork(self, wire: socket.socket, alone: bool) -> BoxHandle:
        """Let the fork server fork a sandbox that speaks through `wire`.

        Args:
            wire: the sandbox's end of its connection.
            alone: whether it can start no other processes.

        Raises:
            BoxUnavailable: it cannot.
        """
        answer, descriptors = self.ask({"do": "open"}, wire)
        if "failed" in answer:
            raise BoxUnavailable(f"a sandbox could not be opened: {answer['failed']}")
        return Forked(self, answer["process"], descriptors[0], alone)

    def ask(self, message: dict[str, Json], wire: socket.socket | None = None) -> tuple[Json, list[int]]:
        """Send a request; its answer, with the descriptors that came along.

        Raises:
            BoxUnavailable: the fork server has ended, or does not answer.
        """
        number = secrets.token_hex(8)
        data = json.dumps({**message, "id": number}).encode()
        with self._lock:
            try:
                socket.send_fds(self._control, [data], [] if wire is None else [wire.fileno()])
            except OSError as error:
                raise ForkServerEnded("the fork server has ended") from error
            until = time.monotonic() + ANSWER_SECONDS
            while True:
                answer, descriptors = self.receive(until - time.monotonic())
                if answer["id"] == number:
                    return answer, descriptors
                for descriptor in descriptors:  # an answer to a worker that used this channel before, and died
                    os.close(descriptor)

    def receive(self, seconds: float) -> tuple[Json, list[int]]:
        """The next message, with the descriptors that came along.

        Raises:
            BoxUnavailable: none came in that many seconds, or none can come any more.
        """
        self._control.settimeout(max(seconds, 0.001))
        try:
            data, descriptors, _, _ = socket.recv_fds(self._control, _MESSAGE_BYTES, 1)
        except ConnectionError as error:
            raise ForkServerEnded("the fork server has ended") from error
        except OSError as error:
            raise BoxUnavailable("the fork server does not answer") from error
        if not data:
            raise ForkServerEnded("the fork server has ended")
        return json.loads(data), list(descriptors)

    def close(self, quit_server: bool) -> None:
        """Hang up, and if asked to, tell the fork server to end."""
        if quit_server:
            with contextlib.suppress(OSError):
                self._control.send(b'{"do":"quit"}')
        self._control.close()


class Forked(BoxHandle):
    """A fork: the fork server reaps it, its process descriptor tells when it ends.

    The fork server may live in a namespace of its own, where processes have other numbers.
    """

    def __init__(self, channel: Channel, number: int, handle: int, alone: bool) -> None:
        super().__init__(_process_of(handle), alone)
        self._number = number
        self._channel = channel
        self._handle = handle

    def look(self) -> Reading | None:
        """A reading from here, or where its process cannot be seen (from another container) the fork server's."""
        if self.process:
            return super().look()
        answer, _ = self._channel.ask({"do": "look", "process": self._number})
        reading = answer.get("reading")
        return None if reading is None else Reading(reading["computed"], Doing(reading["doing"]))

    def wait(self, seconds: float) -> bool:
        """Whether its descriptor says so within `seconds`."""
        poll = select.poll()
        poll.register(self._handle, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def _kill(self) -> int:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)
        os.close(self._handle)
        answer, _ = self._channel.ask({"do": "end", "process": self._number})
        return int(answer["status"])


class Spawned(BoxHandle):
    """A process of its own."""

    def __init__(self, process: subprocess.Popen[bytes], alone: bool) -> None:
        super().__init__(process.pid, alone)
        self._process = process

    def look(self) -> Reading | None:
        """A reading from here, until it has been reaped."""
        return super().look() if self._process.returncode is None else None

    def wait(self, seconds: float) -> bool:
        """Whether it could be reaped within `seconds`."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
            return True
        return False

    def _kill(self) -> int:
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if self._process.returncode is None or kill is os.killpg:
                    kill(self._process.pid, signal.SIGKILL)
        code = self._process.wait()
        return -code if code < 0 else code << 8


def _process_of(handle: int) -> int:
    """The number that a process has here, from its descriptor; 0 where that is unknown, or the process has ended."""
    with contextlib.suppress(OSError), open(f"/proc/self/fdinfo/{handle}") as file:
        for line in file:
            if line.startswith("Pid:"):
                return max(int(line.split()[1]), 0)
    return 0
