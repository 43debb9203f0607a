"""Records where each collected submission came from, in `.katze/collected/<lesson>.json`.

`katze collect` writes it, and `katze return` reads it, because a platform accepts feedback files only under the names
that it gave out.
"""

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.course.course import Course
from autograder.course.semester import SEMESTER_NAME
from autograder.course.store.files import read_stored, write_stored
from autograder.errors import BadInput
from autograder.words import some


@dataclass(frozen=True)
class OlderDelivery:
    """An earlier submission of the same student, replaced by a newer one.

    Attributes:
        name: the platform's name for it: the path in its download.
        handed_in: when it was handed in, in ISO 8601 and UTC; empty if unknown.
        digest: SHA-256 of its file, in hexadecimal; empty if it was not read.
        kept: its path, relative to the course's folder; empty if it is only in the download.
    """

    name: str
    handed_in: str = ""
    digest: str = ""
    kept: str = ""


@dataclass(frozen=True)
class Delivery:
    """One student's submission, as the platform delivered it.

    Attributes:
        student: its folder's name in `submitted/`.
        platform: the platform: "moodle", "canvas", "gradescope", "github", "exchange", "mbox" or "folder".
        source: the name of the file or folder that was collected.
        names: the paths of its files in the download, in the platform's spelling; the graded file first.
        number: the platform's number for the student (Canvas user, Moodle participant); may be empty.
        id: the student's id on the platform or the roster, if `student` is a sanitized version of it; else empty.
        name: the student's full name; empty if unknown.
        email: the student's address; empty if unknown.
        handed_in: when it was handed in, in ISO 8601 and UTC; empty if unknown.
        late: whether the platform calls it late; None if it does not say.
        attempt: the platform's number of the attempt, from 1; 0 if it has none.
        digest: SHA-256 of the graded notebook, in hexadecimal; empty if there is none.
        rank: the platform's own counter or time, higher for a later submission; 0 if there is none.
        extra: whatever else returning feedback needs, by name, such as "assignment" or "submission".
        others: the student's other submissions, newest first.
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
        """Whether the platform calls it late but does not give its time."""
        return bool(self.late) and not self.handed_in


def remarks_on_late(lesson: str, students: Sequence[str]) -> list[str]:
    """Return a warning about submissions that a platform calls late without their times; [] if there are none.

    Without a time, nobody knows how late they are, so there is no penalty until somebody sets the time.
    """
    if not students:
        return []
    return [
        f"{lesson}: marked late, and nobody knows when it came, so it counts as on time: {some(students)}; "
        f"[lessons.{lesson}.handed_in] in {SEMESTER_NAME} says when."
    ]


def read_collected(course: Course, lesson: str) -> dict[str, Delivery]:
    """Read what was collected for a lesson, by folder name in `submitted/`; {} if nothing was.

    Raises:
        BadInput: the file is damaged, or written by a newer Katze.
    """
    return read_stored(course, "collected", lesson, _delivery, "remove it and collect again")


def readable_deliveries(course: Course, lesson: str) -> dict[str, Delivery]:
    """Return the same, or {} if the file is damaged, for those who can do without: those who need it report that."""
    with contextlib.suppress(BadInput):
        return read_collected(course, lesson)
    return {}


def write_collected(course: Course, lesson: str, students: Mapping[str, Delivery]) -> None:
    """Write the record atomically."""
    plain = {student: dataclasses.asdict(one) for student, one in students.items()}
    for facts in plain.values():
        del facts["student"]
    write_stored(course, "collected", lesson, plain)


def _delivery(student: str, facts: Mapping[str, Any]) -> Delivery:
    others = tuple(OlderDelivery(**other) for other in facts["others"])
    return Delivery(student=student, **{**facts, "names": tuple(facts["names"]), "others": others})
