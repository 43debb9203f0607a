"""Finds an assignment's kind: a lesson with Katze's exercises, or notebooks with nbgrader's test cells."""

from pathlib import Path

from autograder.course.course import Course
from autograder.grading.assignment import Assignment
from autograder.grading.exercise_strategy import ExerciseStrategy
from autograder.grading.strategy import Strategy


def strategy_for(
    course: Course,
    name: str,
    *,
    skip_demos: bool = True,
    feedback: bool = True,
    solution: Path | None = None,
) -> Strategy:
    """Return the strategy for grading an assignment, by what the course has for it.

    Args:
        course: the course.
        name: the assignment's folder name.
        skip_demos: leave out cells tagged `demo`, in a lesson with exercises.
        feedback: whether to write feedback pages.
        solution: the folder of the course's own solution, for an assignment with test cells.

    Raises:
        BadInput: there is no such assignment, its release cannot be used, or the gradebook does not know it.
    """
    course.require_exercises()
    if course.exercises.modules and not course.is_plain(name):
        return ExerciseStrategy(Assignment.load(course, name, skip_demos, feedback))
    from autograder.grading.plain.assignment import PlainAssignment
    from autograder.grading.plain.solution import find_solution  # with what a lesson does not need, such as IPython
    from autograder.grading.plain.strategy import PlainStrategy

    return PlainStrategy(PlainAssignment.load(course, name, feedback), find_solution(course, name, solution))
