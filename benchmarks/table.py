"""The format in which every benchmark reports: a row for each figure, printed and as JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

HEADINGS = ("measured", "ours", "best", "spread", "peer", "unit", "ratio", "goal", "met")

TOO_BUSY = 1 / 3
"""If the spread is larger than this, the machine is too busy for a figure."""


@dataclass(frozen=True)
class Row:
    """One figure.

    Attributes:
        name: what was measured.
        ours: our figure; the median of several runs.
        peer: the figure to compare with: another program's, or the limit set by the goal; None if there is none.
        unit: the unit of both.
        ratio: how many times better ours is (above 1 is better).
        goal: the smallest ratio wanted; None if none was set.
        met: whether the goal was reached; None without a goal.
        best: our best figure; None after a single run.
        spread: the distance between the runs' quartiles, as a share of their median; ours or the peer's, whichever is
            larger.
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
        """Return a row with its ratio.

        Args:
            name: what was measured.
            ours: our figure.
            peer: the figure it is compared with; None if there is none.
            unit: the unit of both.
            more: whether more is better.
            goal: the smallest ratio wanted.
        """
        ratio = None if peer is None else (ours / peer if more else peer / ours)
        met = None if goal is None or ratio is None else ratio >= goal
        return cls(name, ours, peer, unit, ratio, goal, met)

    def spread_over(self, best: float, spread: float) -> Row:
        """Return the row as the median of several runs; if they differ too much, the goal is neither met nor missed."""
        if spread > TOO_BUSY:
            return replace(self, ratio=None, met=None, best=best, spread=spread)
        return replace(self, best=best, spread=spread)

    def cells(self) -> list[str]:
        """Return the cells below `HEADINGS`."""
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
    """Return the parser with the options that all benchmarks share."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    return parser


def report(title: str, rows: Iterable[Row], json_file: Path | None) -> None:
    """Print each row as soon as it is measured; if a file is given, write all rows so far to it."""
    print(f"{title}\n\n{line(HEADINGS)}\n{line(['---'] * len(HEADINGS))}", flush=True)
    found = []
    for row in rows:
        found.append(asdict(row))
        print(line(row.cells()), flush=True)
        if json_file:
            json_file.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def line(cells: Iterable[str]) -> str:
    """Return a line of a Markdown table that also reads well in a terminal."""
    first, *others = cells
    return "| " + " | ".join([first.ljust(64), *(cell.rjust(7) for cell in others)]) + " |"
