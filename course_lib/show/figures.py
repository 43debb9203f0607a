"""How every figure of the course looks, and how it reaches the page.

A figure has a white background of its own, so that it reads the same on a light and on a dark page, and it
is drawn at twice the resolution, so that it is sharp on today's screens. It is also drawn quickly, because a lesson has
a dozen of them: where its axes and titles stand is known beforehand, so nothing has to be measured to lay them out.
"""

from __future__ import annotations

import io
from typing import Any, Final

import matplotlib.pyplot as plt
from cycler import cycler
from IPython.display import Image, display
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image as Picture

BLUE: Final = "#3b6fb6"
ORANGE: Final = "#d9822b"
GREEN: Final = "#3a8f5c"
GREY: Final = "#8a8f98"
INK: Final = "#22252b"

STYLE: Final[Any] = {  # Any: matplotlib types its settings differently from version to version
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "axes.facecolor": "white",
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11,
    "axes.titley": 1.0,
    "axes.labelsize": 10,
    "xtick.labelsize": 9.5,
    "ytick.labelsize": 9.5,
    "legend.fontsize": 9.5,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "axes.prop_cycle": cycler(color=[BLUE, ORANGE, GREEN, GREY]),
}
"""The course's matplotlib settings. The colours stay apart for colour-blind readers."""

LAID_OUT: Final[Any] = {**STYLE, "figure.constrained_layout.use": False}
"""The same, for figures that say for themselves where their axes stand."""

_SHARP = 200
"""Dots per inch of the picture; the page shows it at half its size."""

_LEFT, _RIGHT, _BELOW, _ABOVE = 0.72, 0.16, 0.54, 0.36
"""Inches between a frame's axes and its edges: room for labels, ticks and a title."""


def use_style() -> None:
    """Make the course's settings the default for every figure drawn after this."""
    plt.rcParams.update(STYLE)


def frames(count: int = 1, *, width: float = 6.4, height: float = 3.6) -> tuple[Figure, list[Axes]]:
    """A figure with empty axes side by side, to be drawn into and shown by `figure`.

    Args:
        count: how many axes.
        width: of the figure, in inches.
        height: of the figure, in inches.

    Returns:
        The figure, and its axes from left to right.
    """
    with plt.rc_context(LAID_OUT):
        drawn = Figure(figsize=(width, height))
        each = width / count
        share = ((each - _LEFT - _RIGHT) / width, (height - _BELOW - _ABOVE) / height)
        return drawn, [
            drawn.add_axes(((number * each + _LEFT) / width, _BELOW / height, *share)) for number in range(count)
        ]


def figure(drawn: Figure, alt: str) -> None:
    """Put a finished figure on the page, here, in order with printed text, and close it.

    Args:
        drawn: the figure, as `plt.subplots` returns it.
        alt: one sentence for readers who cannot see it.
    """
    # As metadata, not as an argument of its own: Colab's IPython is older than that argument.
    display(Image(data=png(drawn), format="png", retina=True, metadata={"alt": alt}))
    plt.close(drawn)


def png(drawn: Figure) -> bytes:
    """The figure as the bytes of a PNG file."""
    drawn.set_dpi(_SHARP)
    canvas = FigureCanvasAgg(drawn)
    canvas.draw()
    pixels = Picture.frombuffer("RGBA", canvas.get_width_height(), canvas.buffer_rgba())
    buffer = io.BytesIO()
    pixels.convert("RGB").save(buffer, format="png", compress_level=1)  # flat areas are small at any level
    return buffer.getvalue()
