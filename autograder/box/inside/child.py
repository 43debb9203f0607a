"""Inside a sandbox: confines the process, then runs cells and calls answers on request.

Everything here shares a process with student code, which may change any of it. So nothing here is trusted: the other
end checks everything that goes out, and secrets are not here.
"""

import asyncio
import builtins
import contextlib
import gc
import io
import os
import random
import resource
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np
import torch

from autograder.box.confinement import landlock
from autograder.box.confinement.levels import Level, confine, limit_memory
from autograder.box.frames import Frame, FrameReader, Json, TooLarge, encode_frame
from autograder.box.inside.judged import run_test
from autograder.box.inside.missing import MissingPackages, PackageMissing, judging, missing_package_used
from autograder.box.inside.recorder import Recorder, Stream
from autograder.box.inside.shell import BoxShell, describe_error
from autograder.box.inside.substitutes import stay_in_one_process
from autograder.box.protocol import (
    OUT_OF_MEMORY_STATUS,
    Decoder,
    Encoder,
    decode_case,
    decode_raised,
    encode_call,
    encode_cell,
    encode_observation,
)
from autograder.limits import Limits
from course_lib.judging.exercise import CallRefused, Case, Value
from course_lib.judging.observation import ENDINGS, Foreign, Observation, Outcome, Raised, call


@dataclass(frozen=True)
class Confinement:
    """The confinement that all sandboxes of a lesson share.

    Attributes:
        level: their level of confinement.
        grants: what they may read at level L2.
    """

    level: Level
    grants: tuple[landlock.Grant, ...]


def live_in_box(wire: int, shell: BoxShell, missing: MissingPackages, confinement: Confinement) -> NoReturn:
    """Run a sandbox in this process. Never returns.

    Args:
        wire: descriptor of the connection to the grader.
        shell: the IPython shell made before the fork.
        missing: finds stand-ins for packages that are not installed.
        confinement: how it is confined.
    """
    status = 1
    try:
        setup = _heard(wire, Limits()).header  # the process that all sandboxes are forked from never hears it
        limits = Limits(**setup["limits"])
        loop, mapped = _settle(wire, confinement, setup["folder"], setup["seed"], limits)
        _prepare_shell(shell, loop, limits)
        missing.notice = shell.recorder.notice
        _send(wire, {"kind": "ready"}, limits)
        answerer = Answerer(shell, limits, mapped, wire)
        while request := _receive(wire, limits):
            for reply in answerer.answer(request):
                _write(wire, reply)
        status = 0
    except MemoryError:
        status = OUT_OF_MEMORY_STATUS
    except BaseException as error:
        with contextlib.suppress(BaseException):
            _send(wire, {"kind": "failed", "reason": f"{type(error).__name__}: {error}"[:500]}, Limits())
    finally:
        os._exit(status)


def _settle(
    wire: int, confinement: Confinement, folder: str, seed: int | None, limits: Limits
) -> tuple[asyncio.AbstractEventLoop, int]:
    """Cut all ties to other processes, and confine; return the event loop, and the address space in use so far.

    Args:
        wire: as for `live_in_box`.
        confinement: as for `live_in_box`.
        folder: the sandbox's home and working directory.
        seed: for torch, numpy and random; None for a random one.
        limits: the sandbox's limits.
    """
    if os.getsid(0) != os.getpid():
        os.setsid()
    own = os.open(folder, getattr(os, "O_PATH", os.O_RDONLY))
    _close_all_but({0, 1, 2, wire, own, *(entry.descriptor for entry in confinement.grants)})
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
    os.chdir(folder)
    for name in ("HOME", "TMPDIR", "IPYTHONDIR", "MPLCONFIGDIR"):
        os.environ[name] = folder
    tempfile.tempdir = None
    _reseed(seed)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("500")  # if memory runs out, a sandbox goes before the grader
    loop = asyncio.new_event_loop()  # needs a pair of sockets, and there will be none
    asyncio.set_event_loop(loop)
    return loop, confine(confinement.level, limits, own, confinement.grants)


def _close_all_but(keep: set[int]) -> None:
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    ends = [*sorted(keep), most if 0 <= most < 1 << 30 else 1 << 20]  # without a limit, as far as is sensible
    start = 0
    for end in ends:
        if start < end:
            os.closerange(start, end)
        start = end + 1


def _reseed(seed: int | None) -> None:
    """Seed the random numbers: otherwise every sandbox would draw the same ones as its parent."""
    value = int.from_bytes(os.urandom(8), "little") >> 1 if seed is None else seed
    torch.default_generator.manual_seed(value)  # `torch.manual_seed` wakes every kind of accelerator as well
    np.random.seed(value % (1 << 32))
    random.seed(value)


def _prepare_shell(shell: BoxShell, loop: asyncio.AbstractEventLoop, limits: Limits) -> None:
    shell.recorder = Recorder(limits.output_bytes)
    shell.loop_runner = loop.run_until_complete
    sys.stdin = io.StringIO()
    sys.stdout, sys.stderr = Stream(shell.recorder, "stdout"), Stream(shell.recorder, "stderr")
    stay_in_one_process(shell.recorder.notice, shell.notice_no_programs)


# Answering --------------------------------------------------------------------------------------------------


