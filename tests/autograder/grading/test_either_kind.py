"""Grading a class, whatever the kind of assignment: what a second, a stopped, a forced and a failing run do and leave.

Tests `batch.py`, `plan.py`, `preview.py` and `publish.py`.
"""

import errno
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autograder.cli import main
from autograder.course.course import Course
from autograder.errors import BadInput, Interrupted
from autograder.gradebook import store
from autograder.gradebook.record import Record
from autograder.grading import backend, exercise_strategy, publish
from autograder.grading.batch import grade_assignment
from autograder.grading.plain import strategy as plain_strategy
from autograder.grading.plan import FAILED_BEFORE, FIRST, FORCED, SUBMITTED_AGAIN
from autograder.grading.preview import preview_lesson
from autograder.grading.task import Finished, Task
from course_lib.judging.observation import Outcome
from tests.autograder.grading.plain import plain_course
from tests.autograder.platforms.downloads import everything
from tests.autograder.small_class import (
    BY_NAME,
    LESSON,
    Worker,
    by_student,
    hand_in,
    make_course,
    replace_grading,
    rows,
    scores,
    why,
)

pytestmark = pytest.mark.usefixtures("processes", "steady_versions")


@dataclass(frozen=True)
class Kind:
    """A kind of assignment, by one of its assignments.

    Attributes:
        name: its folder's name.
        notebook: the name of one of its notebooks.
        make_course: makes a course without submissions in a new folder.
        hand_in: hands in for a student: right answers, or others.
        others: answers of which one is wrong.
        points: what the right answers earn, and the others.
    """

    name: str
    notebook: str
    make_course: Callable[[Path], Course]
    hand_in: Callable[..., Path]
    others: Any
    points: tuple[float, float]

    def submitted(self, course: Course, student: str) -> Path:
        """The notebook as a student has handed it in."""
        return course.submitted / student / self.name / f"{self.notebook}.ipynb"

    def autograded(self, course: Course, student: str) -> Path:
        """The notebook after grading."""
        return course.autograded / student / self.name / f"{self.notebook}.ipynb"


def make_lesson(folder: Path) -> Course:
    folder.mkdir()
    return make_course(folder)


SLIDES = BY_NAME["hana_slides_numbers"]
FIRST_WRONG = {**plain_course.RIGHT, "first": {"mean": "def mean(values):\n    return values[0]\n"}}
KINDS = {
    "exercises": Kind(LESSON, LESSON, make_lesson, hand_in, SLIDES, (17, 11)),
    "test cells": Kind(plain_course.NAME, "first", plain_course.make_course, plain_course.hand_in, FIRST_WRONG, (4, 3)),
}


@pytest.fixture(params=KINDS.values(), ids=list(KINDS))
def kind(request: pytest.FixtureRequest) -> Kind:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def course(kind: Kind, tmp_path: Path) -> Course:
    return kind.make_course(tmp_path / "course")


def would_grade(course: Course, kind: Kind) -> tuple[dict[str, tuple[str, ...]], int]:
    """Whom a dry run finds to grade, and why, and how many are unchanged; it must have written nothing."""
    before = everything(course.root)
    found = preview_lesson(course, kind.name)
    assert everything(course.root) == before
    return {task["student"]: (*task["why"],) for task in found["to_grade"]}, found["unchanged"]


