"""Which cells change Python or torch itself, and so may be why the exercises after them fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from autograder.box.endings import BoxLost
from autograder.limits import Allowance
from autograder.words import shown

MOST_NAMED = 3


class Changeable(Protocol):
    """What is needed from a box here."""

    def run_cell(self, source: str, allowed: Allowance) -> object:
        """Run one cell."""

    def changes(self) -> list[str]:
        """What the cells have changed so far, in words."""


def find_changing_cells(
    cells: Mapping[int, tuple[str, Allowance]],
    open_box: Callable[[], AbstractContextManager[Changeable]],
) -> dict[int, str]:
    """The places of the cells that change what is not theirs, each with what it changes, in words.

    The cells run once more, in a box of their own, which is asked after each of them. A cell that ends the box, or
    after which it cannot answer, is taken for one of them, and the search ends there.

    Args:
        cells: the cells' code, with what each may use, by place and in order.
        open_box: opens a fresh box.
    """
    found: dict[int, str] = {}
    known: set[str] = set()
    with open_box() as box:
        for place, (source, allowed) in cells.items():
            try:
                box.run_cell(source, allowed)
                now = box.changes()
            except BoxLost:
                found[place] = "Python itself"
                return found
            new = [change for change in now if change not in known]
            if new:
                found[place] = _named(new)
            known.update(now)
    return found


def _named(changes: list[str]) -> str:
    named = [shown(change) for change in changes[:MOST_NAMED]]
    more = len(changes) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")
