"""Makes mutants of a function by replacing one operator, constant, call or statement.

The changes resemble slips in tensor code: another axis, a mean instead of a sum, a mask that is dropped or inverted, a
forgotten keyword. Annotations, defaults, docstrings, decorators, texts and refusals of bad input stay as they are,
because exercises do not ask for them.
"""

import ast
import copy
import difflib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

Definition = ast.FunctionDef | ast.ClassDef

OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.FloorDiv: (ast.Div, ast.Mult),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitXor: (ast.BitAnd, ast.BitOr),
}

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}

_PAIRS = (
    ("sum", "mean"),
    ("max", "min"),
    ("amax", "amin"),
    ("argmax", "argmin"),
    ("any", "all"),
    ("zeros", "ones"),
    ("zeros_like", "ones_like"),
    ("tril", "triu"),
    ("sin", "cos"),
    ("exp", "expm1"),
    ("log", "log1p"),
    ("sqrt", "square"),
    ("softmax", "log_softmax"),
    ("cumsum", "cumprod"),
    ("prod", "sum"),
    ("relu", "gelu"),
    ("mul", "div"),
    ("add", "sub"),
    ("minimum", "maximum"),
    ("clamp_min", "clamp_max"),
    ("floor", "ceil"),
    ("int", "round"),
    ("topk", "sort"),
)
CALLS: dict[str, str] = {b: a for a, b in _PAIRS} | dict(_PAIRS)
"""The replacement for each called name: the other one of its pair."""


SYMMETRIC = frozenset({"max", "min", "maximum", "minimum", "transpose", "swapaxes"})
"""Calls whose arguments may be in any order."""

NOT_ASKED = ("strict", "device")
"""Keywords that a student's answer may leave out: it need not refuse bad input, and is graded on one device."""


@dataclass(frozen=True)
class Mutant:
    """A definition with one change.

    Attributes:
        kind: the kind of change, in a word or two.
        source: the source of the whole definition.
        old: the lines that were replaced.
        new: the lines that replace them.
    """

    kind: str
    source: str
    old: str
    new: str


def mutants(definition: Definition, lines: Collection[int] | None = None) -> Iterator[Mutant]:
    """Yield every mutant of a definition once.

    Args:
        definition: a function or a class.
        lines: change only these lines; None changes all.
    """
    tree = copy.deepcopy(definition)
    original = ast.unparse(tree)
    seen = {original}
    for holder, key, node in _places(tree):
        if lines is not None and getattr(node, "lineno", None) not in lines:
            continue
        for kind, replacement in _replacements(node):
            if isinstance(replacement, ast.expr) != isinstance(node, ast.expr):
                continue
            holder[key] = replacement
            source = ast.unparse(tree)
            holder[key] = node
            if source not in seen:
                seen.add(source)
                yield Mutant(kind, source, *_difference(original, source))


def _difference(original: str, source: str) -> tuple[str, str]:
    """Return the lines that differ, without indentation, before and after."""
    before, after = original.splitlines(), source.splitlines()
    found = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    old = [line.strip() for tag, start, end, _, _ in found if tag != "equal" for line in before[start:end]]
    new = [line.strip() for tag, _, _, start, end in found if tag != "equal" for line in after[start:end]]
    return "\n".join(old), "\n".join(new)


UNTOUCHED = {"annotation", "returns", "decorator_list", "bases", "defaults", "kw_defaults"}
"""Fields of the syntax tree that do not affect what is computed from a case's arguments."""


def _places(node: ast.AST) -> Iterator[tuple[Any, Any, ast.AST]]:
    """Yield every node that may change, after its container and its key there; parents come before children."""
    for field, value in ast.iter_fields(node):
        if field in UNTOUCHED:
            continue
        holder: Any
        holder, keys = (value, range(len(value))) if isinstance(value, list) else (vars(node), [field])
        for key in keys:
            child = holder[key]
            if isinstance(child, ast.AST) and not _left_alone(child):
                yield holder, key, child
                if _number(child) is None:  # the 1 in -1 is not a number by itself
                    yield from _places(child)


def refuses(name: str) -> bool:
    """Return whether a function refuses bad input, judging by its name."""
    return name.lstrip("_").startswith(("require", "check"))


