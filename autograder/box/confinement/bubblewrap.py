"""Level L3: a fork server inside bubblewrap, in namespaces of its own (see bwrap(1)). Its forks are sandboxes as at L2.

The inside has the interpreter, its libraries, the packages, the filtered library and the sandboxes' folders, and no
other file, process, network or user. It needs no privileges if the kernel allows unprivileged user namespaces, or if
`bwrap` is setuid.
"""

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
"""Each library shown by itself costs a mount; a folder with more libraries is shown whole."""


class Bubblewrap(Enclosure):
    """Runs an interpreter inside bubblewrap. Everything inside belongs to the command's process group."""

    def command(self, root: Path, environment: Mapping[str, str], arguments: Sequence[str]) -> list[str]:
        """Return a `bwrap` command that unshares everything and shows only what the interpreter needs."""
        python, own = interpreter(), str(root)
        alone = ["--unshare-all", "--cap-drop", "ALL"]
        shown = [*mounts(list(map(Path, self.packages))), "--ro-bind", python, python]
        shown += ["--proc", "/proc", "--dev", "/dev"]
        writable = ["--bind", own, own, "--remount-ro", "/", "--chdir", own]
        return [bwrap_path() or "bwrap", *alone, *shown, *writable, "--", python, *arguments]


def bwrap_path() -> str | None:
    """Return the path of `bwrap`, or None."""
    return shutil.which("bwrap") if sys.platform.startswith("linux") else None


def interpreter() -> str:
    """Return the interpreter's real file: a virtual environment only has a link to it, and is not inside."""
    return os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)


def mounts(packages: Sequence[Path]) -> list[str]:
    """Return the options for what is visible inside, and hidden within that; later ones cover earlier ones."""
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
    """Yield options that cover each folder with an empty folder and each file with an empty file; links are dangling
    inside.
    """
    for path in sorted(paths):
        if path.is_dir() and not path.is_symlink():
            yield from ("--tmpfs", str(path), "--remount-ro", str(path))
        elif path.is_file() and not path.is_symlink():
            yield from ("--ro-bind", "/dev/null", str(path))
