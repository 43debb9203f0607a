"""A progress bar for notebooks.

It is plain HTML, redrawn in place. A widget would leave a gap in a saved page, and rich's own bar for notebooks also
captures what the cell printed shortly before, and removes it along with itself.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from math import isfinite
from statistics import fmean
from typing import Any, Protocol

CURVE_WIDTH, CURVE_HEIGHT = 240, 48
"""The size of the loss curve below a bar, in pixels."""

BETWEEN = 0.2
"""Seconds from one drawing of a bar to the next."""


@dataclass(frozen=True)
class NotebookBar:
    """A bar as a notebook shows it, in plain HTML.

    Attributes:
        title: shown before the bar.
        done, steps: the steps done so far, and all steps.
        state: shown after the bar.
        losses: the losses of the steps up to `done`, drawn below the bar; a resumed run lacks the first ones.
    """

    title: str
    done: int
    steps: int
    state: str = ""
    losses: Sequence[float] = ()

    def __repr__(self) -> str:
        return ""

    def _repr_mimebundle_(self, **_wanted: Any) -> dict[str, str]:
        if self.done >= self.steps:  # the cell itself shows the result
            return {"text/html": "", "text/plain": ""}
        bar = f'<progress max="{self.steps}" value="{self.done}"></progress>'
        line = f"{escape(self.title)} {bar} {self.done}/{self.steps} {escape(self.state)}"
        return {"text/html": f"<div>{line}{self._curve()}</div>", "text/plain": ""}

    def _curve(self) -> str:
        """Return the losses as a line that grows from left to right with the bar; empty before there are two."""
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
        """Set the bar's progress; redraw it if the last drawing is `BETWEEN` seconds old."""


@contextmanager
def bar_in_page(title: str, steps: int, patience: float = 0.0) -> Iterator[DrawBar]:
    """Show a bar that is redrawn in place, with the time left, and disappears at the end.

    Args:
        title: shown before the bar.
        steps: the number of steps in all.
        patience: seconds before the bar is shown, since faster work needs no bar.
    """
    from IPython.display import display  # imported late: a script that trains needs no notebook

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
