"""Writes how hard and how important each exercise is below its heading, while a release is built."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from course_lib.judging.exercise import Exercise

if TYPE_CHECKING:
    from nbformat import NotebookNode

_TASK = re.compile(r"^`([\w.]+)` · .* · about \d+ minutes$", re.M)


def tell_rating(cell: NotebookNode, exercises: Mapping[str, Exercise]) -> None:
    """Write the exercise's rating into its task's cell.

    Args:
        cell: a cell of a lesson; a cell without a task stays as it is.
        exercises: the lesson's exercises, by id.
    """

    def with_rating(task: re.Match[str]) -> str:
        rating = exercises[task[1]].rating if task[1] in exercises else ""
        return f"{task[0]} · {rating}" if rating else task[0]

    if cell.cell_type == "markdown":
        cell.source = _TASK.sub(with_rating, cell.source)
