"""The grader's side: start a zygote, open boxes, ask them things, and outlive whatever they do.

    with Zygote(withheld=("course_lib.attention",)) as zygote, zygote.open_box() as box:
        result = box.run_cell("def dot_product_scores(q, k): return q @ k.mT")
        observation = box.observe("dot_product_scores", case)

A box that ends, hangs, or breaks the protocol raises `BoxLost`, once; it is dead by then.
"""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
import json
import os
import secrets
import select
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NoReturn, Protocol, Self

from autograder.box.container import ContainerFailed
from autograder.box.disk import contents, held, mapped, remove
from autograder.box.enclosure import enclosure_at
from autograder.box.levels import Level
from autograder.box.library import copy_library
from autograder.box.protocol import (
    MAX_ERROR_BYTES,
    OUT_OF_MEMORY_STATUS,
    CellResult,
    Decoder,
    Encoder,
    Frame,
    FrameReader,
    Json,
    ProtocolError,
    decode_call,
    decode_cell,
    decode_changes,
    decode_observation,
    encode_case,
    encode_frame,
    encode_raised,
    output_bytes,
)
from autograder.limits import NO_ALLOWANCE, Allowance, Limits, size
from course_lib.checking.exercise import Callback, Case, Value
from course_lib.checking.observation import ENDINGS, Observation, Outcome, Raised

StartMethod = Literal["fork", "spawn"]

START_SECONDS = 60.0  # until a fresh process has imported everything
_ANSWER_SECONDS = 20.0  # until the zygote, which runs nothing of a student's, has answered
_EXIT_SECONDS = 0.5  # between the end of a connection and the end of its process
_WATCH_SECONDS = 0.1  # between two looks at a box's folder and threads
_LOOKS_WITHOUT_MAPS = 3  # they cost milliseconds, and most boxes are gone before anything could matter
_MESSAGE_BYTES = 1 << 16
_REFUSALS = 100  # of a callback, before the box that goes on calling it is ended


class BoxLost(Exception):
    """A box has ended, or had to be ended.

    Attributes:
        outcome: `timed_out`, `out_of_memory` or `died`.
        reason: a clause on how, for the student; of a sealed box no more than the outcome says.
        seconds: where a clock has stopped it, after how long.
        out_of_time: whether that was the time for the whole submission, so that nothing can follow.
    """

    def __init__(self, outcome: Outcome, reason: str, seconds: float | None = None, out_of_time: bool = False) -> None:
        super().__init__(f"{outcome}: {reason}")
        self.outcome = outcome
        self.reason = reason
        self.seconds = seconds
        self.out_of_time = out_of_time


_NAMED_SIGNALS = frozenset(int(known) for known in signal.Signals)
"""Real-time signals have no names in Python, but for the first and the last."""

_SEALED_REASONS = {
    Outcome.TIMED_OUT: "it took too long",
    Outcome.OUT_OF_MEMORY: "it ran out of memory",
    Outcome.DIED: "its process ended",
}
"""All that is said of a box that has seen hidden inputs: an exit status or a signal of its choice could tell them."""


class BoxUnavailable(Exception):
    """No box could be opened: the grader's own failure, not a student's."""


class Keeper(Protocol):
    """Whoever can wait for a box's process and end it."""

    process: int

    def wait(self, seconds: float) -> bool:
        """Whether the process has ended by itself within `seconds`."""

    def end(self) -> int:
        """Kill the process with everything it started; its wait status.

        Raises:
            BoxUnavailable: nobody knows the status, for the zygote has gone.
        """


