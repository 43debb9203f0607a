"""A lesson of two checks and a question in words, as a release, for the tests of what becomes of points."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook

from autograder.course.address import Address, url_of
from autograder.gradebook import store
from autograder.gradebook.access import open_gradebook
from autograder.gradebook.models import Run
from autograder.gradebook.record import CaseRecord, Change, Conditions, ExerciseRecord, Record
from autograder.gradebook.session import GradebookSession
from autograder.gradebook.writer import GradebookWriter
from autograder.repair.release import exercise_of
from course_lib.judging.observation import Outcome

LESSON = "01_toy"
CHECK, ZERO, WRITTEN = "toy-double-check", "toy-zero-check", "toy-why-written"
SCORES = {CHECK: 3.0, ZERO: 0.0}


def meta(grade_id: str, **flags: object) -> dict[str, Any]:
    default = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    return {"nbgrader": {**default, "grade_id": grade_id, **flags}}


def code(source: str, metadata: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": metadata, "source": source, "outputs": [], "execution_count": None}


def release(**points: float | None) -> dict[str, Any]:
    """The lesson as students get it; with other points for what a cell tests, such as `why`, or without it."""
    worth = {"double": 3, "zero": 1, "why": 2} | points
    cells = [
        code("def double(x):\n    raise NotImplementedError()", meta("toy-double-answer", solution=True)),
        code("assert double(2) == 4", meta(CHECK, grade=True, locked=True, points=worth["double"])),
        code("assert double(0) == 0", meta(ZERO, grade=True, locked=True, points=worth["zero"])),
        {
            "cell_type": "markdown",
            "metadata": meta(WRITTEN, grade=True, solution=True, points=worth["why"]),
            "source": "Your answer.",
        },
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [one for one in cells if one["metadata"]["nbgrader"].get("points", 0) is not None]
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def answered(text: str = "Because twice is more.") -> dict[str, Any]:
    """The same, filled in."""
    notebook = release()
    notebook["cells"][0]["source"] = "def double(x):\n    return x + x"
    notebook["cells"][3]["source"] = text
    return notebook


def run_of(lesson: str) -> Run:
    """A run over a lesson, as it begins."""
    boxes = "sandboxes at level L2"
    return Run(lesson=lesson, host="host", platform="Linux", workers=1, boxes=boxes, forced=0, submissions=3)


def recorded(
    lesson: str, student: str, scores: Mapping[str, float | None] = SCORES, answer: str = "", **more: Any
) -> Record:
    """A record with these points, by the cells of its exercises."""
    case = CaseRecord("a case", "core", True, Outcome.PASSED, "", 0.5)
    one = ExerciseRecord("", "", "f", 2**62, "L2", Outcome.PASSED, 0.0, 0.5, "off_by_one", "", (case,), answer)
    exercises = (
        replace(one, exercise=exercise_of(cell), cell=cell, points=points, note="" if points else "No.")
        for cell, points in scores.items()
    )
    record = Record(student, lesson, "d", "n", "", 7, Conditions("r", "s", {"b": "2"}, {"a": 1}), (*exercises,))
    return replace(record, **more)


class ToyRun:
    """A run over the lesson, with no sandboxes."""

    def __init__(self, book: GradebookSession, lesson: str = LESSON, notebook: Mapping[str, Any] | None = None) -> None:
        self.lesson = lesson
        self.writer = GradebookWriter(book, lesson, "toy")
        self.writer.ensure_assignment(notebook or release())
        with book.begin() as session:
            self.number = store.begin_run(session, run_of(lesson))

    def record(
        self, student: str, notebook: dict[str, Any] | None, scores: Mapping[str, float | None] = SCORES, **more: Any
    ) -> tuple[Change, ...]:
        record = recorded(self.lesson, student, scores, **more)
        return self.writer.record(self.number, record, notebook, ("not graded before",))


@contextmanager
def running(address: Address, notebook: Mapping[str, Any] | None = None) -> Iterator[ToyRun]:
    with open_gradebook(address, LESSON) as book:
        yield ToyRun(book, LESSON, notebook)


def grade(address: Address, lesson: str, students: Iterable[str], ready: Callable[[], object] = bool) -> None:
    """What a run does with a gradebook, with a lesson of no sandboxes."""
    with open_gradebook(address, lesson) as book:
        ready()
        run = ToyRun(book, lesson)
        for student in students:
            run.record(student, answered(), handed_in="2026-11-20 10:00:00 UTC")
        with book.begin() as session:
            store.end_run(session, run.number)


def make_gradebook(address: Address) -> None:
    """A gradebook without rows."""
    with open_gradebook(address, None) as book:
        book.prepare()


def give(
    address: Address,
    student: str,
    cell: str = WRITTEN,
    comment: str = "",
    lesson: str = LESSON,
    notebook: str = "",
    **values: float | None,
) -> None:
    """What formgrader writes when somebody types points, or a comment."""
    place = (cell, notebook or lesson, lesson, student)
    with Gradebook(url_of(address)) as book:
        if values or not comment:
            found = book.find_grade(*place)
            for name, value in values.items():
                setattr(found, name, value)
            found.needs_manual_grade = False
        if comment:
            book.find_comment(*place).manual_comment = comment
        book.db.commit()


def grades(address: Address, student: str = "ada") -> dict[str, tuple[float | None, float | None, bool]]:
    """For each cell of a student's submission: automatic points, points by hand, and whether it waits for a human."""
    with Gradebook(url_of(address), "toy") as book:
        notebook = book.find_submission_notebook(LESSON, LESSON, student)
        return {one.name: (one.auto_score, one.manual_score, one.needs_manual_grade) for one in notebook.grades}


def totals(address: Address) -> dict[str, float]:
    """The points of each student, as nbgrader adds them up."""
    with Gradebook(url_of(address), "toy") as book:
        return {one.student_id: one.score for one in book.assignment_submissions(LESSON)}


def comment(address: Path, cell: str, student: str = "ada") -> str | None:
    """The comment on a cell, a person's before the grader's."""
    with Gradebook(url_of(address), "toy") as book:
        found: str | None = book.find_comment(cell, LESSON, LESSON, student).comment
        return found
