"""Reads a student's notebook safely.

Nothing in a submission is trusted: it may be a link to another file, contain gigabytes or a single byte, come from any
editor, and claim anything about its own points. `handed_in.py` finds its file, `formats.py` turns it into JSON, and
`read_submission` returns its cells as plain data, or raises `Unreadable`, which affects only this student.
"""

import hashlib
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.errors import BadInput, Unreadable
from autograder.intake import timestamps
from autograder.intake.formats import decode
from autograder.intake.handed_in import AnswersIn, HandedIn, find_notebook
from autograder.words import count

CELLS = 2000

_FORBIDDEN = re.compile(r'^[.~-]|\.\.|[/\\:+*?"<>|]')
"""What a student id must not contain or begin with: it could name another file, or nbgrader could read it as another
id."""

_UNUSABLE = re.compile(r"[\x00\ud800-\udfff]")


@dataclass(frozen=True)
class SubmittedCell:
    """A submitted cell: plain data of checked types, with unchecked contents.

    Attributes:
        kind: "code", "markdown" or "raw".
        source: its text, with line feeds only.
        outputs: what the notebook has under `outputs`.
        nbgrader: what its metadata claims for nbgrader; may be empty.
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
        digest: SHA-256 of the file's bytes, in hexadecimal.
        timestamp: the first line of nbgrader's `timestamp.txt` next to it; empty if there is none.
        repairs: what was done to make it readable.
    """

    cells: tuple[SubmittedCell, ...]
    digest: str
    timestamp: str = ""
    repairs: tuple[str, ...] = ()


def list_submissions(submitted: Path, lesson: str) -> list[tuple[str, Path]]:
    """Return all students who submitted a lesson, sorted by id, with the folders of their submissions.

    Files and hidden folders are not submissions. A link is listed, so that reading it reports it. `refused_submissions`
    handles folders whose names are not student ids.

    Args:
        submitted: the course's folder of submissions, `<student>/<lesson>/`.
        lesson: the lesson's folder name.

    Raises:
        BadInput: the folder is missing.
    """
    if not submitted.is_dir():
        raise BadInput(f"there is no folder {submitted}; submissions belong in {submitted}/STUDENT/{lesson}/")
    return [(student, folder) for student, folder in _folders(submitted, lesson) if not _fault(student)]


def refused_submissions(submitted: Path, lesson: str) -> dict[str, str]:
    """Return the submissions that cannot be graded because of their folder's name: for each displayable name, a
    sentence that says why.

    Args:
        submitted: the course's folder of submissions, which must exist.
        lesson: the lesson's folder name.
    """
    return {_shown_id(student): _refusal(student) for student, _ in _folders(submitted, lesson) if _fault(student)}


def _folders(submitted: Path, lesson: str) -> Iterator[tuple[str, Path]]:
    for entry in sorted(os.scandir(submitted), key=lambda entry: entry.name):
        folder = submitted / entry.name / lesson
        if not entry.name.startswith(".") and entry.is_dir() and os.path.lexists(folder):
            yield entry.name, folder


def check_student_id(student: str) -> None:
    """Refuse an id that could name another file, break a line, or be mistaken for another by nbgrader.

    Raises:
        BadInput: the id is empty, too long, or contains `..`, `+`, a separator, or an unprintable character.
    """
    if _fault(student):
        raise BadInput(_refusal(student))


def _fault(student: str) -> str:
    """Say in words what is wrong with a student id; empty if nothing is."""
    if not student.strip():
        return "is empty"
    if student != student.strip():
        return f"{'begins' if student[0].isspace() else 'ends'} with a space"
    if not student.isprintable():
        odd = next(character for character in student if not character.isprintable())
        return f"holds {_escaped(odd)}, which is not a printable character"
    forbidden = _FORBIDDEN.search(student)
    if forbidden:
        return f"{'begins with' if forbidden[0] in '.-~' else 'holds'} {forbidden[0]}"
    return "has more than 128 characters" if len(student) > 128 else ""


def _refusal(student: str) -> str:
    return f"the student id '{_shown_id(student)}' {_fault(student)}; rename its folder"


def _shown_id(student: str) -> str:
    return "".join(map(_escaped, student[:150]))


def _escaped(character: str) -> str:
    return character if character.isprintable() else ascii(character)[1:-1]


