"""Calls the functions that a case passes in on behalf of a sandbox, in a separate process.

Their arguments come from an answer, and may take any amount of time and memory. So a fork of the grader, which already
has the functions, calls them: its processor time counts as the sandbox's, its memory is limited like the sandbox's, and
it can be killed.
"""

import contextlib
import multiprocessing
import os
import resource
import signal
import sys
import threading
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import NoReturn

import torch

from autograder.box import processes
from autograder.box.confinement.levels import limit_memory, mapped_bytes
from autograder.box.frames import Frame, FrameReader, Json, encode_frame
from autograder.box.processes import Reading
from autograder.box.protocol import Decoder, Encoder, decode_call, encode_raised
from autograder.limits import Limits
from course_lib.judging.exercise import Callback
from course_lib.judging.observation import Raised


class CallbackProcess:
    """Calls functions, one at a time, until it is closed.

    Where forking is unsafe (macOS), it is a thread of this process, and only the number and size of calls are limited.

    Args:
        callbacks: the functions, by number in a request.
        limits: the sandbox's limits.
    """

    def __init__(self, callbacks: Sequence[Callback], limits: Limits) -> None:
        self._connection, theirs = multiprocessing.Pipe()
        self._frame_bytes = limits.frame_bytes
        self._process = 0
        if not sys.platform.startswith("linux"):
            threading.Thread(target=_serve, args=(theirs, callbacks, limits.frame_bytes), daemon=True).start()
            return
        self._process = os.fork()
        if self._process == 0:
            _live(theirs, callbacks, limits)
        theirs.close()

    def ask(self, request: str, number: int, call: Frame) -> None:
        """Ask for the `number`-th call in this request, with a sandbox's frame."""
        header = {"id": request, "number": number, "call": call.header["call"]}
        self._connection.send_bytes(encode_frame(Frame(header, call.tensors), self._frame_bytes))

    def fileno(self) -> int:
        """Return a descriptor that becomes readable once the reply is there, or never will be."""
        return self._connection.fileno()

    def answer(self) -> bytes:
        """Return the reply for the sandbox: what the function returned or raised.

        Raises:
            EOFError: the process has ended.
            OSError: the same.
        """
        return self._connection.recv_bytes()

    def look(self) -> Reading | None:
        """Return what the process has computed, and what it is doing; None if unknown."""
        return processes.read(self._process, alone=True) if self._process else None

    def close(self) -> float:
        """End the process; return its seconds of processor time."""
        self._connection.close()
        if not self._process:
            return 0.0
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process, signal.SIGKILL)
        _, _, used = os.wait4(self._process, 0)
        return used.ru_utime + used.ru_stime


def _live(connection: Connection, callbacks: Sequence[Callback], limits: Limits) -> NoReturn:
    """Run the process: a copy of the grader that only needs the functions."""
    try:
        processes.end_with_parent()
        most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        os.closerange(3, connection.fileno())
        os.closerange(connection.fileno() + 1, most)
        torch.set_num_threads(1)  # threads do not survive a fork
        limit_memory(limits.memory_bytes + mapped_bytes())
        _serve(connection, callbacks, limits.frame_bytes)
    finally:
        os._exit(0)


def _serve(connection: Connection, callbacks: Sequence[Callback], limit: int) -> None:
    with contextlib.suppress(EOFError, OSError):
        while True:
            reader = FrameReader(limit)
            reader.feed(connection.recv_bytes())
            connection.send_bytes(_called(callbacks, reader.frame(), limit))


def _called(callbacks: Sequence[Callback], asked: Frame, limit: int) -> bytes:
    """Return the reply to a call: what the function returns, or the exception that it raises."""
    answer: dict[str, Json] = {"id": asked.header["id"], "value": None, "raised": None}
    encoder = Encoder()
    try:
        called, args, kwargs = decode_call(asked.header["call"], Decoder(asked.tensors), range(len(callbacks)))
        answer["value"] = encoder.value(callbacks[called].call(asked.header["number"], args, kwargs))
        return encode_frame(Frame(answer, encoder.tensors), limit)
    except Exception as error:  # the function meets whatever the sandbox has sent
        raised = encode_raised(Raised(type(error).__name__, str(error)[:500]))
        return encode_frame(Frame({**answer, "value": None, "raised": raised}), limit)
