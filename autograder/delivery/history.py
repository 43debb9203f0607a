"""Records which feedback pages were returned, and when: `.katze/returned/<lesson>.json`."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from autograder.course.course import Course
from autograder.course.store.files import read_stored, write_stored
from course_lib.ground.files import sha256_of


@dataclass(frozen=True)
class ReturnedPage:
    """A student's page as it was last returned.

    Attributes:
        platform: its name: "moodle", "canvas", "gradescope" or "folder".
        page: SHA-256 of the page, in hexadecimal.
        when: the time, in ISO 8601 and UTC.
        comment: SHA-256 of the comment that was written into a worksheet; empty if there was none.
    """

    platform: str
    page: str
    when: str
    comment: str = ""


def page_of(course: Course, lesson: str, student: str) -> Path:
    """Return the path of a student's feedback page."""
    return course.feedback / student / lesson / f"{lesson}.html"


def digest_of(page: Path) -> str:
    """Return the SHA-256 of a page, in hexadecimal; empty if there is no page."""
    try:
        return sha256_of(page)
    except OSError:
        return ""


def digest_of_text(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_returned(course: Course, lesson: str) -> dict[str, ReturnedPage]:
    """Return a lesson's returned pages, by student; empty if there are none.

    Raises:
        BadInput: the file is damaged, or a newer Katze wrote it.
    """
    advice = "if you remove it, Katze forgets which pages were returned"
    return read_stored(course, "returned", lesson, lambda _, facts: ReturnedPage(**facts), advice)


def write_returned(course: Course, lesson: str, pages: Mapping[str, ReturnedPage]) -> None:
    """Write the record, all or nothing."""
    write_stored(course, "returned", lesson, {student: asdict(page) for student, page in pages.items()})


def changed_since(course: Course, lesson: str) -> list[str]:
    """Return the students whose page has changed since it was returned, or is gone."""
    return [
        student
        for student, returned in sorted(read_returned(course, lesson).items())
        if digest_of(page_of(course, lesson, student)) != returned.page
    ]
