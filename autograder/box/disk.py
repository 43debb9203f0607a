"""Checks what a sandbox has on disk, from outside: the files in its folder, and removed files that it still holds."""

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
"""A folder younger than this may not be locked yet."""


def made_and_locked(prefix: str) -> tuple[Path, int]:
    """Create a temporary folder; return it and a descriptor that locks it while this process and its forks live.

    Folders of the same prefix and owner that no process locks any more, because theirs was killed, are removed.
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
    """Return the bytes on disk and the number of all files in a folder, counting up to about `most` files.

    The folder is walked by descriptors, so no path is too long, and none leads elsewhere.

    Raises:
        OSError: it cannot be walked: a folder in it is unreadable or too deep.
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
    """Return the bytes on disk of removed files that a process has open, by inode. None if that cannot be read."""
    found: dict[int, int] = {}
    with contextlib.suppress(OSError), os.scandir(f"/proc/{process}/fd") as entries:
        for entry in entries:
            with contextlib.suppress(OSError):  # closed in the meantime, or no file at all
                status = entry.stat()
                if status.st_nlink == 0:
                    found[status.st_ino] = status.st_blocks * 512
    return found


def mapped(process: int) -> set[int]:
    """Return the inodes of removed files that a process has mapped, open or not. None if that cannot be read.

    Only root can see their sizes; mapping a single page keeps a file of any size.
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
    """Remove a folder, whatever a student has done to it."""
    try:
        shutil.rmtree(folder)
    except (OSError, RecursionError):
        for command in (["chmod", "-R", "u+rwX", "--", str(folder)], ["rm", "-rf", "--", str(folder)]):
            subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
