"""Answer keys: an exercise's cases, with the results of the reference and of known mistakes on them.

Results are computed when first needed; those of a recorded exercise (`recorded/`) are read from its files.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from course_lib.judging.compare import OF_DTYPE, Tolerance
from course_lib.judging.errors import UnusableExercises
from course_lib.judging.exercise import Case, Exercise, Misconception, Value
from course_lib.judging.observation import Foreign, Observation, Outcome, foreign_in, observe, with_article
from course_lib.judging.recorded.reading import RecordedCases, RecordedExercise
from course_lib.judging.steps import steps_of

PROBE_SEEDS = (1706, 3762, 2017)
"""Seeds of the cases that confirm a suspected mistake. They are public, and the same for everybody: the name of a
mistake must not depend on a student's hidden inputs."""

PUBLIC_SEED = 20170612
"""Seed of the hidden cases outside the grader (the day "Attention Is All You Need" appeared). The grader derives its
own seed from the course's secret."""


class CalledCases:
    """Keyed cases whose results are computed when first needed.

    Args:
        exercise: the exercise.
        make: draws some of the exercise's cases.
    """

    def __init__(self, exercise: Exercise, make: Callable[[], list[Case]]) -> None:
        self.exercise = exercise
        self._make = make
        self._mistaken: dict[tuple[str, int], Observation] = {}
        self._steps: dict[int, Mapping[str, Value]] = {}

    @cached_property
    def cases(self) -> list[Case]:
        """The cases."""
        return self._make()

    @cached_property
    def expected(self) -> list[Observation]:
        """The reference's observations of all cases."""
        for case in self.cases:
            _check_plain(self.exercise, f"{case.name!r} passes", [*case.args, *case.kwargs.values()])
        observations = [observe(self.exercise.reference, case) for case in self.cases]
        for case, observation in zip(self.cases, observations, strict=True):
            if not (is_refusal(case, observation) if case.refused else observation.returned):
                ends = f"does not refuse {case.name!r}" if observation.returned else f"fails on {case.name!r}"
                raise UnusableExercises(f"{self.exercise.id}: the reference {ends}: {observation.raised}")
            _check_plain(self.exercise, f"on {case.name!r} the reference returns", [observation.value])
        return observations

    def mistaken(self, misconception: Misconception, number: int) -> Observation:
        """Observe a misconception on one case; most misconceptions differ from an answer on the first case."""
        which = misconception.id, number
        if which not in self._mistaken:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # torch may warn of a known mistake
                self._mistaken[which] = observe(misconception.answer, self.cases[number])
        return self._mistaken[which]

    def steps(self, number: int) -> Mapping[str, Value]:
        """Return the reference's steps on one case; none for a secret case."""
        if number not in self._steps:
            case = self.cases[number]
            self._steps[number] = {} if case.secret or case.refused else steps_of(self.exercise, case)
        return self._steps[number]


KeyedCases = CalledCases | RecordedCases
"""Cases, with the results of the reference and of known mistakes on each."""


class AnswerKey:
    """The cases of an exercise with the reference's results, computed once for a whole class.

    The first visible case is called again after the others, and so is the first hidden one, since an answer may be
    right only the first time.

    Attributes:
        shown: the cases that a student sees.
        kept: the hidden cases, whose inputs stay with the grader.
        probes: the cases that confirm a suspected mistake, see `PROBE_SEEDS`. Their names are never shown.

    Args:
        exercise: the exercise.
        hidden_seed: seed of the hidden cases; None to leave them out, as in students' own checks.
        tolerance: how close an answer must be, instead of the dtype's own tolerance. Known mistakes are told apart
            without it.
    """

    def __init__(self, exercise: Exercise, hidden_seed: int | None = None, tolerance: Tolerance = OF_DTYPE) -> None:
        self.exercise = exercise
        self.tolerance = tolerance
        self.kept = _hidden(exercise, hidden_seed)
        self.shown: KeyedCases
        self.probes: KeyedCases
        if isinstance(exercise, RecordedExercise):
            self.shown, self.probes = exercise.recording
        else:
            self.shown = CalledCases(exercise, lambda: _and_again(exercise.visible_cases()))
            self.probes = CalledCases(
                exercise, lambda: [case for seed in PROBE_SEEDS for case in exercise.hidden_cases(seed)]
            )

    def with_hidden(self, seed: int) -> AnswerKey:
        """Return a key that shares everything with this one except the hidden cases, which are those of a seed."""
        key = copy.copy(self)
        key.kept = _hidden(self.exercise, seed)
        return key

    @property
    def visible(self) -> list[Case]:
        """The cases that a student sees."""
        return self.shown.cases

    @property
    def hidden(self) -> list[Case]:
        """The cases whose inputs stay with the grader."""
        return self.kept.cases

    @property
    def cases(self) -> list[Case]:
        """All cases, the visible ones first."""
        return self.visible + self.hidden

    @property
    def expected(self) -> list[Observation]:
        """The reference's observations of all cases."""
        return self.shown.expected + self.kept.expected


def _check_plain(exercise: Exercise, where: str, values: Sequence[Value]) -> None:
    """Refuse a value that cannot leave a sandbox, and so could not be compared with anything."""
    for value in values:
        foreign = value.type_name if isinstance(value, Foreign) else foreign_in(value)
        if foreign:
            raise UnusableExercises(
                f"{exercise.id}: {where} {with_article(foreign)}, which cannot be compared; use numbers, text, arrays, "
                "tensors, and lists, tuples and dicts of those"
            )


def _and_again(cases: Sequence[Case]) -> list[Case]:
    return [*cases, *(again for case in cases[:1] for again in case.once_more())]


def _hidden(exercise: Exercise, seed: int | None) -> CalledCases:
    return CalledCases(exercise, lambda: [] if seed is None else _and_again(exercise.hidden_cases(seed)))


def is_refusal(case: Case, actual: Observation) -> bool:
    """Return whether a call ended with the exception that its case asks for."""
    return actual.failure is Outcome.RAISED and actual.raised is not None and actual.raised.type_name == case.refused
