"""What grades depend on, as digests: an exercise's definition, the grader's own code, a lesson's release, and what
a student handed in.

Two things with the same fingerprint give the same grade. Words of an exercise that nobody runs do not count: comments,
docstrings, line numbers, annotations, its place in the prose.
"""

from __future__ import annotations

import dataclasses
import dis
import enum
import functools
import hashlib
import json
import os
import re
import stat
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy
import torch

from autograder.box.confinement.grants import PACKAGES
from autograder.course.colab import INSTALL
from course_lib.checking import Exercise
from course_lib.checking.compare import Tolerance

FOLDER_ENTRIES = 1_000
"""Files and folders of a submission that are looked at; no reader looks at more."""

FOLDER_DEPTH = 5
"""Folders within folders of a submission that are looked at."""

FOLDER_BYTES = 200_000_000
"""Bytes of a submission that are read; beyond them, only size and time of the last change count."""

_UNGRADED_FIELDS = {"lesson", "title", "statement", "minutes", "section", "source", "correct", "few_mistakes"}
"""What an exercise says to readers and to its certificate; grading does not look at it."""

_APART = {"points", "parts", "misconceptions"}
"""What is counted in its own way, so that a regrade can say what has changed."""

_LIBRARY = "course_lib"
_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"}
_HAS_DOCSTRING = 0x4000000  # a flag of code, from Python 3.14 on
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_VERSION = re.compile(rb"^__version__ = .*$", re.M)


# --- an exercise


def of_exercise(exercise: Exercise) -> dict[str, object]:
    """The fingerprint of everything that decides a grade of one exercise.

    Its reference, cases, misconceptions, rules and points, with the functions, classes and constants of the
    course's own packages that they use, however indirectly. Other packages count by their versions, which are
    recorded apart, and so does the code that compares and judges (`of_modules`).

    Returns:
        A SHA-256 in hexadecimal for its definition, and its texts and points next to it; see `joined`.
    """
    walk = _Walk({_LIBRARY, _package(exercise.reference), _package(exercise.cases), *_beside(exercise)})
    for field in dataclasses.fields(exercise):
        if field.name not in _UNGRADED_FIELDS | _APART:
            walk.text(field.name)
            walk.value(getattr(exercise, field.name))
    walk.value([(mistake.id, mistake.answer) for mistake in exercise.misconceptions])
    walk.value(sorted(exercise.parts))
    texts = json.dumps([mistake.message for mistake in exercise.misconceptions])
    return {
        "definition": walk.digest.hexdigest(),
        "texts": hashlib.sha256(texts.encode()).hexdigest(),
        "points": dict(exercise.parts),
    }


def in_course(
    exercise: Mapping[str, object], cells: str, limits: Mapping[str, object], tolerance: Tolerance | None = None
) -> str:
    """The fingerprint of an exercise in a course, in parts that `changed` can tell apart.

    Args:
        exercise: from `of_exercise`.
        cells: of its own cells in the release, from `of_release`.
        limits: what it may use in place of the course's limits.
        tolerance: how near to the reference an answer must be, in place of the exercise's own.
    """
    own = {} if tolerance is None else {"tolerance": str(tolerance)}
    return json.dumps({**exercise, "cells": cells, "limits": dict(limits), **own}, sort_keys=True)


def changed(before: str, now: str) -> str:
    """What is different between two fingerprints of an exercise, from `joined`, in words.

    If the earlier one is from a Katze that joined them differently, no more is known than that.
    """
    try:
        old, new = json.loads(before), json.loads(now)
    except ValueError:
        return "redefined"
    if not isinstance(old, dict) or old.keys() - {"tolerance"} != new.keys() - {"tolerance"}:
        return "redefined"
    parts = [*_changed_parts(old, new), *_changed_limits(old["limits"], new["limits"])]
    before, now = (found.get("tolerance", "the exercise's") for found in (old, new))
    return "; ".join([*parts, *([f"its tolerance {before} -> {now}"] if before != now else [])])


