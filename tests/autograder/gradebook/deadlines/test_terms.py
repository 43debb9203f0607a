"""Deadlines in nbgrader's tables: written, rewritten when they move, taken back, and never mixed with nbgrader's own.

Tests `plugin.py` as well.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.course.course import Course
from autograder.errors import BadInput
from autograder.gradebook import store
from autograder.gradebook.access import open_gradebook, read_only
from autograder.gradebook.changes.frozen import freeze
from autograder.gradebook.deadlines.terms import is_due_date_written
from autograder.gradebook.grades import read_grades
from autograder.gradebook.record import Record
from tests.autograder.small_gradebook import (
    DUE,
    LATE,
    LESSON,
    LINEAR,
    LINEAR_TERMS,
    MOST,
    bring_up_to_date,
    give,
    grade,
    make_course,
    set_terms,
)

Told = tuple[datetime | None, timedelta | None, float | None]


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A class of two, ada in time and ben late, before there are any deadlines."""
    course = make_course(tmp_path)
    grade(course, {"ada": 18})
    grade(course, {"ben": 18}, at=LATE)
    return course


def told(course: Course, student: str = "ben") -> Told:
    """What nbgrader's tables say: due date, extension, penalty."""
    with Gradebook(f"sqlite:///{course.gradebook}") as book:
        found = book.find_submission_notebook(LESSON, LESSON, student)
        return found.assignment.assignment.duedate, found.assignment.extension, found.late_submission_penalty


def ben(course: Course) -> Record:
    [found] = [one for one in read_grades(course, [LESSON])[LESSON] if one.student == "ben"]
    return found


def history(course: Course, student: str = "ben") -> list[str]:
    with read_only(course.gradebook) as connection:
        events = [event for event, _ in store.history(connection, LESSON, student)]
    return [event["why"][0] for event in events if event["kind"] == "late penalty"]


def test_without_a_deadline_nothing_is_written(course: Course) -> None:
    before = course.gradebook.read_bytes()
    bring_up_to_date(course)
    assert course.gradebook.read_bytes() == before
    assert told(course) == (None, None, None)
    assert ben(course).lateness.is_written


MOVED = f"{LINEAR}[lessons.{LESSON}]\ndue = 2026-11-21T18:00:00+01:00"
OWN = "ben = 2026-11-21T18:00:00+01:00\nzoe = 2027-01-01T00:00:00Z"
EXTENDED = f"{LINEAR_TERMS}[lessons.{LESSON}.extensions]\n{OWN}"
DUE_IN_UTC = datetime(2026, 11, 20, 17)
THEN = "handed in 2026-11-21T19:00:00+01:00"


def test_deadlines_come_move_and_go_in_nbgrader_s_tables(course: Course) -> None:
    """Each step with what nbgrader's tables say then, ben's total, and the line in his history where it changes."""
    steps: list[tuple[str, Told, float, str | None]] = [
        (LINEAR_TERMS, (DUE_IN_UTC, None, 4), 14, f"0 -> 4 points off; due {DUE}, {THEN}"),
        (MOVED, (datetime(2026, 11, 21, 17), None, 2), 16, f"4 -> 2 points off; due 2026-11-21T18:00:00+01:00, {THEN}"),
        (EXTENDED, (DUE_IN_UTC, timedelta(days=1), 2), 16, None),
        (LINEAR_TERMS, (DUE_IN_UTC, None, 4), 14, f"2 -> 4 points off; due {DUE}, {THEN}"),
        (EXTENDED, (DUE_IN_UTC, timedelta(days=1), 2), 16, f"4 -> 2 points off; due 2026-11-21T18:00:00+01:00, {THEN}"),
        ("", (None, None, None), 18, "2 -> 0 points off; no longer due"),
    ]
    lines = []
    for terms, in_tables, total, line in steps:
        course = set_terms(course, terms)
        assert (ben(course).total, ben(course).lateness.is_written) == (total, False)
        bring_up_to_date(course)
        assert told(course) == in_tables
        assert told(course, "ada") == (in_tables[0], None, None)
        assert (ben(course).total, ben(course).points, ben(course).lateness.is_written) == (total, 18, True)
        lines += [line] if line else []
        assert (history(course), history(course, "ada")) == (lines, [])
        with read_only(course.gradebook) as session:
            assert is_due_date_written(course, session, LESSON)
        if terms == EXTENDED:
            with Gradebook(f"sqlite:///{course.gradebook}") as book:
                assert book.find_submission(LESSON, "ben").total_seconds_late == 3600


def test_points_by_hand_change_what_a_cap_takes(course: Course) -> None:
    course = set_terms(course, f'[late]\npolicy = "cap"\ncap = 80\n[lessons.{LESSON}]\ndue = {DUE}')
    bring_up_to_date(course)
    assert (told(course)[2], ben(course).total) == (2, 0.8 * MOST)
    give(course, "ben", manual_score=2.0)
    assert (ben(course).total, ben(course).lateness.is_written) == (0.8 * MOST, False)
    bring_up_to_date(course)
    assert (told(course)[2], ben(course).total) == (4, 0.8 * MOST)


def change_in_nbgrader(course: Course, due: datetime | None, penalty: float) -> None:
    with Gradebook(f"sqlite:///{course.gradebook}") as book:
        if due:
            book.find_assignment(LESSON).duedate = due
        book.find_submission_notebook(LESSON, LESSON, "ben").late_submission_penalty = penalty
        book.db.commit()


