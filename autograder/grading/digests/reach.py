"""Finds which part of `course_lib` a notebook's cells can reach: the modules that they name, and everything these
import.

A grade depends on that part of the library only: a module that nobody can see changes nobody's grade.
"""

import ast
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from types import ModuleType

import course_lib
from autograder.box.library import find_modules, held_modules, reached
from autograder.grading.digests.sources import of_files
from course_lib.exercises.catalogue import Catalogue
from course_lib.judging.rules import syntax_tree

LIBRARY = "course_lib"
"""The package; as a name in cells, all of it."""

_UNREAD = re.compile(r"\b(?:__import__|import_module|sys\.modules|pkgutil)\b")
"""Functions that import something that the code does not show."""

_IMPORTS_IT = re.compile(rf"\b(?:import|from)\s+{LIBRARY}\b")


def mentioned(sources: Iterable[str]) -> frozenset[str]:
    """Return the library names in code, such as "course_lib.show" or "course_lib.ground.tables.table".

    `LIBRARY` itself is included if code may reach anything: it passes the package on, imports a computed name, or
        cannot
    be parsed.

    Args:
        sources: the code of some cells; magics are ignored.
    """
    return frozenset(name for source in sources for name in _mentioned(source))


def held_by_lesson(catalogue: Catalogue, lesson: str, sources: Iterable[str]) -> frozenset[str]:
    """Return the library names that a lesson's sandboxes need: what its own cells import, and what earlier lessons
    teach.

    Args:
        catalogue: the course's exercises.
        lesson: the lesson.
        sources: the code of its released cells.
    """
    before = itertools.takewhile(lambda one: one != lesson, catalogue.modules)
    taught = {one.reference.__module__ for earlier in before for one in catalogue.of_lesson(earlier)}
    return frozenset(taught) | mentioned(sources) - {LIBRARY}


def _mentioned(source: str) -> Iterator[str]:
    if _UNREAD.search(source):
        yield LIBRARY
    if LIBRARY not in source:
        return
    tree = syntax_tree(source)
    if tree is None or any(line.startswith(("%", "!")) and LIBRARY in line for line in source.splitlines()):
        yield LIBRARY
        return
    inside: set[ast.AST] = set()  # parts of a dotted name that has been met
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if _is_ours(alias.name) and _binds(alias))
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            yield from (base if one.name == "*" else f"{base}.{one.name}" for one in node.names if _is_ours(base))
        elif isinstance(node, (ast.Attribute, ast.Name)) and node not in inside:
            dotted = _dotted(node, inside)
            if _is_ours(dotted):
                yield dotted
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _IMPORTS_IT.search(node.value):
            yield LIBRARY  # it may be run


def _is_ours(name: str) -> bool:
    return name == LIBRARY or name.startswith(f"{LIBRARY}.")


def _binds(alias: ast.alias) -> bool:
    """Return whether an import binds more than the package's own name, whose uses are found separately."""
    return alias.name != LIBRARY or alias.asname is not None


def _dotted(node: ast.AST, inside: set[ast.AST]) -> str:
    """Return the name "a.b.c" that begins here; empty for the attribute of another expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
        inside.add(node)
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


class Library:
    """The modules of `course_lib` that the sandboxes of a lesson hold.

    Args:
        withheld: names of modules that must not be in the sandboxes.
        held: names that the sandboxes need, along with their imports; None for everything not withheld.
    """

    def __init__(self, withheld: Iterable[str], held: Iterable[str] | None = None) -> None:
        self._withheld = tuple(withheld)
        self._held = held
        self._digests: dict[frozenset[str], str] = {}

    @cached_property
    def modules(self) -> Mapping[str, Path]:
        """The modules by name, with their files."""
        found = held_modules(self._everything, self._withheld, self._held)
        return {name: self._everything[name] for name in found}

    @cached_property
    def _everything(self) -> dict[str, Path]:
        return find_modules(Path(course_lib.__file__).parent)

    def reached(self, names: Iterable[str]) -> set[str]:
        """Return the modules behind these names from `mentioned`, and everything they import, even inside functions."""
        return reached(self.modules, (module for name in names for module in self._behind(name)))

    def digest(self, names: Iterable[str]) -> str:
        """Return the fingerprint of everything these names reach."""
        wanted = frozenset(names)
        if wanted not in self._digests:
            self._digests[wanted] = of_files(self.modules[name] for name in self.reached(wanted))
        return self._digests[wanted]

    def _behind(self, name: str) -> list[str]:
        """Return the modules that a name refers to: a module, with its contents if it is a package, or the module that
        defines the name. An unknown name may mean anything.
        """
        module = name
        while module not in self._everything:
            module = module.rpartition(".")[0]
        if module == name:
            return [*_packages(name), *(other for other in self.modules if f"{other}.".startswith(f"{name}."))]
        if module == LIBRARY and not _is_its_own(name.split(".")[1]):
            return list(self.modules)
        return [*_packages(module), module]


def _packages(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts))]


def _is_its_own(name: str) -> bool:
    """Return whether the package itself defines a name; once imported, its modules are names in it, too."""
    return hasattr(course_lib, name) and not isinstance(getattr(course_lib, name), ModuleType)
