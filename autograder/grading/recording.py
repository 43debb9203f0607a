"""The record of a submission, whatever kind of assignment it is to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from autograder.gradebook.record import Conditions, ExerciseRecord, Record
from autograder.grading.task import Task
from autograder.intake import timestamps

_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
NO_IMPORTS: Mapping[str, str] = {}
_BOX_FOLDER = re.compile(r"/[^\s'\"]*/katze-box-\w+(?:/boxes/\w+)?")


def make_record(
    task: Task,
    lesson: str,
    conditions: Conditions,
    exercises: tuple[ExerciseRecord, ...],
    *,
    slot: int = 0,
    notebook: str = "",
    handed_in: str = "",
    repairs: tuple[str, ...] = (),
    problem: str = "",
    remarks: Sequence[str] = (),
    imports: Mapping[str, str] = NO_IMPORTS,
) -> Record:
    """The record of a submission. Its files and its time are added when they are known.

    Args:
        task: says what was handed in.
        lesson: the lesson, or the plain assignment.
        conditions: what its grades depend on.
        exercises: how each of them came out.
        slot: which of the class's sets of hidden inputs the student got; 0 where there are none.
        notebook: SHA-256 of the notebook's file.
        handed_in: when.
        repairs: what was mended.
        problem: why it could not be graded.
        remarks: what only the instructor reads; a fault of the submission's `timestamp.txt` is added.
        imports: what its own cells name of the library.
    """
    return Record(
        student=task.student,
        lesson=lesson,
        digest=task.digest,
        notebook=notebook,
        handed_in=handed_in,
        slot=slot,
        conditions=conditions,
        exercises=exercises,
        repairs=repairs,
        problem=stable(problem),
        imports=imports,
        remarks=tuple(map(stable, filter(None, [*remarks, timestamps.fault(task.folder)]))),
    )


def stable(text: str) -> str:
    """A message without what differs from run to run: addresses of objects, and the name of the box's folder."""
    return _ADDRESS.sub("0x…", _BOX_FOLDER.sub("~", text))
