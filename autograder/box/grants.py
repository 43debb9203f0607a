"""What a box at level L2 may read: the interpreter, its libraries, the filtered library, and little else.

Landlock grants whole trees, and this repository, its `.git`, the course, package caches and other boxes must
not be in one. So folders that could hold a copy of `course_lib` are granted entry by entry.
"""

from __future__ import annotations

import fnmatch
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder.box import landlock

OWN_CODE = ("course_lib*", "autograder*", "katze*", "*.pth", "*.egg-link", "__editable__*", "__pycache__")
"""Entries of site-packages that could lead to the withheld modules."""

_PACKAGES = ("site-packages", "dist-packages")
_LIBRARY_FOLDERS = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")
_FILES = ("/etc/ld.so.cache", "/etc/localtime", "/etc/fonts", "/usr/share/fonts", "/usr/share/zoneinfo")
_SOURCES = ("/dev/urandom", "/dev/random", "/dev/zero")


def open_grants(library: Iterable[Path], packages: Iterable[Path] = ()) -> list[landlock.Grant]:
    """Open everything that a box may read; the descriptors stay open and are shared by all boxes of a zygote.

    Args:
        library: the filtered copy of the course library.
        packages: the folders of installed packages on the box's path.
    """
    grants = [landlock.grant(path, landlock.READ_TREE) for path in _trees(library, packages)]
    grants += [landlock.grant(path, landlock.LIST_TREE) for path in {*_interpreter(), *packages} if path.is_dir()]
    grants += [landlock.grant(Path(path), landlock.READ_FILE) for path in _SOURCES]
    return [*grants, landlock.grant(Path("/dev/null"), landlock.USE_DEVICE)]


def _trees(library: Iterable[Path], packages: Iterable[Path]) -> Iterator[Path]:
    """Every file and folder that may be read, with all that is beneath it."""
    yield from library
    yield from (Path(path) for path in _FILES if os.path.exists(path))
    for folder in _interpreter():
        yield from _entries(folder, _PACKAGES)
    for folder in packages:
        yield from _entries(folder, OWN_CODE)
    for name in (*_LIBRARY_FOLDERS, f"{sys.base_prefix}/lib"):
        if os.path.isdir(name):
            yield from _shared_libraries(Path(name))


def _interpreter() -> set[Path]:
    """The folders of the standard library."""
    paths = sysconfig.get_paths()
    return {Path(paths["stdlib"]), Path(paths["platstdlib"])}


def _entries(folder: Path, excluded: Iterable[str]) -> Iterator[Path]:
    """What lies in a folder, without the excluded names."""
    if not folder.is_dir():
        return
    for entry in sorted(folder.iterdir()):
        if entry.exists() and not any(fnmatch.fnmatch(entry.name, pattern) for pattern in excluded):
            yield entry


def _shared_libraries(folder: Path) -> Iterator[Path]:
    """Shared libraries and Debian's folders of them, but no folder that may hold Python packages."""
    for entry in sorted(folder.iterdir()):
        is_library = ".so" in entry.name and entry.is_file()
        if is_library or (entry.is_dir() and entry.name.endswith(("-linux-gnu", "-linux-musl"))):
            yield entry
