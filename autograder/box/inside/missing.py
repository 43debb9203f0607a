"""Stands in for packages that are not installed here: importing one is no reason for a cell to fail.

A student may import more than the lesson needs, for a table or a comparison. Where a package is not installed, there is
something in its place that does nothing, and a notice says so. An answer that uses it, while it is judged, raises
`PackageMissing`, whatever it does with that: it could not be graded here.
"""

from __future__ import annotations

import ast
import importlib.abc
import linecache
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.machinery import ModuleSpec
from typing import Any

_NEVER = {"google", "course_lib", "autograder", "katze"}
"""What nothing stands in for: a notebook asks for Google's package to see whether it is on Colab; the rest is ours."""

_CAUGHT = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}

_ARITHMETIC = "add radd sub rsub mul rmul truediv rtruediv floordiv mod pow rpow matmul rmatmul neg pos abs".split()
_OPERATIONS = [*_ARITHMETIC, *"lt le gt ge and or getitem enter call".split()]

_used: list[str] = []
_judging: list[bool] = []


class PackageMissing(ImportError):
    """An answer uses a package that is not installed here."""


@contextmanager
def judging() -> Iterator[list[str]]:
    """While an answer is judged; the list receives the names of the missing packages that it uses."""
    _used.clear()
    _judging.append(True)
    try:
        yield _used
    finally:
        _judging.pop()


def missing_package_used() -> str:
    """The name of the first missing package that was used since this was last asked; empty if none was."""
    used = _used[0] if _used else ""
    _used.clear()
    return used


def _note_use(name: str) -> None:
    """Remember that something of a missing package is used.

    Raises:
        PackageMissing: by an answer that is being judged.
    """
    package = name.partition(".")[0]
    _used.append(package)
    if _judging:
        raise PackageMissing(f"{package} is not installed where this answer is graded")


class StandIn:
    """Stands in for anything: every attribute and every result is another of its kind."""

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_name", name)

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return StandIn(f"{self._name}.{attribute}")

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        """As the base of a class: one whose instances cannot be made by an answer."""
        _note_use(self._name)
        return (type("Missing", (), {"__new__": lambda cls, *args, **kwargs: _operation(self)}),)

    def __iter__(self) -> Iterator[Any]:
        _note_use(self._name)
        return iter(())

    def __len__(self) -> int:
        return 0

    def __float__(self) -> float:
        _note_use(self._name)
        return 0.0

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __exit__(self, *error: object) -> None:
        """Let exceptions pass."""

    def __setitem__(self, key: object, value: object) -> None:
        """Keep nothing."""

    def __repr__(self) -> str:
        return f"<{self._name} is not installed here>"


def _operation(self: StandIn, *others: object, **named: object) -> StandIn:
    _note_use(self._name)
    return StandIn(self._name)


for _name in _OPERATIONS:
    setattr(StandIn, f"__{_name}__", _operation)


class _MissingModule(types.ModuleType):
    def __getattr__(self, attribute: str) -> Any:
        return getattr(StandIn(self.__name__), attribute)


class MissingPackages(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds what no other finder has found: where a cell or the course library imports it, it gets a stand-in.

    Attributes:
        notice: says something in the output of the cell that runs.
    """

    notice: Callable[[str], None] = staticmethod(lambda text: None)

    def __init__(self, own: Iterable[str] = ()) -> None:
        """Nothing is imported yet.

        Args:
            own: packages of the course's own, with its answers: nothing stands in for them either.
        """
        self._never = _NEVER.union(own)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """A stand-in; nothing for other libraries, which know what to do without, and for code that does, too."""
        top, _, rest = fullname.partition(".")
        if rest and not isinstance(sys.modules.get(top), _MissingModule):
            return None
        frame = _importing()
        asking = str(frame.f_globals.get("__name__", "")) if frame is not None else ""
        if top in self._never or not (asking == "__main__" or asking.startswith("course_lib.")) or _is_prepared(frame):
            return None
        if not rest and asking == "__main__":
            self.notice(f"{top} is not installed where this is graded: something that does nothing stands in for it.")
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        """A module that has everything, and does nothing."""
        return _MissingModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """There is nothing to run."""


def _importing() -> types.FrameType | None:
    """The frame that imports something; None where it only asks whether that is there."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None and (name := frame.f_globals.get("__name__", "")).startswith("importlib"):
        if name == "importlib.util":
            return None
        frame = frame.f_back
    return frame


def _is_prepared(frame: types.FrameType | None) -> bool:
    """Whether an import is in a block that catches the exception for a missing package."""
    if frame is None:
        return True
    with suppress(SyntaxError, ValueError, RecursionError):
        tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals)))
        for part in ast.walk(tree):
            if isinstance(part, ast.Try) and part.body[0].lineno <= frame.f_lineno <= (part.body[-1].end_lineno or 0):
                caught = [name for handler in part.handlers for name in _names(handler.type)]
                if not caught or _CAUGHT.intersection(caught):
                    return True
    return False


def _names(caught: ast.expr | None) -> list[str]:
    if caught is None:
        return ["BaseException"]
    return [part.id for part in ast.walk(caught) if isinstance(part, ast.Name)]
