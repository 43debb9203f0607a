"""Reading a student's notebook safely, and repairing it against the release, with a receipt.

Nothing that a submission contains is trusted: it may be a link to another file, hold gigabytes or a single
byte, come from any editor, and say anything about its own points. `read_submission` returns its cells as plain
data or raises `Unreadable`, which is one student's outcome and never another's. `repair` then puts the notebook
back into the shape of the release: the checks are the release's own, the answers are the student's, and every
change is told in a short sentence that the student reads as well.

A cell of the release is recognised by nbgrader's `grade_id` or by the marker in its source, which copies of a cell
carry along; an answer that has lost both, by the name that it defines or the text that it kept.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import stat
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat

from autograder import sanitise
from autograder.errors import BadInput

NOTEBOOK_BYTES = 50_000_000
NOTEBOOK_PARTS = 4_000_000
CELLS = 2000


class CellKind(StrEnum):
    """What a cell is for."""

    CODE = "code"
    MARKDOWN = "markdown"
    ANSWER = "answer"
    CHECK = "check"
    WRITTEN = "written"


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
class Release:
    """A released notebook, prepared once for the repair of many submissions."""

    notebook: Mapping[str, Any]

    @classmethod
    def load(cls, path: Path) -> Release:
        """The release in a file: nbformat 4.5, as `katze release` writes it."""
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            cell["source"] = "".join(cell["source"])
        return cls(notebook)

    @cached_property
    def slots(self) -> tuple[_Slot, ...]:
        """The cells that have a part in grading, in order."""
        return tuple(_slots(self.notebook))

    @cached_property
    def lesson_cells(self) -> Mapping[tuple[str, str], int]:
        """Where the ordinary cells stand, by kind and text."""
        return _lesson_cells(self.notebook)


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


@dataclass(frozen=True)
class Cell:
    """One cell of a repaired notebook.

    Attributes:
        kind: what it is for. Further copies of an answer are `CODE`, and so are cells that the release locks.
        source: what it says; markdown of the student is already sanitised.
        exercise: the exercise that it belongs to, such as "attention.scores"; None for other cells. A further copy
            of an answer has it too.
        tags: the release's tags where it is a cell of the release; of the student's own only `demo`.
        origin: "student" (as submitted), "release" (its text is the release's), "restored" (it was missing or
            changed, and is the release's again).
        id: a valid cell id, unique in the notebook.
        nbgrader: the release's metadata for nbgrader; empty for ordinary cells.
        outputs: the submitted outputs, not sanitised.
        attachments: sanitised images of a markdown cell.
        position: its place in the submitted notebook, counted from 1; 0 where it was put back.
    """

    kind: CellKind
    source: str
    exercise: str | None = None
    tags: tuple[str, ...] = ()
    origin: str = "student"
    id: str = ""
    nbgrader: Mapping[str, object] = field(default_factory=dict)
    outputs: object = ()
    attachments: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    position: int = 0

    @property
    def is_demo(self) -> bool:
        """Whether this cell only shows something (a figure, a training) and need not run when grading."""
        return "demo" in self.tags

    @property
    def is_code(self) -> bool:
        """Whether this is a code cell, for Jupyter."""
        return self.kind in (CellKind.CODE, CellKind.ANSWER, CellKind.CHECK)


@dataclass(frozen=True)
class Repaired:
    """A notebook in the shape of its release.

    Attributes:
        cells: its cells, in the order in which they run.
        repairs: the receipt: what was changed, in sentences for the student and the instructor.
        metadata: the release's notebook metadata.
    """

    cells: tuple[Cell, ...]
    repairs: tuple[str, ...]
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def notebook(
        self,
        outputs: Mapping[int, Sequence[sanitise.Output]] | None = None,
        checks: Mapping[str, Sequence[sanitise.Output]] | None = None,
        notices: Mapping[int, str] | None = None,
    ) -> dict[str, Any]:
        """The notebook in nbformat 4.5, for nbgrader, formgrader and feedback.

        Args:
            outputs: what cells have put out when they ran, by their index in `cells`; sanitised here. A cell that
                did not run keeps its submitted outputs, sanitised; a check cell keeps none.
            checks: for each exercise the outputs of its check cell, taken as they are: the grader's own words.
            notices: a sentence to show below a cell, by its index in `cells`, such as why it was stopped.
        """
        outputs, checks, notices = outputs or {}, checks or {}, notices or {}
        cells = []
        count = 0
        for index, cell in enumerate(self.cells):
            metadata: dict[str, Any] = {
                "katze": {"kind": str(cell.kind), "exercise": cell.exercise, "origin": cell.origin}
            }
            if cell.nbgrader:
                metadata["nbgrader"] = dict(cell.nbgrader)
            if cell.tags:
                metadata["tags"] = list(cell.tags)
            entry: dict[str, Any] = {
                "cell_type": "code" if cell.is_code else "markdown",
                "id": cell.id,
                "metadata": metadata,
                "source": cell.source,
            }
            if cell.is_code:
                is_check = cell.kind is CellKind.CHECK
                ran = cell.exercise in checks if is_check else index in outputs
                count += ran
                entry["execution_count"] = count if ran else None
                if is_check:
                    entry["outputs"] = list(checks.get(cell.exercise or "", ()))
                else:
                    entry["outputs"] = sanitise.outputs(list(outputs[index]) if index in outputs else cell.outputs)
                if index in notices:
                    entry["outputs"].append({"output_type": "stream", "name": "stderr", "text": notices[index] + "\n"})
            elif cell.attachments:
                entry["attachments"] = {name: dict(images) for name, images in cell.attachments.items()}
            cells.append(entry)
        kept = {name: self.metadata[name] for name in ("kernelspec", "language_info") if name in self.metadata}
        return {
            "cells": cells,
            "metadata": {**kept, "katze": {"repairs": list(self.repairs)}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }


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
    """Submission the notebook of one submission without following any link.

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
    """Submission a notebook from the bytes of its file.

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
        repairs.append(f"{_count(len(cells) - len(usable), 'damaged cell')} could not be read.")
    if _language(notebook) not in ("", "python"):
        repairs.append("The notebook was set to another language than Python; it was run as Python.")
    return Submission(tuple(usable), hashlib.sha256(content).hexdigest(), repairs=tuple(repairs))


def repair(submission: Submission, release: Release) -> Repaired:
    """Put a submission back into the shape of its release, and say what was changed.

    Cells that the release locks are always the release's own: text, points and metadata. Answers and written
    answers are the student's, in the order of the submission; so are all ordinary cells. An answer that is
    missing is not put back, for its stub could undo a definition that stands elsewhere.

    Args:
        submission: what was submitted.
        release: the lesson as it was released.
    """
    return _Repair(submission, release).run()


# --- reading


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
        return notebooks[0], [f"The notebook was named {_shown(notebooks[0])}; it was read as {wanted}."]
    if notebooks:
        listed = ", ".join(_shown(name) for name in notebooks[:5])
        raise Unreadable(f"There are several notebooks ({listed}), none of them named {wanted}: submit one.")
    others = ", ".join(_shown(name) for name in names[:5]) or "the folder is empty"
    raise Unreadable(f"There is no notebook {wanted} in the submission ({others}): submit the .ipynb file itself.")


def _read_file(folder: int, name: str, limit: int) -> bytes:
    """The bytes of a regular file; a link, a pipe or a device is refused, and so is a file above the limit."""
    if _is_link(name, folder):
        raise Unreadable(f"{_shown(name)} is a link to another file: submit the notebook itself.")
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    with open(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable(f"{_shown(name)} is not a file: submit the notebook itself.")
        if status.st_size > limit:
            raise Unreadable(
                f"{_shown(name)} has {status.st_size / 1e6:.0f} MB, more than the {limit / 1e6:.0f} MB that are read: "
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


# --- repairing


@dataclass(frozen=True)
class _Slot:
    """A cell of the release that has a part in grading."""

    index: int
    kind: str
    role: str
    exercise: str
    grade_id: str
    source: str
    tags: tuple[str, ...]
    id: str
    nbgrader: Mapping[str, object]

    @property
    def cell_kind(self) -> CellKind:
        """What the cell is for, once it is in a repaired notebook."""
        if self.kind == "code":
            return {"check": CellKind.CHECK, "locked": CellKind.CODE}.get(self.role, CellKind.ANSWER)
        return CellKind.WRITTEN if self.role == "written" else CellKind.MARKDOWN

    @cached_property
    def names(self) -> set[str]:
        """What an answer's stub defines."""
        return _defined(self.source)


@dataclass
class _Placed:
    """A cell on its way into the repaired notebook, with the place it has in the release (-1: none)."""

    cell: Cell
    index: int


class _Repair:
    """One repair: matches cells with slots, then builds the notebook, then writes the receipt."""

    def __init__(self, submission: Submission, release: Release) -> None:
        self.submission = submission
        self.release = release
        self.slots = release.slots
        self.by_grade_id = {slot.grade_id: slot for slot in self.slots}
        self.by_marker = {(slot.exercise, slot.role): slot for slot in self.slots}
        self.claims: dict[str, list[int]] = defaultdict(list)
        self.events: dict[str, list[str]] = defaultdict(list)
        self.placed: list[_Placed] = []

    def run(self) -> Repaired:
        self._claim()
        self._find_lost_cells()
        self._find_lost_answers()
        self._place_submitted()
        self._put_back_missing()
        self._move_checks_behind_answers()
        cells = _with_ids([placed.cell for placed in self.placed], {slot.id for slot in self.slots})
        return Repaired(
            tuple(cells), (*self.submission.repairs, *_receipt(self.events)), self.release.notebook.get("metadata", {})
        )

    def _claim(self) -> None:
        """Which submitted cells say that they are which slot.

        Where the metadata and the marker name different ones, text was pasted into another cell: then the text is
        right, unless the cell defines what its metadata asks for.
        """
        for number, cell in enumerate(self.submission.cells):
            name = cell.nbgrader.get("grade_id")
            named = self.by_grade_id.get(name) if isinstance(name, str) else None
            slot = self.by_marker.get(_marker(cell.source)) or named
            if named is not None and self._defines(number, named):
                slot = named
            if slot is None:
                if isinstance(name, str) and _flags(cell.nbgrader) & {"grade", "solution", "locked", "task"}:
                    self.events["unknown"].append(_shown(name))
                continue
            if named is None:
                self.events["stripped"].append(slot.grade_id)
            elif named is slot and _forged(cell.nbgrader, slot):
                self.events["forged"].append(slot.exercise)
            self.claims[slot.grade_id].append(number)

    def _free(self, kind: str) -> list[int]:
        """The submitted cells of a kind that no slot has yet."""
        claimed = {number for numbers in self.claims.values() for number in numbers}
        return [n for n, cell in enumerate(self.submission.cells) if n not in claimed and cell.kind == kind]

    def _find_lost_cells(self) -> None:
        """Other cells without grade_id and marker: by their text, and a written answer by its place."""
        for slot in self.slots:
            if self.claims[slot.grade_id] or slot.role == "answer":
                continue
            free = self._free(slot.kind)
            found = [n for n in free if _plain(self.submission.cells[n].source) == _plain(slot.source)]
            if not found and slot.role == "written":
                found = [n for n in free if self._stands_at(n, slot)]
            if found:
                self.events["stripped"].append(slot.grade_id)
                self.claims[slot.grade_id] = found[-1:]

    def _stands_at(self, number: int, slot: _Slot) -> bool:
        """Whether a cell that is none of the lesson's own follows the cell that the slot follows in the release."""
        before = self.release.notebook["cells"][slot.index - 1] if slot.index else None
        cell, previous = self.submission.cells[number], self.submission.cells[number - 1] if number else None
        if (cell.kind, _plain(cell.source)) in self.release.lesson_cells or before is None or previous is None:
            return False
        return _plain(previous.source) == _plain(before["source"])

    def _find_lost_answers(self) -> None:
        """Answers without grade_id and marker: by the name they define, then by the text they kept."""
        free = self._free("code")
        for slot in self.slots:
            if slot.role != "answer":
                continue
            claims = self.claims[slot.grade_id]
            if any(self._defines(number, slot) for number in claims):
                continue
            found = [number for number in free if self._defines(number, slot)]
            if not found and not claims:
                likely = [number for number in free if _kept(slot.source, self.submission.cells[number].source) > 0.6]
                found = likely[-1:]
            if found:
                self.events["found"].append(slot.exercise)
                self.claims[slot.grade_id] = sorted([*claims, *found])
                free = [number for number in free if number not in found]
            elif not claims:
                self.events["no_answer"].append(slot.exercise)

    def _defines(self, number: int, slot: _Slot) -> bool:
        return bool(slot.names) and slot.names <= _defined(self.submission.cells[number].source)

    def _place_submitted(self) -> None:
        """All submitted cells in their order: slots repaired, ordinary cells as they are."""
        slot_of = {number: self.by_grade_id[name] for name, numbers in self.claims.items() for number in numbers}
        chosen = {slot.grade_id: self._choose(slot) for slot in self.slots if self.claims[slot.grade_id]}
        for number, cell in enumerate(self.submission.cells):
            slot = slot_of.get(number)
            if slot is None:
                self._place_ordinary(number, cell)
            elif number != chosen[slot.grade_id]:
                self._place_copy(number, cell, slot)
            elif slot.role in ("answer", "written"):
                self._add(self._answer(number, cell, slot), slot.index)
            else:
                self._place_locked(number, cell, slot)

    def _choose(self, slot: _Slot) -> int:
        """Of several copies, the one that carries the grade: of answers the last that is one, of others the last."""
        numbers = self.claims[slot.grade_id]
        if slot.role == "answer":
            return ([n for n in numbers if self._is_filled(n, slot) and self._defines(n, slot)] or numbers)[-1]
        if slot.role == "written":
            return ([n for n in numbers if self._is_filled(n, slot)] or numbers)[-1]
        return numbers[0 if slot.role == "locked" else -1]

    def _is_filled(self, number: int, slot: _Slot) -> bool:
        return _plain(self.submission.cells[number].source) != _plain(slot.source)

    def _place_copy(self, number: int, cell: SubmittedCell, slot: _Slot) -> None:
        """A copy that does not carry the grade: what a student wrote in it stays, as an ordinary cell."""
        if slot.role in ("answer", "written"):
            if not self._is_filled(number, slot) or not cell.source.strip():
                self.events["untouched_copy"].append(slot.exercise)
                return
            self.events["copies" if slot.role == "answer" else "written_copies"].append(slot.exercise)
            kind = "code" if slot.role == "answer" else "markdown"
            copy = self._student_cell(number, cell, kind)
            self._add(replace(copy, exercise=slot.exercise))
        elif slot.kind == "code" and _has_own_code(cell.source, slot.source):
            self.events["own_code"].append(_name(slot))
            self._add(self._student_cell(number, cell, "code"))
        else:
            self.events["extra_check"].append(_name(slot))

    def _place_locked(self, number: int, cell: SubmittedCell, slot: _Slot) -> None:
        """The release's own cell, at the submission's place; the student's code in it stays, before it."""
        changed = cell.kind != slot.kind or _plain(cell.source) != _plain(slot.source)
        if changed:
            self.events["edited"].append(_name(slot))
        if changed and slot.kind == "code" and _has_own_code(cell.source, slot.source):
            self.events["own_code"].append(_name(slot))
            self._add(self._student_cell(number, cell, "code"))
        self._add(_from_release(slot, "restored" if changed else "release", number + 1, cell.outputs), slot.index)

    def _answer(self, number: int, cell: SubmittedCell, slot: _Slot) -> Cell:
        if cell.kind != slot.kind:
            self.events["retyped"].append(slot.exercise)
        if not self._is_filled(number, slot):
            return _from_release(slot, "release", number + 1, cell.outputs)
        return replace(
            self._student_cell(number, cell, slot.kind),
            kind=slot.cell_kind,
            exercise=slot.exercise,
            tags=slot.tags,
            nbgrader=slot.nbgrader,
            id=slot.id,
        )

    def _place_ordinary(self, number: int, cell: SubmittedCell) -> None:
        """An ordinary cell: the release's where the text is the release's, else the student's."""
        index = self.release.lesson_cells.get((cell.kind, _plain(cell.source)))
        if index is None:
            self._add(self._student_cell(number, cell, cell.kind))
            return
        twin = self.release.notebook["cells"][index]
        same = Cell(
            CellKind(cell.kind),
            twin["source"],
            tags=_tags(twin),
            origin="release",
            id=cell.id,
            outputs=cell.outputs,
            attachments=twin.get("attachments", {}),
            position=number + 1,
        )
        self._add(same, index)

    def _student_cell(self, number: int, cell: SubmittedCell, kind: str) -> Cell:
        """A cell of the student's own, as `kind`. Raw cells become text: nothing may pass into a page as it is."""
        if kind == "code":
            tags = ("demo",) if "demo" in cell.tags else ()
            return Cell(CellKind.CODE, cell.source, tags=tags, id=cell.id, outputs=cell.outputs, position=number + 1)
        source = _fenced(cell.source) if kind == "raw" else cell.source
        images = sanitise.attachments(cell.attachments)
        source = sanitise.without_missing_attachments(sanitise.markdown(source), set(images))
        return Cell(CellKind.MARKDOWN, source, id=cell.id, attachments=images, position=number + 1)

    def _add(self, cell: Cell, index: int = -1) -> None:
        self.placed.append(_Placed(cell, index))

    def _put_back_missing(self) -> None:
        for slot in self.slots:
            if self.claims[slot.grade_id] or slot.role == "answer":
                continue
            self.events["missing_written" if slot.role == "written" else "missing"].append(_name(slot))
            self.placed.insert(self._place_for(slot), _Placed(_from_release(slot, "restored"), slot.index))

    def _place_for(self, slot: _Slot) -> int:
        """Behind the answer that it checks, else behind the cell of the release that comes before it."""
        answers = self._answers_to(slot.exercise)
        if slot.role == "check" and answers:
            return answers[-1] + 1
        before = [(placed.index, n) for n, placed in enumerate(self.placed) if 0 <= placed.index < slot.index]
        if before:
            return max(before)[1] + 1
        after = [(placed.index, n) for n, placed in enumerate(self.placed) if placed.index > slot.index]
        return min(after)[1] if after else len(self.placed)

    def _answers_to(self, exercise: str) -> list[int]:
        """Where the copies of an answer stand that define what they should; where none does, all copies."""
        cells = [(n, p.cell) for n, p in enumerate(self.placed) if _answers(p.cell, exercise)]
        names = {
            name for slot in self.slots if (slot.exercise, slot.role) == (exercise, "answer") for name in slot.names
        }
        return [n for n, cell in cells if names <= _defined(cell.source)] or [n for n, _ in cells]

    def _move_checks_behind_answers(self) -> None:
        """A check that stands before every copy of its answer goes behind the last one."""
        for slot in self.slots:
            if slot.role != "check":
                continue
            check = next(n for n, placed in enumerate(self.placed) if placed.index == slot.index)
            answers = self._answers_to(slot.exercise)
            if answers and check < answers[0]:
                self.placed.insert(answers[-1], self.placed.pop(check))
                self.events["moved"].append(slot.exercise)


def _slots(release: Mapping[str, Any]) -> list[_Slot]:
    """The cells of the release that have a part in grading, in order."""
    slots = []
    for index, cell in enumerate(release["cells"]):
        meta = cell["metadata"].get("nbgrader", {})
        role = _role(meta)
        if role:
            exercise, _ = _marker(cell["source"])
            slots.append(
                _Slot(
                    index=index,
                    kind=cell["cell_type"],
                    role=role,
                    exercise=exercise or _exercise(meta["grade_id"]),
                    grade_id=meta["grade_id"],
                    source=cell["source"],
                    tags=_tags(cell),
                    id=cell["id"],
                    nbgrader=meta,
                )
            )
    return slots


def _role(meta: Mapping[str, object]) -> str:
    flags = _flags(meta)
    if "task" in flags:
        return "task"
    if "solution" in flags:
        return "written" if "grade" in flags else "answer"
    return "check" if "grade" in flags else "locked" if "locked" in flags else ""


def _flags(meta: Mapping[str, object]) -> set[str]:
    return {name for name in ("grade", "solution", "locked", "task") if meta.get(name)}


def _forged(claimed: Mapping[str, object], slot: _Slot) -> bool:
    """Whether a cell's metadata says something else about its grading than the release does."""
    for name in ("grade", "solution", "locked", "task", "points"):
        if name in claimed and name in slot.nbgrader and claimed[name] != slot.nbgrader[name]:
            return True
    return bool(_flags(claimed) - _flags(slot.nbgrader))


def _exercise(grade_id: str) -> str:
    """The exercise of a grade_id: attention-scores-check belongs to attention.scores."""
    stem, _, last = grade_id.rpartition("-")
    return (stem if last in ("answer", "check", "written") else grade_id).replace("-", ".", 1)


def _name(slot: _Slot) -> str:
    return slot.grade_id if slot.role in ("locked", "task") else slot.exercise


def _lesson_cells(release: Mapping[str, Any]) -> dict[tuple[str, str], int]:
    """Where the release's ordinary cells stand in it, by kind and text."""
    return {
        (cell["cell_type"], _plain(cell["source"])): index
        for index, cell in enumerate(release["cells"])
        if not _role(cell["metadata"].get("nbgrader", {})) and _plain(cell["source"])
    }


def _tags(cell: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(cell["metadata"].get("tags", ()))


def _marker(source: str) -> tuple[str, str]:
    """The exercise and the role that the first in-source marker names; empty if there is none."""
    match = _MARKER.search(source)
    return (match["exercise"], match["role"]) if match else ("", "")


def _plain(source: str) -> str:
    """A source without markers and outer or trailing white space: what two cells must share to be the same."""
    return "\n".join(line.rstrip() for line in _MARKER.sub("", source).split("\n")).strip()


def _defined(source: str) -> set[str]:
    """The names that a cell defines at its top level. By pattern, so that a cell with a syntax error has some too."""
    return {match[1] or match[2] for match in _DEFINITION.finditer(source)}


def _kept(stub: str, source: str) -> float:
    """The part of a stub's lines that a cell still has."""
    lines = {line.strip() for line in _plain(stub).split("\n") if line.strip()}
    there = {line.strip() for line in source.split("\n")}
    return len(lines & there) / max(1, len(lines))


def _has_own_code(source: str, released: str) -> bool:
    """Whether a changed check cell does more than call `check`."""
    if _plain(source) == _plain(released):
        return False
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return not all(_is_check(statement) for statement in body)


def _is_check(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.Import, ast.ImportFrom, ast.Pass)):
        return True
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Constant):
        return True
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "check"


