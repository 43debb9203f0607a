"""Workers: what dies in them takes nobody with it."""

from __future__ import annotations

import functools
import os
import signal
from pathlib import Path

import pytest

from autograder import batch, workers
from autograder.batch import grade_lesson
from autograder.box import Level, Limits, Zygote
from autograder.course import Course
from autograder.plan import Task
from course_lib.checking import Outcome
from tests.autograder.small_class import BY_NAME, LESSON, by_student, hand_in, make_course, rows


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return make_course(tmp_path)


def test_a_worker_that_dies_leaves_only_its_own_submission_ungraded(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        hand_in(course, f"student_{number}")
    grade = workers._grade

    def grade_or_die(worker: object, task: Task) -> object:
        if task.student == "student_2":
            os._exit(1)
        return grade(worker, task)  # type: ignore[arg-type]

    monkeypatch.setattr(workers, "_grade", grade_or_die)
    graded = grade_lesson(course, LESSON, workers=2)
    results = by_student(graded)
    assert graded.grader_failed
    assert {result.outcome for result in results["student_2"].exercises} == {Outcome.UNGRADED}
    assert results["student_2"].points is None
    assert "twice" in results["student_2"].problem
    assert [results[f"student_{number}"].points for number in (0, 1, 3, 4, 5)] == [17.0] * 5


def test_submissions_with_the_same_hidden_inputs_are_graded_one_after_another(course: Course) -> None:
    for number in range(8):
        hand_in(course, f"student_{number}")
    grade_lesson(course, LESSON)
    query = "SELECT slot FROM katze_event JOIN katze_submission USING (lesson, student) ORDER BY katze_event.id"
    slots = [slot for (slot,) in rows(course, query)]
    assert len(slots) == 8
    assert slots == sorted(slots)


def test_an_error_of_the_grader_is_ungraded_and_told(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in(course, "ada")
    hand_in(course, "ben")
    grade = workers._grade

    def grade_or_fail(worker: object, task: Task) -> object:
        if task.student == "ben":
            raise KeyError("a slip of ours")
        return grade(worker, task)  # type: ignore[arg-type]

    monkeypatch.setattr(workers, "_grade", grade_or_fail)
    results = by_student(grade_lesson(course, LESSON))
    assert results["ada"].points == 17
    assert {result.outcome for result in results["ben"].exercises} == {Outcome.UNGRADED}
    assert "KeyError" in results["ben"].problem


def test_a_worker_that_hangs_is_ended_and_takes_nobody_with_it(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in(course, "ada")
    hand_in(course, "ben")
    grade = workers._grade

    def grade_or_hang(worker: object, task: Task) -> object:
        if task.student == "ben":
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
            while True:
                pass
        return grade(worker, task)  # type: ignore[arg-type]

    monkeypatch.setattr(workers, "_grade", grade_or_hang)
    monkeypatch.setattr(workers, "OVERTIME_SECONDS", 2.0)
    results = by_student(grade_lesson(course, LESSON, workers=2, limits=Limits(submission_seconds=3.0)))
    assert results["ada"].points == 17
    assert {result.outcome for result in results["ben"].exercises} == {Outcome.UNGRADED}


def test_a_worker_that_wants_all_memory_leaves_its_submission_ungraded(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(course, "ada")

    def grade_greedily(worker: object, task: Task) -> object:
        return bytearray(workers.WORKER_MEMORY + (1 << 30))

    monkeypatch.setattr(workers, "_grade", grade_greedily)
    assert "MemoryError" in by_student(grade_lesson(course, LESSON))["ada"].problem


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
