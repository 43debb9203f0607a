"""Collects the files of a course's own exercises, for places without its folder: another machine, an archive."""

import sys
from collections.abc import Iterator
from pathlib import Path

import autograder
import course_lib
from course_lib.exercises.catalogue import Catalogue


def files_of_own(exercises: Catalogue, lesson: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files that a lesson's exercises have imported from the course's folder: modules and whole packages.

    Returns:
        The files, by their paths in that folder; none if the exercises are installed.

    Raises:
        UnusableExercises: the exercises cannot be used.
    """
    folder = exercises.folder
    if folder is None:
        return
    exercises.of_lesson(lesson)  # imports them
    for name, module in sorted(sys.modules.items()):
        if "." not in name and module not in (course_lib, autograder):
            for path in _files(folder / name, module):
                yield path.relative_to(folder).as_posix(), path.read_bytes()


def _files(place: Path, module: object) -> list[Path]:
    """Return the files of an imported module or package, if it was imported from this place."""
    if str(place) in getattr(module, "__path__", ()):
        return sorted(path for path in place.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    file = place.with_suffix(".py")
    return [file] if str(file) == getattr(module, "__file__", None) else []
