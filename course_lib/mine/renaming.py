"""Gives names at the top level of some code other names, and leaves every other character as it was written."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

from course_lib.judging.rules import same_scope

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_KEYWORD = re.compile(rb"(?:async\s+)?(?:def|class)\s+")
_BY_STRING = {"globals", "eval", "exec"}


class CannotRename(Exception):
    """A name is used in a way that cannot be followed; the message says where."""


def renamed(source: str, names: Mapping[str, str]) -> str:
    """Some code with new names for some of its top-level names. Locals, attributes and keywords of the same name stay.

    Args:
        source: Python.
        names: new names by old ones.

    Raises:
        CannotRename: one of them is used where it cannot be changed alone.
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
    """The names that some code uses or defines at its top level, wherever they occur."""
    return {name for _, name in _places(ast.parse(source), frozenset())}


def _places(tree: ast.Module, names: frozenset[str]) -> Iterator[tuple[tuple[int, int], str]]:
    """Where names of the top level stand, as (line, byte), each with the name; of a definition, where that begins."""
    pending: list[tuple[ast.AST, frozenset[str], frozenset[str]]] = [(tree, frozenset(), frozenset())]
    while pending:  # each with the names that are local there, and those of the class that it is in
        node, local, own = pending.pop()
        outside, inside = _split(node)
        if isinstance(node, ast.Name) and node.id not in local | own:
            yield (node.lineno, node.col_offset), node.id
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in (own - local) & names:
            raise CannotRename(f"{node.id} is the name of something else in the file, and of something in a class")
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name not in local | own:
            yield (node.lineno, node.col_offset), node.name
        elif (found := _bound_in_passing(node) & names) and not found <= local | own:
            raise CannotRename(f"{min(found)} is the name of something else in the file, and cannot be changed here")
        pending += [(child, local, own) for child in outside]
        if isinstance(node, ast.ClassDef):
            pending += [(child, local, frozenset(_bound(node.body))) for child in inside]
        elif isinstance(node, (*_FUNCTIONS, *_COMPREHENSIONS)):
            pending += [(child, _local_in(node, inside, local), frozenset()) for child in inside]
        else:
            pending += [(child, local, own) for child in inside]


def _split(node: ast.AST) -> tuple[list[ast.AST], list[ast.AST]]:
    """The children of a node that are evaluated around it, and those with its own scope."""
    if isinstance(node, _FUNCTIONS):
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        outside: list[ast.AST | None] = [
            *getattr(node, "decorator_list", ()),
            *arguments.defaults,
            *arguments.kw_defaults,
            *(argument.annotation for argument in every if argument is not None),
            getattr(node, "returns", None),
        ]
        body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
        return [part for part in outside if part is not None], body
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords], list(node.body)
    if isinstance(node, _COMPREHENSIONS):
        first = node.generators[0].iter
        rest = [part for generator in node.generators for part in (generator.target, *generator.ifs)]
        rest += [generator.iter for generator in node.generators[1:]]
        values = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        return [first], [*values, *rest]
    return [], list(ast.iter_child_nodes(node))


def _local_in(node: ast.AST, inside: list[ast.AST], local: frozenset[str]) -> frozenset[str]:
    """The names that are local in a function or a comprehension, given those around it."""
    names = set(_bound(inside))
    shared: set[str] = set()
    if isinstance(node, _FUNCTIONS):
        names |= {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
        for part in same_scope(inside):
            if isinstance(part, ast.Global):
                shared |= set(part.names)
            elif isinstance(part, _COMPREHENSIONS):  # a walrus in one binds around it
                names |= {inner.target.id for inner in ast.walk(part) if isinstance(inner, ast.NamedExpr)}
    return (local | names) - shared


def _bound(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that some code binds in its own scope."""
    names: set[str] = set()
    for part in same_scope(nodes):
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(part.name)
        elif isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            names.add(part.id)
        elif not isinstance(part, ast.Global):
            names |= _bound_in_passing(part)
    return names


def _bound_in_passing(node: ast.AST) -> set[str]:
    """The names that a node binds, or declares, by a string of its own."""
    match node:
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return {alias.asname or alias.name.partition(".")[0] for alias in aliases}
        case ast.Global(names=names):
            return set(names)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return {name}
        case ast.MatchMapping(rest=str(name)):
            return {name}
    return set()
