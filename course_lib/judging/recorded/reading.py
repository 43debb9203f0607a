"""Reads exercises that are only data: what a class edition has instead of exercises, references and mistakes.

`katze publish` records the results of the reference and of every known mistake in the visible cases, and in those that
confirm a suspected mistake; `autograder/edition/recording.py` writes these files:

    exercises/<module>/exercises.json          each exercise's description, hints and mistakes' messages
    exercises/<module>/<task>.json             its cases, and what came back in each
    exercises/<module>/<task>.safetensors.gz   the tensors of both

Answers are judged as usual, except that expected results are read (see `answer_key.py`), not computed.
"""

from __future__ import annotations

import builtins
import gzip
import json
import zlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Generator, Tensor

from course_lib.judging.arrays import Array
from course_lib.judging.compare import value_difference
from course_lib.judging.exercise import Callback, Case, Exercise, Hint, Misconception, NotRecorded, Value
from course_lib.judging.given import Given
from course_lib.judging.observation import Foreign, Observation, Outcome, Raised
from course_lib.judging.ready_made import ReadyMade
from course_lib.judging.recorded.stand_ins import STAND_INS

Json = Any

FORMAT = 3
"""The version of the format, raised when the meaning of the files changes."""

CATALOGUE = "exercises.json"
"""The file that names the exercises of a lesson."""


class NotHere(LookupError):
    """A class edition lacks something that only the full course has; the message says what."""


class DamagedEdition(ValueError):
    """A file of a class edition is missing, cut off, or of another version; the message says what to do."""


@dataclass(frozen=True, eq=False)
class RecordedCases:
    """Cases, with the recorded results of the reference and of known mistakes on each.

    Attributes:
        cases: the cases.
        expected: the reference's observations, case by case.
        by_mistake: the observations of each known mistake, or pair of mistakes, by its id.
        by_step: the reference's intermediate values, case by case; none for probes.
    """

    cases: list[Case]
    expected: list[Observation]
    by_mistake: Mapping[str, Sequence[Observation]]
    by_step: Sequence[Mapping[str, Value]]

    def mistaken(self, misconception: Misconception, number: int) -> Observation:
        """Return a misconception's recorded observation on one case."""
        return self.by_mistake[misconception.id][number]

    def steps(self, number: int) -> Mapping[str, Value]:
        """Return the reference's recorded steps on one case."""
        return self.by_step[number]


@dataclass(frozen=True, eq=False)
class RecordedExercise(Exercise):
    """An exercise without its reference, right answers and mistakes.

    Attributes:
        file: the path of its recording, without the extension.
        written_as_class: whether the student writes a class.
        arguments: the names of the arguments that a case passes.
        recorded_pairs: pairs of mistakes.
    """

    file: Path = Path()
    written_as_class: bool = False
    arguments: tuple[str, ...] = ()
    recorded_pairs: tuple[Misconception, ...] = ()

    @property
    def is_class(self) -> bool:
        """True if the student writes a class (an `nn.Module`) rather than a function."""
        return self.written_as_class

    @property
    def parameters(self) -> list[str]:
        """The names of the arguments that a case passes."""
        return list(self.arguments)

    @cached_property
    def pairs(self) -> tuple[Misconception, ...]:
        """Pairs of mistakes."""
        return self.recorded_pairs

    @cached_property
    def recording(self) -> tuple[RecordedCases, RecordedCases]:
        """The visible cases, and those that confirm a suspected mistake; read when first needed.

        Raises:
            DamagedEdition: the files cannot be read.
        """
        return read_recording(self.file)

    def visible_cases(self) -> list[Case]:
        """Return the cases that a student sees."""
        return [case for case in self.recording[0].cases if not case.again]


def read_exercises(folder: Path) -> list[RecordedExercise]:
    """Read the exercises of a lesson, in the lesson's order.

    Args:
        folder: the folder with the files named above.

    Raises:
        DamagedEdition: the files cannot be read.
    """
    catalogue = _read_json(folder / CATALOGUE)
    try:
        return [_exercise(entry, folder) for entry in catalogue["exercises"]]
    except _MALFORMED as error:
        raise _damaged(folder / CATALOGUE, error) from None


