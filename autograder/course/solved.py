"""Cuts the pages that `solution` shows out of `solutions/`, while a release is built.

The reason for a code answer is a markdown cell with the tag `reason`, directly below it. It appears in no notebook.
"""

import re
from collections.abc import Iterator, Sequence

from nbformat import NotebookNode

from autograder.errors import BadInput
from course_lib.learner.solutions import Solution

REASON = "reason"
"""Tag of cells that explain an answer."""

_MARKERS = re.compile(r"^[ \t]*### (?:BEGIN|END) SOLUTION[ \t]*\n?", re.M)


def is_reason(cell: NotebookNode) -> bool:
    """Return whether a cell explains the answer above it."""
    return REASON in cell.metadata.get("tags", [])


def solved_pages(lesson: str, cells: Sequence[NotebookNode]) -> Iterator[tuple[str, str]]:
    """Yield a lesson's pages with their names, such as "ols.fit.md", from its cells in `solutions/`.

    Raises:
        BadInput: a reason is not directly below an answer.
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
