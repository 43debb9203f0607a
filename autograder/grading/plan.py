"""Plans a run: which submissions to grade, which of their exercises, and why.

A grade depends on the submission, the exercise's definition, the release, the seed, the versions and the limits. If all
of these match the record, and the files written are still there, nothing needs to be done.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.box.confinement.levels import Level
from autograder.gradebook import store
from autograder.gradebook.changes.adjustments import Adjustments, adjusted
from autograder.gradebook.record import Conditions, Record
from autograder.gradebook.session import GradebookSession
from autograder.gradebook.store import read_adjustments, read_frozen
from autograder.grading.digests import fingerprints
from autograder.grading.strategy import Strategy
from autograder.grading.task import Task
from course_lib.judging.observation import Outcome

logger = logging.getLogger(__name__)

FIRST = "not graded before"
FORCED = "graded again by --force"
SUBMITTED_AGAIN = "handed in again"
LEFT_UNDONE = "set aside by a run with --force that was stopped before it got here"
FAILED_BEFORE = "the grader had failed on it"
OVERWRITTEN = "the scores in the gradebook are not those that Katze recorded"
OTHER_SECRET = "the course's secret has changed"

_DIFFERENCES = {
    "checks": "Katze's grading code has changed",
    "library": "what the lesson's cells reach of the library has changed",
    "files": "the files beside the notebooks have changed",
}
"""What to say if a version has changed that people cannot read."""

_FOR_READERS = ("Katze",)
"""Versions that do not matter by themselves: whatever could change a grade is recorded separately."""


@dataclass(frozen=True)
class Recorded:
    """What a gradebook has about a lesson.

    Attributes:
        records: the records by student, without adjustments.
        overwritten: the students whose scores in nbgrader's tables do not match their records.
        adjustments: the course's decisions that those scores include.
        frozen: the time when the lesson was frozen; empty if it is not.
    """

    records: Mapping[str, Record] = field(default_factory=dict)
    overwritten: Collection[str] = ()
    adjustments: Adjustments = field(default_factory=dict)
    frozen: str = ""

    @classmethod
    def read(cls, book: GradebookSession, strategy: Strategy) -> Recorded:
        """Read a gradebook of this version or an earlier one; it may be empty, or lack our tables."""
        name = strategy.name
        with book.looking() as session:
            if session is None:
                return cls()
            records, adjustments = store.records(session, name), read_adjustments(session, name)
            counted = {student: adjusted(record, adjustments) for student, record in records.items()}
            overwritten = store.overwritten(session, name, counted)
            return cls(records, overwritten, adjustments, read_frozen(session).get(name, ""))


def make_plan(
    strategy: Strategy,
    submissions: Sequence[tuple[str, Path]],
    recorded: Recorded,
    weakest: Level,
    force: bool = False,
) -> tuple[Task, ...]:
    """Compare the submissions with what was recorded; return those to grade, in the same order. Write nothing.

    Args:
        strategy: of the assignment.
        submissions: students and the folders of their submissions.
        recorded: what the gradebook has about the assignment.
        weakest: the weakest level whose grades are good enough.
        force: grade everything, changed or not.
    """
    tasks = []
    for student, folder in submissions:
        record, digest = recorded.records.get(student), fingerprints.of_submission(folder)
        if record is None:
            tasks.append(Task(student, folder, digest, (FIRST,), strategy.exercises))
            continue
        overwritten = student in recorded.overwritten
        why = (FORCED,) if force else tuple(_find_reasons(strategy, record, digest, weakest, overwritten))
        redefined = strategy.find_redefined(record)
        if why:
            tasks.append(Task(student, folder, digest, why, strategy.exercises, record))
        elif redefined:
            tasks.append(Task(student, folder, digest, tuple(redefined.values()), frozenset(redefined), record))
    for task in tasks:
        logger.debug("%s is graded: %s", task.student, "; ".join(task.why))
    logger.info("%s: %d to grade, %d unchanged", strategy.name, len(tasks), len(submissions) - len(tasks))
    return tuple(tasks)


def _find_reasons(strategy: Strategy, record: Record, digest: str, weakest: Level, overwritten: bool) -> Iterator[str]:
    """Yield the reasons why a whole submission must be graded again, if any."""
    if record.digest != digest:
        yield SUBMITTED_AGAIN
    if record.void:  # what it had written is gone with it, and its scores are taken back
        yield LEFT_UNDONE
    if record.problem and any(one.outcome is Outcome.UNGRADED and not one.note for one in record.exercises):
        yield FAILED_BEFORE  # an exercise that has its own reason, such as a package, would come out the same
    yield from _compare_conditions(record.conditions, strategy)
    yield from strategy.find_changes(record)
    weak = {one.level for one in record.exercises if one.level and Level[one.level] < weakest}
    if weak:
        yield f"graded in sandboxes of level {min(weak)}, weaker than {weakest.name}"
    if overwritten:
        yield OVERWRITTEN
    if {one.exercise for one in record.exercises} - strategy.exercises:
        yield "the lesson has fewer exercises"
    if not record.void:
        yield from _find_missing_files(strategy, record)


def _compare_conditions(before: Conditions, strategy: Strategy) -> Iterator[str]:
    now = strategy.conditions
    if before.release != now.release:
        yield strategy.other_release
    if before.seed != now.seed:
        yield OTHER_SECRET
    for name in sorted((before.versions.keys() | now.versions.keys()).difference(_FOR_READERS)):
        old, new = before.versions.get(name, "none"), now.versions.get(name, "none")
        if old != new:
            yield _DIFFERENCES.get(name, f"{name} {old} -> {new}")
    yield from _compare_settings(before.settings, now.settings)


def _compare_settings(before: Mapping[str, object], now: Mapping[str, object]) -> Iterator[str]:
    for name in sorted(before.keys() | now.keys()):
        old, new = before.get(name), now.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _compare_settings(old, new)
        elif old != new:
            yield f"{name}: {old} -> {new}"


def _find_missing_files(strategy: Strategy, record: Record) -> Iterator[str]:
    """Yield the files of an earlier run that are missing.

    An autograded notebook must still have the size that was written. A feedback page that another program has replaced
    is no reason to grade again: it is rewritten from the record (`by_hand.py`).
    """
    for file, path in strategy.written_files(record.student).items():
        is_notebook = file.startswith("autograded")
        if is_notebook and file in record.files and size_of(path) != record.files[file][1]:
            yield f"{path.name} in {path.parents[2].name}/ is missing, or was changed after it was written"
        elif not is_notebook and strategy.feedback and size_of(path) <= 0:
            yield f"{path.name} in {path.parents[2].name}/ is missing"


def size_of(path: Path) -> int:
    """Return the size in bytes of a file that an earlier run wrote; -1 if it is gone."""
    try:
        return path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return -1
