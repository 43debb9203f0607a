"""Finding the notebook among what was handed in: a file, a file in a folder, or a file in an archive.

Nothing is followed (links), nothing is written to disk, and nothing is unpacked beyond its limit: one archive, and
one in it, in memory.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from autograder.errors import Unreadable
from autograder.intake.archives import (
    DEEPEST,
    FILES,
    NOTEBOOK_BYTES,
    PASSED_OVER,
    FileInside,
    gunzip,
    is_gzip,
    is_tar,
    is_zip,
    untarred,
    unzipped,
)
from autograder.limits import size
from autograder.words import shown

COMPARED = 8
"""The most notebooks that are searched for the lesson's own."""

NESTED = 1
"""How many archives inside an archive are opened, one in another."""

_NOTEBOOK = re.compile(r"\.ipynb(?:\.(?:txt|json|download))?$", re.I)
_ARCHIVE = re.compile(r"\.(?:zip|gz|tgz|tar)$", re.I)
_MARKS = re.compile(rb"katze: ([a-z_0-9]+)\.|\"grade_id\": ?\"([a-z_0-9]+)-")
_SCRIPT = re.compile(r"\.py$", re.I)
_ATTEMPT = re.compile(r"(?P<name>.*?)(?:-(?P<dash>\d{1,3})| ?\((?P<round>\d{1,3})\))?\.ipynb", re.I | re.S)


@dataclass(frozen=True)
class HandedIn:
    """The notebook's file.

    Attributes:
        content: its bytes.
        notes: how it was found, in sentences for the receipt; none where it was where it belongs.
        path: the file in the submission that it was found in, with `/` between folders.
    """

    content: bytes
    notes: tuple[str, ...] = ()
    path: str = ""


def find_notebook(folder: int, lesson: str, besides: Collection[str] = ()) -> HandedIn:
    """The notebook of a submission.

    The file of the lesson's name comes first, then any other notebook (of several the one that has the lesson's
    cells), then one in an archive, then a notebook that was saved as a Python script.

    Args:
        folder: descriptor of the submission's folder.
        lesson: the notebook's name, without `.ipynb`.
        besides: the names of files that are other notebooks of the same assignment, and never this one.

    Raises:
        Unreadable: there is none, or it cannot be told which one is meant.
    """
    files = list(_files(folder))
    chosen, notes = _chosen([file for file in files if file.name not in besides], lesson)
    if chosen is None:
        listed = ", ".join(shown(file.path) for file in files[:5]) or "the folder is empty"
        raise Unreadable(f"There is no notebook {lesson}.ipynb in the submission ({listed}): {_instead(files)}")
    unpacked = unpack(chosen.name, chosen.read(), lesson, besides=besides)
    return HandedIn(unpacked.content, (*notes, *unpacked.notes), chosen.path)


def unpack(name: str, content: bytes, lesson: str, nested: int = NESTED, besides: Collection[str] = ()) -> HandedIn:
    """The notebook in the bytes of a file: the bytes themselves, unless they are compressed or an archive.

    Args:
        name: the file's name.
        content: its bytes.
        lesson: the lesson's name.
        nested: how many archives in this one may be opened, one in another.
        besides: as of `find_notebook`.

    Raises:
        Unreadable: the archive cannot be opened, is too large, or holds no notebook.
    """
    if is_gzip(content):
        content = gunzip(content, name)
        if not is_tar(content):
            return HandedIn(content, (f"The notebook was compressed ({shown(name)}); it was unpacked.",))
    elif not is_zip(content) and not is_tar(content):
        return HandedIn(content)
    inside = unzipped(content, name) if is_zip(content) else untarred(content, name)
    files = [file for file in inside if file.name not in besides]
    chosen, notes = _chosen([file for file in files if not _ARCHIVE.search(file.name)], lesson)
    if chosen is None and nested:
        chosen, notes = _chosen(files, lesson)
    if chosen is None:
        listed = ", ".join(shown(file.path) for file in files[:5]) or "it is empty"
        missing = f"There is no notebook {lesson}.ipynb in the archive {shown(name)} ({listed})"
        raise Unreadable(f"{missing}: submit the .ipynb file itself.")
    deeper = unpack(chosen.name, chosen.read(), lesson, nested - 1, besides) if _ARCHIVE.search(chosen.name) else None
    found = deeper or HandedIn(chosen.read())
    return HandedIn(found.content, (f"The notebook was taken out of the archive {shown(name)}.", *notes, *found.notes))


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
        return file.read(min(limit, status.st_size))  # a longer wish takes its memory at once


# Which file it is --------------------------------------------------------------------------------------------


