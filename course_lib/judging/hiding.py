"""Finds student code that could hide a forbidden call from `rules.py` and `trap.py`.

Such code is not forbidden, and much of it is honest: somebody may well use a thread, or another package. So it costs no
points. If an exercise has a rule and its answer earned points, the teacher sees the line and the reason.
"""

import ast
import functools
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from course_lib.judging.rules import Code, Use, cannot_run, dotted, line_of, syntax_tree, uses

MOST_PLACES = 10
"""The most places to name in a notebook."""

_LONGEST_LINE = 100

_WAYS: Mapping[str, tuple[str, ...]] = {
    "runs in a backward pass of its own, which nothing watches": ("torch.autograd.Function.", "register_hook"),
    "switches off or replaces what watches torch": (
        *("torch.overrides.", "DisableTorchFunction", "DisableTorchFunctionSubclass", "__torch_function__"),
        *("__torch_dispatch__", "course_lib.judging.trap.", "autograder."),
    ),
    "reaches torch beneath its public functions": ("torch._", "_C"),
    "calls compiled code directly": ("ctypes.", "cffi.", "torch.utils.cpp_extension.", "torch.library.", "CDLL"),
    "turns text into code": (
        *("exec", "eval", "compile", "builtins.", "__builtins__", "code.", "codeop.", "runpy.", "pickle.", "marshal."),
    ),
    "imports by a name in a string": ("importlib.", "__import__", "pkgutil.", "sys.modules."),
    "reads or changes where Python keeps source code": ("linecache.", "inspect."),
    "runs in TorchScript, which nothing watches": ("torch.jit.", "torch.export.", "torch.fx.", "torch.compile."),
    "runs in a thread or process of its own, which nothing watches": (
        *("threading.", "_thread.", "concurrent.", "multiprocessing.", "torch.multiprocessing.", "joblib."),
        *("to_thread", "run_in_executor"),
    ),
    "looks through what Python itself keeps": (
        *("gc.", "_getframe", "f_back", "f_globals", "__subclasses__", "__dict__"),
    ),
}
"""Suspicious names, by the reason: beginnings of paths, which have a dot, and last parts, which have none."""

_BUILT_IN = {"exec", "eval", "compile", "__import__"}
"""Names that count only by themselves: `model.eval()` is something else, and so is `re.compile`."""

_MADE_UP = "finds something by a name that is put together while it runs"
_UNREAD = "is too long to be read, or is not Python"
_FOREIGN = "uses the package {}, which the lesson itself does not import"


@dataclass(frozen=True)
class HiddenCall:
    """A place that could hide a call.

    Attributes:
        cell: the index of its cell among those that were searched.
        line: counted from 1; 0 for the whole cell.
        code: the text of that line, shortened.
        reason: what the code there does, as a clause: "runs in TorchScript".
    """

    cell: int
    line: int
    code: str
    reason: str


def hidden_calls(cells: Sequence[str], own: Collection[int], names: Iterable[str]) -> dict[str, list[HiddenCall]]:
    """Return by each answer's name the places, in order, where a student's code could hide what the answer calls.

    Code that changes how everything runs counts anywhere; a package counts only if the answer uses it, and the
    lesson does not import it itself.

    Args:
        cells: the source of each cell of code.
        own: the indices of the cells that the student wrote.
        names: the names of the answers.
    """
    read = [_uses_in(source) for source in cells]
    used = [(place, use) for place, found in enumerate(read) for use in found or ()]
    stand_for = {use.binds: use.path if use.is_renamed else use.binds for _, use in used if use.binds}
    ways = {(place, use.line, _reason(use, stand_for)) for place, use in used if place in own}
    ways |= {(place, line, reason) for place in own for line, reason in _alone(syntax_tree(cells[place]))}
    ways |= {(place, 0, _UNREAD) for place in own if read[place] is None and not cannot_run(cells[place])}
    known = {_package(use) for place, use in used if use.binds and place not in own}
    foreign = [
        (place, use) for place, use in used if place in own and use.binds and _package(use) not in known | _EVERYWHERE
    ]
    code, found = Code(cells) if foreign else None, {}
    for name in names:
        reached = {use.binds for use in code.reached(name)} if code is not None else set()
        packages = {(place, use.line, _FOREIGN.format(_package(use))) for place, use in foreign if use.binds in reached}
        places = sorted((place, line, why) for place, line, why in ways | packages if why)
        found[name] = [
            HiddenCall(place, line, line_of(cells[place], line)[:_LONGEST_LINE] if line else "", why)
            for place, line, why in places[:MOST_PLACES]
        ]
    return found


@functools.lru_cache(1024)  # the lesson's own cells are the same in every submission
def _uses_in(source: str) -> tuple[Use, ...] | None:
    """Return the names in a cell; None if it cannot be read."""
    tree = syntax_tree(source)
    return None if tree is None else tuple(uses(tree))


_EVERYWHERE = {"", "torch", "course_lib", *sys.stdlib_module_names}
"""What may be imported in every lesson; the empty name stands for the notebook's own folder."""


def _package(use: Use) -> str:
    return use.path.partition(".")[0]


def _reason(use: Use, stand_for: Mapping[str, str]) -> str:
    """Return why a name is worth a look; empty if it is not.

    Args:
        use: the name.
        stand_for: the meanings of imported names.
    """
    root, dot, rest = use.path.partition(".")
    path = use.path if use.is_import else f"{stand_for.get(root, '')}{dot}{rest}"
    last = use.path.rpartition(".")[2]
    if dot and last in _BUILT_IN and path.partition(".")[0] != "builtins":
        last = ""
    beginnings = ((reason, name) for reason, names in _WAYS.items() for name in names)
    return next((reason for reason, name in beginnings if f"{path}.".startswith(name) or last == name), "")


def _alone(tree: ast.AST | None) -> Iterator[tuple[int, str]]:
    """Yield built-in names that stand alone, and names composed at run time, with their lines."""
    for part in ast.walk(tree) if tree is not None else ():
        if isinstance(part, ast.Name) and part.id in _BUILT_IN:
            yield part.lineno, _reason(Use(part.id, part.lineno), {})
        elif isinstance(part, ast.Call) and dotted(part.func) in ("getattr", "vars", "operator.attrgetter"):
            name = part.args[1] if dotted(part.func) == "getattr" and len(part.args) > 1 else None
            if not isinstance(name, ast.Constant):
                yield part.lineno, _MADE_UP
