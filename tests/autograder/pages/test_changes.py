"""What an instructor reads about decisions, and about points by hand that count in another share."""

from __future__ import annotations

from autograder.gradebook.changes.adjustments import Adjustment, adjusted
from autograder.gradebook.record import HandGrade
from autograder.pages.changes import remarks_on_changes
from course_lib.judging.observation import Outcome
from tests.autograder.records import exercise_record, record

SCALE = exercise_record("toy.scale", 2.0, 2, Outcome.PASSED)


def given(points: float, shared: tuple[float, float] | None) -> HandGrade:
    return HandGrade("toy-why-written", True, None, points, None, 3.0, False, shared=shared)


def test_decisions_are_told_once_and_shares_with_both_numbers() -> None:
    scale, why = Adjustment(extra_credit=True, never_lower=True), Adjustment(full_credit=True)
    adjustments = {"toy.scale": scale, "toy.why": why}
    graded = [record(name, "01_toy", [SCALE], by_hand=(given(3.0, (1.0, 1.0)),)) for name in ("ada", "ben")]
    results = [adjusted(one, adjustments) for one in graded]
    assert list(remarks_on_changes("01_toy", results)) == [
        "01_toy: toy.scale: extra credit, never lower.",
        "01_toy: toy.why: full credit for everyone.",
        "01_toy: points given by hand to 2 students for toy-why-written, out of 1, are scaled to 3.",
    ]
