"""Reads when a submission was handed in, from the `timestamp.txt` next to it.

nbgrader's exchange writes that file. In submissions from elsewhere, such as an archive or a folder, a student may have
written anything into it. nbgrader's formgrader takes the text for a time, and answers "500" for the whole lesson if it
isn't one; `mend_formgrader` makes it read the file as we do.
"""

import os
import re
import sys
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any

from autograder.errors import Unreadable
from autograder.intake.archives import Refused
from autograder.intake.folders import open_folder, read_file
from autograder.words import shown

NAME = "timestamp.txt"
CHARACTERS = 60
"""A longer text is not a time."""

_FILE_BYTES = 1000
_OFFSET = re.compile(r"\s*([+-]\d{2}:?\d{2})\s*$")


def opened(folder: Path) -> AbstractContextManager[int]:
    """Open a submission's folder, `submitted/<student>/<lesson>`, as a descriptor.

    Raises:
        Unreadable: it or the student's folder is a link.
        OSError: it cannot be opened.
    """
    return open_folder(None, str(folder.parent), folder.name)


def stated(folder: int) -> str:
    """Return the first line of the file in a submission's folder; empty if there is no readable file."""
    try:
        content = read_file(folder, NAME, _FILE_BYTES)
    except Refused:
        return ""
    lines = content.decode("utf-8", "replace").splitlines()
    return lines[0].strip()[:CHARACTERS] if lines else ""


def stated_in(folder: Path) -> str:
    """Return the first line of the file in a submission's folder, wherever that is; empty if it cannot be read."""
    try:
        with opened(folder) as inside:
            return stated(inside)
    except (OSError, Unreadable):
        return ""


def moment(timestamp: datetime | str | None) -> datetime | None:
    """Return a time in UTC without a zone, as nbgrader stores it; None for text that is not a time."""
    if not timestamp or (isinstance(timestamp, str) and len(timestamp) > CHARACTERS):
        return None
    from nbgrader.utils import parse_utc  # importing nbgrader takes seconds

    try:
        if isinstance(timestamp, str) and _OFFSET.search(timestamp):  # nbgrader reads +0200 as 200 seconds
            timestamp = datetime.fromisoformat(_OFFSET.sub(r"\1", timestamp))
        found = parse_utc(timestamp)
    except Exception:  # students write the file, and the parser fails in many ways
        return None
    return found if isinstance(found, datetime) else None


def fault(folder: Path) -> str:
    """Say what is wrong with the file in a submission's folder, and what to do; empty if it is fine or missing."""
    try:
        with opened(folder) as inside:
            text = stated(inside)
            if NAME not in os.listdir(inside) or moment(text) is not None:
                return ""
    except (OSError, Unreadable):
        return ""
    said = f"says {shown(text)!r}, which is not a time" if text else "holds no time"
    return f"{NAME} {said}: write one there, such as 2026-11-20 17:50:00 UTC, or remove the file"


def mend_formgrader() -> None:
    """Make nbgrader's formgrader, if it is loaded, read times as we do and skip what is not a time."""
    api = sys.modules.get("nbgrader.apps.api")
    if api is not None:
        api.NbGraderAPI.get_submitted_timestamp = _submitted_timestamp


def _submitted_timestamp(api: Any, assignment_id: str, student_id: str) -> datetime | None:
    """Replace nbgrader's `NbGraderAPI.get_submitted_timestamp`."""
    courses = api.coursedir
    folder = Path(courses.format_path(courses.submitted_directory, student_id, assignment_id))
    try:
        with opened(folder) as inside:
            return moment(stated(inside))
    except (OSError, Unreadable):
        return None
