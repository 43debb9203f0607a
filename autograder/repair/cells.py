"""Defines the cells of a repaired notebook, and the notebook."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from autograder.intake import sanitise
from autograder.intake.submission import SubmittedCell
from autograder.repair.text import plain


class CellKind(StrEnum):
    """The purpose of a cell."""

    CODE = "code"
    MARKDOWN = "markdown"
    ANSWER = "answer"
    CHECK = "check"
    WRITTEN = "written"


@dataclass(frozen=True)
class Cell:
    """A cell of a repaired notebook.

    Attributes:
        kind: its purpose. Further copies of an answer are `CODE`, and so are cells that the release locks.
        source: its text; the student's markdown is already sanitized.
        exercise: the exercise that it belongs to, such as "ols.fit"; None for other cells. A further copy of an answer
            has it, too.
        tags: the release's tags for a cell of the release; of the student's own tags, only `demo`.
        origin: "student" (as submitted), "release" (unchanged text of the release), "restored" (it was missing or
            changed, and now has the release's text).
        id: a valid cell id, unique in the notebook.
        nbgrader: the release's metadata for nbgrader; empty for ordinary cells.
        outputs: the submitted outputs, not sanitized.
        attachments: sanitized images of a markdown cell.
        position: its place in the submitted notebook, from 1; 0 if it was put back.
        index: its place in the release, from 0; -1 if it has none.
        skipped: whether grading neither runs nor checks it.
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
    index: int = -1
    skipped: bool = False

    @property
    def is_demo(self) -> bool:
        """Whether this cell only shows something (a figure, a training) and need not run for grading."""
        return "demo" in self.tags

    @property
    def is_code(self) -> bool:
        """Whether Jupyter shows this as a code cell."""
        return self.kind in (CellKind.CODE, CellKind.ANSWER, CellKind.CHECK)

    @property
    def runs(self) -> bool:
        """Whether grading runs this code; checks do not run, but are judged from outside."""
        return self.kind in (CellKind.CODE, CellKind.ANSWER) and not self.skipped

    @property
    def is_checked(self) -> bool:
        """Whether an exercise's answer is checked here."""
        return self.kind is CellKind.CHECK and self.exercise is not None and not self.skipped

    def skip(self) -> Cell:
        """Return the same cell, skipped."""
        return replace(self, skipped=True)


@dataclass(frozen=True)
class Repaired:
    """A notebook in the shape of its release.

    Attributes:
        cells: its cells, in the order of execution.
        repairs: the receipt: the changes, in sentences for the student and the instructor.
        metadata: the release's notebook metadata.
    """

    cells: tuple[Cell, ...]
    repairs: tuple[str, ...]
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def answers(self) -> dict[str, str]:
        """Return the student's texts, by exercise."""
        found: dict[str, list[str]] = defaultdict(list)
        for cell in self.cells:
            text = plain(cell.source)
            if cell.origin == "student" and cell.exercise and text:
                found[cell.exercise].append(text)
        return {exercise: "\n".join(texts) for exercise, texts in found.items()}

    def notebook(
        self,
        outputs: Mapping[int, Sequence[sanitise.Output]] | None = None,
        checks: Mapping[str, Sequence[sanitise.Output]] | None = None,
        notices: Mapping[int, str] | None = None,
    ) -> dict[str, Any]:
        """Return the notebook in nbformat 4.5, for nbgrader, formgrader and feedback.

        Args:
            outputs: the outputs of cells that ran, by index in `cells`; sanitized here. A cell that did not run keeps
                its submitted outputs, sanitized; a check cell keeps none. If all outputs together are too large for a
                page, those of later cells are left out.
            checks: the outputs of each exercise's check cell, used as they are, because the grader wrote them.
            notices: what to say below a cell's outputs, by index in `cells`, such as why it was stopped.
        """
        outputs, checks = dict(outputs or {}), checks or {}
        for index, notice in (notices or {}).items():
            outputs[index] = [*outputs.get(index, ()), notice_below(notice)]
        whole = sanitise.WholeNotebook()
        cells = []
        count = 0
        for index, cell in enumerate(self.cells):
            about = {"kind": str(cell.kind), "exercise": cell.exercise, "origin": cell.origin}
            metadata = {"katze": about, "nbgrader": dict(cell.nbgrader), "tags": list(cell.tags)}
            entry: dict[str, Any] = {
                "cell_type": "code" if cell.is_code else "markdown",
                "id": cell.id,
                "metadata": {name: value for name, value in metadata.items() if value},
                "source": cell.source,
            }
            if cell.is_code:
                is_check = cell.kind is CellKind.CHECK
                ran = cell.exercise in checks if is_check else index in outputs
                count += ran
                entry["execution_count"] = count if ran else None
                shown = outputs.get(index, cell.outputs)
                checked = list(checks.get(cell.exercise or "", ()))
                entry["outputs"] = checked if is_check else sanitise.outputs(shown, whole)
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


def notice_below(notice: str) -> sanitise.Output:
    """Return an output with a sentence from the grader."""
    return {"output_type": "stream", "name": "stderr", "text": f"[katze] {notice}\n"}


class OwnCells:
    """Converts the student's own cells of a notebook: code as it is, text made safe to look at.

    All of them share a limit on formatted text.
    """

    def __init__(self) -> None:
        self._markdown_left = sanitise.MARKDOWN_CHARACTERS_TOGETHER

    def cell(self, number: int, cell: SubmittedCell, kind: str) -> Cell:
        """Convert a student's cell. Raw cells become text, because nothing may reach a page as it is.

        Args:
            number: its place in the submitted notebook, from 0.
            cell: the cell.
            kind: the kind to convert it to: "code", "markdown" or "raw".
        """
        if kind == "code":
            tags = ("demo",) if "demo" in cell.tags else ()
            return Cell(CellKind.CODE, cell.source, tags=tags, id=cell.id, outputs=cell.outputs, position=number + 1)
        source, embedded = sanitise.embedded_images(cell.source)
        given = cell.attachments if isinstance(cell.attachments, dict) else {}
        images = sanitise.attachments({**given, **embedded})
        source = sanitise.without_missing_attachments(sanitise.fenced(source) if kind == "raw" else source, set(images))
        longest = min(sanitise.MARKDOWN_CHARACTERS, self._markdown_left)
        if len(source) <= longest:
            self._markdown_left -= len(source)
        source = sanitise.markdown(source, longest)
        return Cell(CellKind.MARKDOWN, source, id=cell.id, attachments=images, position=number + 1)
