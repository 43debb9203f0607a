"""Submissions where no lesson looks for them: otherwise they would be passed over without a word."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from autograder.course.course import Course
from autograder.platforms.known.github import repository_of
from autograder.platforms.platform import letters_of
from autograder.platforms.registry import named, names_a_submission, platform_by_names
from autograder.words import printable

_HANDED_IN = re.compile(r"\.(?:ipynb(?:\.(?:txt|json|download))?|zip|gz|tgz|tar|mbox)$", re.I)
_DELIVERED = re.compile(r"\.(?:zip|tar|tgz|tar\.gz|mbox)$", re.I)


def misplaced(course: Course, lesson: str) -> list[str]:
    """What in `submitted/` was meant for this lesson, or for one that can't be told; paths below it, sorted.

    A notebook or an archive outside all lessons' folders; a folder whose name is nearly the lesson's, as
    `01-OLS` is nearly `01_ols`; and folders that are named as a platform names a submission.
    """
    if not course.submitted.is_dir():
        return []
    return sorted(printable(path) for path in _misplaced(course, lesson))


def how_to_collect(course: Course) -> str:
    """What to do with a download that lies in `submitted/` as a platform delivers it, in a clause with the command.

    Empty where there is none.
    """
    found = _raw_download(course) if course.submitted.is_dir() else None
    if found is None:
        return ""
    path = os.path.relpath(found)
    what = "is a download" if found != course.submitted else "holds a download"
    return f"{printable(path)} {what}: run `katze collect {printable(shlex.quote(path))}`"


def _raw_download(course: Course) -> Path | None:
    """What to collect in `submitted/`: an archive, a folder in it, or the whole of it."""
    entries = _entries(course.submitted)
    folders = [name for name, is_folder in entries if is_folder]
    files = [name for name, is_folder in entries if not is_folder]
    lessons = course.lessons()
    if platform_by_names(folders, files) or any(repository_of(name, lessons) for name in folders):
        return course.submitted
    for name in sorted(folders):
        inside = _entries(course.submitted / name)
        inner = [one for one, is_folder in inside if is_folder]
        if platform_by_names(inner, [one for one, is_folder in inside if not is_folder]):
            return course.submitted / name
    archive = next((name for name in sorted(files) if _DELIVERED.search(name)), None)
    return course.submitted / archive if archive else None


def _misplaced(course: Course, lesson: str) -> Iterator[str]:
    for name, is_folder in _entries(course.submitted):
        if not is_folder:
            if _HANDED_IN.search(name):
                yield name
            continue
        if names_a_submission(f"{name}/") and not (course.submitted / name / lesson).is_dir():
            yield name
            continue
        for inner, is_inner_folder in _entries(course.submitted / name):
            is_nearly = inner != lesson and letters_of(inner) == letters_of(lesson)
            is_a_platform_s = named("gradescope").has_named([inner], [])
            if is_nearly or is_a_platform_s if is_inner_folder else _HANDED_IN.search(inner):
                yield f"{name}/{inner}"


def _entries(folder: os.PathLike[str]) -> list[tuple[str, bool]]:
    """The readable names in a folder, and which are folders; hidden ones are left out, links are not followed."""
    if not os.access(folder, os.R_OK | os.X_OK):
        return []
    with os.scandir(folder) as entries:
        return [(one.name, one.is_dir(follow_symlinks=False)) for one in entries if not one.name.startswith(".")]
