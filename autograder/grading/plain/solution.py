"""The course's own solution, run before anybody is judged: a test that it fails here judges nobody well."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from autograder.course.course import Course
from autograder.errors import BadInput
from autograder.gradebook.record import ExerciseRecord
from autograder.grading.plain.submission import SubmissionGrader
from autograder.grading.task import Task
from autograder.words import count


@dataclass(frozen=True)
class Tried:
    """How the solution came out.

    Attributes:
        lines: for the instructor.
        doubts: what the sandbox has refused to it, by the tests that it failed for it.
    """

    lines: tuple[str, ...]
    doubts: dict[str, tuple[str, ...]] = field(default_factory=dict)


def find_solution(course: Course, name: str, given: Path | None) -> Path:
    """The folder of an assignment's solution: by default that of nbgrader's source.

    Args:
        course: the course.
        name: of the assignment.
        given: a folder of notebooks, or one notebook in it, to be taken in its place.

    Raises:
        BadInput: there is no notebook in what was given.
    """
    if given is None:
        return course.source / name
    folder = given if given.is_dir() else given.parent
    if not any(folder.glob("*.ipynb")):
        raise BadInput(f"--solution: no notebook in {folder}; name the folder of the solved notebooks of {name}")
    return folder


def try_solution(grader: SubmissionGrader, folder: Path) -> Tried:
    """Run the solution in a box, as a submission; nothing is written."""
    assignment = grader.assignment
    if not any((folder / f"{one.name}.ipynb").is_file() for one in assignment.notebooks):
        return Tried(
            (f"no solution to try the tests on: no notebook of {assignment.name} in {folder}; see --solution",)
        )
    seen = grader.judge(Task("solution", folder.resolve(), "", (), frozenset()))
    answers = [cell for one in seen for cell in one.answers]
    if answers and all(cell.origin != "student" for cell in answers):
        return Tried((f"no solution to try the tests on: {folder} has no answers; see --solution",))
    short = [
        (one, refused)
        for notebook in seen
        for one, refused in zip(notebook.exercises, notebook.refused or [()] * len(notebook.exercises), strict=True)
        if one.points is None or one.points < one.max_points
    ]
    if not short:
        return Tried((f"the course's own solution gets full marks here ({folder})",))
    lines = [
        f"the course's own solution ({folder}) does not get full marks here; what these tests say is in doubt:",
        *(_line(one) for one, _ in short),
    ]
    return Tried(tuple(lines), {one.exercise: refused for one, refused in short if refused})


def _line(one: ExerciseRecord) -> str:
    earned = "ungraded" if one.points is None else f"{one.points:g} of {count(one.max_points, 'point')}"
    return f"  {one.exercise}: {earned}: {one.note}"
