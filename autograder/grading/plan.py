"""What a run has to do: which submissions to grade, which of their exercises, and why.

A grade depends on the submission, the exercise's definition, the release, the seed, the versions and the limits.
Where all of these match the record, and what was written is still there, nothing is done.
"""

from __future__ import annotations

import errno
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.box import Level
from autograder.gradebook import store
from autograder.gradebook.file import GradebookFile
from autograder.gradebook.record import Conditions, Record
from autograder.grading import fingerprints
from autograder.grading.assignment import Assignment
from course_lib.checking import Outcome

FIRST = "not graded before"
FORCED = "graded again by --force"
SUBMITTED_AGAIN = "handed in again"
LEFT_UNDONE = "set aside by a run with --force that was stopped before it got here"
FAILED_BEFORE = "the grader had failed on it"
OVERWRITTEN = "the gradebook holds scores other than those recorded"

_CHANGED = {
    "checks": "Katze's own code that grades has changed",
    "library": "the library in the boxes has changed",
}


@dataclass(frozen=True)
class Task:
    """A submission to grade.

    Attributes:
        student: the student's id.
        folder: where the submission lies.
        digest: fingerprint of what is in it.
        why: why it is graded, or graded again; a sentence each.
        judged: the exercises whose answers are to be judged; the others keep what `earlier` says of them.
        earlier: the record of before; None where there is none.
    """

    student: str
    folder: Path
    digest: str
    why: tuple[str, ...]
    judged: frozenset[str]
    earlier: Record | None = None


@dataclass(frozen=True)
class Plan:
    """What a run has to do.

    Attributes:
        tasks: the submissions to grade, in the order of the students' ids.
        unchanged: the records of all others.
    """

    tasks: tuple[Task, ...] = ()
    unchanged: tuple[Record, ...] = field(default=(), repr=False)


def make_plan(
    assignment: Assignment,
    submissions: Sequence[tuple[str, Path]],
    file: GradebookFile,
    weakest: Level,
    force: bool = False,
) -> Plan:
    """Compare what is there with what was recorded. Nothing is written.

    Args:
        assignment: the lesson.
        submissions: students and the folders of their submissions.
        file: the gradebook; it may be empty, or lack our tables.
        weakest: a grade from weaker boxes than this is not good enough.
        force: grade everything, changed or not.
    """
    records: Mapping[str, Record] = {}
    overwritten: Collection[str] = ()
    if file.has_records():
        with file.begin() as connection:
            records = store.records(connection, assignment.lesson)
            overwritten = store.overwritten(connection, assignment.lesson)
    tasks, unchanged = [], []
    everything = frozenset(assignment.fingerprints)
    for student, folder in submissions:
        record, digest = records.get(student), fingerprints.of_submission(folder)
        if record is None:
            tasks.append(Task(student, folder, digest, (FIRST,), everything))
            continue
        why = (FORCED,) if force else tuple(_find_reasons(assignment, record, digest, weakest, student in overwritten))
        redefined = _find_redefined(assignment, record)
        if why:
            tasks.append(Task(student, folder, digest, why, everything, record))
        elif redefined:
            changed = tuple(f"{exercise}: {what}" for exercise, what in redefined.items())
            tasks.append(Task(student, folder, digest, changed, frozenset(redefined), record))
        else:
            unchanged.append(record)
    return Plan(tuple(tasks), tuple(unchanged))


def _find_reasons(
    assignment: Assignment, record: Record, digest: str, weakest: Level, overwritten: bool
) -> Iterator[str]:
    """Why a submission has to be graded again as a whole; nothing if it has not."""
    if record.digest != digest:
        yield SUBMITTED_AGAIN
    if record.void:  # what it had written is gone with it, and its scores are taken back
        yield LEFT_UNDONE
    if any(one.outcome is Outcome.UNGRADED for one in record.exercises):
        yield FAILED_BEFORE
    yield from _compare_conditions(record.conditions, assignment.conditions)
    weak = {one.level for one in record.exercises if one.level and Level[one.level] < weakest}
    if weak:
        yield f"graded in boxes of level {min(weak)}, weaker than {weakest.name}"
    if overwritten:
        yield OVERWRITTEN
    if {one.exercise for one in record.exercises} - set(assignment.fingerprints):
        yield "the lesson has fewer exercises"
    if not record.void:
        yield from _find_missing_files(assignment, record)


def _compare_conditions(before: Conditions, now: Conditions) -> Iterator[str]:
    if before.release != now.release:
        yield "the released notebook has changed"
    if before.seed != now.seed:
        yield "the course has another secret"
    for name in sorted(before.versions.keys() | now.versions.keys()):
        old, new = before.versions.get(name), now.versions.get(name)
        if old != new:
            yield _CHANGED.get(name, f"{name} {old or 'none'} -> {new or 'none'}")
    for name in sorted(before.settings.keys() | now.settings.keys()):
        old_setting, new_setting = before.settings.get(name), now.settings.get(name)
        if isinstance(old_setting, Mapping) and isinstance(new_setting, Mapping):
            yield from _compare_limits(old_setting, new_setting)
        elif old_setting != new_setting:
            yield f"{name}: {old_setting} -> {new_setting}"


def _compare_limits(before: Mapping[str, object], now: Mapping[str, object]) -> Iterator[str]:
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) != now.get(name):
            yield f"{name}: {before.get(name)} -> {now.get(name)}"


def _find_missing_files(assignment: Assignment, record: Record) -> Iterator[str]:
    """What an earlier run has written that is no longer there.

    An autograded notebook must be what was written, by its size. A feedback page that is another program's by now is
    no reason to grade again: it is written anew from what was recorded (`by_hand.py`).
    """
    files = {kind: (path, _size(path)) for kind, path in written_files(assignment, record.student).items()}
    notebook, size = files["autograded"]
    if "autograded" in record.files and size != record.files["autograded"][1]:
        yield f"{notebook.name} in {notebook.parents[2].name}/ is missing, or not what was written"
    page, size = files["feedback"]
    if assignment.feedback and size <= 0:
        yield f"{page.name} in {page.parents[2].name}/ is missing"


def written_files(assignment: Assignment, student: str) -> dict[str, Path]:
    """Where the files of a graded submission go, in nbgrader's layout."""
    lesson = assignment.lesson
    return {
        "autograded": assignment.course.autograded / student / lesson / f"{lesson}.ipynb",
        "feedback": assignment.course.feedback / student / lesson / f"{lesson}.html",
    }


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR):
            raise
        return -1


def _find_redefined(assignment: Assignment, record: Record) -> dict[str, str]:
    """The exercises that are not, or no longer, those that were graded, each with what has changed."""
    known = {one.exercise: one.fingerprint for one in record.exercises}
    return {
        exercise: fingerprints.changed(known[exercise], now) if exercise in known else "new in the lesson"
        for exercise, now in assignment.fingerprints.items()
        if known.get(exercise) != now
    }
