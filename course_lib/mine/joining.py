"""Joins a learner's answers, as text that is never run here, into files: their own transformer, and a GPT.

A template surrounds a file's pieces, with imports that they may need; unused ones are left out. Each answer brings
helpers from its cells, renamed if their names are taken, and its own imports, which move to the top. If an answer is
missing or cannot be joined, the course's own is borrowed.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import fill

from course_lib.judging.rules import Statement, statements_of, used_by
from course_lib.learner.reference_list import REFERENCES
from course_lib.learner.transformer_pieces import GPT_PIECES, PIECES
from course_lib.mine.renaming import CannotRename, names_of, renamed

NAME, GPT_NAME = "my_transformer", "my_gpt"
"""The names of the files, without `.py`."""

_PIECES = {NAME: PIECES, GPT_NAME: GPT_PIECES}

_MAIN = {NAME: "main", GPT_NAME: "continued"}
"""The main function of each file."""

_NAMES = PIECES | GPT_PIECES

_COURSE = {f"course_lib.{path}": _NAMES[exercise] for exercise, path in REFERENCES.items() if exercise in _NAMES} | {
    "torch.nn.functional.scaled_dot_product_attention": "scaled_dot_product_attention",
    **{f"course_lib.text.tokenization.{name}": name for name in ("PADDING_ID", "START_ID", "END_ID")},
}
"""What lessons import from the library, and its counterpart in the file."""

_TORCHS_OPTIONS = frozenset({"query", "key", "value", "dropout_p", "is_causal", "scale", "enable_gqa"})
"""Options that torch's attention takes, but the file's does not."""

_MARKS = re.compile(r"^ *# (?:katze: \S+ answer|YOUR CODE HERE)\n", re.M)
"""Marks that belong to a notebook's cell, not to the learner's code."""

_BUILT_IN = frozenset({*dir(builtins), "__name__", "__doc__", "__file__"})


class CannotJoin(Exception):
    """An answer cannot be joined; the message says why."""


@dataclass(frozen=True)
class Piece:
    """A piece of a joined file.

    Attributes:
        exercise_id: the exercise that it answers.
        name: its name in the file.
        text: its code, with its helpers; empty if it is missing.
        own: whether it is the learner's.
        problem: why the learner's answer is not used; empty if there is none, or if it is used.
    """

    exercise_id: str
    name: str
    text: str
    own: bool
    problem: str = ""


@dataclass(frozen=True)
class Joined:
    """A learner's transformer.

    Attributes:
        pieces: in reading order.
        text: the whole file; empty if a piece is missing.
        idle: the names of pieces in the file that are never called, since others do the same in another way.
    """

    pieces: Sequence[Piece]
    text: str
    idle: Sequence[str] = ()


def join_answers(answers: Mapping[str, str], course: Mapping[str, str]) -> tuple[Joined, Joined]:
    """Join answers into a transformer, and into a GPT whose file imports what it needs from the transformer's.

    Args:
        answers: the learner's answers, each with all that it needs, by exercise.
        course: the course's answers, which may use each other and what the templates import. If one is not shown, its
            piece is missing without the learner's.
    """
    transformer = _File(NAME)
    joined = _joined(transformer, answers, course)
    return joined, _joined(_File(GPT_NAME, transformer), answers, course)


def _joined(file: _File, answers: Mapping[str, str], course: Mapping[str, str]) -> Joined:
    pieces = []
    for exercise_id, name in _PIECES[file.name].items():
        piece = Piece(exercise_id, name, course.get(exercise_id, ""), own=False)
        if exercise_id in answers:
            try:
                piece = replace(piece, text=file.add(name, answers[exercise_id], piece.text), own=True)
            except (CannotJoin, CannotRename) as why:
                piece = replace(piece, problem=str(why))
        pieces.append(piece)
    if not all(piece.text for piece in pieces):
        return Joined(pieces, "")
    body = _body(file, pieces)
    called = _called(body, _MAIN[file.name])
    idle = [piece.name for piece in pieces if piece.name not in called]
    introduction = _told(file.name, pieces, idle)
    return Joined(pieces, f'"""{introduction}\n"""\n\n{_sorted(file.imports, body)}\n\n{body}\n', idle)


class _File:
    """A file under construction.

    Attributes:
        name: its name, without `.py`.
        template: the code around its pieces, without the imports.
        known: the pieces that it can use, by exercise.
        names: all names that it can use in place of the course's.
        imports: its import lines, by the name that each binds.
    """

    def __init__(self, name: str, beside: _File | None = None) -> None:
        """Begin with the template's content, and with imports of the pieces in the file beside it."""
        self.name = name
        self.known: Mapping[str, str] = {**_PIECES[name], **(beside.known if beside else {})}
        self.names = {*_COURSE.values()} - (set() if beside else {*GPT_PIECES.values()})
        self.imports = {one: f"from {beside.name} import {one}" for one in beside.names} if beside else {}
        self._taken: set[str] = {*self.known.values()}
        self._texts: set[str] = set()
        text, end = Path(__file__).with_name(f"{name}.template").read_text(encoding="utf-8"), 0
        for statement in statements_of(re.sub(r"^ *#.*$", "", text, flags=re.M)):
            self._taken |= statement.defines
            if isinstance(statement.node, (ast.Import, ast.ImportFrom)):
                self.imports |= dict(_import_line(statement.node, alias) for alias in statement.node.names)
                end = statement.node.end_lineno or 0
        self.template = "".join(text.splitlines(keepends=True)[end:])

    def add(self, name: str, script: str, like: str) -> str:
        """Add a learner's answer; return its text for the file.

        Args:
            name: the answer's name.
            script: its code, with all that it needs.
            like: the course's own, which is called in the same way; empty if unknown.

        Raises:
            CannotJoin: the answer lacks something, or is called in another way.
            CannotRename: one of its names must change, but cannot.
        """
        statements = _statements(name, script)
        if like:
            _check_called_alike(name, _parameters(name, script), _parameters(name, like))
        mentioned = set[str]().union(*(statement.mentions for statement in statements))
        cell = _Cell(self, name, mentioned, _called_with(_TORCHS_OPTIONS, statements))
        body = [statement for statement in statements if not cell.takes(statement)]
        defined = set[str]().union(*(statement.defines for statement in body))
        for statement in body:
            if unknown := sorted(names_of(statement.text) - defined - cell.names.keys() - _BUILT_IN):
                raise CannotJoin(f"it uses {', '.join(unknown)}, which its cells do not define")
        shared = self._shared(body, cell.names)
        new = [statement for statement in body if statement not in shared]
        helpers = set[str]().union(*(statement.defines for statement in new)) - {name}
        cell.names |= {helper: self.free(helper, name) for helper in sorted(helpers)}
        texts = [_MARKS.sub("", renamed(statement.commented, cell.changed)) for statement in new]
        self._texts |= {one.text for one in new if not (one.mentions | one.defines) & cell.changed.keys()}
        self._taken |= set(cell.names.values())
        self.imports |= cell.imports
        return "\n\n\n".join(texts)

    def free(self, name: str, piece: str) -> str:
        """Return a free name for something that a piece needs: its own, or a similar one if that is taken."""
        if name in self._taken | _BUILT_IN:
            name = f"{name}_of_{piece}"
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def gives(self, bound: str, line: str) -> bool:
        """Return whether this name is bound by this import line, or is not bound yet."""
        return self.imports[bound] == line if bound in self.imports else bound not in self._taken | _BUILT_IN

    def _shared(self, body: Sequence[Statement], names: Mapping[str, str]) -> Sequence[Statement]:
        """Return the statements that the file already has, with all that they use."""
        shared = [statement for statement in body if statement.text in self._texts]
        while True:
            others = {old for old, new in names.items() if old != new}
            others = others.union(*(statement.defines for statement in body if statement not in shared))
            kept = [statement for statement in shared if not statement.mentions & others]
            if len(kept) == len(shared):
                return shared
            shared = kept