def _answers(cell: Cell, exercise: str) -> bool:
    return cell.exercise == exercise and cell.kind in (CellKind.ANSWER, CellKind.CODE)


def _from_release(slot: _Slot, origin: str, position: int = 0, outputs: object = ()) -> Cell:
    return Cell(
        slot.cell_kind,
        slot.source,
        exercise=None if slot.role in ("locked", "task") else slot.exercise,
        tags=slot.tags,
        origin=origin,
        id=slot.id,
        nbgrader=slot.nbgrader,
        outputs=outputs,
        position=position,
    )


def _fenced(source: str) -> str:
    """A source as a block of code in markdown, behind a fence longer than any in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", source)), default=0))
    return f"{fence}text\n{source}\n{fence}"


def _with_ids(cells: Iterable[Cell], reserved: set[str]) -> list[Cell]:
    """The cells with valid ids, each used once; those of the release's slots belong to these alone."""
    used: set[str] = set()
    result = []
    for number, cell in enumerate(cells):
        identity = cell.id
        if not _CELL_ID.fullmatch(identity) or identity in used or (identity in reserved and not cell.nbgrader):
            identity = next(name for name in _fresh_ids(number) if name not in used | reserved)
        used.add(identity)
        result.append(replace(cell, id=identity))
    return result


