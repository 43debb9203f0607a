"""Talks to one sandbox: asks it to run cells and call answers, and survives whatever it does."""

import builtins
import contextlib
import dataclasses
import functools
import math
import os
import secrets
import select
import socket
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn, Self

from autograder.box.callbacks import CallbackProcess
from autograder.box.clocks import Clock, Spent, Stopwatch
from autograder.box.disk import contents, held, mapped, remove
from autograder.box.endings import SEALED_REASONS, BoxLost, BoxUnavailable, cause, memory_kills
from autograder.box.fork_server.handles import BoxHandle
from autograder.box.frames import Frame, FrameReader, Json, ProtocolError, encode_frame, require
from autograder.box.processes import Doing, Reading
from autograder.box.protocol import (
    MAX_ERROR_BYTES,
    CellResult,
    Decoder,
    Encoder,
    decode_call,
    decode_cell,
    decode_changes,
    decode_observation,
    encode_case,
    output_bytes,
)
from autograder.limits import NO_ALLOWANCE, Allowance, Limits, size
from course_lib.judging.exercise import Callback, Case
from course_lib.judging.observation import ENDINGS, Observation, Outcome, Raised

START_SECONDS = 60.0
"""Time limit for a fresh process to import everything."""

WATCH_SECONDS = 0.1
"""Seconds between two checks of a sandbox's files and threads."""

_EXIT_SECONDS = 0.1  # between two looks at a process that has closed its connection
_EXIT_LOOKS = 5, 100  # for one that sleeps, and for one that computes: ending takes time as well, on a busy machine
_LOOKS_WITHOUT_MAPS = 3  # they cost milliseconds, and most sandboxes are gone before anything could matter
_REFUSALS = 100  # of a callback, before a sandbox that keeps calling it is ended


