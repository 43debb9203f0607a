"""Cells of the student's own: code as it is, text made safe to look at."""

from __future__ import annotations

from autograder.intake import sanitise
from autograder.intake.submission import SubmittedCell
from autograder.repair.cells import Cell, CellKind


class OwnCells:
    """Takes over the cells of one notebook. Together they may have only so much text that is formatted."""

    def __init__(self) -> None:
        self._markdown_left = sanitise.MARKDOWN_CHARACTERS_TOGETHER

    def cell(self, number: int, cell: SubmittedCell, kind: str) -> Cell:
        """A cell of the student's own, as `kind`. Raw cells become text: nothing may pass into a page as it is.

        Args:
            number: its place in the submitted notebook, counted from 0.
            cell: the cell.
            kind: "code", "markdown" or "raw".
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
