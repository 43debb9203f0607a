"""The page that maps the harness names every module once, under its own wing."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import autograder
from tests.test_imports import HARNESS

HARNESS_FOLDER = Path(autograder.__file__).parent
PAGE = (HARNESS_FOLDER / "README.md").read_text(encoding="utf-8")


def test_every_module_is_there_once_and_no_other() -> None:
    files = [path.relative_to(HARNESS_FOLDER) for path in HARNESS_FOLDER.rglob("*.py")]
    modules = [str(file) for file in files if file.name != "__init__.py" and not {"answers", "known"} & set(file.parts)]
    links = re.findall(r"^\| \[`(\w+)`\]\(([\w/.]+)\) \| \S", PAGE, re.MULTILINE)
    assert Counter(file for _, file in links) == Counter(modules)
    assert all(Path(file).stem == name for name, file in links)


def test_a_module_stands_under_its_wing() -> None:
    for part in PAGE.split("\n## `")[1:]:
        wing = part.partition("/`")[0]
        links = re.findall(r"^\| \[`\w+`\]\(([\w/.]+)\)", part.partition("\n## The rest")[0], re.MULTILINE)
        assert {file.split("/")[0] for file in links} == {wing}


def test_the_order_of_the_wings_is_that_of_the_imports() -> None:
    [line] = re.findall(r"^    (course/ .*)$", PAGE, re.MULTILINE)
    assert re.findall(r"(\w+)/", line) == [name for name in HARNESS if (HARNESS_FOLDER / name).is_dir()]


def test_the_files_on_the_way_of_a_score_exist() -> None:
    way = PAGE.partition("## How a score comes about")[2].partition("\n## ")[0]
    named = re.findall(r"(?<![\w/])((?:[a-z_]+/)+\w+\.py)", way)
    assert len(named) > 6
    assert all((HARNESS_FOLDER / file).is_file() for file in named)
