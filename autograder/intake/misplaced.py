"""Submissions where no lesson looks for them: otherwise they would be passed over without a word."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from autograder.course.course import Course
from autograder.intake.delivered import letters_of
from autograder.words import printable

_HANDED_IN = re.compile(r"\.(?:ipynb(?:\.(?:txt|json|download))?|zip|gz)$", re.I)


def misplaced(course: Course, lesson: str) -> list[str]:
    """What in `submitted/` was meant for this lesson, or for one that can't be told; paths below it, sorted.

    A notebook or an archive outside all lessons' folders; and a folder whose name is nearly the lesson's, as
    `01-Attention` is nearly `01_attention`.
    """
    if not course.submitted.is_dir():
        return []
    return sorted(printable(path) for path in _misplaced(course, lesson))


def _misplaced(course: Course, lesson: str) -> Iterator[str]:
    for name, is_folder in _entries(course.submitted):
        if not is_folder:
            if _HANDED_IN.search(name):
                yield name
            continue
        for inner, is_inner_folder in _entries(course.submitted / name):
            is_nearly = inner != lesson and letters_of(inner) == letters_of(lesson)
            if is_nearly if is_inner_folder else _HANDED_IN.search(inner):
                yield f"{name}/{inner}"


def _entries(folder: os.PathLike[str]) -> list[tuple[str, bool]]:
    """The readable names in a folder, and which are folders; hidden ones are left out, links are not followed."""
    if not os.access(folder, os.R_OK | os.X_OK):
        return []
    with os.scandir(folder) as entries:
        return [(one.name, one.is_dir(follow_symlinks=False)) for one in entries if not one.name.startswith(".")]
