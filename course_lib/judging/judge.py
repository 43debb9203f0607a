"""Runs an answer on the cases of an exercise, and decides on the verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from course_lib.judging.answer_key import AnswerKey
from course_lib.judging.diagnosis import UNKNOWN, Diagnosis, diagnose
from course_lib.judging.exercise import Case, Exercise, Value
from course_lib.judging.observation import ENDINGS, Answer, Observation, Outcome, nothing_written
from course_lib.judging.verdict import CaseResult, Verdict, compared, earned


def judge(key: AnswerKey, answer: Answer) -> Verdict:
    """Judge an answer.

    Args:
        key: the exercise's cases and expected results.
        answer: observes the answer on a case: `lambda case: observe(function, case)`, or a sandbox's proxy.
    """
    observations = observe_cases(key.cases, answer)
    return decide(key, observations, diagnose(key, observations, lambda cases: observe_cases(cases, answer)))


def observe_cases(cases: Sequence[Case], answer: Answer) -> list[Observation]:
    """Call an answer on one case after another, until one of them ends the run."""
    observations: list[Observation] = []
    for case in cases:
        observations.append(answer(case))
        if observations[-1].failure in ENDINGS:
            break
    return observations


def decide(key: AnswerKey, observations: Sequence[Observation], diagnosis: Diagnosis = UNKNOWN) -> Verdict:
    """Return the verdict that follows from an answer's observations.

    Args:
        key: the exercise's cases and expected results.
        observations: those of the key's first cases, in order. A case without one has not passed.
        diagnosis: the known mistake that the answer makes.
    """
    seen = zip(key.cases, key.expected, observations, strict=False)
    parameters = key.exercise.parameters
    results = [
        compared(case, number >= len(key.visible), expected, actual, parameters, key.tolerance)
        for number, (case, expected, actual) in enumerate(seen)
    ]
    for result in results:
        if result.outcome is Outcome.RULE_BROKEN:
            return rule_broken(key.exercise, _forbidden_name(key.exercise, result.actual))
    outcome = _outcome(results)
    if outcome is Outcome.UNGRADED:
        return Verdict(key.exercise, outcome, None, tuple(results), note=_left_to_the_full_course(results))
    points = earned(key.exercise, key.cases, results)
    verdict = Verdict(key.exercise, outcome, points, tuple(results), diagnosis.misconception, diagnosis.note)
    if verdict.misconception is not None or verdict.shown is None or outcome is Outcome.NOT_ATTEMPTED:
        return verdict
    return replace(verdict, steps=_steps(key, results, verdict.shown), hint=key.exercise.next_hint())


def _steps(key: AnswerKey, results: Sequence[CaseResult], shown: CaseResult) -> Mapping[str, Value]:
    helps = not shown.hidden and shown.outcome in (Outcome.WRONG, Outcome.RAISED)
    return key.shown.steps(results.index(shown)) if helps else {}


def _outcome(results: Sequence[CaseResult]) -> Outcome:
    """Return the outcome of the first failed case; an answer counts as not attempted only if every case does.

    Cases that cannot be judged here count only if all others passed.
    """
    unknown = [result for result in results if result.outcome is Outcome.UNGRADED]
    failures = [result.outcome for result in results if not result.passed and result.outcome is not Outcome.UNGRADED]
    if unknown and not failures:
        return Outcome.UNGRADED
    written = [failure for failure in failures if failure is not Outcome.NOT_ATTEMPTED]
    if written:
        return written[0]
    if not failures:
        return Outcome.PASSED
    return Outcome.NOT_ATTEMPTED if nothing_written([result.actual for result in results]) else Outcome.RAISED


def _left_to_the_full_course(results: Sequence[CaseResult]) -> str:
    """Return a note for an answer that is right wherever it can be judged here."""
    unknown = sum(result.outcome is Outcome.UNGRADED for result in results)
    others = " The others are right." if unknown < len(results) else ""
    return f"{unknown} of {len(results)} cases can be checked only in the full course, when this is graded.{others}"


def rule_broken(exercise: Exercise, name: str, place: str = "") -> Verdict:
    """Return the verdict on an answer that uses a forbidden name.

    Args:
        exercise: the exercise.
        name: the forbidden name.
        place: the place of the name, if known: "line 3: return F.softmax(x)".
    """
    where = f" ({place})" if place else " (perhaps through another function)"
    note = f"Your answer uses {name}, which this exercise asks you to write yourself{where}."
    return Verdict(exercise, Outcome.RULE_BROKEN, 0.0, note=note)


def _forbidden_name(exercise: Exercise, actual: Observation) -> str:
    """Return the forbidden name that a trap reports; repeat what a sandbox says only if it is a known name."""
    name = actual.raised.message.partition(" ")[0] if actual.raised is not None else ""
    return name if name in exercise.forbidden_names else "a forbidden function"
