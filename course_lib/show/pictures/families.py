"""Families of tasks: inputs and outputs, drawn as boxes along a timeline."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from course_lib.show.figures import BLUE, GREY, INK, ORANGE, axes_in, canvas, figure

_COLUMN, _ROW, _GAP = 0.57, 0.6, 0.3
"""In inches: the width of a box with its space, the height of a row of boxes, and the gap between families."""
_BOX = (0.74, 0.5)
"""The width and height of a box, in fractions of its column and row."""
_QUIET = "#59636e"


@dataclass(frozen=True)
class Family:
    """A family of tasks, shown by one example.

    Attributes:
        title: two lines at most.
        inputs: the inputs, in order of time.
        outputs: the outputs. A single one comes after the last input; if there are as many as inputs, one comes with
            each.
        delay: whether the outputs begin only after the last input, however many they are.
        example: a task of this kind, in a few words.
    """

    title: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    example: str
    delay: bool = False

    @property
    def first_output(self) -> int:
        """The step of the first output, counted from 0."""
        if self.delay:
            return len(self.inputs)
        return len(self.inputs) - 1 if len(self.outputs) == 1 else 0

    @property
    def steps(self) -> int:
        """The number of steps from the first input to the last output."""
        return max(len(self.inputs), self.first_output + len(self.outputs))


def families(*drawn: Family, alt: str) -> None:
    """Show families of tasks side by side: inputs below, the model between, outputs above, time from left to right.

    Args:
        drawn: the families.
        alt: one sentence for readers who cannot see the picture.
    """
    widths = [_COLUMN * max(family.steps, 2.6) for family in drawn]
    size = (sum(widths) + _GAP * len(drawn), 3 * _ROW + 0.95)
    with canvas(*size) as picture:
        x = _GAP / 2
        for family, width in zip(drawn, widths, strict=True):
            axes = axes_in(picture, x, 0.36, width, 3 * _ROW)
            _draw(axes, family, width / _COLUMN)
            x += width + _GAP
    figure(picture, alt)


def _draw(axes: Axes, family: Family, columns: float) -> None:
    """Draw one family; a column is one unit wide, a row one unit high."""
    left = (columns - family.steps) / 2
    axes.set(xlim=(0, columns), ylim=(0, 3))
    axes.axis("off")
    axes.set_title(family.title, fontsize=9.5, pad=6)
    axes.text(columns / 2, -0.12, family.example, ha="center", va="top", fontsize=9, color=_QUIET, style="italic")
    middles = [left + step + 0.5 for step in range(family.steps)]
    for middle in middles:
        _box(axes, middle, 1.5, "", GREY, filled=True)
    for before, after in zip(middles, middles[1:], strict=False):
        _arrow(axes, (before + _BOX[0] / 2, 1.5), (after - _BOX[0] / 2, 1.5))
    for middle, text in zip(middles, family.inputs, strict=False):
        _box(axes, middle, 0.5, text, BLUE)
        _arrow(axes, (middle, 0.5 + _BOX[1] / 2), (middle, 1.5 - _BOX[1] / 2))
    for middle, text in zip(middles[family.first_output :], family.outputs, strict=False):
        _box(axes, middle, 2.5, text, ORANGE)
        _arrow(axes, (middle, 1.5 + _BOX[1] / 2), (middle, 2.5 - _BOX[1] / 2))


def _box(axes: Axes, x: float, y: float, text: str, colour: str, filled: bool = False) -> None:
    width, height = _BOX
    corner = (x - width / 2, y - height / 2)
    face = "#e4e4e7" if filled else "white"
    axes.add_patch(
        FancyBboxPatch(
            corner, width, height, boxstyle="round,pad=0.02", facecolor=face, edgecolor=colour, linewidth=1.3
        )
    )
    axes.text(x, y, text, ha="center", va="center", fontsize=8.5 if len(text) < 7 else 7, color=INK)


def _arrow(axes: Axes, begin: tuple[float, float], end: tuple[float, float]) -> None:
    axes.annotate(
        "", end, begin, arrowprops={"arrowstyle": "->", "color": GREY, "linewidth": 1.0, "shrinkA": 2, "shrinkB": 2}
    )
