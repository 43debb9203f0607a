"""Folds cells in the students' notebooks whose code only draws: readers see the picture, and the code on request."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from IPython.core.inputtransformer2 import TransformerManager

if TYPE_CHECKING:
    from nbformat import NotebookNode

DEMO = "demo"
FOLDED = {"jupyter": {"source_hidden": True}, "cellView": "form"}
"""Cell metadata that folds a cell, in JupyterLab and in Colab."""

TITLE = "# @title The code of this picture"
"""The beginning of a folded cell's first line."""


def fold(cell: NotebookNode) -> None:
    """Fold a demo cell if no other cell needs anything from it, because it only draws with `show`."""
    if DEMO in cell.metadata.get("tags", ()) and cell.cell_type == "code":
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
