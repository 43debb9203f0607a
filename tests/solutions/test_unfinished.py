"""A lesson as a student first finds it, without an answer, runs to its end: demo cells borrow what is not there yet."""

from __future__ import annotations

import re
from pathlib import Path

import jupytext
import pytest
from nbformat import NotebookNode

from autograder.site.executed import execute_notebook
from course_lib import exercises
from tests.solutions.executing import WAITING, points, printed
from tests.solutions.reading import ROOT
from tests.solutions.short import cut_short

LEANED_ON = {"12_since_2017": ('measured("2017")',)}
"""Lines of demo cells that use none of the student's functions, and stay: other cells go on with what they measure."""


@pytest.mark.usefixtures("processes")
def test_an_unfinished_notebook_runs_to_its_end(sampled_lesson: str, tmp_path: Path) -> None:
    notebook = execute_notebook(unfinished(sampled_lesson), tmp_path)
    assert set(points(notebook).values()) == {0.0}
    demos = [cell for cell in notebook.cells if "when_ready" in cell.source]
    assert demos
    for cell in demos:
        assert "Borrowed for this cell: the course's own" in printed(cell), (cell.source[:100], cell.outputs)
        assert not WAITING.search(printed(cell)), cell.source[:100]


def unfinished(lesson: str) -> NotebookNode:
    """The notebook with stubs for answers. Demo cells that use none of the student's functions are left out."""
    text = (ROOT / "solutions" / lesson / f"{lesson}.py").read_text(encoding="utf-8")
    stubs: NotebookNode = jupytext.reads(cut_short(lesson, text), fmt="py:percent")
    for cell in stubs.cells:
        cell.source = re.sub(
            r"( *)### BEGIN SOLUTION.*?### END SOLUTION", r"\1raise NotImplementedError()", cell.source, flags=re.S
        )
        cell.source = re.sub(r"### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS", "", cell.source, flags=re.S)
    stubs.cells = [
        cell
        for cell in stubs.cells
        if cell.metadata.get("tags") != ["demo"]
        or ("when_ready" in cell.source and any(one.name in cell.source for one in exercises.of_lesson(lesson)))
        or set(LEANED_ON.get(lesson, ())) & set(cell.source.splitlines())
    ]
    return stubs
