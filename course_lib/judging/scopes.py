"""Finds which names are local to which piece of code."""

import ast
from collections.abc import Iterable, Iterator

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = (*FUNCTIONS, *COMPREHENSIONS)
"""Nodes with local names, which are unrelated to equal names around them."""


def same_scope(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield pieces of code with all their parts, without entering functions, classes and comprehensions."""
    pending = list(nodes)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (*SCOPES, ast.ClassDef)):
            pending += ast.iter_child_nodes(node)


def around_and_inside(node: ast.AST) -> tuple[list[ast.AST], list[ast.AST]]:
    """Return the children of a node that are evaluated in the scope around it, and those in its own scope."""
    if isinstance(node, FUNCTIONS):
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
    if isinstance(node, COMPREHENSIONS):
        first = node.generators[0].iter
        rest = [part for generator in node.generators for part in (generator.target, *generator.ifs)]
        rest += [generator.iter for generator in node.generators[1:]]
        values = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        return [first], [*values, *rest]
    return [], list(ast.iter_child_nodes(node))


def local_in(node: ast.AST, inside: list[ast.AST], local: frozenset[str]) -> frozenset[str]:
    """Return the names that are local inside a node, given those around it."""
    if not isinstance(node, SCOPES):
        return local
    names = set(bound(inside))
    shared: set[str] = set()
    if isinstance(node, FUNCTIONS):
        names |= {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
        for part in same_scope(inside):
            if isinstance(part, ast.Global):
                shared |= set(part.names)
            elif isinstance(part, COMPREHENSIONS):  # a walrus in a comprehension binds around it
                names |= {inner.target.id for inner in ast.walk(part) if isinstance(inner, ast.NamedExpr)}
    return (local | names) - shared


def bound(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that code binds in its own scope."""
    names: set[str] = set()
    for part in same_scope(nodes):
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(part.name)
        elif isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            names.add(part.id)
        elif not isinstance(part, ast.Global):
            names |= bound_in_passing(part)
    return names


def bound_in_passing(node: ast.AST) -> set[str]:
    """Return the names that a node binds or declares by a string, not by a name node."""
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
