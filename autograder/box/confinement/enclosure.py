"""What surrounds a fork server: nothing up to level L2, bubblewrap at L3, a container at L4.

Boxes confine themselves at every level. An enclosure takes away what they would have to break out into: other
files, processes, networks and privileges are not forbidden there but absent.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from autograder.box.confinement.bubblewrap import Bubblewrap
from autograder.box.confinement.container import Container
from autograder.box.confinement.grants import package_folders
from autograder.box.confinement.levels import Level
from autograder.limits import Limits


class Enclosure(Protocol):
    """Starts an interpreter on the inside.

    Attributes:
        packages: the folders of installed packages, as they are called inside.
        passes_descriptors: whether open sockets reach the inside; if not, it connects to one in the folder.
    """

    packages: list[str]
    passes_descriptors: bool

    def command(self, root: Path, environment: Mapping[str, str], arguments: Sequence[str]) -> list[str]:
        """The command that runs the interpreter with these arguments inside.

        Args:
            root: the fork server's folder, the only one that is the same inside and outside.
            environment: of the interpreter.
            arguments: of the interpreter.
        """

    def own_environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The environment of the command itself."""

    def end(self, root: Path) -> None:
        """End what the command has started and its own end may leave behind."""


class Nothing:
    """No enclosure: the interpreter is a process among others."""

    passes_descriptors = True

    def __init__(self) -> None:
        self.packages = package_folders()

    def command(self, root: Path, environment: Mapping[str, str], arguments: Sequence[str]) -> list[str]:
        """The interpreter itself."""
        return [sys.executable, *arguments]

    def own_environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """That of the interpreter."""
        return dict(environment)

    def end(self, root: Path) -> None:
        """Nothing is left behind."""


def enclosure_at(level: Level, limits: Limits, boxes: int) -> Enclosure:
    """What surrounds a fork server.

    Args:
        level: of its boxes.
        limits: of a box.
        boxes: how many there may be at once.
    """
    if level is Level.L4:
        return Container(limits, boxes)
    return Bubblewrap() if level is Level.L3 else Nothing()