@dataclass
class _Cell:
    """The meanings of names in a learner's code within the file.

    Attributes:
        file: the file.
        piece: the answer's name.
        mentioned: the names that the code reads; other imports are left out.
        torchs: the names that it calls with options that only torch has.
        names: the new name of each name in the file.
        imports: the imports that it adds, by name.
    """

    file: _File
    piece: str
    mentioned: set[str]
    torchs: set[str]
    names: dict[str, str] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)

    @property
    def changed(self) -> dict[str, str]:
        """The names that differ in the file."""
        return {old: new for old, new in self.names.items() if old != new}

    def takes(self, statement: Statement) -> bool:
        """Return whether a statement only gives names a meaning, so that it is left out of the code."""
        node = statement.node
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                self._import(node, alias)
            return True
        for part in ast.walk(node):
            if isinstance(part, (ast.Import, ast.ImportFrom)) and any(_is_of_course(part, one) for one in part.names):
                raise CannotJoin(f"it has {ast.unparse(part)!r} inside other code: import it above")
        lent = _lent(node, self.file.known)
        self.names |= lent
        return bool(lent)

    def _import(self, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> None:
        bound, line = _import_line(node, alias)
        if alias.name == "*" or (isinstance(node, ast.ImportFrom) and node.level):
            raise CannotJoin(f"it has {ast.unparse(node)!r}: import what it uses by its name")
        if bound not in self.mentioned:
            return
        path = line.split(" as ")[0].removeprefix("from ").removeprefix("import ").replace(" import ", ".")
        if _COURSE.get(path) in self.file.names and bound not in self.torchs:
            self.names[bound] = _COURSE[path]
            return
        if _is_of_course(node, alias):
            if path != "course_lib.mine.answer":
                raise CannotJoin(f"it uses {path}, but the file has nothing from the course")
            return
        key = alias.name if alias.asname is None and isinstance(node, ast.Import) else bound
        is_there = self.file.gives(bound, line) or (key != bound and self.file.gives(bound, f"import {bound}"))
        self.names[bound] = bound if is_there else self.file.free(bound, self.piece)
        if not is_there:
            if key != bound:
                raise CannotJoin(f"it imports {key}, and {bound} is something else in the file")
            key, line = _import_line(node, ast.alias(alias.name, self.names[bound]))
        self.imports[key] = line


def _statements(name: str, script: str) -> Sequence[Statement]:
    """Return the statements of an answer.

    Raises:
        CannotJoin: the answer is not Python, or does not define this name.
    """
    try:
        ast.parse(script)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        raise CannotJoin(f"it is not Python{f', see its line {line}' if line else ''}") from None
    found = statements_of(script)
    if not any(name in statement.defines for statement in found):
        raise CannotJoin(f"it does not define {name}")
    return found


def _called_with(options: frozenset[str], statements: Sequence[Statement]) -> set[str]:
    """Return the names that are called with one of these keyword arguments."""
    calls = [part for one in statements for part in ast.walk(one.node) if isinstance(part, ast.Call)]
    return {
        call.func.id
        for call in calls
        if isinstance(call.func, ast.Name) and options & {keyword.arg for keyword in call.keywords}
    }


def _lent(node: ast.stmt, pieces: Mapping[str, str]) -> dict[str, str]:
    """Return the names that `a, b = answer("...", "...")` defines, with their pieces; none for other statements."""
    if not isinstance(node, ast.Assign):
        return {}
    names, calls = (
        list(side.elts) if isinstance(side, ast.Tuple) else [side] for side in (node.targets[0], node.value)
    )
    asked: list[ast.expr] = []
    for call in calls:
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "answer"):
            return {}
        asked += call.args
    found: dict[str, str] = {}
    for pair in zip(names, asked, strict=False):
        match pair:
            case ast.Name(id=name), ast.Constant(value=exercise_id):
                if str(exercise_id) not in pieces:
                    raise CannotJoin(f"it uses the answer {exercise_id!s}, which is not a piece of the file")
                found[name] = pieces[str(exercise_id)]
            case _:
                return {}
    return found


