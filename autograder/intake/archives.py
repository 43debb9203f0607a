"""Archives that students hand in: zip, gzip and tar, opened in memory and within limits."""

from __future__ import annotations

import io
import itertools
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from autograder.errors import Unreadable
from autograder.limits import size
from autograder.words import shown

NOTEBOOK_BYTES = 50_000_000
FILES = 1000
"""The most files of a submission, or of an archive in it, that are looked at."""

DEEPEST = 4
"""The deepest folder that is looked into; the submission's own is 1."""

DIRECTORY_BYTES = 1_000_000
"""The longest list of contents of a zip archive."""

PASSED_OVER = re.compile(r"\.|__MACOSX$|__pycache__$")
"""Files and folders that nobody hands in on purpose."""

_ZIP_END = struct.Struct("<4s4H2LH")


@dataclass(frozen=True)
class FileInside:
    """A file that could be the notebook.

    Attributes:
        path: where it is, with `/` between folders.
        read: gives its bytes, or raises `Unreadable`.
    """

    path: str
    read: Callable[[], bytes]

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]


def is_zip(content: bytes) -> bool:
    """Whether these bytes are a zip archive."""
    return content.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def is_gzip(content: bytes) -> bool:
    """Whether these bytes are compressed with gzip."""
    return content.startswith(b"\x1f\x8b")


def is_tar(content: bytes) -> bool:
    """Whether these bytes are a tar archive."""
    return content[257:262] == b"ustar"


def gunzip(content: bytes, name: str) -> bytes:
    """What gzip has compressed.

    Raises:
        Unreadable: it is damaged, or larger than a notebook may be.
    """
    unpacker = zlib.decompressobj(wbits=31)
    try:
        unpacked = unpacker.decompress(content, NOTEBOOK_BYTES + 1)
    except zlib.error as error:
        raise Unreadable(f"{shown(name)} is a damaged archive: submit the .ipynb file itself.") from error
    return _within_limit(unpacked, name)


def unzipped(content: bytes, name: str) -> Iterator[FileInside]:
    """The files in a zip archive; links, encrypted files and odd names are passed over.

    Raises:
        Unreadable: it is damaged, or holds too many files.
    """
    damaged = f"{shown(name)} is a damaged archive: submit the .ipynb file itself."
    end = content.rfind(b"PK\x05\x06")
    if end < 0 or end + _ZIP_END.size > len(content):
        raise Unreadable(damaged)
    directory_bytes = _ZIP_END.unpack_from(content, end)[5]
    if directory_bytes > DIRECTORY_BYTES:  # it is read in one go, before anything can be counted
        raise Unreadable(f"The archive {shown(name)} holds too many files: submit the .ipynb file itself.")
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, struct.error) as error:
        raise Unreadable(damaged) from error
    for entry in archive.infolist()[:FILES]:
        is_link = stat.S_ISLNK(entry.external_attr >> 16)
        if not (entry.is_dir() or is_link or _is_odd(entry.filename)):
            yield FileInside(entry.filename, _unzipper(archive, entry))


def untarred(content: bytes, name: str) -> Iterator[FileInside]:
    """The files in a tar archive; links, devices and odd names are passed over.

    Raises:
        Unreadable: it is damaged.
    """
    try:
        archive = tarfile.open(fileobj=io.BytesIO(content), mode="r:")  # noqa: SIM115 (what is read later needs it)
        entries = list(itertools.islice(archive, FILES))
    except Exception as error:  # a damaged header fails in many ways
        raise Unreadable(f"{shown(name)} is a damaged archive: submit the .ipynb file itself.") from error
    for entry in entries:
        path = entry.name.removeprefix("./")
        if entry.isreg() and not entry.issparse() and not _is_odd(path):
            yield FileInside(path, _untarrer(archive, entry))


def _is_odd(path: str) -> bool:
    """Whether a file in an archive is not looked at: it is hidden, deep, or its name leads out of the archive."""
    parts = path.split("/")
    return "\\" in path or len(parts) > DEEPEST or any(not part or PASSED_OVER.match(part) for part in parts)


def _untarrer(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> Callable[[], bytes]:
    def read() -> bytes:
        try:
            file = archive.extractfile(entry)
            content = b"" if file is None else file.read(NOTEBOOK_BYTES + 1)
        except Exception as error:
            raise Unreadable(
                f"{shown(entry.name)} in the archive is damaged: submit the .ipynb file itself."
            ) from error
        return _within_limit(content, entry.name)

    return read


def _unzipper(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Callable[[], bytes]:
    def read() -> bytes:
        name = shown(entry.filename)
        if entry.flag_bits & 1:
            raise Unreadable(f"{name} is locked with a password: submit the .ipynb file itself.")
        try:
            with archive.open(entry) as file:
                return _within_limit(file.read(NOTEBOOK_BYTES + 1), entry.filename)
        except Unreadable:
            raise
        except Exception as error:  # each method of compression fails in its own way
            raise Unreadable(f"{name} in the archive is damaged: submit the .ipynb file itself.") from error

    return read


def _within_limit(content: bytes, name: str) -> bytes:
    if len(content) > NOTEBOOK_BYTES:
        raise Unreadable(
            f"{shown(name)} unpacks to more than the limit of {size(NOTEBOOK_BYTES, decimal=True)}: "
            "clear its outputs and submit it again."
        )
    return content
