"""Copies the part of `course_lib` that a sandbox holds: no exercises, nothing withheld, and, if the lesson is known,
only what it uses, so that an answer cannot be borrowed from a later lesson.

A module that imports a withheld one, directly or indirectly, could not work in the sandbox and is left out, too.
Imports are read from the source, without importing it.
"""

import ast
import functools
import shutil
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import decode_source
from pathlib import Path
from typing import NamedTuple

import autograder
import course_lib
from autograder.errors import BadInput
from autograder.known_sources import known

EXERCISES = "course_lib.exercises"
_REQUIRED = "course_lib.judging.observation"
_CONFINEMENT = ("landlock", "system_calls", "seccomp", "recorded", "grants", "levels", "attempts")
_INSIDE = ("recorder", "pristine", "shell", "judged", "missing", "substitutes", "child")
_CHILD_SIDE = (
    "limits.py",
    "box/frames.py",
    "box/protocol.py",
    "box/processes.py",
    *(f"box/confinement/{name}.py" for name in _CONFINEMENT),
    *(f"box/inside/{name}.py" for name in _INSIDE),
    "box/fork_server/large_pages.py",
    "box/fork_server/server.py",
)


_SHOWN = (".css", ".js")
"""Files that modules read from a neighboring folder for figures and widgets. A sandbox has no other data."""


def copy_library(target: Path, withheld: Iterable[str], held: Iterable[str] | None = None) -> list[str]:
    """Write the filtered `course_lib`, and what a sandbox needs of `autograder`, into an empty folder.

    Args:
        target: the folder, which becomes the sandbox's import path.
        withheld: names of modules that must not be in the sandbox.
        held: library names that the sandbox needs, along with their imports; None for everything not withheld.

    Returns:
        The names of the `course_lib` modules in the copy.

    Raises:
        BadInput: a withheld module does not exist, or the sandbox itself needs it.
    """
    root = Path(course_lib.__file__).parent
    modules = find_modules(root)
    unknown = sorted(set(withheld) - set(modules))
    if unknown:
        raise BadInput(f"there is no module {', '.join(unknown)} to withhold")
    allowed = held_modules(modules, withheld, held)
    if _REQUIRED not in allowed:
        raise BadInput(f"a sandbox needs {_REQUIRED}, which is withheld or imports a module that is")
    for name in allowed:
        _copy(modules[name], target / modules[name].relative_to(root.parent))
    for path in root.rglob("*"):
        package = ".".join(path.relative_to(root.parent).parts[:-2])
        if path.suffix in _SHOWN and package in allowed:
            _copy(path, target / path.relative_to(root.parent))
    harness = Path(autograder.__file__).parent
    for file in _CHILD_SIDE:
        _copy(harness / file, target / "autograder" / file)
    for package in ("", "box", "box/confinement", "box/inside", "box/fork_server"):
        (target / "autograder" / package / "__init__.py").touch()
    return sorted(allowed)


def held_modules(modules: dict[str, Path], withheld: Iterable[str], held: Iterable[str] | None) -> set[str]:
    """Return a sandbox's modules out of all modules; for the other arguments see `copy_library`."""
    allowed = permitted(modules, withheld)
    if held is None:
        return allowed
    harness = Path(autograder.__file__).parent
    own = {name for file in _CHILD_SIDE for name in imports_of(harness / file, f"autograder.{file}").ever}
    return reached({name: modules[name] for name in allowed}, {*held, *own})


def reached(modules: Mapping[str, Path], names: Iterable[str]) -> set[str]:
    """Return the modules that these names refer to or are in, and everything they import, even inside functions."""
    found: set[str] = set()
    waiting = [part for name in names for part in _with_parents(name)]
    while waiting:
        module = waiting.pop()
        if module in modules and module not in found:
            found.add(module)
            waiting += imports_of(modules[module], module).ever
    return found


def find_modules(root: Path) -> dict[str, Path]:
    """Return the modules of the package in `root`, by name, without the exercises."""
    modules = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if not _within(name, EXERCISES):
            modules[name] = path
    return modules


def permitted(modules: dict[str, Path], withheld: Iterable[str]) -> set[str]:
    """Return the modules that are not withheld and do not import a withheld one, however indirectly."""
    if not (withheld := list(withheld)):
        return set(modules)
    imports = {name: imports_of(path, name).at_once | set(_with_parents(name)) for name, path in modules.items()}
    banned = {name for name in modules if any(_within(name, hidden) for hidden in withheld)}
    while True:
        more = {name for name, used in imports.items() if name not in banned and used & banned}
        if not more:
            return set(modules) - banned
        banned |= more


_BLOCKS = ("body", "handlers", "cases", "orelse", "finalbody")
"""Fields in which a statement holds others."""


class Imports(NamedTuple):
    """The names of the modules that a module imports.

    Attributes:
        at_once: imported when the module itself is imported.
        ever: imported then or later, inside functions.
    """

    at_once: frozenset[str]
    ever: frozenset[str]


@functools.cache
def imports_of(path: Path, name: str) -> Imports:
    """Return what a module imports.

    Args:
        path: its file, which is read once.
        name: its own name, for relative imports.
    """
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    at_once, ever = known(_imports_in, decode_source(path.read_bytes()), package)
    return Imports(frozenset(at_once), frozenset(ever))


def _imports_in(source: str, package: str) -> tuple[list[str], list[str]]:
    body, parts = ast.parse(source).body, package.split(".") if package else []
    at_once, ever = (
        {part for name in _imported(statements(body, ever=late), parts) for part in _with_parents(name)}
        for late in (False, True)
    )
    return sorted(at_once), sorted(ever)


def _imported(nodes: Iterable[ast.AST], package: list[str]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def statements(body: Iterable[ast.AST], *, ever: bool = True) -> Iterator[ast.AST]:
    """Yield the statements of a module without descending into expressions, which are most of a tree and hold no
    statements.

    Args:
        body: the module's body.
        ever: whether to yield all of them, or only those that importing runs: not in function bodies or under
            `if TYPE_CHECKING`.
    """
    for node in body:
        yield node
        blocks: tuple[str, ...] = _BLOCKS
        if not ever and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            blocks = ()
        elif not ever and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            blocks = ("orelse",)
        for block in blocks:
            yield from statements(getattr(node, block, ()), ever=ever)


def _with_parents(name: str) -> Iterator[str]:
    parts = name.split(".")
    yield from (".".join(parts[:length]) for length in range(1, len(parts) + 1))


def _within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
