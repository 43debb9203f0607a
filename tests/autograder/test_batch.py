"""Grading a class: workers, what dies in them, and what a second run leaves."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import signal
import sqlite3
from pathlib import Path

import pytest

from autograder import batch
from autograder.batch import grade_lesson
from autograder.box import Level, Limits, Zygote
from autograder.course import Course
from autograder.demo.student import Student
from autograder.demo.students import STUDENTS
from autograder.gradebook import GradebookWriter
from autograder.results import ClassResult, SubmissionResult
from course_lib.checking import Outcome

ROOT = Path(__file__).resolve().parents[2]
LESSON = "01_attention"
BY_NAME = {student.name: student for student in STUDENTS[LESSON]}


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A course with the repository's release and no submissions."""
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks")
    return Course.find(tmp_path)


def hand_in(course: Course, name: str, student: Student = BY_NAME["ada_reference"]) -> None:
    path = course.submitted / name / LESSON / f"{LESSON}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    student.hand_in(json.loads(course.release_notebook(LESSON).read_text()), LESSON, path)


def by_student(graded: ClassResult) -> dict[str, SubmissionResult]:
    return {submission.student: submission for submission in graded.submissions}


def test_a_worker_that_dies_leaves_only_its_own_submission_ungraded(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        hand_in(course, f"student_{number}")
    grade = batch._grade

    def grade_or_die(worker: object, student: str, folder: Path) -> object:
        if student == "student_2":
            os._exit(1)
        return grade(worker, student, folder)  # type: ignore[arg-type]

    monkeypatch.setattr(batch, "_grade", grade_or_die)
    graded = grade_lesson(course, LESSON, workers=2)
    results = by_student(graded)
    assert graded.grader_failed
    assert {result.outcome for result in results["student_2"].exercises} == {Outcome.UNGRADED}
    assert results["student_2"].points is None
    assert "twice" in results["student_2"].problem
    assert [results[f"student_{number}"].points for number in (0, 1, 3, 4, 5)] == [17.0] * 5


def test_an_error_of_the_grader_is_ungraded_and_told(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in(course, "ada")
    hand_in(course, "ben")
    grade = batch._grade

    def grade_or_fail(worker: object, student: str, folder: Path) -> object:
        if student == "ben":
            raise KeyError("a slip of ours")
        return grade(worker, student, folder)  # type: ignore[arg-type]

    monkeypatch.setattr(batch, "_grade", grade_or_fail)
    results = by_student(grade_lesson(course, LESSON))
    assert results["ada"].points == 17
    assert {result.outcome for result in results["ben"].exercises} == {Outcome.UNGRADED}
    assert "KeyError" in results["ben"].problem


def test_a_worker_that_hangs_is_ended_and_takes_nobody_with_it(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in(course, "ada")
    hand_in(course, "ben")
    grade = batch._grade

    def grade_or_hang(worker: object, student: str, folder: Path) -> object:
        if student == "ben":
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
            while True:
                pass
        return grade(worker, student, folder)  # type: ignore[arg-type]

    monkeypatch.setattr(batch, "_grade", grade_or_hang)
    monkeypatch.setattr(batch, "OVERTIME_SECONDS", 2.0)
    results = by_student(grade_lesson(course, LESSON, workers=2, limits=Limits(submission_seconds=3.0)))
    assert results["ada"].points == 17
    assert {result.outcome for result in results["ben"].exercises} == {Outcome.UNGRADED}


def test_a_worker_that_wants_all_memory_leaves_its_submission_ungraded(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(course, "ada")

    def grade_greedily(worker: object, student: str, folder: Path) -> object:
        return bytearray(batch.WORKER_MEMORY + (1 << 30))

    monkeypatch.setattr(batch, "_grade", grade_greedily)
    assert "MemoryError" in by_student(grade_lesson(course, LESSON))["ada"].problem


def test_a_submission_that_cannot_be_recorded_leaves_the_others(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(course, "ada")
    hand_in(course, "ben")
    record = GradebookWriter.record

    def record_or_fail(self: GradebookWriter, student: str, *arguments: object) -> None:
        if student == "ada":
            raise ArithmeticError("no such time")
        record(self, student, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(GradebookWriter, "record", record_or_fail)
    results = by_student(grade_lesson(course, LESSON))
    assert results["ada"].points is None
    assert results["ben"].points == 17


def test_a_second_run_replaces_what_the_first_one_left(course: Course) -> None:
    hand_in(course, "ada")
    grade_lesson(course, LESSON)
    autograded = course.autograded / "ada" / LESSON / f"{LESSON}.ipynb"
    assert autograded.exists()
    (course.submitted / "ada" / LESSON / f"{LESSON}.ipynb").write_bytes(b"{")
    results = by_student(grade_lesson(course, LESSON))
    assert results["ada"].points is None
    assert not autograded.exists()
    assert "no score" in (course.feedback / "ada" / LESSON / f"{LESSON}.html").read_text().lower()
    with contextlib.closing(sqlite3.connect(course.gradebook)) as book:
        assert book.execute("SELECT DISTINCT auto_score, needs_manual_grade FROM grade").fetchall() == [(None, 1)]


def test_the_order_and_the_number_of_workers_change_nothing(course: Course) -> None:
    for name in ("ada_reference", "hana_slides_numbers", "kai_leaves_torch", "lea_mistakes_of_her_own"):
        hand_in(course, name, BY_NAME[name])
    first = grade_lesson(course, LESSON, workers=1).records()
    assert grade_lesson(course, LESSON, workers=3).records() == first


def test_limits_can_be_set(course: Course) -> None:
    hand_in(course, "quin", BY_NAME["quin_endless_cell"])
    graded = grade_lesson(course, LESSON, limits=Limits(cell_seconds=0.5), feedback=False)
    assert by_student(graded)["quin"].points == 16
    notebook = (course.autograded / "quin" / LESSON / f"{LESSON}.ipynb").read_text()
    assert "the other exercises keep their points" in notebook
    assert not course.feedback.exists()


def test_where_forking_is_unsafe_workers_are_threads_and_boxes_fresh_processes(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "Zygote", functools.partial(Zygote, start="spawn"))
    for name in ("ada_reference", "hana_slides_numbers"):
        hand_in(course, name, BY_NAME[name])
    results = by_student(grade_lesson(course, LESSON, workers=2, level=Level.L1))
    assert results["ada_reference"].points == 17
    assert results["hana_slides_numbers"].points == 11
    assert results["ada_reference"].level == "L1"
