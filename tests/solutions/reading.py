"""The lessons, read once."""

import functools
import re
from pathlib import Path
from typing import Any

import jupytext
from nbformat import NotebookNode

ROOT = Path(__file__).parents[2]


@functools.cache
def read_lesson(lesson: str) -> NotebookNode:
    """The source of a lesson as a notebook that nobody may change."""
    notebook: NotebookNode = jupytext.read(ROOT / "solutions" / lesson / f"{lesson}.py")
    return notebook


def without_times(source: str) -> str:
    """A cell's text without what a release says about how long the lesson takes."""
    return re.sub(r"(?m)\n\n\*\*How long\.\*\*.*|^> \*\*A good place to stop for tonight\*\*.*\n\n", "", source)


def defined_by(lesson: str, beginning: str, old: str = "", new: str = "", **names: Any) -> dict[str, Any]:
    """What the lesson's only cell that begins so defines, with one text in it replaced by another.

    Args:
        names: what is defined before.
    """
    (cell,) = (cell.source for cell in read_lesson(lesson).cells if cell.source.startswith(beginning))
    exec(cell.replace(old, new) if old else cell, names)
    return names
