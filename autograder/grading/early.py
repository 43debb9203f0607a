"""Starts sandboxes before the grader itself is ready: both import torch, which takes equally long."""

import contextlib
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from autograder.box.confinement.container import ContainerFailed
from autograder.box.confinement.levels import Level
from autograder.box.confinement.selftest import choose_level
from autograder.box.fork_server.root import BoxRoot
from autograder.course.course import Course
from autograder.errors import BadInput


@contextlib.contextmanager
def begun_early(
    course: Course, lesson: str, students: Collection[str] | None, min_level: Level | None, workers: int, force: bool
) -> Iterator[BoxRoot | None]:
    """Start the fork server early if sandboxes will be needed, for the duration of the block; yield None if that is not
    known yet.

    Args:
        course: the course.
        lesson: the assignment's folder name.
        students: grade only these; None for everyone who submitted.
        min_level: the weakest level to accept.
        workers: the largest number of sandboxes at once.
        force: whether everything is graded, changed or not.
    """
    root = None
    if sys.platform.startswith("linux") and (force or looks_changed(course, lesson, students)):
        with contextlib.suppress(BadInput, ContainerFailed):  # said when it is really begun
            root = BoxRoot(choose_level(min_level), course.limits, workers)
    with root or contextlib.nullcontext():
        yield root


def looks_changed(course: Course, lesson: str, students: Collection[str] | None) -> bool:
    """Guess whether anything was handed in since the gradebook was written, so that slow work can start early."""
    submitted = course.submitted
    names = [path.name for path in submitted.iterdir()] if students is None and submitted.is_dir() else students or ()
    folders = [submitted / name / lesson for name in names]
    if not isinstance(course.gradebook, Path) or not course.gradebook.is_file():
        return any(folder.is_dir() for folder in folders)
    written = course.gradebook.stat().st_mtime
    return any(folder.is_dir() and folder.stat().st_mtime > written for folder in folders)
