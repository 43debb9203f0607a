"""What a platform delivers, as a list of files: a folder, a zip or tar archive, archives in them, or one file.

Nothing is unpacked until it is asked for, and then in pieces, to disk, within limits: an archive that claims to hold
gigabytes costs neither memory nor time. Links are not followed. What cannot be used is refused, with a reason, and the
rest goes on.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import re
import stat
import struct
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar

from autograder.errors import DISK_FULL, BadInput, Unreadable
from autograder.intake.archives import NOTEBOOK_BYTES, PASSED_OVER, is_tar, is_zip
from autograder.intake.handed_in import descend
from autograder.limits import size

FILE_BYTES = NOTEBOOK_BYTES
"""The largest file of a submission that is taken."""

ARCHIVE_BYTES = 4_000_000_000
"""What a compressed archive, or one in another, may take on disk while it is read."""

DIRECTORY_BYTES = 50_000_000
"""The longest list of contents of a zip archive."""

FILES = 100_000
DEEPEST = 12
"""The deepest folder that is looked into."""

PIECE = 1 << 20

_ARCHIVE = re.compile(r"\.(?:zip|tar|tgz|tar\.(?:gz|bz2|xz))$", re.I)
_DECOMPRESSORS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
"""What opens a compressed file, by its first bytes."""

_ZIP_END = struct.Struct("<4s4H2LH")
_IN_ZIP64 = 0xFFFFFFFF


Resource = TypeVar("Resource")

Opener = Callable[[], contextlib.AbstractContextManager[IO[bytes]]]


class Refused(Exception):
    """Why a file of a download cannot be used, in a clause for the instructor."""

    @property
    def reason(self) -> str:
        """The clause."""
        return str(self)


@dataclass(frozen=True)
class File:
    """A file of a download.

    Attributes:
        path: where it is, with `/` between folders and after archives.
        size: in bytes, as its place says.
        modified: when it was changed, in seconds since 1970 by the clock of whoever made the archive; 0 if unknown.
        open: gives its bytes, as a file; raises `Refused`.
    """

    path: str
    size: int
    modified: float
    open: Opener = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]

    @property
    def is_archive(self) -> bool:
        """Whether its name is an archive's."""
        return _ARCHIVE.search(self.name) is not None

    def pieces(self, limit: int | None = None) -> Iterator[bytes]:
        """Its bytes, a piece at a time.

        Args:
            limit: the most that it may have; by default as much as a file of a submission.

        Raises:
            Refused: it has more, or cannot be read.
        """
        limit = FILE_BYTES if limit is None else limit
        if self.size > limit:
            held, most = size(self.size, decimal=True), size(limit, decimal=True)
            raise Refused(f"it holds {held}, more than the limit of {most}")
        with _told_plainly(), self.open() as file:
            yield from _limited(file, limit)

    def content(self, limit: int | None = None) -> bytes:
        """All of its bytes; see `pieces`."""
        return b"".join(self.pieces(limit))


