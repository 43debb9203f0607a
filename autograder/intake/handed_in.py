"""Finding the notebook among what was handed in: a file, a file in a folder, or a file in an archive.

Nothing is followed (links), nothing is written to disk, and nothing is unpacked beyond its limit: one level
of one archive, in memory.
"""

from __future__ import annotations

import io
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from autograder.errors import Unreadable
from autograder.limits import size
from autograder.words import shown

NOTEBOOK_BYTES = 50_000_000
FILES = 1000
"""The most files of a submission, or of an archive in it, that are looked at."""

DEEPEST = 4
"""The deepest folder that is looked into; the submission's own is 1."""

COMPARED = 8
"""The most notebooks that are searched for the lesson's own."""

DIRECTORY_BYTES = 1_000_000
"""The longest list of contents of a zip archive."""

_NOTEBOOK = re.compile(r"\.ipynb(?:\.(?:txt|json|download))?$", re.I)
_ARCHIVE = re.compile(r"\.(?:zip|gz)$", re.I)
_SCRIPT = re.compile(r"\.py$", re.I)
_PASSED_OVER = re.compile(r"\.|__MACOSX$|__pycache__$")
_ZIP, _GZIP = (b"PK\x03\x04", b"PK\x05\x06"), b"\x1f\x8b"
_ZIP_END = struct.Struct("<4s4H2LH")


@dataclass(frozen=True)
class HandedIn:
    """The notebook's file.

    Attributes:
        content: its bytes.
        notes: how it was found, in sentences for the receipt; none where it was where it belongs.
    """

    content: bytes
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _File:
    """A file that could be the notebook.

    Attributes:
        path: where it is, with `/` between folders.
        read: gives its bytes, or raises `Unreadable`.
    """

    path: str
    read: Callable[[], bytes]

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


def find_notebook(folder: int, lesson: str) -> HandedIn:
    """The notebook of a submission.

    The file of the lesson's name comes first, then any other notebook (of several the one that has the lesson's
    cells), then one in an archive, then a notebook that was saved as a Python script.

    Args:
        folder: descriptor of the submission's folder.
        lesson: the notebook's name, without `.ipynb`.

    Raises:
        Unreadable: there is none, or it cannot be told which one is meant.
    """
    files = list(_files(folder))
    chosen, notes = _chosen(files, lesson)
    if chosen is None:
        listed = ", ".join(shown(file.path) for file in files[:5]) or "the folder is empty"
        raise Unreadable(f"There is no notebook {lesson}.ipynb in the submission ({listed}): {_instead(files)}")
    unpacked = unpack(chosen.name, chosen.read(), lesson)
    return HandedIn(unpacked.content, (*notes, *unpacked.notes))


def unpack(name: str, content: bytes, lesson: str) -> HandedIn:
    """The notebook in the bytes of a file: the bytes themselves, unless they are gzipped or a zip archive.

    Args:
        name: the file's name.
        content: its bytes.
        lesson: the lesson's name.

    Raises:
        Unreadable: the archive cannot be opened, is too large, or holds no notebook.
    """
    if content.startswith(_GZIP):
        return HandedIn(_gunzip(content, name), (f"The notebook was compressed ({shown(name)}); it was unpacked.",))
    if not content.startswith(_ZIP):
        return HandedIn(content)
    files = list(_zipped(content, name))
    chosen, notes = _chosen([file for file in files if not _ARCHIVE.search(file.name)], lesson)
    if chosen is None:
        listed = ", ".join(shown(file.path) for file in files[:5]) or "it is empty"
        inside = f"There is no notebook {lesson}.ipynb in the archive {shown(name)} ({listed})"
        raise Unreadable(f"{inside}: submit the .ipynb file itself.")
    return HandedIn(chosen.read(), (f"The notebook was taken out of the archive {shown(name)}.", *notes))


def open_folder(name: str, parent: int | None) -> int:
    """A descriptor of a folder that is not a link.

    Raises:
        Unreadable: it is a link.
        OSError: it cannot be opened.
    """
    try:
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    except OSError as error:
        if _is_link(name, parent):
            raise Unreadable("The submission's folder is a link to another place: submit the folder itself.") from error
        raise


