"""What stands in for packages that are installed and not in this box: importing one is no reason for a cell to fail.

A student may import more than the lesson needs, for a table or a comparison. The package's files cannot be read in a
box; in its place there is something that does nothing, and a notice says so. An answer that calls it, while it is
judged, raises `PackageAbsent`.
"""

from __future__ import annotations

import importlib.abc
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

from autograder.box.inside import bars

_OPERATIONS = (
    *("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "mod", "pow", "rpow", "matmul"),
    *("neg", "pos", "abs", "lt", "le", "gt", "ge", "and", "or", "getitem", "enter", "await"),
)


class PackageAbsent(ImportError):
    """An answer has called something of a package that is not in its box."""


class StandIn:
    """Whatever is asked of it, it returns another of its kind."""

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_name", name)

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return StandIn(f"{self._name}.{attribute}")

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Another of its kind; not for an answer.

        Raises:
            PackageAbsent: an answer is asked now.
        """
        bars.note_lack(self._name)
        if bars.is_answering():
            raise PackageAbsent(f"{self._name.partition('.')[0]} is not in the box that judges this answer")
        return StandIn(self._name)

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __exit__(self, *error: object) -> None:
        """Let exceptions pass."""

    def __setitem__(self, key: object, value: object) -> None:
        """Keep nothing."""

    def __repr__(self) -> str:
        return f"<{self._name} is not in this box>"


def _operation(self: StandIn, *others: object) -> StandIn:
    bars.note_lack(self._name)
    return StandIn(self._name)


for _name in _OPERATIONS:
    setattr(StandIn, f"__{_name}__", _operation)


class _AbsentModule(types.ModuleType):
    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return StandIn(f"{self.__name__}.{attribute}")


_FOREIGN = ("ctypes", "_ctypes")


_CONFINES = "autograder."

Holding = tuple[types.ModuleType, str]
"""A module, and what it calls something."""


def find_foreign_calls(modules: Iterable[str]) -> list[Holding]:
    """Where these modules hold `ctypes`, which calls what a library does beneath all of torch's doors.

    Args:
        modules: their names.
    """
    away = {id(value) for name in _FOREIGN if name in sys.modules for value in vars(sys.modules[name]).values()}
    found = []
    for module in (sys.modules[name] for name in modules):
        for attribute, value in vars(module).items():
            is_module = isinstance(value, types.ModuleType) and value.__name__.partition(".")[0] in _FOREIGN
            if is_module or (id(value) in away and getattr(value, "__module__", "") in _FOREIGN):
                found.append((module, attribute))
    return found


def put_away_foreign_calls(holdings: Iterable[Holding]) -> None:
    """Put stand-ins there. It keeps nobody out who writes to memory itself; numpy can do that, too.

    Args:
        holdings: as `find_foreign_calls` has found them.
    """
    for module, attribute in holdings:
        setattr(module, attribute, StandIn("ctypes"))


class Absentees(PathFinder, importlib.abc.Loader):
    """Finds all modules but those of absent packages; where a cell asks for one of these, it gets a stand-in.

    Attributes:
        names: of the modules at the top of the packages that are absent.
        missed: those among them for which something stands in where the course library asks as well.
        notice: says something in the output of the cell that runs.
        foreign: the modules that call foreign functions.
        confining: where what confines a box holds them, to be put away once it has.
    """

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names
        self.missed: frozenset[str] = frozenset()
        self.notice: Callable[[str], None] = lambda text: None
        self.foreign: Sequence[str] = ()
        self.confining: Sequence[Holding] = ()

    def prepare_to_put_away(self) -> None:
        """Let nothing call foreign functions any more but what confines a box, and note where that holds them.

        A box that looked for itself would touch, and so copy, the memory of all modules.
        """
        self.foreign = tuple(name for name in sys.modules if name.partition(".")[0] in _FOREIGN)
        names = sys.modules.keys() - set(self.foreign)
        put_away_foreign_calls(find_foreign_calls(name for name in names if not name.startswith(_CONFINES)))
        self.confining = find_foreign_calls(names)

    def put_away(self) -> None:
        """Let nothing call foreign functions any more: neither what confines, nor who imports what does."""
        put_away_foreign_calls(self.confining)
        self.names = self.names | set(_FOREIGN)
        for name in self.foreign:
            del sys.modules[name]

    def take_over(self) -> None:
        """Find modules in place of the interpreter's own path finder."""
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not PathFinder] + [self]

    def find_spec(  # type: ignore[override]  # the path finder's is a class method
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """What the path finder finds; of absent packages a stand-in, or nothing: libraries know what to do without."""
        top, _, rest = fullname.partition(".")
        if top not in self.names:
            return PathFinder.find_spec(fullname, path, target)
        asking = _asking()
        if asking != "__main__" and not (top in self.missed and asking.startswith("course_lib.")):
            return None
        if not rest and asking == "__main__":
            bars.note_lack(top)
            self.notice(f"{top} is not there while a notebook is graded: something that does nothing stands in for it.")
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        """A module that has everything, and does nothing."""
        return _AbsentModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """There is nothing to run."""


def _asking() -> str:
    """The name of the module that imports something."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("importlib"):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", ""))
