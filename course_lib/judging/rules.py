"""Finds names that an answer may not use in its syntax tree (`trap.py` finds them when it runs).

This is best effort, and the docs say so: Python can reach a function in more ways than these two detect. `hiding.py`
finds, for the teacher, code that could hide a call. What may not be *read* is withheld from the sandbox instead; a rule
only keeps a student from skipping the work with one call.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from threading import Lock

from course_lib.judging.scopes import around_and_inside, local_in, same_scope

LONGEST_CELL = 20_000
LONGEST_CODE = 300_000
"""In characters. A syntax tree takes about a hundred times the memory of its text."""

_LONGEST_KEPT = 3_000
"""The most characters of a cell whose syntax tree is cached: 128 such trees take at most some 100 MB."""

_DIVERTING = re.compile(r"\s*+%%(?!(?:capture|prun|time)\b)")
"""A cell magic, except those that run the code below them as usual."""

_PARSING = Lock()
"""Python 3.11 adds up the parsing depth of all threads, and takes a large sum for an error."""


@dataclass(frozen=True)
class BrokenRule:
    """A forbidden name in an answer.

    Attributes:
        name: the forbidden name.
        line: its line, counted from 1 within its cell or file.
        code: the text of that line.
    """

    name: str
    line: int
    code: str

    @property
    def place(self) -> str:
        """The place of the name, in words."""
        return f"line {self.line}: {self.code}"


class Code:
    """The code of a notebook's cells, or of a file: parsed once, for questions about several answers.

    Some code is skipped: cells longer than `LONGEST_CELL`, everything after `LONGEST_CODE`, and what is not Python. A
    trap still watches it run.
    """

    def __init__(self, sources: Sequence[str]) -> None:
        """Parse the code.

        Args:
            sources: the code of each cell, in order; magics are skipped.
        """
        self._cells: list[Sequence[Statement]] = []
        budget = LONGEST_CODE
        for source in sources:
            budget -= len(source)
            self._cells.append(statements_of(source) if budget >= 0 else ())

    def broken_rule(self, name: str, forbidden: Iterable[str], cells: int | None = None) -> BrokenRule | None:
        """Return the first forbidden name that the definition of `name` uses, directly or indirectly.

        Only code that the answer can reach is searched, so a student may compare an answer with torch's own function
        elsewhere. The last definition counts, so that a repaired answer is not blamed for the old one.

        Args:
            name: the name that the student defines.
            forbidden: names, matched as attributes (`F.softmax`), imports and strings passed to `getattr`; a module's
                name forbids all of it.
            cells: search only this many cells from the start; by default all of them.
        """
        wanted = frozenset(forbidden)
        if not wanted:
            return None
        statements = [statement for cell in self._cells[:cells] for statement in cell]
        defined = {function for statement in statements for function in statement.functions}
        modules = {bound: path for statement in statements for bound, path in statement.imports.items()}
        for statement, use in self._uses(name, statements):
            last, root = use.path.rpartition(".")[2], use.path.partition(".")[0]
            broken = last if last in wanted and (last not in defined or root in modules) else ""
            if not broken and (use.is_import or root in modules):
                path = use.path if use.is_import else modules[root] + use.path.removeprefix(root)
                broken = next((one for one in sorted(wanted) if f"{path}.".startswith(f"{one}.")), "")
            if broken:
                return BrokenRule(broken, use.line, line_of(statement.source, use.line))
        return None

    def reached(self, name: str) -> Iterator[Use]:
        """Yield what the definition of `name` uses from elsewhere, directly and indirectly."""
        return (use for _, use in self._uses(name, [statement for cell in self._cells for statement in cell]))

    def _uses(self, name: str, statements: list[Statement]) -> Iterator[tuple[Statement, Use]]:
        """Yield the uses in statements; of an import of several names, only those that are mentioned count."""
        answer = _reachable(name, statements)
        mentioned = {name}.union(*(statement.mentions for statement in answer))
        for statement in answer:
            for use in statement.uses:
                if not statement.imported or not use.binds or use.binds in mentioned:
                    yield statement, use

    def is_rebound(self, name: str, cells: int) -> bool:
        """Return whether a later cell redefines `name`, or a name that its definition uses.

        Args:
            name: the name that the student defines.
            cells: the number of cells, from the start, that belong to it; the others are later.
        """
        before = [statement for cell in self._cells[:cells] for statement in cell]
        answer = _reachable(name, before)
        used = {name}.union(*(statement.mentions for statement in answer))
        known = {imported for statement in before for imported in statement.imported}
        return any(
            (statement.defines & used) and not (statement.imported and statement.imported <= known)
            for cell in self._cells[cells:]
            for statement in cell
        )

    def places(self, name: str) -> set[int]:
        """Return the indices of the cells that define `name`, and of all that its definition uses."""
        statements = [statement for cell in self._cells for statement in cell]
        answers = [statement for statement in statements if name in statement.defines]
        wanted = {id(statement) for statement in used_by(answers, {name}, statements)}
        return {place for place, cell in enumerate(self._cells) if any(id(one) in wanted for one in cell)}


def defines(source: str, name: str) -> bool:
    """Return whether this code defines `name` at its top level. Code that does not parse defines nothing."""
    return any(name in _defines(node) for node in _parsed(source))


def definitions(source: str) -> str:
    """Return only a cell's imports, functions and classes."""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return "\n".join(ast.unparse(node) for node in _parsed(source) if isinstance(node, kinds))


