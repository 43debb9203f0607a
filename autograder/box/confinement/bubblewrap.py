"""Level L3: a fork server inside bubblewrap, in namespaces of its own (see bwrap(1)). Its forks are sandboxes as at L2.

Inside there are the interpreter, its libraries, the packages, the filtered library and the sandboxes' folders, and no
other file, process, network or user. It needs no privileges where the kernel gives user namespaces to everyone, or
where `bwrap` is setuid.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from autograder.box.confinement.enclosure import Enclosure
from autograder.box.confinement.grants import (
    FILES,
    PACKAGES,
    is_permitted,
    library_folders,
    shared_libraries,
    standard_library,
)

_MOST_LIBRARIES = 40
"""Each file shown on its own costs a mount; a folder with more libraries is shown whole."""


class Bubblewrap(Enclosure):
    """An interpreter inside bubblewrap. What runs there belongs to the command's process group."""

    def command(self, root: Path, environment: Mapping[str, str], arguments: Sequence[str]) -> list[str]:
        """`bwrap`, everything unshared, with no more than the interpreter needs."""
        python, own = interpreter(), str(root)
        alone = ["--unshare-all", "--cap-drop", "ALL"]
        shown = [*mounts(list(map(Path, self.packages))), "--ro-bind", python, python]
        shown += ["--proc", "/proc", "--dev", "/dev"]
        writable = ["--bind", own, own, "--remount-ro", "/", "--chdir", own]
        return [bwrap_path() or "bwrap", *alone, *shown, *writable, "--", python, *arguments]


def bwrap_path() -> str | None:
    """Where `bwrap` is installed, if it is."""
    return shutil.which("bwrap") if sys.platform.startswith("linux") else None


def interpreter() -> str:
    """The interpreter's own file. That of a virtual environment is a link to it, and the environment is not inside."""
    return os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)


def mounts(packages: Sequence[Path]) -> list[str]:
    """Options for what can be seen inside, and for what is hidden within it; later ones cover earlier ones."""
    options: list[str] = []
    for folder in library_folders():
        libraries = list(shared_libraries(folder))
        if len(libraries) <= _MOST_LIBRARIES:
            options += _shown(libraries)
        else:
            options += [*_shown([folder]), *_hidden(folder.glob("python*"))]
    for folder in sorted(standard_library()):
        options += [*_shown([folder]), *_hidden(folder / name for name in PACKAGES)]
    for folder in filter(Path.is_dir, packages):
        permitted = (entry for entry in sorted(folder.iterdir()) if is_permitted(entry))
        options += ["--tmpfs", str(folder), *_shown(permitted), "--remount-ro", str(folder)]
    return [*options, *_shown(map(Path, FILES))]


def _shown(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        if path.exists():
            yield from ("--ro-bind", str(path), str(path))


def _hidden(paths: Iterable[Path]) -> Iterator[str]:
    """An empty folder over each folder, and an empty file over each file; links lead nowhere inside."""
    for path in sorted(paths):
        if path.is_dir() and not path.is_symlink():
            yield from ("--tmpfs", str(path), "--remount-ro", str(path))
        elif path.is_file() and not path.is_symlink():
            yield from ("--ro-bind", "/dev/null", str(path))
