"""The grades of a class as they stand, read back from its gradebook; nothing is run, and nothing is written.

Anyone removed from the gradebook (`nbgrader db student remove`) has none, though `katze log` still tells the story.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Connection

from autograder.course.course import Course
from autograder.errors import BadInput
from autograder.gradebook import store
from autograder.gradebook.file import read_only
from autograder.gradebook.record import SET_ASIDE, HandGrade, Record
from course_lib.checking import Outcome


def standings(course: Course, lessons: list[str]) -> dict[str, list[Record]]:
    """Every grade of these lessons, by lesson; sorted by student. A grade that was set aside is no score.

    Args:
        course: whose gradebook is read.
        lessons: which; none at all means every lesson that has been graded.

    Raises:
        BadInput: there is no gradebook, or nothing of one of these lessons has been graded.
    """
    with read_only(course.gradebook) as connection:
        wanted = lessons or store.graded_lessons(connection)
        if not wanted:
            raise BadInput("nothing has been graded yet; run `katze grade LESSON`")
        return {lesson: _of_lesson(course, connection, lesson) for lesson in wanted}


def _of_lesson(course: Course, connection: Connection, lesson: str) -> list[Record]:
    listed = store.known_students(connection)
    records = {student: one for student, one in store.records(connection, lesson).items() if student in listed}
    if not records:
        course.release_notebook(lesson)  # a misspelt lesson is answered with those that there are
        raise BadInput(f"nothing of {lesson} has been graded yet; run `katze grade {lesson}`")
    by_hand = store.by_hand(connection, lesson)
    return [_as_it_counts(record, by_hand) for _, record in sorted(records.items())]


def _as_it_counts(record: Record, by_hand: Mapping[str, tuple[HandGrade, ...]]) -> Record:
    if record.void:
        nothing = tuple(
            replace(one, points=None, outcome=Outcome.UNGRADED, misconception=None) for one in record.exercises
        )
        return replace(record, exercises=nothing, problem=f"{SET_ASIDE.capitalize()}, and not graded again yet.")
    return replace(record, by_hand=by_hand.get(record.student, ()))


def most_points(results: Sequence[Record]) -> float:
    """The most that a lesson gives, written answers included."""
    return max(one.max_points + sum(cell.max_points for cell in one.by_hand if cell.written) for one in results)
