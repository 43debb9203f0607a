"""Lists what a sandbox at level L2 may read: the interpreter, its libraries, the filtered library, and little else.

Landlock grants whole trees, and no tree may contain this repository, its `.git`, the course, package caches or other
sandboxes. So folders that could hold a copy of `course_lib` are granted entry by entry.
"""

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
"""Other system files that a sandbox reads."""

_LIBRARY_FOLDERS = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")
_SOURCES = ("/dev/urandom", "/dev/random", "/dev/zero")


def open_grants(library: Sequence[Path], packages: Sequence[Path] = ()) -> list[landlock.Grant]:
    """Open everything that a sandbox may read. The descriptors stay open, and all sandboxes of a fork server share
    them.

    Args:
        library: the filtered copy of the course library.
        packages: the folders of installed packages on the sandbox's path; it may read all but our own code in them.
    """
    grants = [landlock.grant(path, landlock.READ_TREE) for path in _trees(library, packages)]
    grants += [landlock.grant(path, landlock.LIST_TREE) for path in {*standard_library(), *packages} if path.is_dir()]
    grants += [landlock.grant(Path(path), landlock.READ_FILE) for path in _SOURCES]
    grants.append(landlock.grant(Path("/dev/null"), landlock.USE_DEVICE))
    return grants


def _trees(library: Iterable[Path], packages: Iterable[Path]) -> Iterator[Path]:
    """Yield every file that may be read, and every folder that may be read with its contents."""
    yield from library
    yield from (Path(path) for path in FILES if os.path.exists(path))
    for folder in standard_library():
        yield from (entry for entry in _entries(folder) if entry.name not in PACKAGES)
    for folder in packages:
        yield from (entry for entry in _entries(folder) if is_permitted(entry))
    for folder in library_folders():
        yield from shared_libraries(folder)


def standard_library() -> set[Path]:
    """Return the folders of the standard library."""
    paths = sysconfig.get_paths()
    return {Path(paths["stdlib"]), Path(paths["platstdlib"])}


def package_folders() -> list[str]:
    """Return the folders of installed packages on this process's path."""
    return [path for path in sys.path if os.path.basename(path) in PACKAGES]


def is_permitted(entry: Path) -> bool:
    """Return whether an entry of a package folder is safe: it cannot lead to the withheld modules."""
    return not any(fnmatch.fnmatch(entry.name, pattern) for pattern in OWN_CODE)


def library_folders() -> list[Path]:
    """Return the folders that may hold shared libraries. A system Python has its own among the others."""
    names = dict.fromkeys((*_LIBRARY_FOLDERS, f"{sys.base_prefix}/lib"))
    return [Path(name) for name in names if os.path.isdir(name)]


def _entries(folder: Path) -> Iterator[Path]:
    """Yield the entries of a folder without dangling links."""
    if folder.is_dir():
        yield from (entry for entry in sorted(folder.iterdir()) if entry.exists())


def shared_libraries(folder: Path) -> Iterator[Path]:
    """Yield shared libraries and Debian's folders of them, but no folder that may hold Python packages."""
    for entry in sorted(folder.iterdir()):
        is_library = ".so" in entry.name and entry.is_file()
        if is_library or (entry.is_dir() and entry.name.endswith(("-linux-gnu", "-linux-musl"))):
            yield entry
