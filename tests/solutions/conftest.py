"""The lessons, read once."""

from __future__ import annotations

import functools
from pathlib import Path

import jupytext
import pytest
from nbformat import NotebookNode

ROOT = Path(__file__).parents[2]
LESSONS = ("01_attention", "02_masking")


@functools.cache
def read_lesson(lesson: str) -> NotebookNode:
    """The source of a lesson as a notebook that nobody may change."""
    return jupytext.read(ROOT / "solutions" / lesson / f"{lesson}.py")


@pytest.fixture(params=LESSONS)
def lesson(request: pytest.FixtureRequest) -> str:
    """The folder of one lesson after the other."""
    return str(request.param)


@pytest.fixture
def notebook(lesson: str) -> NotebookNode:
    """That lesson's source."""
    return read_lesson(lesson)


@pytest.fixture
def prose(notebook: NotebookNode) -> str:
    """All that the lesson says in words."""
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
