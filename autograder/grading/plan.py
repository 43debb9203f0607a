"""What a run has to do: which submissions to grade, which of their exercises, and why.

A grade depends on the submission, the exercise's definition, the release, the seed, the versions and the limits.
Where all of these match the record, and what was written is still there, nothing is done.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy.orm import Session

from autograder.box import Level
from autograder.gradebook import store
from autograder.gradebook.changes.adjustments import Adjustments, adjusted
from autograder.gradebook.record import Conditions, Record
from autograder.gradebook.store import read_adjustments, read_frozen
from autograder.grading.assignment import Assignment
from autograder.grading.digests import fingerprints
from course_lib.checking import Outcome

logger = logging.getLogger(__name__)

FIRST = "not graded before"
FORCED = "graded again by --force"
SUBMITTED_AGAIN = "handed in again"
LEFT_UNDONE = "set aside by a run with --force that was stopped before it got here"
FAILED_BEFORE = "the grader had failed on it"
OVERWRITTEN = "the gradebook holds scores other than those recorded"
OTHER_RELEASE = "the released notebook has changed"
OTHER_SECRET = "the course has another secret"
OTHER_CHECKS = "Katze's own code that grades has changed"
OTHER_LIBRARY = "what the lesson's cells reach of the library has changed"
OTHER_IMPORT = "{name}, which it imports, has changed"
OTHER_VALUE = "{name}: {before} -> {now}"
OTHER_VERSION = "{name} {before} -> {now}"
WEAK_BOXES = "graded in boxes of level {level}, weaker than {weakest}"
FEWER_EXERCISES = "the lesson has fewer exercises"
MISSING_NOTEBOOK = "{name} in {folder}/ is missing, or not what was written"
MISSING_PAGE = "{name} in {folder}/ is missing"
NEW_EXERCISE = "{exercise}: new in the lesson"
OTHER_EXERCISE = "{exercise}: {what}"

REASONS = (
    *(FIRST, FORCED, SUBMITTED_AGAIN, LEFT_UNDONE, FAILED_BEFORE, OVERWRITTEN, OTHER_RELEASE, OTHER_SECRET),
    *(OTHER_CHECKS, OTHER_LIBRARY, OTHER_IMPORT, OTHER_VALUE, OTHER_VERSION, WEAK_BOXES, FEWER_EXERCISES),
    *(MISSING_NOTEBOOK, MISSING_PAGE, NEW_EXERCISE, OTHER_EXERCISE),
)
"""Why a submission, or one of its exercises, is graded: everything that `docs/changes.md` lists."""

_DIGESTS = {"checks": OTHER_CHECKS, "library": OTHER_LIBRARY}
"""Versions that are digests: nobody reads them."""

_FOR_READERS = ("Katze",)
"""Versions from which nothing follows: what could change a grade is recorded apart from them."""


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

    def without_tasks(self) -> Plan:
        """The plan to leave everything as it is."""
        return Plan(unchanged=(*self.unchanged, *(task.earlier for task in self.tasks if task.earlier is not None)))


@dataclass(frozen=True)
class Recorded:
    """What a gradebook holds of a lesson.

    Attributes:
        records: by student, as they were judged.
        overwritten: the students whose scores in nbgrader's tables are not those that follow from the records.
        adjustments: what the course has decided, as it is in those scores.
        frozen: since when the lesson is frozen; empty where it is not.
    """

    records: Mapping[str, Record] = field(default_factory=dict)
    overwritten: Collection[str] = ()
    adjustments: Adjustments = field(default_factory=dict)
    frozen: str = ""

    @classmethod
    def read(cls, connection: Session, lesson: str) -> Recorded:
        """Read it from a gradebook."""
        records, adjustments = store.records(connection, lesson), read_adjustments(connection, lesson)
        counted = {student: adjusted(record, adjustments) for student, record in records.items()}
        overwritten = store.overwritten(connection, lesson, counted)
        return cls(records, overwritten, adjustments, read_frozen(connection).get(lesson, ""))


def make_plan(
    assignment: Assignment,
    submissions: Sequence[tuple[str, Path]],
    recorded: Recorded,
    weakest: Level,
    force: bool = False,
) -> Plan:
    """Compare what is there with what was recorded. Nothing is written.

    Args:
        assignment: the lesson.
        submissions: students and the folders of their submissions.
        recorded: what the gradebook holds of the lesson.
        weakest: a grade from weaker boxes than this is not good enough.
        force: grade everything, changed or not.
    """
    records, overwritten = recorded.records, recorded.overwritten
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
            tasks.append(Task(student, folder, digest, tuple(redefined.values()), frozenset(redefined), record))
        else:
            unchanged.append(record)
    for task in tasks:
        logger.debug("%s is graded: %s", task.student, "; ".join(task.why))
    logger.info("%s: %d to grade, %d unchanged", assignment.lesson, len(tasks), len(unchanged))
    return Plan(tuple(tasks), tuple(unchanged))


def _find_reasons(
    assignment: Assignment, record: Record, digest: str, weakest: Level, overwritten: bool
) -> Iterator[str]:
    """Why a submission has to be graded again as a whole; nothing if it has not."""
    yield from unfinished_business(record, digest)
    yield from _compare_conditions(record.conditions, assignment.conditions)
    for name, before in record.imports.items():
        if assignment.library.digest([name]) != before:
            yield OTHER_IMPORT.format(name=name)
    yield from too_weak_boxes(record, weakest)
    if overwritten:
        yield OVERWRITTEN
    if {one.exercise for one in record.exercises} - set(assignment.fingerprints):
        yield FEWER_EXERCISES
    if not record.void:
        yield from _find_missing_files(assignment, record)


def unfinished_business(record: Record, digest: str) -> Iterator[str]:
    """Why a submission of any kind is graded again: it is another than was graded, or that came to no good end."""
    if record.digest != digest:
        yield SUBMITTED_AGAIN
    if record.void:  # what it had written is gone with it, and its scores are taken back
        yield LEFT_UNDONE
    if record.problem and any(one.outcome is Outcome.UNGRADED for one in record.exercises):
        yield FAILED_BEFORE  # a single exercise, such as one that wants a package, would come out the same


def too_weak_boxes(record: Record, weakest: Level) -> Iterator[str]:
    """Why a submission of any kind is graded again: its boxes were weaker than this."""
    weak = {one.level for one in record.exercises if one.level and Level[one.level] < weakest}
    if weak:
        yield WEAK_BOXES.format(level=min(weak), weakest=weakest.name)


def changed_versions(before: Conditions, now: Conditions, digests: Mapping[str, str]) -> Iterator[str]:
    """The versions that differ and decide grades; of those that are digests, what is said in place of the number."""
    for name in sorted((before.versions.keys() | now.versions.keys()).difference(_FOR_READERS)):
        old, new = before.versions.get(name, "none"), now.versions.get(name, "none")
        if old != new:
            yield digests.get(name, OTHER_VERSION).format(name=name, before=old, now=new)


def _compare_conditions(before: Conditions, now: Conditions) -> Iterator[str]:
    if before.release != now.release:
        yield OTHER_RELEASE
    if before.seed != now.seed:
        yield OTHER_SECRET
    yield from changed_versions(before, now, _DIGESTS)
    for name in sorted(before.settings.keys() | now.settings.keys()):
        old_setting, new_setting = before.settings.get(name), now.settings.get(name)
        if isinstance(old_setting, Mapping) and isinstance(new_setting, Mapping):
            yield from _compare_limits(old_setting, new_setting)
        elif old_setting != new_setting:
            yield OTHER_VALUE.format(name=name, before=old_setting, now=new_setting)


def _compare_limits(before: Mapping[str, object], now: Mapping[str, object]) -> Iterator[str]:
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) != now.get(name):
            yield OTHER_VALUE.format(name=name, before=before.get(name), now=now.get(name))


def _find_missing_files(assignment: Assignment, record: Record) -> Iterator[str]:
    """What an earlier run has written that is no longer there.

    An autograded notebook must be what was written, by its size. A feedback page that is another program's by now is
    no reason to grade again: it is written anew from what was recorded (`by_hand.py`).
    """
    files = {kind: (path, size_of(path)) for kind, path in written_files(assignment, record.student).items()}
    notebook, size = files["autograded"]
    if "autograded" in record.files and size != record.files["autograded"][1]:
        yield MISSING_NOTEBOOK.format(name=notebook.name, folder=notebook.parents[2].name)
    page, size = files["feedback"]
    if assignment.feedback and size <= 0:
        yield MISSING_PAGE.format(name=page.name, folder=page.parents[2].name)


def written_files(assignment: Assignment, student: str) -> dict[str, Path]:
    """Where the files of a graded submission go, in nbgrader's layout."""
    lesson = assignment.lesson
    return {
        "autograded": assignment.course.autograded / student / lesson / f"{lesson}.ipynb",
        "feedback": assignment.course.feedback / student / lesson / f"{lesson}.html",
    }


def size_of(path: Path) -> int:
    """The size of a file that an earlier run has written, in bytes; -1 where it is gone."""
    try:
        return path.stat().st_size
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR):
            raise
        return -1


def _find_redefined(assignment: Assignment, record: Record) -> dict[str, str]:
    """The exercises that are not, or no longer, those that were graded, each with the reason."""
    known = {one.exercise: one.fingerprint for one in record.exercises}
    return {
        exercise: OTHER_EXERCISE.format(exercise=exercise, what=fingerprints.changed(known[exercise], now))
        if exercise in known
        else NEW_EXERCISE.format(exercise=exercise)
        for exercise, now in assignment.fingerprints.items()
        if known.get(exercise) != now
    }
