"""Keeps where each collected submission came from: `.katze/collected/<lesson>.json`.

`katze collect` writes it; what gives feedback back reads it, since a platform takes files only under the names that it
gave out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.course.course import Course
from autograder.course.semester import SEMESTER_NAME
from autograder.course.store.files import read_stored, write_stored
from autograder.words import some


@dataclass(frozen=True)
class OlderDelivery:
    """A submission of the same student that does not count, since a newer one does.

    Attributes:
        name: what the platform called it: the path in its download.
        handed_in: when, in ISO 8601 and UTC; empty where nothing tells.
        digest: SHA-256 of its file, in hexadecimal; empty where it was not read.
        kept: where it lies, relative to the course's folder; empty where only the download has it.
    """

    name: str
    handed_in: str = ""
    digest: str = ""
    kept: str = ""


@dataclass(frozen=True)
class Delivery:
    """One student's submission, as the platform delivered it.

    Attributes:
        student: the folder's name in `submitted/`.
        platform: what delivered it: "moodle", "canvas", "gradescope", "github", "exchange", "mbox" or "folder".
        source: the file or folder that was collected, by its name alone.
        names: what the platform called it, in its own spelling: the paths of its files in the download, the one that
            is graded first.
        number: the platform's number for the student (Canvas's user, Moodle's participant); empty where it has none.
        id: the student's id as the platform or the roster writes it, where `student` had to be made safe; else empty.
        name: the student's full name; empty where nothing tells.
        email: the student's address; empty where nothing tells.
        handed_in: when, in ISO 8601 and UTC; empty where nothing tells.
        late: whether the platform calls it late; None where it does not say.
        attempt: the platform's number of the attempt, from 1; 0 where it has none.
        digest: SHA-256 of the notebook that is graded, in hexadecimal; empty where there is none.
        rank: the platform's own count or time, which is higher for a later submission; 0 where there is none.
        extra: what else the way back needs, by name, such as "assignment" or "submission".
        others: what the same student handed in as well, newest first.
    """

    student: str
    platform: str
    source: str
    names: tuple[str, ...]
    number: str = ""
    id: str = ""
    name: str = ""
    email: str = ""
    handed_in: str = ""
    late: bool | None = None
    attempt: int = 0
    digest: str = ""
    rank: int = 0
    extra: Mapping[str, str] = field(default_factory=dict)
    others: tuple[OlderDelivery, ...] = ()

    @property
    def is_late_without_time(self) -> bool:
        """Whether the platform calls it late and does not say when it came."""
        return bool(self.late) and not self.handed_in


def remarks_on_late(lesson: str, students: Sequence[str]) -> list[str]:
    """That a platform calls these late and does not say when they came, and what follows; nothing where it is nobody.

    That does not say how late something is, so it costs nothing until somebody says when it came.
    """
    if not students:
        return []
    return [
        f"{lesson}: marked late, and nobody knows when it came, so it counts as on time: {some(students)}; "
        f"[lessons.{lesson}.handed_in] in {SEMESTER_NAME} says when."
    ]


def record_of_collected(course: Course, lesson: str) -> Path:
    """The record's file; it need not exist."""
    return course.root / ".katze" / "collected" / f"{lesson}.json"


def read_collected(course: Course, lesson: str) -> dict[str, Delivery]:
    """What was collected for a lesson, by the folder's name in `submitted/`; nothing where nothing was.

    Raises:
        BadInput: the file is damaged, or a newer Katze has written it.
    """
    return read_stored(record_of_collected(course, lesson), _delivery, "remove it and collect again")


def write_collected(course: Course, lesson: str, students: Mapping[str, Delivery]) -> None:
    """Write the record whole, or not at all."""
    plain = {student: dataclasses.asdict(one) for student, one in students.items()}
    for facts in plain.values():
        del facts["student"]
    write_stored(record_of_collected(course, lesson), lesson, plain)


def _delivery(student: str, facts: Mapping[str, Any]) -> Delivery:
    others = tuple(OlderDelivery(**other) for other in facts["others"])
    return Delivery(student=student, **{**facts, "names": tuple(facts["names"]), "others": others})