@dataclass
class Download:
    """What a platform delivers.

    Attributes:
        path: the folder or file.
        files: what is in it, by path.
        refused: for files that cannot be used, why.
    """

    path: Path
    files: list[File] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    _resources: contextlib.ExitStack = field(default_factory=contextlib.ExitStack, repr=False)

    @property
    def name(self) -> str:
        """Its own name, without where it lies."""
        return self.path.resolve().name

    def keep(self, resource: contextlib.AbstractContextManager[Resource]) -> Resource:
        """Open what its files need, until the download is closed."""
        return self._resources.enter_context(resource)

    def unpack(self) -> bool:
        """Put what is in the archives among the files in their place, if there are any; whether there were."""
        archives = [file for file in self.files if file.is_archive]
        if not archives:
            return False
        self.files = [file for file in self.files if not file.is_archive]
        for archive in archives:
            try:
                held = self._resources.enter_context(_on_disk(archive.pieces(ARCHIVE_BYTES)))
                inside = self._opened(held, f"{archive.path}/")
            except Refused as refusal:
                self.refused[archive.path] = refusal.reason
                continue
            self.files += inside
            if len(self.files) > FILES:
                raise BadInput(f"{self.path} holds more than {FILES:,} files; collect it in parts")
        self.files.sort(key=lambda file: file.path)
        return True

    def _opened(self, file: IO[bytes], prefix: str) -> list[File]:
        """What is in an archive."""
        with _told_plainly():
            start = file.read(512)
            file.seek(0)
            for magic, decompressor in _DECOMPRESSORS.items():
                if start.startswith(magic):
                    file = self._resources.enter_context(_on_disk(_limited(decompressor(file), ARCHIVE_BYTES)))
                    start = file.read(512)
                    file.seek(0)
            if is_zip(start):
                return list(self._zipped(file, prefix))
            if is_tar(start):
                return list(self._tarred(file, prefix))
        raise Refused("it is neither a zip nor a tar archive, whatever its name says")

    def _zipped(self, file: IO[bytes], prefix: str) -> Iterator[File]:
        _check_directory(file)
        archive = self._resources.enter_context(zipfile.ZipFile(file))
        seen: set[str] = set()
        for entry in archive.infolist():
            name = _zip_name(entry)
            path = prefix + name
            if entry.is_dir() or _passed_over(name):
                continue
            refusal = _odd_name(name) or (
                "it is a link, and links are not followed"
                if stat.S_ISLNK(entry.external_attr >> 16)
                else "it is locked with a password"
                if entry.flag_bits & 1
                else "it is in the archive twice, and the first was taken"
                if name in seen
                else ""
            )
            seen.add(name)
            if refusal:
                self.refused[path] = refusal
            else:
                yield File(path, entry.file_size, _zip_time(entry), partial(archive.open, entry))

    def _tarred(self, file: IO[bytes], prefix: str) -> Iterator[File]:
        archive = self._resources.enter_context(tarfile.open(fileobj=file, mode="r:"))  # noqa: SIM115
        for number, entry in enumerate(archive):
            if number >= FILES:
                raise Refused(f"it holds more than {FILES:,} files")
            name = _text(entry.name.removeprefix("./"))
            path = prefix + name
            if entry.isdir() or _passed_over(name):
                continue
            refusal = _odd_name(name) or (
                "" if entry.isreg() and not entry.issparse() else "it is a link or a device, and no plain file"
            )
            if refusal:
                self.refused[path] = refusal
            else:
                yield File(path, entry.size, float(entry.mtime), _tar_opener(archive, entry))

    def _walked(self, folder: int) -> Iterator[File]:
        pending: list[tuple[str, ...]] = [()]
        number = 0
        while pending:
            way = pending.pop(0)
            try:
                inside = descend(folder, way)
            except (OSError, Unreadable):
                self.refused[_text("/".join(way))] = "the folder cannot be opened"
                continue
            with _closing(inside), os.scandir(inside) as entries:
                for entry in sorted(entries, key=lambda one: one.name):
                    path = _text("/".join((*way, entry.name)))
                    if PASSED_OVER.match(entry.name):
                        continue
                    number += 1
                    if number > FILES:
                        raise BadInput(f"{self.path} holds more than {FILES:,} files; collect it in parts")
                    if entry.is_symlink():
                        self.refused[path] = "it is a link, and links are not followed"
                    elif entry.is_dir(follow_symlinks=False):
                        if len(way) + 1 < DEEPEST:
                            pending.append((*way, entry.name))
                        else:
                            self.refused[path] = f"the folder is more than {DEEPEST} folders deep"
                    elif not entry.is_file(follow_symlinks=False):
                        self.refused[path] = "it is no plain file"
                    else:
                        status = entry.stat(follow_symlinks=False)
                        yield File(path, status.st_size, status.st_mtime, _file_opener(folder, way, entry.name))


@contextlib.contextmanager
def opened_download(path: Path) -> Iterator[Download]:
    """A download, for as long as the block runs: its files can be read until then.

    Raises:
        BadInput: there is no such file or folder, or it is an archive that cannot be opened at all.
    """
    with contextlib.ExitStack() as resources:
        download = Download(path, _resources=resources)
        try:
            if path.is_dir():
                folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                resources.callback(os.close, folder)
                download.files = sorted(download._walked(folder), key=lambda file: file.path)
            elif _ARCHIVE.search(path.name):
                download.files = download._opened(resources.enter_context(path.open("rb")), "")
            else:
                status = path.stat()
                download.files = [File(path.name, status.st_size, status.st_mtime, lambda: path.open("rb"))]
        except Refused as refusal:
            raise BadInput(f"{path} cannot be opened: {refusal.reason}; download it again") from refusal
        except OSError as error:
            raise BadInput(f"cannot read {path}: {error.strerror}; name what you have downloaded") from error
        yield download


