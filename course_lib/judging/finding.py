"""Finds an answer in the code of a notebook, a script or a file, without running it.

The check in a notebook, `katze check`, `katze preflight`, grading, and the code that keeps answers all use this module,
so that they mean the same definition.
"""

import ast
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from course_lib.judging.exercise import Exercise
from course_lib.judging.rules import is_diverted, statements_of, syntax_tree
from course_lib.judging.scopes import same_scope


@dataclass(frozen=True)
class Found:
    """An answer's place in the code.

    Attributes:
        cell: the index of the last cell that defines it, or would if it were Python; None if there is none.
        text: the statement that defines it; empty if there is none.
        other: if no cell defines it, what the answer's own cell defines instead; empty if nothing.
    """

    cell: int | None = None
    text: str = ""
    other: str = ""


def find_answer(name: str, cells: Sequence[str], own: Iterable[int] = ()) -> Found:
    """Find the last definition of a name at the top level of a cell, even inside an `if` or a `try`.

    Args:
        name: the answer's name.
        cells: the code of each cell, in the order in which they run, up to the check.
        own: the indices of the cells that are meant for this answer.
    """
    for place in reversed(range(len(cells))):
        defining = [statement for statement in statements_of(cells[place]) if name in statement.defines]
        if defining or name in _written_in_vain(cells[place]):
            return Found(place, defining[-1].text if defining else "")
    others = [other for place in own for other in written_names(cells[place])]
    return Found(other=max(others, key=lambda other: SequenceMatcher(None, other, name).ratio(), default=""))


def wrong_name(exercise: Exercise, other: str) -> str:
    """Return a sentence about an answer's cell that defines something else."""
    return f"Your answer cell defines `{other}`; the check looks for `{exercise.name}`."


def written_names(source: str) -> list[str]:
    """Return the functions and classes that a cell defines at its top level; at any level if it is not Python."""
    return [
        part.name
        for statement in statements_of(source)
        for part in same_scope([statement.node])
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    ] or _written_in_vain(source)


def cells_above(script: str, line: int | None = None) -> list[str]:
    """Return the cells of a script, which begin at lines "# %%", or of a marimo notebook, which is also a script.

    Args:
        script: a Python file.
        line: count only statements that end above this line, from 1; by default all. In marimo all count, since each
            name has one definition and cells run in an order that marimo chooses.
    """
    try:
        statements = ast.parse(script).body
    except SyntaxError:
        statements = []
    if any(ast.unparse(statement) == "import marimo" for statement in statements):
        return [_cell_of_marimo(script, statement) for statement in statements]
    if line is not None:
        ends = [statement.end_lineno or 0 for statement in statements]
        script = "\n".join(script.splitlines()[: max((end for end in ends if end < line), default=0)])
    return [cell.strip("\n") for cell in _CELL.split(script)]


def _cell_of_marimo(script: str, statement: ast.stmt) -> str:
    """Return the code of a cell, which marimo stores in a function, or of another statement."""
    lines = script.splitlines()[statement.lineno - 1 : statement.end_lineno]
    held = isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and any(
        ast.unparse(decorator).startswith("app.cell") for decorator in statement.decorator_list
    )
    if held or (isinstance(statement, ast.With) and ast.unparse(statement.items[0]).startswith("app.setup")):
        head = next(number for number, line in enumerate(lines, start=1) if line.rstrip().endswith(":"))
        return textwrap.dedent("\n".join(lines[head:]))
    return "\n".join(lines)


def _written_in_vain(source: str) -> list[str]:
    """Return the names that a cell would define if it were Python."""
    return [] if is_diverted(source) or syntax_tree(source) is not None else _DEFINITION.findall(source)


_CELL = re.compile(r"^# ?%%.*$", re.MULTILINE)
_DEFINITION = re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)