def _changed_limits(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """The limits that differ; an exercise without one has the course's."""
    for name in sorted(old.keys() | new.keys()):
        before, now = (limits.get(name, "the course's") for limits in (old, new))
        if before != now:
            yield f"its limit {name} {before} -> {now}"


def _changed_parts(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    words = {"definition": "its definition", "cells": "its cells in the release", "texts": "its texts"}
    changed_parts = [part for part in words if old[part] != new[part]]
    if "definition" in changed_parts:  # a mistake that is new, or no longer known, brings its text or takes it away
        changed_parts = [part for part in changed_parts if part != "texts"]
    yield from (words[part] for part in changed_parts)
    if old["points"] != new["points"]:
        before, now = sum(old["points"].values()), sum(new["points"].values())
        yield f"its points {before} -> {now}" if before != now else "how its points are shared out"


def _beside(exercise: Exercise) -> Iterator[str]:
    """The modules and packages that lie beside the one with an exercise's cases, in the course's folder."""
    name = _package(exercise.cases)
    if name == _LIBRARY:
        return
    file = Path(str(getattr(sys.modules.get(name), "__file__", "")))
    folder = file.parents[1] if file.name == "__init__.py" else file.parent
    if folder.name in PACKAGES:
        return
    for other in [name for name in sys.modules if "." not in name]:
        places = {str(getattr(sys.modules[other], "__file__", "")), *getattr(sys.modules[other], "__path__", ())}
        if places & {str(folder / f"{other}.py"), str(folder / other)}:
            yield other


def _package(value: Any) -> str:
    return str(getattr(value, "__module__", "")).partition(".")[0]


class _Walk:
    """Feeds a digest with values and code, each function and object once.

    Args:
        packages: whose code is walked into; anything else counts by its name.
    """

    def __init__(self, packages: Iterable[str]) -> None:
        self.digest = hashlib.sha256()
        self._packages = set(packages)
        self._met: dict[int, int] = {}
        self._alive: list[Any] = []  # what has been met must not be freed, or another object could take its id

    def text(self, *parts: str) -> None:
        """Count words, each with its length, so that no two sequences look alike."""
        for part in parts:
            data = part.encode("utf-8", "surrogatepass")
            self.digest.update(f"{len(data)}:".encode() + data)

    def value(self, value: Any) -> None:
        """Count any value."""
        kind = type(value)
        if value is None or value is Ellipsis or kind in (bool, int, float, complex, str, bytes):
            self.text(kind.__name__, repr(value))
        elif kind in (tuple, list):
            self.text(kind.__name__, str(len(value)))
            for item in value:
                self.value(item)
        elif isinstance(value, Mapping):
            self.text("mapping", str(len(value)))
            for key, item in value.items():
                self.value(key)
                self.value(item)
        elif isinstance(value, (set, frozenset)):
            self.text("set", *sorted(self._apart(item) for item in value))
        elif isinstance(value, torch.Tensor):
            self._tensor(value)
        elif isinstance(value, numpy.ndarray):
            self._array(value)
        elif isinstance(value, enum.Enum):
            self.text("enum", kind.__qualname__, value.name)
        else:
            self._once(value)

    def _apart(self, value: Any) -> str:
        """The digest of a value by itself: the order of a set is chance."""
        walk = _Walk(self._packages)
        walk.value(value)
        return walk.digest.hexdigest()

    def _tensor(self, value: torch.Tensor) -> None:
        numbers = value.detach().cpu().contiguous().reshape(-1)
        self.text("tensor", str(value.dtype), str(tuple(value.shape)), str(value.stride()), str(value.requires_grad))
        self.digest.update(numbers.view(torch.uint8).numpy().tobytes())

    def _array(self, value: numpy.ndarray[Any, Any]) -> None:
        self.text("array", str(value.dtype), str(value.shape), str(value.strides))
        if value.dtype.hasobject:
            self.value(value.tolist())
        else:
            self.digest.update(value.tobytes())

    def _once(self, value: Any) -> None:
        """Count an object whose parts may lead back to it."""
        if id(value) in self._met:
            self.text("again", str(self._met[id(value)]))
            return
        self._met[id(value)] = len(self._met)
        self._alive.append(value)
        if isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, types.CodeType):
            self._code(value, {})
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, types.ModuleType):
            self.text("module", value.__name__)
        else:
            self._object(value)

    def _function(self, function: types.FunctionType) -> None:
        if not self._is_ours(function.__module__):
            self.text("function", str(function.__module__), function.__qualname__)
            return
        self.text("function")
        self.value(function.__defaults__)
        self.value(function.__kwdefaults__)
        for cell in function.__closure__ or ():
            self.value(cell.cell_contents)
        self._code(function.__code__, function.__globals__)
        if hasattr(function, "__wrapped__"):
            self.value(function.__wrapped__)

    def _code(self, code: types.CodeType, names: Mapping[str, Any]) -> None:
        """Count what code does, and what its global names stand for."""
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self.text("code", *arguments, str(code.co_flags & ~_HAS_DOCSTRING))
        module: types.ModuleType | None = None  # which of ours the instruction before has loaded
        for instruction in dis.get_instructions(code):
            argument = instruction.argval
            self.text(instruction.opname)
            if isinstance(argument, types.CodeType):
                self._code(argument, names)
            else:
                self.value(argument)
            loaded = _loaded(instruction, names, module)
            module = loaded if isinstance(loaded, types.ModuleType) and self._is_ours(loaded.__name__) else None
            if loaded is not None and module is None:
                self.value(loaded)

    def _class(self, value: type) -> None:
        self.text("class", value.__module__, value.__qualname__)
        if not self._is_ours(value.__module__):
            return
        for base in value.__bases__:
            self.value(base)
        for name, member in sorted(vars(value).items()):
            if name not in _OF_EVERY_CLASS and not isinstance(member, types.GetSetDescriptorType):
                self.text(name)
                self.value(member)

    def _object(self, value: Any) -> None:
        kind = type(value)
        self.text("object", kind.__module__, kind.__qualname__)
        if isinstance(value, functools.partial):
            self.value((value.func, value.args, value.keywords))
        elif isinstance(value, types.MethodType):
            self.value((value.__func__, value.__self__))
        elif isinstance(value, (staticmethod, classmethod)):
            self.value(value.__func__)
        elif isinstance(value, property):
            self.value((value.fget, value.fset))
        elif hasattr(value, "__wrapped__"):  # such as functools.cache
            self.value(value.__wrapped__)
        elif self._is_ours(kind.__module__):
            self._class(kind)
            self.value({name: item for name, item in vars(value).items() if not name.startswith("__")})
        else:
            self.text(str(getattr(value, "__qualname__", "")) or _ADDRESS.sub("", repr(value)))

    def _is_ours(self, module: str | None) -> bool:
        return str(module).partition(".")[0] in self._packages


