"""Which exercises a course has: a module for each lesson, with `EXERCISES` in it.

    # nbgrader_config.py
    c.Katze.exercises = {"01_ols": "ols_exercises"}  # ols_exercises.py, or ols_exercises/, in the course's folder

A course that sets nothing has those of `course_lib.exercises` if its lessons are from there, and else none. The setting
is read as text: what a student's `check` looks up runs nothing of the course's but the exercises themselves. A module
is imported when somebody first asks for its lesson, and looked through then.
"""

from __future__ import annotations

import ast
import difflib
import functools
import importlib
import importlib.util
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from course_lib.judging.errors import UnusableExercises

if TYPE_CHECKING:
    from course_lib.judging.exercise import Exercise

CONFIG_NAME = "nbgrader_config.py"
"""The file in a course's folder that has the setting."""

SETTING = "c.Katze.exercises"

NO_EXERCISES = (
    f"this course has no exercises: {SETTING} in its {CONFIG_NAME} names none; "
    "`katze autograde ASSIGNMENT` grades the test cells of a plain nbgrader assignment"
)
"""What is said where somebody asks for them."""

_SIMILAR = 0.5
"""How similar a name must be to one that was asked for, from 0 to 1, to be offered in its place."""

_ID = re.compile(r"[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


class UnknownName(KeyError):
    """There is no exercise, or no lesson, of this name.

    Attributes:
        message: says so, and what was perhaps meant.
        near: the names that are similar, or that another edition has; where there are any, the message says enough.
    """

    def __init__(self, message: str, near: list[str]) -> None:
        self.message, self.near = message, near
        super().__init__(message)

    def __str__(self) -> str:
        """The message itself; a KeyError would put it in quotes."""
        return self.message


@dataclass(frozen=True)
class Catalogue:
    """The exercises of a course. It holds names only, and can be sent to another process.

    Attributes:
        modules: the module of each lesson's exercises, in the order of the lessons.
        folder: the course's folder, where these modules are; None where they are installed.
        titles: what lessons are called; also of lessons that this edition of the course does not have. In a course's
            folder a module may say it in `TITLE`.
        seconds: how long a lesson's cells run, all together.
        written: tasks that a person reads, with their points, by their ids "lesson.task"; None where each module says
            which in `WRITTEN`.
        lacking: what Colab does not have, for lessons that import from a package of `course_lib`, by that package.
    """

    modules: Mapping[str, str] = field(hash=False)
    folder: Path | None = None
    titles: Mapping[str, str] = field(default_factory=dict, hash=False)
    seconds: Mapping[str, int] = field(default_factory=dict, hash=False)
    written: Mapping[str, int] | None = field(default=None, hash=False)
    lacking: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def all(self) -> list[Exercise]:
        """Every exercise, in lesson order.

        Raises:
            UnusableExercises: those of a lesson cannot be used, or two have one id.
        """
        found = [exercise for lesson in self.modules for exercise in self.of_lesson(lesson)]
        _check_one_each(found, "")
        return found

    def of_lesson(self, lesson: str) -> list[Exercise]:
        """A lesson's exercises, in its own order.

        Args:
            lesson: the folder's name, such as "01_ols".

        Raises:
            UnknownName: no lesson has this name.
            UnusableExercises: its exercises cannot be used.
        """
        if not self.modules:
            raise UnknownName(NO_EXERCISES, [lesson])
        listed = ", ".join(self.modules)
        if lesson not in self.modules and lesson in self.titles:
            raise UnknownName(f"lesson {lesson!r} is not in this edition of the course; there are {listed}.", [lesson])
        if lesson not in self.modules:
            near = difflib.get_close_matches(lesson, self.modules, n=3, cutoff=_SIMILAR)
            meant = f"did you mean {' or '.join(near)}?" if near else f"there are {listed}."
            raise UnknownName(f"no lesson {lesson!r}; {meant}", near)
        return list(_exercises(self.folder, lesson, self.modules[lesson]))

    def named(self, names: Iterable[str]) -> list[Exercise]:
        """The exercises of these names, each once: a lesson stands for all its exercises.

        Args:
            names: lessons and exercises' ids.

        Raises:
            UnknownName: there is no exercise, or no lesson, of one of these names.
            UnusableExercises: those of a lesson cannot be used.
        """
        found = (
            exercise for name in names for exercise in (self.of_lesson(name) if "." not in name else [self.find(name)])
        )
        return list({exercise.id: exercise for exercise in found}.values())

    def find(self, exercise_id: str) -> Exercise:
        """The exercise of this id. A lesson that is called like the name before the dot is looked at first.

        Args:
            exercise_id: such as "ols.slope", of lesson "01_ols".

        Raises:
            UnknownName: no exercise has this id.
            UnusableExercises: those of a lesson cannot be used.
        """
        own = [lesson for lesson in (*self.titles, *self.modules) if _called(lesson) == exercise_id.partition(".")[0]]
        for lesson in dict.fromkeys([*own, *self.modules]):
            for exercise in self.of_lesson(lesson):
                if exercise.id == exercise_id:
                    return exercise
        raise self._unknown(exercise_id)

    def written_in(self, lesson: str) -> dict[str, int]:
        """A lesson's tasks that a person reads, with their points."""
        if self.written is None:
            return _written(lesson, self._of_module(lesson, "WRITTEN"))
        return {name: points for name, points in self.written.items() if name.partition(".")[0] == _called(lesson)}

    def all_written(self) -> dict[str, int]:
        """Every task that a person reads, with its points."""
        if self.written is not None:
            return dict(self.written)
        return {name: points for lesson in self.modules for name, points in self.written_in(lesson).items()}

    def moved_in(self, lesson: str) -> dict[str, str]:
        """A lesson's exercises of earlier versions that it no longer has, each with the one that took its place, or "".

        Its module lists them in `MOVED`.

        Raises:
            UnusableExercises: that is no table of ids.
        """
        found = self._of_module(lesson, "MOVED") or {}
        if not isinstance(found, dict) or not all(isinstance(one, str) for item in found.items() for one in item):
            raise UnusableExercises(f'{lesson}: MOVED is a dict of ids, such as {{"ols.fit": "ols.slope"}}')
        return dict(found)

    def title(self, lesson: str) -> str:
        """Return a lesson's title; without one, its folder's name in words.

        Raises:
            UnusableExercises: its exercises cannot be imported.
        """
        number, _, name = lesson.partition("_")
        told = self.titles.get(lesson) or (self._of_module(lesson, "TITLE") if self.folder is not None else "")
        return str(told or (name if number.isdigit() else lesson).replace("_", " ").capitalize())

    def _of_module(self, lesson: str, name: str) -> object:
        """Return what a lesson's module says besides its exercises; None if nothing."""
        return getattr(_imported(self.folder, self.modules[lesson]), name, None) if lesson in self.modules else None

    def _unknown(self, name: str) -> UnknownName:
        """Explain that a name is no exercise's id."""
        if name in self.all_written():
            said = "is read by a person: it has no check and no hints. Write your answer into its cell."
            return UnknownName(f"{name} {said}", [name])
        for lesson in self.modules:
            moved = self.moved_in(lesson)
            if name in moved:
                then = f"what it asked for is now in {moved[name]}" if moved[name] else "nothing took its place"
                return UnknownName(f"{name} is an exercise of an earlier version; {then}.", [name])
        known = self.all()
        if not known:
            return UnknownName(NO_EXERCISES, [name])
        called = [exercise.id for exercise in known if name in (exercise.name, exercise.id.partition(".")[2])]
        near = called or difflib.get_close_matches(name, [exercise.id for exercise in known], n=3, cutoff=_SIMILAR)
        meant = f"did you mean {' or '.join(near)}?" if near else f"an id looks like {known[0].id}."
        return UnknownName(f"no exercise {name!r}; {meant}", near)


def _called(lesson: str) -> str:
    """A lesson's name without its number."""
    return lesson.partition("_")[2]


# From the setting ---------------------------------------------------------------------------------------------------


def own_catalogue(config: Path) -> Catalogue | None:
    """The exercises that a course's settings name; None where they name none.

    Args:
        config: its `nbgrader_config.py`, of which nothing is run.

    Raises:
        UnusableExercises: the setting is no table of lessons and modules, written out.
    """
    values = _settings(config).get(SETTING)
    return None if values is None else Catalogue(_modules(values, config), config.parent)


def sets(config: Path, *settings: str) -> bool:
    """Return whether a course's settings, of which nothing is run, say anything about one of these."""
    return not _settings(config).keys().isdisjoint(settings)


def _settings(config: Path) -> dict[str, ast.expr]:
    """Return a course's settings at the left margin, by name; none if its folder has no such file."""
    if not config.is_file():
        return {}
    try:
        tree = ast.parse(config.read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        raise UnusableExercises(f"{config} cannot be read: {error}") from None
    assigned = (node for node in tree.body if isinstance(node, ast.Assign))
    return {ast.unparse(target): node.value for node in assigned for target in node.targets}


def _modules(value: ast.expr, config: Path) -> dict[str, str]:
    example = f'{config.name}: write {SETTING} = {{"01_ols": "ols_exercises"}}, a module for each lesson'
    try:
        modules = ast.literal_eval(value)
    except ValueError:
        raise UnusableExercises(
            f"{example}; it is read without running the file, and {ast.unparse(value)!r} is not written out"
        ) from None
    if not isinstance(modules, dict) or not all(isinstance(name, str) for item in modules.items() for name in item):
        raise UnusableExercises(f"{example}, not {modules!r}")
    if not modules:
        raise UnusableExercises(f"{example}: a course without exercises has nothing to grade")
    for module in modules.values():
        if not _MODULE.fullmatch(module) or module.endswith(".py"):
            raise UnusableExercises(
                f"{example}: {module!r} is no name of a module; a file exercises.py is called 'exercises'"
            )
    return modules


# Modules ------------------------------------------------------------------------------------------------------------


@functools.cache
def _exercises(folder: Path | None, lesson: str, name: str) -> tuple[Exercise, ...]:
    """The exercises in a module, looked through.

    Raises:
        UnusableExercises: they cannot be used.
    """
    from course_lib.judging.exercise import Exercise  # with torch, which nobody needs who only asks for names

    found = getattr(_imported(folder, name), "EXERCISES", None)
    where = f"{name} ({lesson})"
    if not isinstance(found, (tuple, list)) or not all(isinstance(one, Exercise) for one in found):
        raise UnusableExercises(f"{where}: give it EXERCISES, a tuple of `course_lib.checking.Exercise`")
    if not found:
        raise UnusableExercises(f"{where}: EXERCISES is empty; put an exercise into it")
    for exercise in found:
        if not _ID.fullmatch(exercise.id):
            raise UnusableExercises(
                f'{where}: an id is "name.task" in small letters, digits and underscores, not {exercise.id!r}'
            )
    _check_one_each(found, f"{where}: ")
    return tuple(replace(exercise, lesson=lesson) for exercise in found)


def _check_one_each(exercises: Iterable[Exercise], where: str) -> None:
    for exercise_id, times in Counter(exercise.id for exercise in exercises).items():
        if times > 1:
            raise UnusableExercises(f"{where}{times} exercises have the id {exercise_id!r}; give each its own")


def _written(lesson: str, found: object) -> dict[str, int]:
    if found is None:
        return {}
    if not isinstance(found, dict) or not all(isinstance(one, str) and type(found[one]) is int for one in found):
        raise UnusableExercises(f'{lesson}: WRITTEN is a dict of tasks and their points, such as {{"ols.why": 2}}')
    return dict(found)


@functools.cache
def _imported(folder: Path | None, name: str) -> ModuleType:
    """A module of exercises.

    Raises:
        UnusableExercises: there is none, or it cannot be imported.
    """
    if folder is None:
        return importlib.import_module(name)
    with _importing_from(folder, name):
        try:
            if importlib.util.find_spec(name) is None:
                raise ModuleNotFoundError(name=name)
            module = importlib.import_module(name)
        except (Exception, SystemExit) as error:  # it is a program of the course's: it may fail in any way
            raise UnusableExercises(_why(error, folder, name)) from error
    file = Path(str(module.__file__))
    if not file.is_relative_to(folder):
        raise UnusableExercises(
            f"{SETTING} names {name!r}, and that is {file}; give the course's own module a name that no package has"
        )
    return module


_folders: set[Path] = set()  # courses whose modules this process has imported


@contextmanager
def _importing_from(folder: Path, name: str) -> Iterator[None]:
    """Look into a course's folder first, and forget other courses' modules: names are the same in many."""
    others = _folders - {folder}
    for loaded, module in list(sys.modules.items()):
        file, package = str(getattr(module, "__file__", "")), loaded.partition(".")[0]
        is_namesake = package == name.partition(".")[0] and not file.startswith(f"{folder}{os.sep}")
        if is_namesake or any(_is_own(file, package, other) for other in others):
            del sys.modules[loaded]
    _folders.add(folder)
    importlib.invalidate_caches()
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _is_own(file: str, package: str, folder: Path) -> bool:
    """Return whether a module's file lies in a course's folder, or there in its package's; by its text, since every
    loaded module is asked.
    """
    inside = file.removeprefix(f"{folder}{os.sep}")
    return inside != file and (os.sep not in inside or inside.startswith(f"{package}{os.sep}"))


def _why(error: BaseException, folder: Path, name: str) -> str:
    """Why a module could not be imported, with the line in the course's folder where that was."""
    if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
        return f"{SETTING} names {name!r}, and there is no {name.replace('.', '/')}.py in {folder}"
    trace, position = error.__traceback__, ""
    while trace is not None:
        file = Path(trace.tb_frame.f_code.co_filename)
        if file.is_relative_to(folder):
            position = f" ({file.relative_to(folder)}, line {trace.tb_lineno})"
        trace = trace.tb_next
    said = str(error).strip().splitlines()
    return f"{name} cannot be imported: {type(error).__name__}{f': {said[0]}' if said else ''}{position}"
