"""Reads a cell's source: its marker, the names that it defines and imports, the text that it kept from another."""

import ast
import re

from course_lib.checking.notebook import IMPORTED_CHECK
from course_lib.judging.rules import is_diverted, syntax_tree

_MARKER = re.compile(
    r"^[ \t]*+(?:\#|<!--)[ \t]*+katze:[ \t]*+(?P<exercise>[\w.]{1,100}+)[ \t]++(?P<role>\w{1,20}+)[ \t]*+"
    r"(?:-->)?+[ \t]*+$",
    re.M,
)
_DEFINITION = re.compile(r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]{0,200})?=(?!=)", re.M)


def marker(source: str) -> tuple[str, str]:
    """Return the exercise and role in the first marker of a source; empty if there is none."""
    match = _MARKER.search(source)
    return (match["exercise"], match["role"]) if match else ("", "")


def plain(source: str) -> str:
    """Return a source without the release's additions and surrounding white space, for comparing cells."""
    lines = (line.rstrip() for line in _MARKER.sub("", source).split("\n"))
    return "\n".join(line for line in lines if line != IMPORTED_CHECK).strip()


def defined(source: str) -> set[str]:
    """Return the names that a cell defines at its top level, found by pattern, so that syntax errors do not matter."""
    return set() if is_diverted(source) else {match[1] or match[2] for match in _DEFINITION.finditer(source)}


def imported_names(source: str) -> set[str]:
    """Return the names that a cell imports at its top level, ignoring magics; none if it is not Python."""
    tree = syntax_tree(source) if "import" in source else None
    if tree is None:
        return set()
    statements = [statement for statement in tree.body if isinstance(statement, (ast.Import, ast.ImportFrom))]
    return {alias.asname or alias.name.partition(".")[0] for statement in statements for alias in statement.names}


def kept(stub: str, source: str) -> float:
    """Return the share of a stub's lines that a cell still has."""
    lines = {line.strip() for line in plain(stub).split("\n") if line.strip()}
    there = {line.strip() for line in source.split("\n")}
    return len(lines & there) / max(1, len(lines))


def is_unanswered(source: str, released: str) -> bool:
    """Return whether a cell has no more code than the stub, apart from comments, docstrings and empty functions."""
    trees = [syntax_tree(source), syntax_tree(released)]
    try:
        stubs = [ast.dump(_Hollow().visit(tree)) for tree in trees if tree is not None]
    except RecursionError:  # nested deeper than any human code
        return False
    return len(stubs) == 2 and stubs[0] == stubs[1]


class _Hollow(ast.NodeTransformer):
    """Removes what has no meaning: docstrings, and statements that fill an unwritten function."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) else node

    def visit_Pass(self, node: ast.Pass) -> None:
        return None

    def visit_Return(self, node: ast.Return) -> ast.Return | None:
        is_none = node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)
        return None if is_none else node

    def visit_Raise(self, node: ast.Raise) -> ast.Raise | None:
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        return None if isinstance(raised, ast.Name) and raised.id == "NotImplementedError" else node


def has_own_code(source: str, released: str) -> bool:
    """Return whether a changed check cell does more than call `check`."""
    if plain(source) == plain(released):
        return False
    tree = syntax_tree(source)
    has_magics = any(line.startswith(("%", "!")) for line in source.splitlines())
    return tree is None or has_magics or not all(_is_check(statement) for statement in tree.body)


def _is_check(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.Import, ast.ImportFrom, ast.Pass)):
        return True
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Constant):
        return True
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "check"
