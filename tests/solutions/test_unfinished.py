"""A lesson as a student first finds it, without an answer, runs to its end: demo cells borrow what is not there yet."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest
from nbformat import NotebookNode

from autograder.site.executed import execute_notebook
from tests.solutions.executing import WAITING, points, printed
from tests.solutions.reading import read_lesson

LEANED_ON = {"12_since_2017": ('measured("2017")',)}
"""Lines of demo cells that use none of the student's functions, and stay: other cells go on with what they measure."""

CUT_SHORT = {
    "04_heads_and_blocks": {"heads, steps=500": "heads, steps=20", "steps=120, depth=12": "steps=9, depth=12"},
    "07_gpt": {"steps=600 if causal else 250": "steps=10", "EPOCHS, SEEDS = 3, 3": "EPOCHS, SEEDS = 1, 2"},
    "08_subwords": {
        "shakespeare_at_hand(190_000)": "shakespeare_at_hand(60_000)",
        "BATCH, PASSES = 64, 16, 3": "BATCH, PASSES = 64, 16, 1",
    },
    "09_bert": {
        "steps, size, every = 500, 48, 50": "steps, size, every = 20, 48, 5",
        "epochs, every, seeds = 12, 2, (1, 2, 3)": "epochs, every, seeds = 2, 1, (1, 2)",
    },
    "11_die_katze": {
        "run(corpus.recipe.steps // 2)": "run(10)",
        "learned = run(corpus.recipe.steps)": "learned = run(20)",
    },
    "12_since_2017": {"STEPS, RATE = 160, 0.003": "STEPS, RATE = 32, 0.003"},
}
"""What says how long something is trained, and what stands there instead: how well a model learns is seen where the
solutions are run."""


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
    stubs = copy.deepcopy(read_lesson(lesson))
    for long, short in CUT_SHORT.get(lesson, {}).items():
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
        or set(LEANED_ON.get(lesson, ())) & set(cell.source.splitlines())
    ]
    return stubs
