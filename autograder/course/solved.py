"""The pages that `solution` shows: each answer of `solutions/`, cut out while a release is built.

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

_ANSWER = "-answer"
_WRITTEN = "-written"
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
        if is_reason(cell) and (cell.cell_type != "markdown" or not above.endswith(_ANSWER)):
            raise BadInput(f"{lesson}: the reason {cell.source[:40]!r} must be markdown, right below an answer's cell")
        above = grade_id
        if grade_id.endswith(_ANSWER):
            below = cells[number + 1] if number + 1 < len(cells) else None
            reason = below.source if below is not None and is_reason(below) else ""
            exercise = grade_id.removesuffix(_ANSWER).replace("-", ".", 1)
            code = _MARKERS.sub("", f"{cell.source}\n").rstrip()
            yield f"{exercise}.md", Solution(reason.strip(), code).page()
        elif grade_id.endswith(_WRITTEN):
            yield f"{grade_id.removesuffix(_WRITTEN).replace('-', '.', 1)}.md", f"{cell.source.strip()}\n"
