"""What commands tell as data: each has `--json`, or a reason why not."""

import csv
import html
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from autograder.cli import main, make_parser
from autograder.course.course import Course
from tests.autograder.small_gradebook import CHECKED, LATE, LESSON, LINEAR_TERMS, MOST, grade, make_course

WITHOUT_JSON: Mapping[str, str] = {
    "completion": "prints a program for the shell",
    "demo": "shows what the other commands print",
    "learn": "ends in JupyterLab",
}


def test_every_command_tells_as_data_what_it_tells_or_says_why_not() -> None:
    commands = make_parser()[1]
    without = {name for name, one in commands.items() if "--json" not in one.parser._option_string_actions}
    assert without == WITHOUT_JSON.keys()


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A class that is due: ada in time, ben late by two days begun, zoe without a score."""
    course = make_course(tmp_path, LINEAR_TERMS)
    grade(course, {"ada": 18, "zoe": None})
    grade(course, {"ben": 9}, at=LATE)
    return course


@pytest.fixture
def told(course: Course, capsys: pytest.CaptureFixture[str]) -> Any:
    """What a command prints with `--json`: nothing but data."""

    def tell(*arguments: str) -> Any:
        assert main([*arguments, "--course", str(course.root), "--json"]) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        return json.loads(captured.out)

    return tell


def test_export(course: Course, told: Any, capsys: pytest.CaptureFixture[str]) -> None:
    found = told("export")
    assert (found["headings"], found["rows"]) == (["student", LESSON], [["ada", "18"], ["ben", "5"], ["zoe", ""]])
    assert f"{LESSON}: no score, so nothing is written: zoe." in found["remarks"]
    assert found["written"] == []
    table, data = course.root / "grades.csv", course.root / "grades.json"
    assert told("export", "--to", str(table)) == {**found, "written": [str(table)]}
    assert [*csv.reader(table.read_text().splitlines())] == [found["headings"], *found["rows"]]
    assert main(["export", "--course", str(course.root), "--json", str(data)]) == 0
    assert capsys.readouterr().out.splitlines() == table.read_text().splitlines()
    assert json.loads(data.read_text()) == found


def test_report(course: Course, told: Any) -> None:
    terms = course.root / "course.toml"
    terms.write_text(f"drop_lowest = 1\n{terms.read_text()}weight = 2\n")
    found = told("report", LESSON, "-")
    assert {name: found[name] for name in ("lesson", "due", "max_points", "weight")} == {
        "lesson": LESSON,
        "due": "2026-11-20T18:00:00+01:00",
        "max_points": MOST,
        "weight": 2,
    }
    shared = f"{LESSON}: its weight in the total is 2, and each student's lowest lesson is left out of the total."
    assert found["remarks"][0] == shared
    assert [(one["student"], one["points"], one["late_penalty"]) for one in found["students"]] == [
        ("ada", 18, 0),
        ("ben", 5, 4),
        ("zoe", None, 0),
    ]
    [exercise] = found["exercises"]
    assert (exercise["exercise"], exercise["max_points"], exercise["judged"]) == ("attention.scores", CHECKED, 2)
    page = course.root / "report.html"
    assert told("report", LESSON, str(page)) == found
    assert shared in html.unescape(page.read_text())


def test_freeze_and_thaw(told: Any) -> None:
    assert told("freeze", LESSON) == {"lesson": LESSON, "frozen": True, "notices": []}
    assert told("thaw", LESSON) == {"lesson": LESSON, "frozen": False, "notices": []}


def test_release(course: Course, told: Any, capsys: pytest.CaptureFixture[str]) -> None:
    lesson = course.solutions / "99_notes" / "99_notes.py"
    lesson.parent.mkdir(parents=True)
    lesson.write_text("# %% [markdown]\n# # Notes\n")
    check = ["release", "99_notes", "--check", "--json", "--course", str(course.root)]
    assert main(check) == 1
    missing = json.loads(capsys.readouterr().out)
    assert (len(missing["drift"]), missing["written"]) == (1, [])
    assert told("release", "99_notes") == {
        "drift": [],
        "written": [str(course.release / "99_notes" / "99_notes.ipynb")],
        "unchanged": [],
    }
    assert told("release", "99_notes") == {"drift": [], "written": [], "unchanged": ["99_notes"]}
    assert told("release", "99_notes", "--check") == {"drift": [], "written": [], "unchanged": []}
