"""Archives, of students and of platforms: zip and tar, opened within limits.

Nothing is unpacked before it is needed, and then in pieces, up to a limit: an archive that claims to hold gigabytes
costs neither memory nor time. A backslash parts folders, as Windows writes them, and an absolute path begins in the
archive. What cannot be used is refused, with a reason, and the rest goes on.
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
from typing import IO, Any, cast

from autograder.errors import DISK_FULL
from autograder.limits import size

NOTEBOOK_BYTES = 50_000_000
"""The largest file of a submission that is taken."""

PIECE = 1 << 20
IN_MEMORY = 16 * PIECE
"""What is unpacked of one file before it goes to disk."""

_ENTRY_BYTES = 500
"""What a zip archive's list of contents may take for a file, on average."""

_ARCHIVE = re.compile(r"\.(?:zip|tar|tgz|tar\.(?:gz|bz2|xz))\s*$", re.I)
_LITTER = re.compile(r"\._|__MACOSX$|__pycache__$|site-packages$|node_modules$|\.git$")
_DECOMPRESSORS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
"""What opens a compressed file, by its first bytes."""

_ZIP_END = struct.Struct("<4s4H2LH")
_IN_ZIP64 = 0xFFFFFFFF

Opener = Callable[[], contextlib.AbstractContextManager[IO[bytes]]]


class Refused(Exception):
    """Why a file cannot be used, in a clause."""

    @property
    def reason(self) -> str:
        """The clause."""
        return str(self)


class OverLimit(Refused):
    """It has more than may be read."""


@dataclass(frozen=True)
class File:
    """A file that was handed in, or delivered by a platform.

    Attributes:
        path: where it is, with `/` between folders and after archives.
        size: in bytes, as its place says.
        modified: when it was changed, in seconds since 1970 by its own machine's clock; 0 if unknown.
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

    def pieces(self, limit: int | None = None) -> Iterator[bytes]:
        """Its bytes, a piece at a time.

        Args:
            limit: the most that it may have; by default as much as a file of a submission.

        Raises:
            Refused: it has more, or cannot be read.
        """
        limit = NOTEBOOK_BYTES if limit is None else limit
        if self.size > limit:
            held, most = size(self.size, decimal=True), size(limit, decimal=True)
            raise OverLimit(f"it holds {held}, more than the limit of {most}")
        with damage_refused(), self.open() as file:
            yield from _limited(file, limit)

    def content(self, limit: int | None = None) -> bytes:
        """All of its bytes; see `pieces`."""
        return b"".join(self.pieces(limit))

    def begins(self) -> bytes:
        """Its first bytes, by which archives are known; see `pieces`."""
        with damage_refused(), self.open() as file:
            return file.read(512)


def is_archive(name: str) -> bool:
    """Whether a name is an archive's."""
    return _ARCHIVE.search(name) is not None


def is_litter(path: str) -> bool:
    """Whether a path leads to what nobody has written: systems and tools add it."""
    return any(_LITTER.match(part) for part in path.split("/"))


def is_hidden(path: str) -> bool:
    """Whether a path leads through what is hidden, or is litter."""
    return is_litter(path) or any(part[:1] == "." and part != ".." for part in path.split("/"))


def is_packed(start: bytes) -> bool:
    """Whether a file that begins like this is an archive, or compressed."""
    return _is_zip(start) or _is_tar(start) or start.startswith(tuple(_DECOMPRESSORS))


@dataclass
class Unpacking:
    """Opens archives, and keeps them open.

    Attributes:
        most_files: in an archive.
        most_bytes: what a compressed file, or an archive in another, may unpack to.
        keep: closes all that was opened.
    """

    most_files: int
    most_bytes: int
    keep: contextlib.ExitStack = field(default_factory=contextlib.ExitStack, repr=False)

    def unpacked(self, file: File) -> IO[bytes]:
        """A file of its own, which can be read in any order; no longer compressed, if it was.

        Raises:
            Refused: it is too large or damaged.
        """
        return self.decompressed(self._stored(file.pieces(self.most_bytes)))

    def decompressed(self, file: IO[bytes]) -> IO[bytes]:
        """What a compressed file holds; another is given back as it is.

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
        """The files in a zip or tar archive; None where it is neither.

        Args:
            archive: no longer compressed.
            refused: takes the reason for each that cannot be used, by its path.

        Raises:
            Refused: it is damaged, or holds too many files.
        """
        with damage_refused():
            start = _start(archive)
            if _is_zip(start):
                return list(self._zipped(archive, refused))
            return list(self._tarred(archive, refused)) if _is_tar(start) else None

    def _stored(self, pieces: Iterator[bytes]) -> IO[bytes]:
        """These bytes in a file without a name."""
        file = self.keep.enter_context(tempfile.SpooledTemporaryFile(IN_MEMORY))  # noqa: SIM115 (`keep` closes it)
        file.writelines(pieces)
        file.seek(0)
        return file

    def _zipped(self, file: IO[bytes], refused: dict[str, str]) -> Iterator[File]:
        _check_directory(file, self.most_files * _ENTRY_BYTES)
        archive = self.keep.enter_context(zipfile.ZipFile(file))
        seen: set[str] = set()
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
            elif path in seen:
                refused[path] = "it is in the archive twice; the first copy was used"
            else:
                yield File(path, entry.file_size, _zip_time(entry), partial(archive.open, entry))
            seen.add(path)

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
                opened = cast(Opener, partial(archive.extractfile, entry))  # of an ordinary file it is never None
                yield File(path, entry.size, float(entry.mtime), opened)


@contextlib.contextmanager
def damage_refused() -> Iterator[None]:
    """Whatever a damaged or hostile file makes its reader raise becomes a refusal."""
    try:
        yield
    except Refused:
        raise
    except OSError as error:
        if error.errno in DISK_FULL:
            raise
        raise Refused(f"it cannot be read ({error.strerror or error})") from error
    except Exception as error:  # each method of compression fails in its own way
        raise Refused("it is damaged") from error


def name_as_text(name: str) -> str:
    """The name of a file as text: bytes in it that are none in UTF-8 are replaced."""
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
    """Refuse a zip archive whose list of contents, which is read in one go, would fill the memory."""
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


def _path_in(name: str, refused: dict[str, str]) -> str:
    """The path of a file in an archive, whatever system has written it; empty where it is refused."""
    parts = [part for part in re.sub(r"^[A-Za-z]:", "", name).replace("\\", "/").split("/") if part not in ("", ".")]
    if ".." in parts:
        refused[name] = "its name leads out of the archive"
    elif not parts or "\0" in name:
        refused[name] = "its name is not a path"
    else:
        return "/".join(parts)
    return ""
