"""Finds submissions in places where no lesson looks; grading would skip them silently."""

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from autograder.course.course import Course
from autograder.platforms.platform import letters_of
from autograder.platforms.registry import names_a_submission, platform_by_names
from autograder.words import printable

_HANDED_IN = re.compile(r"\.(?:ipynb(?:\.(?:txt|json|download))?|zip|gz|tgz|tar|mbox)$", re.I)
_DELIVERED = re.compile(r"\.(?:zip|tar|tgz|tar\.gz|mbox)$", re.I)


def misplaced(course: Course, lesson: str) -> list[str]:
    """Return the paths in `submitted/` that seem meant for this lesson, or for an unknown one, sorted.

    These are notebooks and archives outside all lessons' folders, folders whose name is almost the lesson's (`01-OLS`
    for `01_ols`), and folders named as a platform names a submission.
    """
    if not course.submitted.is_dir():
        return []
    return sorted(printable(path) for path in _misplaced(course, lesson))


def how_to_collect(course: Course) -> str:
    """Return a clause with the command that collects an unsorted download in `submitted/`; empty if there is none."""
    found = _raw_download(course) if course.submitted.is_dir() else None
    if found is None:
        return ""
    path = os.path.relpath(found)
    what = "is a download" if found != course.submitted else "holds a download"
    return f"{printable(path)} {what}: run `katze collect {printable(shlex.quote(path))}`"


def _raw_download(course: Course) -> Path | None:
    """Return what to collect in `submitted/`: all of it, a folder in it, or an archive."""
    folders, files = _entries(course.submitted)
    if platform_by_names(folders, files, course.lessons()):
        return course.submitted
    for name in folders:
        if platform_by_names(*_entries(course.submitted / name)):
            return course.submitted / name
    archive = next((name for name in files if _DELIVERED.search(name)), None)
    return course.submitted / archive if archive else None


def _misplaced(course: Course, lesson: str) -> Iterator[str]:
    folders, files = _entries(course.submitted)
    yield from filter(_HANDED_IN.search, files)
    for name in folders:
        if names_a_submission(f"{name}/") and not (course.submitted / name / lesson).is_dir():
            yield name
            continue
        inner_folders, inner_files = _entries(course.submitted / name)
        for inner in inner_folders:
            is_nearly = inner != lesson and letters_of(inner) == letters_of(lesson)
            if is_nearly or names_a_submission(f"{inner}/"):
                yield f"{name}/{inner}"
        yield from (f"{name}/{inner}" for inner in filter(_HANDED_IN.search, inner_files))


def _entries(folder: os.PathLike[str]) -> tuple[list[str], list[str]]:
    """Return the folders and the files in a folder, each sorted, without hidden ones; do not follow links."""
    found: tuple[list[str], list[str]] = [], []
    if os.access(folder, os.R_OK | os.X_OK):
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if not entry.name.startswith("."):
                    found[not entry.is_dir(follow_symlinks=False)].append(entry.name)
    return found
