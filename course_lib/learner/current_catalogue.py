"""Finds the current exercises: those of the course in whose folder a notebook, a script or a terminal is."""

from __future__ import annotations

import sys
from pathlib import Path

from course_lib.exercises import COURSE, exercises_of
from course_lib.exercises.catalogue import CONFIG_NAME, Catalogue


def current_catalogue(*places: Path) -> Catalogue:
    """Return the exercises of the nearest course: that of the closest folder above with an `nbgrader_config.py`.

    If there is none, and in a folder named like one of its lessons, they are those of `course_lib.exercises`.

    Args:
        places: where to start; the first that is in a course counts. By default the working directory, then the
            script's folder.

    Raises:
        UnusableExercises: the course's setting cannot be used.
    """
    for place in places or _here():
        for folder in (place, *place.parents):
            if (folder / CONFIG_NAME).is_file():
                found = exercises_of(folder / CONFIG_NAME)
                return found if found.modules or COURSE.modules.keys().isdisjoint(place.parts) else COURSE
    return COURSE


def _here() -> list[Path]:
    script = getattr(sys.modules["__main__"], "__file__", None)
    places = [Path(script).resolve().parent] if script else []
    try:
        return [Path.cwd(), *places]
    except FileNotFoundError:  # it was removed
        return places
