"""A course with a few submissions, for the tests of grading a class."""

import contextlib
import json
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from autograder.box.fork_server.client import ForkServer
from autograder.course.course import Course
from autograder.demo.student import Student
from autograder.demo.students import STUDENTS
from autograder.gradebook.record import Record
from autograder.gradebook.results import ClassResult
from autograder.grading.exercise_strategy import ExerciseStrategy
from autograder.grading.plain.strategy import PlainStrategy
from autograder.grading.task import Finished, Task
from course_lib import exercises
from course_lib.exercises import attention, catalogue
from course_lib.judging.exercise import Exercise
from tests.autograder.gradebook import toy_lesson

ROOT = Path(__file__).resolve().parents[2]
LESSON = "01_attention"
BY_NAME = {student.name: student for student in STUDENTS[LESSON]}

CHECKED = sum(exercise.points for exercise in exercises.of_lesson(LESSON))
"""What the lesson's checks are worth."""

EARNED = 17
"""What the reference's answers in the class earn of it, however many exercises are added."""

MOST = CHECKED + 2
"""With its question in words."""

NEARLY_SCALED = "def scale_scores(scores, d_head):\n    return scores / d_head**0.5 * 1.0005\n"
"""An answer to attention.scale that is off by a little."""


def make_course(folder: Path) -> Course:
    """A course with the repository's release and no submissions."""
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    shutil.copytree(ROOT / "notebooks", folder / "notebooks")
    return Course.find(folder)


def hand_in(course: Course, name: str, student: Student = BY_NAME["ada_reference"], lesson: str = LESSON) -> Path:
    path = course.submitted / name / lesson / f"{lesson}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    student.hand_in(json.loads(course.release_notebook(lesson).read_text()), lesson, path)
    return path


LAST = 1_000
"""Behind all cells of a notebook."""


def insert_cell(path: Path, place: int, source: str) -> None:
    """Put a cell of a student's own into a notebook that is handed in."""
    notebook = json.loads(path.read_text())
    own = {"cell_type": "code", "id": "own", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
    notebook["cells"].insert(place, own)
    path.write_text(json.dumps(notebook))


def page(course: Course, student: str) -> str:
    """A student's feedback page."""
    return (course.feedback / student / LESSON / f"{LESSON}.html").read_text()


def give(course: Course, student: str, cell: str = "attention-why_scale-written", **values: Any) -> None:
    """What formgrader writes when somebody types points, or a comment."""
    toy_lesson.give(course.gradebook, student, cell, lesson=LESSON, **values)


def nbgrader_s(course: Course) -> dict[str, float]:
    """Each student's points in nbgrader's own export."""
    with Gradebook(f"sqlite:///{course.gradebook}") as book:
        found = book.assignment_submissions(LESSON)
        return {one.student.id: max(0.0, one.score - one.late_submission_penalty) for one in found}


def by_student(graded: ClassResult) -> dict[str, Record]:
    return {submission.student: submission for submission in graded.submissions}


def why(graded: ClassResult) -> dict[str, tuple[str, ...]]:
    """Who was graded by this run, and why."""
    return {student: grading.why for student, grading in graded.gradings.items()}


def rows(course: Course, query: str, *values: object) -> list[tuple[Any, ...]]:
    with contextlib.closing(sqlite3.connect(course.gradebook)) as connection:
        return connection.execute(query, values).fetchall()


OF_A_STUDENT = """
    JOIN submitted_notebook n ON n.id = one.notebook_id
    JOIN submitted_assignment a ON a.id = n.assignment_id WHERE student_id = ?
"""


def scores(course: Course, student: str) -> set[tuple[float | None, bool]]:
    """The automatic scores of a student in nbgrader's tables, and whether they wait for a human."""
    found = rows(course, f"SELECT auto_score, needs_manual_grade FROM grade one {OF_A_STUDENT}", student)
    return {(score, bool(waits)) for score, waits in found}


def comments(course: Course, student: str) -> set[str]:
    return {comment for (comment,) in rows(course, f"SELECT auto_comment FROM comment one {OF_A_STUDENT}", student)}


def everything(course: Course) -> list[tuple[Any, ...]]:
    """All that was recorded of a class and does not depend on clock, host or the order of the work."""
    return rows(
        course,
        """
        SELECT student, s.lesson, s.digest, s.notebook, s.handed_in, s.slot, s.repairs, s.problem, s.void,
               release, c.seed, c.versions, c.settings,
               e.number, e.exercise, e.cell, e.fingerprint, e.seed, e.level, e.outcome, e.points, e.max_points,
               e.misconception, e.note,
               k.number, k.name, k.part, k.hidden, k.outcome, k.message
        FROM katze_submission s JOIN katze_conditions c ON c.id = s.conditions
        JOIN katze_exercise e ON e.submission = s.id
        LEFT JOIN katze_case k ON k.submission = s.id AND k.exercise = e.exercise
        ORDER BY student, e.number, k.number
        """,
    )


def answer(course: Course, name: str, answers: dict[str, str]) -> Path:
    """Hand in the release with these cells filled in, by grade_id."""
    path = hand_in(course, name, BY_NAME["gus_untouched"])
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        cell["source"] = answers.get(grade_id, cell["source"])
    path.write_text(json.dumps(notebook))
    return path


@dataclass(frozen=True)
class Worker:
    """A worker in a test: what it grades with, and where its sandboxes come from."""

    grade: Callable[[Task], Finished]
    fork_server: ForkServer
    channel: int


def replace_grading(patch: pytest.MonkeyPatch, change: Callable[[Worker, Task], Any]) -> None:
    """Let workers do this with each submission, of any kind of assignment, for as long as the patch holds."""
    for strategy in (ExerciseStrategy, PlainStrategy):

        def begin(self: Any, server: ForkServer, channel: int, begin: Any = strategy.begin) -> Callable[[Task], Any]:
            worker = Worker(begin(self, server, channel), server, channel)
            return lambda task: change(worker, task)

        patch.setattr(strategy, "begin", begin)


def replace_exercise(patch: pytest.MonkeyPatch, name: str, change: Callable[[Exercise], Exercise]) -> None:
    """Let an exercise of the lesson be another one, for as long as the patch holds."""
    changed = [change(one) if one.id == name else one for one in attention.EXERCISES]
    patch.setattr(attention, "EXERCISES", changed)
    patch.setattr(catalogue, "_exercises", catalogue._exercises.__wrapped__)  # else it knows them from before