@pytest.mark.parametrize("command", ["grade", "autograde"])
def test_a_dry_run_says_who_and_why(
    course: Course, kind: Kind, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kind.hand_in(course, "ada")
    before = set(course.root.rglob("*"))
    assert main([command, kind.name, "--dry-run", "--course", str(course.root)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{kind.name}: 1 submission to grade, 0 unchanged",
        "  not graded before: ada",
        "a dry run: nothing was written",
    ]
    assert set(course.root.rglob("*")) == before


def test_a_second_run_does_nothing(course: Course, kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    kind.hand_in(course, "ada")
    kind.hand_in(course, "ben", kind.others)
    kind.submitted(course, "ben").write_text("{")
    first = grade_assignment(course, kind.name)
    before = course.gradebook.read_bytes()
    for strategy in (exercise_strategy, plain_strategy):
        monkeypatch.setattr(strategy, "ForkServer", None)
    monkeypatch.setattr(backend, "choose_level", None)
    assert would_grade(course, kind) == ({}, 2)
    second = grade_assignment(course, kind.name)
    assert second.gradings == {}
    assert second.submissions == first.submissions
    assert course.gradebook.read_bytes() == before


def test_only_what_has_changed_is_graded_again(course: Course, kind: Kind) -> None:
    for name in ("ada", "ben", "eve"):
        kind.hand_in(course, name)
    assert would_grade(course, kind) == (dict.fromkeys(("ada", "ben", "eve"), (FIRST,)), 0)
    grade_assignment(course, kind.name)
    kind.hand_in(course, "ben", kind.others)
    kind.autograded(course, "ada").unlink()
    dry, _ = would_grade(course, kind)
    second = grade_assignment(course, kind.name)
    assert dry == why(second)
    assert why(second) == {
        "ada": (f"{kind.notebook}.ipynb in autograded/ is missing, or was changed after it was written",),
        "ben": (SUBMITTED_AGAIN,),
    }
    right, less = kind.points
    assert {name: one.points for name, one in by_student(second).items()} == {"ada": right, "ben": less, "eve": right}
    assert second.gradings["ada"].changes == ()
    [before] = {change.before.outcome for change in second.gradings["ben"].changes if change.before}
    assert before is Outcome.PASSED


def test_ctrl_c_says_how_much_is_done_and_how_to_go_on(
    course: Course, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ada", "ben", "eve"):
        kind.hand_in(course, name)
    grade_in_parallel = backend.grade_in_parallel
    graded: list[str] = []

    def stopped_after_one(*arguments: Any) -> Iterator[Finished]:
        first = next(grade_in_parallel(*arguments))
        graded.append(first.task.student)
        yield first
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(backend, "grade_in_parallel", stopped_after_one)
        with pytest.raises(Interrupted, match=f"1 of 3 done, and recorded; run `katze grade {kind.name}` to continue"):
            grade_assignment(course, kind.name)
    assert set(why(grade_assignment(course, kind.name))) == {"ada", "ben", "eve"} - set(graded)


def test_force_grades_everything_and_leaves_no_grade_of_a_submission_that_now_fails(
    course: Course, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind.hand_in(course, "ada")
    kind.hand_in(course, "ben")
    grade_assignment(course, kind.name)

    def grade_or_die(worker: Worker, task: Task) -> object:
        if task.student == "ada":
            os._exit(1)
        return worker.grade(task)

    with monkeypatch.context() as patch:
        replace_grading(patch, grade_or_die)
        graded = grade_assignment(course, kind.name, force=True)
    assert why(graded) == {"ada": (FORCED,), "ben": (FORCED,)}
    assert {change.after.outcome for change in graded.gradings["ada"].changes if change.after} == {Outcome.UNGRADED}
    assert graded.gradings["ben"].changes == ()
    assert by_student(graded)["ada"].problem == "The grader's own process crashed on this submission, twice."
    assert scores(course, "ada") == {(None, True)}
    assert not kind.autograded(course, "ada").exists()
    assert rows(course, "SELECT sum(before_points) FROM katze_change") == [(kind.points[0],)]
    again = grade_assignment(course, kind.name)
    assert why(again)["ada"][0] == FAILED_BEFORE
    assert by_student(again)["ada"].points == kind.points[0]


def test_a_submission_that_cannot_be_recorded_leaves_the_others_and_no_earlier_grade(
    course: Course, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind.hand_in(course, "ada")
    kind.hand_in(course, "ben")
    grade_assignment(course, kind.name)
    save = store.save

    def save_or_fail(session: object, run: int, record: Record, *more: object) -> object:
        if record.student == "ada" and record.points is not None:
            raise ArithmeticError("no such time")
        return save(session, run, record, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "save", save_or_fail)
    results = by_student(grade_assignment(course, kind.name, force=True))
    assert results["ada"].points is None
    assert "ArithmeticError" in results["ada"].problem
    assert results["ben"].points == kind.points[0]
    assert scores(course, "ada") == {(None, True)}


def test_a_full_disk_stops_the_run_and_the_next_one_goes_on(
    course: Course, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ada", "ben", "eve"):
        kind.hand_in(course, name)
    write_whole = publish.write_whole

    def write_or_fail(path: Path, text: str) -> tuple[str, int]:
        if "ben" in path.parts:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return write_whole(path, text)

    with monkeypatch.context() as patch:
        patch.setattr(publish, "write_whole", write_or_fail)
        with pytest.raises(BadInput, match="the disk is full: make room"):
            grade_assignment(course, kind.name)
    recorded = {student for (student,) in rows(course, "SELECT student FROM katze_submission")}
    assert "ben" not in recorded
    resumed = grade_assignment(course, kind.name)
    assert set(why(resumed)) == {"ada", "ben", "eve"} - recorded
    assert {one.points for one in resumed.submissions} == {kind.points[0]}
