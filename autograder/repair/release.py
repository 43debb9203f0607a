"""A released notebook, and the cells in it that matter for grading."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from autograder.course.course import Course
from autograder.course.looking_back import without_reasons
from autograder.errors import BadInput
from autograder.intake.submission import Submission, SubmittedCell
from autograder.repair.cells import Cell, CellKind
from autograder.repair.text import defined, imported_names, marker, plain
from course_lib.checking.notebook import HELP

FLAGS = ("grade", "solution", "locked", "task")
"""nbgrader's flags for the purpose of a cell."""


@dataclass(frozen=True)
class Release:
    """A released notebook, prepared once to repair many submissions."""

    notebook: Mapping[str, Any]

    @classmethod
    def load(cls, path: Path) -> Release:
        """Read a release: nbformat 4.5, as written by `katze release`."""
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            cell["source"] = "".join(cell["source"])
        return cls(notebook)

    @classmethod
    def of(cls, course: Course, lesson: str) -> Release:
        """Read the release of a course's lesson.

        Raises:
            BadInput: it does not exist or cannot be read.
        """
        path = course.release_notebook(lesson)
        try:
            release = cls.load(path)
            _ = release.slots
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInput(
                f"the released notebook {path} cannot be read ({type(error).__name__}); run `katze release`"
            ) from error
        return release

    @property
    def code(self) -> list[str]:
        """The sources of its code cells."""
        return [cell.source for cell in self.cells if cell.is_code]

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All its cells, as a repaired notebook has them."""
        return tuple(_cell(index, cell) for index, cell in enumerate(self.notebook["cells"]))

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """The cells that matter for grading, in order."""
        return tuple(Slot(cell, _role(cell.nbgrader), _exercise(cell)) for cell in self.cells if cell.nbgrader)

    @cached_property
    def lesson_cells(self) -> Mapping[tuple[str, str], Cell]:
        """The ordinary cells, by kind and text."""
        ordinary = {(cell.kind, plain(cell.source)): cell for cell in self.cells if not cell.nbgrader}
        return {(kind, text): cell for (kind, text), cell in ordinary.items() if text}

    @cached_property
    def lines(self) -> frozenset[str]:
        """All lines of its cells, stripped; choices also in the form that scripts use."""
        texts = [text for cell in self.cells for text in (cell.source, without_reasons(cell.source))]
        return frozenset(line.strip() for text in texts for line in text.split("\n"))

    @cached_property
    def imports(self) -> Sequence[tuple[Cell, set[str]]]:
        """The ordinary cells that import what the lesson uses, in order, with the imported names."""
        own = [cell for cell in self.lesson_cells.values() if not {"demo", "katze-install"} & set(cell.tags)]
        found = [(cell, imported_names(cell.source) - HELP) for cell in own if cell.is_code]
        return [(cell, names) for cell, names in found if names]

    def graded_cells_in(self, submission: Submission) -> int:
        """Return how many of this release's graded cells a submission has, by grade_ids or markers."""
        markers = {(slot.exercise, slot.role) for slot in self.slots}
        names = {slot.grade_id for slot in self.slots}
        return sum(marker(cell.source) in markers or grade_id_of(cell) in names for cell in submission.cells)

    def share_of_text_in(self, submission: Submission) -> float:
        """Return the share of this release's ordinary cells that a submission has unchanged, from 0 to 1."""
        there = {(cell.kind, plain(cell.source)) for cell in submission.cells}
        return len(there & self.lesson_cells.keys()) / max(1, len(self.lesson_cells))


@dataclass(frozen=True)
class Slot:
    """A cell of the release that matters for grading.

    Attributes:
        cell: the cell.
        role: "answer", "check", "written", "task" or "locked".
        exercise: its exercise's id; for a task or a locked cell, what its grade_id gives.
    """

    cell: Cell
    role: str
    exercise: str

    @property
    def grade_id(self) -> str:
        """nbgrader's name for the cell."""
        return str(self.cell.nbgrader["grade_id"])

    @property
    def name(self) -> str:
        """Its name in a receipt."""
        return self.cell.exercise or self.grade_id

    @property
    def kind(self) -> str:
        """Its kind in a notebook: "code" or "markdown"."""
        return "code" if self.cell.is_code else "markdown"

    @cached_property
    def plain(self) -> str:
        """The source in plain form; see the function `plain`."""
        return plain(self.cell.source)

    @cached_property
    def names(self) -> set[str]:
        """The names that an answer's stub defines."""
        return defined(self.cell.source)


_OF_CODE = {"": CellKind.CODE, "locked": CellKind.CODE, "check": CellKind.CHECK}


def _cell(index: int, cell: Mapping[str, Any]) -> Cell:
    meta = cell["metadata"].get("nbgrader", {})
    role = _role(meta)
    is_code = cell["cell_type"] == "code"
    of_text = CellKind.WRITTEN if role == "written" else CellKind.MARKDOWN
    made = Cell(
        _OF_CODE.get(role, CellKind.ANSWER) if is_code else of_text,
        cell["source"],
        tags=tuple(cell["metadata"].get("tags", ())),
        origin="release",
        id=cell.get("id", ""),
        nbgrader=meta if role else {},
        attachments=cell.get("attachments", {}),
        index=index,
    )
    return replace(made, exercise=_exercise(made)) if role in ("answer", "check", "written") else made


def _exercise(cell: Cell) -> str:
    return marker(cell.source)[0] or exercise_of(str(cell.nbgrader["grade_id"]))


def _role(meta: Mapping[str, object]) -> str:
    flags = flags_of(meta)
    if "task" in flags:
        return "task"
    if "solution" in flags:
        return "written" if "grade" in flags else "answer"
    return "check" if "grade" in flags else "locked" if "locked" in flags else ""


def flags_of(meta: Mapping[str, object]) -> set[str]:
    """Return the flags that are set."""
    return {name for name in FLAGS if meta.get(name)}


def exercise_of(grade_id: str) -> str:
    """Return the exercise of a grade_id: ols-fit-check belongs to ols.fit."""
    stem, _, last = grade_id.rpartition("-")
    return (stem if last in ("answer", "check", "written") else grade_id).replace("-", ".", 1)


def grade_id_of(cell: SubmittedCell) -> str:
    """Return the grade_id that a submitted cell claims; empty if there is none."""
    name = cell.nbgrader.get("grade_id")
    return name if isinstance(name, str) else ""