@dataclass(frozen=True)
class Statement:
    """A statement at the top level of a cell, with the names that it defines and uses.

    Attributes:
        node: its syntax tree.
        source: the whole cell.
    """

    node: ast.stmt
    source: str

    @property
    def text(self) -> str:
        """The statement's text, with its decorators."""
        decorators = getattr(self.node, "decorator_list", [])
        if decorators:
            return "\n".join(self.source.splitlines()[decorators[0].lineno - 1 : self.node.end_lineno])
        return ast.get_source_segment(self.source, self.node) or ""

    @property
    def commented(self) -> str:
        """The statement's text, with the comments right above it and after it."""
        lines = self.source.splitlines()
        decorators = getattr(self.node, "decorator_list", [])  # including them, the text is whole lines
        begin = (decorators or [self.node])[0].lineno - 1
        above = begin
        while above and lines[above - 1].startswith("#"):
            above -= 1
        behind = lines[(self.node.end_lineno or 1) - 1].encode()[self.node.end_col_offset :].decode(errors="ignore")
        is_comment = behind.lstrip().startswith("#") and not decorators
        return "\n".join([*lines[above:begin], self.text]) + (behind if is_comment else "")

    @cached_property
    def defines(self) -> set[str]:
        """The names that the statement defines."""
        return _defines(self.node)

    @cached_property
    def mentions(self) -> set[str]:
        """The names that it reads, at once or when called."""
        return _mentions(self.node)

    @cached_property
    def uses(self) -> list[Use]:
        """The names that it takes from elsewhere."""
        return list(uses(self.node))

    @cached_property
    def imports(self) -> dict[str, str]:
        """The names that it imports, even inside functions, and what they stand for."""
        return {use.binds: use.path if use.is_renamed else use.binds for use in self.uses if use.binds}

    @cached_property
    def imported(self) -> frozenset[tuple[str, str, str]]:
        """What it imports, if it does nothing else: from where, what, and as what."""
        match self.node:
            case ast.Import(names=names):
                return frozenset(("", alias.name, alias.asname or "") for alias in names)
            case ast.ImportFrom(module=module, names=names):
                return frozenset((module or "", alias.name, alias.asname or "") for alias in names)
        return frozenset()

    @cached_property
    def functions(self) -> set[str]:
        """The functions and methods defined in it, since a student may call a `softmax` of their own."""
        return {part.name for part in ast.walk(self.node) if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef))}


def statements_of(source: str) -> Sequence[Statement]:
    """Return the top-level statements of a cell, cached for short cells, most of which a class has in common."""
    return _kept_statements(source) if len(source) <= _LONGEST_KEPT else _read_statements(source)


def _read_statements(source: str) -> Sequence[Statement]:
    return tuple(Statement(node, source) for node in _parsed(source))


_kept_statements = lru_cache(maxsize=128)(_read_statements)


def _parsed(source: str) -> list[ast.stmt]:
    tree = syntax_tree(source)
    return [] if tree is None else tree.body


def syntax_tree(source: str) -> ast.Module | None:
    """Return the syntax tree of a cell without its magics; None if it is not Python for the kernel, or too long."""
    if len(source) > LONGEST_CELL or is_diverted(source):
        return None
    python = "\n".join("" if line.startswith(("%", "!")) else line for line in source.splitlines())
    try:
        with _PARSING:
            return ast.parse(python)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def cannot_run(source: str) -> bool:
    """Return whether a cell does nothing: it is empty, or neither Python nor anything that IPython makes Python of."""
    lines = [line for line in source.splitlines() if line.strip()]
    if not lines:
        return True
    if len(source) > LONGEST_CELL or lines[0][0].isspace() or any(map(_OF_IPYTHON.search, lines)):
        return False
    try:
        with _PARSING:
            ast.parse(source)
    except SyntaxError:
        return True
    except (ValueError, RecursionError, MemoryError):
        return False
    return False


