"""Runs the course's own solution before any submission: a test that it fails here would judge everyone wrongly."""

from pathlib import Path

from autograder.course.course import Course
from autograder.errors import BadInput
from autograder.gradebook.record import ExerciseRecord
from autograder.grading.plain.submission import SubmissionGrader
from autograder.grading.task import Task
from autograder.repair.cells import CellKind
from autograder.words import count


def find_solution(course: Course, name: str, chosen: Path | None) -> Path:
    """Return the folder of an assignment's solution, by default nbgrader's source folder.

    Args:
        course: the course.
        name: the assignment's name.
        chosen: a folder of notebooks, or one notebook in it, to use instead.

    Raises:
        BadInput: the chosen folder has no notebook.
    """
    if chosen is None:
        return course.source / name
    folder = chosen if chosen.is_dir() else chosen.parent
    if not any(folder.glob("*.ipynb")):
        raise BadInput(
            f"--solution: no notebook in {folder}; name the folder that holds the solved notebooks of {name}"
        )
    return folder


def try_solution(grader: SubmissionGrader, folder: Path) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """Run the solution in a sandbox like a submission; write nothing.

    Returns:
        Lines for the instructor, and what the sandbox refused to the solution, by the test that failed because of it.
    """
    name, notebooks = grader.assignment.name, grader.assignment.notebooks
    if not any((folder / f"{one.name}.ipynb").is_file() for one in notebooks):
        return [f"no solution to try the tests on: no notebook of {name} in {folder}; see --solution"], {}
    seen = grader.judge(Task("solution", folder.resolve(), "", (), frozenset()))
    answers = [cell for one in seen for cell in one.repaired.cells if cell.kind is CellKind.ANSWER]
    if answers and all(cell.origin != "student" for cell in answers):
        return [f"no solution to try the tests on: {folder} has no answers; see --solution"], {}
    verdicts = [one for notebook in seen for one in notebook.exercises]
    short = [one for one in verdicts if one.points is None or one.points < one.max_points]
    if not short:
        return [f"the course's own solution gets full marks here ({folder})"], {}
    doubt = f"the course's own solution ({folder}) does not get full marks here, so do not trust these tests:"
    refused = {exercise: what for notebook in seen for exercise, what in notebook.refused.items() if what}
    doubts = {one.exercise: refused[one.exercise] for one in short if one.exercise in refused}
    return [doubt, *map(_line, short)], doubts


def _line(one: ExerciseRecord) -> str:
    earned = "ungraded" if one.points is None else f"{one.points:g} of {count(one.max_points, 'point')}"
    return f"  {one.exercise}: {earned}: {one.note}"
