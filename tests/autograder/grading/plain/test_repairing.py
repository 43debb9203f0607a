"""A submitted notebook is put back into the shape of its release, and nothing that a student wrote is lost."""

import json
from pathlib import Path
from typing import Any

import pytest

from autograder.course.course import Course
from autograder.errors import Unreadable
from autograder.grading.plain.assignment import MasterNotebook, PlainAssignment
from autograder.grading.plain.repairing import answers_in, put_back
from autograder.intake.submission import find_submission, read_notebook
from autograder.repair.cells import Cell, CellKind, Repaired
from tests.autograder.grading.plain.plain_course import MEAN, NAME, cell, make_course, make_test, submitted

pytestmark = pytest.mark.usefixtures("processes")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return make_course(tmp_path_factory.mktemp("plain") / "course")


@pytest.fixture(scope="module")
def first(course: Course) -> MasterNotebook:
    return PlainAssignment.load(course, NAME, True).notebooks[0]


@pytest.fixture
def made(course: Course) -> dict[str, Any]:
    return submitted(course, "first", {"mean": MEAN, "why": "Because."})


def mended(made: dict[str, Any], master: MasterNotebook) -> Repaired:
    return put_back(read_notebook(json.dumps(made).encode()), master)


def named(repaired: Repaired, name: str) -> list[Cell]:
    return [one for one in repaired.cells if one.nbgrader.get("grade_id") == name]


def test_of_copies_all_run_and_the_last_is_graded(made: dict[str, Any], first: MasterNotebook) -> None:
    made["cells"].append({**made["cells"][2], "source": "def mean(values):\n    return 0"})
    made["cells"].append({**made["cells"][3], "source": "print('my own test')"})
    repaired = mended(made, first)
    assert (
        repaired.repairs[0]
        == "Some cells have several copies; all of them run, and the last one is graded: mean, same."
    )
    assert [one.source for one in named(repaired, "mean")] == ["def mean(values):\n    return 0"]
    assert repaired.cells[-1].kind is CellKind.CHECK
    assert repaired.cells[2].source == MEAN
    assert all(one.is_code for one in repaired.cells if "def mean" in one.source)


def test_a_missing_test_comes_behind_what_it_tests_and_a_missing_question_does_not_run(
    made: dict[str, Any], first: MasterNotebook
) -> None:
    lost = ("same", "why")
    made["cells"] = [one for one in made["cells"] if one["metadata"].get("nbgrader", {}).get("grade_id") not in lost]
    made["cells"].insert(1, cell("code", "own = 1"))
    repaired = mended(made, first)
    names = [one.nbgrader.get("grade_id") for one in repaired.cells]
    assert names == [None, None, "setup", "mean", "same", "share", "why"]
    assert [one.skipped for one in repaired.cells] == [False] * 6 + [True]
    assert repaired.repairs == (
        "Missing tests were put back: same.",
        "Missing questions were put back, without an answer: why.",
    )


def test_claims_about_points_and_cells_count_for_nothing(made: dict[str, Any], first: MasterNotebook) -> None:
    made["cells"][3]["metadata"]["nbgrader"] |= {"points": 100}
    made["cells"].append(make_test("pass", "bonus", 50))
    made["cells"][2]["cell_type"] = "markdown"
    repaired = mended(made, first)
    assert named(repaired, "same")[0].nbgrader["points"] == 1
    assert named(repaired, "bonus") == []
    assert named(repaired, "mean")[0].kind is CellKind.ANSWER
    assert repaired.repairs == (
        "Grading settings that differed from the assignment's were reset: same.",
        "Cells that are marked as graded, but are not in the assignment, count as ordinary cells: bonus.",
        "Cells that had been given another type were changed back: mean.",
    )


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        (("first", "old: more answers"), "first"),
        (("first: untouched", "first_done"), "first_done"),
        (("first", "first-1: untouched"), "first"),
        (("first-1", "first-2", "second"), "first-2"),  # another notebook of the assignment
    ],
)
def test_of_several_notebooks_the_name_decides_among_those_with_answers(
    files: tuple[str, ...], chosen: str, course: Course, first: MasterNotebook, tmp_path: Path
) -> None:
    for said in files:
        name, _, kind = said.partition(": ")
        answers = {"": {"mean": MEAN}, "untouched": {}, "more answers": {"mean": MEAN, "why": "Because."}}[kind]
        (tmp_path / f"{name}.ipynb").write_text(json.dumps(submitted(course, "first", answers)))
    found, _ = find_submission(tmp_path, "first", answers_in(first), {"second.ipynb"})
    assert found.path == f"{chosen}.ipynb"


def test_another_notebook_is_refused(first: MasterNotebook) -> None:
    with pytest.raises(Unreadable, match=r"None of its cells is from first: submit first.ipynb"):
        mended({"cells": [cell("code", "x = 1")], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}, first)
