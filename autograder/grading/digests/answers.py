"""Makes a digest of an answer that ignores comments, docstrings and layout.

A course accepts an answer by its digest, which `katze log` prints.
"""

import ast
import hashlib
from collections.abc import Iterable
from pathlib import Path

from autograder.errors import BadInput
from autograder.repair import Cell
from course_lib.judging.rules import syntax_tree


def of_cells(cells: Iterable[Cell]) -> dict[str, str]:
    """Return the digest of each exercise's answer, over all of its cells that run, in order."""
    sources: dict[str, list[str]] = {}
    for cell in cells:
        if cell.exercise and cell.runs:
            sources.setdefault(cell.exercise, []).append(cell.source)
    return {exercise: of_source("\n".join(parts)) for exercise, parts in sources.items()}


def of_file(path: Path) -> str:
    """Return the digest of an answer in a file.

    Raises:
        BadInput: it cannot be read.
    """
    try:
        return of_source(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read the accepted answer {path}: {error}; it must be a file of Python") from error


def of_source(source: str) -> str:
    """Return the digest of Python code; of anything else, the digest of its text."""
    return f"sha256:{hashlib.sha256(_normalised(source).encode('utf-8', 'surrogatepass')).hexdigest()}"


def _normalised(source: str) -> str:
    tree = syntax_tree(source)
    if tree is None:
        return source.strip()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    try:
        return ast.unparse(tree)
    except RecursionError:  # nested more deeply than anybody writes
        return source.strip()
