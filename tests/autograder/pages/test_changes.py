"""What an instructor reads about decisions, and about points by hand that count in another share."""

from __future__ import annotations

from autograder.gradebook.changes.adjustments import Adjustment, adjusted
from autograder.gradebook.record import Conditions, ExerciseRecord, HandGrade, Record
from autograder.pages.changes import remarks_on_changes
from course_lib.judging.observation import Outcome


def record(student: str, *by_hand: HandGrade) -> Record:
    exercise = ExerciseRecord("toy.scale", "toy-scale-check", "f", 1, "L2", Outcome.PASSED, 2.0, 2)
    conditions = Conditions("r", "s", {}, {})
    return Record(student, "01_toy", "d", "n", "", 1, conditions, (exercise,), by_hand=by_hand)


def given(points: float, shared: tuple[float, float] | None) -> HandGrade:
    return HandGrade("toy-why-written", True, None, points, None, 3.0, False, shared=shared)


def test_nothing_is_told_where_nothing_has_changed() -> None:
    assert list(remarks_on_changes("01_toy", [record("ada", given(2.0, None)), record("ben")])) == []


def test_decisions_are_told_once_and_shares_with_both_numbers() -> None:
    scale, why = Adjustment(extra_credit=True, never_lower=True), Adjustment(full_credit=True)
    adjustments = {"toy.scale": scale, "toy.why": why}
    results = [adjusted(record(name, given(3.0, (1.0, 1.0))), adjustments) for name in ("ada", "ben")]
    assert list(remarks_on_changes("01_toy", results)) == [
        "01_toy: toy.scale: extra credit, never lower.",
        "01_toy: toy.why: full credit for everyone.",
        "01_toy: points given by hand to 2 students for toy-why-written, out of 1, are scaled to 3.",
    ]
