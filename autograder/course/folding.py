"""Folds or leaves out cells that most readers may skip, while a release is built.

Where code only draws, readers see the picture, and the code on request. A cell with the tag `slides` says what is on a
lecture's slides; a course without slides leaves these cells out: `c.Katze.slides = False`. A cell with the tag
`fine-print` explains what a check looks at besides the main idea.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from IPython.core.inputtransformer2 import TransformerManager

from autograder.errors import BadInput

if TYPE_CHECKING:
    from nbformat import NotebookNode

DEMO, SLIDES = "demo", "slides"
FOLDED = {"jupyter": {"source_hidden": True}, "cellView": "form"}
"""Cell metadata that folds a cell, in JupyterLab and in Colab."""

TITLE = "# @title The code of this picture"
"""The beginning of a folded cell's first line."""

_ASIDES = {SLIDES: "On the slides", "fine-print": "Fine print"}


def shown_cells(cells: Iterable[NotebookNode], slides: bool) -> list[NotebookNode]:
    """Return a lesson's cells, without those about slides unless the course shows them."""
    return [cell for cell in cells if slides or SLIDES not in _tags(cell)]


def fold_aside(lesson: str, cell: NotebookNode) -> None:
    """Fold a cell's text under a one-line summary if it is an aside.

    Raises:
        BadInput: an aside has code that other cells could need.
    """
    for tag, summary in _ASIDES.items():
        if tag in _tags(cell) and cell.cell_type == "markdown":
            cell.source = f"<details><summary>{summary}</summary>\n\n{cell.source}\n\n</details>"
        elif tag in _tags(cell) and DEMO not in _tags(cell):
            begins = cell.source[:40]
            raise BadInput(f"{lesson}: the code {begins!r} has the tag {tag!r}: give it the tag {DEMO!r}, too")


def fold(cell: NotebookNode) -> None:
    """Fold a demo cell if no other cell needs anything from it, because it only draws with `show`."""
    if DEMO in _tags(cell) and cell.cell_type == "code":
        code = ast.parse(TransformerManager().transform_cell(cell.source))
        if all(map(_draws, code.body)):
            cell.metadata.update(FOLDED)
            cell.source = f"{_title(code)}\n{cell.source}"


def _title(code: ast.Module) -> str:
    """Return the line of a folded cell that stays visible: its first line in JupyterLab, its title in Colab."""
    names = [statement.name.replace("_", " ") for statement in code.body if isinstance(statement, ast.FunctionDef)]
    return f"{TITLE}{f': {names[0]}' if names else ''}"


def _draws(statement: ast.stmt) -> bool:
    match statement:
        case ast.FunctionDef(decorator_list=[ast.Attribute(value=ast.Name(id="show"), attr="when_ready")]):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="show")))):
            return True
    return isinstance(statement, (ast.Import, ast.ImportFrom))


def _tags(cell: NotebookNode) -> list[str]:
    tags: list[str] = cell.metadata.get("tags", [])
    return tags
