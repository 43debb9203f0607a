"""Stands in for packages that are not installed, so that importing one does not make a cell fail.

A student may import more than the lesson needs, for a table or a comparison. If a package is not installed, a stand-in
that does nothing takes its place, and a notice says so. An answer that uses it while being judged raises
`PackageMissing`, and whatever it does with that exception, it is ungraded.
"""

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
"""Packages without a stand-in: a notebook asks for Google's package to see whether it is on Colab; the rest is ours."""

_CAUGHT = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}

_ARITHMETIC = "add radd sub rsub mul rmul truediv rtruediv floordiv mod pow rpow matmul rmatmul neg pos abs".split()
_OPERATIONS = [*_ARITHMETIC, *"lt le gt ge and or getitem enter call".split()]

_used: list[str] = []
_judging: list[bool] = []


class PackageMissing(ImportError):
    """An answer uses a package that is not installed."""


@contextmanager
def judging() -> Iterator[list[str]]:
    """Mark the block as judging an answer; collect the names of missing packages that it uses in the list."""
    _used.clear()
    _judging.append(True)
    try:
        yield _used
    finally:
        _judging.pop()


def missing_package_used() -> str:
    """Return the first missing package used since the last call; empty if none was."""
    used = _used[0] if _used else ""
    _used.clear()
    return used


def _note_use(name: str) -> None:
    """Note that a missing package is used.

    Raises:
        PackageMissing: an answer is being judged.
    """
    package = name.partition(".")[0]
    _used.append(package)
    if _judging:
        raise PackageMissing(f"{package} is not installed where this answer is graded")


class StandIn:
    """Stands in for anything: every attribute and every result is another stand-in."""

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_name", name)

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return StandIn(f"{self._name}.{attribute}")

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        """Return a base class whose instances an answer cannot make."""
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
        """Do nothing."""

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
    """Finds modules that no other finder has found, and gives them a stand-in if a cell or the course library imports
    them.

    Attributes:
        notice: shows a line in the output of the running cell.
    """

    notice: Callable[[str], None] = staticmethod(lambda text: None)

    def __init__(self, own: Iterable[str] = ()) -> None:
        """Import nothing yet.

        Args:
            own: the course's own packages, which contain its answers and get no stand-in either.
        """
        self._never = _NEVER.union(own)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a stand-in; None for other libraries, which can do without, and for code that is prepared."""
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
        """Return a module that has every name, and does nothing."""
        return _MissingModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Do nothing."""


def _importing() -> types.FrameType | None:
    """Return the importing frame; None if it only asks whether the module exists."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None and (name := frame.f_globals.get("__name__", "")).startswith("importlib"):
        if name == "importlib.util":
            return None
        frame = frame.f_back
    return frame


def _is_prepared(frame: types.FrameType | None) -> bool:
    """Return whether an import is in a block that catches the exception for a missing package."""
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