def read_recording(file: Path) -> tuple[RecordedCases, RecordedCases]:
    """Read the visible cases of an exercise, and those that confirm a suspected mistake.

    Args:
        file: its path, without the extension.

    Raises:
        DamagedEdition: the recording cannot be read.
    """
    from course_lib.ground.optional import needed_for

    data = _read_json(file.with_suffix(".json"))
    with needed_for("Checking an answer", package="safetensors"):
        from safetensors import SafetensorError
        from safetensors.torch import load
    try:
        unpack = _Unpack(load(gzip.decompress(file.with_suffix(".safetensors.gz").read_bytes())), data["callbacks"])
        observations = [unpack.observation(entry) for entry in data["observations"]]
        return _keyed(data["shown"], unpack, observations), _keyed(data["probes"], unpack, observations)
    except (OSError, EOFError, zlib.error, SafetensorError, *_MALFORMED) as error:
        raise _damaged(file, error) from None


def _keyed(data: Json, unpack: _Unpack, observations: Sequence[Observation]) -> RecordedCases:
    return RecordedCases(
        [unpack.case(entry) for entry in data["cases"]],
        [observations[number] for number in data["expected"]],
        {name: [observations[number] for number in numbers] for name, numbers in data["mistaken"].items()},
        [unpack.value(entry) for entry in data["steps"]],
    )


def _exercise(data: Json, folder: Path) -> RecordedExercise:
    return RecordedExercise(
        **{name: data[name] for name in _PLAIN},
        withheld=tuple(data["withheld"]),
        reference=_absent,
        cases=_no_cases,
        misconceptions=tuple(map(_misconception, data["misconceptions"])),
        correct=(),
        hints=tuple(Hint(one["depth"], one["text"], tuple(one["answers"])) for one in data["hints"]),
        forbidden=tuple(map(_family, data["forbidden"])),
        file=folder / data["file"],
        written_as_class=data["class"],
        arguments=tuple(data["parameters"]),
        recorded_pairs=tuple(map(_misconception, data["pairs"])),
    )


_PLAIN = (
    *("id", "lesson", "name", "title", "statement", "points", "minutes", "section", "source", "parts"),
    *("entrywise", "memorisable"),
)
"""Fields of an exercise that are stored unchanged."""


def _misconception(data: Json) -> Misconception:
    return Misconception(data["id"], data["message"], _absent, data["alone"])


def _family(data: Json) -> ReadyMade:
    return ReadyMade(data["id"], tuple(data["names"]))


def _absent(*_args: Value, **_kwargs: Value) -> Value:
    raise NotHere("only the full course has references and mistakes: this edition holds what they returned")


def _no_cases(_generator: Generator, _hidden: bool) -> Iterator[Case]:
    raise NotHere("only the full course has hidden cases")


def _read_json(path: Path) -> Json:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _damaged(path, error) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise DamagedEdition(f"{path.name} of this course is of another version than its library. {_AGAIN}")
    return data


_MALFORMED = (LookupError, TypeError, ValueError, AttributeError)
"""The errors that JSON of the wrong shape leads to."""

_AGAIN = "Install the course again, as its first page says."


def _damaged(path: Path, error: Exception) -> DamagedEdition:
    return DamagedEdition(f"{path.name} of this course cannot be read ({type(error).__name__}). {_AGAIN}")


# What the files hold ------------------------------------------------------------------------------------------------