class Answerer:
    """Carries out requests, and turns every outcome into data.

    Args:
        shell: the shell to run cells in.
        limits: their limits, unless a request has its own.
        mapped: the address space of the libraries, which does not count toward the memory limit.
        wire: as for `live_in_box`; a request may be followed by more frames, and a reply preceded by calls.
    """

    def __init__(self, shell: BoxShell, limits: Limits, mapped: int, wire: int) -> None:
        self._wire = wire
        self._shell = shell
        self._limits = limits
        self._mapped = mapped

    def answer(self, request: Frame) -> Iterator[bytes]:
        """Yield the replies to a request, ready to send: one for a cell, one per case for an observation."""
        allowed = replace(self._limits, **request.header.get("allowed", {}))
        self._shell.recorder.limit = allowed.output_bytes
        if self._mapped:  # elsewhere the address space is not limited
            limit_memory(allowed.memory_bytes + self._mapped)
        if request.header["kind"] in ("cell", "test"):
            yield self._cell(request, request.header["id"])
        elif request.header["kind"] == "changes":
            changes = self._shell.pristine.changes(self._shell.user_ns)
            yield self._encode(Frame({"id": request.header["id"], "kind": "changes", "changes": changes}))
        else:
            yield from self._observations(request, request.header["id"])

    def _cell(self, request: Frame, number: str) -> bytes:
        run = run_test if request.header["kind"] == "test" else BoxShell.run
        result = replace(run(self._shell, request.header["source"]), missing=missing_package_used())
        self._shell.pristine.note(self._shell.user_ns)
        if result.failure is Outcome.OUT_OF_MEMORY:
            limit_memory()  # as far as it goes, to report that it was reached
        if not result.ok:
            gc.collect()  # what it has left behind complains now, and not on the stderr of a later cell
        try:
            return self._encode(Frame({"id": number, "kind": "cell", "cell": encode_cell(result)}))
        except (TooLarge, ValueError):
            bare = replace(result, outputs=[])
            return self._encode(Frame({"id": number, "kind": "cell", "cell": encode_cell(bare)}))

    def _observations(self, request: Frame, number: str) -> Iterator[bytes]:
        place = 0
        given = _heard(self._wire, self._limits)
        decoder = Decoder(given.tensors, lambda *args, **kwargs: self._call(f"{number}.{place}", *args, **kwargs))
        cases = [decode_case(data, decoder) for data in given.header["cases"]]
        decoder.finish()
        for place, case in enumerate(cases):
            observation, arguments = self._observe(request.header["name"], case, request.header["forbidden"])
            yield self._observation(observation, arguments, f"{number}.{place}")
            if observation.failure in ENDINGS:
                return

    def _call(self, number: str, callback: int, *args: Value, **kwargs: Value) -> Value:
        """Call one of the grader's callbacks: return its result, or raise its exception."""
        encoder = Encoder()
        data = encode_call(callback, args, kwargs, encoder)
        _write(self._wire, self._encode(Frame({"id": number, "kind": "call", "call": data}, encoder.tensors)))
        answer = _heard(self._wire, self._limits)
        raised = decode_raised(answer.header["raised"])
        if raised is None:
            return Decoder(answer.tensors).value(answer.header["value"])
        known = {**vars(builtins), CallRefused.__name__: CallRefused}.get(raised.type_name)
        if isinstance(known, type) and issubclass(known, Exception):
            raise known(raised.message)
        raise RuntimeError(f"{raised.type_name}: {raised.message}")

    def _observation(self, observation: Observation, arguments: tuple[Value, ...], number: str) -> bytes:
        if observation.failure is Outcome.OUT_OF_MEMORY:
            limit_memory()  # as far as it goes, to report that it was reached
        with contextlib.suppress(TooLarge, TypeError, ValueError):
            return self._encode(_reply(number, observation, arguments))
        grown = tuple(Foreign("argument that cannot cross any more") for _ in arguments)
        try:
            return self._encode(_reply(number, observation, grown))
        except (TooLarge, TypeError, ValueError) as error:
            kind = type(observation.value)
            holds = "of more than 64 bits" if kind is int else f"with {error}"
            what = f"{kind.__name__} {holds}, which cannot be compared"
            none = tuple(None for _ in observation.gradients)
            return self._encode(_reply(number, replace(observation, value=Foreign(what), gradients=none), grown))

    def _observe(self, name: str, case: Case, forbidden: Sequence[str]) -> tuple[Observation, tuple[Value, ...]]:
        """Return what an answer does on a case, and the arguments afterwards."""
        if name not in self._shell.user_ns:
            return Observation(returned=False, failure=Outcome.NEVER_DEFINED), ()
        with judging() as missing:
            try:
                seen, arguments = call(self._shell.user_ns[name], case, forbidden)
            except BaseException as error:  # what came back fails when it is looked at
                failure, raised = describe_error(error)
                return Observation(returned=False, failure=failure, raised=raised), ()
        if missing:  # even where the answer has caught the exception
            return Observation(False, failure=Outcome.RAISED, raised=Raised(PackageMissing.__name__, missing[0])), ()
        return seen, arguments

    def _encode(self, frame: Frame) -> bytes:
        return encode_frame(frame, self._limits.frame_bytes)


def _reply(number: str, observation: Observation, arguments: Sequence[Value]) -> Frame:
    encoder = Encoder()
    data = encode_observation(observation, arguments, encoder)
    return Frame({"id": number, "kind": "observation", "observation": data}, encoder.tensors)


def _heard(wire: int, limits: Limits) -> Frame:
    frame = _receive(wire, limits)
    if frame is None:
        raise SystemExit("the grader has gone")
    return frame


def _receive(wire: int, limits: Limits) -> Frame | None:
    reader = FrameReader(limits.frame_bytes)
    while reader.missing:
        data = os.read(wire, min(reader.missing, 1 << 20))
        if not data:
            return None
        reader.feed(data)
    return reader.frame()


def _send(wire: int, header: dict[str, Json], limits: Limits) -> None:
    _write(wire, encode_frame(Frame(header), limits.frame_bytes))


def _write(wire: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(wire, rest) :]
