"""The page that says what stands where names every module, its lesson, and what does the same at full size."""

from __future__ import annotations

import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

from course_lib import exercises
from tests.test_imports import FLOORS, ROOMS, WINGS

LIBRARY = Path(__file__).parents[2] / "course_lib"
PAGE = (LIBRARY / "README.md").read_text(encoding="utf-8")
PACKAGES = {*ROOMS, "show.explorers", "show.interactive", "show.pictures", "show.widgets"}


def sections() -> list[tuple[str, list[list[str]]]]:
    """The page's headings, each with the cells of the rows below it that name a module or package."""
    parts = [part.splitlines() for part in PAGE.split("\n## ")[1:]]
    return [(heading, [cells(line) for line in lines if line.startswith("| [")]) for heading, *lines in parts]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


ROWS = [row for _, rows in sections() for row in rows]
LINKS = [link for row in ROWS for link in re.findall(r"\[`(\w+)`\]\(([\w/.]+)\)", row[0])]


def module(row: list[str]) -> str:
    """The module or package that a row is about, as it is imported, without "course_lib."."""
    [file] = re.findall(r"\]\((.+)\.py\)", row[0])
    return file.removesuffix("/__init__").replace("/", ".")


def references() -> dict[str, set[str]]:
    """For each module that holds an exercise's reference the numbers of the lessons."""
    found: dict[str, set[str]] = {}
    for exercise in exercises.all():
        name = exercise.reference.__module__.removeprefix("course_lib.")
        found.setdefault(name, set()).add(exercise.lesson[:2])
    return found


def test_every_module_is_there_once_and_no_other() -> None:
    assert Counter(map(module, ROWS)) == Counter([*FLOORS, *PACKAGES])


def test_every_wing_has_a_heading_with_its_modules_below() -> None:
    below = {heading.split("/`")[0].lstrip("`"): [*map(module, rows)] for heading, rows in sections()}
    for wing in (name for name, modules in WINGS.items() if modules):
        assert sorted(below[wing]) == sorted(floor for floor in FLOORS if floor.startswith(f"{wing}."))


@pytest.mark.parametrize(("name", "file"), LINKS)
def test_a_name_leads_to_its_file(name: str, file: str) -> None:
    assert name == Path(file.removesuffix("/__init__.py")).stem
    assert (LIBRARY / file).is_file()


def test_every_link_of_the_page_leads_somewhere() -> None:
    assert [file for file in re.findall(r"\]\((.+?)\)", PAGE) if not (LIBRARY / file).is_file()] == []


def test_a_lessons_references_stand_beside_it() -> None:
    assert {module(row): set(row[2].split(", ")) for row in ROWS if len(row) == 4} == references()


@pytest.mark.parametrize("row", [row for row in ROWS if len(row) == 4], ids=module)
def test_what_does_the_same_at_full_size_exists(row: list[str]) -> None:
    for name in re.findall(r"`([\w.]+)`", row[3]):
        if row[3].startswith("here"):
            assert hasattr(import_module(f"course_lib.{module(row)}"), name)
        else:
            assert name in {*FLOORS} - {module(row)}