def _fresh_ids(number: int) -> Iterable[str]:
    yield f"cell-{number}"
    yield from (f"cell-{number}-{extra}" for extra in range(CELLS * 2))


# --- the receipt

_SENTENCES = {
    "stripped": ("The grading information of {n} had been removed (some editors do that) and was rebuilt.", "cell"),
    "forged": ("The points or grading settings of {names} had been changed; those of the release are used.", ""),
    "unknown": ("A cell that calls itself graded as {names}, unknown in this lesson, counts as an ordinary one.", ""),
    "found": ("The answer to {names} was found in a cell that had lost its marker.", ""),
    "no_answer": ("There is no answer cell for {names}; a definition elsewhere in the notebook still counts.", ""),
    "retyped": ("The cell of {names} had been given another type and was changed back.", ""),
    "copies": ("There are several copies of the answer to {names}; all of them run, in order.", ""),
    "written_copies": ("There are several copies of the written answer {names}; the last one is graded.", ""),
    "untouched_copy": ("A copy of the cell of {names} in which nothing was written was left out.", ""),
    "missing": ("The check of {names} was missing and was put back.", ""),
    "missing_written": ("The written question {names} was missing and was put back, without an answer.", ""),
    "edited": ("The check of {names} had been changed and was restored.", ""),
    "own_code": ("Code of yours in the check of {names} was kept, in a cell of its own.", ""),
    "extra_check": ("A further copy of the check of {names} was left out.", ""),
    "moved": ("The check of {names} stood before its answer and was moved behind it.", ""),
}


