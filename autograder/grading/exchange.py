"""Writes what nbgrader's exchange looks for beside a feedback page, so that `nbgrader release_feedback` can take it.

It gives a page a name that follows from a secret: that of the submission, which `nbgrader submit` draws and keeps for
the student, whose `nbgrader fetch_feedback` finds the page by it. Where one file is missing, it stops for the whole
class; so each page has both, and one whose submission came another way gets a secret that nobody has.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable
from pathlib import Path

from autograder.course.course import Course
from autograder.errors import Unreadable
from autograder.gradebook.record import Record
from autograder.grading.publish import write_whole
from autograder.intake import timestamps
from autograder.intake.archives import Refused
from autograder.intake.folders import read_file

SECRET = "submission_secret.txt"
SECRET_BYTES = 1000
"""The longest that is read; nbgrader's own has 128."""

_SECRET = re.compile(rb"[A-Za-z0-9_-]{32,}")
"""One that is shorter, and could be guessed, or is no single word, was not written by nbgrader."""


def prepare_release(course: Course, lesson: str, records: Iterable[Record]) -> None:
    """Put beside the pages of these submissions when they were handed in, and their secrets."""
    for record in records:
        pages = course.feedback / record.student / lesson
        if any(pages.glob("*.html")):
            for name, text in ((timestamps.NAME, _time(record)), (SECRET, _secret(course, lesson, record.student))):
                _write(pages / name, text)


def _write(path: Path, text: str) -> None:
    try:
        if path.read_text(encoding="utf-8") == text:
            return
    except (OSError, UnicodeDecodeError):
        pass
    write_whole(path, text)


def _time(record: Record) -> str:
    """As nbgrader writes it; empty where the submission says none."""
    moment = timestamps.moment(record.handed_in)
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M:%S.%f} UTC"


def _secret(course: Course, lesson: str, student: str) -> str:
    """That of the submission; where it has none, one that follows from the course's."""
    try:
        with timestamps.opened(course.submitted / student / lesson) as folder:
            written = read_file(folder, SECRET, SECRET_BYTES)
    except (OSError, Unreadable, Refused):
        written = b""
    if _SECRET.fullmatch(written):
        return written.decode("ascii")
    whose = f"submission secret of {lesson}/{student}".encode()
    return hmac.digest(course.secret(), whose, hashlib.sha256).hex()
