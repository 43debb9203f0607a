"""What `katze autograde` would do, and nothing written: by comparing what is there."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.box import Level
from autograder.course.course import Course
from autograder.gradebook.access import read_only
from autograder.grading.batch import find_weakest, frozen_in_words, select_submissions
from autograder.grading.plain import files
from autograder.grading.plain.assignment import PlainAssignment, released, require_gradebook
from autograder.grading.plain.plan import conditions_of, make_plan, read_recorded
from autograder.grading.preview import Preview


def preview_assignment(
    course: Course,
    name: str,
    *,
    students: Sequence[str] | None = None,
    min_level: Level | None = None,
    feedback: bool = True,
    force: bool = False,
) -> Preview:
    """Find out what `grade_assignment` would do with the same arguments. Nothing is run, and nothing is written.

    Raises:
        BadInput: as `grade_assignment` does, for what would keep it from beginning.
    """
    released(course, name)
    submissions = select_submissions(course, name, students)
    require_gradebook(course, name)
    with read_only(course.gradebook) as connection:
        assignment = PlainAssignment.load(course, name, feedback, connection)
        recorded = read_recorded(connection, name)
    conditions = conditions_of(assignment, files.of_course(course, name))
    plan = make_plan(assignment, conditions, submissions, recorded, find_weakest(None, min_level), force)
    if recorded.frozen:
        return Preview(name, (), len(submissions), frozen=frozen_in_words(name, recorded.frozen, plan, force))
    return Preview(name, plan.tasks, len(plan.unchanged))