def read_submission(folder: Path, lesson: str, answers_in: AnswersIn, besides: Collection[str] = ()) -> Submission:
    """Read the notebook of a submission without following links.

    Args:
        folder: `submitted/<student>/<lesson>`; neither it nor the student's folder may be a link.
        lesson: the notebook's name, without `.ipynb`.
        answers_in: returns a notebook's answers, if there are several notebooks.
        besides: the file names of the assignment's other notebooks, which are never chosen.

    Raises:
        Unreadable: there is no notebook that could be graded.
    """
    found, timestamp = find_submission(folder, lesson, answers_in, besides)
    read = read_notebook(found.content)
    return Submission(read.cells, read.digest, timestamp, (*found.notes, *read.repairs))


def find_submission(
    folder: Path, lesson: str, answers_in: AnswersIn, besides: Collection[str] = ()
) -> tuple[HandedIn, str]:
    """Find a submission's notebook, reading it only if there are several, and the first line of `timestamp.txt`.

    The arguments and exceptions are those of `read_submission`.
    """
    try:
        with timestamps.opened(folder) as inside:
            return find_notebook(inside, lesson, answers_in, besides), timestamps.stated(inside)
    except OSError as error:
        raise Unreadable(
            f"The submission could not be opened ({error.strerror}): check that {lesson}.ipynb is an ordinary file "
            "that may be read, and submit again."
        ) from error


def read_notebook(content: bytes) -> Submission:
    """Read a notebook from the bytes of its file.

    Raises:
        Unreadable: these bytes are not a notebook that could be graded.
    """
    repairs: list[str] = []
    notebook = decode(content, repairs)
    cells = notebook.get("cells")
    if not isinstance(cells, list):
        raise Unreadable("The file has no cells, so it is not a notebook: save it again from Jupyter or Colab.")
    if len(cells) > CELLS:
        raise Unreadable(f"The notebook has {len(cells)} cells, more than {CELLS}: remove those that are not needed.")
    if any(_lacks_feeds(_lines(cell)) for cell in cells):
        repairs.append("The lines of its cells had lost their line breaks; they were put back.")
    usable = [cell for cell in map(_submitted_cell, cells) if cell is not None]
    if len(usable) < len(cells):
        repairs.append(f"{count(len(cells) - len(usable), 'damaged cell')} could not be read.")
    language, version = _language(notebook)
    if language not in ("", "python"):
        repairs.append("The notebook was set to a language other than Python; it was run as Python.")
    elif version.startswith("2."):
        repairs.append("The notebook was set to Python 2; it was run as Python 3.")
    return Submission(tuple(usable), hashlib.sha256(content).hexdigest(), repairs=tuple(repairs))


def _submitted_cell(cell: object) -> SubmittedCell | None:
    """Return a cell with checked types, or None if it has no readable text."""
    if not isinstance(cell, dict):
        return None
    source = cell.get("source", cell.get("input"))
    if isinstance(source, list):
        lines = _lines(cell)
        source = "\n".join(line.rstrip("\r\n") for line in lines) if _lacks_feeds(lines) else "".join(lines)
    if not isinstance(source, str):
        return None
    metadata = _section(cell, "metadata")
    tags, identity, kind = metadata.get("tags"), cell.get("id"), cell.get("cell_type")
    return SubmittedCell(
        kind=kind if kind in ("code", "markdown") else "raw",
        source=_UNUSABLE.sub("\ufffd", source.replace("\r\n", "\n").replace("\r", "\n")),
        outputs=cell.get("outputs"),
        nbgrader=_section(metadata, "nbgrader"),
        tags=tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
        id=identity if isinstance(identity, str) else "",
        attachments=cell.get("attachments"),
    )


def _lines(cell: object) -> list[str]:
    """Return the lines of a cell's source, if it is a list; some converters leave out the line feeds."""
    source = cell.get("source", cell.get("input")) if isinstance(cell, dict) else None  # "input" in format 3
    return [line for line in source if isinstance(line, str)] if isinstance(source, list) else []


def _lacks_feeds(lines: Sequence[str]) -> bool:
    return not all(line.endswith(("\n", "\r")) for line in lines[:-1])


def _section(part: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the dict under a name in a notebook; {} if there is none."""
    found = part.get(name)
    return found if isinstance(found, dict) else {}


def _language(notebook: Mapping[str, Any]) -> tuple[str, str]:
    """Return the notebook's language, in lower case, and its version; "" for what it does not state."""
    info, kernel = (_section(_section(notebook, "metadata"), name) for name in ("language_info", "kernelspec"))
    language, version = info.get("name") or kernel.get("language"), info.get("version")
    return (language.lower() if isinstance(language, str) else "", version if isinstance(version, str) else "")
