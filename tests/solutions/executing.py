"""A lesson run from top to end in a kernel: with the solutions in it, and as a student first finds it.

Each lesson has its own test file, `test_<lesson>.py`, with a class derived from `ExecutedLesson`. The class has the
solved notebook run once for all its tests, and for the website (fixtures `solved` and `output`), and adds what this
lesson's prose leans on.
"""

from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest
from nbformat import NotebookNode

from autograder.site.executed import execute_notebook
from course_lib import exercises
from tests.solutions.reading import read_lesson

WAITING = re.compile(r"This cell is waiting for|Nothing to show yet")
FIGURE = re.compile(r'<img class="katze-figure" alt="([^"]*)"')


def unfinished(
    notebook: NotebookNode, leaned_on: tuple[str, ...] = (), cut_short: tuple[tuple[str, str], ...] = ()
) -> NotebookNode:
    """The notebook with stubs for answers. Demo cells that use none of the student's functions are left out.

    Args:
        notebook: a lesson with its solutions.
        leaned_on: lines of such demo cells as stay, since other cells go on with what they measure.
        cut_short: what says how long something is trained, and what stands there instead: how well a model learns is
            seen where the solutions are run.
    """
    stubs = copy.deepcopy(notebook)
    for long, short in cut_short:
        (cell,) = (cell for cell in stubs.cells if long in cell.source)
        cell.source = cell.source.replace(long, short)
    for cell in stubs.cells:
        cell.source = re.sub(
            r"( *)### BEGIN SOLUTION.*?### END SOLUTION", r"\1raise NotImplementedError()", cell.source, flags=re.S
        )
        cell.source = re.sub(r"### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS", "", cell.source, flags=re.S)
    stubs.cells = [
        cell
        for cell in stubs.cells
        if cell.metadata.get("tags") != ["demo"]
        or "when_ready" in cell.source
        or set(leaned_on) & set(cell.source.splitlines())
    ]
    return stubs


def printed(cell: NotebookNode) -> str:
    """What a cell printed, on either stream."""
    return "".join(output.text for output in cell.get("outputs", ()) if output.output_type == "stream")


def points(notebook: NotebookNode) -> dict[str, float]:
    """The last value of each check cell, as nbgrader reads it."""
    return {
        cell.metadata.nbgrader.grade_id: float(cell.outputs[-1]["data"]["text/plain"])
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("grade")
    }


class ExecutedLesson:
    """What holds for every lesson once it has run. Derived classes name the lesson and add their own.

    Attributes:
        lesson: the lesson's folder.
        pictures: how many pictures it shows at least.
        leaned_on, cut_short: see `unfinished`.
    """

    lesson: str
    pictures = 4
    leaned_on: tuple[str, ...] = ()
    cut_short: tuple[tuple[str, str], ...] = ()

    def test_the_solutions_get_full_marks(self, solved: NotebookNode) -> None:
        expected = {f"{e.id.replace('.', '-')}-check": float(e.points) for e in exercises.of_lesson(self.lesson)}
        assert points(solved) == expected

    def test_with_the_solutions_no_cell_waits_and_none_complains(self, solved: NotebookNode) -> None:
        for cell in solved.cells:
            assert not WAITING.search(printed(cell)), cell.source[:100]
            streams = {output.name for output in cell.get("outputs", ()) if output.output_type == "stream"}
            assert "stderr" not in streams, printed(cell)

    def test_every_demo_shows_something(self, solved: NotebookNode) -> None:
        demos = [cell for cell in solved.cells if cell.metadata.get("tags") == ["demo"]]
        assert demos
        for cell in demos:
            assert cell.outputs, cell.source[:100]

    def test_figures_say_what_they_show(self, solved: NotebookNode) -> None:
        outputs = [output for cell in solved.cells for output in cell.get("outputs", ())]
        shown = [alt for output in outputs for alt in FIGURE.findall(output.get("data", {}).get("text/html", ""))]
        assert len(shown) >= self.pictures
        assert all(len(alt) > 20 for alt in shown)
        assert not any("image/png" in output.get("data", {}) for output in outputs)

    @pytest.mark.usefixtures("processes")
    def test_an_unfinished_notebook_runs_to_its_end(self, tmp_path: Path) -> None:
        notebook = execute_notebook(unfinished(read_lesson(self.lesson), self.leaned_on, self.cut_short), tmp_path)
        assert set(points(notebook).values()) == {0.0}
        demos = [cell for cell in notebook.cells if "when_ready" in cell.source]
        assert demos
        for cell in demos:
            assert "Borrowed for this cell: the course's own" in printed(cell), (cell.source[:100], cell.outputs)
            assert not WAITING.search(printed(cell)), cell.source[:100]