def _chosen(files: Sequence[FileInside], lesson: str) -> tuple[FileInside | None, tuple[str, ...]]:
    """The file to read, with what to say about the choice; None if there is nothing to choose from."""
    wanted = f"{lesson}.ipynb"
    notebooks = [file for file in files if _NOTEBOOK.search(file.name)]
    newer = _newest_attempt(notebooks, lesson)
    if newer is not None:
        others = [shown(file.path) for file in notebooks if file is not newer]
        renamed = f"The notebook was named {shown(newer.path)}; it was read as {wanted}."
        return newer, (renamed, *_told_of_others(others, newer.path))
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


def _newest_attempt(notebooks: Sequence[FileInside], lesson: str) -> FileInside | None:
    """Of notebooks that a browser or a platform has numbered, `LESSON-1.ipynb` or `LESSON (1).ipynb`, the last one
    that holds the lesson; None where none is numbered, or no other is beside it.

    The number decides, not the file's time, which is lost wherever files are copied.
    """
    attempts = [(number, file) for file in notebooks if (number := _attempt(file, lesson)) is not None]
    if len(attempts) < 2:
        return None
    last_first = sorted(attempts, key=lambda attempt: attempt[0], reverse=True)[:COMPARED]
    return next((file for number, file in last_first if number and _is_of(file, lesson)), None)


def _attempt(file: FileInside, lesson: str) -> int | None:
    """The number after the lesson's name, 0 where there is none; None for a file of another name, or in a folder."""
    match = _ATTEMPT.fullmatch(file.path)
    if match is None or match["name"].casefold() != lesson.casefold():
        return None
    return int(match["dash"] or match["round"] or 0)


def _of_several(notebooks: Sequence[FileInside], lesson: str) -> tuple[FileInside, tuple[str, ...]]:
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


def _is_of(file: FileInside, lesson: str) -> bool:
    """Whether a notebook has cells of this lesson, by the markers in them or the ids that nbgrader gave them."""
    topic = re.escape(lesson.partition("_")[2] or lesson).encode()
    try:
        content = file.read()
    except (Unreadable, OSError):
        return False
    return re.search(rb"katze: " + topic + rb"\.|\"grade_id\": ?\"" + topic + rb"-", content) is not None


def topics_in(content: bytes) -> set[str]:
    """What the cells of a notebook are about, such as "ols", by the same marks."""
    return {(by_marker or by_id).decode() for by_marker, by_id in _MARKS.findall(content)}


def _instead(files: Sequence[FileInside]) -> str:
    """What to hand in instead of these."""
    if any(re.search(r"\.html?$", file.name, re.I) for file in files):
        return "a web page cannot be graded. Choose File > Download > .ipynb, and submit that file."
    if any(re.search(r"\.pdf$", file.name, re.I) for file in files):
        return "a PDF cannot be graded. Choose File > Download > .ipynb, and submit that file."
    if any(re.search(r"\.(?:7z|rar|bz2|xz)$", file.name, re.I) for file in files):
        return "unpack the archive and submit the .ipynb file itself."
    return "submit the .ipynb file itself."


# Folders -----------------------------------------------------------------------------------------------------


def _files(folder: int) -> Iterator[FileInside]:
    """The files of a submission, those of its own folder first, by name; hidden ones are passed over.

    Links are listed, so that one that should be the notebook is refused when it is read.
    """
    left = FILES
    pending: list[tuple[str, ...]] = [()]
    while pending:
        way = pending.pop(0)
        for name, is_folder in _entries(folder, way):
            if PASSED_OVER.match(name):
                continue
            left -= 1
            if left < 0:
                return
            if not is_folder:
                yield FileInside("/".join((*way, name)), _reader(folder, way, name))
            elif len(way) + 1 < DEEPEST:
                pending.append((*way, name))


def _entries(folder: int, way: Sequence[str]) -> list[tuple[str, bool]]:
    """The names in a folder inside the submission's, and whether each is a folder; none where it cannot be opened."""
    try:
        inside = descend(folder, way)
    except (OSError, Unreadable):
        return []
    try:
        with os.scandir(inside) as entries:
            return sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
    finally:
        os.close(inside)


def _reader(folder: int, way: Sequence[str], name: str) -> Callable[[], bytes]:
    def read() -> bytes:
        inside = descend(folder, way)
        try:
            return read_file(inside, name, NOTEBOOK_BYTES)
        finally:
            os.close(inside)

    return read


def descend(folder: int, way: Sequence[str]) -> int:
    """A descriptor of a folder inside another, with no link on the way.

    Raises:
        Unreadable: there is a link on the way.
        OSError: a folder cannot be opened.
    """
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
