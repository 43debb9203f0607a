"""Sinusoidal positions as clocks: each pair of dimensions is the tip of a hand.

A pair holds the sine and the cosine of an angle. Drawn as (across, up), this is a hand of length 1 that points to
twelve for angle 0 and turns like a clock's: fast for the first pair, hardly at all for the last.
"""

from collections.abc import Sequence

from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from torch import Tensor

from course_lib.show.figures import BLUE, GREY, ORANGE, axes_in, canvas, pictured
from course_lib.show.interactive import interactive

_CLOCK, _LABEL, _HEAD = 0.92, 1.3, 0.62
"""In inches: the size of a clock, the width of a row's label, and the room above the first row."""

Hand = tuple[float, float]


def clocks(
    encoding: Float[Tensor, "length d_model"],
    positions: Sequence[int],
    *,
    alt: str,
    title: str,
    shift: int | None = None,
) -> None:
    """Show the hands of some positions, with a slider that turns them and, with a shift, one for the shift.

    Args:
        encoding: sinusoidal positions, a row for each; sine and cosine alternate.
        positions: the positions to draw, a row of clocks for each.
        alt: one sentence for readers who cannot see the picture.
        title: a line above the clocks.
        shift: draw a second hand, for the position this many further on.

    Raises:
        ValueError: the encoding does not consist of pairs of dimensions.
        IndexError: there is no such position.
    """
    if encoding.ndim != 2 or encoding.shape[1] % 2:
        raise ValueError(f"clocks need [length, d_model] with an even d_model, not {list(encoding.shape)}")
    rows = [[round(value, 4) for value in row] for row in encoding.detach().double().tolist()]
    told = [
        f"position {position}: "
        + ", ".join(f"({sine:.2f}, {cosine:.2f})" for sine, cosine in _hands(encoding, position))
        for position in positions
    ]
    interactive(
        "clocks",
        {"encoding": rows, "shift": shift},
        still=pictured(_drawn(encoding, positions, title, shift), alt).html(),
        alt=alt,
        text="\n".join([title, alt, *told]),
    )


def _hands(encoding: Tensor, position: int) -> list[Hand]:
    """Return the tip of each clock's hand, (across, up), at one position."""
    if not 0 <= position < len(encoding):
        raise IndexError(f"there is no position {position} among {len(encoding)}")
    pairs: list[list[float]] = encoding[position].detach().double().view(-1, 2).tolist()
    return [(sine, cosine) for sine, cosine in pairs]


def _drawn(encoding: Tensor, positions: Sequence[int], title: str, shift: int | None) -> Figure:
    """Draw a row for each position, and a column for each pair of dimensions."""
    pairs = encoding.shape[1] // 2
    width, height = _LABEL + _CLOCK * pairs + 0.1, _HEAD + _CLOCK * len(positions)
    with canvas(width, height) as drawn:
        for row, position in enumerate(positions):
            top = height - _HEAD - row * _CLOCK
            label = f"at {position}" if shift is None else f"at {position} and {position + shift}"
            drawn.text(0.1 / width, (top - _CLOCK / 2) / height, label, va="center", fontsize=10)
            further = _hands(encoding, position + shift) if shift is not None else [None] * pairs
            for pair, (hand, other) in enumerate(zip(_hands(encoding, position), further, strict=True)):
                left = _LABEL + pair * _CLOCK
                _draw_clock(axes_in(drawn, left, top - _CLOCK, _CLOCK, _CLOCK), hand, other)
                if row == 0:
                    middle = (left + _CLOCK / 2) / width
                    drawn.text(middle, (top + 0.04) / height, f"{2 * pair}, {2 * pair + 1}", ha="center", fontsize=9)
        drawn.text(0.1 / width, (height - _HEAD + 0.04) / height, "dimensions", fontsize=9)
        drawn.text(0.1 / width, 1 - 0.1 / height, title, fontsize=11, va="top")
    return drawn


def _draw_clock(axes: Axes, hand: Hand, other: Hand | None) -> None:
    axes.set(xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.add_patch(Circle((0, 0), 1.05, fill=False, color=GREY, linewidth=1))
    axes.plot([0, 0], [0.93, 1.05], color=GREY, linewidth=1)
    if other is not None:
        axes.plot([0, other[0]], [0, other[1]], color=ORANGE, linewidth=2.6, solid_capstyle="round")
    axes.plot([0, hand[0]], [0, hand[1]], color=BLUE, linewidth=2.6, solid_capstyle="round")
