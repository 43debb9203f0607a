"""Fuzzes the wire: a sandbox gives wrong answers, from which a verdict and a page are made."""

import contextlib
import io
import json
import socket
import struct
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import torch

from autograder.box.box import Box
from autograder.box.endings import BoxLost
from autograder.box.fork_server.handles import BoxHandle
from autograder.box.frames import Frame, FrameReader, encode_frame
from autograder.box.processes import Reading
from autograder.box.protocol import CellResult, Encoder, encode_cell, encode_observation
from autograder.intake import sanitise
from autograder.limits import Limits
from benchmarks.fuzz import mutations
from benchmarks.fuzz.pages import require_harmless
from course_lib import exercises
from course_lib.judging.answer_key import PUBLIC_SEED, AnswerKey
from course_lib.judging.judge import decide
from course_lib.judging.observation import Foreign, Observation, Outcome, Raised

EXERCISE = "attention.scaled_dot_product"
LIMITS = Limits(
    cell_seconds=0.2,
    call_seconds=0.2,
    submission_seconds=5.0,
    wall_factor=1.0,  # there is no process, so no processor time
    wall_seconds=0.2,
    frame_bytes=16 << 20,
)
_ID = "0123456789abcdef"  # stands in for a request's id, which is not known beforehand
_STATUSES = (0, 0, 1 << 8, 86 << 8, 255 << 8, 6, 9, 11, 24, 31, 34, 40, 64, 139)


Json = Any


def make(random: Random) -> bytes:
    """Make a sandbox's bytes: the exit status of its process, and its answers to a cell and to some cases."""
    messages = [(_cell(random), _ID), *((_observation(random, place), f"{_ID}.{place}") for place in range(2))]
    spoiled = random.randrange(4)  # at most one, so that the others are read to their end
    answers = [_frame(random, *message, spoil=place == spoiled) for place, message in enumerate(messages)]
    del answers[random.choice((0, 1, 2, *[3] * 12)) :]  # then the connection ends
    packed = [struct.pack(">I", len(answer)) + answer for answer in answers]
    return struct.pack(">I", random.choice(_STATUSES)) + b"".join(packed)


def run(data: bytes) -> None:
    """Let a sandbox send these bytes, and judge the result: whatever it sends, it must earn no points.

    Raises:
        Exception: a finding.
    """
    key = _key()
    cell: CellResult | None = None
    seen: list[Observation] = []
    with _hostile_box(data) as box:
        try:
            cell = box.run_cell("1")
            seen += box.observe_cases(key.exercise.name, key.cases[:2], hidden=False)
        except BoxLost as lost:
            seen.append(Observation(False, failure=lost.outcome))
    verdict = decide(key, seen)
    assert not verdict.points, "points for nothing"
    json.dumps(verdict.record(), ensure_ascii=False).encode()
    verdict.text().encode()
    require_harmless(verdict.html())
    if cell is not None:
        json.dumps(sanitise.outputs(cell.outputs), ensure_ascii=False).encode()


@cache
def _key() -> AnswerKey:
    return AnswerKey(exercises.find(EXERCISE), PUBLIC_SEED)


def _cell(random: Random) -> tuple[Json, list[torch.Tensor]]:
    raised = Raised("ValueError", mutations.text(random), 3, mutations.text(random)) if random.random() < 0.4 else None
    outputs: list[Json] = [
        {"output_type": "stream", "name": "stdout", "text": mutations.text(random)},
        {"output_type": "display_data", "data": {"text/html": mutations.text(random)}, "metadata": {}},
        {"output_type": "execute_result", "data": {"text/plain": "1"}, "metadata": {}, "execution_count": 1},
        {"output_type": "error", "ename": "E", "evalue": mutations.text(random), "traceback": [mutations.text(random)]},
    ]
    failure = None if raised is None else Outcome.RAISED
    result = CellResult(random.sample(outputs, random.randint(0, 4)), raised is None, raised, failure, 0.1)
    return {"kind": "cell", "cell": encode_cell(result)}, []


def _observation(random: Random, place: int) -> tuple[Json, list[torch.Tensor]]:
    if random.random() < 0.25:
        failure = random.choice((Outcome.RAISED, Outcome.OUT_OF_MEMORY, Outcome.RULE_BROKEN, Outcome.NOT_ATTEMPTED))
        raised = Raised(mutations.text(random)[:200], mutations.text(random), 1, mutations.text(random))
        observation, arguments = Observation(False, failure=failure, raised=raised), ()
    else:
        case = _key().cases[place]
        wanted = [case.args[position] for position in case.gradients]
        gradients = tuple(random.choice((None, torch.zeros_like(one), torch.zeros(3, 0))) for one in wanted)
        observation = Observation(True, _returned(random, place), gradients)
        arguments = tuple(random.choice((value, value, _returned(random, place))) for value in case.args)
    encoder = Encoder()
    return {"kind": "observation", "observation": encode_observation(observation, arguments, encoder)}, encoder.tensors


