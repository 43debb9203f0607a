"""Finds out what `katze grade` would do without writing anything: makes the plan, or grades a copy."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.box.confinement.levels import Level
from autograder.course.course import Course
from autograder.errors import BadInput
from autograder.gradebook.access import open_gradebook
from autograder.gradebook.changes.adjustments import Adjustment, adjusted
from autograder.gradebook.copying import copy_to_file
from autograder.gradebook.record import Record
from autograder.grading.batch import find_weakest, frozen_in_words, select_submissions
from autograder.grading.kinds import strategy_for
from autograder.grading.plan import Recorded, make_plan
from autograder.grading.task import Task
from autograder.limits import Limits

_COPIED = "gradebook.db"


@dataclass(frozen=True)
class Preview:
    """What a run of the grader would do.

    Attributes:
        lesson: the lesson.
        tasks: the submissions that would be graded, with the reasons and the exercises to judge.
        unchanged: how many submissions would stay as they are.
        decided: the course's new decisions, a line per exercise.
        recounted: the records whose points would change because of them: as they count now, and as they would.
        frozen: a line that says that a frozen lesson would not be graded; empty otherwise.
    """

    lesson: str
    tasks: tuple[Task, ...]
    unchanged: int
    decided: tuple[str, ...] = ()
    recounted: tuple[tuple[Record, Record], ...] = ()
    frozen: str = ""

    def records(self) -> dict[str, Any]:
        """Return the preview as JSON data; points are the automatic ones."""
        return {
            "lesson": self.lesson,
            "frozen": self.frozen,
            "to_grade": [
                {
                    "student": task.student,
                    "why": list(task.why),
                    "exercises": sorted(task.judged),
                    "points": None if task.earlier is None or task.earlier.void else task.earlier.points,
                }
                for task in self.tasks
            ],
            "unchanged": self.unchanged,
            "decided": list(self.decided),
            "counted_anew": [
                {"student": before.student, "before": _points(before), "after": _points(after)}
                for before, after in self.recounted
            ],
        }


def preview_lesson(
    course: Course,
    lesson: str,
    *,
    students: Sequence[str] | None = None,
    min_level: Level | None = None,
    limits: Limits | None = None,
    skip_demos: bool = True,
    feedback: bool = True,
    force: bool = False,
    solution: Path | None = None,
) -> Preview:
    """Find out what `grade_assignment` would do with the same arguments, without running or writing anything.

    Raises:
        BadInput: whatever would keep `grade_assignment` from starting.
    """
    strategy = strategy_for(course, lesson, limits=limits, skip_demos=skip_demos, feedback=feedback, solution=solution)
    submissions = select_submissions(course, lesson, students)
    with open_gradebook(course.gradebook).looking() as session:
        recorded = Recorded() if session is None else Recorded.read(session, strategy)
    plan = make_plan(strategy, submissions, recorded, find_weakest(None, min_level), force)
    if recorded.frozen:
        frozen = frozen_in_words(lesson, recorded.frozen, plan, force)
        return Preview(lesson, (), len(submissions), frozen=frozen)
    before, now = recorded.adjustments, strategy.adjustments
    changed = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
    counted = [
        (adjusted(record, before), adjusted(record, now)) for record in recorded.records.values() if not record.void
    ]
    return Preview(
        lesson,
        plan.tasks,
        len(plan.unchanged),
        tuple(f"{name}: {now.get(name, Adjustment()).in_words()}" for name in changed),
        tuple(both for both in counted if _points(both[0]) != _points(both[1])),
    )


def _points(record: Record) -> dict[str, float | None]:
    return {"points": record.points, "max_points": record.max_points}


@contextlib.contextmanager
def copied(course: Course, lesson: str) -> Iterator[Course]:
    """Yield the course with a copy of everything that grading a lesson writes, in a temporary folder.

    Submissions and releases are not copied.

    Raises:
        BadInput: it cannot be copied.
    """
    with tempfile.TemporaryDirectory(prefix="katze-dry-run-") as name:
        root = Path(name)
        other = replace(
            course,
            root=root,
            gradebook=root / _COPIED,
            source=root / "source",
            autograded=root / "autograded",
            feedback=root / "feedback",
        )
        try:
            _copy(course, other, lesson)
        except (OSError, sqlite3.Error) as error:
            raise BadInput(f"the course cannot be copied to {root} for a dry run: {error}; make room there") from error
        yield other


def _copy(course: Course, other: Course, lesson: str) -> None:
    if course.secret_file.exists():
        other.secret_file.parent.mkdir()
        shutil.copyfile(course.secret_file, other.secret_file)
    copy_to_file(course.gradebook, other.root / _COPIED)
    if (course.source / lesson).is_dir():
        shutil.copytree(course.source / lesson, other.source / lesson)
    for plugin in course.root.glob("*.py"):  # nbgrader's, for late penalties, and what it imports
        shutil.copyfile(plugin, other.root / plugin.name)
    for before, now in ((course.autograded, other.autograded), (course.feedback, other.feedback)):
        for folder in before.glob(f"*/{lesson}"):
            if not folder.is_symlink():
                shutil.copytree(folder, now / folder.parent.name / lesson, symlinks=True)
    accepted = (answer for terms in course.semester.exercises.values() for answer in terms.accept)
    for answer in accepted:
        if not answer.startswith("sha256:"):
            (other.root / answer).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(course.root / answer, other.root / answer)
