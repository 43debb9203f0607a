"""Copies the files beside the notebooks, data and modules that cells read. The course's replace the student's, as in
nbgrader.

A student's own files are copied into their sandboxes alone: no link is followed, and nothing of them is opened
elsewhere.
"""

from __future__ import annotations

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
"""What nbgrader passes over, where a course says nothing else."""

DEEPEST = 8
"""The deepest folder of a student's that is copied; the submission's own is 1."""


def of_course(course: Course, assignment: str) -> dict[str, Path]:
    """The files that every submission gets, by their paths below the assignment's folder."""
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
    """A digest of names and contents."""
    digest = hashlib.sha256()
    for name, path in files.items():
        digest.update(f"{name!r} {sha256_of(path)} ".encode())
    return digest.hexdigest()


def copy_course_files(files: Mapping[str, Path], target: Path, editable: Collection[str] = ()) -> None:
    """Copy the course's files, except those that the student may change, and has."""
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
    """Copy what a student has handed in beside notebooks.

    Args:
        course: says what is passed over.
        submission: the folder.
        target: an empty folder.
        limits: how much it may be.

    Returns:
        What was left out, a sentence each.
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
    """The files of the course that students may change, as `nbgrader_config.py` says."""
    table = course.config.get("Autograde", {}).get("exclude_overwriting", {})
    return set(table.get(assignment, [])) if isinstance(table, dict) else set()


def _files(inside: int, ignored: Collection[str]) -> Iterator[tuple[str, str, int]]:
    """The files in an open folder: the way to each, its name, and a descriptor of its folder."""
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
