"""The one form in which every benchmark reports: a row for each figure, printed and as JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

HEADINGS = ("measured", "ours", "best", "spread", "peer", "unit", "ratio", "goal", "met")

TOO_BUSY = 1 / 3
"""The spread from which on a machine is too busy for a figure."""


@dataclass(frozen=True)
class Row:
    """One figure.

    Attributes:
        name: what was measured.
        ours: our figure; a median where there were several runs.
        peer: what it is compared with: another program's figure, or the most that the goal allows.
        unit: of both.
        ratio: how many times better ours is (above 1 is better).
        goal: the least ratio wanted; None where none was set.
        met: whether it was reached; None without a goal.
        best: our best figure; None where there was one run.
        spread: of the runs, ours or the peer's, whichever is wider; what lies between their quartiles, as a share of
            their median.
    """

    name: str
    ours: float
    peer: float | None
    unit: str
    ratio: float | None
    goal: float | None
    met: bool | None
    best: float | None = None
    spread: float | None = None

    @classmethod
    def of(cls, name: str, ours: float, peer: float | None, unit: str, *, more: bool, goal: float | None = None) -> Row:
        """A row with its ratio.

        Args:
            name: what was measured.
            ours: our figure.
            peer: the figure it is compared with; None if there is none.
            unit: of both.
            more: whether more is better.
            goal: the least ratio wanted.
        """
        ratio = None if peer is None else (ours / peer if more else peer / ours)
        met = None if goal is None or ratio is None else ratio >= goal
        return cls(name, ours, peer, unit, ratio, goal, met)

    def spread_over(self, best: float, spread: float) -> Row:
        """The same figure as the median of several; runs that differ too much meet no goal, and miss none."""
        if spread > TOO_BUSY:
            return replace(self, ratio=None, met=None, best=best, spread=spread)
        return replace(self, best=best, spread=spread)

    def cells(self) -> list[str]:
        """What stands below each of `HEADINGS`."""
        busy = self.spread is not None and self.spread > TOO_BUSY
        return [
            self.name,
            "too busy" if busy else f"{self.ours:.4g}",
            "" if self.best is None else f"{self.best:.4g}",
            "" if self.spread is None else f"{self.spread:.0%}",
            "" if self.peer is None or busy else f"{self.peer:.4g}",
            self.unit,
            "" if self.ratio is None else f"{self.ratio:.3g}",
            "" if self.goal is None else f"{self.goal:.3g}",
            "" if self.met is None else "yes" if self.met else "NO",
        ]


def arguments(description: str | None) -> argparse.ArgumentParser:
    """The command line that every benchmark begins with."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    return parser


def report(title: str, rows: Iterable[Row], json_file: Path | None) -> None:
    """Print each row as soon as it is measured, and write all so far where a file is named."""
    print(f"{title}\n\n{line(HEADINGS)}\n{line(['---'] * len(HEADINGS))}", flush=True)
    found = []
    for row in rows:
        found.append(asdict(row))
        print(line(row.cells()), flush=True)
        if json_file:
            json_file.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def line(cells: Iterable[str]) -> str:
    """A line of a table in Markdown, which reads well in a terminal, too."""
    first, *others = cells
    return "| " + " | ".join([first.ljust(64), *(cell.rjust(7) for cell in others)]) + " |"
