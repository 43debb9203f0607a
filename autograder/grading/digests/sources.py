"""Digests source files, ignoring comments, docstrings, layout and version numbers; and lists what else in this
installation decides grades: versions and limits.
"""

import ast
import functools
import hashlib
import importlib.metadata
import inspect
import platform
import re
import sys
import sysconfig
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import course_lib
from autograder.box.confinement.grants import PACKAGES
from autograder.box.library import imports_of
from autograder.known_sources import known
from autograder.limits import Limits
from course_lib.judging.exercise import Exercise

READ_APART = frozenset(
    {
        *("lesson", "title", "statement", "points", "parts", "minutes", "difficulty", "importance", "section"),
        *("source", "few_mistakes"),
    }
)
"""Parts of an exercise's file that are for readers, or are compared separately."""

_LIBRARY = Path(course_lib.__file__).parent.parent
_PYTHON = sysconfig.get_path("stdlib")
_JUDGING = "course_lib.judging"
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def versions_of(modules: Iterable[str], packages: Iterable[str]) -> dict[str, str]:
    """Return the versions that decide grades.

    Args:
        modules: our modules that read, run and judge answers; they and their imports count by a digest ("checks").
        packages: packages that run answers or compare results.
    """
    return {
        "Katze": course_lib.__version__,
        "Python": platform.python_version(),
        **{package: importlib.metadata.version(package) for package in packages},
        "checks": of_files(code_of(modules)),
    }


def limits_that_decide(limits: Limits) -> dict[str, object]:
    """Return the limits that a grade can depend on."""
    return {name: value for name, value in asdict(limits).items() if name != "memory_ceiling_bytes"}


def code_of(modules: Iterable[str]) -> set[Path]:
    """Return the files of these modules, and of all our modules that they import, however indirectly."""
    root = _LIBRARY
    found: dict[str, Path] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        path = root.joinpath(*name.split("."))
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if name in found or not path.is_file() or not name.startswith(("autograder.", "course_lib.judging")):
            continue
        found[name] = path
        waiting.extend(imports_of(path, name).at_once)
    return set(found.values())


def of_files(files: Iterable[Path]) -> str:
    """Return the digest of Python files: their names and their code."""
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(f"{file.name} {known(_of_source, file.read_text(encoding='utf-8'))} ".encode())
    return digest.hexdigest()


def files_of(exercise: Exercise) -> set[Path]:
    """Return the files of an exercise, and everything they import from the library or next to them.

    The judging code is left out: it counts for all exercises together.
    """
    functions = [exercise.cases, exercise.reference, *exercise.correct]
    modules = list(map(_module_of, [*functions, *(mistake.answer for mistake in exercise.misconceptions)]))
    packages = {"course_lib", modules[0][0].partition(".")[0]}
    waiting = {name: path for name, path in modules if _is_own(name, path, packages)}
    task = exercise.id.partition(".")[2]
    for name, path in list(waiting.items()):
        if path.with_name(f"{task}.py").is_file():
            waiting[f"{name.rpartition('.')[0]}.{task}".lstrip(".")] = path.with_name(f"{task}.py")
    above = {name[: dot.start()] for name in waiting for dot in re.finditer(r"\.", name)} - waiting.keys()
    found: dict[str, Path] = {}
    while waiting:
        name, path = waiting.popitem()
        found[name] = path
        root = path.parents[name.count(".") + (path.name == "__init__.py")]
        for other in imports_of(path, name).ever - found.keys() - above:  # packages above import other exercises, too
            place = _module_in(root, other) or _module_in(_LIBRARY, other)
            if place is not None and _is_own(other, place, packages) and not other.startswith(_JUDGING):
                waiting[other] = place
    return set(found.values())


def _module_of(value: Any) -> tuple[str, Path]:
    """Return the name and file of the module that defines a function or class; a built-in one has no file."""
    while isinstance(value, functools.partial):
        value = value.func
    name = str(getattr(value, "__module__", ""))
    code = getattr(inspect.unwrap(value), "__code__", None)
    return name, Path(str(getattr(sys.modules.get(name), "__file__", None) or getattr(code, "co_filename", "")))


def _is_own(name: str, path: Path, packages: Collection[str]) -> bool:
    """Return whether a module belongs to one of these packages or to a course's folder: not to Python, nor to another
    installed package.
    """
    is_installed = any(part in PACKAGES for part in path.parts) or path.is_relative_to(_PYTHON)
    return path.suffix == ".py" and path.is_file() and (name.partition(".")[0] in packages or not is_installed)


def _module_in(root: Path, name: str) -> Path | None:
    path = root.joinpath(*name.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def _of_source(source: str) -> str:
    return hashlib.sha256(_said(source).encode("utf-8", "surrogatepass")).hexdigest()


def _said(source: str) -> str:
    """Return code without the parts that do not run; text that is not Python stays as it is."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return source
    for documented in ast.walk(tree):
        if isinstance(documented, _DOCUMENTED):
            documented.body = list(_without_words(documented.body)) or [ast.Pass()]
    told = {"Misconception": 1} | ({"mistake": 0} if "course_lib.exercises.common" in source else {})
    for node in ast.walk(tree) if "Exercise" in source or "Misconception" in source else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "Exercise":
                node.keywords = [one for one in node.keywords if one.arg not in READ_APART]
            elif node.func.id in told:  # its message, the argument in this position, is compared by itself
                node.args[told[node.func.id] : told[node.func.id] + 1] = []
                node.keywords = [one for one in node.keywords if one.arg != "message"]
    return ast.unparse(tree)


def _without_words(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements except bare constants and version numbers."""
    for node in body:
        is_text = (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )
        is_version = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__version__"
        if not (is_text or is_version):
            yield node
