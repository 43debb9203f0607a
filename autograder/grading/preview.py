"""Finds out what `katze grade` would do without writing anything: makes the plan, or grades a copy."""

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.box.confinement.levels import Level
from autograder.course.course import Course
from autograder.course.store.collected import readable_deliveries, write_collected
from autograder.errors import BadInput
from autograder.gradebook.access import open_gradebook
from autograder.gradebook.changes.adjustments import Adjustment, adjusted
from autograder.gradebook.copying import copy_to_file
from autograder.gradebook.grades import read_grades
from autograder.gradebook.record import Record
from autograder.grading.batch import find_weakest, frozen_in_words, select_submissions
from autograder.grading.kinds import strategy_for
from autograder.grading.plan import Recorded, make_plan

_COPIED = "gradebook.db"


def preview_lesson(
    course: Course,
    lesson: str,
    *,
    students: Sequence[str] | None = None,
    min_level: Level | None = None,
    skip_demos: bool = True,
    feedback: bool = True,
    force: bool = False,
    solution: Path | None = None,
) -> dict[str, Any]:
    """Find out what `grade_assignment` would do with the same arguments, without running or writing anything.

    Returns:
        JSON data: the submissions that would be graded, with the reasons, the exercises to judge and their automatic
        points; how many would stay as they are; the course's new decisions, a line per exercise, and the students whose
        points would change because of them; those whose late penalty or due date would be written; and a line that says
        that a frozen lesson would not be graded.

    Raises:
        BadInput: whatever would keep `grade_assignment` from starting.
    """
    strategy = strategy_for(course, lesson, skip_demos=skip_demos, feedback=feedback, solution=solution)
    submissions = select_submissions(course, lesson, students)
    recorded = Recorded.read(open_gradebook(course.gradebook), strategy)
    tasks, frozen = make_plan(strategy, submissions, recorded, find_weakest(None, min_level), force), ""
    before, now = recorded.adjustments, strategy.adjustments
    if recorded.frozen:
        tasks, frozen, before = (), frozen_in_words(lesson, recorded.frozen, tasks, force), now
    return {
        "lesson": lesson,
        "frozen": frozen,
        "to_grade": [
            {
                "student": task.student,
                "why": list(task.why),
                "exercises": sorted(task.judged),
                "points": None if task.earlier is None or task.earlier.void else task.earlier.points,
            }
            for task in tasks
        ],
        "unchanged": len(submissions) - len(tasks),
        "decided": [
            f"{name}: {now.get(name, Adjustment()).in_words()}"
            for name in sorted(before.keys() | now.keys())
            if before.get(name) != now.get(name)
        ],
        "counted_anew": [
            {"student": student, "before": old, "after": new}
            for student, record in recorded.records.items()
            if not record.void and (old := _points(adjusted(record, before))) != (new := _points(adjusted(record, now)))
        ],
        "penalties": [
            one.student
            for one in (read_grades(course, [lesson])[lesson] if recorded.records else ())
            if not one.lateness.is_written and one.student not in {task.student for task in tasks}
        ],
    }


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
    write_collected(other, lesson, readable_deliveries(course, lesson))  # it says whom a platform calls late
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
