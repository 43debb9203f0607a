"""Surrounds a fork server: with nothing up to level L2, with bubblewrap at L3, with a container at L4.

Sandboxes confine themselves at every level. An enclosure takes away what they would have to break out into: other
files, processes, networks and privileges are not forbidden there but absent.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.box.confinement.grants import package_folders


class Enclosure:
    """Starts an interpreter on the inside; this one surrounds it with nothing.

    Attributes:
        packages: the folders of installed packages, as they are called inside.
        passes_descriptors: whether open sockets reach the inside; if not, it connects to one in the folder.
    """

    passes_descriptors = True

    def __init__(self) -> None:
        self.packages = package_folders()

    def command(self, root: Path, environment: Mapping[str, str], arguments: Sequence[str]) -> list[str]:
        """The command that runs the interpreter with these arguments inside.

        Args:
            root: the fork server's folder, the only one that is the same inside and outside.
            environment: of the interpreter.
            arguments: of the interpreter.
        """
        return [sys.executable, *arguments]

    def own_environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The environment of the command itself, which passes it on to the interpreter."""
        return dict(environment)

    def end(self, root: Path) -> None:
        """End what the command has started and its own end may leave behind: what is not in its process group."""
