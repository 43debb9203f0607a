"""What a cell's source says about it: its marker, what it defines and imports, what it kept of another."""

from __future__ import annotations

import ast
import re

from course_lib.checking.rules import LONGEST_CELL

_MARKER = re.compile(
    r"^[ \t]*+(?:\#|<!--)[ \t]*+katze:[ \t]*+(?P<exercise>[\w.]{1,100}+)[ \t]++(?P<role>\w{1,20}+)[ \t]*+"
    r"(?:-->)?+[ \t]*+$",
    re.M,
)
_DEFINITION = re.compile(r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]{0,200})?=(?!=)", re.M)


def marker(source: str) -> tuple[str, str]:
    """The exercise and the role that the first in-source marker names; empty if there is none."""
    match = _MARKER.search(source)
    return (match["exercise"], match["role"]) if match else ("", "")


def plain(source: str) -> str:
    """A source without markers and outer or trailing white space: what two cells must share to be the same."""
    return "\n".join(line.rstrip() for line in _MARKER.sub("", source).split("\n")).strip()


def defined(source: str) -> set[str]:
    """The names that a cell defines at its top level. By pattern, so that a cell with a syntax error has some too."""
    return {match[1] or match[2] for match in _DEFINITION.finditer(source)}


def imported(source: str) -> set[str]:
    """The names that a cell imports at its top level; magics are passed over, and what is no Python imports nothing."""
    if len(source) > LONGEST_CELL or "import" not in source:
        return set()
    python = "\n".join("" if line.startswith(("%", "!")) else line for line in source.split("\n"))
    try:
        body = ast.parse(python).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    statements = [statement for statement in body if isinstance(statement, (ast.Import, ast.ImportFrom))]
    return {alias.asname or alias.name.partition(".")[0] for statement in statements for alias in statement.names}


def kept(stub: str, source: str) -> float:
    """The part of a stub's lines that a cell still has."""
    lines = {line.strip() for line in plain(stub).split("\n") if line.strip()}
    there = {line.strip() for line in source.split("\n")}
    return len(lines & there) / max(1, len(lines))


def has_own_code(source: str, released: str) -> bool:
    """Whether a changed check cell does more than call `check`."""
    if plain(source) == plain(released):
        return False
    if len(source) > LONGEST_CELL:
        return True
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return not all(_is_check(statement) for statement in body)


def _is_check(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.Import, ast.ImportFrom, ast.Pass)):
        return True
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Constant):
        return True
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "check"
