"""No exercise's points hang on another's answer: each answer is broken in turn, and only its own points go."""

import copy
import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.box.confinement.levels import Level
from autograder.course.course import Course
from autograder.grading.batch import grade_assignment
from course_lib import exercises
from tests.solutions.filling import filled
from tests.solutions.reading import ROOT

WHOLE = "whole"
"""The student who has answered everything."""

BREAKS: dict[str, Callable[[str], str]] = {
    "empty": lambda stub: stub,
    "nonsense": lambda stub: stub.replace("raise NotImplementedError()", "return 'nonsense'"),
    "unreadable": lambda stub: stub.replace("raise NotImplementedError()", "return ("),
}
"""What becomes of an answer, from its stub."""


def answer(notebook: NotebookNode, exercise: str) -> NotebookNode:
    wanted = f"{exercise.replace('.', '-')}-answer"
    (cell,) = [one for one in notebook.cells if one.metadata.get("nbgrader", {}).get("grade_id") == wanted]
    return cell


def hand_in(course: Course, lesson: str, student: str, notebook: NotebookNode) -> None:
    folder = course.submitted / student / lesson
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / f"{lesson}.ipynb")


@pytest.fixture
def course(tmp_path: Path) -> Course:
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks")
    return Course.find(tmp_path)


@pytest.mark.usefixtures("processes")
def test_a_broken_answer_costs_its_own_points_alone(
    course: Course, sampled_lesson: str, request: pytest.FixtureRequest
) -> None:
    """Every answer is broken in one way after the other on every change, and in each way before a release."""
    lesson, ways = sampled_lesson, list(BREAKS.items())
    released = nbformat.read(course.release_notebook(lesson), as_version=4)
    stubs = {exercise.id: answer(released, exercise.id).source for exercise in exercises.of_lesson(lesson)}
    whole: NotebookNode = nbformat.from_dict(filled(lesson))
    hand_in(course, lesson, WHOLE, whole)
    broken_in = {}
    for number, (exercise, stub) in enumerate(stubs.items()):
        for how, breaking in ways if request.config.getoption("thorough") else ways[number % len(ways) :][:1]:
            notebook = copy.deepcopy(whole)
            answer(notebook, exercise).source = breaking(stub)
            student = f"{how}{number}"
            hand_in(course, lesson, student, notebook)
            broken_in[student] = exercise
    graded = grade_assignment(course, lesson, workers=2, level=Level.L0, feedback=False)

    full = {exercise.id: float(exercise.points) for exercise in exercises.of_lesson(lesson)}
    for submission in graded.submissions:
        points = {one.exercise: one.points for one in submission.exercises}
        broken = broken_in.get(submission.student)
        assert points == full | ({broken: 0.0} if broken else {}), submission.student