def test_what_nbgrader_s_autograde_has_taken_off_is_taken_off(course: Course) -> None:
    change_in_nbgrader(course, DUE_IN_UTC, 3)
    assert (ben(course).earned, ben(course).total, ben(course).lateness.seconds) == (18, 15, 25 * 3600)
    bring_up_to_date(course)
    assert told(course) == (DUE_IN_UTC, None, 3)
    assert ben(course).total == 15


def test_where_the_course_has_terms_they_count_and_otherwise_what_nbgrader_has_written_since(course: Course) -> None:
    course = set_terms(course, LINEAR_TERMS)
    bring_up_to_date(course)
    change_in_nbgrader(course, None, 9)
    assert (ben(course).total, ben(course).lateness.is_written) == (14, False)
    bring_up_to_date(course)
    assert told(course)[2] == 4
    change_in_nbgrader(course, datetime(2026, 12, 24), 9)
    course = set_terms(course, "")
    assert ben(course).total == 9
    bring_up_to_date(course)
    assert told(course) == (datetime(2026, 12, 24), None, 9)


def test_in_a_frozen_lesson_what_was_written_stands(course: Course) -> None:
    course = set_terms(course, LINEAR_TERMS)
    bring_up_to_date(course)
    with open_gradebook(course.gradebook) as book:
        assert freeze(book, LESSON)
    before = course.gradebook.read_bytes()
    for terms in (MOVED, ""):
        course = set_terms(course, terms)
        late = ben(course).lateness
        assert (ben(course).total, late.is_kept, late.is_written) == (14, True, True)
        assert (late.due, late.seconds) == (datetime.fromisoformat(DUE), 90000)
        with read_only(course.gradebook) as connection:
            assert is_due_date_written(course, connection, LESSON)
    assert not ben(set_terms(course, LINEAR_TERMS)).lateness.is_kept
    assert course.gradebook.read_bytes() == before


def test_a_time_in_the_terms_counts_in_place_of_the_submission_s_and_where_it_has_none(course: Course) -> None:
    grade(course, {"cem": 18}, at="")
    times = f"[lessons.{LESSON}.handed_in]\nben = {DUE}\ncem = 2026-11-20T19:00:00+01:00\n"
    course = set_terms(course, LINEAR_TERMS + times)
    by_name = {one.student: one for one in read_grades(course, [LESSON])[LESSON]}
    assert (by_name["ben"].total, by_name["cem"].total) == (18, 16)
    assert not by_name["cem"].lateness.is_unknown
    bring_up_to_date(course)
    assert (told(course)[2], told(course, "cem")[2]) == (None, 2)
    course = set_terms(course, LINEAR_TERMS)
    totals = {one.student: one.total for one in read_grades(course, [LESSON])[LESSON]}
    assert totals == {"ada": 18, "ben": 14, "cem": 18}
    bring_up_to_date(course)
    assert (told(course)[2], told(course, "cem")[2]) == (4, None)


# --- nbgrader's plugin


HOURLY = '''
from nbgrader.plugins import BasePlugin

class Hourly(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        """A point for each hour."""
        {body}
'''
CHOSEN = 'c.AssignLatePenalties.plugin_class = "{module}.Hourly"\n'
DUE_ONLY = f"[lessons.{LESSON}]\ndue = {DUE}\n"


@pytest.fixture
def with_plugin(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Course]:
    def make(body: str) -> Course:
        root = tmp_path_factory.mktemp("course")
        module = f"late_{root.name}"  # a module is imported once
        (root / f"{module}.py").write_text(HOURLY.format(body=body))
        course = make_course(root, DUE_ONLY, CHOSEN.format(module=module))
        grade(course, {"ben": 18}, at="2026-11-20 20:00:00 UTC")
        return course

    return make


def test_nbgrader_s_plugin_decides_where_the_course_says_nothing_else(with_plugin: Callable[[str], Course]) -> None:
    course = with_plugin("return total_seconds_late / 3600")
    assert (ben(course).lateness.penalty, ben(course).total) == (3, 15)
    bring_up_to_date(course)
    assert told(course)[2] == 3
    assert ben(set_terms(course, f'{DUE_ONLY}late = {{ policy = "none" }}')).total == 18


def test_a_plugin_may_take_nothing(with_plugin: Callable[[str], Course]) -> None:
    assert ben(with_plugin("return None")).total == 18


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return 1 / 0", r"late_.*\.Hourly, fails for ben: ZeroDivisionError: division by zero; fix it"),
        ("return 'x'", "takes 'x' off for ben, which is not a number of points; fix it"),
        ("return float('nan')", "takes nan off for ben"),
        ("return True", "takes True off for ben"),
    ],
)
def test_a_plugin_that_fails_is_named(with_plugin: Callable[[str], Course], body: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        ben(with_plugin(body))


def test_nbgrader_s_own_plugin_has_its_setting_and_one_that_is_not_there_is_named(tmp_path: Path) -> None:
    course = make_course(tmp_path, DUE_ONLY, 'c.LateSubmissionPlugin.penalty_method = "zero"\n')
    grade(course, {"ben": 18}, at=LATE)
    assert ben(course).total == 0
    course = make_course(tmp_path, DUE_ONLY, CHOSEN.format(module="no_such_module"))
    with pytest.raises(
        BadInput, match=r"no_such_module\.Hourly, cannot be loaded: .*; see nbgrader_config.py"
    ) as caught:
        ben(course)
    assert "\n" not in str(caught.value)
