"""Finds the library's solution of each exercise without importing the exercises, which sandboxes lack."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from course_lib.learner.reference_list import REFERENCES


def reference(exercise_id: str) -> Callable[..., Any]:
    """Return the library's function or class that does what an exercise asks for.

    Raises:
        LookupError: there is no such exercise, or its lesson withholds the solution here.
    """
    if exercise_id not in REFERENCES:
        raise LookupError(f"there is no exercise {exercise_id!r}")
    module, _, name = REFERENCES[exercise_id].rpartition(".")
    try:
        found: Callable[..., Any] = getattr(import_module(f"course_lib.{module}"), name)
    except ImportError:
        raise LookupError(f"{exercise_id} is what this lesson asks you to write: it is not handed out here") from None
    return found