class Zygote:
    """A warm process from which boxes are forked; with `start="spawn"` each box is a fresh process instead.

    It takes two seconds or so to warm up, in the background: there is time for something else before `ready`,
    which `with` and the first box call by themselves.

    Args:
        withheld: modules that must not be in the boxes.
        level: how the boxes are confined.
        limits: what each may use.
        channels: how many processes or threads may use this zygote at once, each with a number of its own.
        start: "fork", or "spawn" where forking after importing torch is unsafe (macOS); by default what fits.

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
    ) -> None:
        self.level = level
        self.limits = limits or Limits()
        self.start: StartMethod = start or ("fork" if _can_fork() else "spawn")
        self._boxes = channels
        self._owner = os.getpid()
        self._is_ready = False
        self._root = Path(tempfile.mkdtemp(prefix="katze-box-"))
        self._enclosure = enclosure_at(level, self.limits, channels)
        self._process: subprocess.Popen[bytes] | None = None
        self._listener: socket.socket | None = None  # where the inside connects, if it cannot inherit its channels
        self._channels: list[_Channel] = []
        try:
            for name in ("library", "home", "boxes"):
                (self._root / name).mkdir()
            self._withheld = sorted(withheld)
            self._modules = copy_library(self._root / "library", self._withheld)
            if self.start == "fork":
                self._start_zygote(channels)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        self.ready()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def ready(self) -> None:
        """Wait until boxes can be opened. To be called before this process forks users of the channels.

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

    def open_box(
        self, channel: int = 0, *, seed: int | None = None, seconds: float | None = None, limits: Limits | None = None
    ) -> Box:
        """A new box, empty and confined.

        Args:
            channel: which of the zygote's channels to use; no two users may share one.
            seed: of the box's random numbers; drawn anew by default.
            seconds: how long it may live; by default the limit for a submission.
            limits: what it may use; by default the zygote's limits.

        Raises:
            BoxUnavailable: it could not be opened.
        """
        self.ready()
        limits = limits or self.limits
        if seconds is not None:
            limits = dataclasses.replace(limits, submission_seconds=seconds)
        folder = Path(tempfile.mkdtemp(dir=self._root / "boxes"))
        wish = {"folder": str(folder), "seed": seed, "limits": dataclasses.asdict(limits)}
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                if self.start == "fork":
                    keeper: Keeper = self._channels[channel].fork(theirs, wish)
                else:
                    keeper = _Spawned(self._run([theirs], wish))
        except BaseException:
            ours.close()
            remove(folder)
            raise
        return Box(ours, keeper, limits, folder)

    def take_over(self, channel: int) -> None:
        """End the boxes that an earlier user of the channel, who has died, left open.

        Raises:
            BoxUnavailable: the zygote does not answer.
        """
        if self._channels:
            self._channels[channel].ask({"do": "clear"})

    def close(self) -> None:
        """End the zygote and its boxes; only in the process that started it."""
        for channel in self._channels:
            channel.close(quit_zygote=os.getpid() == self._owner)
        if os.getpid() != self._owner:
            return
        if self._listener is not None:
            self._listener.close()
        if self._process is not None:
            try:
                self._process.wait(_ANSWER_SECONDS)
            except subprocess.TimeoutExpired:
                self._enclosure.end(self._root)
            self._process.kill()
            self._process.wait()
        remove(self._root)

    def _start_zygote(self, channels: int) -> None:
        if not self._enclosure.passes_descriptors:
            door = self._root / "door"
            self._listener = _listen(door, channels)
            try:
                self._process = self._run([], {"door": str(door), "channels": channels})
            except ContainerFailed as problem:
                raise BoxUnavailable(f"no container could be started: {problem}") from problem
            return
        pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(channels)]
        self._channels = [_Channel(ours) for ours, _ in pairs]
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
            listener.settimeout(_WATCH_SECONDS)
            while len(self._channels) < self._boxes:
                try:
                    self._channels.append(_Channel(listener.accept()[0]))
                except TimeoutError as error:
                    ended = self._process is None or self._process.poll() is not None
                    if ended or time.monotonic() > until:
                        raise BoxUnavailable("the zygote does not start") from error

    def _last_words(self) -> str:
        """The last line that a fresh process has written to stderr."""
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
            "level": int(self.level),
            "sockets": [end.fileno() for end in sockets],
            **wish,
        }
        code = f"import sys; sys.path[:] = [{library!r}, *sys.path, *{packages!r}]; "
        code += "from autograder.box.zygote import main; main(sys.argv[1])"
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


