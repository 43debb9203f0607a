"""Opens archives from students and platforms, zip and tar, within limits.

Nothing is unpacked before it is needed, and then only piece by piece, up to a limit: an archive that claims to contain
gigabytes costs neither memory nor time. A backslash separates folders, as on Windows, and an absolute path is taken as
relative to the archive. Unusable entries are refused with a reason, and the rest are read.
"""

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
from typing import IO, Any, cast

from autograder.errors import DISK_FULL
from autograder.limits import size

NOTEBOOK_BYTES = 50_000_000
"""The largest file that is accepted in a submission."""

PIECE = 1 << 20
IN_MEMORY = 16 * PIECE
"""A larger unpacked file goes to disk."""

_ENTRY_BYTES = 500
"""Limit for an entry in a zip archive's directory, on average."""

_ARCHIVE = re.compile(r"\.(?:zip|tar|tgz|tar\.(?:gz|bz2|xz))\s*$", re.I)
_LITTER = re.compile(r"\._|__MACOSX$|__pycache__$|site-packages$|node_modules$|\.git$")
_DECOMPRESSORS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
"""Openers for compressed files, by their first bytes."""

_ZIP_END = struct.Struct("<4s4H2LH")
_IN_ZIP64 = 0xFFFFFFFF

Opener = Callable[[], contextlib.AbstractContextManager[IO[bytes]]]


class Refused(Exception):
    """A file cannot be used; the text is a clause that says why."""

    @property
    def reason(self) -> str:
        """The clause."""
        return str(self)


class OverLimit(Refused):
    """A file is larger than the limit."""


@dataclass(frozen=True)
class File:
    """A file that was handed in, or delivered by a platform.

    Attributes:
        path: its path, with `/` between folders and after archives.
        size: in bytes, as the folder or archive states it.
        modified: its modification time, in seconds since 1970 by the clock of its machine; 0 if unknown.
        open: opens it for reading bytes; raises `Refused`.
    """

    path: str
    size: int
    modified: float
    open: Opener = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]

    def pieces(self, limit: int | None = None) -> Iterator[bytes]:
        """Yield its bytes, a piece at a time.

        Args:
            limit: its largest size; by default the limit for a file of a submission.

        Raises:
            Refused: it is larger, or cannot be read.
        """
        limit = NOTEBOOK_BYTES if limit is None else limit
        if self.size > limit:
            held, most = size(self.size, decimal=True), size(limit, decimal=True)
            raise OverLimit(f"it holds {held}, more than the limit of {most}")
        with damage_refused(), self.open() as file:
            yield from _limited(file, limit)

    def content(self, limit: int | None = None) -> bytes:
        """Return all its bytes; see `pieces`."""
        return b"".join(self.pieces(limit))

    def begins(self) -> bytes:
        """Return its first bytes, which identify archives; see `pieces`."""
        with damage_refused(), self.open() as file:
            return file.read(512)


def is_archive(name: str) -> bool:
    """Return whether a file name has the ending of an archive."""
    return _ARCHIVE.search(name) is not None


def is_litter(path: str) -> bool:
    """Return whether a path belongs to something that systems and tools add, and that nobody has written."""
    return any(_LITTER.match(part) for part in path.split("/"))


def is_hidden(path: str) -> bool:
    """Return whether a path contains a hidden part, or is litter."""
    return is_litter(path) or any(part[:1] == "." and part != ".." for part in path.split("/"))


def is_packed(start: bytes) -> bool:
    """Return whether a file with this beginning is an archive or compressed."""
    return _is_zip(start) or _is_tar(start) or start.startswith(tuple(_DECOMPRESSORS))


