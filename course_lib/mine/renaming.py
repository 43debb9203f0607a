"""Renames top-level names in code, and leaves every other character unchanged."""

import ast
import re
from collections.abc import Iterator, Mapping

from course_lib.judging.scopes import SCOPES, around_and_inside, bound, bound_in_passing, local_in

_KEYWORD = re.compile(rb"(?:async\s+)?(?:def|class)\s+")
_BY_STRING = {"globals", "eval", "exec"}


class CannotRename(Exception):
    """A name is used in a way that cannot be renamed; the message says where."""


def renamed(source: str, names: Mapping[str, str]) -> str:
    """Rename some top-level names in code. Locals, attributes and keywords of the same name stay.

    Args:
        source: Python code.
        names: new names by old ones.

    Raises:
        CannotRename: a name is used where it cannot be changed alone.
    """
    if not names:
        return source
    lines = [line.encode() for line in source.split("\n")]
    places = dict(_places(ast.parse(source), frozenset(names)))
    if by_string := _BY_STRING & set(places.values()):
        raise CannotRename(f"{min(by_string)} may look for a name that others have, too")
    places = {place: name for place, name in places.items() if name in names}
    for (line, column), old in sorted(places.items(), reverse=True):
        text = lines[line - 1]
        keyword = _KEYWORD.match(text, column)
        start = keyword.end() if keyword else column
        end = start + len(old.encode())
        if text[start:end] != old.encode():  # in an f-string before Python 3.12
            raise CannotRename(f"{old} is the name of something else in the file, and cannot be changed in an f-string")
        lines[line - 1] = text[:start] + names[old].encode() + text[end:]
    result = b"\n".join(lines).decode()
    if names_of(result) != {names.get(name, name) for name in names_of(source)}:
        raise CannotRename(f"{', '.join(sorted(names))} cannot be changed where they are")
    return result


def names_of(source: str) -> set[str]:
    """Return the top-level names that code uses or defines, wherever they occur."""
    return {name for _, name in _places(ast.parse(source), frozenset())}


def _places(tree: ast.Module, names: frozenset[str]) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the positions (line, byte) of top-level names, each with the name; for a definition, where it begins."""
    pending: list[tuple[ast.AST, frozenset[str], frozenset[str]]] = [(tree, frozenset(), frozenset())]
    while pending:  # each with its local names, and those of its class
        node, local, own = pending.pop()
        outside, inside = around_and_inside(node)
        if isinstance(node, ast.Name) and node.id not in local | own:
            yield (node.lineno, node.col_offset), node.id
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in (own - local) & names:
            raise CannotRename(f"{node.id} is the name of something else in the file, and of something in a class")
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name not in local | own:
            yield (node.lineno, node.col_offset), node.name
        elif (found := bound_in_passing(node) & names) and not found <= local | own:
            raise CannotRename(f"{min(found)} is the name of something else in the file, and cannot be changed here")
        pending += [(child, local, own) for child in outside]
        local_inside = local_in(node, inside, local)
        if isinstance(node, (*SCOPES, ast.ClassDef)):
            own = frozenset(bound(inside) if isinstance(node, ast.ClassDef) else ())
        pending += [(child, local_inside, own) for child in inside]
