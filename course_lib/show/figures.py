"""The style of the course's figures, and how they get onto the page.

A figure is drawn on white; a dark page inverts its lightness and keeps its colors, and without the page's styles it
stays as drawn. It has twice the resolution, so that it is sharp on today's screens, and it carries alternative text,
which a terminal shows instead. It is also drawn quickly, because a lesson has a dozen of them: the places of axes and
titles are known beforehand, so nothing has to be measured.
"""

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

STYLE: Final[Any] = {  # Any: the type of the settings differs between versions of matplotlib
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
"""The same, for figures that place their own axes."""

LETTER: Final = 0.085
"""The approximate width of a letter, in inches."""

_SHARP = 200
"""Dots per inch of the picture; the page shows it at half its size."""

_LEFT, _RIGHT, _BELOW, _ABOVE = 0.72, 0.16, 0.54, 0.36
"""The inches between a frame's axes and its edges: room for labels, ticks and a title."""


def use_style() -> None:
    """Make the course's settings the default for every figure drawn after this."""
    plt.rcParams.update(STYLE)


def frames(count: int = 1, *, width: float = 6.4, height: float = 3.6) -> tuple[Figure, list[Axes]]:
    """Return a figure with empty axes side by side, to draw into and show with `figure`.

    Args:
        count: the number of axes.
        width: the width of the figure, in inches.
        height: the height of the figure, in inches.

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
    """Yield a figure of this size in inches, to draw into within this block."""
    with plt.rc_context(LAID_OUT):
        yield Figure(figsize=(width, height))


def axes_in(drawn: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Add axes to a figure; their place and size are in inches."""
    across, up = drawn.get_size_inches()
    return drawn.add_axes((left / across, bottom / up, width / across, height / up))


def figure(drawn: Figure, alt: str) -> None:
    """Put a finished figure on the page at this place, in order with printed text, and close it.

    Args:
        drawn: the figure, as `plt.subplots` returns it.
        alt: one sentence for readers who cannot see it.
    """
    display(pictured(drawn, alt))
    plt.close(drawn)


@dataclass(frozen=True)
class Pictured:
    """A figure in the form in which it goes onto a page.

    Attributes:
        data: a PNG file.
        width: its width on the page, in pixels: half as many as it has.
        alt: one sentence for readers who cannot see it.
    """

    data: bytes
    width: int
    alt: str

    def html(self) -> str:
        """Return the picture with its alternative text, which JupyterLab and nbconvert drop from an `image/png`."""
        return (
            f'{style_sheet("figure")}<img class="katze-figure" alt="{escape(self.alt)}" width="{self.width}" '
            f'src="data:image/png;base64,{base64.b64encode(self.data).decode()}" style="max-width:100%;height:auto">'
        )

    def __repr__(self) -> str:
        return f"[picture: {self.alt}]"

    def _repr_mimebundle_(self, **_wanted: Any) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": repr(self)}


def pictured(drawn: Figure, alt: str) -> Pictured:
    """Return a finished figure for a page. The arguments are those of `figure`."""
    return Pictured(png(drawn), round(drawn.get_figwidth() * _SHARP / 2), alt)


def png(drawn: Figure) -> bytes:
    """Return the figure as the bytes of a PNG file."""
    drawn.set_dpi(_SHARP)
    canvas = FigureCanvasAgg(drawn)
    canvas.draw()
    pixels = Image.frombuffer("RGBA", canvas.get_width_height(), canvas.buffer_rgba())
    buffer = io.BytesIO()
    pixels.convert("RGB").save(buffer, format="png", compress_level=1)  # flat areas compress well at any level
    return buffer.getvalue()
