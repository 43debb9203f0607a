"""Looks at what a sandbox has on disk, from outside: the files in its folder, and removed ones that it still holds."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

_MOST_LEVELS = 64  # of folders inside folders; each holds a descriptor while the folder is walked
_MAPPED = re.compile(rb"^\S+ \S+ \S+ (?P<device>\S+) (?P<inode>\d+) +(?P<path>/.*) \(deleted\)$", re.M)
_ANONYMOUS = b"/dev/zero"  # what shared memory without a file is called


SETTLED_SECONDS = 60.0
"""A folder that is younger may still be about to be locked."""


def made_and_locked(prefix: str) -> tuple[Path, int]:
    """A new temporary folder, and a descriptor that locks it for as long as this process and its forks live.

    Folders of the same prefix and owner that no process locks any more, since theirs was killed, are removed.
    """
    for left in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            handle = os.open(left, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                found = os.fstat(handle)
                if found.st_uid == os.getuid() and time.time() - found.st_mtime > SETTLED_SECONDS:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    remove(left)
            finally:
                os.close(handle)
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(handle, fcntl.LOCK_SH)
    return folder, handle


def contents(folder: Path, most: int) -> tuple[int, int]:
    """The bytes on disk and the number of all files in a folder, counted up to `most` files or a few more.

    It is walked by descriptors: no path is too long, and none leads elsewhere.

    Raises:
        OSError: it cannot be walked: a folder in it may not be read, or lies too deep.
    """
    used, files = 0, 0
    folders: list[tuple[int, list[str]]] = []  # the way down: a descriptor, and the names that are left to visit

    def visit(name: str, inside: int | None) -> None:
        nonlocal used, files
        with contextlib.suppress(FileNotFoundError):  # removed in the meantime
            descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=inside)
            names: list[str] = []
            folders.append((descriptor, names))
            with os.scandir(descriptor) as entries:
                for entry in itertools.islice(entries, most + 1 - files):
                    with contextlib.suppress(FileNotFoundError):
                        used += entry.stat(follow_symlinks=False).st_blocks * 512
                        files += 1
                        if entry.is_dir(follow_symlinks=False):
                            names.append(entry.name)

    try:
        visit(str(folder), None)
        while folders and files <= most:
            descriptor, names = folders[-1]
            if names:
                if len(folders) > _MOST_LEVELS:
                    raise OSError(errno.ENAMETOOLONG, "folders nested too deep")
                visit(names.pop(), descriptor)
            else:
                folders.pop()
                os.close(descriptor)
    finally:
        for descriptor, _ in folders:
            os.close(descriptor)
    return used, files


def held(process: int) -> dict[int, int]:
    """The removed files that a process has open: their bytes on disk, by inode. None where it may not be read."""
    found: dict[int, int] = {}
    with contextlib.suppress(OSError), os.scandir(f"/proc/{process}/fd") as entries:
        for entry in entries:
            with contextlib.suppress(OSError):  # closed in the meantime, or no file at all
                status = entry.stat()
                if status.st_nlink == 0:
                    found[status.st_ino] = status.st_blocks * 512
    return found


def mapped(process: int) -> set[int]:
    """The inodes of removed files that a process has in memory, open or not. None where it may not be read.

    Only the administrator can see how large they are; a process needs one page to keep a file of any size.
    """
    try:
        with open(f"/proc/{process}/maps", "rb") as file:
            maps = file.read()
    except OSError:
        return set()
    if b"(deleted)" not in maps:
        return set()
    return {int(match["inode"]) for match in _MAPPED.finditer(maps) if match["path"] != _ANONYMOUS}


def remove(folder: Path) -> None:
    """Remove a folder, whatever a student has made of it."""
    try:
        shutil.rmtree(folder)
    except (OSError, RecursionError):
        for command in (["chmod", "-R", "u+rwX", "--", str(folder)], ["rm", "-rf", "--", str(folder)]):
            subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
