"""A course whose gradebook is written without running anything: two lessons, an exercise and a written answer each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.course.course import Course
from autograder.gradebook import store
from autograder.gradebook.access import open_gradebook
from autograder.gradebook.deadlines.terms import with_lateness, write_terms
from autograder.gradebook.record import Conditions, ExerciseRecord, Record
from autograder.gradebook.writer import GradebookWriter
from course_lib.judging.observation import Outcome
from tests.autograder.gradebook import toy_lesson

LESSON, NEXT = "01_attention", "02_masking"
CHECKED, WRITTEN = 18, 2
MOST = CHECKED + WRITTEN
CONFIG = 'c = get_config()\nc.Katze.repository = "someone/their-course"\n'
DUE = "2026-11-20T18:00:00+01:00"
IN_TIME, LATE = "2026-11-20 16:59:00 UTC", "2026-11-21 18:00:00 UTC"
"""A minute before it is due, and a day and an hour after."""

LINEAR = '[late]\npolicy = "linear"\nper_day = 10\n'
LINEAR_TERMS = f"{LINEAR}[lessons.{LESSON}]\ndue = {DUE}\n"
"""A day and an hour are two days begun: 20% of the lesson's points, 4 of 20."""


def make_course(root: Path, terms: str = "", config: str = "") -> Course:
    (root / "nbgrader_config.py").write_text(CONFIG + config)
    for lesson in (LESSON, NEXT):
        release = root / "release" / lesson / f"{lesson}.ipynb"
        release.parent.mkdir(parents=True, exist_ok=True)
        release.write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    return set_terms(Course.find(root), terms)


def set_terms(course: Course, terms: str) -> Course:
    (course.root / "course.toml").write_text(terms, encoding="utf-8")
    return Course.find(course.root)


def grade(course: Course, points: dict[str, float | None], lesson: str = LESSON, at: str = IN_TIME) -> None:
    """Record these students' automatic points; None is no score. Every submission has its folder."""
    with writing(course, lesson) as (writer, run):
        for student, earned in points.items():
            (course.submitted / student / lesson).mkdir(parents=True, exist_ok=True)
            outcome = Outcome.UNREADABLE if earned is None else Outcome.PASSED
            one = ExerciseRecord(_exercise(lesson), "check", "f", 0, "L2", outcome, earned, CHECKED)
            writer.record(run, Record(student, lesson, "d", "n", at, 0, Conditions("r", "s", {}, {}), (one,)), None)


@contextmanager
def writing(course: Course, lesson: str) -> Iterator[tuple[GradebookWriter, int]]:
    """A lesson to be graded into, and the number of the run."""
    with open_gradebook(course.gradebook, lesson) as book:
        writer = GradebookWriter(book, lesson, course.course_id)
        writer.ensure_assignment(_release(lesson))
        with book.begin() as session:
            run = store.begin_run(session, toy_lesson.run_of(lesson))
        yield writer, run


def bring_up_to_date(course: Course, lesson: str = LESSON) -> None:
    """Write what follows from `course.toml` into nbgrader's tables, as `katze grade` does after grading."""
    with open_gradebook(course.gradebook, lesson) as book, book.begin() as session:
        write_terms(course, session, lesson, stand(course, session, lesson))


def stand(course: Course, connection: Any, lesson: str = LESSON) -> list[Record]:
    cells = store.by_hand(connection, lesson)
    records = store.records(connection, lesson).items()
    with_hand = [replace(record, by_hand=cells.get(student, ())) for student, record in records]
    return with_lateness(course, connection, lesson, with_hand)


def give(course: Course, student: str, cell: str = "written", lesson: str = LESSON, **values: float | None) -> None:
    """What formgrader writes when somebody types points."""
    toy_lesson.give(course.gradebook, student, cell, lesson=lesson, **values)


def _exercise(lesson: str) -> str:
    return {LESSON: "attention.scores", NEXT: "masking.causal_mask"}[lesson]


def _release(lesson: str) -> dict[str, Any]:
    cells = [_cell("check", grade=True, locked=True, points=CHECKED)]
    cells += [_cell("written", grade=True, solution=True, points=WRITTEN)]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def _cell(grade_id: str, **flags: object) -> dict[str, Any]:
    kind, source = "code" if flags.get("locked") else "markdown", f"# The text of {grade_id}."
    return {"cell_type": kind, "id": grade_id, "metadata": toy_lesson.meta(grade_id, **flags), "source": source}


def set_aside(course: Course, student: str, why: str) -> None:
    """Let a grade no longer count, as `katze grade --force` does before it grades again."""
    with writing(course, LESSON) as (writer, run):
        writer.set_aside(run, [student], why)
