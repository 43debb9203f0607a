"""Repairing a submission against the release, with a receipt.

The notebook is put back into the shape of the release: the checks are the release's own, the answers are the
student's, and every change is told in a short sentence that the student reads as well.

A cell of the release is recognised by nbgrader's `grade_id` or by the marker in its source, which copies of a cell
carry along; an answer that has lost both, by the name that it defines or the text that it kept.
"""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from autograder import sanitise
from autograder.submission import CELLS, Submission, SubmittedCell
from autograder.words import count, shown
from course_lib.checking.rules import LONGEST_CELL


class CellKind(StrEnum):
    """What a cell is for."""

    CODE = "code"
    MARKDOWN = "markdown"
    ANSWER = "answer"
    CHECK = "check"
    WRITTEN = "written"


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

    @cached_property
    def imports(self) -> Mapping[int, frozenset[str]]:
        """The ordinary cells that import what the lesson uses, by their place, with the names that they import."""
        found = {}
        for index in self.lesson_cells.values():
            cell = self.notebook["cells"][index]
            if cell["cell_type"] == "code" and not {"demo", "katze-install"} & set(_tags(cell)):
                found[index] = frozenset(_imported(cell["source"]))
        return {index: names for index, names in sorted(found.items()) if names}

    def place_of(self, grade_id: object) -> int:
        """Where the cell with this grade_id stands; behind all others where there is none."""
        return next((slot.index for slot in self.slots if slot.grade_id == grade_id), len(self.notebook["cells"]))

    def graded_cells_in(self, submission: Submission) -> int:
        """How many of this release's cells for grading a submission has, by their grade_ids or markers."""
        markers = {(slot.exercise, slot.role) for slot in self.slots}
        names = {slot.grade_id for slot in self.slots}
        return sum(_marker(cell.source) in markers or _grade_id(cell) in names for cell in submission.cells)

    def share_of_text_in(self, submission: Submission) -> float:
        """The part of this release's ordinary cells that a submission has as they were released, from 0 to 1."""
        there = {(cell.kind, _plain(cell.source)) for cell in submission.cells}
        return len(there & self.lesson_cells.keys()) / max(1, len(self.lesson_cells))


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
                did not run keeps its submitted outputs, sanitised; a check cell keeps none. Where all of them
                together are too large for one page, those of the later cells are left out.
            checks: for each exercise the outputs of its check cell, taken as they are: the grader's own words.
            notices: a sentence to show below a cell, by its index in `cells`, such as why it was stopped.
        """
        outputs, checks, notices = outputs or {}, checks or {}, notices or {}
        whole = sanitise.WholeNotebook()
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
                    entry["outputs"] = sanitise.outputs(
                        list(outputs[index]) if index in outputs else cell.outputs, whole
                    )
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
    def plain(self) -> str:
        """Its source, as `_plain` gives it."""
        return _plain(self.source)

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
        self.plain = [_plain(cell.source) for cell in submission.cells]
        self.defined = [_defined(cell.source) for cell in submission.cells]
        self.markdown_left = sanitise.MARKDOWN_CHARACTERS_TOGETHER

    def run(self) -> Repaired:
        self._claim()
        self._find_lost_cells()
        self._find_lost_answers()
        self._place_submitted()
        self._put_back_missing()
        self._move_checks_behind_answers()
        self._put_back_imports()
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
            name = _grade_id(cell)
            named = self.by_grade_id.get(name)
            slot = self.by_marker.get(_marker(cell.source)) or named
            if named is not None and self._defines(number, named):
                slot = named
            if slot is None:
                if name and _flags(cell.nbgrader) & {"grade", "solution", "locked", "task"}:
                    self.events["unknown"].append(shown(name))
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
            found = [n for n in free if self.plain[n] == slot.plain]
            if not found and slot.role == "written":
                found = [n for n in free if self._stands_at(n, slot)]
            if found:
                self.events["stripped"].append(slot.grade_id)
                self.claims[slot.grade_id] = found[-1:]

    def _stands_at(self, number: int, slot: _Slot) -> bool:
        """Whether a cell that is none of the lesson's own follows the cell that the slot follows in the release."""
        before = self.release.notebook["cells"][slot.index - 1] if slot.index else None
        cell = self.submission.cells[number]
        if (cell.kind, self.plain[number]) in self.release.lesson_cells or before is None or not number:
            return False
        return self.plain[number - 1] == _plain(before["source"])

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
        return bool(slot.names) and slot.names <= self.defined[number]

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
        return self.plain[number] != slot.plain

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
        changed = cell.kind != slot.kind or self._is_filled(number, slot)
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
        index = self.release.lesson_cells.get((cell.kind, self.plain[number]))
        if index is None:
            self._add(self._student_cell(number, cell, cell.kind))
            return
        same = _ordinary(self.release, index, "release")
        self._add(replace(same, id=cell.id, outputs=cell.outputs, position=number + 1), index)

    def _student_cell(self, number: int, cell: SubmittedCell, kind: str) -> Cell:
        """A cell of the student's own, as `kind`. Raw cells become text: nothing may pass into a page as it is."""
        if kind == "code":
            tags = ("demo",) if "demo" in cell.tags else ()
            return Cell(CellKind.CODE, cell.source, tags=tags, id=cell.id, outputs=cell.outputs, position=number + 1)
        source, embedded = sanitise.embedded_images(cell.source)
        given = cell.attachments if isinstance(cell.attachments, dict) else {}
        images = sanitise.attachments({**given, **embedded})
        source = sanitise.without_missing_attachments(sanitise.fenced(source) if kind == "raw" else source, set(images))
        longest = min(sanitise.MARKDOWN_CHARACTERS, self.markdown_left)
        if len(source) <= longest:
            self.markdown_left -= len(source)
        source = sanitise.markdown(source, longest)
        return Cell(CellKind.MARKDOWN, source, id=cell.id, attachments=images, position=number + 1)

    def _add(self, cell: Cell, index: int = -1) -> None:
        self.placed.append(_Placed(cell, index))

    def _put_back_missing(self) -> None:
        for slot in self.slots:
            if self.claims[slot.grade_id] or slot.role == "answer":
                continue
            self.events["missing_written" if slot.role == "written" else "missing"].append(_name(slot))
            self.placed.insert(self._place_for(slot), _Placed(_from_release(slot, "restored"), slot.index))

    def _put_back_imports(self) -> None:
        """The lesson's imports go in front of all code where, up to the first answer, nothing imports the same.

        A student who has moved or deleted them may not have noticed: the names were there from an earlier run.
        """
        codes = [n for n, placed in enumerate(self.placed) if placed.cell.is_code]
        first = next((n for n in codes if self.placed[n].cell.exercise), len(self.placed))
        for index, names in reversed(list(self.release.imports.items())):
            before = [self.placed[n] for n in codes if n <= first]
            if any(placed.index == index for placed in before):
                continue
            missing = names.difference(*(_imported(placed.cell.source) for placed in before))
            if missing:
                self.events["imports"] += sorted(missing)
                self.placed.insert(codes[0] if codes else 0, _Placed(_ordinary(self.release, index, "restored"), index))

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


