"""How platforms name what they deliver: by these names a download is known, wherever it lies."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Literal

Platform = Literal["moodle", "canvas", "gradescope", "github", "exchange", "mbox", "folder"]

MOODLE = re.compile(r"(?P<name>.*)_(?P<number>\d+)_assignsubmission_(?P<plugin>[a-z]+)(?:_(?P<rest>.*))?", re.S | re.I)
"""A folder's name, `Ada Lovelace_12345_assignsubmission_file_`, or a file's, which goes on with the file's own.

Moodle's `mod/assign/classes/downloader.php`, and before version 4.1 with an underscore at the end.
"""

CANVAS = re.compile(
    r"(?P<name>.+?)(?P<late>_LATE)?_(?P<number>\d+)_(?:(?P<file>\d+)_(?P<rest>.+)|(?P<kind>text|link)\.html)", re.S
)
"""A file's name, `lovelaceada_LATE_123_456_01_ols-1.ipynb`: 123 is the student, 456 the file.

Canvas's `lib/content_zipper.rb`.
"""

CANVAS_ANONYMOUS = re.compile(r"(?P<late>LATE_)?anon_(?P<number>[^_]+)_(?P<file>\d+)_(?P<rest>.+)", re.S)
"""The same, of an assignment that is graded anonymously."""

GRADESCOPE = re.compile(r"submission_(?P<number>\d+)")
"""A folder's name."""

GRADESCOPE_LIST = "submission_metadata.yml"
"""Beside those folders: who handed each of them in, and when."""

EXCHANGE = re.compile(
    r"(?P<student>.+)\+(?P<lesson>[^+]+)\+(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[^+]*)(?:\+(?P<random>[^+]*))?", re.S
)
"""A folder's name in nbgrader's exchange, below `inbound`; a student's id may hold a `+` itself."""


UNREAD: Mapping[str, re.Pattern[str]] = {
    "Blackboard": re.compile(r".*_attempt_\d{4}(?:-\d\d){5}(?:_[^/]*|\.txt)", re.S),
    "Brightspace": re.compile(r"(?:.*/)?\d+-\d+ - [^/]+ - [^/]+/.*", re.S),
    "Google Classroom": re.compile(r"(?:.*/)?[^/]+ - (?:Copy of|Kopie von|Copie de|Copia de) [^/]+", re.S),
    "ILIAS": re.compile(r"(?:.*/)?[^/]+_[^/]+_\d+/\d{14}_[^/]+", re.S),
    "Microsoft Teams": re.compile(r"(?:.*/)?[^/]+/[^/]+/Version \d+/.*", re.S),
    "Sakai": re.compile(r"(?:.*/)?[^/]+\([^/()]+\)/(?:Submission attachment\(s\)/.*|timestamp\.txt)", re.S),
}
"""The paths of files in downloads that nobody can read yet, by who makes them."""


def unread_platform(paths: Collection[str]) -> str:
    """Who has made a download of these files that nobody can read yet; empty where that cannot be told."""
    found = {name: sum(pattern.fullmatch(path) is not None for path in paths) for name, pattern in UNREAD.items()}
    name = max(found, key=lambda name: found[name])
    return name if 2 * found[name] > len(paths) else ""


def names_a_submission(path: str) -> bool:
    """Whether a part of a path is a name that a platform gives to somebody's submission."""
    *folders, file = path.split("/")
    return any(pattern.fullmatch(folder) for pattern in (MOODLE, GRADESCOPE, EXCHANGE) for folder in folders) or any(
        pattern.fullmatch(file) for pattern in (MOODLE, CANVAS, CANVAS_ANONYMOUS)
    )


def platform_of(paths: Iterable[str]) -> Platform | None:
    """The platform that files of these paths come from, as far as their names tell; None where they don't."""
    folders, files = set(), []
    for path in paths:
        *above, name = path.split("/")
        folders.update(above)
        files.append(name)
    return platform_by_names(folders, files)


def platform_by_names(folders: Collection[str], files: Collection[str]) -> Platform | None:
    """The platform that gives such names to folders and files; None where none does."""
    if GRADESCOPE_LIST in files or any(GRADESCOPE.fullmatch(name) for name in folders):
        return "gradescope"
    if any(MOODLE.fullmatch(name) for name in (*folders, *files)):
        return "moodle"
    if any(EXCHANGE.fullmatch(name) for name in folders):
        return "exchange"
    handed_in = [name for name in files if not name.lower().endswith(".csv")]
    canvas = sum(bool(CANVAS.fullmatch(name) or CANVAS_ANONYMOUS.fullmatch(name)) for name in handed_in)
    return "canvas" if canvas and 2 * canvas > len(handed_in) else None


def repository_of(name: str, lessons: Iterable[str]) -> tuple[str, str] | None:
    """The lesson and the account that a repository of GitHub Classroom is named after: `01-ols-ada`.

    None where its name does not begin like a lesson's.
    """
    for lesson in lessons:
        match = re.match("[-_ ]".join(map(re.escape, re.split("[-_ ]+", lesson))) + "[-_ ](?=.)", name, re.I)
        if match:
            return lesson, name[match.end() :]
    return None


def letters_of(name: str) -> str:
    """A name without what people write differently: capitals, spaces, dashes."""
    return re.sub(r"[\W_]+", "", name).casefold()