class _Unpack:
    """Turns JSON into values; equal tensors are stored once and shared, since nothing changes them."""

    def __init__(self, tensors: Mapping[str, Tensor], callbacks: Sequence[Json]) -> None:
        self._tensors = tensors
        self._callbacks = [self._callback(entry) for entry in callbacks]

    def value(self, data: Json) -> Value:
        """Read a value."""
        if not isinstance(data, dict):
            return data
        (tag, content), *more = data.items()
        match tag:
            case "list":
                return [self.value(item) for item in content]
            case "tuple":
                return tuple(self.value(item) for item in content)
            case "dict":
                return {self.value(key): self.value(item) for key, item in content}
            case "tensor":
                stored = self._tensors[str(content)]
                order = more[0][1] if more else range(stored.dim())
                return stored.permute([order.index(dimension) for dimension in range(stored.dim())])
            case "array":
                return Array.of(self.value(content))
            case "callback":
                return self._callbacks[content]
            case "given":
                return Given(**self.value(content))
            case "dtype":
                return getattr(torch, content)
            case "foreign":
                return Foreign(content)
        raise ValueError(f"an unknown tag {tag!r}")

    def case(self, data: Json) -> Case:
        """Read a case."""
        return Case(
            **{name: data[name] for name in _CASE_PLAIN},
            args=tuple(map(self.value, data["args"])),
            gradients=tuple(data["gradients"]),
            **{name: self.value(data[name]) for name in ("kwargs", "construct", "weights", "formerly")},
        )

    def observation(self, data: Json) -> Observation:
        """Read the observation of a call."""
        if "failure" in data:
            return Observation(False, failure=Outcome(data["failure"]), raised=Raised(data["raised"], ""))
        gradients = tuple(map(self.value, data["gradients"]))
        return Observation(True, self.value(data["value"]), gradients, tuple(data["modified"]))

    def _callback(self, data: Json) -> Callback:
        function: Callable[..., Value]
        if "stand_in" in data:
            kind = STAND_INS[data["stand_in"]]
            function = kind(**{entry.name: self.value(data["fields"][entry.name]) for entry in fields(kind)})  # type: ignore[assignment]
        else:
            function = RecordedCalls(data["name"], [self._call(entry) for entry in data["calls"]])
        return Callback(data["name"], function, data["most_calls"], data["most_entries"])

    def _call(self, data: Json) -> RecordedCall:
        args, kwargs = tuple(map(self.value, data["args"])), self.value(data["kwargs"])
        if "raised" in data:
            return RecordedCall(args, kwargs, raised=Raised(*data["raised"]))
        return RecordedCall(args, kwargs, self.value(data["value"]))


_CASE_PLAIN = ("name", "weight_gradients", "training", "part", "refused", "secret", "entrywise", "elsewhere", "again")


# Callbacks ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RecordedCall:
    """One call of a callback.

    Attributes:
        args: its positional arguments.
        kwargs: its keyword arguments.
        value: its result.
        raised: the exception that it raised instead.
    """

    args: tuple[Value, ...]
    kwargs: Mapping[str, Value] = field(default_factory=dict)
    value: Value = None
    raised: Raised | None = None


class RecordedCalls:
    """A callback that returns recorded results, since it cannot compute them.

    Arguments count as the same if they would pass as a right result, since an answer may sum in another order.

    Args:
        name: the callback's name.
        calls: the recorded calls.
    """

    def __init__(self, name: str, calls: Sequence[RecordedCall]) -> None:
        self._name = name
        self._calls: dict[Hashable, list[RecordedCall]] = {}
        for call in calls:
            self._calls.setdefault(_outline(call.args, call.kwargs), []).append(call)

    def __call__(self, *args: Value, **kwargs: Value) -> Value:
        """Return the recorded result for these arguments.

        Raises:
            NotRecorded: no such call was recorded.
            Exception: the recorded call raised it.
        """
        for call in self._calls.get(_outline(args, kwargs), ()):
            if value_difference([*call.args, dict(call.kwargs)], [*args, kwargs], "") is None:
                if call.raised is not None:
                    raise _exception(call.raised)
                return call.value
        raise NotRecorded(f"this edition holds only some calls of {self._name}, and not the one that your answer made.")


def _outline(args: Sequence[Value], kwargs: Mapping[str, Value]) -> Hashable:
    """Return a key that is certainly equal for two calls with the same arguments."""
    return tuple(map(_certain, args)), tuple(sorted((name, _certain(value)) for name, value in kwargs.items()))


def _certain(value: Value) -> Hashable:
    if isinstance(value, Tensor):
        rounded = value.is_floating_point()
        return str(value.dtype), tuple(value.shape), b"" if rounded else value.cpu().contiguous().numpy().tobytes()
    if isinstance(value, (list, tuple)):
        return type(value).__name__, tuple(map(_certain, value))
    if isinstance(value, dict):
        return "dict", frozenset(value)
    return "number" if isinstance(value, (int, float)) else repr(value)


def _exception(raised: Raised) -> Exception:
    kind = getattr(builtins, raised.type_name, RuntimeError)
    known = isinstance(kind, type) and issubclass(kind, Exception)
    return (kind if known else RuntimeError)(raised.message)
