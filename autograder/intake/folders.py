"""Walks and reads folders from students and platforms without following links."""

import contextlib
import os
import stat
from collections.abc import Iterator
from functools import partial
from typing import IO

from autograder.errors import Unreadable
from autograder.intake.archives import File, Refused, is_hidden, is_litter, name_as_text

DEEPEST = 50
"""Folders nested deeper are not read."""


class TooManyFiles(Exception):
    """A folder contains more files than the limit."""


def walked(folder: int, refused: dict[str, str], most: int, hidden: bool = False) -> Iterator[File]:
    """Yield the files in a folder and below it, shallow ones first, by name.

    Args:
        folder: its descriptor, which must stay open while the files are read.
        refused: receives the reasons for unusable files, by path.
        most: the limit for files and folders.
        hidden: whether to include hidden files, and to report litter.

    Raises:
        TooManyFiles: there are more.
    """
    pending: list[tuple[str, ...]] = [()]
    number = 0
    while pending:
        way = pending.pop(0)
        with contextlib.ExitStack() as opened:
            try:
                inside = opened.enter_context(open_folder(folder, *way))
                entries = sorted(opened.enter_context(os.scandir(inside)), key=lambda entry: entry.name)
            except (OSError, Unreadable):
                refused[name_as_text("/".join(way))] = "the folder cannot be opened"
                continue
            for entry in entries:
                path = name_as_text("/".join((*way, entry.name)))
                if not hidden and is_hidden(entry.name):
                    continue
                number += 1
                if number > most:
                    raise TooManyFiles
                if is_litter(entry.name):
                    refused[path] = "it is not the student's work"
                elif entry.is_symlink():
                    refused[path] = "it is a link, and links are not followed"
                elif entry.is_dir(follow_symlinks=False):
                    if len(way) + 1 < DEEPEST:
                        pending.append((*way, entry.name))
                    else:
                        refused[path] = f"it is nested more than {DEEPEST} folders deep"
                elif not entry.is_file(follow_symlinks=False):
                    refused[path] = "it is not an ordinary file"
                else:
                    status = entry.stat(follow_symlinks=False)
                    yield File(path, status.st_size, status.st_mtime, partial(_opened, folder, way, entry.name))


@contextlib.contextmanager
def open_folder(parent: int | None, *way: str) -> Iterator[int]:
    """Open a folder for the duration of the block, refusing links on the way to it, and yield its descriptor.

    Args:
        parent: a descriptor of the folder where the way begins; None if the first name is a path.
        way: the names of the folders on the way.

    Raises:
        Unreadable: there is a link on the way.
        OSError: a folder cannot be opened.
    """
    with contextlib.ExitStack() as handles:
        for name in way:
            try:
                parent = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
            except OSError as error:
                if _is_link(name, parent):
                    said = "The submission's folder is a link to another place: submit the folder itself."
                    raise Unreadable(said) from error
                raise
            handles.callback(os.close, parent)
        assert parent is not None
        yield parent


def read_file(folder: int, name: str, limit: int) -> bytes:
    """Return the bytes of an ordinary file in a folder.

    Raises:
        Refused: it is a link, a pipe or a device, is larger than the limit, or cannot be read.
    """
    if _is_link(name, folder):
        raise Refused("it is a link, and links are not followed")
    return File(name, 0, 0, partial(_opened, folder, (), name)).content(limit)


@contextlib.contextmanager
def _opened(folder: int, way: tuple[str, ...], name: str) -> Iterator[IO[bytes]]:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open_folder(folder, *way) as inside, open(os.open(name, flags, dir_fd=inside), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise Refused("it is not an ordinary file")
        yield file


def _is_link(name: str, parent: int | None) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    except OSError:
        return False