def _receipt(events: Mapping[str, Sequence[str]]) -> list[str]:
    """One sentence for each kind of repair, in a fixed order."""
    sentences = []
    for kind, (sentence, unit) in _SENTENCES.items():
        if kind in events:
            names = list(dict.fromkeys(events[kind]))
            sentences.append(sentence.format(n=_count(len(events[kind]), unit), names=_listed(names)))
    return sentences


def _listed(names: Sequence[str], most: int = 8) -> str:
    if len(names) > most:
        names = [*names[:most], f"{len(names) - most} more"]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _count(number: int, unit: str) -> str:
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


def _shown(name: str) -> str:
    """A student's word for something, on one line, short, and without characters that do not print."""
    shown = "".join(character if character.isprintable() and character not in "<>&" else "?" for character in name[:61])
    return shown if len(shown) <= 60 else shown[:59] + "…"


_MARKER = re.compile(
    r"^[ \t]*(?:\#|<!--)[ \t]*katze:[ \t]*(?P<exercise>[\w.]{1,100})[ \t]+(?P<role>\w{1,20})[ \t]*(?:-->)?[ \t]*$", re.M
)
_DEFINITION = re.compile(r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]{0,200})?=(?!=)", re.M)
_CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_UNUSABLE = re.compile(r"[\x00\ud800-\udfff]")
