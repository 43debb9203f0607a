"""Reading a student's notebook safely.

Nothing that a submission contains is trusted: it may be a link to another file, hold gigabytes or a single
byte, come from any editor, and say anything about its own points. `read_submission` returns its cells as plain
data or raises `Unreadable`, which is one student's outcome and never another's.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.errors import BadInput

NOTEBOOK_BYTES = 50_000_000
NOTEBOOK_PARTS = 4_000_000
CELLS = 2000

_UNUSABLE = re.compile(r"[\x00\ud800-\udfff]")


class Unreadable(Exception):
    """A submission that cannot be used: outcome `unreadable`, no score.

    Attributes:
        reason: one sentence to the student, which says what to do.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class SubmittedCell:
    """One cell as it was submitted: plain data, of checked types, with contents that nobody has checked.

    Attributes:
        kind: "code", "markdown" or "raw".
        source: its text, with line feeds only.
        outputs: what the notebook has under `outputs`.
        nbgrader: what its metadata claims for nbgrader; empty if nothing.
        tags: its tags.
        id: its cell id; may be empty.
        attachments: what the notebook has under `attachments`.
    """

    kind: str
    source: str
    outputs: object = ()
    nbgrader: Mapping[str, object] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    id: str = ""
    attachments: object = None


@dataclass(frozen=True)
class Submission:
    """A notebook that could be read.

    Attributes:
        cells: its cells, in order.
        digest: SHA-256 of the file, in hexadecimal: the same bytes have the same digest.
        timestamp: the first line of nbgrader's `timestamp.txt` beside it; empty if there is none.
        repairs: what had to be done to read it.
    """

    cells: tuple[SubmittedCell, ...]
    digest: str
    timestamp: str = ""
    repairs: tuple[str, ...] = ()


def list_submissions(submitted: Path, lesson: str) -> list[tuple[str, Path]]:
    """Everyone who submitted a lesson, with the folder of the submission, in order of their ids.

    Files and hidden folders are no submissions. A link is listed, so that it is reported when it is read.

    Args:
        submitted: the course's folder of submissions, `<student>/<lesson>/`.
        lesson: the lesson's folder name.

    Raises:
        BadInput: the folder is missing, or a student's id cannot be used.
    """
    if not submitted.is_dir():
        raise BadInput(f"there is no folder {submitted}; submissions belong in {submitted}/STUDENT/{lesson}/")
    found = []
    for entry in sorted(os.scandir(submitted), key=lambda entry: entry.name):
        folder = submitted / entry.name / lesson
        if not entry.name.startswith(".") and entry.is_dir() and os.path.lexists(folder):
            check_student_id(entry.name)
            found.append((entry.name, folder))
    return found


def check_student_id(student: str) -> None:
    """Refuse an id that could name another file, break a line, or that nbgrader would read as another one.

    Raises:
        BadInput: the id is empty, too long, or holds `..`, `+`, a separator, or a character that does not print.
    """
    fault = ""
    if not student.strip() or student != student.strip():
        fault = "is empty, or begins or ends with a space"
    elif not student.isprintable():
        fault = "holds a line break or another character that does not print"
    elif ".." in student or set(student) & set('/\\:+*?"<>|') or student.startswith((".", "-", "~")):
        fault = 'begins with . - or ~, or holds .. or one of / \\ : + * ? " < > |'
    elif len(student) > 128:
        fault = "has more than 128 characters"
    if fault:
        raise BadInput(f"the student id {ascii(student)[:150]} {fault}; rename its folder")


def read_submission(folder: Path, lesson: str) -> Submission:
    """Read the notebook of one submission without following any link.

    Args:
        folder: `submitted/<student>/<lesson>`; neither it nor the student's folder may be a link.
        lesson: the notebook's name, without `.ipynb`.

    Raises:
        Unreadable: there is no notebook that could be graded.
    """
    try:
        student = _open_folder(str(folder.parent), None)
        try:
            inside = _open_folder(folder.name, student)
        finally:
            os.close(student)
        try:
            return _read_folder(inside, lesson)
        finally:
            os.close(inside)
    except OSError as error:
        raise Unreadable(
            f"The submission could not be opened ({error.strerror}): check that {lesson}.ipynb is an ordinary file "
            "that may be read, and submit again."
        ) from error


def read_notebook(content: bytes) -> Submission:
    """Read a notebook from the bytes of its file.

    Raises:
        Unreadable: these bytes are no notebook that could be graded.
    """
    repairs: list[str] = []
    notebook = _decoded(content, repairs)
    version = notebook.get("nbformat")
    if type(version) is int and version < 4:
        notebook = _converted(notebook)
        repairs.append(f"The notebook was in the old format {version}; it was converted.")
    cells = notebook.get("cells")
    if not isinstance(cells, list):
        raise Unreadable("The file has no cells, so it is not a notebook: save it again from Jupyter or Colab.")
    if len(cells) > CELLS:
        raise Unreadable(f"The notebook has {len(cells)} cells, more than {CELLS}: remove those that are not needed.")
    usable = [cell for cell in map(_submitted_cell, cells) if cell is not None]
    if len(usable) < len(cells):
        repairs.append(f"{count(len(cells) - len(usable), 'damaged cell')} could not be read.")
    if _language(notebook) not in ("", "python"):
        repairs.append("The notebook was set to another language than Python; it was run as Python.")
    return Submission(tuple(usable), hashlib.sha256(content).hexdigest(), repairs=tuple(repairs))


