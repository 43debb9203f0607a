"""The lessons run from top to end in a kernel: with the solutions in them, and as a student first finds them."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

from course_lib import exercises
from tests.solutions.conftest import LESSONS, ROOT, read_lesson

WAITING = re.compile(r"This cell is waiting for|Nothing to show yet")


def executed(notebook: NotebookNode, folder: Path) -> NotebookNode:
    """A copy of the notebook after a run from the top that stops at the first error."""
    ran = copy.deepcopy(notebook)
    NotebookClient(ran, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    return ran


def unfinished(notebook: NotebookNode) -> NotebookNode:
    """The notebook with stubs for answers. Demo cells that use none of the student's functions are left out."""
    stubs = copy.deepcopy(notebook)
    for cell in stubs.cells:
        cell.source = re.sub(
            r"( *)### BEGIN SOLUTION.*?### END SOLUTION", r"\1raise NotImplementedError()", cell.source, flags=re.S
        )
        cell.source = re.sub(r"### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS", "", cell.source, flags=re.S)
    stubs.cells = [cell for cell in stubs.cells if cell.metadata.get("tags") != ["demo"] or "when_ready" in cell.source]
    return stubs


def printed(cell: NotebookNode) -> str:
    return "".join(output.text for output in cell.get("outputs", ()) if output.output_type == "stream")


def points(notebook: NotebookNode) -> dict[str, float]:
    """The last value of each check cell, as nbgrader reads it."""
    return {
        cell.metadata.nbgrader.grade_id: float(cell.outputs[-1]["data"]["text/plain"])
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("grade")
    }


@pytest.fixture(scope="module", params=LESSONS)
def solved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, NotebookNode]:
    return request.param, executed(read_lesson(request.param), tmp_path_factory.mktemp("home"))


def test_the_solutions_get_full_marks(solved: tuple[str, NotebookNode]) -> None:
    lesson, notebook = solved
    expected = {f"{e.id.replace('.', '-')}-check": float(e.points) for e in exercises.of_lesson(lesson)}
    assert points(notebook) == expected


def test_with_the_solutions_no_cell_waits_and_none_complains(solved: tuple[str, NotebookNode]) -> None:
    _lesson, notebook = solved
    for cell in notebook.cells:
        assert not WAITING.search(printed(cell)), cell.source[:100]
        streams = {output.name for output in cell.get("outputs", ()) if output.output_type == "stream"}
        assert "stderr" not in streams, printed(cell)


def test_every_demo_shows_something(solved: tuple[str, NotebookNode]) -> None:
    _lesson, notebook = solved
    demos = [cell for cell in notebook.cells if cell.metadata.get("tags") == ["demo"]]
    assert demos
    assert all(cell.outputs for cell in demos)


def test_figures_say_what_they_show(solved: tuple[str, NotebookNode]) -> None:
    _lesson, notebook = solved
    outputs = [
        output for cell in notebook.cells for output in cell.get("outputs", ()) if output.output_type != "stream"
    ]
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(pictures) >= 8
    assert all(len(output.metadata["image/png"]["alt"]) > 20 for output in pictures)


def test_the_slips_of_the_first_slide_are_printed_by_their_code(solved: tuple[str, NotebookNode]) -> None:
    lesson, notebook = solved
    everything = "\n".join(printed(cell) for cell in notebook.cells)
    expected = {
        "01_attention": ["[ 4.0000,  1.2500, -3.5833]", "[-2.0269, -3.7867]", "[-2.0200, -3.7800]", "cut: 0.99"],
        "02_masking": [
            "[ 0.5000, -0.8750,  1.7500, -0.2500]",
            "[0.0000, 0.0006, 0.0000, 0.9994]",
            "[1.998342, -2.999715]",
        ],
    }[lesson]
    assert [line for line in expected if line not in everything] == []


def test_the_cheat_is_caught(solved: tuple[str, NotebookNode]) -> None:
    """Random symbols cannot be predicted: only a model that sees them gets below log 8."""
    lesson, notebook = solved
    found = re.findall(r"last loss: sees everything ([\d.]+), sees only the past ([\d.]+)", str(notebook))
    assert len(found) == (1 if lesson == "02_masking" else 0)
    for free, masked in found:
        assert float(free) < 0.05
        assert float(masked) > 2.0


@pytest.mark.parametrize("lesson", LESSONS)
def test_an_unfinished_notebook_runs_to_its_end(lesson: str, tmp_path: Path) -> None:
    notebook = executed(unfinished(read_lesson(lesson)), tmp_path)
    assert set(points(notebook).values()) == {0.0}
    waiting = [cell for cell in notebook.cells if "when_ready" in cell.source]
    assert waiting
    assert all("This cell is waiting for your" in printed(cell) for cell in waiting)


def test_lessons_are_those_of_the_exercises() -> None:
    assert list(LESSONS) == list(exercises.LESSONS)
    assert sorted(path.parent.name for path in (ROOT / "solutions").glob("*/*.py")) == list(LESSONS)