def read_file(folder: int, name: str, limit: int) -> bytes:
    """The bytes of a regular file; a link, a pipe or a device is refused, and so is a file above the limit.

    Raises:
        Unreadable: it is not a regular file, or is too large.
        OSError: it cannot be opened.
    """
    if _is_link(name, folder):
        raise Unreadable(f"{shown(name)} is a link to another file: submit the notebook itself.")
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    with open(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable(f"{shown(name)} is not a file: submit the notebook itself.")
        if status.st_size > limit:
            held, most = size(status.st_size, decimal=True), size(limit, decimal=True)
            raise Unreadable(
                f"{shown(name)} has {held}, more than the limit of {most}: clear its outputs and submit it again."
            )
        return file.read(limit)


# Which file it is --------------------------------------------------------------------------------------------


def _chosen(files: Sequence[_File], lesson: str) -> tuple[_File | None, tuple[str, ...]]:
    """The file to read, with what to say about the choice; None if there is nothing to choose from."""
    wanted = f"{lesson}.ipynb"
    notebooks = [file for file in files if _NOTEBOOK.search(file.name)]
    at_its_place = next((file for file in notebooks if file.path == wanted), None)
    if at_its_place is not None:
        others = [shown(file.path) for file in notebooks if file is not at_its_place]
        return at_its_place, _told_of_others(others, wanted)
    if notebooks:
        return _of_several(notebooks, lesson)
    for kind in (_ARCHIVE, _SCRIPT):
        found = [file for file in files if kind.search(file.name)]
        named = [file for file in found if file.name.lower().startswith(lesson.lower())]
        for only in (found, named):
            if len(only) == 1:
                return only[0], ()
        if found:
            listed = ", ".join(shown(file.path) for file in found[:5])
            raise Unreadable(f"There is no notebook {wanted}, but several other files ({listed}): submit one .ipynb.")
    return None, ()


def _of_several(notebooks: Sequence[_File], lesson: str) -> tuple[_File, tuple[str, ...]]:
    wanted = f"{lesson}.ipynb"
    candidates = [file for file in notebooks if file.name == wanted] or list(notebooks)
    if len(candidates) > 1:
        candidates = [file for file in candidates[:COMPARED] if _is_of(file, lesson)]
    if len(candidates) != 1:
        listed = ", ".join(shown(file.path) for file in notebooks[:5])
        raise Unreadable(f"There are several notebooks ({listed}), and none of them is {wanted}: submit one.")
    [chosen] = candidates
    others = [shown(file.path) for file in notebooks if file is not chosen]
    if chosen.name == wanted:
        where = (f"The notebook was found in the folder {shown(chosen.path.rpartition('/')[0])}.",)
    else:
        where = (f"The notebook was named {shown(chosen.path)}; it was read as {wanted}.",)
    return chosen, (*where, *_told_of_others(others, chosen.path))


def _told_of_others(others: Sequence[str], graded: str) -> tuple[str, ...]:
    if not others:
        return ()
    listed = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
    return (f"There were other notebooks as well ({listed}); {shown(graded)} was graded.",)


def _is_of(file: _File, lesson: str) -> bool:
    """Whether a notebook has cells of this lesson, by the markers in them or the ids that nbgrader gave them."""
    topic = re.escape(lesson.partition("_")[2] or lesson).encode()
    try:
        content = file.read()
    except (Unreadable, OSError):
        return False
    return re.search(rb"katze: " + topic + rb"\.|\"grade_id\": ?\"" + topic + rb"-", content) is not None


def _instead(files: Sequence[_File]) -> str:
    """What to hand in instead of these."""
    if any(re.search(r"\.html?$", file.name, re.I) for file in files):
        return "a web page cannot be graded. Choose File > Download > .ipynb, and submit that file."
    if any(re.search(r"\.pdf$", file.name, re.I) for file in files):
        return "a PDF cannot be graded. Choose File > Download > .ipynb, and submit that file."
    if any(re.search(r"\.(?:7z|rar|tar|tgz|bz2|xz)$", file.name, re.I) for file in files):
        return "unpack the archive and submit the .ipynb file itself."
    return "submit the .ipynb file itself."


# Folders -----------------------------------------------------------------------------------------------------


def _files(folder: int) -> Iterator[_File]:
    """The files of a submission, those of its own folder first, by name; hidden ones are passed over.

    Links are listed, so that one that should be the notebook is refused when it is read.
    """
    left = FILES
    pending: list[tuple[str, ...]] = [()]
    while pending:
        way = pending.pop(0)
        for name, is_folder in _entries(folder, way):
            if _PASSED_OVER.match(name):
                continue
            left -= 1
            if left < 0:
                return
            if not is_folder:
                yield _File("/".join((*way, name)), _reader(folder, way, name))
            elif len(way) + 1 < DEEPEST:
                pending.append((*way, name))


def _entries(folder: int, way: Sequence[str]) -> list[tuple[str, bool]]:
    """The names in a folder inside the submission's, and whether each is a folder; none where it cannot be opened."""
    try:
        inside = _descend(folder, way)
    except (OSError, Unreadable):
        return []
    try:
        with os.scandir(inside) as entries:
            return sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
    finally:
        os.close(inside)


def _reader(folder: int, way: Sequence[str], name: str) -> Callable[[], bytes]:
    def read() -> bytes:
        inside = _descend(folder, way)
        try:
            return read_file(inside, name, NOTEBOOK_BYTES)
        finally:
            os.close(inside)

    return read


def _descend(folder: int, way: Sequence[str]) -> int:
    """A descriptor of a folder inside another, with no link on the way."""
    inside = os.dup(folder)
    for name in way:
        try:
            deeper = open_folder(name, inside)
        finally:
            os.close(inside)
        inside = deeper
    return inside


def _is_link(name: str, parent: int | None) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    except OSError:
        return False


# Archives ----------------------------------------------------------------------------------------------------


def _gunzip(content: bytes, name: str) -> bytes:
    unpacker = zlib.decompressobj(wbits=31)
    try:
        unpacked = unpacker.decompress(content, NOTEBOOK_BYTES + 1)
    except zlib.error as error:
        raise Unreadable(f"{shown(name)} is a damaged archive: submit the .ipynb file itself.") from error
    return _within_limit(unpacked, name)


def _zipped(content: bytes, name: str) -> Iterator[_File]:
    """The files in a zip archive; links, encrypted files and odd names are passed over."""
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
        parts = entry.filename.split("/")
        is_link = stat.S_ISLNK(entry.external_attr >> 16)
        if entry.is_dir() or is_link or "\\" in entry.filename or len(parts) > DEEPEST:
            continue
        if not any(not part or _PASSED_OVER.match(part) for part in parts):
            yield _File(entry.filename, _unzipper(archive, entry))


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
