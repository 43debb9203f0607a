"""The style of the course's figures, and how they reach the page.

A figure is drawn on white; a dark page turns its lightness around and keeps its colors, and where the page's styles
are lost it stays as it was drawn. It is drawn at twice the resolution, so that it is sharp on today's screens, and it
reaches the page with its alternative text, which is also what a terminal shows. It is also drawn quickly, because a
lesson has a dozen of them: where its axes and titles stand is known beforehand, so nothing has to be measured.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import Any, Final

import matplotlib.pyplot as plt
from cycler import cycler
from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from course_lib.ground.style_sheet import style_sheet

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
"""The course's matplotlib settings. The colors stay apart for color-blind readers."""

LAID_OUT: Final[Any] = {**STYLE, "figure.constrained_layout.use": False}
"""The same, for figures that say for themselves where their axes stand."""

LETTER: Final = 0.085
"""Inches that a letter takes, roughly."""

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
    each = width / count
    size = each - _LEFT - _RIGHT, height - _BELOW - _ABOVE
    with canvas(width, height) as drawn:
        axes = [axes_in(drawn, number * each + _LEFT, _BELOW, *size) for number in range(count)]
    return drawn, axes


@contextmanager
def canvas(width: float, height: float) -> Iterator[Figure]:
    """A figure of this many inches, to be drawn into within this block."""
    with plt.rc_context(LAID_OUT):
        yield Figure(figsize=(width, height))


def axes_in(drawn: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """New axes in a figure; their place and size are in inches."""
    across, up = drawn.get_size_inches()
    return drawn.add_axes((left / across, bottom / up, width / across, height / up))


def figure(drawn: Figure, alt: str) -> None:
    """Put a finished figure on the page, here, in order with printed text, and close it.

    Args:
        drawn: the figure, as `plt.subplots` returns it.
        alt: one sentence for readers who cannot see it.
    """
    display(pictured(drawn, alt))
    plt.close(drawn)


@dataclass(frozen=True)
class Pictured:
    """A figure as it is put on a page.

    Attributes:
        data: a PNG file.
        width: how wide it is shown, in pixels of the page: half as many as it has.
        alt: one sentence for readers who cannot see it.
    """

    data: bytes
    width: int
    alt: str

    def html(self) -> str:
        """The picture with its alternative text. As `image/png`, JupyterLab and nbconvert would drop that."""
        return (
            f'{style_sheet("figure")}<img class="katze-figure" alt="{escape(self.alt)}" width="{self.width}" '
            f'src="data:image/png;base64,{base64.b64encode(self.data).decode()}" style="max-width:100%;height:auto">'
        )

    def __repr__(self) -> str:
        return f"[picture: {self.alt}]"

    def _repr_mimebundle_(self, **_wanted: Any) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": repr(self)}


def pictured(drawn: Figure, alt: str) -> Pictured:
    """A finished figure, to be put on a page. Arguments as for `figure`."""
    return Pictured(png(drawn), round(drawn.get_figwidth() * _SHARP / 2), alt)


def png(drawn: Figure) -> bytes:
    """The figure as the bytes of a PNG file."""
    drawn.set_dpi(_SHARP)
    canvas = FigureCanvasAgg(drawn)
    canvas.draw()
    pixels = Image.frombuffer("RGBA", canvas.get_width_height(), canvas.buffer_rgba())
    buffer = io.BytesIO()
    pixels.convert("RGB").save(buffer, format="png", compress_level=1)  # flat areas are small at any level
    return buffer.getvalue()