def _grade_id(cell: SubmittedCell) -> str:
    """The grade_id that a submitted cell claims; empty if none."""
    name = cell.nbgrader.get("grade_id")
    return name if isinstance(name, str) else ""


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


def _imported(source: str) -> set[str]:
    """The names that a cell imports at its top level; magics are passed over, and what is no Python imports nothing."""
    if len(source) > LONGEST_CELL or "import" not in source:
        return set()
    python = "\n".join("" if line.startswith(("%", "!")) else line for line in source.split("\n"))
    try:
        body = ast.parse(python).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    statements = [statement for statement in body if isinstance(statement, (ast.Import, ast.ImportFrom))]
    return {alias.asname or alias.name.partition(".")[0] for statement in statements for alias in statement.names}


def _kept(stub: str, source: str) -> float:
    """The part of a stub's lines that a cell still has."""
    lines = {line.strip() for line in _plain(stub).split("\n") if line.strip()}
    there = {line.strip() for line in source.split("\n")}
    return len(lines & there) / max(1, len(lines))


def _has_own_code(source: str, released: str) -> bool:
    """Whether a changed check cell does more than call `check`."""
    if _plain(source) == _plain(released):
        return False
    if len(source) > LONGEST_CELL:
        return True
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


def _ordinary(release: Release, index: int, origin: str) -> Cell:
    """An ordinary cell of the release."""
    cell = release.notebook["cells"][index]
    return Cell(
        CellKind(cell["cell_type"]),
        cell["source"],
        tags=_tags(cell),
        origin=origin,
        id=cell["id"],
        attachments=cell.get("attachments", {}),
    )


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
    "imports": ("The lesson's imports ({names}) were missing in front of the first answer and were put back.", ""),
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
            sentences.append(sentence.format(n=count(len(events[kind]), unit), names=_listed(names)))
    return sentences


def _listed(names: Sequence[str], most: int = 8) -> str:
    if len(names) > most:
        names = [*names[:most], f"{len(names) - most} more"]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


_MARKER = re.compile(
    r"^[ \t]*+(?:\#|<!--)[ \t]*+katze:[ \t]*+(?P<exercise>[\w.]{1,100}+)[ \t]++(?P<role>\w{1,20}+)[ \t]*+"
    r"(?:-->)?+[ \t]*+$",
    re.M,
)
_DEFINITION = re.compile(r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]{0,200})?=(?!=)", re.M)
_CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
