"""Finds what of `course_lib` a notebook's cells can reach: the modules that they name, and all that these import in
turn.

A grade depends on that part of the library and on no other: a module that nobody can see changes nobody's grade.
"""

from __future__ import annotations

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
"""The package; as a name that cells mention, all of it."""

_UNREAD = re.compile(r"\b(?:__import__|import_module|sys\.modules|pkgutil)\b")
"""What imports something that cannot be read off the code."""

_IMPORTS_IT = re.compile(rf"\b(?:import|from)\s+{LIBRARY}\b")


def mentioned(sources: Iterable[str]) -> frozenset[str]:
    """What code names of the library, such as "course_lib.show" or "course_lib.ground.tables.table".

    `LIBRARY` itself is among the names where code may reach anything: it hands the package on, imports by a name that
    it makes up, or cannot be read.

    Args:
        sources: the code of some cells; magics are passed over.
    """
    return frozenset(name for source in sources for name in _mentioned(source))


def held_by_lesson(catalogue: Catalogue, lesson: str, sources: Iterable[str]) -> frozenset[str]:
    """What a lesson's sandboxes are for: what its own cells import, and what the lessons before it teach.

    Args:
        catalogue: the course's exercises.
        lesson: the lesson.
        sources: the code of its cells, as they are released.
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
    """Whether an import gives more than the package's own name, whose uses are met by themselves."""
    return alias.name != LIBRARY or alias.asname is not None


def _dotted(node: ast.AST, inside: set[ast.AST]) -> str:
    """The name "a.b.c" that begins here; empty where it is another expression's attribute."""
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
        held: names that the sandboxes are for, with whatever they need; None for all that is not withheld.
    """

    def __init__(self, withheld: Iterable[str], held: Iterable[str] | None = None) -> None:
        self._withheld = tuple(withheld)
        self._held = held
        self._digests: dict[frozenset[str], str] = {}

    @cached_property
    def modules(self) -> Mapping[str, Path]:
        """They by name, with their files."""
        found = held_modules(self._everything, self._withheld, self._held)
        return {name: self._everything[name] for name in found}

    @cached_property
    def _everything(self) -> dict[str, Path]:
        return find_modules(Path(course_lib.__file__).parent)

    def reached(self, names: Iterable[str]) -> set[str]:
        """The modules behind these names, from `mentioned`, and all that they import, also when they are called."""
        return reached(self.modules, (module for name in names for module in self._behind(name)))

    def digest(self, names: Iterable[str]) -> str:
        """The fingerprint of what these names reach."""
        wanted = frozenset(names)
        if wanted not in self._digests:
            self._digests[wanted] = of_files(self.modules[name] for name in self.reached(wanted))
        return self._digests[wanted]

    def _behind(self, name: str) -> list[str]:
        """The modules that a name stands for: a module, with all that is in it where it is a package, or the module
        that has such a name in it. An unknown name may mean anything.
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
    """Whether the package itself defines a name; its modules are names in it as well, once they are imported."""
    return hasattr(course_lib, name) and not isinstance(getattr(course_lib, name), ModuleType)