def _left_alone(node: ast.AST) -> bool:
    """Return whether a node stays as it is: a refusal of bad input, a docstring or a text."""
    if isinstance(node, (ast.Raise, ast.Assert, ast.JoinedStr, ast.ImportFrom, ast.Import)):
        return True
    if isinstance(node, ast.If):
        return isinstance(node.body[-1], ast.Raise) and not node.orelse
    if isinstance(node, ast.For):
        return all(map(_left_alone, node.body))
    if isinstance(node, ast.Expr):
        value = node.value
        if isinstance(value, ast.Call):
            return refuses(value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", ""))
        return isinstance(value, ast.Constant)
    if isinstance(node, ast.keyword):
        return node.arg in NOT_ASKED
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _replacements(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the replacements for a node, each after its kind."""
    number = _number(node)
    if number is not None:
        kind = type(number)
        for other in (number - 1, number + 1, kind(0), kind(1), -number):
            if other != number:
                yield "constant", _constant(other)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "constant", ast.Constant(not node.value)
    elif isinstance(node, ast.UnaryOp):
        yield "sign or negation dropped", node.operand
    elif isinstance(node, ast.BinOp):
        for operator in OPERATORS.get(type(node.op), ()):
            yield "operator", ast.BinOp(node.left, operator(), node.right)
        yield "operand dropped", node.left
        yield "operand dropped", node.right
        if isinstance(node.op, (ast.Sub, ast.Div, ast.MatMult, ast.Pow, ast.FloorDiv)):
            yield "operands swapped", ast.BinOp(node.right, node.op, node.left)
    elif isinstance(node, ast.Compare):
        for place, found in enumerate(node.ops):
            for comparison in COMPARISONS.get(type(found), ()):
                ops = [*node.ops[:place], comparison(), *node.ops[place + 1 :]]
                yield "comparison", ast.Compare(node.left, ops, node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield "and, or", ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        for value in node.values:
            yield "condition alone", value
    elif isinstance(node, ast.IfExp):
        yield "branch", node.body
        yield "branch", node.orelse
    elif isinstance(node, ast.Call):
        yield from _other_calls(node)
    elif isinstance(node, ast.Slice):
        for bound in ("lower", "upper", "step"):
            if getattr(node, bound) is not None:
                yield "bound dropped", ast.Slice(**{**dict(ast.iter_fields(node)), bound: None})
    elif isinstance(node, ast.comprehension):
        for place in range(len(node.ifs)):
            kept = node.ifs[:place] + node.ifs[place + 1 :]
            yield "condition dropped", ast.comprehension(node.target, node.iter, kept, node.is_async)
    elif isinstance(node, ast.If):
        yield "branch", ast.If(ast.Constant(True), node.body, node.orelse)
        yield "branch", ast.If(ast.Constant(False), node.body, node.orelse)
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr, ast.For, ast.While, ast.Break, ast.Continue)):
        yield "statement dropped", ast.Pass()
    if isinstance(node, ast.AugAssign):
        for operator in OPERATORS.get(type(node.op), ()):
            yield "operator", ast.AugAssign(node.target, operator(), node.value)


def _other_calls(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    """Yield the call under another name, without a keyword, with arguments swapped, and left out."""
    called = node.func
    if isinstance(called, ast.Attribute):
        if called.attr in CALLS:
            other = ast.Attribute(called.value, CALLS[called.attr], called.ctx)
            yield "call", ast.Call(other, node.args, node.keywords)
        if not _is_module(called.value):
            yield "call dropped", called.value
    elif isinstance(called, ast.Name) and called.id in CALLS:
        yield "call", ast.Call(ast.Name(CALLS[called.id], ast.Load()), node.args, node.keywords)
    for place in range(len(node.keywords)):
        if node.keywords[place].arg not in (None, *NOT_ASKED):
            yield "keyword dropped", ast.Call(called, node.args, node.keywords[:place] + node.keywords[place + 1 :])
    plain = [argument for argument in node.args if not isinstance(argument, ast.Starred)]
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    if len(plain) == len(node.args) >= 2 and name not in SYMMETRIC:
        yield "arguments swapped", ast.Call(called, [node.args[1], node.args[0], *node.args[2:]], node.keywords)
    if plain and (isinstance(called, ast.Name) or _is_module(getattr(called, "value", None))):
        yield "call dropped", plain[0]


def _is_module(node: ast.AST | None) -> bool:
    """Return whether an expression looks like the name of a module: `torch`, `math`, `F`, `torch.nn`."""
    if isinstance(node, ast.Attribute):
        return _is_module(node.value) and node.attr in ("nn", "functional", "special")
    return isinstance(node, ast.Name) and node.id in ("torch", "math", "F", "nn", "random", "itertools", "dataclasses")


def _number(node: ast.AST) -> int | float | None:
    """Return the value of a plain number, with its sign; None for anything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inside = _number(node.operand)
        return None if inside is None else -inside
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return node.value
    return None


def _constant(number: float) -> ast.expr:
    return ast.UnaryOp(ast.USub(), ast.Constant(-number)) if number < 0 else ast.Constant(number)
