"""Moves a learner's answers and own cells from an old version of a lesson into the new one."""

import copy
import itertools
from collections import defaultdict
from typing import Any

from nbformat import NotebookNode
from nbformat.corpus.words import generate_corpus_id

from autograder.course.looking_back import COUNT
from autograder.repair.text import plain

Cell = Any

_BEFORE_ALL = ""
"""The place above the first cell."""


def renewed(mine: NotebookNode, old: NotebookNode, new: NotebookNode) -> NotebookNode:
    """Return the new version of a lesson, with everything that the learner has added to the old one.

    Answers go into their cells. The learner's own cells, and changed cells of the lesson, go after the same cell as
    before.

    Args:
        mine: the learner's notebook.
        old: the version that it was made from.
        new: the version to move to.
    """
    answers, own = _added(mine, old)
    result = copy.deepcopy(new)
    result.cells = own.pop(_BEFORE_ALL, [])
    for cell in copy.deepcopy(new.cells):
        if answer := answers.pop(cell.id, None):
            cell |= {part: answer[part] for part in ("source", "outputs") if part in answer}
        result.cells += [cell, *own.pop(cell.id, [])]
    left = [*map(_ordinary, answers.values()), *itertools.chain(*own.values())]
    result.cells += left  # their exercises or neighbors are not in the new version
    taken: set[str] = set()
    for cell in result.cells:  # an added cell may be a changed copy of another
        if cell.get("id") in (None, *taken):
            cell.id = generate_corpus_id()
        taken.add(cell.id)
    return result


def _added(mine: NotebookNode, old: NotebookNode) -> tuple[dict[str, Cell], dict[str, list[Cell]]]:
    """Return a learner's additions: answers by their cell's id, and other cells by the id of the cell before them."""
    given = {cell.id: cell for cell in old.cells}
    by_text = {(cell.cell_type, plain(cell.source)): cell.id for cell in old.cells}
    answers: dict[str, Cell] = {}
    own: dict[str, list[Cell]] = defaultdict(list)
    place = _BEFORE_ALL
    for cell in mine.cells:
        same = by_text.get((cell.cell_type, plain(cell.source)))
        known = same or (cell.get("id") if cell.get("id") in given else None)
        if known is not None:
            place = known
        if same is not None or not cell.source.strip():
            continue
        if known is not None and (known == COUNT or given[known].metadata.get("nbgrader", {}).get("solution")):
            answers[known] = cell
        else:
            own[place].append(_ordinary(cell))
    return answers, own


def _ordinary(cell: Cell) -> Cell:
    """Return a copy as an ordinary cell: whatever it was copied from, it does not matter for grading."""
    result = copy.deepcopy(cell)
    result.metadata.pop("nbgrader", None)
    return result
