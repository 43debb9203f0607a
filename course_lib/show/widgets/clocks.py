"""Sinusoidal positions as clocks: each pair of dimensions is the tip of a hand.

A pair holds the sine and the cosine of an angle. Drawn as (across, upwards) this is a hand of length 1 that stands
at twelve for angle 0 and turns like that of a clock: fast for the first pair, hardly at all for the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from torch import Tensor

from course_lib.show.figures import BLUE, GREY, LAID_OUT, ORANGE, pictured
from course_lib.show.interactive import interactive

_CLOCK, _LABEL, _HEAD = 0.92, 1.3, 0.62
"""Inches: a clock, the label of a row, and what stands above the first row."""

Hand = tuple[float, float]


def clocks(
    encoding: Float[Tensor, "length d_model"],
    positions: Sequence[int],
    *,
    alt: str,
    title: str,
    shift: int | None = None,
) -> None:
    """Show the hands of some positions, with a slider that turns them and, where they are shifted, one for the shift.

    Args:
        encoding: sinusoidal positions, a row each: sine and cosine alternate.
        positions: the positions that are drawn, a row of clocks for each.
        alt: one sentence for readers who cannot see the picture.
        title: a line above the clocks.
        shift: draws a second hand, for the position this many further on.
    """
    shown = Clocks(encoding, shift)
    still = pictured(shown.draw(positions, title), alt)
    interactive("clocks", shown.data(), still=still.html(), alt=alt, text=f"{title}\n{alt}\n{shown.text(positions)}")


@dataclass(frozen=True)
class Clocks:
    """The hands of an encoding.

    Attributes:
        encoding: sinusoidal positions, a row each: sine and cosine alternate.
        shift: how much further on the second hand's position is; None draws one hand only.
    """

    encoding: Float[Tensor, "length d_model"]
    shift: int | None = None

    def __post_init__(self) -> None:
        if self.encoding.ndim != 2 or self.encoding.shape[1] % 2:
            raise ValueError(f"clocks need [length, d_model] with an even d_model, not {list(self.encoding.shape)}")

    def hands(self, position: int) -> list[Hand]:
        """The tip of each clock's hand, (across, upwards), at one position.

        Raises:
            IndexError: there is no such position.
        """
        if not 0 <= position < len(self.encoding):
            raise IndexError(f"there is no position {position} among {len(self.encoding)}")
        pairs: list[list[float]] = self.encoding[position].detach().double().view(-1, 2).tolist()
        return [(sine, cosine) for sine, cosine in pairs]

    def draw(self, positions: Sequence[int], title: str) -> Figure:
        """The figure that `clocks` shows: a row for each position, a column for each pair of dimensions."""
        pairs = self.encoding.shape[1] // 2
        width, height = _LABEL + _CLOCK * pairs + 0.1, _HEAD + _CLOCK * len(positions)
        with plt.rc_context(LAID_OUT):
            drawn = Figure(figsize=(width, height))
            for row, position in enumerate(positions):
                top = height - _HEAD - row * _CLOCK
                drawn.text(0.1 / width, (top - _CLOCK / 2) / height, self._label(position), va="center", fontsize=10)
                further = self.hands(position + self.shift) if self.shift is not None else [None] * pairs
                for pair, (hand, other) in enumerate(zip(self.hands(position), further, strict=True)):
                    box = (_LABEL + pair * _CLOCK, top - _CLOCK, _CLOCK, _CLOCK)
                    scaled = (box[0] / width, box[1] / height, box[2] / width, box[3] / height)
                    _draw_clock(drawn.add_axes(scaled), hand, other)
                    if row == 0:
                        middle = (box[0] + _CLOCK / 2) / width
                        drawn.text(
                            middle, (top + 0.04) / height, f"{2 * pair}, {2 * pair + 1}", ha="center", fontsize=9
                        )
            drawn.text(0.1 / width, (height - _HEAD + 0.04) / height, "dimensions", fontsize=9)
            drawn.text(0.1 / width, 1 - 0.1 / height, title, fontsize=11, va="top")
        return drawn

    def _label(self, position: int) -> str:
        return f"at {position}" if self.shift is None else f"at {position} and {position + self.shift}"

    def data(self) -> dict[str, Any]:
        """Return the script's data: the hands of every position."""
        rows = [[round(value, 4) for value in row] for row in self.encoding.detach().double().tolist()]
        return {"encoding": rows, "shift": self.shift}

    def text(self, positions: Sequence[int]) -> str:
        """The hands of some positions in words."""
        return "\n".join(
            f"position {position}: " + ", ".join(f"({sine:.2f}, {cosine:.2f})" for sine, cosine in self.hands(position))
            for position in positions
        )


def _draw_clock(axes: Axes, hand: Hand, other: Hand | None) -> None:
    axes.set(xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.add_patch(Circle((0, 0), 1.05, fill=False, color=GREY, linewidth=1))
    axes.plot([0, 0], [0.93, 1.05], color=GREY, linewidth=1)
    if other is not None:
        axes.plot([0, other[0]], [0, other[1]], color=ORANGE, linewidth=2.6, solid_capstyle="round")
    axes.plot([0, hand[0]], [0, hand[1]], color=BLUE, linewidth=2.6, solid_capstyle="round")
