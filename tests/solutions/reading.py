"""The lessons, read once."""

from __future__ import annotations

import functools
from pathlib import Path

import jupytext
from nbformat import NotebookNode

ROOT = Path(__file__).parents[2]


@functools.cache
def read_lesson(lesson: str) -> NotebookNode:
    """The source of a lesson as a notebook that nobody may change."""
    notebook: NotebookNode = jupytext.read(ROOT / "solutions" / lesson / f"{lesson}.py")
    return notebook
