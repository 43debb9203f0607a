"""Writes and removes the files of a graded submission, for nbgrader and for the student."""

import contextlib
import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from autograder.course.course import Course
from autograder.errors import Unreadable
from autograder.gradebook.record import Record
from autograder.grading.strategy import Strategy
from autograder.intake import timestamps
from autograder.intake.archives import Refused
from autograder.intake.folders import read_file

Notebooks = Mapping[str, Mapping[str, Any]]
"""A submission's graded notebooks, by name, in nbformat 4.5."""

Files = dict[str, tuple[str, int]]
"""The SHA-256 and size in bytes of each file written, by name."""

SECRET = "submission_secret.txt"
SECRET_BYTES = 1000
"""Longest secret to read, in characters; nbgrader's own have 128."""

_SECRET = re.compile(rb"[A-Za-z0-9_-]{32,}")
"""Matches a secret of nbgrader's. A shorter one could be guessed; nbgrader wrote neither that nor several words."""


def write_graded(strategy: Strategy, record: Record, notebooks: Notebooks) -> Files:
    """Write the graded notebooks and the feedback pages; remove an earlier run's other files."""
    texts = {
        f"autograded{ending}": json.dumps(notebooks[name], indent=1, ensure_ascii=False) + "\n"
        if name in notebooks
        else None
        for ending, name in strategy.notebooks.items()
    }
    return _write(strategy, record.student, texts | _pages(strategy, record, notebooks, {}))


def rewrite_feedback(strategy: Strategy, record: Record, penalties: Mapping[str, float]) -> Files | None:
    """Rewrite the feedback pages from the record, without grading anything.

    Returns:
        None if a notebook that they show is gone or has been changed.
    """
    notebooks = {}
    for ending, name in strategy.notebooks.items():
        if f"autograded{ending}" in record.files:  # else it could not be read
            notebook = read_written(strategy, record, ending)
            if notebook is None:
                return None
            notebooks[name] = notebook
    return _write(strategy, record.student, _pages(strategy, record, notebooks, penalties))


def read_written(strategy: Strategy, record: Record, ending: str = "") -> dict[str, Any] | None:
    """Read the autograded notebook that was written with a record; None if it is gone or has been changed."""
    file = f"autograded{ending}"
    try:
        content = strategy.written_files(record.student)[file].read_bytes()
    except OSError:
        return None
    if hashlib.sha256(content).hexdigest() != record.files.get(file, ("", 0))[0]:
        return None
    notebook: dict[str, Any] = json.loads(content)
    return notebook


def discard(strategy: Strategy, student: str) -> None:
    """Remove an earlier run's files, so that no stale grade is shown."""
    _write(strategy, student, dict.fromkeys(strategy.written_files(student)))


def _pages(
    strategy: Strategy, record: Record, notebooks: Notebooks, penalties: Mapping[str, float]
) -> dict[str, str | None]:
    """Return a page for each notebook; without feedback, None, since earlier pages show another grade."""
    return {
        f"feedback{ending}": strategy.page(record, name, notebooks.get(name), penalties.get(name, 0.0))
        if strategy.feedback
        else None
        for ending, name in strategy.notebooks.items()
    }


def _write(strategy: Strategy, student: str, texts: Mapping[str, str | None]) -> Files:
    """Write a submission's files with these texts; remove those that have none."""
    written, places = Files(), strategy.written_files(student)
    for file, text in texts.items():
        if text is None:
            places[file].unlink(missing_ok=True)
        else:
            written[file] = write_whole(places[file], text)
    return written


def write_whole(path: Path, text: str) -> tuple[str, int]:
    """Write a file, whole or not at all; return its SHA-256 and size."""
    content = text.encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.part")  # one name: what a killed run left, the next one overwrites
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
    return hashlib.sha256(content).hexdigest(), len(content)


def prepare_release(course: Course, lesson: str, records: Iterable[Record]) -> None:
    """Write the submission time and secret next to these submissions' pages, so that `nbgrader release_feedback` works.

    nbgrader's exchange derives a page's name from the submission's secret. `nbgrader submit` draws that secret and
    keeps it for the student, whose `nbgrader fetch_feedback` finds the page by it. If a file is missing, the exchange
    stops for the whole class, so each page gets both files; a submission that came another way gets a secret that
    nobody has.
    """
    for record in records:
        pages = course.feedback / record.student / lesson
        if any(pages.glob("*.html")):
            for name, text in ((timestamps.NAME, _time(record)), (SECRET, _secret(course, lesson, record.student))):
                with contextlib.suppress(OSError):
                    if (pages / name).read_bytes() == text.encode():
                        continue
                write_whole(pages / name, text)


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
