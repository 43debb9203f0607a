"""Surrounds a fork server: with nothing up to level L2, with bubblewrap at L3, with a container at L4.

Sandboxes confine themselves at every level. An enclosure takes away whatever they could break out into: other files,
processes, networks and privileges are not just forbidden there, but absent.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.box.confinement.grants import package_folders


class Enclosure:
    """Starts an interpreter inside an enclosure; this base class encloses nothing.

    Attributes:
        packages: the folders of installed packages, by their paths inside.
        passes_descriptors: whether the inside inherits open sockets; if not, it connects to one in the folder.
    """

    passes_descriptors = True

    def __init__(self) -> None:
        self.packages = package_folders()

    def command(self, root: Path, environment: Mapping[str, str], arguments: Sequence[str]) -> list[str]:
        """Return the command that runs the interpreter inside with these arguments.

        Args:
            root: the fork server's folder, the only one with the same path inside and outside.
            environment: of the interpreter.
            arguments: of the interpreter.
        """
        return [sys.executable, *arguments]

    def own_environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of the command itself, which passes it on to the interpreter."""
        return dict(environment)

    def end(self, root: Path) -> None:
        """End whatever may outlive the command because it is not in its process group."""