_OF_IPYTHON = re.compile(r"^\s*(?:[%!?/,;]|>>>|\.\.\.|In \[)|=\s*[%!]|\?\s*$")
"""A line that IPython may turn into Python."""


def is_diverted(source: str) -> bool:
    """Return whether a cell magic sends the code elsewhere: to a file, another program, or a timer."""
    return _DIVERTING.match(source) is not None


def _reachable(name: str, statements: list[Statement]) -> list[Statement]:
    """Return the last statement that defines `name`, and transitively all that define what it mentions.

    If the last definition mentions `name` itself, it builds on the one before, which then counts as well.
    """
    answer: list[Statement] = []
    for statement in reversed([one for one in statements if name in one.defines]):
        answer.append(statement)
        if name not in statement.mentions:
            break
    return used_by(answer, {name}, statements)


def used_by(answer: list[Statement], seen: set[str], statements: Sequence[Statement]) -> list[Statement]:
    """Return these statements, and transitively all that define what they mention, except for names in `seen`."""
    defining: dict[str, list[Statement]] = {}
    for statement in statements:
        for defined in statement.defines:
            defining.setdefault(defined, []).append(statement)
    found, pending = [], answer
    while pending:
        statement = pending.pop()
        found.append(statement)
        for mentioned in sorted(statement.mentions - seen):
            pending += defining.get(mentioned, [])
        seen |= statement.mentions
    return found


def _defines(node: ast.AST) -> set[str]:
    """Return the names that a statement defines in its own scope."""
    names: set[str] = set()
    for part in same_scope([node]):
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(part.name)
        elif isinstance(part, (ast.Import, ast.ImportFrom)):
            names |= {alias.asname or alias.name.partition(".")[0] for alias in part.names}
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            names.add(part.id)
    return names


def _mentions(node: ast.AST) -> set[str]:
    """Return the names that a statement uses, except those local to a function or comprehension in it."""
    names: set[str] = set()
    pending: list[tuple[ast.AST, frozenset[str]]] = [(node, frozenset())]
    while pending:  # no recursion, since submissions may be nested arbitrarily deep
        part, local = pending.pop()
        if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name) and part.target.id not in local:
            names.add(part.target.id)  # `x += 1` reads x, too
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and part.id not in local:
            names.add(part.id)
        outside, inside = around_and_inside(part)
        local_inside = local_in(part, inside, local)
        pending += [*((child, local) for child in outside), *((child, local_inside) for child in inside)]
    return names


@dataclass(frozen=True)
class Use:
    """A name that code takes from elsewhere.

    Attributes:
        path: its full path, as far as it consists of names ("torch.nn.Softmax", "softmax").
        line: its line, counted from 1.
        binds: the name that an import gives it; empty if it is not an import.
        is_import: whether it is imported, or a string that `getattr` or the like looks up.
    """

    path: str
    line: int
    binds: str = ""
    is_import: bool = False

    @property
    def is_renamed(self) -> bool:
        """True if the new name stands for the whole path: `import torch.nn as nn`, `from torch import nn`."""
        return self.binds != self.path.partition(".")[0]


def uses(node: ast.AST) -> Iterator[Use]:
    """Yield the names that code takes from elsewhere: attributes, imports, strings passed to `getattr` and the like."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute):
            yield Use(dotted(part), part.lineno)
        elif isinstance(part, ast.Import):
            for alias in part.names:
                yield Use(alias.name, part.lineno, alias.asname or alias.name.partition(".")[0], is_import=True)
        elif isinstance(part, ast.ImportFrom):
            for alias in part.names:
                yield Use(f"{part.module or ''}.{alias.name}", part.lineno, alias.asname or alias.name, is_import=True)
        elif isinstance(part, ast.Call) and dotted(part.func).rpartition(".")[2] in _BY_STRING:
            for argument in part.args:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield Use(argument.value, argument.lineno, is_import=True)


_BY_STRING = {"getattr", "attrgetter", "methodcaller", "__getattr__", "__getattribute__", "__import__", "import_module"}
"""The functions that look up a name given as a string."""


def dotted(node: ast.expr) -> str:
    """Return the name of a chain of attributes, such as "torch.nn.Softmax"; ".eval" if it begins with a value."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id if isinstance(node, ast.Name) else "", *reversed(parts)])


def line_of(source: str, line: int) -> str:
    """Return the text of a line of a cell, counted from 1."""
    lines = source.splitlines()
    return lines[line - 1].strip() if line <= len(lines) else ""
