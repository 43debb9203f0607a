"""Lesson 01 as it is released, and with every answer written: what the tests of real notebooks begin with."""

import json
from pathlib import Path
from typing import Any

from autograder.course.release import Role
from autograder.demo.student import read_answers
from course_lib import exercises
from tests.solutions.reading import read_lesson

ROOT = Path(__file__).parents[2]
LESSON = "01_attention"
RELEASED = ROOT / "notebooks" / LESSON / f"{LESSON}.ipynb"
EXERCISES = exercises.of_lesson(LESSON)

Notebook = dict[str, Any]
Cell = dict[str, Any]


def released() -> Notebook:
    """The release, with the text of each cell as one string."""
    notebook: Notebook = json.loads(RELEASED.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
    return notebook


def graded(notebook: Notebook, exercise: str, role: str) -> Cell:
    """The "answer", "check" or "written" cell of an exercise."""
    name = f"{exercise.replace('.', '-')}-{role}"
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == name:
            found: Cell = cell
            return found
    raise LookupError(name)


def answers() -> dict[str, str]:
    """By exercise: the bundled class's, and from the lesson itself what the class has not attempted."""
    graded = [cell for cell in read_lesson(LESSON).cells if "nbgrader" in cell.metadata]
    roles = [(Role.parse(cell.metadata.nbgrader.grade_id), cell.source) for cell in graded]
    solutions = {role.exercise: source for role, source in roles if role and role.kind == "answer"}
    return solutions | read_answers(ROOT / "autograder" / "demo" / "answers" / LESSON / "reference.py")


def filled() -> Notebook:
    """The release with every answer written, the one in words as well."""
    notebook = released()
    for exercise, text in answers().items():
        role = "written" if exercise == "attention.why_scale" else "answer"
        cell = graded(notebook, exercise, role)
        cell["source"] = f"{cell['source'].partition(chr(10))[0]}\n{text}"
    return notebook
