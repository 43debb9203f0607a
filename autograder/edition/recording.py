"""Records an exercise for a class edition: its cases, and the results of the reference and the known mistakes in each.

`course_lib/judging/recorded/reading.py` reads these files, and describes their contents.
"""

import gzip
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor

from autograder.box.protocol import memory_order
from autograder.errors import BadInput
from course_lib.judging.answer_key import AnswerKey, CalledCases
from course_lib.judging.arrays import Array
from course_lib.judging.exercise import Callback, Case, Exercise, Value
from course_lib.judging.given import Given
from course_lib.judging.observation import Foreign, Observation, Raised, observe
from course_lib.judging.recorded.reading import CATALOGUE, FORMAT, RecordedCall
from course_lib.judging.recorded.stand_ins import StandIn

Json = Any


@dataclass(frozen=True)
class Recorded:
    """What was recorded for an exercise.

    Attributes:
        exercise: its id.
        calls: the number of recorded calls for each callback that is known only by its calls, by name.
        left_out: the names of hidden cases that are the same for every seed and would be given away.
    """

    exercise: str
    calls: dict[str, int]
    left_out: tuple[str, ...]


def write_lesson(exercises: Sequence[Exercise], folder: Path) -> list[Recorded]:
    """Record the exercises of a lesson.

    Args:
        exercises: all its exercises, in order.
        folder: an existing folder to write to.

    Raises:
        BadInput: a case contains something other than plain data.
    """
    written = [_write(exercise, folder) for exercise in exercises]
    entries = [_entry(exercise) for exercise in exercises]
    _write_json(folder / CATALOGUE, {"format": FORMAT, "exercises": entries})
    return written


def _write(exercise: Exercise, folder: Path) -> Recorded:
    key, pack = AnswerKey(exercise), _Pack()
    calls: dict[int, list[RecordedCall]] = {}
    task = exercise.id.partition(".")[2]
    probes, left_out = _probes(exercise, key)
    parts = {}
    for part, cases in (("shown", key.visible), ("probes", probes)):
        traced = [
            replace(case, args=_watched(case.args, calls), kwargs=_watched(dict(case.kwargs), calls)) for case in cases
        ]
        keyed = CalledCases(exercise, lambda traced=traced: traced)  # type: ignore[misc]
        parts[part] = {
            "expected": list(map(pack.observation, keyed.expected)),
            "mistaken": {
                mistake.id: [pack.observation(keyed.mistaken(mistake, number)) for number in range(len(cases))]
                for mistake in (*exercise.misconceptions, *exercise.pairs)
            },
        }
        for answer in exercise.correct if calls else ():
            for case in traced:
                observe(answer, case)  # only to record its calls
    parts["shown"]["steps"] = [pack.value(key.shown.steps(number)) for number in range(len(key.visible))]
    parts["probes"]["steps"] = []
    try:
        parts["shown"]["cases"] = list(map(pack.case, key.visible))
        parts["probes"]["cases"] = [pack.case(replace(case, name="")) for case in probes]
        callbacks = [pack.callback(callback, calls.get(id(callback), [])) for callback in pack.callbacks]
    except TypeError as error:
        raise BadInput(f"{exercise.id} cannot be recorded: {error}") from None
    data = {"format": FORMAT, "callbacks": callbacks, "observations": pack.observations, **parts}
    _write_json(folder / f"{task}.json", data)
    packed = gzip.compress(save(pack.tensors), mtime=0)  # some tensors are large and repetitive
    (folder / f"{task}.safetensors.gz").write_bytes(packed)
    known = {one["name"]: len(one["calls"]) for one in callbacks if "calls" in one}
    return Recorded(exercise.id, known, left_out)


def _probes(exercise: Exercise, key: AnswerKey) -> tuple[list[Case], tuple[str, ...]]:
    """Return the cases that confirm a mistake, without hidden cases that are the same for every seed; and the names of
    those.
    """
    visible = set(map(_inputs, key.visible))
    fixed = set.intersection(*(set(map(_inputs, exercise.hidden_cases(seed))) for seed in _OTHER_SEEDS)) - visible
    kept = [case for case in key.probes.cases if _inputs(case) not in fixed]
    gone = (case.name for case in key.probes.cases if _inputs(case) in fixed)
    return kept, tuple(dict.fromkeys(gone))


_OTHER_SEEDS = range(2**64, 2**64 + 3)
"""Seeds of hidden cases; what is the same for all of these is taken to be the same for every seed."""


def _inputs(case: Case) -> str:
    """Return a case's inputs as text that identifies them."""
    pack = _Pack()
    passed = [case.args, dict(case.kwargs), dict(case.construct), dict(case.weights)]
    data = [pack.value(value) for value in passed]
    callbacks = [pack.callback(callback, ()) for callback in pack.callbacks]
    return json.dumps([data, callbacks, list(pack.digests)])


def same_inputs(one: Case, other: Case) -> bool:
    """Return whether two cases pass in the same values; callbacks other than stand-ins are compared by name."""
    return _inputs(one) == _inputs(other)


