"""Writes the files that nbgrader's exchange expects next to a feedback page, so that `nbgrader release_feedback` works.

The exchange derives a page's name from the submission's secret. `nbgrader submit` draws that secret and keeps it for
the student, whose `nbgrader fetch_feedback` finds the page by it. If a file is missing, the exchange stops for the
whole class, so each page gets both files; a submission that came another way gets a secret that nobody has.
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
"""Longest secret to read, in characters; nbgrader's own have 128."""

_SECRET = re.compile(rb"[A-Za-z0-9_-]{32,}")
"""Matches a secret of nbgrader's. A shorter one could be guessed; nbgrader wrote neither that nor several words."""


def prepare_release(course: Course, lesson: str, records: Iterable[Record]) -> None:
    """Write submission times and secrets next to these submissions' pages."""
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
    """Return the submission time as nbgrader writes it; empty if there is none."""
    moment = timestamps.moment(record.handed_in)
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M:%S.%f} UTC"


def _secret(course: Course, lesson: str, student: str) -> str:
    """Return the submission's secret; if it has none, derive one from the course's."""
    try:
        with timestamps.opened(course.submitted / student / lesson) as folder:
            written = read_file(folder, SECRET, SECRET_BYTES)
    except (OSError, Unreadable, Refused):
        written = b""
    if _SECRET.fullmatch(written):
        return written.decode("ascii")
    whose = f"submission secret of {lesson}/{student}".encode()
    return hmac.digest(course.secret(), whose, hashlib.sha256).hex()