@dataclass
class Unpacking:
    """Opens archives and keeps them open.

    Attributes:
        most_files: the limit for the files in an archive.
        most_bytes: the limit for the unpacked size of a compressed file or a nested archive.
        keep: closes everything that was opened.
    """

    most_files: int
    most_bytes: int
    keep: contextlib.ExitStack = field(default_factory=contextlib.ExitStack, repr=False)

    def unpacked(self, file: File) -> IO[bytes]:
        """Copy a file into a seekable one, decompressed if it was compressed.

        Raises:
            Refused: it is too large or damaged.
        """
        return self.decompressed(self._stored(file.pieces(self.most_bytes)))

    def decompressed(self, file: IO[bytes]) -> IO[bytes]:
        """Return the contents of a compressed file; return any other file as it is.

        Raises:
            Refused: it is too large or damaged.
        """
        with damage_refused():
            start = _start(file)
            for magic, decompressor in _DECOMPRESSORS.items():
                if start.startswith(magic):
                    return self._stored(_limited(decompressor(file), self.most_bytes))
        return file

    def files(self, archive: IO[bytes], refused: dict[str, str]) -> list[File] | None:
        """Return the files in a zip or tar archive; None if it is neither.

        Args:
            archive: the archive, already decompressed.
            refused: receives the reasons for unusable files, by path.

        Raises:
            Refused: it is damaged or contains too many files.
        """
        with damage_refused():
            start = _start(archive)
            if _is_zip(start):
                return list(self._zipped(archive, refused))
            return list(self._tarred(archive, refused)) if _is_tar(start) else None

    def _stored(self, pieces: Iterator[bytes]) -> IO[bytes]:
        """Store bytes in an unnamed temporary file."""
        file = self.keep.enter_context(tempfile.SpooledTemporaryFile(IN_MEMORY))  # noqa: SIM115 (`keep` closes it)
        file.writelines(pieces)
        file.seek(0)
        return file

    def _zipped(self, file: IO[bytes], refused: dict[str, str]) -> Iterator[File]:
        _check_directory(file, self.most_files * _ENTRY_BYTES)
        archive = self.keep.enter_context(zipfile.ZipFile(file))
        paths: set[str] = set()
        for entry in archive.infolist():
            if entry.filename.endswith(("/", "\\")):
                continue
            path = _path_in(_zip_name(entry), refused)
            if not path:
                continue
            if stat.S_ISLNK(entry.external_attr >> 16):
                refused[path] = "it is a link, and links are not followed"
            elif entry.flag_bits & 1:
                refused[path] = "it is locked with a password"
            elif path in paths:
                refused[path] = "it is in the archive twice; the first copy was used"
            else:
                yield File(path, entry.file_size, _zip_time(entry), partial(archive.open, entry))
            paths.add(path)

    def _tarred(self, file: IO[bytes], refused: dict[str, str]) -> Iterator[File]:
        archive = self.keep.enter_context(tarfile.open(fileobj=file, mode="r:"))  # noqa: SIM115
        for number, entry in enumerate(archive):
            if number >= self.most_files:
                raise Refused(f"it holds more than {self.most_files:,} files")
            if entry.isdir():
                continue
            path = _path_in(name_as_text(entry.name), refused)
            if path and (not entry.isreg() or entry.issparse()):
                refused[path] = "it is a link or a device, not an ordinary file"
            elif path:
                opened = cast(Opener, partial(archive.extractfile, entry))  # never None for an ordinary file
                yield File(path, entry.size, float(entry.mtime), opened)


@contextlib.contextmanager
def damage_refused() -> Iterator[None]:
    """Turn whatever a damaged or hostile file makes its reader raise into `Refused`."""
    try:
        yield
    except Refused:
        raise
    except OSError as error:
        if error.errno in DISK_FULL:
            raise
        raise Refused(f"it cannot be read ({error.strerror or error})") from error
    except Exception as error:  # each compression method raises its own exceptions
        raise Refused("it is damaged") from error


def name_as_text(name: str) -> str:
    """Return a file's name as text, with bytes that are not UTF-8 replaced."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _is_zip(start: bytes) -> bool:
    return start.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def _is_tar(start: bytes) -> bool:
    return start[257:262] == b"ustar"


def _start(file: IO[bytes]) -> bytes:
    file.seek(0)
    start = file.read(512)
    file.seek(0)
    return start


def _limited(stream: IO[bytes], limit: int) -> Iterator[bytes]:
    left = limit
    while piece := stream.read(PIECE):
        left -= len(piece)
        if left < 0:
            raise OverLimit(f"it holds more than the limit of {size(limit, decimal=True)}")
        yield piece


def _check_directory(file: IO[bytes], limit: int) -> None:
    """Refuse a zip archive whose directory would fill the memory, because it is read all at once."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - _ZIP_END.size - 65_536))
    tail = file.read()
    file.seek(0)
    start = tail.rfind(b"PK\x05\x06")
    if start < 0 or start + _ZIP_END.size > len(tail):
        raise Refused("it is damaged: its end is missing")
    listed = _ZIP_END.unpack_from(tail, start)[5]
    large = tail.rfind(b"PK\x06\x06", 0, start)
    if listed == _IN_ZIP64 and 0 <= large <= start - 56:
        listed = int.from_bytes(tail[large + 40 : large + 48], "little")
    if listed > limit:
        raise Refused("it lists too many files")


def _zip_name(entry: zipfile.ZipInfo) -> str:
    """Return the name of a file in a zip archive: UTF-8, even if the archive does not say so, as on macOS."""
    if not entry.flag_bits & 0x800:
        with contextlib.suppress(UnicodeError):
            return entry.filename.encode("cp437").decode("utf-8")
    return entry.filename


def _zip_time(entry: zipfile.ZipInfo) -> float:
    try:
        return datetime(*entry.date_time).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0


def _path_in(name: str, refused: dict[str, str]) -> str:
    """Return the path of a file in an archive, written by any system; empty if it is refused."""
    parts = [part for part in re.sub(r"^[A-Za-z]:", "", name).replace("\\", "/").split("/") if part not in ("", ".")]
    if ".." in parts:
        refused[name] = "its name leads out of the archive"
    elif not parts or "\0" in name:
        refused[name] = "its name is not a path"
    else:
        return "/".join(parts)
    return ""
