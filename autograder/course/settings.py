"""Reads a course's settings from `nbgrader_config.py`, on top of Jupyter's own, and checks them before anything runs.

    c.Katze.exercises = {"01_ols": "ols_exercises"}  # a module in the course's folder for each lesson
    c.Katze.limits = {"submission_seconds": 120, "memory_bytes": 4 << 30}
    c.Katze.exercise_limits = {"ols.fit": {"call_seconds": 20}}
    c.Katze.system_calls = "deny-list"
    c.Katze.solutions = False  # students cannot ask for the course's solutions
    c.Katze.slides = False  # lessons leave out what they say about a lecture's slides

The names are the attributes of `Limits` and, for an exercise, of `Allowance`. Seconds are processor time, except for
`wall_seconds`. A sandbox gets the time of a whole submission unless `processor_seconds` says otherwise. Use the
deny-list of system calls on a machine where `katze doctor` names a call that the allow-list lacks.
"""

import dataclasses
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jupyter_core.paths import jupyter_config_path
from traitlets.config.loader import Config, JSONFileConfigLoader, PyFileConfigLoader

from autograder.errors import BadInput
from autograder.limits import Allowance, Limits
from course_lib.exercises import exercises_of
from course_lib.exercises.catalogue import CONFIG_NAME, SETTING, Catalogue
from course_lib.judging.errors import UnusableExercises

_INTERNAL = ("frame_bytes", "memory_ceiling_bytes", "system_calls")
_SYSTEM_CALLS = ("allow-list", "deny-list")
_LEAST = {"memory_bytes": 64 << 20, "open_files": 16, "wall_factor": 1}  # the minimum for an empty sandbox
_MOST = {"output_bytes": 4 << 20}  # the capacity of a message
_WHOLE_NUMBERS = {field.name for field in dataclasses.fields(Limits) if field.type is int}


def jupyter_settings() -> Config:
    """Read `jupyter_config` and `nbgrader_config` from Jupyter's folders (`jupyter --paths`), as nbgrader does before
    it reads a course's. A user's settings override the environment's and the system's.

    Raises:
        BadInput: one of these files cannot be read.
    """
    config = Config()
    for name in ("jupyter_config", "nbgrader_config"):
        for folder in reversed(jupyter_config_path()):
            for file in (Path(folder, f"{name}.py"), Path(folder, f"{name}.json")):
                if file.is_file():
                    config.merge(read_settings(file))
    return config


def read_settings(file: Path) -> Config:
    """Read a settings file.

    Raises:
        BadInput: it cannot be read.
    """
    loader = JSONFileConfigLoader if file.suffix == ".json" else PyFileConfigLoader
    try:
        return loader(file.name, path=str(file.parent)).load_config()
    except Exception as error:  # the file is a program and may fail in any way
        raise BadInput(f"{file} cannot be read: {type(error).__name__}: {error}") from error


def text_from(config: Config, name: str, default: str, pattern: str = ".*", wanted: str = "a string") -> str:
    """Return a setting that is text.

    Args:
        name: the setting with its section, such as "Katze.repository".
        default: its value if it is not set.
        pattern: the allowed values; `wanted` describes them in words.

    Raises:
        BadInput: it has another value.
    """
    section, _, key = name.partition(".")
    value = config.get(section, {}).get(key, default)
    if not isinstance(value, str) or not re.fullmatch(pattern, value, re.S):
        raise BadInput(f"{CONFIG_NAME}: c.{name} must be {wanted}, not {value!r}")
    return value


def limits_from(config: Config) -> tuple[Limits, dict[str, Allowance]]:
    """Return the limits of each submission, and what single exercises may use instead.

    Raises:
        BadInput: a name is unknown, or a value is not a limit.
    """
    section = config.get("Katze", {})
    known = [field.name for field in dataclasses.fields(Limits) if field.name not in _INTERNAL]
    settings = _checked("c.Katze.limits", section.get("limits", {}), known)
    limits = Limits(**settings)
    if "processor_seconds" not in settings:
        most = max(limits.processor_seconds, math.ceil(limits.submission_seconds))
        limits = dataclasses.replace(limits, processor_seconds=most)
    allowances = {}
    for exercise, settings in _table("c.Katze.exercise_limits", section.get("exercise_limits", {})).items():
        known = [field.name for field in dataclasses.fields(Allowance)]
        allowances[exercise] = Allowance(**_checked(f"c.Katze.exercise_limits[{exercise!r}]", settings, known))
    most = max([limits.memory_bytes, *(allowance.memory_bytes or 0 for allowance in allowances.values())])
    calls = section.get("system_calls", limits.system_calls)
    if calls not in _SYSTEM_CALLS:
        raise BadInput(f"c.Katze.system_calls must be one of {', '.join(map(repr, _SYSTEM_CALLS))}, not {calls!r}")
    return dataclasses.replace(limits, memory_ceiling_bytes=most, system_calls=calls), allowances


def exercises_from(file: Path, config: Config) -> Catalogue:
    """Return the lessons' exercises, for a course's `nbgrader_config.py`; none in a plain nbgrader course.

    Raises:
        BadInput: the setting is not a table of lessons and modules; or it is not a literal, as students' `check` needs.
    """
    try:
        found = exercises_of(file)
    except UnusableExercises as problem:
        raise BadInput(str(problem)) from None
    if config.get("Katze", {}).get("exercises") != (found.modules if found.folder is not None else None):
        raise BadInput(
            f'{file.name}: write {SETTING} = {{"01_ols": "ols_exercises"}} once, at the left margin and in this '
            "form: students' checks read it without running the file"
        )
    return found


def shows_from(config: Config, name: str) -> bool:
    """Return whether students see a part of the course, "solutions" or "slides"; by default they do.

    Raises:
        BadInput: it is neither True nor False.
    """
    shown = config.get("Katze", {}).get(name, True)
    if not isinstance(shown, bool):
        raise BadInput(f"c.Katze.{name} must be True or False, not {shown!r}")
    return shown


def _checked(where: str, settings: Any, known: list[str]) -> dict[str, Any]:
    for name, value in _table(where, settings).items():
        if name not in known:
            raise BadInput(f"{where}: there is no limit {name!r}; there are: {', '.join(known)}")
        kinds = (int,) if name in _WHOLE_NUMBERS else (int, float)
        if type(value) not in kinds or not (value > 0 and math.isfinite(value)):
            wanted = "a whole number" if name in _WHOLE_NUMBERS else "a number"
            raise BadInput(f"{where}: {name} must be {wanted} above 0, not {value!r}")
        if value < _LEAST.get(name, 0) or value > _MOST.get(name, math.inf):
            bound = f"at least {_LEAST[name]}" if name in _LEAST else f"at most {_MOST[name]}"
            raise BadInput(f"{where}: {name} must be {bound}, not {value!r}")
    return dict(settings)


def _table(where: str, settings: Any) -> Mapping[str, Any]:
    if not isinstance(settings, dict) or not all(isinstance(name, str) for name in settings):
        raise BadInput(f"{where} must be a dict with names for keys, not {settings!r}")
    return settings
