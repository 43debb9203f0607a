"""Folds or leaves out cells that most readers may skip, while a release is built.

A cell with the tag `slides` says what is on a lecture's slides. A course without slides leaves these cells out:
`c.Katze.slides = False`. A cell with the tag `fine-print` explains what a check looks at besides the main idea.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from autograder.course.folding import DEMO
from autograder.errors import BadInput

if TYPE_CHECKING:
    from nbformat import NotebookNode

SLIDES, FINE_PRINT = "slides", "fine-print"

_SUMMARIES = {SLIDES: "On the slides", FINE_PRINT: "Fine print"}


def shown_cells(cells: Iterable[NotebookNode], slides: bool) -> list[NotebookNode]:
    """Return a lesson's cells, without those about slides if the course leaves them out.

    Args:
        slides: whether the course shows cells about slides.
    """
    return [cell for cell in cells if slides or SLIDES not in _tags(cell)]


def fold_aside(lesson: str, cell: NotebookNode) -> None:
    """Fold a cell's text under a one-line summary if it is an aside.

    Raises:
        BadInput: an aside has code that other cells could need.
    """
    for tag, summary in _SUMMARIES.items():
        if tag in _tags(cell) and cell.cell_type == "markdown":
            cell.source = f"<details><summary>{summary}</summary>\n\n{cell.source}\n\n</details>"
        elif tag in _tags(cell) and DEMO not in _tags(cell):
            begins = cell.source[:40]
            raise BadInput(f"{lesson}: the code {begins!r} has the tag {tag!r}: give it the tag {DEMO!r}, too")


def _tags(cell: NotebookNode) -> list[str]:
    tags: list[str] = cell.metadata.get("tags", [])
    return tags