def _loaded(instruction: dis.Instruction, names: Mapping[str, Any], module: types.ModuleType | None) -> Any:
    """What an instruction loads from among the global names, or from a module that was loaded just before."""
    if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
        return names.get(instruction.argval)
    if instruction.opname == "IMPORT_NAME":
        return sys.modules.get(instruction.argval)
    if instruction.opname in _ATTRIBUTES and module is not None:
        return getattr(module, instruction.argval, None)
    return None


_OF_EVERY_CLASS = {
    "__annotations__",
    "__dataclass_fields__",
    "__dataclass_params__",
    "__dict__",
    "__doc__",
    "__firstlineno__",
    "__module__",
    "__parameters__",
    "__qualname__",
    "__static_attributes__",
    "__weakref__",
    "_abc_impl",
}


# --- code


def of_modules(files: Iterable[Path]) -> str:
    """The fingerprint of files of code: of their names and all their bytes, as they are many, and change together.

    A version's number is not code: a line that sets `__version__` does not count.
    """
    digest = hashlib.sha256()
    for file in sorted(files):
        content = _VERSION.sub(b"", file.read_bytes())
        digest.update(f"{file.name} {hashlib.sha256(content).hexdigest()} ".encode())
    return digest.hexdigest()


# --- a release


def of_release(notebook: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """The fingerprint of a release, and of each exercise's own cells in it.

    Prose does not count, and a cell counts with its place among the code cells: what a submission earns follows
    from the code that runs, from the answers to be filled in, and from how they are graded. The cell that installs the
    library counts by its place alone: in a box the library is there, and the cell names a version.

    Args:
        notebook: the release, as `Release.notebook` has it.
    """
    common = hashlib.sha256()
    own: dict[str, Any] = {}
    code_cells = 0
    for cell in notebook["cells"]:
        meta = cell["metadata"].get("nbgrader", {})
        exercise = _exercise_of(str(meta.get("grade_id", "")))
        if exercise:  # its points are counted with its definition, and must be the same
            meta = {name: value for name, value in meta.items() if name != "points"}
        tags = cell["metadata"].get("tags", [])
        content = [cell["cell_type"], cell["source"], meta, tags]
        if INSTALL in tags:
            content = [INSTALL]
        if exercise:
            own.setdefault(exercise, hashlib.sha256()).update(_json([code_cells, *content]))
        elif meta or cell["cell_type"] == "code":
            common.update(_json(content))
            code_cells += 1
    return common.hexdigest(), {exercise: digest.hexdigest() for exercise, digest in own.items()}


def _exercise_of(grade_id: str) -> str:
    """The exercise whose answer or check has this grade_id, "module-task-answer"; empty for any other."""
    name, _, what = grade_id.rpartition("-")
    return name.replace("-", ".", 1) if what in ("answer", "check") else ""


def _json(content: Any) -> bytes:
    return json.dumps(content, sort_keys=True, ensure_ascii=True).encode() + b"\n"


# --- a submission


def of_submission(folder: Path) -> str:
    """The fingerprint of what a student handed in: the names, kinds and bytes of everything in the folder.

    No link is followed, and nothing but plain files is opened: of anything else its kind counts, and of what cannot
    be read, that it cannot.
    """
    digest = hashlib.sha256()
    left = FOLDER_BYTES
    for path, status in _entries(folder):
        name = str(path.relative_to(folder.parent))
        digest.update(f"{ascii(name)} {stat.S_IFMT(status.st_mode):o}\n".encode())
        if stat.S_ISREG(status.st_mode):
            digest.update(f"{status.st_size}\n".encode())
            left -= status.st_size
            digest.update(_content(path) if left >= 0 else str(status.st_mtime_ns).encode())
    return digest.hexdigest()


def _entries(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """The folder and what is in it, in the order of the names; folders within it, and links, are not followed."""
    waiting, seen = [(folder, 0)], 0
    while waiting and seen < FOLDER_ENTRIES:
        path, depth = waiting.pop()
        try:
            status = path.lstat()
            seen += 1
            yield path, status
            if stat.S_ISDIR(status.st_mode) and depth < FOLDER_DEPTH:
                names = sorted(os.listdir(path))[:FOLDER_ENTRIES]
                waiting.extend((path / name, depth + 1) for name in reversed(names))
        except OSError:
            continue


def _content(path: Path) -> bytes:
    """The digest of a file's bytes; of nothing where it cannot be read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(handle, "rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError as error:
        return f"unreadable: {error.errno}".encode()
