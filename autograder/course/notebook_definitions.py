"""Reads the definitions in a released notebook: imports, functions that it gives to students, empty stubs."""

import ast
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_args

from IPython.core.inputtransformer2 import TransformerManager


def released_stubs(notebooks: Iterable[Path]) -> dict[str, str]:
    """Return the code of the answer cells in released notebooks, by exercise id, each with the definitions from the
    notebook that it needs.
    """
    stubs = {}
    for text in (notebook.read_text(encoding="utf-8") for notebook in notebooks):
        for grade_id, source in _answer_cells(json.loads(text)).items():
            if grade_id.endswith("-answer"):
                needed = map(ast.unparse, _needed(source, _given_by(text)))
                stubs[grade_id.removesuffix("-answer").replace("-", ".", 1)] = "\n".join([*needed, source])
    return stubs


def needed_of_notebook(notebook: Path, source: str) -> list[ast.stmt]:
    """Return the released notebook's imports and definitions that a source uses, in the notebook's order."""
    return list(_needed(source, _given_by(notebook.read_text(encoding="utf-8"))))


def answered_cells(notebook: Path, fresh: bytes) -> list[str]:
    """Return the `grade_id`s of the cells with an answer in a released notebook or a copy of one, by comparison with a
    fresh release; [] if the file is not a notebook.
    """
    stubs = _answer_cells(json.loads(fresh))
    try:
        written = _answer_cells(json.loads(notebook.read_text(encoding="utf-8")))
    except (ValueError, LookupError, TypeError, AttributeError):
        return []
    return [name for name, source in written.items() if source.strip() != stubs.get(name, source).strip()]


def _answer_cells(notebook: Mapping[str, Any]) -> dict[str, str]:
    flags = [(cell, cell["metadata"].get("nbgrader", {})) for cell in notebook["cells"]]
    return {nbgrader["grade_id"]: _source(cell) for cell, nbgrader in flags if nbgrader.get("solution")}


def _source(cell: Mapping[str, Any]) -> str:
    """Return the cell's code as plain Python, without magics."""
    source = cell["source"]
    return TransformerManager().transform_cell(source if isinstance(source, str) else "".join(source))


_Given = ast.Import | ast.ImportFrom | ast.ClassDef | ast.FunctionDef | ast.Assign
_IMPORTS = (ast.Import, ast.ImportFrom)


@cache
def _given_by(text: str) -> list[_Given]:
    """Return a notebook's imports and definitions, cached because parsing it takes longer than checking an answer."""
    cells = json.loads(text)["cells"]
    return [one for cell in cells if cell["cell_type"] == "code" for one in _given(cell)]


def _given(cell: Mapping[str, Any]) -> list[_Given]:
    """Return a cell's imports and, unless it is graded or a demo, its classes, functions and constants."""
    metadata = cell["metadata"]
    is_plain = "nbgrader" not in metadata and "demo" not in metadata.get("tags", ())
    statements = [one for one in ast.parse(_source(cell)).body if isinstance(one, get_args(_Given))]
    return [one for one in statements if isinstance(one, _IMPORTS) or (is_plain and not _is_computed(one))]


def _is_computed(statement: ast.stmt) -> bool:
    """Return whether this assigns a computed value: anything but a literal, such as a table."""
    if not isinstance(statement, ast.Assign):
        return False
    try:
        ast.literal_eval(statement.value)
    except ValueError:
        return True
    return not all(isinstance(one, ast.Name) for one in statement.targets)


def _needed(source: str, given: Sequence[_Given]) -> list[_Given]:
    """Return the given statements that the source mentions, directly or through others, in the notebook's order."""
    found: set[int] = set()
    names = _mentioned(ast.parse(source))
    while more := {i for i, statement in enumerate(given) if _binds(statement) & names} - found:
        found |= more
        names = names.union(*(_mentioned(given[i]) for i in more))
    return [given[i] for i in sorted(found)]


def _mentioned(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _binds(statement: _Given) -> set[str]:
    if isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
        return {statement.name}
    if isinstance(statement, ast.Assign):
        return {target.id for target in statement.targets if isinstance(target, ast.Name)}
    return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
