"""A bar in a notebook's page that shows how far something is.

It is plain HTML that is drawn over itself. A widget would be an empty place in a page that was saved; and rich's own
bar for notebooks takes what the cell has printed shortly before, and wipes it away with itself.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from math import isfinite
from statistics import fmean
from typing import Any, Protocol

CURVE_WIDTH, CURVE_HEIGHT = 240, 48
"""Of the picture of the loss below a bar, in pixels."""

BETWEEN = 0.2
"""Seconds from one picture of a bar to the next."""


@dataclass(frozen=True)
class NotebookBar:
    """A bar as a notebook shows it: plain HTML, because a widget would leave an empty place in a saved page.

    Attributes:
        title: shown before the bar.
        done, steps: how far it is, and how far it goes.
        state: shown after it.
        losses: of the steps up to `done`, drawn below it; a resumed run has none of the first ones.
    """

    title: str
    done: int
    steps: int
    state: str = ""
    losses: Sequence[float] = ()

    def __repr__(self) -> str:
        return ""

    def _repr_mimebundle_(self, **_wanted: Any) -> dict[str, str]:
        if self.done >= self.steps:  # what came of it, the cell itself tells
            return {"text/html": "", "text/plain": ""}
        bar = f'<progress max="{self.steps}" value="{self.done}"></progress>'
        told = f"{escape(self.title)} {bar} {self.done}/{self.steps} {escape(self.state)}"
        return {"text/html": f"<div>{told}{self._curve()}</div>", "text/plain": ""}

    def _curve(self) -> str:
        """The losses as a line that grows from left to right as the bar does; empty before there are two."""
        stride = max(1, self.steps // (CURVE_WIDTH // 2))
        means = [fmean(self.losses[first : first + stride]) for first in range(0, len(self.losses), stride)]
        if len(means) < 2 or not all(map(isfinite, means)):
            return ""
        begun, up = self.done - len(self.losses), CURVE_HEIGHT / max(*means, 1e-9)
        points = " ".join(
            f"{CURVE_WIDTH * (begun + place * stride) / self.steps:.1f},{CURVE_HEIGHT - mean * up:.1f}"
            for place, mean in enumerate(means)
        )
        return (
            f'<svg width="{CURVE_WIDTH}" height="{CURVE_HEIGHT + 2}" style="display:block" role="img" '
            f'aria-label="the loss so far, from {means[0]:.3g} to {means[-1]:.3g}">'
            f'<path d="M0 {CURVE_HEIGHT + 1} H{CURVE_WIDTH}" stroke="currentColor" opacity="0.4"/>'
            f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>'
        )


class DrawBar(Protocol):
    """Moves a bar."""

    def __call__(self, done: int, state: str = "", losses: Sequence[float] = ()) -> None:
        """Say how far it is; it is drawn if the last picture is `BETWEEN` seconds old."""


@contextmanager
def bar_in_page(title: str, steps: int, patience: float = 0.0) -> Iterator[DrawBar]:
    """A bar that is redrawn in place, with the time left, and disappears at the end.

    Args:
        title: shown before the bar.
        steps: how far it goes.
        patience: seconds before it is shown: faster work needs no bar.
    """
    from IPython.display import display  # only a page has it: a script that trains needs no notebook

    shown = display(NotebookBar(title, 0, steps), display_id=True) if not patience else None
    began = drawn = time.monotonic()

    def draw(done: int, state: str = "", losses: Sequence[float] = ()) -> None:
        nonlocal drawn, shown
        now = time.monotonic()
        if now - drawn <= BETWEEN or now - began <= patience or not 0 < done < steps:
            return
        drawn = now
        left = f"{(now - began) / done * (steps - done):.0f} s left"
        bar = NotebookBar(title, done, steps, f"{state}, {left}" if state else left, tuple(losses))
        if shown is None:
            shown = display(bar, display_id=True)
        else:
            shown.update(bar)

    try:
        yield draw
    finally:
        if shown is not None:
            shown.update(NotebookBar(title, steps, steps))