class Box:
    """A process in which a student's code runs. Use it in a `with` statement."""

    def __init__(
        self, wire: socket.socket, handle: BoxHandle, limits: Limits, folder: Path, until: Clock | None = None
    ) -> None:
        self._wire = wire
        self._handle = handle
        self._limits = limits
        self._now = limits  # with what the last request allows
        self._folder = folder
        self._lost: BoxLost | None = None
        self._closed = False
        self._sealed = False
        self._kills = memory_kills()
        self._next_look = time.monotonic() + WATCH_SECONDS  # nothing of a student's has run yet
        self._looks = 0
        self._calls: CallbackProcess | None = None
        self._called_seconds = 0.0
        self._watch = Stopwatch(self._reading, handle.look_seconds)
        self._until = Clock(math.inf, START_SECONDS)
        wire.setblocking(False)
        try:
            greeting = self._receive(self._until).header
        except BoxLost as error:
            raise BoxUnavailable(f"a sandbox could not be opened: {error.reason}") from error
        if greeting != {"kind": "ready"}:
            self.close()
            raise BoxUnavailable(f"a sandbox could not be opened: {greeting.get('reason')}")
        self._watch = Stopwatch(self._reading, handle.look_seconds)
        self._until = until or Clock.of(limits, "submission_seconds")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def process(self) -> int:
        """Its process id, for looking at it from outside."""
        return self._handle.process

    @property
    def share(self) -> float:
        """Return how many seconds of the submission's time it has used: computing or waiting, whichever is more."""
        if not self._closed:
            with contextlib.suppress(BoxUnavailable):
                self._watch.refresh()
        return self._until.share(self._watch.total)

    @property
    def starved(self) -> bool:
        """Whether it hit a time limit while the machine was busy with something else."""
        return self._lost is not None and self._lost.starved

    def run_cell(self, source: str, allowed: Allowance = NO_ALLOWANCE, is_test: bool = False) -> CellResult:
        """Run a cell as a notebook would.

        A sealed sandbox returns no outputs, and an exception only as a built-in name.

        Args:
            source: the cell's code.
            allowed: its own limits, which replace the sandbox's.
            is_test: run it so that earlier cells' changes to IPython cannot affect it; `source` must then be plain
                Python without magics.

        Raises:
            BoxLost: the sandbox is gone.
            BoxUnavailable: the fork server is gone, and the sandbox with it.
        """
        begin = time.monotonic()
        header = {"kind": "test" if is_test else "cell", "source": source}
        request = self._ask(header, "cell_seconds", allowed)
        frame = self._answer(request, Clock.of(self._now, "cell_seconds"), "cell")
        with self._protocol():
            result = decode_cell(frame.header["cell"])
        seconds = time.monotonic() - begin
        if self._sealed:
            return CellResult([], result.ok, _bare(result.raised), result.failure, seconds)
        outputs = _shown(result.outputs, self._now.output_bytes)
        return dataclasses.replace(result, outputs=outputs, seconds=min(result.seconds, seconds))

    def changes(self) -> list[str]:
        """Return what the cells have changed in Python and torch themselves, in words (see `pristine.py`).

        Raises:
            BoxLost: the sandbox is gone.
            BoxUnavailable: the fork server is gone, and the sandbox with it.
            ValueError: the sandbox is sealed, so its reply could reveal hidden inputs.
        """
        if self._sealed:
            raise ValueError("a sealed sandbox is not asked what was changed")
        request = self._ask({"kind": "changes"}, "call_seconds", NO_ALLOWANCE)
        frame = self._answer(request, Clock.of(self._now, "call_seconds"), "changes")
        with self._protocol():
            return decode_changes(frame.header["changes"])

    def observe_cases(
        self,
        name: str,
        cases: Sequence[Case],
        *,
        hidden: bool = True,
        allowed: Allowance = NO_ALLOWANCE,
        forbidden: Sequence[str] = (),
    ) -> Iterator[Observation]:
        """Call the cells' `name` on one case after another, and drop what it prints.

        All cases go in one request, because most of the cost of a call is waking up for it. Stops after the first
        observation that is one of `ENDINGS`. Consume the iterator to its end.

        Args:
            name: of a function or class.
            cases: the cases to call it on.
            hidden: whether the inputs are secret; cells that run later then show nothing.
            allowed: its own limits, which replace the sandbox's.
            forbidden: names of torch functions that it must not call.

        Raises:
            BoxLost: the sandbox is gone; earlier observations have arrived.
            BoxUnavailable: the fork server is gone, and the sandbox with it.
        """
        self._sealed = self._sealed or hidden
        given = _given(tuple(cases), self._limits.frame_bytes)
        header: dict[str, Json] = {"kind": "observe", "name": name, "forbidden": list(forbidden)}
        request = self._ask(header, "call_seconds", allowed, given.data)
        for number, case in enumerate(cases):
            begin = time.monotonic()
            frame = self._answered_calls(f"{request}.{number}", given.callbacks, given.passed_in[number])
            with self._protocol():
                decoder = Decoder(frame.tensors)
                observation = decode_observation(frame.header["observation"], decoder, case)
                decoder.finish()
            yield dataclasses.replace(observation, seconds=min(observation.seconds, time.monotonic() - begin))
            if observation.failure in ENDINGS:
                return

    def close(self) -> None:
        """End the sandbox and remove its folder."""
        with contextlib.suppress(BoxUnavailable):
            self._end()

    def _ask(self, header: dict[str, Json], limit: str, allowed: Allowance, more: bytes = b"") -> str:
        """Send a request with the time limit that applies, and any frames that follow it; return its id."""
        if self._lost is not None:
            raise self._lost
        if self._closed:
            raise ValueError("the sandbox is closed")
        self._end_calls()
        self._now = allowed.applied(self._limits)
        request = secrets.token_hex(8)
        header = {"id": request, **header, "allowed": allowed.changes()}
        data = encode_frame(Frame(header), self._limits.frame_bytes) + more
        self._watch.begin()
        self._send(data, Clock.of(self._now, limit))
        return request

    def _answered_calls(self, request: str, callbacks: Sequence[Callback], passed_in: range) -> Frame:
        """Answer callbacks as long as the sandbox asks, and wait for the reply to the request.

        All of that shares the time limit of one call. A sandbox that keeps calling after a refusal is ended.

        Args:
            request: the request's id.
            callbacks: all callbacks that were sent.
            passed_in: the numbers of those in this request.
        """
        clock = Clock.of(self._now, "call_seconds")
        kinds = ("observation", "call") if passed_in else ("observation",)
        self._watch.begin()
        calls: dict[int, int] = {}
        while True:
            frame = self._answer(request, clock, *kinds)
            if frame.header["kind"] == "observation":
                return frame
            with self._protocol():
                number, _, _ = decode_call(frame.header["call"], Decoder(frame.tensors), passed_in)
            calls[number] = calls.get(number, 0) + 1
            callback = callbacks[number]
            if calls[number] > callback.most_calls + _REFUSALS:
                self._lose(Outcome.DIED, f"it called {callback.name} more than {callback.most_calls} times")
            if self._calls is None:
                self._calls = CallbackProcess(callbacks, self._now)
            try:
                self._calls.ask(request, calls[number], frame)
                self._wait(self._calls, select.POLLIN, clock)  # what it computes is the answer's doing
                answer = self._calls.answer()
            except (EOFError, OSError):
                self._lose(Outcome.DIED, f"its call of {callback.name} ended the process that was to answer it")
            self._send(answer, clock)

    def _end_calls(self) -> None:
        if self._calls is not None:
            calls, self._calls = self._calls, None
            self._called_seconds += calls.close()

    def _reading(self) -> Reading | None:
        """Return what the sandbox has computed, including callbacks on its behalf."""
        box, called = self._handle.look(), self._calls.look() if self._calls is not None else None
        if box is None:
            return None
        computed = box.computed + self._called_seconds
        if called is None:
            return Reading(computed, box.doing)
        return Reading(computed + called.computed, box.doing if called.doing is Doing.WAITS else called.doing)

    def _answer(self, request: str, clock: Clock, *kinds: str) -> Frame:
        """Receive the reply to a request, a frame of one of these kinds."""
        frame = self._receive(clock)
        kind = frame.header.get("kind")
        if kind == "failed":
            self._lose(Outcome.DIED, "the code has broken the process that ran it")
        with self._protocol():
            require(frame.header.get("id") == request, "an answer to another question")
            require(kind in kinds and set(frame.header) == {"id", "kind", kind}, "an answer of the wrong kind")
            require(not frame.tensors or kind in ("observation", "call"), "a tensor that nothing refers to")
        return frame

    @contextlib.contextmanager
    def _protocol(self) -> Iterator[None]:
        """End a sandbox that violates the protocol."""
        try:
            yield
        except ProtocolError as error:
            self._lose(Outcome.DIED, f"it broke the protocol: {error}")

    def _send(self, data: bytes, clock: Clock) -> None:
        rest = memoryview(data)
        while rest:
            ready = self._wait(self._wire, select.POLLIN | select.POLLOUT, clock)
            if ready & select.POLLIN:
                self._check_silence()
            try:
                rest = rest[self._wire.send(rest) :]
            except BlockingIOError:
                continue
            except OSError:
                self._lose_connection()

    def _check_silence(self) -> None:
        """End a sandbox that speaks before it has received the whole request."""
        try:
            unasked = self._wire.recv(1)
        except OSError:
            unasked = b""
        if unasked:
            self._lose(Outcome.DIED, "it broke the protocol: an answer to no question")
        self._lose_connection()

    def _receive(self, clock: Clock) -> Frame:
        reader = FrameReader(self._limits.frame_bytes)
        with self._protocol():
            is_there = False
            while wanted := min(reader.missing, 1 << 20):
                if not is_there:
                    self._wait(self._wire, select.POLLIN, clock)
                try:
                    data = self._wire.recv(wanted)
                except BlockingIOError:
                    is_there = False
                    continue
                except OSError:
                    data = b""
                if not data:
                    self._lose_connection()
                reader.feed(data)
                is_there = len(data) == wanted  # perhaps the rest is as well: no need to ask first
            return reader.frame()

    def _wait(self, source: socket.socket | CallbackProcess, events: int, clock: Clock) -> int:
        """Wait until something is ready, and keep checking the clocks and the disk, however busy the wire is."""
        poll = select.poll()
        poll.register(source, events)
        while True:
            if time.monotonic() >= self._next_look:
                self._look()
                self._next_look = time.monotonic() + WATCH_SECONDS
            if not self._watch.rest:
                silent = self._watch.look(is_silent=lambda: not poll.poll(0))
                for one, spent in ((clock, self._watch.lap), (self._until, self._watch.total)):
                    exceeded = one.exceeded(spent, silent)
                    if exceeded is not None:
                        self._lose(Outcome.TIMED_OUT, *exceeded, spent=spent, out_of_time=one.out_of_time)
            left = min(self._next_look - time.monotonic(), self._watch.rest)
            with self._watch.awaiting():
                ready = poll.poll(max(left, 0.0) * 1000)
            if ready:
                return ready[0][1]

    def _look(self) -> None:
        """Enforce the sandbox's limits on disk space and threads."""
        try:
            used, files = contents(self._folder, self._limits.files)
        except OSError:
            self._lose(Outcome.DIED, "it made a folder that cannot be opened")
        used += self._held()
        if used > self._limits.folder_bytes:
            self._lose(Outcome.DIED, f"it wrote more than {size(self._limits.folder_bytes)} to disk", "folder_bytes")
        if files > self._limits.files:
            self._lose(Outcome.DIED, f"it made more than {self._limits.files} files", "files")
        threads = 0
        with contextlib.suppress(OSError):  # not every system counts them
            threads = os.stat(f"/proc/{self._handle.process}/task").st_nlink - 2
        if threads > self._limits.threads:
            self._lose(Outcome.DIED, f"it started more than {self._limits.threads} threads", "threads")

    def _held(self) -> int:
        """Return the bytes on disk of removed files that the sandbox still holds; for files it only maps, an upper
        bound.
        """
        files = held(self._handle.process)
        self._looks += 1
        if self._looks >= _LOOKS_WITHOUT_MAPS:
            files |= dict.fromkeys(mapped(self._handle.process) - set(files), self._limits.file_bytes)
        return sum(files.values())

    def _lose_connection(self) -> NoReturn:
        """Handle a lost connection: find out why the sandbox is gone."""
        ended = self._ends()
        self._watch.refresh()
        status = self._end()
        if ended:
            self._lose(*cause(status, self._now, memory_kill=memory_kills() > self._kills), spent=self._watch.total)
        self._lose(Outcome.DIED, "it closed its connection")

    def _ends(self) -> bool:
        """Return whether the process ends by itself, now that its connection is closed."""
        least, most = _EXIT_LOOKS
        before = self._watch.total.computed
        for number in range(most):
            if self._handle.wait(_EXIT_SECONDS):
                return True
            self._watch.refresh()
            computes = (
                self._watch.doing is Doing.COMPUTES and self._watch.total.computed < before + least * _EXIT_SECONDS
            )
            if number + 1 >= least and not computes:
                return False
        return False

    def _end(self) -> int:
        """End the process, once; return its wait status."""
        if self._closed:
            return 0
        self._closed = True
        self._end_calls()
        self._wire.close()
        try:
            return self._handle.end()
        finally:
            remove(self._folder)

    def _lose(
        self, outcome: Outcome, reason: str, setting: str = "", spent: Spent | None = None, out_of_time: bool = False
    ) -> NoReturn:
        """End the sandbox, and say why.

        Args:
            outcome: the outcome of its answer.
            reason: a clause.
            setting: the limit that it hit.
            spent: for a time limit, how much of it the sandbox used.
            out_of_time: whether the whole submission is out of time.
        """
        self.close()
        if self._sealed:
            reason, out_of_time = SEALED_REASONS[outcome], False
        starved = outcome is Outcome.TIMED_OUT and spent is not None and spent.starved
        starved = starved and self._watch.doing is not Doing.STOPPED  # which it did itself
        self._lost = BoxLost(outcome, reason, setting, out_of_time, starved)
        raise self._lost


