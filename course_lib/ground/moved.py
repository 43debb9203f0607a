"""Modules that have moved: their old names lead to the new ones for one version, and say so.

A notebook or a configuration that was handed out before the move still says where a module used to be.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class Moved(MetaPathFinder, Loader):
    """Imports a module under its new name where its old one is asked for.

    Args:
        names: each old name with the new one.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of an old name; None for any other."""
        return ModuleSpec(fullname, self) if fullname in self.names else None

    def exec_module(self, module: ModuleType) -> None:
        """Put the module of the new name in place of an empty one of the old name."""
        old = module.__name__
        new = self.names[old]
        warnings.warn(_sentence(old, new), FutureWarning, stacklevel=2)
        sys.modules[old] = importlib.import_module(new)


def forward(names: Mapping[str, str]) -> None:
    """Let old module names lead to the new ones, unless a module still has the old name."""
    sys.meta_path.append(Moved(names))


def attribute(old: str, new: str, name: str) -> Any:
    """Look up a name of a module that has become a package, for the package's `__getattr__`.

    Args:
        old: the module that is a package now.
        new: the module in it that holds what the old one held.
        name: what is asked for.

    Raises:
        AttributeError: the new module does not hold it.
        ModuleNotFoundError: the new module is withheld.
    """
    if name.startswith("__"):
        raise AttributeError(f"module {old!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(new), name)
    warnings.warn(_sentence(old, new), FutureWarning, stacklevel=3)
    return found


def _sentence(old: str, new: str) -> str:
    return f"{old} is now {new}; the old name will be removed in the next version."
