"""A course whose gradebook is written without running anything: two lessons, an exercise and a written answer each."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from autograder.course.course import Course
from autograder.gradebook import store
from autograder.gradebook.access import open_gradebook
from autograder.gradebook.deadlines.terms import with_lateness, write_terms
from autograder.gradebook.record import ExerciseRecord
from course_lib.judging.observation import Outcome
from tests.autograder.gradebook import toy_lesson
from tests.autograder.gradebook.toy_lesson import CHECK, ToyRun, release

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
    exercise = {LESSON: "attention.scores", NEXT: "masking.causal_mask"}[lesson]
    with running(course, lesson) as run:
        for student, earned in points.items():
            (course.submitted / student / lesson).mkdir(parents=True, exist_ok=True)
            outcome = Outcome.UNREADABLE if earned is None else Outcome.PASSED
            one = ExerciseRecord(exercise, CHECK, "f", 0, "L2", outcome, earned, CHECKED)
            run.record(student, None, {}, handed_in=at, exercises=(one,))


@contextmanager
def running(course: Course, lesson: str) -> Iterator[ToyRun]:
    with open_gradebook(course.gradebook, lesson) as book:
        yield ToyRun(book, lesson, release(double=CHECKED, zero=None, why=WRITTEN))


def bring_up_to_date(course: Course, lesson: str = LESSON) -> None:
    """Write what follows from `course.toml` into nbgrader's tables, as `katze grade` does after grading."""
    with open_gradebook(course.gradebook, lesson) as book, book.begin() as session:
        cells, records = store.by_hand(session, lesson), store.records(session, lesson)
        with_hand = [replace(record, by_hand=cells.get(student, ())) for student, record in records.items()]
        write_terms(course, session, lesson, with_lateness(course, session, lesson, with_hand))


def give(course: Course, student: str, cell: str = toy_lesson.WRITTEN, lesson: str = LESSON, **values: float) -> None:
    """What formgrader writes when somebody types points."""
    toy_lesson.give(course.gradebook, student, cell, lesson=lesson, **values)


def set_aside(course: Course, student: str, why: str) -> None:
    """Let a grade no longer count, as `katze grade --force` does before it grades again."""
    with running(course, LESSON) as run:
        run.writer.set_aside(run.number, [student], why)
