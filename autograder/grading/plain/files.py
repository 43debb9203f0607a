"""Copies the files that cells read, data and modules next to the notebooks. As in nbgrader, the course's files replace
the student's.

A student's own files are copied only into that student's sandboxes: no link is followed, and they are opened nowhere
else.
"""

import contextlib
import fnmatch
import hashlib
import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from autograder.course.course import Course
from autograder.intake import timestamps
from autograder.intake.archives import Refused
from autograder.intake.folders import read_file
from autograder.limits import Limits
from autograder.words import shown
from course_lib.ground.files import sha256_of

IGNORED = (".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback")
"""Files that nbgrader ignores by default."""

DEEPEST = 8
"""Deepest level of a student's folders to copy; the submission's own folder is level 1."""


def of_course(course: Course, assignment: str) -> dict[str, Path]:
    """Return the files that every submission gets, by path relative to the assignment's folder."""
    folder = course.source / assignment
    if not any(folder.glob("*.ipynb")):
        folder = course.release / assignment
    ignored = (*_ignored(course), "*.ipynb")
    found = {}
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _is_ignored(name, ignored))
        for name in sorted(names):
            if not _is_ignored(name, ignored):
                path = Path(root, name)
                found[path.relative_to(folder).as_posix()] = path
    return found


def digest(files: Mapping[str, Path]) -> str:
    """Return a digest of names and contents."""
    digest = hashlib.sha256()
    for name, path in files.items():
        digest.update(f"{name!r} {sha256_of(path)} ".encode())
    return digest.hexdigest()


def copy_course_files(files: Mapping[str, Path], target: Path, editable: Collection[str] = ()) -> None:
    """Copy the course's files, except those that students may change and this one has."""
    for name, path in files.items():
        place = target / name
        if name in editable and place.is_file():
            continue
        if place.is_dir():  # of the student's, in the way
            shutil.rmtree(place)
        for parent in reversed(place.relative_to(target).parents):
            if (target / parent).is_file():
                (target / parent).unlink()
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        shutil.copyfile(path, place)


def copy_student_files(course: Course, submission: Path, target: Path, limits: Limits) -> list[str]:
    """Copy the files that a student handed in next to the notebooks.

    Args:
        course: says which files to ignore.
        submission: the folder.
        target: an empty folder.
        limits: their size and number.

    Returns:
        A sentence for each file left out.
    """
    ignored = (*_ignored(course), "*.ipynb")
    left, number, left_out = limits.folder_bytes, 0, []
    with timestamps.opened(submission) as inside:
        for way, name, handle in _files(inside, ignored):
            if number == limits.files:
                left_out.append(f"There are more than {limits.files} files; the others were left out.")
                break
            number += 1
            try:
                content = read_file(handle, name, min(left, limits.file_bytes))
            except Refused as refusal:
                left_out.append(f"{shown(name)} was left out: {refusal.reason}.")
                continue
            left -= len(content)
            place = target / way
            with contextlib.suppress(OSError):  # a name that this system's own folder for temporary files has not
                place.mkdir(parents=True, exist_ok=True)
                (place / name).write_bytes(content)
    return left_out


def exclude_overwriting(course: Course, assignment: str) -> Collection[str]:
    """Return the course's files that students may change, from `nbgrader_config.py`."""
    table = course.config.get("Autograde", {}).get("exclude_overwriting", {})
    return set(table.get(assignment, [])) if isinstance(table, dict) else set()


def _files(inside: int, ignored: Collection[str]) -> Iterator[tuple[str, str, int]]:
    """Yield the files in an open folder: each one's path, its name, and a descriptor of its folder."""
    for way, folders, names, handle in os.fwalk(".", dir_fd=inside, follow_symlinks=False):
        depth = len(Path(way).parts) + 1
        folders[:] = sorted(name for name in folders if depth < DEEPEST and not _is_ignored(name, ignored))
        for name in sorted(names):
            if not _is_ignored(name, ignored):
                yield way, name, handle


def _ignored(course: Course) -> tuple[str, ...]:
    said = course.config.get("CourseDirectory", {}).get("ignore", IGNORED)
    return tuple(map(str, said)) if isinstance(said, (list, tuple)) else IGNORED


def _is_ignored(name: str, patterns: Collection[str]) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)
