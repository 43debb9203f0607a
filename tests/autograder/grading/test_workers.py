"""Workers: what dies in them takes nobody with it."""

import contextlib
import functools
import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.box.confinement.levels import Level
from autograder.box.fork_server.client import ForkServer
from autograder.course.course import Course
from autograder.grading import exercise_strategy, workers
from autograder.grading.batch import grade_assignment
from autograder.grading.kinds import strategy_for
from autograder.grading.task import Finished, Task
from autograder.limits import Limits
from course_lib.judging.observation import Outcome
from tests.autograder.small_class import (
    BY_NAME,
    EARNED,
    LESSON,
    Worker,
    by_student,
    hand_in,
    make_course,
    replace_grading,
    rows,
)

pytestmark = pytest.mark.usefixtures("processes")


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return make_course(tmp_path)


def raise_a_slip() -> None:
    raise KeyError("a slip of ours")


def hang() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    while True:
        pass


@pytest.mark.parametrize(
    ("fail", "told"),
    [
        (lambda: os._exit(1), workers.DIED_TWICE),
        (hang, workers.DIED_TWICE),
        (raise_a_slip, "KeyError"),
        (lambda: bytearray(workers.WORKER_MEMORY + (1 << 30)), "MemoryError"),
    ],
    ids=["dies", "hangs", "raises", "wants all memory"],
)
def test_a_worker_that_fails_leaves_only_its_own_submission_ungraded(
    course: Course, monkeypatch: pytest.MonkeyPatch, fail: Callable[[], object], told: str
) -> None:
    for name in ("ada", "ben", "cleo"):
        hand_in(course, name)
    replace_grading(monkeypatch, lambda worker, task: fail() if task.student == "ben" else worker.grade(task))
    monkeypatch.setattr(workers, "OWN_SECONDS", 4.0)
    graded = grade_assignment(course, LESSON, workers=2)
    results = by_student(graded)
    assert graded.left_ungraded
    assert {result.outcome for result in results["ben"].exercises} == {Outcome.UNGRADED}
    assert results["ben"].points is None
    assert told in results["ben"].problem
    assert (results["ada"].points, results["cleo"].points) == (17, 17)


@pytest.mark.parametrize("when", ["before its sandbox", "in its sandbox", "every time"])
def test_a_fork_server_that_dies_costs_at_most_the_submission_over_which_it_dies_again(
    course: Course, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, when: str
) -> None:
    for name in ("ada", "ben", "cleo", "mallory", "zoe"):
        hand_in(course, name)
    killed = tmp_path / "killed"

    def grade_without_a_server(worker: Worker, task: Task) -> Finished:
        if task.student == "mallory" and (when == "every time" or not killed.exists()):
            killed.touch()
            server = worker.fork_server._root.process
            assert server is not None
            with (
                worker.fork_server.open_box(worker.channel)
                if when == "in its sandbox"
                else contextlib.nullcontext() as box
            ):
                os.kill(server.pid, signal.SIGKILL)
                if box is not None:
                    box.run_cell("1")
        return worker.grade(task)

    replace_grading(monkeypatch, grade_without_a_server)
    found = {record.student: record for record in grade_assignment(course, LESSON, workers=2).submissions}
    lost = {"mallory"} if when == "every time" else set()
    assert {name for name, record in found.items() if record.points != EARNED} == lost
    assert all(found[name].problem == workers.DIED_TWICE for name in lost)


def test_submissions_with_the_same_hidden_inputs_are_graded_one_after_another(course: Course) -> None:
    strategy = strategy_for(course, LESSON)
    tasks = [Task(f"student_{number}", Path(), "", (), frozenset()) for number in range(100)]
    slots = [strategy.slot(task.student) for task in strategy.arrange(tasks)]
    assert slots == sorted(slots)
    assert len(set(slots)) > 8


def test_a_worker_that_waits_for_ever_is_ended_as_well(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in(course, "ben")
    replace_grading(monkeypatch, lambda worker, task: time.sleep(1000))
    limits = Limits(submission_seconds=1.0, wall_seconds=1.0, wall_factor=1.0)
    results = by_student(grade_assignment(replace(course, limits=limits), LESSON))
    assert {result.outcome for result in results["ben"].exercises} == {Outcome.UNGRADED}


@pytest.mark.parametrize("starved_again", [False, True])
def test_what_a_busy_machine_may_have_stopped_is_graded_a_second_time_alone_and_that_counts(
    course: Course, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, starved_again: bool
) -> None:
    students = [hand_in(course, name).parts[-3] for name in ("ada", "ben", "cleo", "dan")]

    def grade_on_a_busy_machine(worker: Worker, task: Task) -> Finished:
        here = tmp_path / f"{task.student} is graded"
        here.touch()
        finished = worker.grade(task)
        beside = sorted(path.name for path in tmp_path.glob("* is graded"))
        here.unlink()
        with (tmp_path / f"beside {task.student}").open("a") as file:
            file.write(f"{len(beside)}\n")
        is_first = len((tmp_path / f"beside {task.student}").read_text().split()) == 1
        if task.student == "ada" and is_first:
            finished = replace(finished, record=replace(finished.record, problem="the first try"))
        return replace(finished, starved=task.student in ("ada", "ben") and (is_first or starved_again))

    replace_grading(monkeypatch, grade_on_a_busy_machine)
    results = by_student(grade_assignment(course, LESSON, workers=2))
    tries = {student: (tmp_path / f"beside {student}").read_text().split() for student in students}
    assert {student: len(beside) for student, beside in tries.items()} == {"ada": 2, "ben": 2, "cleo": 1, "dan": 1}
    assert tries["ada"][1] == tries["ben"][1] == "1"
    assert {student: results[student].points for student in students} == dict.fromkeys(students, 17)
    assert results["ada"].problem == ""
    remarks = dict(rows(course, "SELECT student, remarks FROM katze_submission"))
    assert {student for student, told in remarks.items() if workers.TRIED_AGAIN in told} == {"ada", "ben"}


def test_where_forking_is_unsafe_workers_are_threads_and_boxes_fresh_processes(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exercise_strategy, "ForkServer", functools.partial(ForkServer, start="spawn"))
    for name in ("ada_reference", "hana_slides_numbers"):
        hand_in(course, name, BY_NAME[name])
    results = by_student(grade_assignment(course, LESSON, workers=2, level=Level.L1))
    assert results["ada_reference"].points == 17
    assert results["hana_slides_numbers"].points == 11
    assert results["ada_reference"].level == "L1"
