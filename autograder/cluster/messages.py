"""Packs what crosses between client and workers: bytes of MessagePack, and of a submission's own file.

Nothing of a student's is pickled. What a student wrote stays the bytes of the file that was handed in, until a worker
reads them under its limits; what comes back is a record and the text of the files that the client is to write.
"""

from __future__ import annotations

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
_OF_RECORD = [one.name for one in fields(Record) if one.name not in {"exercises", *_KNOWN_HERE}]
"""What of a record crosses as it is; its exercises do as well, and the rest only the client knows."""


@dataclass(frozen=True)
class Opened:
    """A submission as it has come to a worker.

    Attributes:
        task: what is to be done; its folder is the worker's own.
        handed_in: the bytes of the notebook's file, as they were handed in; from `pack` where it is several files, by
            their paths.
        kept: the autograded notebook of an earlier run, where some of its verdicts stand; else empty.
        notes: how the notebook was found.
        timestamp: what the submission's `timestamp.txt` says; None where it has none.
    """

    task: Task
    handed_in: bytes
    kept: bytes
    notes: tuple[str, ...]
    timestamp: str | None


def pack_task(
    task: Task, handed_in: bytes = b"", kept: bytes = b"", notes: tuple[str, ...] = (), timestamp: str | None = None
) -> bytes:
    """A submission to grade as bytes; see `Opened`."""
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
    """The submission in these bytes.

    Args:
        content: from `pack_task`.
        folder: where the worker puts submissions, as `<student>/<lesson>` below it is made from this.
        conditions: put into the record of before, whose own stay with the client.
    """
    plain = unpack(content)
    earlier = None if plain["earlier"] is None else _record(plain["earlier"], conditions)
    student, why, judged = plain["student"], tuple(plain["why"]), frozenset(plain["judged"])
    task = Task(student, folder, plain["digest"], why, judged, earlier)
    return Opened(task, plain["handed_in"], plain["kept"], tuple(plain["notes"]), plain["timestamp"])


def pack_reply(finished: Finished, texts: Mapping[str, str]) -> bytes:
    """What a worker found, as bytes."""
    return pack(
        {
            "record": _plain(finished.record),
            "judged": sorted(finished.task.judged),
            "starved": finished.starved,
            "texts": texts,
        }
    )


def open_reply(content: bytes, task: Task, conditions: Conditions) -> tuple[Finished, Mapping[str, str]]:
    """What came of a task, with its files still to be written, and the text of each of these.

    Args:
        content: from `pack_reply`.
        task: what the worker was to do.
        conditions: what the grade depends on.

    Raises:
        ValueError: it is of another submission.
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
    return plain | {"exercises": [asdict(one) for one in record.exercises]}


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


_ODD = "surrogatepass"  # half of a character, which JSON in a notebook may hold, is not what breaks here


def pack(plain: Mapping[str, Any]) -> bytes:
    """Plain data as bytes."""
    packed: bytes = msgpack.packb(plain, unicode_errors=_ODD)
    return packed


def unpack(content: bytes) -> dict[str, Any]:
    """The data in these bytes, from `pack`."""
    plain: dict[str, Any] = msgpack.unpackb(content, unicode_errors=_ODD)
    return plain