@dataclasses.dataclass(frozen=True)
class _Given:
    """Cases in the form that a sandbox gets.

    Attributes:
        data: the frame.
        callbacks: all callbacks that they pass in.
        passed_in: the numbers of the callbacks in each case.
    """

    data: bytes
    callbacks: Sequence[Callback]
    passed_in: Sequence[range]


@functools.lru_cache(maxsize=64)  # a class is asked the same cases, or those of a few slots
def _given(cases: tuple[Case, ...], limit: int) -> _Given:
    encoder = Encoder()
    encoded, passed_in = [], []
    for case in cases:
        first = len(encoder.callbacks)
        encoded.append(encode_case(case, encoder))
        passed_in.append(range(first, len(encoder.callbacks)))
    data = encode_frame(Frame({"cases": encoded}, encoder.tensors), limit)
    return _Given(data, encoder.callbacks, passed_in)


def _shown(outputs: list[dict[str, Json]], limit: int) -> list[dict[str, Json]]:
    """Return the outputs of a cell, or a notice if they exceed what a sandbox should let through."""
    if sum(map(output_bytes, outputs)) <= limit + MAX_ERROR_BYTES:
        return outputs
    notice = f"[katze] This cell's output was left out: it shows more than {size(limit)}.\n"
    return [{"output_type": "stream", "name": "stdout", "text": notice}]


def _bare(raised: Raised | None) -> Raised | None:
    """Return an exception without anything that could carry a secret."""
    if raised is None:
        return None
    known = getattr(builtins, raised.type_name, None)
    is_exception = isinstance(known, type) and issubclass(known, BaseException)
    return Raised(raised.type_name if is_exception else "Exception", "")
