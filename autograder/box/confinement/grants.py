"""Lists what a sandbox at level L2 may read: the interpreter, its libraries, the filtered library, and little else.

Landlock grants whole trees, and this repository, its `.git`, the course, package caches and other sandboxes must
not be in one. So folders that could hold a copy of `course_lib` are granted entry by entry.
"""

from __future__ import annotations

import fnmatch
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from autograder.box.confinement import landlock

OWN_CODE = ("course_lib*", "autograder*", "katze*", "*.pth", "*.egg-link", "__editable__*", "__pycache__")
"""Entries of site-packages that could lead to the withheld modules."""

PACKAGES = ("site-packages", "dist-packages")
"""Names of package folders inside the standard library's."""

FILES = ("/etc/ld.so.cache", "/etc/localtime", "/etc/fonts", "/usr/share/fonts", "/usr/share/zoneinfo")
"""What else a sandbox reads of the system."""

_LIBRARY_FOLDERS = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")
_SOURCES = ("/dev/urandom", "/dev/random", "/dev/zero")


def open_grants(library: Sequence[Path], packages: Sequence[Path] = ()) -> list[landlock.Grant]:
    """Open everything that a sandbox may read; the descriptors stay open and are shared by all sandboxes of a fork
    server.

    Args:
        library: the filtered copy of the course library.
        packages: the folders of installed packages on the sandbox's path, of which it may read all but our own code.
    """
    grants = [landlock.grant(path, landlock.READ_TREE) for path in _trees(library, packages)]
    grants += [landlock.grant(path, landlock.LIST_TREE) for path in {*standard_library(), *packages} if path.is_dir()]
    grants += [landlock.grant(Path(path), landlock.READ_FILE) for path in _SOURCES]
    grants.append(landlock.grant(Path("/dev/null"), landlock.USE_DEVICE))
    return grants


def _trees(library: Iterable[Path], packages: Iterable[Path]) -> Iterator[Path]:
    """Every file and folder that may be read, with all that is beneath it."""
    yield from library
    yield from (Path(path) for path in FILES if os.path.exists(path))
    for folder in standard_library():
        yield from (entry for entry in _entries(folder) if entry.name not in PACKAGES)
    for folder in packages:
        yield from (entry for entry in _entries(folder) if is_permitted(entry))
    for folder in library_folders():
        yield from shared_libraries(folder)


def standard_library() -> set[Path]:
    """The folders of the standard library."""
    paths = sysconfig.get_paths()
    return {Path(paths["stdlib"]), Path(paths["platstdlib"])}


def package_folders() -> list[str]:
    """The folders of installed packages on this process's path."""
    return [path for path in sys.path if os.path.basename(path) in PACKAGES]


def is_permitted(entry: Path) -> bool:
    """Whether something in a folder of packages could not lead to the withheld modules."""
    return not any(fnmatch.fnmatch(entry.name, pattern) for pattern in OWN_CODE)


def library_folders() -> list[Path]:
    """The folders that may hold shared libraries. A Python of the system's own has its among the others."""
    names = dict.fromkeys((*_LIBRARY_FOLDERS, f"{sys.base_prefix}/lib"))
    return [Path(name) for name in names if os.path.isdir(name)]


def _entries(folder: Path) -> Iterator[Path]:
    """What is in a folder, without links that lead nowhere."""
    if folder.is_dir():
        yield from (entry for entry in sorted(folder.iterdir()) if entry.exists())


def shared_libraries(folder: Path) -> Iterator[Path]:
    """Shared libraries and Debian's folders of them, but no folder that may hold Python packages."""
    for entry in sorted(folder.iterdir()):
        is_library = ".so" in entry.name and entry.is_file()
        if is_library or (entry.is_dir() and entry.name.endswith(("-linux-gnu", "-linux-musl"))):
            yield entry
