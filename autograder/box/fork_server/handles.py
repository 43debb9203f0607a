"""Watches and ends sandboxes: through the fork server over a channel, or from the process that started them."""

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
"""Time limit for a reply from the fork server, which runs no student code."""

LOOK_SECONDS = 0.1
"""Seconds between two looks at a sandbox, if a look takes microseconds."""

DEAR_LOOK_SECONDS = 0.5
"""The same if a look takes milliseconds: searching all processes, or asking another one."""

_MESSAGE_BYTES = 1 << 16


class BoxHandle:
    """Watches a sandbox's process, waits for it, and ends it.

    Attributes:
        process: its process id on this side; 0 if it has none.
        look_seconds: seconds between two looks.
        group: its control group, if it has one.
    """

    def __init__(self, process: int, alone: bool) -> None:
        self.process = process
        self.look_seconds = (
            LOOK_SECONDS if alone and process and sys.platform.startswith("linux") else DEAR_LOOK_SECONDS
        )
        self._alone = alone
        self.group: Path | None = None

    def look(self) -> Reading | None:
        """Return what it and its child processes have computed; None if unknown.

        Raises:
            BoxUnavailable: only the fork server knows, and it is gone.
        """
        return processes.read(self.process, self._alone)

    def wait(self, seconds: float) -> bool:
        """Return whether the process ends by itself within `seconds`."""
        raise NotImplementedError

    def end(self) -> int:
        """Kill the process and everything it started; return its wait status.

        Raises:
            BoxUnavailable: the fork server is gone, and the status with it.
        """
        try:
            return self._kill()
        finally:
            if self.group is not None:
                remove_group(self.group)

    def _kill(self) -> int:
        raise NotImplementedError


class Channel:
    """A channel to the fork server: one request and its reply at a time."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._lock = threading.Lock()

    def fork(self, wire: socket.socket, alone: bool) -> BoxHandle:
        """Make the fork server fork a sandbox that talks through `wire`.

        Args:
            wire: the sandbox's end of its connection.
            alone: whether it cannot start other processes.

        Raises:
            BoxUnavailable: it cannot.
        """
        answer, descriptors = self.ask({"do": "open"}, wire)
        if "failed" in answer:
            raise BoxUnavailable(f"a sandbox could not be opened: {answer['failed']}")
        return Forked(self, answer["process"], descriptors[0], alone)

    def ask(self, message: dict[str, Json], wire: socket.socket | None = None) -> tuple[Json, list[int]]:
        """Send a request; return the reply and any descriptors that came with it.

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
        """Receive the next message and any descriptors that came with it.

        Raises:
            BoxUnavailable: none came in time, or none can come any more.
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
        """Close the channel, and optionally tell the fork server to end."""
        if quit_server:
            with contextlib.suppress(OSError):
                self._control.send(b'{"do":"quit"}')
        self._control.close()


class Forked(BoxHandle):
    """A forked sandbox: the fork server reaps it, and its process descriptor tells when it ends.

    The fork server may run in its own namespace, where processes have other ids.
    """

    def __init__(self, channel: Channel, number: int, handle: int, alone: bool) -> None:
        super().__init__(_process_of(handle), alone)
        self._number = number
        self._channel = channel
        self._handle = handle

    def look(self) -> Reading | None:
        """Return a reading from this side, or from the fork server if the process is not visible here (containers)."""
        if self.process:
            return super().look()
        answer, _ = self._channel.ask({"do": "look", "process": self._number})
        reading = answer.get("reading")
        return None if reading is None else Reading(reading["computed"], Doing(reading["doing"]))

    def wait(self, seconds: float) -> bool:
        """Return whether its descriptor reports the end within `seconds`."""
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
    """A spawned sandbox: a fresh process."""

    def __init__(self, process: subprocess.Popen[bytes], alone: bool) -> None:
        super().__init__(process.pid, alone)
        self._process = process

    def look(self) -> Reading | None:
        """Return a reading, until the process has been reaped."""
        return super().look() if self._process.returncode is None else None

    def wait(self, seconds: float) -> bool:
        """Return whether it could be reaped within `seconds`."""
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
    """Return a process's id on this side from its descriptor; 0 if unknown, or if the process has ended."""
    with contextlib.suppress(OSError), open(f"/proc/self/fdinfo/{handle}") as file:
        for line in file:
            if line.startswith("Pid:"):
                return max(int(line.split()[1]), 0)
    return 0
