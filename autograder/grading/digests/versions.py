"""What decides grades besides submissions and exercises, and belongs to this installation: its versions and limits."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import course_lib
from autograder.box.library import imports_of
from autograder.grading.digests import sources
from autograder.limits import Limits


def versions_of(modules: Iterable[str], packages: Iterable[str]) -> dict[str, str]:
    """The versions that decide a grade.

    Args:
        modules: the names of ours which read, run and judge an answer: of them, and of all that they import, a digest
            ("checks").
        packages: those that run answers, or compare what they give.
    """
    return {
        "Katze": course_lib.__version__,
        "Python": platform.python_version(),
        **{package: importlib.metadata.version(package) for package in packages},
        "checks": sources.of_files(code_of(modules)),
    }


def limits_that_decide(limits: Limits) -> dict[str, object]:
    """The limits on which a grade can depend."""
    return {name: value for name, value in asdict(limits).items() if name != "memory_ceiling_bytes"}


def code_of(modules: Iterable[str]) -> set[Path]:
    """The files of these modules, and of what they import of ours, however indirectly."""
    root = Path(__file__).parents[3]
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
