"""A released notebook, and the cells in it that matter for grading."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from autograder.course.course import Course
from autograder.course.looking_back import without_reasons
from autograder.errors import BadInput
from autograder.intake.submission import Submission, SubmittedCell
from autograder.repair.cells import CellKind
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
        return [cell["source"] for cell in self.notebook["cells"] if cell["cell_type"] == "code"]

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """The cells that matter for grading, in order."""
        return tuple(
            Slot(
                index=index,
                kind=cell["cell_type"],
                role=role,
                exercise=marker(cell["source"])[0] or exercise_of(meta["grade_id"]),
                grade_id=meta["grade_id"],
                source=cell["source"],
                tags=tags_of(cell),
                id=cell["id"],
                nbgrader=meta,
            )
            for index, cell in enumerate(self.notebook["cells"])
            if (role := _role(meta := cell["metadata"].get("nbgrader", {})))
        )

    @cached_property
    def lesson_cells(self) -> Mapping[tuple[str, str], int]:
        """The places of the ordinary cells, by kind and text."""
        return {
            (cell["cell_type"], plain(cell["source"])): index
            for index, cell in enumerate(self.notebook["cells"])
            if not _role(cell["metadata"].get("nbgrader", {})) and plain(cell["source"])
        }

    @cached_property
    def lines(self) -> frozenset[str]:
        """All lines of its cells, stripped; choices also in the form that scripts use."""
        sources = [cell["source"] for cell in self.notebook["cells"]]
        texts = [*sources, *map(without_reasons, sources)]
        return frozenset(line.strip() for text in texts for line in text.split("\n"))

    @cached_property
    def imports(self) -> Mapping[int, frozenset[str]]:
        """The ordinary cells that import what the lesson uses, by place, with the imported names."""
        found = {}
        for index in self.lesson_cells.values():
            cell = self.notebook["cells"][index]
            if cell["cell_type"] == "code" and not {"demo", "katze-install"} & set(tags_of(cell)):
                found[index] = frozenset(imported_names(cell["source"])) - HELP
        return {index: names for index, names in sorted(found.items()) if names}

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
    """A cell of the release that matters for grading."""

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
        """The purpose of the cell in a repaired notebook."""
        if self.kind == "code":
            return {"check": CellKind.CHECK, "locked": CellKind.CODE}.get(self.role, CellKind.ANSWER)
        return CellKind.WRITTEN if self.role == "written" else CellKind.MARKDOWN

    @cached_property
    def plain(self) -> str:
        """The source in plain form; see the function `plain`."""
        return plain(self.source)

    @cached_property
    def names(self) -> set[str]:
        """The names that an answer's stub defines."""
        return defined(self.source)


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


def tags_of(cell: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the tags of a cell of the release."""
    return tuple(cell["metadata"].get("tags", ()))


def grade_id_of(cell: SubmittedCell) -> str:
    """Return the grade_id that a submitted cell claims; empty if there is none."""
    name = cell.nbgrader.get("grade_id")
    return name if isinstance(name, str) else ""