def _listen(path: Path, channels: int) -> socket.socket:
    """A socket in the file system, to which so many may connect."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(str(path))
    path.chmod(0o600)
    listener.listen(channels)
    return listener


class _Channel:
    """One conversation with the zygote, a request and its answer at a time."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._lock = threading.Lock()

    def fork(self, wire: socket.socket, wish: dict[str, Json]) -> Keeper:
        answer, descriptors = self.ask({"do": "open", **wish}, wire)
        if "failed" in answer:
            raise BoxUnavailable(f"a box could not be opened: {answer['failed']}")
        return _Forked(self, answer["process"], descriptors[0])

    def ask(self, message: dict[str, Json], wire: socket.socket | None = None) -> tuple[Json, list[int]]:
        number = secrets.token_hex(8)
        data = json.dumps({**message, "id": number}).encode()
        with self._lock:
            try:
                socket.send_fds(self._control, [data], [] if wire is None else [wire.fileno()])
            except OSError as error:
                raise BoxUnavailable("the zygote has ended") from error
            until = time.monotonic() + _ANSWER_SECONDS
            while True:
                answer, descriptors = self.receive(until - time.monotonic())
                if answer["id"] == number:
                    return answer, descriptors
                for descriptor in descriptors:  # an answer to a worker that used this channel before, and died
                    os.close(descriptor)

    def receive(self, seconds: float) -> tuple[Json, list[int]]:
        self._control.settimeout(max(seconds, 0.001))
        try:
            data, descriptors, _, _ = socket.recv_fds(self._control, _MESSAGE_BYTES, 1)
        except OSError as error:
            raise BoxUnavailable("the zygote does not answer") from error
        if not data:
            raise BoxUnavailable("the zygote has ended")
        return json.loads(data), list(descriptors)

    def close(self, quit_zygote: bool) -> None:
        if quit_zygote:
            with contextlib.suppress(OSError):
                self._control.send(b'{"do":"quit"}')
        self._control.close()


class _Forked:
    """Keeper of a fork: the zygote reaps it, its process descriptor tells when it ends.

    The zygote may live in a namespace of its own, where processes have other numbers.
    """

    def __init__(self, channel: _Channel, number: int, handle: int) -> None:
        self.process = _process_of(handle)
        self._number = number
        self._channel = channel
        self._handle = handle

    def wait(self, seconds: float) -> bool:
        poll = select.poll()
        poll.register(self._handle, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def end(self) -> int:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)
        os.close(self._handle)
        answer, _ = self._channel.ask({"do": "end", "process": self._number})
        return int(answer["status"])


