"""Runs a notebook's cells in sandboxes from top to bottom, as a kernel would.

A cell that ends its sandbox (it never stops, or takes too much memory) costs only itself: a fresh sandbox runs the
others.
"""

import tokenize
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.inputtransformer2 import TransformerManager

from autograder.box.box import Box
from autograder.box.endings import BoxLost
from autograder.box.protocol import CellResult
from autograder.grading.kept_outputs import OutputKeeper
from autograder.repair.cells import Cell, CellKind, notice_below
from course_lib.judging.rules import definitions

MOST_BOXES = 20
"""Most sandboxes for one notebook; each cell that ends its sandbox uses one up."""

_AS_NBGRADER = (
    "__import__('os').environ.update(NBGRADER_EXECUTION='autograde', JOBLIB_MULTIPROCESSING='0')\n"
    "__import__('sys').path.insert(0, '')  # modules beside the notebook"
)
"""Sets up what nbgrader's kernel has and a sandbox lacks, and silences joblib, which finds no processes here."""

_IN_A_NOTEBOOK = "import ipykernel.zmqshell"
"""Tells `tqdm.auto` that this is a notebook: otherwise its bar goes to stderr and costs a test its points. Importing it
takes a quarter of a second.
"""


@dataclass
class Ran:
    """What happened to a notebook's cells, by index.

    Attributes:
        results: of cells that finished, with all outputs.
        outputs: the outputs to keep; for lost cells, a note that they were stopped.
        lost: cells that ended their sandbox.
        unreached: why the remaining cells did not run; empty if all did.
        starved: whether a sandbox hit a time limit while the machine was busy.
    """

    results: dict[int, CellResult] = field(default_factory=dict)
    outputs: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    lost: dict[int, BoxLost] = field(default_factory=dict)
    unreached: str = ""
    starved: bool = False


def run_cells(cells: Sequence[Cell], open_box: Callable[[float], AbstractContextManager[Box]], seconds: float) -> Ran:
    """Run the code cells.

    Args:
        cells: the notebook's cells, in order.
        open_box: opens a fresh sandbox for a notebook with this many seconds left.
        seconds: the time for all sandboxes together.
    """
    running = _Running([n for n, cell in enumerate(cells) if cell.is_code and not cell.skipped], cells)
    left = seconds
    for _ in range(MOST_BOXES):
        with open_box(left) as box:
            done = running.run_in(box)
            left -= box.share
            running.ran.starved = running.ran.starved or box.starved
        if done:
            return running.ran
        if left <= 0 or running.out_of_time:
            running.ran.unreached = f"the time limit for the whole notebook ({seconds:g} s) ran out before"
            return running.ran
    running.ran.unreached = f"more than {MOST_BOXES} cells before it made Python exit"
    return running.ran


class _Running:
    def __init__(self, places: Sequence[int], cells: Sequence[Cell]) -> None:
        self.ran = Ran()
        self.out_of_time = False
        self._places = places
        self._cells = cells
        self._keeper = OutputKeeper()
        self._left_out: set[int] = set()  # not even what they define is run

    def run_in(self, box: Box) -> bool:
        """Run what one sandbox can; return whether it reached the end."""
        box.run_cell(_AS_NBGRADER)
        if any("tqdm" in self._cells[place].source for place in self._places):
            box.run_cell(_IN_A_NOTEBOOK)
        for place in self._places:
            if place in self._left_out:
                continue
            again = place in self.ran.lost
            cell, is_test = self._cells[place], self._cells[place].kind is CellKind.CHECK and not again
            source = definitions(cell.source) if again else _without_magics(cell.source) if is_test else cell.source
            try:
                result = box.run_cell(source, is_test=is_test)
            except BoxLost as lost:
                self.out_of_time = lost.out_of_time
                if again or place in self.ran.results:
                    self._left_out.add(place)
                else:
                    self.ran.outputs[place] = [notice_below(f"It was stopped: {lost.for_student}.")]
                self.ran.lost.setdefault(place, lost)
                return False
            if not again and place not in self.ran.results:
                self.ran.results[place] = result
                self.ran.outputs[place] = self._keeper.keep(place, result.outputs)
        return True


def _without_magics(source: str) -> str:
    """Translate a test to plain Python here: in the sandbox, the student could have replaced the translation."""
    try:
        code = TransformerManager().transform_cell(source)
        return f"{code}\nNone" if DisplayHook.semicolon_at_end_of_expression(code) else code
    except (SyntaxError, tokenize.TokenError):
        return source
