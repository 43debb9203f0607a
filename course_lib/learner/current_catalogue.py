"""Finds the current exercises: those of the course in whose folder a notebook, a script or a terminal is."""

import sys
from pathlib import Path

from course_lib.exercises import COURSE, exercises_of
from course_lib.exercises.catalogue import CONFIG_NAME, Catalogue
from course_lib.learner.folder import working_folder


def current_catalogue(*places: Path) -> Catalogue:
    """Return the exercises of the nearest course: that of the closest folder above with an `nbgrader_config.py`.

    If there is none, and in a folder named like one of its lessons, they are those of `course_lib.exercises`.

    Args:
        places: where to start; the first that is in a course counts. By default the working directory, then the
            script's folder.

    Raises:
        UnusableExercises: the course's setting cannot be used.
    """
    script = getattr(sys.modules["__main__"], "__file__", None)
    here = (working_folder(), Path(script).resolve().parent if script else None)
    for place in places or filter(None, here):
        for folder in (place, *place.parents):
            if (folder / CONFIG_NAME).is_file():
                found = exercises_of(folder / CONFIG_NAME)
                return found if found.modules or COURSE.modules.keys().isdisjoint(place.parts) else COURSE
    return COURSE
