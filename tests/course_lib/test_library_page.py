"""The page that says what stands where names every module, its lesson, and what does the same at full size."""

from __future__ import annotations

import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

from course_lib import exercises

LIBRARY = Path(__file__).parents[2] / "course_lib"
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (LIBRARY / "README.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| [")
]
MODULES = {path.stem for path in LIBRARY.glob("*.py")} - {"__init__"}
PACKAGES = {path.parent.name for path in LIBRARY.glob("*/__init__.py")}


def linked(cell: str) -> list[tuple[str, str]]:
    """The names in a row's first cell, with the files that they link to."""
    return re.findall(r"\[`(\w+)`\]\(([\w/.]+)\)", cell)


def references() -> dict[str, set[str]]:
    """For each module that holds an exercise's reference the numbers of the lessons."""
    found: dict[str, set[str]] = {}
    for exercise in exercises.all():
        module = exercise.reference.__module__.removeprefix("course_lib.")
        found.setdefault(module, set()).add(exercise.lesson[:2])
    return found


def test_every_module_is_there_once_and_no_other() -> None:
    named = [name for row in ROWS for name, _ in linked(row[0])]
    assert Counter(named) == Counter([*MODULES, *PACKAGES])


@pytest.mark.parametrize(("name", "file"), [link for row in ROWS for link in linked(row[0])])
def test_a_name_leads_to_its_file(name: str, file: str) -> None:
    assert file in (f"{name}.py", f"{name}/__init__.py")
    assert (LIBRARY / file).is_file()


def test_a_lessons_references_stand_beside_it() -> None:
    shown = {linked(row[0])[0][0]: set(row[2].split(", ")) for row in ROWS if len(row) == 4}
    assert shown == references()


@pytest.mark.parametrize("row", [row for row in ROWS if len(row) == 4], ids=lambda row: linked(row[0])[0][0])
def test_what_does_the_same_at_full_size_exists(row: list[str]) -> None:
    [(own, _)] = linked(row[0])
    for name in re.findall(r"`(\w+)`", row[3]):
        if row[3].startswith("here"):
            assert hasattr(import_module(f"course_lib.{own}"), name)
        else:
            assert name in MODULES - {own}
