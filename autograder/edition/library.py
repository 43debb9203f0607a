"""Copies the part of `course_lib` for a class edition: all but exercises, solutions and withheld modules."""

import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import nbformat

import course_lib
from autograder.box.confinement.packages import normalised
from autograder.box.library import find_modules, imports_of, permitted
from autograder.grading.digests.reach import mentioned

ROOT = Path(course_lib.__file__).parent

_NOT_DATA = ("*.py", "*.pyc", "README.md")
_WITHOUT = ("exercises", "learner/solved", "__pycache__")
"""Folders of the library that are not copied."""


def kept_modules(withheld: Iterable[str]) -> set[str]:
    """Return the library's modules that are neither withheld nor import withheld ones."""
    return permitted(find_modules(ROOT), withheld)


def copy_modules(modules: Iterable[str], target: Path) -> None:
    """Copy modules of the library, and the data next to them, into a folder `course_lib`.

    Args:
        modules: their names.
        target: the folder.
    """
    found = find_modules(ROOT)
    for name in modules:
        _copy(found[name], target)
    for path in sorted(ROOT.rglob("*")):
        inside = f"/{path.relative_to(ROOT).as_posix()}"
        left_out = any(f"/{folder}/" in inside for folder in _WITHOUT) or any(map(path.match, _NOT_DATA))
        if path.is_file() and not left_out:
            _copy(path, target)


def write_absent(withheld: Mapping[str, Sequence[str]], target: Path) -> None:
    """Put stand-ins in place of the modules that are left out; importing one raises an error that says why.

    Args:
        withheld: the withheld modules, each with the lessons that withhold it.
        target: the folder `course_lib`.
    """
    found = find_modules(ROOT)
    reasons: dict[str, str] = {}
    for module, lessons in withheld.items():
        asks = f"{' and '.join(lessons)} {'ask' if len(lessons) > 1 else 'asks'} you to write what"
        for name in found.keys() - kept_modules([module]):
            reasons.setdefault(name, f"it needs {module}, and {asks} that holds")
        reasons[module] = f"{asks} it holds"
    for name, reason in reasons.items():
        place = target / found[name].relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        said = f"{name} is not in this class edition of the course: {reason}"
        text = f'"""Not in this class edition."""\n\nraise ModuleNotFoundError(\n    {said!r},\n    name={name!r},\n)\n'
        place.write_text(text, encoding="utf-8")


def _copy(path: Path, target: Path) -> None:
    place = target / path.relative_to(ROOT)
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, place)


def imported_by(notebook: Path) -> dict[str, bool]:
    """Return the library's modules that a released notebook imports, each with whether code besides demos does."""
    known = find_modules(ROOT).keys()
    needed: dict[str, bool] = {}
    for cell in nbformat.read(notebook, as_version=4).cells:
        if cell.cell_type == "code":
            own = "demo" not in cell.metadata.get("tags", ())
            named = mentioned([cell.source])
            for name in {*named, *(name.rpartition(".")[0] for name in named)} & known:
                needed[name] = own or needed.get(name, False)
    return dict(sorted(needed.items()))


def needed_packages(modules: Iterable[str], always: Iterable[str]) -> list[str]:
    """Return the requirements for modules of the library, with this package's version constraints.

    Args:
        modules: their names.
        always: further packages that are needed, such as "jupyterlab".
    """
    found = find_modules(ROOT)
    roots = {name.partition(".")[0] for module in modules for name in imports_of(found[module], module).ever}
    distributed: Mapping[str, list[str]] = packages_distributions()
    wanted = {normalised(package) for root in roots for package in distributed.get(root, [])} | set(
        map(normalised, always)
    )
    asked = (line for line in requires("katze") or [] if ";" not in line)  # ";" marks an extra or a platform
    return sorted(line for line in asked if normalised(re.split(r"[^\w.-]", line)[0]) in wanted)
