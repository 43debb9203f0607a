"""A lesson without answers, or with half of them, runs to its end: demo cells borrow what is not there yet."""

import re
from collections.abc import Collection
from pathlib import Path

import jupytext
import pytest
from nbformat import NotebookNode

from autograder.site.executed import execute_notebook
from course_lib import exercises
from tests.solutions.executing import WAITING, points, printed
from tests.solutions.reading import ROOT
from tests.solutions.short import cut_short, seeded


@pytest.mark.usefixtures("processes")
def test_an_unfinished_notebook_runs_to_its_end(sampled_lesson: str, tmp_path: Path) -> None:
    notebook = execute_notebook(stubbed(sampled_lesson), tmp_path)
    assert set(points(notebook).values()) == {0.0}
    said = [printed(cell) for cell in notebook.cells]
    assert any("Borrowed for this cell: the course's own" in text for text in said)
    assert not [text for text in said if WAITING.search(text)]


@pytest.mark.usefixtures("thorough", "processes")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("half", [0, 1], ids=["even", "odd"])
def test_with_half_of_the_answers_it_runs_to_its_end(lesson: str, half: int, seed: int, tmp_path: Path) -> None:
    written = {exercise.id for exercise in exercises.of_lesson(lesson)[half::2]}
    notebook = execute_notebook(stubbed(lesson, written, seed), tmp_path)
    expected = {e.id: float(e.points) if e.id in written else 0.0 for e in exercises.of_lesson(lesson)}
    assert points(notebook) == {f"{name.replace('.', '-')}-check": got for name, got in expected.items()}
    for cell in notebook.cells:
        assert not WAITING.search(printed(cell)), cell.source[:100]
        assert "stderr" not in {output.get("name") for output in cell.get("outputs", ())}, printed(cell)


def stubbed(lesson: str, written: Collection[str] = (), seed: int = 0) -> NotebookNode:
    """The notebook with stubs for all answers but the written ones, and with this added to its seeds."""
    text = (ROOT / "solutions" / lesson / f"{lesson}.py").read_text(encoding="utf-8")
    stubs: NotebookNode = jupytext.reads(seeded(cut_short(lesson, text), seed), fmt="py:percent")
    kept = {f"{name.replace('.', '-')}-answer" for name in written}
    for cell in stubs.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") not in kept:
            cell.source = re.sub(
                r"( *)### BEGIN SOLUTION.*?### END SOLUTION", r"\1raise NotImplementedError()", cell.source, flags=re.S
            )
        cell.source = re.sub(r"### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS", "", cell.source, flags=re.S)
    return stubs
