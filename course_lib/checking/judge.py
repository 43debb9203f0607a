"""Running an answer on the cases of an exercise, and deciding."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from course_lib.checking.compare import difference, refusal_difference, result_difference
from course_lib.checking.exercise import CORE, Case, Exercise, Misconception
from course_lib.checking.observation import ENDINGS, Answer, Observation, Outcome, nothing_written, observe
from course_lib.checking.verdict import CaseResult, Verdict, earned


class AnswerKey:
    """The cases of an exercise with what the reference returns on each, computed once for a whole class.

    Args:
        exercise: the exercise.
        hidden_seed: seed of the hidden cases; None leaves them out, as students' own checks do.
    """

    def __init__(self, exercise: Exercise, hidden_seed: int | None = None) -> None:
        self.exercise = exercise
        self.visible = exercise.visible_cases()
        self.hidden = [] if hidden_seed is None else exercise.hidden_cases(hidden_seed)
        self._mistaken: dict[tuple[str, int], Observation] = {}

    @property
    def cases(self) -> list[Case]:
        """All cases, the visible ones first."""
        return self.visible + self.hidden

    @cached_property
    def expected(self) -> list[Observation]:
        """What the reference does, case by case."""
        observations = [observe(self.exercise.reference, case) for case in self.cases]
        for case, observation in zip(self.cases, observations, strict=True):
            if not (is_refusal(case, observation) if case.refused else observation.returned):
                ends = f"does not refuse {case.name!r}" if observation.returned else f"fails on {case.name!r}"
                raise ValueError(f"{self.exercise.id}: the reference {ends}: {observation.raised}")
        return observations

    def mistaken(self, misconception: Misconception, number: int) -> Observation:
        """What a misconception does on the case of this number; most differ from an answer on the first one."""
        which = misconception.id, number
        if which not in self._mistaken:
            self._mistaken[which] = observe(misconception.answer, self.cases[number])
        return self._mistaken[which]


def judge(key: AnswerKey, answer: Answer) -> Verdict:
    """The verdict on an answer.

    Args:
        key: the exercise's cases and expected results.
        answer: observes the answer on a case: `lambda case: observe(function, case)`, or a box's proxy.
    """
    return decide(key, observe_cases(key.cases, answer))


def observe_cases(cases: Sequence[Case], answer: Answer) -> list[Observation]:
    """Call an answer on one case after another, until one of them ends the run."""
    observations: list[Observation] = []
    for case in cases:
        observations.append(answer(case))
        if observations[-1].failure in ENDINGS:
            break
    return observations


def decide(key: AnswerKey, observations: Sequence[Observation]) -> Verdict:
    """The verdict that follows from what an answer did.

    Args:
        key: the exercise's cases and expected results.
        observations: of the first cases of the key, in order. A case without one has not passed.
    """
    seen = zip(key.cases, key.expected, observations, strict=False)
    parameters = key.exercise.parameters
    results = [
        _compared(case, number >= len(key.visible), expected, actual, parameters)
        for number, (case, expected, actual) in enumerate(seen)
    ]
    for result in results:
        if result.outcome is Outcome.RULE_BROKEN:
            return rule_broken(key.exercise, _forbidden_name(key.exercise, result.actual))
    outcome = _outcome(results)
    misconception = None if outcome is Outcome.PASSED else diagnose(key, results)
    return Verdict(key.exercise, outcome, earned(key.exercise, key.cases, results), tuple(results), misconception)


def _outcome(results: Sequence[CaseResult]) -> Outcome:
    """How an answer ended: as the first case that failed. It is not written yet only if no case is."""
    failures = [result.outcome for result in results if not result.passed]
    written = [failure for failure in failures if failure is not Outcome.NOT_ATTEMPTED]
    if written:
        return written[0]
    if not failures:
        return Outcome.PASSED
    return Outcome.NOT_ATTEMPTED if nothing_written([result.actual for result in results]) else Outcome.RAISED


def rule_broken(exercise: Exercise, name: str, place: str = "") -> Verdict:
    """The verdict on an answer that uses a forbidden name.

    Args:
        exercise: the exercise.
        name: the forbidden name.
        place: where it stands, if that is known: "line 3: return F.softmax(x)".
    """
    where = f" ({place})" if place else ", by whatever way it got there"
    note = f"Your answer uses {name}, which this exercise asks you to write yourself{where}."
    return Verdict(exercise, Outcome.RULE_BROKEN, 0.0, note=note)


def _forbidden_name(exercise: Exercise, actual: Observation) -> str:
    """The name that a trap reports; what a box says is not repeated unless it is one of them."""
    said = actual.raised.message.partition(" ")[0] if actual.raised is not None else ""
    return said if said in exercise.forbidden else "a forbidden function"


def _compared(
    case: Case, hidden: bool, expected: Observation, actual: Observation, parameters: list[str]
) -> CaseResult:
    if case.refused and is_refusal(case, actual):
        return CaseResult(case, hidden, expected, actual, None, Outcome.PASSED)
    if not actual.returned:
        return CaseResult(case, hidden, expected, actual, None, actual.failure or Outcome.DIED)
    found = refusal_difference(case, actual) if case.refused else difference(case, expected, actual, parameters)
    return CaseResult(case, hidden, expected, actual, found, Outcome.PASSED if found is None else Outcome.WRONG)


def is_refusal(case: Case, actual: Observation) -> bool:
    """Whether a call ended with the exception that its case asks for."""
    return actual.failure is Outcome.RAISED and actual.raised is not None and actual.raised.type_name == case.refused


def diagnose(key: AnswerKey, results: Sequence[CaseResult]) -> Misconception | None:
    """The first misconception that does exactly what the answer did, on every case that was run, and explains why
    each one failed that did.

    Where the core part is wrong only its cases count: a wrong formula may fail the other parts in its own way.
    At least one case must show a wrong *value*: that both merely raise proves nothing.
    """
    core_is_wrong = any(not result.passed and result.case.part == CORE for result in results)
    telling = [n for n, result in enumerate(results) if result.case.part == CORE or not core_is_wrong]
    if not any(results[n].outcome is Outcome.WRONG for n in telling):
        return None
    for misconception in key.exercise.misconceptions:
        if all(_explains(key.mistaken(misconception, n), results[n]) for n in telling):
            return misconception
    return None


def _explains(mistaken: Observation, result: CaseResult) -> bool:
    """Whether a misconception ends as the answer did, and fails where the answer failed.

    An answer that returns the right values and fails for changing its argument is not explained by a misconception
    that returns them as well.
    """
    if not _same(result.case, mistaken, result.actual):
        return False
    return result.passed or not _compared(result.case, result.hidden, result.expected, mistaken, []).passed


def _same(case: Case, mistaken: Observation, actual: Observation) -> bool:
    if mistaken.returned and actual.returned:
        return result_difference(case, mistaken, actual) is None
    if mistaken.returned or actual.returned:
        return False
    return (
        mistaken.raised is not None
        and actual.raised is not None
        and mistaken.raised.type_name == actual.raised.type_name
    )
