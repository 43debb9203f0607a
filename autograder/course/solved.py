"""Cuts the pages that `solution` shows out of `solutions/`, while a release is built.

The reason of one in code is a markdown cell with the tag `reason`, right below its answer. It goes on to no notebook.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nbformat import NotebookNode

from autograder.errors import BadInput
from course_lib.learner.solutions import Solution

REASON = "reason"
"""Tag of the cells that say why an answer is as it is."""

_MARKERS = re.compile(r"^[ \t]*### (?:BEGIN|END) SOLUTION[ \t]*\n?", re.M)


def is_reason(cell: NotebookNode) -> bool:
    """Whether a cell says why the answer above it is as it is."""
    return REASON in cell.metadata.get("tags", [])


def solved_pages(lesson: str, cells: Sequence[NotebookNode]) -> Iterator[tuple[str, str]]:
    """The pages of a lesson by their names, such as "ols.fit.md".

    Args:
        lesson: its name, for messages.
        cells: as they are written in `solutions/`.

    Raises:
        BadInput: a reason does not stand right below an answer.
    """
    above = ""
    for number, cell in enumerate(cells):
        grade_id = str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
        if is_reason(cell) and (cell.cell_type != "markdown" or not above.endswith("-answer")):
            raise BadInput(f"{lesson}: the reason {cell.source[:40]!r} must be markdown, right below an answer's cell")
        above = grade_id
        task, _, kind = grade_id.rpartition("-")
        name = f"{task.replace('-', '.', 1)}.md"
        if kind == "answer":
            below = cells[number + 1] if number + 1 < len(cells) else None
            reason = below.source if below is not None and is_reason(below) else ""
            code = _MARKERS.sub("", f"{cell.source}\n").rstrip()
            yield name, Solution(reason.strip(), code).page()
        elif kind == "written":
            yield name, f"{cell.source.strip()}\n"