def _returned(random: Random, place: int) -> Any:
    """Return what an answer might return: tensors of all kinds, alone and in containers, and other values."""
    shape = random.choices((0, 1, 2, 3, 7), k=random.randint(0, 4))
    dtype = random.choice((torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.bool))
    tensor = (torch.zeros(shape) + random.choice((0.0, float("nan"), float("inf"), 1e30))).to(dtype)
    near = torch.full_like(_key().expected[place].value, random.choice((0.0, 1.0, float("nan"))))
    wrapped = ([tensor, 1, "a"], (tensor.mT if len(shape) > 1 else tensor,), {"a": tensor, "": None})
    others = (3, 2.5, mutations.text(random), Foreign(mutations.text(random)[:200]))
    return random.choice((*wrapped, *others, tensor, tensor, near, near, near.mT))


def _frame(random: Random, message: tuple[Json, list[torch.Tensor]], number: str, spoil: bool) -> bytes:
    """Return a message as bytes, valid or with one thing wrong: its JSON, its tensors, its lengths, or any byte."""
    bare = encode_frame(Frame({}, message[1]), LIMITS.frame_bytes)
    middle = 12 + int.from_bytes(bare[4:8], "big")
    header, payload = {"id": number, **message[0], **json.loads(bare[12:middle])}, bare[middle:]
    whole = _framed(json.dumps(header).encode(), payload)
    if not spoil:
        return whole
    match random.randrange(8):
        case 0:
            return mutations.bent(random, whole)
        case 1:
            place = random.choice((4, 8))
            return whole[:place] + random.choice((0, 1, 1 << 20, (1 << 32) - 1)).to_bytes(4, "big") + whole[place + 4 :]
        case 2 | 3 if payload:
            return _with_spoiled_tensors(random, header, payload)
    changed = mutations.spoiled(random, header)
    if isinstance(changed, dict):
        changed["id"] = number
    return _framed(mutations.written(random, changed), payload)


def _framed(text: bytes, payload: bytes) -> bytes:
    return struct.pack(">4sII", b"KTZ1", len(text), len(payload)) + text + payload


def _with_spoiled_tensors(random: Random, header: Json, payload: bytes) -> bytes:
    """Return a message whose tensors have wrong bytes, or are described with wrong dtypes and shapes."""
    if random.random() < 0.4:
        return _framed(json.dumps(header).encode(), mutations.bent(random, payload))
    for described in header["tensors"]:
        if random.random() < 0.5:
            described[0] = random.choice(("F32", "F64", "BOOL", "I64", "F8_E4M3", "C64", "U64", "BF16", "X", "F4"))
        if random.random() < 0.5:
            described[1] = random.choices((0, 1, 2, 1 << 20, 1 << 62, -1), k=random.randint(0, 18))
    if random.random() < 0.5:
        header["tensors"] = mutations.spoiled(random, header["tensors"])
    return _framed(mutations.written(random, header), payload)


class _Gone(BoxHandle):
    """A process that has already ended, with a given exit status."""

    def __init__(self, status: int) -> None:
        super().__init__(process=0, alone=True)
        self._status = status

    def look(self) -> Reading | None:
        return None

    def wait(self, seconds: float) -> bool:
        return True

    def end(self) -> int:
        return self._status


@contextlib.contextmanager
def _hostile_box(data: bytes) -> Iterator[Box]:
    """Open a sandbox without a process, for which a thread answers."""
    stream = io.BytesIO(data)
    status = int.from_bytes(stream.read(4), "big")
    answers = []
    while size := stream.read(4):
        answers.append(stream.read(int.from_bytes(size, "big")))
    ours, theirs = socket.socketpair()
    speaker = threading.Thread(target=_speak, args=(theirs, answers), daemon=True)
    speaker.start()
    with tempfile.TemporaryDirectory() as folder, Box(ours, _Gone(status), LIMITS, Path(folder)) as box:
        yield box
    speaker.join()


def _speak(wire: socket.socket, answers: list[bytes]) -> None:
    with wire, contextlib.suppress(OSError):
        wire.sendall(encode_frame(Frame({"kind": "ready"}), LIMITS.frame_bytes))
        number = b""
        for place, answer in enumerate(answers):
            if place < 2:  # the last two answer the same request
                number = str(_heard(wire)["id"]).encode()
            wire.sendall(answer.replace(_ID.encode(), number))


def _heard(wire: socket.socket) -> dict[str, Any]:
    reader = FrameReader(asdict(LIMITS)["frame_bytes"])
    while reader.missing:
        data = wire.recv(reader.missing)
        if not data:
            raise ConnectionResetError
        reader.feed(data)
    return reader.frame().header
