"""Totals: weights, the lowest dropped, and nothing that could not be graded taken for a zero."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from autograder.course.semester import Late, LessonTerms, Semester
from autograder.gradebook.deadlines.lateness import Lateness
from autograder.gradebook.record import HandGrade, Record
from autograder.pages.totals import Total, remarks_on_totals, totals_of
from course_lib.judging.observation import Outcome
from tests.autograder.records import exercise_record, record

FIRST, SECOND, THIRD = "01_attention", "02_masking", "03_positions"
DUE = datetime(2026, 11, 20, 18, tzinfo=UTC)
AFTER, BEFORE = DUE + timedelta(days=1), DUE - timedelta(days=1)
HEAVY = Semester(lessons={FIRST: LessonTerms(weight=2), SECOND: LessonTerms(DUE), THIRD: LessonTerms(weight=0)})


def result(lesson: str, points: float | None, student: str = "ada", most: int = 10) -> Record:
    outcome = Outcome.UNREADABLE if points is None else Outcome.PASSED
    return record(student, lesson, (exercise_record("a.b", points, most, outcome),))


def total(semester: Semester, *results: Record, now: datetime = AFTER) -> Total:
    graded: dict[str, list[Record]] = {FIRST: [], SECOND: [], THIRD: []}
    for one in results:
        graded[one.lesson].append(one)
    return totals_of(graded, ["ada"], semester, now)["ada"]


def test_lessons_count_by_their_weights_whatever_their_points() -> None:
    found = total(HEAVY, result(FIRST, 10), result(SECOND, 10, most=20), result(THIRD, 0))
    assert found == Total(pytest.approx(100 * (2 * 1 + 1 * 0.5) / 3))


def test_the_lowest_is_dropped_and_named_but_never_the_last() -> None:
    semester = Semester(drop_lowest=1)
    assert total(semester, result(FIRST, 9), result(SECOND, 4), result(THIRD, 7)) == Total(80, "02_masking: dropped")
    assert total(semester, result(FIRST, 4)).percent == 40
    assert total(Semester(drop_lowest=5), result(FIRST, 9), result(SECOND, 4)).percent == 90


def test_of_two_that_are_alike_the_heavier_is_dropped() -> None:
    semester = Semester(1, lessons={SECOND: LessonTerms(weight=3)})
    found = total(semester, result(FIRST, 4), result(SECOND, 4), result(THIRD, 10))
    assert (found.percent, found.told) == (70, "02_masking: dropped")


def test_no_score_is_left_out_and_is_no_lesson_that_is_dropped() -> None:
    found = total(Semester(drop_lowest=1), result(FIRST, None), result(SECOND, 4), result(THIRD, 7))
    assert found == Total(70, "01_attention: no score, left out; 02_masking: dropped")
    assert total(Semester(), result(FIRST, None)).percent is None


def test_what_was_not_handed_in_is_a_zero_once_it_was_due_and_no_sooner() -> None:
    one = result(FIRST, 9)
    assert total(HEAVY, one).told == "02_masking: not handed in, 0"
    assert total(HEAVY, one).percent == pytest.approx(60)
    assert total(HEAVY, one, now=BEFORE) == Total(90, "02_masking: not due yet, left out")
    graceful = Semester(lessons={SECOND: LessonTerms(DUE, late=Late(grace=timedelta(days=2)))})
    assert "not due yet" in total(graceful, one).told
    extended = Semester(lessons={SECOND: LessonTerms(DUE, extensions={"ada": AFTER + timedelta(days=1)})})
    assert "not due yet" in total(extended, one).told
    assert total(Semester(), one).told == "; ".join(
        f"{lesson}: not handed in and never due, left out" for lesson in (SECOND, THIRD)
    )


def test_what_is_late_counts_with_what_is_left_of_it() -> None:
    late = replace(result(FIRST, 9), lateness=Lateness(penalty=2))
    assert total(Semester(), late).percent == 70


def test_a_written_answer_that_nobody_has_read_is_said() -> None:
    written = HandGrade("w", True, None, None, None, 10.0, waits=True)
    found = total(HEAVY, replace(result(FIRST, 10), by_hand=(written,)), result(SECOND, 10))
    assert found.told == "01_attention: a written answer not read yet, its points missing"
    assert found.percent == pytest.approx(100 * (2 * 0.5 + 1) / 3)


def test_extra_credit_lifts_a_total_above_a_hundred() -> None:
    extra = HandGrade("c", False, 10.0, None, 2.0, 10.0, waits=False)
    assert total(Semester(), replace(result(FIRST, 10), by_hand=(extra,))).percent == 120


def test_how_it_came_about_is_told() -> None:
    semester = replace(HEAVY, drop_lowest=1)
    assert remarks_on_totals(
        "total", [FIRST, SECOND], semester, [Total(50), Total(1, "02_masking: not handed in, 0")]
    ) == [
        "total: percent of the points of 01_attention (weight 2), 02_masking (weight 1).",
        "total: each student's lowest lesson is dropped, but never all of them.",
        "total: for 1 student a lesson is left out or a zero; the next column says which.",
    ]