class _Spawned:
    """Keeper of a process of its own."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process.pid
        self._process = process

    def wait(self, seconds: float) -> bool:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
            return True
        return False

    def end(self) -> int:
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if self._process.returncode is None or kill is os.killpg:
                    kill(self._process.pid, signal.SIGKILL)
        code = self._process.wait()
        return -code if code < 0 else code << 8


class Box:
    """A process in which a student's code runs. Use it in a `with` statement."""

    def __init__(self, wire: socket.socket, keeper: Keeper, limits: Limits, folder: Path) -> None:
        self._wire = wire
        self._keeper = keeper
        self._limits = limits
        self._now = limits  # with what the last request allows
        self._folder = folder
        self._lost: BoxLost | None = None
        self._closed = False
        self._sealed = False
        self._kills = _memory_kills()
        self._next_look = 0.0
        self._looks = 0
        wire.setblocking(False)
        try:
            greeting = self._receive(_Clock.of(START_SECONDS)).header
        except BoxLost as error:
            raise BoxUnavailable(f"a box could not be opened: {error.reason}") from error
        if greeting != {"kind": "ready"}:
            self.close()
            raise BoxUnavailable(f"a box could not be opened: {greeting.get('reason')}")
        self._until = _Clock.of(limits.submission_seconds, out_of_time=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def process(self) -> int:
        """The number of its process, for whoever looks at it from outside."""
        return self._keeper.process

    @property
    def sealed(self) -> bool:
        """Whether the box has been asked a hidden case: what it does from then on may tell the inputs."""
        return self._sealed

    def run_cell(self, source: str, allowed: Allowance = NO_ALLOWANCE) -> CellResult:
        """Run a cell as a notebook would.

        From a sealed box no outputs come back, and of an exception only a built-in name.

        Args:
            source: the cell's code.
            allowed: what it may use instead of the box's limits.

        Raises:
            BoxLost: the box is gone.
            BoxUnavailable: the zygote is gone, and the box with it.
        """
        begin = time.monotonic()
        self._now = allowed.applied(self._limits)
        request = self._ask({"kind": "cell", "source": source}, Encoder(), self._now.cell_seconds, allowed)
        frame = self._answer(request, self._now.cell_seconds)
        try:
            _require_fields(frame, "cell")
            result = decode_cell(frame.header["cell"])
        except ProtocolError as error:
            self._lose(Outcome.DIED, f"it broke the protocol: {error}")
        seconds = time.monotonic() - begin
        if self._sealed:
            return CellResult([], result.ok, _bare(result.raised), result.failure, seconds)
        outputs = _shown(result.outputs, self._now.output_bytes)
        return dataclasses.replace(result, outputs=outputs, seconds=min(result.seconds, seconds))

    def changes(self) -> list[str]:
        """What the cells have changed of Python and torch themselves, in words (see `pristine.py`).

        Raises:
            BoxLost: the box is gone.
            BoxUnavailable: the zygote is gone, and the box with it.
            ValueError: the box is sealed; what it says could tell hidden inputs.
        """
        if self._sealed:
            raise ValueError("a sealed box is not asked what was changed")
        self._now = self._limits
        request = self._ask({"kind": "changes"}, Encoder(), self._now.call_seconds, NO_ALLOWANCE)
        frame = self._answer(request, self._now.call_seconds)
        try:
            _require_fields(frame, "changes")
            return decode_changes(frame.header["changes"])
        except ProtocolError as error:
            self._lose(Outcome.DIED, f"it broke the protocol: {error}")

    def observe(
        self,
        name: str,
        case: Case,
        *,
        hidden: bool = True,
        forbidden: Collection[str] = (),
        allowed: Allowance = NO_ALLOWANCE,
    ) -> Observation:
        """Call what the cells have defined as `name`; what it prints is dropped.

        Args:
            name: of a function or class.
            case: what to call it with.
            hidden: the inputs are secret, so that cells run later show nothing.
            forbidden: torch functions that it may not call.
            allowed: what it may use instead of the box's limits.

        Raises:
            BoxLost: the box is gone.
            BoxUnavailable: the zygote is gone, and the box with it.
        """
        [observation] = self.observe_cases(name, [case], hidden=hidden, forbidden=forbidden, allowed=allowed)
        return observation

    def observe_cases(
        self,
        name: str,
        cases: Sequence[Case],
        *,
        hidden: bool = True,
        forbidden: Collection[str] = (),
        allowed: Allowance = NO_ALLOWANCE,
    ) -> Iterator[Observation]:
        """As `observe`, for one case after another with one request: what a call costs is mostly waking up for it.

        Ends with the first observation that is one of `ENDINGS`. To be consumed to its end.

        Raises:
            BoxLost: the box is gone; the observations before came through.
            BoxUnavailable: the zygote is gone, and the box with it.
        """
        self._sealed = self._sealed or hidden
        encoder = Encoder()
        encoded, passed_in = [], []
        for case in cases:
            first = len(encoder.callbacks)
            encoded.append(encode_case(case, encoder))
            passed_in.append(range(first, len(encoder.callbacks)))
        header = {"kind": "observe", "name": name, "forbidden": list(forbidden), "cases": encoded}
        self._now = allowed.applied(self._limits)
        request = self._ask(header, encoder, self._now.call_seconds, allowed)
        for number, case in enumerate(cases):
            begin = time.monotonic()
            frame = self._answered_calls(f"{request}.{number}", encoder.callbacks, passed_in[number])
            try:
                _require_fields(frame, "observation")
                decoder = Decoder(frame.tensors)
                observation = decode_observation(frame.header["observation"], decoder, case)
                decoder.finish()
            except ProtocolError as error:
                self._lose(Outcome.DIED, f"it broke the protocol: {error}")
            yield dataclasses.replace(observation, seconds=min(observation.seconds, time.monotonic() - begin))
            if observation.failure in ENDINGS:
                return

    def close(self) -> None:
        """End the box and remove its folder."""
        with contextlib.suppress(BoxUnavailable):
            self._end()

    def _ask(self, header: dict[str, Json], encoder: Encoder, seconds: float, allowed: Allowance) -> str:
        """Send a request, for which the box has so many seconds; its id."""
        if self._lost is not None:
            raise self._lost
        if self._closed:
            raise ValueError("the box is closed")
        request = secrets.token_hex(8)
        header = {"id": request, **header, "allowed": allowed.changes()}
        data = encode_frame(Frame(header, encoder.tensors), self._limits.frame_bytes)
        self._send(data, self._clock(seconds))
        return request

    def _answered_calls(self, request: str, callbacks: Sequence[Callback], passed_in: range) -> Frame:
        """Answer the calls of callbacks, as long as the box asks, and wait for the answer to the request.

        All of it has the time of one call. A box that goes on calling after it was refused is ended.

        Args:
            request: the request's id.
            callbacks: all that were sent.
            passed_in: the numbers of those that belong to this request.
        """
        clock = self._clock(self._now.call_seconds)
        calls: Counter[int] = Counter()
        while True:
            frame = self._expected(self._receive(clock), request)
            if not passed_in or frame.header.get("kind") != "call":
                return frame
            try:
                _require_fields(frame, "call")
                number, args, kwargs = decode_call(frame.header["call"], Decoder(frame.tensors), passed_in)
            except ProtocolError as error:
                self._lose(Outcome.DIED, f"it broke the protocol: {error}")
            calls[number] += 1
            callback = callbacks[number]
            if calls[number] > callback.most_calls + _REFUSALS:
                self._lose(Outcome.DIED, f"it called {callback.name} more than {callback.most_calls} times")
            self._send(_called(callback, calls[number], args, kwargs, request, self._limits.frame_bytes), clock)

    def _answer(self, request: str, seconds: float) -> Frame:
        """Wait for the answer to a request."""
        return self._expected(self._receive(self._clock(seconds)), request)

    def _expected(self, frame: Frame, request: str) -> Frame:
        """The frame, if it belongs to the request."""
        if frame.header.get("kind") == "failed":
            self._lose(Outcome.DIED, "the code has broken the process that ran it")
        if frame.header.get("id") != request:
            self._lose(Outcome.DIED, "it broke the protocol: an answer to another question")
        return frame

    def _clock(self, seconds: float) -> _Clock:
        """When to give up on a request: after so many seconds, or with the whole submission."""
        clock = _Clock.of(seconds)
        return clock if clock.deadline <= self._until.deadline else self._until

    def _send(self, data: bytes, clock: _Clock) -> None:
        rest = memoryview(data)
        while rest:
            ready = self._wait(select.POLLIN | select.POLLOUT, clock)
            if ready & select.POLLIN:
                self._check_silence()
            try:
                rest = rest[self._wire.send(rest) :]
            except BlockingIOError:
                continue
            except OSError:
                self._lose_connection()

    def _check_silence(self) -> None:
        """A box has nothing to say before it has heard the whole question."""
        try:
            unasked = self._wire.recv(1)
        except OSError:
            unasked = b""
        if unasked:
            self._lose(Outcome.DIED, "it broke the protocol: an answer to no question")
        self._lose_connection()

    def _receive(self, clock: _Clock) -> Frame:
        reader = FrameReader(self._limits.frame_bytes)
        try:
            while reader.missing:
                self._wait(select.POLLIN, clock)
                try:
                    data = self._wire.recv(min(reader.missing, 1 << 20))
                except BlockingIOError:
                    continue
                except OSError:
                    data = b""
                if not data:
                    self._lose_connection()
                reader.feed(data)
            return reader.frame()
        except ProtocolError as error:
            self._lose(Outcome.DIED, f"it broke the protocol: {error}")

    def _wait(self, events: int, clock: _Clock) -> int:
        """Wait until the wire is ready, and look after the clock and the disk meanwhile."""
        poll = select.poll()
        poll.register(self._wire, events)
        while True:
            if time.monotonic() >= self._next_look:  # however busy the wire is
                self._look()
                self._next_look = time.monotonic() + _WATCH_SECONDS
            left = clock.deadline - time.monotonic()
            if left <= 0:
                self._lose(Outcome.TIMED_OUT, clock.reason, clock)
            ready = poll.poll(min(left, _WATCH_SECONDS) * 1000)
            if ready:
                return ready[0][1]

    def _look(self) -> None:
        """Hold the box to its limits on what it leaves on disk and on threads."""
        try:
            used, files = contents(self._folder, self._limits.files)
        except OSError:
            self._lose(Outcome.DIED, "it made a folder that cannot be looked into")
        used += self._held()
        if used > self._limits.folder_bytes:
            self._lose(Outcome.DIED, f"it wrote more than {size(self._limits.folder_bytes)} to disk")
        if files > self._limits.files:
            self._lose(Outcome.DIED, f"it made more than {self._limits.files} files")
        if _threads(self._keeper.process) > self._limits.threads:
            self._lose(Outcome.DIED, f"it started more than {self._limits.threads} threads")

    def _held(self) -> int:
        """The bytes on disk of removed files that the box still has; of those it only maps, the most they may be."""
        files = held(self._keeper.process)
        self._looks += 1
        if self._looks >= _LOOKS_WITHOUT_MAPS:
            files |= dict.fromkeys(mapped(self._keeper.process) - set(files), self._limits.file_bytes)
        return sum(files.values())

    def _lose_connection(self) -> NoReturn:
        """The other end is gone: find out why."""
        ended = self._keeper.wait(_EXIT_SECONDS)
        status = self._end()
        if ended:
            self._lose(*_cause(status, self._now, memory_kill=_memory_kills() > self._kills))
        self._lose(Outcome.DIED, "it closed its connection")

    def _end(self) -> int:
        """End the process, once; its wait status."""
        if self._closed:
            return 0
        self._closed = True
        self._wire.close()
        try:
            return self._keeper.end()
        finally:
            remove(self._folder)

    def _lose(self, outcome: Outcome, reason: str, clock: _Clock | None = None) -> NoReturn:
        self.close()
        if self._sealed:
            self._lost = BoxLost(outcome, _SEALED_REASONS[outcome])
        elif clock is not None:
            self._lost = BoxLost(outcome, reason, clock.seconds, clock.out_of_time)
        else:
            self._lost = BoxLost(outcome, reason)
        raise self._lost


@dataclass(frozen=True)
class _Clock:
    """When to give up waiting.

    Attributes:
        deadline: by the monotonic clock.
        seconds: after how long that is.
        out_of_time: whether it ends the whole submission.
    """

    deadline: float
    seconds: float
    out_of_time: bool = False

    @property
    def reason(self) -> str:
        """What to say when it has stopped a box."""
        if self.out_of_time:
            return "the time for the whole submission was used up"
        return f"it took longer than {self.seconds:g} s"

    @classmethod
    def of(cls, seconds: float, out_of_time: bool = False) -> _Clock:
        """A clock that starts now."""
        return cls(time.monotonic() + seconds, seconds, out_of_time)


def _shown(outputs: list[dict[str, Json]], limit: int) -> list[dict[str, Json]]:
    """The outputs of a cell, or a notice where they show more than a box would let them."""
    if sum(map(output_bytes, outputs)) <= limit + MAX_ERROR_BYTES:
        return outputs
    notice = f"[katze] This cell's output was left out: it shows more than {size(limit)}.\n"
    return [{"output_type": "stream", "name": "stdout", "text": notice}]


def _called(
    callback: Callback, number: int, args: Sequence[Value], kwargs: Mapping[str, Value], request: str, limit: int
) -> bytes:
    """The answer to a box's call of a callback: what it returns, or the exception that it raises."""
    encoder = Encoder()
    try:
        value = encoder.value(callback.call(number, args, kwargs))
        return encode_frame(Frame({"id": request, "value": value, "raised": None}, encoder.tensors), limit)
    except Exception as error:  # the function meets whatever the box has sent
        raised = encode_raised(Raised(type(error).__name__, str(error)[:500]))
        return encode_frame(Frame({"id": request, "value": None, "raised": raised}), limit)


def _require_fields(frame: Frame, kind: str) -> None:
    if set(frame.header) != {"id", "kind", kind} or frame.header["kind"] != kind:
        raise ProtocolError("an answer of the wrong kind")
    if kind in ("cell", "changes") and frame.tensors:
        raise ProtocolError("a tensor that nothing refers to")


def _bare(raised: Raised | None) -> Raised | None:
    """An exception without anything that could carry a secret."""
    if raised is None:
        return None
    known = getattr(builtins, raised.type_name, None)
    is_exception = isinstance(known, type) and issubclass(known, BaseException)
    return Raised(raised.type_name if is_exception else "Exception", "")


def _cause(status: int, limits: Limits, memory_kill: bool) -> tuple[Outcome, str]:
    """Why a process ended, from its wait status."""
    if os.WIFEXITED(status):
        code = os.WEXITSTATUS(status)
        if code == OUT_OF_MEMORY_STATUS:
            return Outcome.OUT_OF_MEMORY, f"it needed more than {size(limits.memory_bytes)} of memory"
        return Outcome.DIED, f"its process ended with exit status {code}"
    number = os.WTERMSIG(status)
    if number == signal.SIGXCPU:
        return Outcome.TIMED_OUT, f"it used more than {limits.processor_seconds} s of processor time"
    if number == signal.SIGKILL and memory_kill:
        return Outcome.OUT_OF_MEMORY, "the machine ran out of memory"
    name = signal.Signals(number).name if number in _NAMED_SIGNALS else f"signal {number}"
    return Outcome.DIED, f"its process was ended by {name}"


def _memory_kills() -> int:
    """How many processes this machine has killed for memory so far; 0 where nobody counts."""
    with contextlib.suppress(OSError, ValueError), open("/proc/vmstat") as file:
        for line in file:
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


def _process_of(handle: int) -> int:
    """The number that a process has here, from its descriptor; 0 where nobody says, or where it has ended."""
    with contextlib.suppress(OSError), open(f"/proc/self/fdinfo/{handle}") as file:
        for line in file:
            if line.startswith("Pid:"):
                return max(int(line.split()[1]), 0)
    return 0


def _can_fork() -> bool:
    """Whether boxes can be forks: on Linux 5.3 or newer, where a process can be held by a descriptor."""
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return False
    return True


def _environment(home: Path) -> dict[str, str]:
    """All of the environment of a zygote and its boxes. One thread: threads do not survive a fork."""
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


def _threads(process: int) -> int:
    """How many threads a process has; 0 where nobody counts."""
    try:
        return os.stat(f"/proc/{process}/task").st_nlink - 2
    except OSError:
        return 0