# How each kind of place gives its bytes ----------------------------------------------------------------------


def _limited(stream: IO[bytes], limit: int) -> Iterator[bytes]:
    left = limit
    while piece := stream.read(PIECE):
        left -= len(piece)
        if left < 0:
            raise Refused(f"it holds more than the limit of {size(limit, decimal=True)}")
        yield piece


@contextlib.contextmanager
def _on_disk(pieces: Iterator[bytes]) -> Iterator[IO[bytes]]:
    """These bytes in a file without a name."""
    with tempfile.TemporaryFile() as held:
        for piece in pieces:
            held.write(piece)
        held.seek(0)
        yield held


def _file_opener(folder: int, way: tuple[str, ...], name: str) -> Opener:
    @contextlib.contextmanager
    def opener() -> Iterator[IO[bytes]]:
        with _closing(descend(folder, way)) as inside:
            handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=inside)
        with open(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise Refused("it is no plain file")
            yield file

    return opener


def _tar_opener(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> Opener:
    def opener() -> IO[bytes]:
        file = archive.extractfile(entry)
        if file is None:
            raise Refused("it is no plain file")
        return file

    return opener


@contextlib.contextmanager
def _closing(handle: int) -> Iterator[int]:
    try:
        yield handle
    finally:
        os.close(handle)


@contextlib.contextmanager
def _told_plainly() -> Iterator[None]:
    """Whatever a damaged or hostile file makes its reader raise becomes a refusal."""
    try:
        yield
    except (Refused, BadInput):
        raise
    except OSError as error:
        if error.errno in DISK_FULL:
            raise
        raise Refused(f"it cannot be read ({error.strerror or error})") from error
    except Exception as error:  # each method of compression fails in its own way
        raise Refused("it is damaged") from error


# What archives say about their files -------------------------------------------------------------------------


def _check_directory(file: IO[bytes]) -> None:
    """Refuse a zip archive whose list of contents, which is read in one go, would fill the memory."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - _ZIP_END.size - 65_536))
    tail = file.read()
    file.seek(0)
    start = tail.rfind(b"PK\x05\x06")
    if start < 0 or start + _ZIP_END.size > len(tail):
        raise Refused("it is damaged: it has no end")
    listed = _ZIP_END.unpack_from(tail, start)[5]
    large = tail.rfind(b"PK\x06\x06", 0, start)
    if listed == _IN_ZIP64 and 0 <= large <= start - 56:
        listed = int.from_bytes(tail[large + 40 : large + 48], "little")
    if listed > DIRECTORY_BYTES:
        raise Refused("it lists more files than can be read")


def _zip_name(entry: zipfile.ZipInfo) -> str:
    """The name of a file in a zip archive: UTF-8, even where the archive fails to say so, as those of macOS do."""
    if not entry.flag_bits & 0x800:
        with contextlib.suppress(UnicodeError):
            return entry.filename.encode("cp437").decode("utf-8")
    return entry.filename


def _zip_time(entry: zipfile.ZipInfo) -> float:
    try:
        return datetime(*entry.date_time).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0


def _text(name: str) -> str:
    """The name of a file as text: bytes in it that are none in UTF-8 are replaced."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _passed_over(name: str) -> bool:
    """Whether a path leads to what nobody hands in on purpose: hidden files, and what systems add."""
    return any(PASSED_OVER.match(part) and part != ".." for part in name.split("/") if part != ".")


def _odd_name(name: str) -> str:
    """Why a path in an archive is refused; empty where it is plain."""
    parts = name.split("/")
    if name.startswith("/") or "\\" in name or ".." in parts or re.match("[A-Za-z]:", name):
        return "its name leads out of the archive"
    if "\0" in name or "" in parts or "." in parts:
        return "its name is no path"
    return f"it is more than {DEEPEST} folders deep" if len(parts) > DEEPEST else ""