def _entry(exercise: Exercise) -> Json:
    """Return an exercise's description of itself."""
    plain = "id lesson name title statement points minutes section source entrywise memorisable".split()
    return {
        **{name: getattr(exercise, name) for name in plain},
        "parts": dict(exercise.parts),
        "file": exercise.id.partition(".")[2],
        "class": exercise.is_class,
        "parameters": exercise.parameters,
        "withheld": list(exercise.withheld),
        "forbidden": [{"id": one.id, "names": list(one.names)} for one in exercise.forbidden],
        "hints": [{"depth": one.depth, "text": one.text, "answers": list(one.answers)} for one in exercise.hints],
        **{
            kind: [{"id": one.id, "message": one.message, "alone": one.alone} for one in getattr(exercise, kind)]
            for kind in ("misconceptions", "pairs")
        },
    }


def _write_json(path: Path, data: Json) -> None:
    path.write_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


class _Pack:
    """Turns values into JSON, and collects tensors, callbacks and observations on the way, each once."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        self.digests: dict[str, str] = {}
        self.callbacks: list[Callback] = []
        self.observations: list[Json] = []
        self._known: dict[str, int] = {}

    def value(self, value: Value) -> Json:
        """Convert a value to JSON.

        Raises:
            TypeError: it is not plain data.
        """
        if value is None or type(value) in (bool, int, float, str):
            return value
        if type(value) in (list, tuple):
            return {type(value).__name__: [self.value(item) for item in value]}
        if isinstance(value, dict):
            return {"dict": [[self.value(key), self.value(item)] for key, item in value.items()]}
        if isinstance(value, Array):
            return {"array": self._tensor(value.tensor())}
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, torch.dtype):
            return {"dtype": str(value).removeprefix("torch.")}
        if isinstance(value, Callback):
            return {"callback": self._number(value)}
        if isinstance(value, Given):
            return {"given": self.value(value.fields)}
        if isinstance(value, Foreign):
            return {"foreign": value.type_name}
        raise TypeError(f"a {type(value).__name__} is not plain data")

    def case(self, case: Case) -> Json:
        """Convert a case to JSON."""
        plain = ("name", "weight_gradients", "training", "part", "refused", "secret", "entrywise", "elsewhere", "again")
        return {
            **{name: getattr(case, name) for name in plain},
            "args": list(map(self.value, case.args)),
            "gradients": list(case.gradients),
            **{name: self.value(dict(getattr(case, name))) for name in ("kwargs", "construct", "weights", "formerly")},
        }

    def observation(self, observed: Observation) -> int:
        """Return the number of an observation. An exception's message and place are not recorded."""
        if observed.returned:
            data = {
                "value": self.value(observed.value),
                "gradients": list(map(self.value, observed.gradients)),
                "modified": list(observed.modified),
            }
        else:
            data = {"failure": str(observed.failure), "raised": observed.raised.type_name if observed.raised else ""}
        text = json.dumps(data)
        if text not in self._known:
            self._known[text] = len(self.observations)
            self.observations.append(data)
        return self._known[text]

    def callback(self, callback: Callback, calls: Iterable[RecordedCall]) -> Json:
        """Convert a callback to JSON: a stand-in by its fields, any other by its calls."""
        facts: Json = {
            "name": callback.name,
            "most_calls": callback.most_calls,
            "most_entries": callback.most_entries,
        }
        function: object = callback.function
        if isinstance(function, StandIn):
            given = {field.name: self.value(getattr(function, field.name)) for field in fields(function)}
            return facts | {"stand_in": type(function).__name__, "fields": given}
        entries = {json.dumps(entry): entry for entry in map(self._call, calls)}
        return facts | {"calls": list(entries.values())}

    def _call(self, call: RecordedCall) -> Json:
        given = {"args": list(map(self.value, call.args)), "kwargs": self.value(dict(call.kwargs))}
        if call.raised is not None:
            return given | {"raised": [call.raised.type_name, call.raised.message]}
        return given | {"value": self.value(call.value)}

    def _number(self, callback: Callback) -> int:
        if not any(callback is known for known in self.callbacks):
            self.callbacks.append(callback)
        return next(number for number, known in enumerate(self.callbacks) if known is callback)

    def _tensor(self, tensor: Tensor) -> Json:
        """Return a tensor's number, with the order of its dimensions in memory if that is not the usual one."""
        order = memory_order(tensor)
        stored = tensor.detach().permute(order).clone(memory_format=torch.contiguous_format)
        content = stored.reshape(-1).view(torch.uint8).numpy().tobytes()
        digest = hashlib.sha256(f"{stored.dtype} {tuple(stored.shape)} ".encode() + content).hexdigest()
        number = self.digests.setdefault(digest, str(len(self.digests)))
        self.tensors.setdefault(number, stored)
        return {"tensor": int(number)} if order == sorted(order) else {"tensor": int(number), "order": order}


def _watched(value: Any, calls: dict[int, list[RecordedCall]]) -> Any:
    """Return the same value with callbacks that record their calls, by the callback's `id`."""
    if isinstance(value, (list, tuple)):
        return type(value)(_watched(item, calls) for item in value)
    if isinstance(value, dict):
        return {key: _watched(item, calls) for key, item in value.items()}
    if not isinstance(value, Callback) or isinstance(value.function, StandIn):
        return value
    return replace(value, function=_writing_down(value.function, calls.setdefault(id(value), [])))


def _writing_down(function: Callable[..., Value], calls: list[RecordedCall]) -> Callable[..., Value]:
    def call(*args: Value, **kwargs: Value) -> Value:
        try:
            value = function(*args, **kwargs)
        except Exception as error:
            calls.append(RecordedCall(args, kwargs, raised=Raised(type(error).__name__, str(error))))
            raise
        calls.append(RecordedCall(args, kwargs, value))
        return value

    return call
