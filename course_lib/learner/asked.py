"""Finds the exercise that a learner means by its id, or else a sentence that helps to find it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from course_lib.exercises.catalogue import UnknownName
from course_lib.judging.errors import UnusableExercises
from course_lib.judging.last_run import running_shell
from course_lib.judging.render import say
from course_lib.learner.current_catalogue import current_catalogue

if TYPE_CHECKING:
    from course_lib.judging.exercise import Exercise


def asked_for(name: object, call: str) -> Exercise | None:
    """Return the exercise that a learner asks about; if there is none, print what to ask for.

    Args:
        name: what the learner passed: an id, a function's name, the function itself, or nothing.
        call: the function that the learner called, such as "hint".
    """
    wanted = name if isinstance(name, str) else str(getattr(name, "__name__", ""))
    if not wanted:
        say(_which(call))
        return None
    try:
        return current_catalogue().find(wanted)
    except UnknownName as unknown:
        say(f"{NOTHING[call]}: {unknown if unknown.near else _explained(wanted, unknown)}")
    except UnusableExercises as problem:
        say(f"{NOTHING[call]}, which is not your fault: {problem}.")
    return None


NOTHING = {
    "case": "No case is handed out",
    "check": "Nothing was checked",
    "hint": "No hint was opened",
    "solution": "No solution is shown",
}
"""The result of a call without an exercise."""


def current_lesson() -> str:
    """Return the lesson of this notebook or script, by its folder or name; else the lesson last worked in."""
    from course_lib.learner.progress_map import progress_map

    places = [Path.cwd().name] if running_shell() is not None else []
    script = getattr(sys.modules["__main__"], "__file__", None)
    places += [Path(script).stem] if script else []
    return next((place for place in places if place in current_catalogue().modules), progress_map().detailed.lesson)


def _explained(wanted: str, unknown: UnknownName) -> str:
    """Explain that a name resembles no exercise's."""
    if "." in wanted and current_catalogue().folder is None:
        return (
            f"no exercise {wanted!r} is known here. Is it from another course? Then keep the notebook in the folder "
            "that it came in, which holds what its checks need"
        )
    listed = ", ".join(exercise.id for exercise in current_catalogue().of_lesson(current_lesson()))
    return f"{unknown} This lesson has {listed}."


def _which(call: str) -> str:
    from course_lib.learner.progress_map import progress_map

    shown = progress_map(current_lesson()).detailed
    exercise = shown.next or shown.exercises[0]
    return (
        f"{NOTHING[call]}: give the id of the exercise, which is below its heading. "
        f'For “{exercise.title}” that is {call}("{exercise.id}").'
    )
