"""Matrices as pictures: words on the axes, a number in every cell; a table of edits has a path through it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
import torch
from jaxtyping import Bool, Float, Int
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from course_lib.show.figures import BLUE, LETTER, ORANGE, axes_in, canvas, figure

WEIGHTS: Colormap = LinearSegmentedColormap.from_list("weights", ["#f1f4f8", "#c9dcf2", BLUE, "#1d3f72"])
_ALLOWED, _FORBIDDEN = "#c9dcf2", "#e4e4e7"
_NARROWEST, _CELL_HEIGHT = 0.44, 0.44
"""In inches."""
_EVEN = math.sqrt(1.05 * 0.05) - 0.05
"""The luminance on which white and black have equal contrast."""


@dataclass(frozen=True)
class Panel:
    """One matrix of a picture.

    Attributes:
        title: its name, such as "alpha".
        values: the matrix. Booleans are drawn as a mask, numbers in [0, 1] in shades of one color, other numbers in two
            colors around 0, and -inf in gray.
        rows: a label for each row.
        columns: a label for each column.
        texts: the texts to write in the cells instead of the numbers, row by row.
        decimals: digits after the point.
        reach: the number with the full color, to make the colors of several panels comparable; by default 1 for numbers
            in [0, 1], otherwise slightly above the largest.
    """

    title: str
    values: Float[Tensor, "rows columns"] | Bool[Tensor, "rows columns"]
    rows: Sequence[str]
    columns: Sequence[str]
    texts: Sequence[Sequence[str]] | None = None
    decimals: int = 2
    reach: float | None = None

    def __post_init__(self) -> None:
        if tuple(self.values.shape) != (len(self.rows), len(self.columns)):
            raise ValueError(
                f"{self.title}: a matrix of shape {list(self.values.shape)} has no place for "
                f"{len(self.rows)} row labels and {len(self.columns)} column labels"
            )


def matrices(*panels: Panel, alt: str, title: str = "") -> None:
    """Show matrices side by side.

    Args:
        panels: the matrices, left to right.
        alt: one sentence for readers who cannot see the picture.
        title: a line above all of them.
    """
    figure(draw_matrices(panels, title), alt)


def draw_matrices(panels: Sequence[Panel], title: str = "") -> Figure:
    """Draw the figure that `matrices` shows. Cells have the same size in all panels."""
    lefts = [LETTER * max(map(len, panel.rows)) + 0.22 for panel in panels]
    cells = [_cell_width(panel) for panel in panels]
    widths = [
        max(cell * len(panel.columns), LETTER * 1.15 * len(panel.title))
        for cell, panel in zip(cells, panels, strict=True)
    ]
    tallest = _CELL_HEIGHT * max(len(panel.rows) for panel in panels)
    tilted = any(max(map(len, panel.columns)) * LETTER > _cell_width(panel) for panel in panels)
    longest = max(len(label) for panel in panels for label in panel.columns)
    below = 0.32 + (LETTER * 0.6 * longest if tilted else 0)
    above = 0.75 if title else 0.4
    size = (max(sum(lefts) + sum(widths), lefts[0] + LETTER * 1.25 * len(title)) + 0.1, below + tallest + above)
    with canvas(*size) as drawn:
        x = 0.0
        for panel, left, cell, width in zip(panels, lefts, cells, widths, strict=True):
            x += left
            matrix = (cell * len(panel.columns), _CELL_HEIGHT * len(panel.rows))
            _draw(axes_in(drawn, x, below + tallest - matrix[1], *matrix), panel, tilted)
            x += width
        if title:
            drawn.suptitle(title, fontsize=12, x=lefts[0] / size[0], y=1 - 0.12 / size[1], ha="left", va="top")
    return drawn


def _cell_width(panel: Panel) -> float:
    """Return the width in inches at which the longest text fits."""
    return max(_NARROWEST, 0.2 + LETTER * 0.8 * max(len(text) for row in _texts(panel) for text in row))


def _draw(axes: Axes, panel: Panel, tilted: bool) -> None:
    colours = _colours(panel)
    axes.imshow(colours, aspect="auto")
    axes.set_title(panel.title, pad=7, loc="left")
    axes.set_xticks(range(len(panel.columns)), labels=panel.columns)
    axes.set_yticks(range(len(panel.rows)), labels=panel.rows)
    if tilted:
        axes.set_xticks(
            range(len(panel.columns)), labels=panel.columns, rotation=35, ha="right", rotation_mode="anchor"
        )
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xticks([column - 0.5 for column in range(1, len(panel.columns))], minor=True)
    axes.set_yticks([row - 0.5 for row in range(1, len(panel.rows))], minor=True)
    axes.grid(which="minor", color="white", linewidth=2)
    axes.tick_params(which="minor", length=0)
    for row, line in enumerate(_texts(panel)):
        for column, text in enumerate(line):
            colour = readable_on(colours[row][column])
            axes.text(column, row, text, ha="center", va="center", fontsize=9, color=colour)


def readable_on(background: tuple[float, float, float, float]) -> str:
    """Return white or black, whichever has more contrast: at least 4.5 on any color, as WCAG 2.2 requires for text."""
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in background[:3])
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "white" if luminance < _EVEN else "black"


def _colours(panel: Panel) -> list[list[tuple[float, float, float, float]]]:
    """Return a color for each cell."""
    values = panel.values
    if values.dtype == torch.bool:
        allowed, forbidden = mpl.colors.to_rgba(_ALLOWED), mpl.colors.to_rgba(_FORBIDDEN)
        return [[allowed if cell else forbidden for cell in row] for row in values.tolist()]
    cells = values.detach().double().tolist()
    finite = [cell for row in cells for cell in row if math.isfinite(cell)] or [0.0]
    if min(finite) >= 0 and max(finite) <= 1:
        palette, scale = WEIGHTS, Normalize(0, panel.reach or 1)
    else:
        reach = panel.reach or 1.3 * max(map(abs, finite))
        palette, scale = mpl.colormaps["RdBu"], Normalize(-reach, reach)
    grey = mpl.colors.to_rgba(_FORBIDDEN)
    return [[palette(scale(cell)) if math.isfinite(cell) else grey for cell in row] for row in cells]


def _texts(panel: Panel) -> Sequence[Sequence[str]]:
    if panel.texts is not None:
        return panel.texts
    return [[_number(cell, panel.decimals) for cell in row] for row in panel.values.tolist()]


def _number(cell: float | bool, decimals: int) -> str:
    """Return a cell's number as text; for a mask, a tick or nothing."""
    if isinstance(cell, bool):
        return "✓" if cell else ""
    if math.isinf(cell):
        return "−∞" if cell < 0 else "∞"
    if math.isnan(cell):
        return "nan"
    text = f"{cell:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


NOTHING = "–"
"""The label of the row and the column for no words."""


def edits(
    table: Int[Tensor, "rows columns"],
    way: Sequence[tuple[int, int]],
    hypothesis: Sequence[str],
    reference: Sequence[str],
    *,
    alt: str,
) -> None:
    """Show a table of edits: a row for each word of the hypothesis, a column for each of the reference.

    Args:
        table: the number of edits for each pair of beginnings, empty ones first.
        way: the cells to frame.
        hypothesis: the words of the rows.
        reference: the words of the columns.
        alt: one sentence for readers who cannot see the picture.

    Raises:
        ValueError: the table does not have one row and one column more than there are words.
    """
    panel = Panel(
        "edits: hypothesis ↓  reference →",
        table.double(),
        [NOTHING, *hypothesis],
        [NOTHING, *reference],
        decimals=0,
        reach=2.0 * max(float(table.max()), 1.0),
    )
    drawn = draw_matrices([panel])
    for row, column in way:
        frame = Rectangle(
            (column - 0.44, row - 0.44), 0.88, 0.88, fill=False, edgecolor=ORANGE, linewidth=2.4, zorder=3
        )
        drawn.axes[0].add_patch(frame)
    figure(drawn, alt)
