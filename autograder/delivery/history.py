"""Keeps which feedback pages have been given back, and when: `.katze/returned/<lesson>.json`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from autograder.course.course import Course
from autograder.course.store.files import read_stored, write_stored
from course_lib.ground.files import sha256_of


@dataclass(frozen=True)
class ReturnedPage:
    """A student's page, as it was last given back.

    Attributes:
        platform: by way of what: "moodle", "canvas", "gradescope" or "folder".
        page: SHA-256 of the page, in hexadecimal.
        when: in ISO 8601 and UTC.
        comment: SHA-256 of what was written into the comments of a worksheet; empty where nothing was.
    """

    platform: str
    page: str
    when: str
    comment: str = ""


def page_of(course: Course, lesson: str, student: str) -> Path:
    """Where a student's feedback page is."""
    return course.feedback / student / lesson / f"{lesson}.html"


def digest_of(page: Path) -> str:
    """SHA-256 of a page, in hexadecimal; empty where there is none."""
    try:
        return sha256_of(page)
    except OSError:
        return ""


def digest_of_text(text: str) -> str:
    """SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def place(course: Course, lesson: str) -> Path:
    """The record's file; it need not exist."""
    return course.root / ".katze" / "returned" / f"{lesson}.json"


def read_returned(course: Course, lesson: str) -> dict[str, ReturnedPage]:
    """What was given back of a lesson, by student; nothing where nothing was.

    Raises:
        BadInput: the file is damaged, or a newer Katze has written it.
    """
    advice = "if you remove it, Katze forgets which pages were returned"
    return read_stored(place(course, lesson), lambda _, facts: ReturnedPage(**facts), advice)


def write_returned(course: Course, lesson: str, pages: Mapping[str, ReturnedPage]) -> None:
    """Write the record whole, or not at all."""
    write_stored(place(course, lesson), lesson, {student: asdict(page) for student, page in pages.items()})


def changed_since(course: Course, lesson: str) -> list[str]:
    """The students whose page has changed since it was given back, or is gone."""
    return [
        student
        for student, returned in sorted(read_returned(course, lesson).items())
        if digest_of(page_of(course, lesson, student)) != returned.page
    ]
