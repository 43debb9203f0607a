"""A lesson of two checks and a question in words, as a release, for the tests of what becomes of points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.course.address import Address
from autograder.gradebook.access import open_gradebook
from autograder.gradebook.record import CaseRecord, Conditions, ExerciseRecord, Record, RunRecord
from autograder.gradebook.writer import Entry, GradebookWriter
from course_lib.judging.observation import Outcome

LESSON = "01_toy"
CHECK, ZERO, WRITTEN = "toy-double-check", "toy-zero-check", "toy-why-written"
SCORES = {CHECK: 3.0, ZERO: 0.0}


def _meta(grade_id: str, **flags: object) -> dict[str, Any]:
    default = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    return {"nbgrader": {**default, "grade_id": grade_id, **flags}}


def _code(source: str, metadata: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": metadata, "source": source, "outputs": [], "execution_count": None}


def release() -> dict[str, Any]:
    """The lesson as students get it."""
    cells = [
        _code("def double(x):\n    raise NotImplementedError()", _meta("toy-double-answer", solution=True)),
        _code("assert double(2) == 4", _meta(CHECK, grade=True, locked=True, points=3)),
        _code("assert double(0) == 0", _meta(ZERO, grade=True, locked=True, points=1)),
        {
            "cell_type": "markdown",
            "metadata": _meta(WRITTEN, grade=True, solution=True, points=2),
            "source": "Your answer.",
        },
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def answered() -> dict[str, Any]:
    """The same, filled in."""
    notebook = release()
    notebook["cells"][0]["source"] = "def double(x):\n    return x + x"
    notebook["cells"][3]["source"] = "Because twice is more."
    return notebook


def points_of(notebook: dict[str, Any], grade_id: str) -> dict[str, Any]:
    """nbgrader's metadata of a cell, to be changed."""
    found: dict[str, Any] = next(
        cell["metadata"]["nbgrader"]
        for cell in notebook["cells"]
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == grade_id
    )
    return found


def recorded(lesson: str, student: str, points: float = 3.0, **more: Any) -> Record:
    case = CaseRecord("a case", "core", True, Outcome.PASSED, "", 0.5)
    checked = ExerciseRecord("toy.double", CHECK, "f", 2**62, "L2", Outcome.PASSED, points, 3, None, "", (case,))
    half = ExerciseRecord("toy.zero", ZERO, "f", 0, "L2", Outcome.WRONG, 0.0, 0.5, "off_by_one", "No.")
    record = Record(student, lesson, "d", "n", "", 7, Conditions("r", "s", {"b": "2"}, {"a": 1}), (checked, half))
    return Record(**{**vars(record), **more})


def grade(address: Address, lesson: str, students: list[str], ready: Callable[[], object] = bool) -> None:
    """What a run does with a gradebook, with a lesson of no boxes."""
    with open_gradebook(address, lesson) as book:
        ready()
        with GradebookWriter(book, "toy") as writer:
            writer.ensure_assignment(lesson, release())
            run = writer.begin_run(RunRecord(lesson, "host", "Linux", 1, "boxes at level L2", False, len(students)))
            for student in students:
                record = recorded(lesson, student)
                entry = Entry(run, record, ("not graded before",))
                writer.record(student, lesson, answered(), SCORES, "2026-11-20 10:00:00 UTC", "", entry)
            writer.end_run(run)
