"""Finds the known mistake that an answer makes: the only one that does what the answer does wherever it was tried.

The visible cases raise a suspicion, and the probes confirm it (see `AnswerKey.probes`). Hidden cases play no part, so
that a student reads the same name in the notebook and in the feedback, whatever was drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from course_lib.judging.answer_key import AnswerKey, KeyedCases
from course_lib.judging.compare import (
    RELATIVE_TOLERANCE,
    Tolerance,
    gradients_difference,
    values_agree,
)
from course_lib.judging.exercise import CORE, Case, Misconception, Value
from course_lib.judging.observation import Observation, Outcome
from course_lib.judging.verdict import compared
from course_lib.judging.wording.over_cases import changes, reason

Probe = Callable[[Sequence[Case]], Sequence[Observation]]
"""Calls the answer on cases, one after another; it may stop early, if the answer does not return."""


@dataclass(frozen=True)
class Diagnosis:
    """The result of a diagnosis.

    Attributes:
        misconception: the known mistake that does the same in every case, if there is one.
        note: another fact about all cases: some look like a known mistake, or they have something in common.
    """

    misconception: Misconception | None = None
    note: str = ""


UNKNOWN = Diagnosis()
"""No known mistake does what the answer does."""


def diagnose(
    key: AnswerKey, observations: Sequence[Observation], probe: Probe, *, one_mistake: bool = False
) -> Diagnosis:
    """Find the known mistake that explains an answer: one alone, else two at once, else one in some cases.

    If the core part is wrong, only its cases count: a wrong formula may fail the other parts in its own way. At least
    one case must show a wrong *value*: if answer and mistake both only raise, that proves nothing.

    Args:
        key: the exercise's cases and expected results.
        observations: the answer's observations in the visible cases; later ones are ignored.
        probe: calls the answer on further cases. It is not called if nothing is suspected.
        one_mistake: look only for a mistake that explains the answer alone.
    """
    shown = _Tried(key.shown, observations)
    core_only = any(not result.passed and result.case.part == CORE for result in shown.results)
    if not shown.wrong(core_only):
        return UNKNOWN if one_mistake else Diagnosis(note=reason(key.exercise, shown.results))
    probes: list[_Tried] = []

    def confirmed() -> _Tried:
        if not probes:
            probes.append(_Tried(key.probes, probe(key.probes.cases)))
        return probes[0]

    alone, pairs = key.exercise.misconceptions, () if one_mistake else key.exercise.pairs
    # Try pairs of mistakes first: missing gradients are ignored only if no pair explains them.
    for mistakes, detached in ((alone, False), (pairs, False), (alone, True)):
        suspects = [mistake for mistake in mistakes if shown.all_explained(mistake, core_only, detached)]
        found = [mistake for mistake in suspects if confirmed().all_explained(mistake, core_only, detached)]
        if len(found) > 1:  # other parts may tell them apart
            found = [mistake for mistake in found if shown.all_explained(mistake, False, detached)] or found
        if len(found) == 1 and shown.contradicts(found[0]):
            return UNKNOWN if one_mistake else Diagnosis(note=f"{_IN_THE_FIRST_PART} {found[0].message}")
        if found:
            return Diagnosis(_seen(found[0], alone, shown, core_only)) if len(found) == 1 else UNKNOWN
    if one_mistake:
        return UNKNOWN
    note = changes(shown.results) or _likeness(key, shown, core_only, confirmed) or reason(key.exercise, shown.results)
    return Diagnosis(note=note)


def _seen(found: Misconception, alone: Sequence[Misconception], shown: _Tried, core_only: bool) -> Misconception:
    """Reduce a pair of mistakes to one that explains all visible cases by itself, if there is one."""
    for mistake in alone:
        if mistake.id in found.id.split("+") and not mistake.alone and shown.all_explained(mistake, core_only, False):
            return mistake
    return found


_IN_THE_FIRST_PART = "In the cases of the first part, which must be right first, this is what happens:"


def _likeness(key: AnswerKey, shown: _Tried, core_only: bool, confirmed: Callable[[], _Tried]) -> str:
    """Describe an answer that does what one mistake does in a large share of the failing cases."""
    found = {
        mistake.id: shown.alike(mistake, core_only) for mistake in key.exercise.misconceptions if not mistake.alone
    }
    most = max(map(len, found.values()), default=0)
    best = [mistake for mistake in key.exercise.misconceptions if most and len(found.get(mistake.id, ())) == most]
    failures = shown.failed(core_only)
    if len(best) != 1 or most < _ALIKE or most * 2 < len(failures):
        return ""
    further = confirmed()
    if len(further.alike(best[0], core_only)) * 2 < len(further.failed(core_only)) or not further.results:
        return ""
    which = f"the {most}" if most == len(failures) else f"{most} of the {len(failures)}"
    return f"In {which} cases that fail, this is what happens: {best[0].message}"


_ALIKE = 2
"""The least number of cases in which an answer must do what a mistake does."""


class _Tried:
    """An answer's observations on some cases, to compare with those of known mistakes."""

    def __init__(self, keyed: KeyedCases, observations: Sequence[Observation]) -> None:
        self._keyed = keyed
        seen = zip(keyed.cases, keyed.expected, observations, strict=False)
        self.results = [compared(case, False, expected, actual) for case, expected, actual in seen]

    def telling(self, core_only: bool) -> list[int]:
        """Return the numbers of the cases that count."""
        return [n for n, one in enumerate(self.results) if one.case.part == CORE or not core_only]

    def wrong(self, core_only: bool) -> list[int]:
        """Return the numbers of cases whose value is wrong, or in which tensors meet the CPU where they must not."""
        results = {n: self.results[n] for n in self.telling(core_only)}
        return [
            n for n, one in results.items() if one.outcome is Outcome.WRONG or (one.case.elsewhere and not one.passed)
        ]

    def failed(self, core_only: bool) -> list[int]:
        """Return the numbers of cases that did not pass."""
        return [n for n in self.telling(core_only) if not self.results[n].passed]

    def alike(self, mistake: Misconception, core_only: bool) -> list[int]:
        """Return the numbers of wrong cases in which a mistake gives the same tensor, and not by chance."""
        return [n for n in self.wrong(core_only) if n in self._telling_values and self.explained(mistake, n)]

    def all_explained(self, mistake: Misconception, core_only: bool, detached: bool) -> bool:
        """Return whether a mistake does what the answer did on every case, and explains each failure."""
        failed_first = sorted(self.telling(core_only), key=lambda n: self.results[n].passed)  # these tell most
        return bool(self.results) and all(self.explained(mistake, n, detached) for n in failed_first)

    def contradicts(self, mistake: Misconception) -> bool:
        """Return whether the answer is right, and a mistake wrong, in some part other than the core."""
        return any(
            one.passed and one.case.part != CORE and not self._passes(mistake, number)
            for number, one in enumerate(self.results)
        )

    def _passes(self, mistake: Misconception, number: int) -> bool:
        one = self.results[number]
        return compared(one.case, False, one.expected, self._keyed.mistaken(mistake, number)).passed

    def explained(self, mistake: Misconception, number: int, detached: bool = False) -> bool:
        """Return whether a mistake ends as the answer did on a case, and fails if the answer failed.

        An answer that returns the right values but changes its argument is not explained by a mistake that returns them
        as well. A wrong value matches the mistake's in any precision.

        Args:
            mistake: the mistake.
            number: the number of the case.
            detached: ignore gradients that do not reach the answer's arguments, if its values are wrong.
        """
        result, mistaken = self.results[number], self._keyed.mistaken(mistake, number)
        case, actual = result.case, result.actual
        if not mistaken.returned or not actual.returned:
            return _raises_alike(case, mistaken, actual)
        if number in self._wrong_values:
            if not values_agree(case, mistaken, actual, _SPELLINGS):
                return False
            given = _without_those_missing(mistaken, actual) if detached else mistaken
            fails = not values_agree(case, result.expected, mistaken)
            return fails and gradients_difference(case, given, actual, tolerance=_SPELLINGS) is None
        if detached and self._wrong_values and None in actual.gradients:
            return values_agree(case, mistaken, actual)
        if not values_agree(case, mistaken, actual) or gradients_difference(case, mistaken, actual) is not None:
            return False
        return result.passed or not compared(case, False, result.expected, mistaken).passed

    @cached_property
    def _telling_values(self) -> frozenset[int]:
        """The numbers of the cases whose value is no coincidence."""
        return frozenset(n for n, one in enumerate(self.results) if _is_telling(one.actual.value))

    @cached_property
    def _wrong_values(self) -> frozenset[int]:
        """The numbers of the cases whose value is wrong by more than rounding to single precision."""
        return frozenset(
            number
            for number, one in enumerate(self.results)
            if one.outcome is Outcome.WRONG
            and not one.case.refused
            and not values_agree(one.case, one.expected, one.actual, _SPELLINGS)
        )


_SPELLINGS = Tolerance(relative=RELATIVE_TOLERANCE[torch.float32])
"""How close two versions of a mistake are: one may compute in single precision, the other in double."""


def _without_those_missing(mistaken: Observation, actual: Observation) -> Observation:
    """Return a mistake's observation without the gradients that the answer lacks."""
    reached = zip(mistaken.gradients, actual.gradients, strict=True)
    return replace(mistaken, gradients=tuple(None if there is None else own for own, there in reached))


def _is_telling(value: Value) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point() and value.detach().unique().numel() >= _TELLING


_TELLING = 3
"""A tensor with this many different numbers is no coincidence."""


def _raises_alike(case: Case, mistaken: Observation, actual: Observation) -> bool:
    """Return whether both calls raised an exception of any kind.

    If the case asks for an exception, both must be of the same kind.
    """
    ends = [seen.raised.type_name for seen in (mistaken, actual) if seen.failure is Outcome.RAISED and seen.raised]
    return len(ends) == 2 and (not case.refused or ends[0] == ends[1])