def _open_folder(name: str, parent: int | None) -> int:
    try:
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    except OSError as error:
        if _is_link(name, parent):
            raise Unreadable("The submission's folder is a link to another place: submit the folder itself.") from error
        raise


def _is_link(name: str, parent: int | None) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _read_folder(folder: int, lesson: str) -> Submission:
    name, repairs = _notebook_name(sorted(os.listdir(folder)), lesson)
    read = read_notebook(_read_file(folder, name, NOTEBOOK_BYTES))
    return Submission(read.cells, read.digest, _timestamp(folder), (*repairs, *read.repairs))


def _notebook_name(names: Sequence[str], lesson: str) -> tuple[str, list[str]]:
    """The notebook to read: the one named as the lesson, or the only one there is."""
    wanted = f"{lesson}.ipynb"
    if wanted in names:
        return wanted, []
    notebooks = [name for name in names if name.lower().endswith(".ipynb") and not name.startswith(".")]
    if len(notebooks) == 1:
        return notebooks[0], [f"The notebook was named {shown(notebooks[0])}; it was read as {wanted}."]
    if notebooks:
        listed = ", ".join(shown(name) for name in notebooks[:5])
        raise Unreadable(f"There are several notebooks ({listed}), none of them named {wanted}: submit one.")
    others = ", ".join(shown(name) for name in names[:5]) or "the folder is empty"
    raise Unreadable(f"There is no notebook {wanted} in the submission ({others}): submit the .ipynb file itself.")


def _read_file(folder: int, name: str, limit: int) -> bytes:
    """The bytes of a regular file; a link, a pipe or a device is refused, and so is a file above the limit."""
    if _is_link(name, folder):
        raise Unreadable(f"{shown(name)} is a link to another file: submit the notebook itself.")
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    with open(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable(f"{shown(name)} is not a file: submit the notebook itself.")
        if status.st_size > limit:
            raise Unreadable(
                f"{shown(name)} has {status.st_size / 1e6:.0f} MB, more than the {limit / 1e6:.0f} MB that are read: "
                "clear its outputs and submit it again."
            )
        return file.read(limit)


def _timestamp(folder: int) -> str:
    """When the submission was handed in, as nbgrader's exchange writes it."""
    try:
        content = _read_file(folder, "timestamp.txt", 1000)
    except (OSError, Unreadable):
        return ""
    lines = content.decode("utf-8", "replace").splitlines()
    return lines[0].strip()[:60] if lines else ""


def _decoded(content: bytes, repairs: list[str]) -> dict[str, Any]:
    """The JSON object in these bytes, whatever encoding they are in."""
    if not content.strip():
        raise Unreadable("The notebook is an empty file: save it and submit it again.")
    encoding = json.detect_encoding(content)
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        text = content.decode(encoding, "replace")
        repairs.append("Some characters of the file could not be read and were replaced.")
    if encoding not in ("utf-8", "utf-8-sig"):
        repairs.append(f"The file was saved as {encoding.upper()}; it was read as such.")
    if text.count("{") + text.count("[") > NOTEBOOK_PARTS:
        raise Unreadable("The notebook has millions of parts: clear its outputs and submit it again.")
    try:
        notebook = json.loads(text, parse_constant=lambda name: None)
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(
            "The file is not a complete notebook (its JSON is broken): open it in Jupyter or Colab, save it, and "
            "submit it again."
        ) from error
    if not isinstance(notebook, dict):
        raise Unreadable("The file is not a notebook: submit the .ipynb file that Jupyter or Colab saves.")
    return notebook


def _converted(notebook: dict[str, Any]) -> dict[str, Any]:
    import nbformat  # takes most of a second, and few notebooks are so old

    try:
        return dict(nbformat.reads(json.dumps(notebook), as_version=4))
    except Exception as error:  # nbformat's converters meet unchecked data: they may fail in any way
        raise Unreadable(
            "The notebook is in an old format and damaged: open it in Jupyter or Colab, save it, and submit it again."
        ) from error


def _submitted_cell(cell: object) -> SubmittedCell | None:
    """A cell with checked types, or None if it has no text that could be read."""
    if not isinstance(cell, dict):
        return None
    source = cell.get("source")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
        return None
    metadata = cell.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    nbgrader = metadata.get("nbgrader")
    tags = metadata.get("tags")
    identity = cell.get("id")
    kind = cell.get("cell_type")
    return SubmittedCell(
        kind=kind if kind in ("code", "markdown") else "raw",
        source=_UNUSABLE.sub("\ufffd", source.replace("\r\n", "\n").replace("\r", "\n")),
        outputs=cell.get("outputs"),
        nbgrader=nbgrader if isinstance(nbgrader, dict) else {},
        tags=tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
        id=identity if isinstance(identity, str) else "",
        attachments=cell.get("attachments"),
    )


def _language(notebook: Mapping[str, Any]) -> str:
    """The language that the notebook says it is in, in small letters; empty if it does not say."""
    metadata = notebook.get("metadata")
    for section, name in (("language_info", "name"), ("kernelspec", "language")):
        value = metadata.get(section) if isinstance(metadata, dict) else None
        if isinstance(value, dict) and isinstance(value.get(name), str):
            return str(value[name]).lower()
    return ""


# --- words for the receipt


def count(number: int, unit: str) -> str:
    """A number with its unit: "1 cell", "2 cells"."""
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


def shown(name: str) -> str:
    """A student's word for something, on one line, short, and without characters that do not print."""
    printable = "".join(
        character if character.isprintable() and character not in "<>&" else "?" for character in name[:61]
    )
    return printable if len(printable) <= 60 else printable[:59] + "…"
