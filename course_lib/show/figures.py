"""How every figure of the course looks, and how it reaches the page.

A figure has a white background of its own, so that it reads the same on a light and on a dark page, and it
is drawn at twice the resolution, so that it is sharp on today's screens.
"""

from __future__ import annotations

import io
from typing import Any, Final

import matplotlib.pyplot as plt
from cycler import cycler
from IPython.display import Image, display
from matplotlib.figure import Figure

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
    "axes.labelsize": 10,
    "xtick.labelsize": 9.5,
    "ytick.labelsize": 9.5,
    "legend.fontsize": 9.5,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "axes.prop_cycle": cycler(color=[BLUE, ORANGE, GREEN, GREY]),
}
"""The course's matplotlib settings. The colours stay apart for colour-blind readers."""

_SHARP = 200
"""Dots per inch of the picture; the page shows it at half its size."""


def use_style() -> None:
    """Make the course's settings the default for every figure drawn after this."""
    plt.rcParams.update(STYLE)


def figure(drawn: Figure, alt: str) -> None:
    """Put a finished figure on the page, here, in order with printed text, and close it.

    Args:
        drawn: the figure, as `plt.subplots` returns it.
        alt: one sentence for readers who cannot see it.
    """
    display(Image(data=png(drawn), format="png", retina=True, alt=alt))
    plt.close(drawn)


def png(drawn: Figure) -> bytes:
    """The figure as the bytes of a PNG file."""
    buffer = io.BytesIO()
    drawn.savefig(buffer, format="png", dpi=_SHARP)
    return buffer.getvalue()
