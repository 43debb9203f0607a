"""Packs the messages between client and workers as MessagePack, with the bytes of a submission's file.

Nothing from a student is pickled. A student's work stays the bytes of the submitted file until a worker reads them
under its limits. The reply is a record and the text of the files that the client writes.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import msgpack

from autograder.gradebook.record import CaseRecord, Conditions, ExerciseRecord, Record
from autograder.grading.task import Finished, Task
from course_lib.judging.observation import Outcome

_KNOWN_HERE = {"conditions", "by_hand", "adjustments", "decided", "lateness", "weight", "drop_lowest", "is_withdrawn"}
_OF_RECORD = [field.name for field in fields(Record) if field.name not in {"exercises", *_KNOWN_HERE}]
"""The fields of a record that cross unchanged. Its exercises cross too; only the client knows the rest."""


@dataclass(frozen=True)
class Opened:
    """A submission that has arrived at a worker.

    Attributes:
        task: the task; its folder is the worker's.
        handed_in: the bytes of the submitted notebook; for several files, a mapping from path to bytes, by `pack`.
        kept: the autograded notebook of an earlier run, if some of its verdicts stay; else empty.
        notes: how the notebook was found.
        timestamp: the text of the submission's `timestamp.txt`; None if it has none.
    """

    task: Task
    handed_in: bytes
    kept: bytes
    notes: tuple[str, ...]
    timestamp: str | None


def pack_task(
    task: Task, handed_in: bytes = b"", kept: bytes = b"", notes: tuple[str, ...] = (), timestamp: str | None = None
) -> bytes:
    """Pack a submission to grade; see `Opened`."""
    return pack(
        {
            "student": task.student,
            "digest": task.digest,
            "why": task.why,
            "judged": sorted(task.judged),
            "earlier": None if task.earlier is None else _plain(task.earlier),
            "handed_in": handed_in,
            "kept": kept,
            "notes": notes,
            "timestamp": timestamp,
        }
    )


def open_task(content: bytes, folder: Path, conditions: Conditions) -> Opened:
    """Open a packed submission.

    Args:
        content: from `pack_task`.
        folder: the worker's folder for all submissions, each of which gets `<student>/<lesson>` in it.
        conditions: for the earlier record, whose own conditions stay with the client.
    """
    plain = unpack(content)
    earlier = None if plain["earlier"] is None else _record(plain["earlier"], conditions)
    student, why, judged = plain["student"], tuple(plain["why"]), frozenset(plain["judged"])
    task = Task(student, folder, plain["digest"], why, judged, earlier)
    return Opened(task, plain["handed_in"], plain["kept"], tuple(plain["notes"]), plain["timestamp"])


def pack_reply(finished: Finished, texts: Mapping[str, str]) -> bytes:
    """Pack a worker's results."""
    return pack(
        {
            "record": _plain(finished.record),
            "judged": sorted(finished.task.judged),
            "starved": finished.starved,
            "texts": texts,
        }
    )


def open_reply(content: bytes, task: Task, conditions: Conditions) -> tuple[Finished, Mapping[str, str]]:
    """Return a task's result, and the texts of its files, which are still to be written.

    Args:
        content: from `pack_reply`.
        task: the task that the worker was given.
        conditions: the conditions that the grade depends on.

    Raises:
        ValueError: it is the result of another submission.
    """
    plain = unpack(content)
    record, texts = _record(plain["record"], conditions), plain["texts"]
    if (record.student, record.digest) != (task.student, task.digest):
        raise ValueError(f"a worker has answered for {record.student} instead of {task.student}")
    written = {file: json.loads(text) for file, text in texts.items() if file.startswith("autograded")}
    notebooks = {file.partition("/")[2] or record.lesson: notebook for file, notebook in written.items()}
    task = replace(task, judged=frozenset(plain["judged"]))
    return Finished(task, record, notebooks, plain["starved"]), texts


def _plain(record: Record) -> dict[str, Any]:
    plain = {name: getattr(record, name) for name in _OF_RECORD}
    return plain | {"exercises": [asdict(exercise) for exercise in record.exercises]}


def _record(plain: Mapping[str, Any], conditions: Conditions) -> Record:
    return Record(
        conditions=conditions,
        exercises=tuple(map(_exercise, plain["exercises"])),
        repairs=tuple(plain["repairs"]),
        remarks=tuple(plain["remarks"]),
        files={name: (digest, size) for name, (digest, size) in plain["files"].items()},
        **{name: plain[name] for name in _OF_RECORD if name not in ("repairs", "remarks", "files")},
    )


def _exercise(plain: Mapping[str, Any]) -> ExerciseRecord:
    cases = tuple(CaseRecord(**{**case, "outcome": Outcome(case["outcome"])}) for case in plain["cases"])
    return ExerciseRecord(**{**plain, "outcome": Outcome(plain["outcome"]), "cases": cases})


_ODD = "surrogatepass"  # JSON in a notebook may contain half a character; that must not fail here


def pack(plain: Mapping[str, Any]) -> bytes:
    """Pack plain data as bytes."""
    packed: bytes = msgpack.packb(plain, unicode_errors=_ODD)
    return packed


def unpack(content: bytes) -> dict[str, Any]:
    """Unpack the bytes from `pack`."""
    plain: dict[str, Any] = msgpack.unpackb(content, unicode_errors=_ODD)
    return plain
