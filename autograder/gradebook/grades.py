"""Reads the current grades of a class from its gradebook, without grading or writing anything.

A student removed from the gradebook (`nbgrader db student remove`) has none, though `katze log` still has the history.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sqlalchemy.orm import Session

from autograder.course.course import Course
from autograder.errors import BadInput
from autograder.gradebook import store
from autograder.gradebook.access import read_only
from autograder.gradebook.deadlines.terms import with_lateness
from autograder.gradebook.record import SET_ASIDE, HandGrade, Record
from course_lib.judging.observation import Outcome


def read_grades(course: Course, lessons: list[str], withdrawn: bool = False) -> dict[str, list[Record]]:
    """Return every grade of these lessons, by lesson, sorted by student. A grade that was set aside has no score.

    Late penalties follow from the current `course.toml`, whether or not they have been written.

    Args:
        lessons: the lessons to read; if empty, every lesson that has been graded.
        withdrawn: whether to include grades whose submission is no longer in the course's folder, marked as such.

    Raises:
        BadInput: there is no gradebook, one of these lessons has no grades yet, or nbgrader's plugin for late
            penalties cannot be used.
    """
    with read_only(course.gradebook) as session:
        wanted = lessons or store.graded_lessons(session)
        if not wanted:
            raise BadInput("nothing has been graded yet; run `katze grade LESSON`")
        found = {lesson: _of_lesson(course, session, lesson) for lesson in wanted}
    return {lesson: [one for one in all_ if withdrawn or not one.is_withdrawn] for lesson, all_ in found.items()}


def _of_lesson(course: Course, session: Session, lesson: str) -> list[Record]:
    records = current_records(course, session, lesson)
    if not records:
        course.release_notebook(lesson)  # a misspelled lesson is answered with those that there are
        raise BadInput(f"nothing of {lesson} has been graded yet; run `{course.grading(lesson)}`")
    gone = withdrawn_from(course, lesson, (record.student for record in records))
    return [replace(record, is_withdrawn=record.student in gone) for record in records]


def current_records(course: Course, session: Session, lesson: str) -> list[Record]:
    """Return a lesson's records as they count now, with points by hand and late penalties, sorted by student."""
    listed, by_hand = store.known_students(session), store.by_hand(session, lesson)
    counted = sorted(store.counted(session, lesson).items())
    counting = [_as_it_counts(record, by_hand) for student, record in counted if student in listed]
    return with_lateness(course, session, lesson, counting)


def withdrawn_from(course: Course, lesson: str, students: Iterable[str]) -> set[str]:
    """Return the students whose submission has disappeared from the course's folder.

    If the folder holds no submission to this lesson at all, or the gradebook is on a server and others grade from
    folders of their own, there is no way to tell, and nobody is returned.
    """
    if not isinstance(course.gradebook, Path) or not course.submitted.is_dir():
        return set()
    there = {one for one in os.listdir(course.submitted) if os.path.lexists(course.submitted / one / lesson)}
    return set(students) - there if there else set()


def _as_it_counts(record: Record, by_hand: Mapping[str, tuple[HandGrade, ...]]) -> Record:
    if record.void:
        nothing = tuple(
            replace(one, points=None, outcome=Outcome.UNGRADED, misconception=None) for one in record.exercises
        )
        return replace(record, exercises=nothing, problem=f"{SET_ASIDE.capitalize()}, and not graded again yet.")
    return replace(record, by_hand=by_hand.get(record.student, ()))


def most_points(results: Sequence[Record]) -> float:
    """Return a lesson's maximum points, written answers included."""
    return max((one.most for one in results), default=0.0)
