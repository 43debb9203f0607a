"""What students and instructors read about deadlines, and that every page says the same."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bs4 import BeautifulSoup

from autograder.course.semester import Late, LessonTerms
from autograder.gradebook.deadlines.lateness import Lateness, lateness_of
from autograder.gradebook.record import Record
from autograder.pages.class_report import render_class
from autograder.pages.deadlines import deadline_for_student, late_in_brief, moment_in_words, remarks_on_deadlines
from autograder.pages.feedback import render_feedback
from course_lib.exercises import COURSE
from course_lib.judging.observation import Outcome
from tests.autograder.records import exercise_record, record, text

LESSON = "01_attention"
DUE = datetime.fromisoformat("2026-11-20T18:00:00+01:00")
LINEAR = Late("linear", timedelta(minutes=15), per_day=10, at_most=50)


def submission(
    student: str, seconds: float | None = 0, late: Late = LINEAR, points: float | None = 17, extended: bool = False
) -> Record:
    """One that was handed in so many seconds after it was due; None is at no known time."""
    handed_in = None if seconds is None else datetime(2026, 11, 20, 17) + timedelta(seconds=seconds)
    terms = LessonTerms(DUE, late=late, extensions={student: DUE} if extended else {})
    outcome = Outcome.UNREADABLE if points is None else Outcome.PASSED
    made = record(student, LESSON, (exercise_record("attention.scores", points, 20, outcome),))
    return replace(made, lateness=lateness_of(terms, student, handed_in, points, 20, lambda *asked: 3.0))


def told(one: Record) -> str:
    return " ".join(deadline_for_student(one))


def test_a_time_is_told_on_its_own_clock() -> None:
    assert moment_in_words(DUE) == "Friday, 20 November 2026, 18:00 (UTC+01:00)"
    assert moment_in_words(datetime(2026, 3, 1, 9, 5, 7, tzinfo=UTC)) == "Sunday, 1 March 2026, 09:05:07 (UTC)"


def test_the_student_reads_due_handed_in_how_late_and_what_it_cost() -> None:
    due = "Due Friday, 20 November 2026, 18:00 (UTC+01:00)"
    assert told(submission("ada")) == f"{due}. Handed in Friday, 20 November 2026, 18:00 (UTC+01:00): on time."
    assert told(submission("ada", 26 * 3600)) == (
        f"{due}. Handed in Saturday, 21 November 2026, 20:00 (UTC+01:00): 1 day 2 hours late. Being late costs 4 of "
        "your 17 points: each day, or part of a day, costs 10% of the lesson's 20 points, 50% at most."
    )
    assert told(submission("ada", 600)).endswith(": 10 minutes late, which is within the grace period of 15 minutes.")
    assert told(submission("ada", extended=True)).startswith(f"{due}, which is your own extension. Handed in")
    assert told(submission("ada", None)) == (f"{due}. Nobody knows when it was handed in, so it counts as on time.")


def test_what_costs_nothing_and_what_nobody_can_lose() -> None:
    assert told(submission("ada", 3600, Late("none"))).endswith("1 hour late. Being late costs nothing.")
    kept = told(submission("ada", 3600, Late("cap", cap=90)))
    assert kept.endswith(
        "1 hour late. Being late costs nothing: late work can get at most 90% of the lesson's 20 points."
    )
    assert told(submission("ada", 3600, points=None)).endswith("1 hour late.")
    assert told(submission("ada", 3600, Late("nbgrader"))).endswith("Being late costs 3 of your 17 points.")
    assert told(record("ada", LESSON)) == ""


def test_what_nbgrader_has_taken_off_is_told_without_a_deadline() -> None:
    one = replace(submission("ada"), lateness=Lateness(penalty=2))
    assert told(one) == "Being late costs 2 of your 17 points."


def test_a_table_has_it_in_brief() -> None:
    assert late_in_brief(submission("ada")) == ""
    assert late_in_brief(submission("ada", 600)) == ""
    assert late_in_brief(submission("ada", 26 * 3600)) == "1 day 2 hours, −4"
    assert late_in_brief(submission("ada", 3600, Late("none"))) == "1 hour"
    assert late_in_brief(submission("ada", None)) == "time unknown"
    for handed_in, mark, brief, read in (
        (None, False, "", "Handed in on time."),
        (None, True, "late, time unknown", "Nobody knows when it was handed in, so it counts as on time."),
        (26 * 3600, False, "1 day 2 hours, −4", "1 day 2 hours late."),  # a time that is known decides
        (0, True, "", ": on time."),
    ):
        one = submission("ada", handed_in)
        one = replace(one, lateness=replace(one.lateness, marked_late=mark))
        assert late_in_brief(one) == brief
        assert read in told(one)
        assert any("nobody knows when" in line for line in remarks_on_deadlines(LESSON, [one])) is (brief[:4] == "late")


def test_the_instructor_is_told_of_what_is_unknown_lost_and_not_written() -> None:
    stale = submission("cem", 3600)
    stale = replace(stale, lateness=replace(stale.lateness, is_written=False))
    assert [*remarks_on_deadlines(LESSON, [submission("ada"), submission("ben", None), stale])] == [
        "01_attention: nobody knows when it was handed in, so it counts as on time: ben. "
        "[lessons.01_attention.handed_in] in course.toml says when.",
        "01_attention: 2 points taken off for being late: cem.",
        "01_attention: deadlines or points have changed since the feedback pages and nbgrader's tables were written, "
        "for cem: run `katze grade 01_attention`, which updates them without grading anything.",
    ]
    assert [*remarks_on_deadlines(LESSON, [submission("ada")])] == []
    kept = replace(submission("dov"), lateness=replace(stale.lateness, is_kept=True, is_written=True, penalty=0))
    assert [*remarks_on_deadlines(LESSON, [kept])] == [
        "01_attention: its deadline in course.toml has changed, but the lesson is frozen, so nothing changes for dov; "
        "run `katze thaw 01_attention` first."
    ]


def test_the_feedback_page_has_the_points_that_are_left_and_why() -> None:
    soup = BeautifulSoup(render_feedback(None, submission("ada", 26 * 3600), {}), "html.parser")
    card = text(soup.select_one("section"))
    assert card.startswith("13 of 20 points")
    assert card.endswith(told(submission("ada", 26 * 3600)))
    assert "Due Friday" in render_feedback(None, submission("ada", points=None), {})
    assert "Due" not in render_feedback(None, record("ada", LESSON), {})


def test_the_report_has_the_due_date_the_late_and_those_who_withdrew() -> None:
    gone = replace(submission("zoe"), is_withdrawn=True)
    late = submission("ben", 26 * 3600)
    soup = BeautifulSoup(
        render_class("Lesson 01", [submission("ada"), late, submission("cem", None), gone], COURSE, DUE), "html.parser"
    )
    said = text(soup)
    assert "submissions 3 " in said
    assert "handed in late 1" in said
    assert "Due Friday, 20 November 2026, 18:00 (UTC+01:00)." in said
    assert "nobody knows when it was handed in, so it counts as on time: cem." in said
    assert "withdrawn (the submission is no longer there), and not counted: zoe." in said
    assert [*map(text, soup.select("table.students tbody tr"))] == [
        "ada 17 of 20",
        "ben 13 of 20 1 day 2 hours, −4",
        "cem 17 of 20 time unknown",
    ]