def _is_of_course(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> bool:
    path = alias.name if isinstance(node, ast.Import) else node.module or ""
    return path.partition(".")[0] == "course_lib"


def _import_line(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> tuple[str, str]:
    """Return the name that an import binds, and an import line for it alone."""
    start = "import" if isinstance(node, ast.Import) else f"from {node.module} import"
    renaming = f" as {alias.asname}" if alias.asname else ""
    return alias.asname or alias.name.partition(".")[0], f"{start} {alias.name}{renaming}"


def _parameters(name: str, source: str) -> dict[str, bool] | None:
    """Return a function's or class's parameters without `self`, and which are required; None if the code hides them."""
    defined = [node for node in ast.parse(source).body if getattr(node, "name", None) == name]
    function = defined[-1] if defined else None
    if isinstance(function, ast.ClassDef):
        function = next((part for part in function.body if getattr(part, "name", "") == "__init__"), None)
    if not isinstance(function, ast.FunctionDef) or function.args.vararg or function.args.kwarg:
        return None
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    needed = len(positional) - len(given.defaults)
    first = 1 if isinstance(defined[-1], ast.ClassDef) else 0
    found = {one.arg: number < needed for number, one in enumerate(positional) if number >= first}
    by_name = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return found | {one.arg: default is None for one, default in by_name}


def _check_called_alike(name: str, parameters: Mapping[str, bool] | None, like: Mapping[str, bool] | None) -> None:
    """Refuse an answer not called like `like`: a class with named arguments, a function with positional ones."""
    if parameters is None or like is None:
        return
    needed, wanted = ([one for one, is_needed in side.items() if is_needed] for side in (parameters, like))
    if name[0].isupper():
        fits = {*wanted} <= parameters.keys() and {*needed} <= like.keys()
    else:
        fits = len(needed) <= len(wanted) and len(like) <= len(parameters)
    if not fits:
        ways = [f"{name}({', '.join(side)})" for side in (parameters, like)]
        raise CannotJoin(f"it is called as {ways[0]}, and its exercise asks for {ways[1]}")


def _body(file: _File, pieces: Sequence[Piece]) -> str:
    """Return the file without its introduction and imports."""
    texts = {piece.exercise_id: piece for piece in pieces}
    parts = re.split(r"^#: (.+)\n", file.template, flags=re.M)
    parts[1::2] = [_shown(texts[exercise_id]) for exercise_id in parts[1::2]]
    return "\n\n\n".join(part.strip("\n") for part in parts if part.strip())


def _called(body: str, main: str) -> set[str]:
    """Return the names that the main function reaches."""
    statements = statements_of(body)
    reached = used_by([statement for statement in statements if main in statement.defines], {main}, statements)
    return {main}.union(*(statement.mentions for statement in reached))


def _shown(piece: Piece) -> str:
    return piece.text if piece.own else f"# Borrowed from the course: {piece.exercise_id}\n{piece.text}"


def _told(name: str, pieces: Sequence[Piece], idle: Sequence[str]) -> str:
    mine, count = sum(piece.own for piece in pieces), len(pieces)
    if mine == count:
        whose = f"All {mine} pieces are mine. What joins them is from the course Katze"
    else:
        whose = (
            f"{mine} of its {count} pieces {are(mine)} mine. The others, and what joins them, are from the course Katze"
        )
    if name == GPT_NAME:
        first = f"GPT-2, built from the blocks of my transformer ({NAME}.py beside this file)."
        note = f"{whose}. {NAME}.py --gpt2 FOLDER runs it, with the weights and tokens of a published GPT-2 in FOLDER."
    else:
        first = 'The transformer of "Attention Is All You Need", from the dot product of two vectors to a translation.'
        note = f"{whose}, and so are the weights beside this file. It compares itself with torch's own, and translates."
    unused = [f"Never called, because other pieces do the same in another way: {', '.join(idle)}."] if idle else []
    return "\n\n".join([first, *(fill(paragraph, 110) for paragraph in [note, *unused])])


def are(count: int) -> str:
    """Return the verb for this number: "is" or "are"."""
    return "is" if count == 1 else "are"


_GROUPS = {"__future__": 0, NAME: 3}


def _sorted(imports: Mapping[str, str], body: str) -> str:
    """Return the used imports, sorted: standard library, packages, and the file beside this one."""
    words = {*re.findall(r"\w+", body), "annotations"}
    used = {line for name, line in imports.items() if words.issuperset(name.split("."))}
    beside = f"from {NAME} import "
    if names := sorted(line.removeprefix(beside) for line in used if line.startswith(beside)):
        used = {line for line in used if not line.startswith(beside)} | {beside + ", ".join(names)}
    groups: dict[int, list[str]] = {0: [], 1: [], 2: [], 3: []}
    for line in sorted(used, key=lambda line: (line.startswith("from"), line)):
        package = line.split()[1].partition(".")[0]
        groups[_GROUPS.get(package, 1 if package in sys.stdlib_module_names else 2)].append(line)
    return "\n\n".join("\n".join(group) for group in groups.values() if group)
