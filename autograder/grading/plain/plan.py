"""Which submissions to a plain assignment are graded, and why: those for which anything has changed.

A submission is graded as a whole: its tests share what its cells have left behind.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import json
import logging
import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from sqlalchemy.orm import Session

import course_lib
from autograder.box import Level
from autograder.gradebook import store
from autograder.gradebook.record import Conditions, Record
from autograder.gradebook.store import read_frozen
from autograder.grading.digests import fingerprints, sources
from autograder.grading.plain import files, rows
from autograder.grading.plain.assignment import PlainAssignment
from autograder.grading.plain.publish import written_files
from autograder.grading.plain.refusals import REFUSED
from autograder.grading.plan import (
    FAILED_BEFORE,
    FIRST,
    FORCED,
    MISSING_NOTEBOOK,
    MISSING_PAGE,
    OTHER_CHECKS,
    OVERWRITTEN,
    Plan,
    Recorded,
    Task,
    changed_versions,
    size_of,
    too_weak_boxes,
    unfinished_business,
)
from course_lib.checking import Outcome
from course_lib.checking.rules import syntax_tree

logger = logging.getLogger(__name__)

_DIGESTS = {
    "files": "the files beside the notebooks have changed",
    "checks": OTHER_CHECKS,
}


def conditions_of(assignment: PlainAssignment, course_files: dict[str, Path]) -> Conditions:
    """What grades depend on, beside the submission."""
    limits = {name: value for name, value in asdict(assignment.limits).items() if name != "memory_ceiling_bytes"}
    here = Path(__file__).parent
    own = [
        here / f"{name}.py"
        for name in ("assignment", "files", "judging", "refusals", "repairing", "running", "submission")
    ]
    versions = {
        "Katze": course_lib.__version__,
        "Python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in ("ipython", "nbgrader", *_packages(assignment))},
        "checks": sources.of_files(own),
        "files": files.digest(course_files),
    }
    return Conditions(_release(assignment), "", versions, {"limits": limits})


def read_recorded(connection: Session, name: str) -> Recorded:
    """What a gradebook holds of an assignment."""
    records = store.records(connection, name)
    overwritten = rows.overwritten(connection, name, records)
    return Recorded(records, overwritten, frozen=read_frozen(connection).get(name, ""))


def make_plan(
    assignment: PlainAssignment,
    conditions: Conditions,
    submissions: Sequence[tuple[str, Path]],
    recorded: Recorded,
    weakest: Level,
    force: bool = False,
) -> Plan:
    """Compare what is there with what was recorded. Nothing is written."""
    records, overwritten = recorded.records, recorded.overwritten
    tasks, unchanged = [], []
    for student, folder in submissions:
        record, digest = records.get(student), fingerprints.of_submission(folder)
        if record is None:
            why: tuple[str, ...] = (FIRST,)
        elif force:
            why = (FORCED,)
        else:
            why = tuple(_reasons(assignment, conditions, record, digest, weakest))
            why += (OVERWRITTEN,) if student in overwritten and not record.void else ()
        if why or record is None:
            tasks.append(Task(student, folder, digest, why, frozenset(), record))
        else:
            unchanged.append(record)
    for task in tasks:
        logger.debug("%s is graded: %s", task.student, "; ".join(task.why))
    logger.info("%s: %d to grade, %d unchanged", assignment.name, len(tasks), len(unchanged))
    return Plan(tuple(tasks), tuple(unchanged))


def _reasons(
    assignment: PlainAssignment, conditions: Conditions, record: Record, digest: str, weakest: Level
) -> Iterator[str]:
    refused = all(one.note.startswith(REFUSED) for one in record.exercises if one.outcome is Outcome.UNGRADED)
    yield from (why for why in unfinished_business(record, digest) if why != FAILED_BEFORE or not refused)
    before, now = record.conditions, conditions
    if before.release != now.release:
        yield "the assignment's cells have changed"
    yield from changed_versions(before, now, _DIGESTS)
    if before.settings != json.loads(json.dumps(now.settings)):
        yield "the limits of a box have changed"
    yield from too_weak_boxes(record, weakest)
    for kind, path in written_files(assignment, record.student).items():
        if kind in record.files and size_of(path) != record.files[kind][1] and kind.startswith("autograded/"):
            yield MISSING_NOTEBOOK.format(name=path.name, folder=path.parents[2].name)
        elif assignment.feedback and kind.startswith("feedback/") and size_of(path) <= 0 and not record.void:
            yield MISSING_PAGE.format(name=path.name, folder=path.parents[2].name)


def _release(assignment: PlainAssignment) -> str:
    """A digest of all that nbgrader knows of the assignment's cells."""
    content = [
        [notebook.name, [asdict(cell.row) for cell in notebook.cells if cell.row is not None]]
        for notebook in assignment.notebooks
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def _packages(assignment: PlainAssignment) -> list[str]:
    """The installed packages that the course's own cells import."""
    modules = {
        name
        for notebook in assignment.notebooks
        for cell in notebook.cells
        if cell.kind == "code"
        for name in _imported(cell.source)
    }
    known = importlib.metadata.packages_distributions()
    return sorted({package for module in modules for package in known.get(module, [])} - {"katze"})


def _imported(source: str) -> Iterator[str]:
    """The names of the packages that a cell imports."""
    for node in ast.walk(syntax_tree(source) or ast.Module([], [])):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module).partition(".")[0]
