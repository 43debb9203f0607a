"""Matrices as pictures: words on the axes, a number in every cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
import matplotlib.pyplot as plt
import torch
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from torch import Tensor

from course_lib.show.figures import BLUE, INK, STYLE, figure

_WEIGHTS = LinearSegmentedColormap.from_list("weights", ["#ffffff", "#c9dcf2", BLUE, "#1d3f72"])
_ALLOWED, _FORBIDDEN = "#c9dcf2", "#e4e4e7"
_CELL = 0.62
"""Inches for each cell of a matrix, before its labels."""


@dataclass(frozen=True)
class Panel:
    """One matrix of a picture.

    Attributes:
        title: its name, such as "alpha".
        values: the matrix. Booleans are drawn as a mask; numbers in [0, 1] in shades of one colour, others
            in two colours around 0; -inf in grey.
        rows: a label for each row.
        columns: a label for each column.
        texts: what to write in the cells instead of the numbers, row by row.
        decimals: digits after the point.
    """

    title: str
    values: Float[Tensor, "rows columns"] | Bool[Tensor, "rows columns"]
    rows: Sequence[str]
    columns: Sequence[str]
    texts: Sequence[Sequence[str]] | None = None
    decimals: int = 2

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
    """The figure that `matrices` shows."""
    columns = [max(len(panel.columns), 2) + 1.4 for panel in panels]
    rows = max(len(panel.rows) for panel in panels)
    with plt.rc_context(STYLE):
        drawn = Figure(figsize=(_CELL * sum(columns), _CELL * rows + (1.25 if title else 0.95)))
        grid = drawn.subplots(1, len(panels), squeeze=False, gridspec_kw={"width_ratios": columns})
        for axes, panel in zip(grid[0], panels, strict=True):
            _draw(axes, panel)
        if title:
            drawn.suptitle(title, fontsize=12)
    return drawn


def _draw(axes: Axes, panel: Panel) -> None:
    colours = _colours(panel.values)
    axes.imshow(colours, aspect="equal")
    axes.set_title(panel.title, pad=8)
    axes.set_xticks(range(len(panel.columns)), labels=panel.columns)
    axes.set_yticks(range(len(panel.rows)), labels=panel.rows)
    if max(map(len, panel.columns)) > 6:
        axes.tick_params(axis="x", labelrotation=35)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xticks([column - 0.5 for column in range(1, len(panel.columns))], minor=True)
    axes.set_yticks([row - 0.5 for row in range(1, len(panel.rows))], minor=True)
    axes.grid(which="minor", color="white", linewidth=2)
    axes.tick_params(which="minor", length=0)
    for row, line in enumerate(_texts(panel)):
        for column, text in enumerate(line):
            red, green, blue = colours[row][column][:3]
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.55
            axes.text(column, row, text, ha="center", va="center", fontsize=9, color="white" if dark else INK)


def _colours(values: Tensor) -> list[list[tuple[float, float, float, float]]]:
    """A colour for each cell."""
    if values.dtype == torch.bool:
        allowed, forbidden = mpl.colors.to_rgba(_ALLOWED), mpl.colors.to_rgba(_FORBIDDEN)
        return [[allowed if cell else forbidden for cell in row] for row in values.tolist()]
    cells = values.detach().double().tolist()
    finite = [cell for row in cells for cell in row if math.isfinite(cell)] or [0.0]
    if min(finite) >= 0 and max(finite) <= 1:
        palette, scale = _WEIGHTS, Normalize(0, 1)
    else:
        reach = max(map(abs, finite)) * 1.3
        palette, scale = mpl.colormaps["RdBu"], Normalize(-reach, reach)
    grey = mpl.colors.to_rgba(_FORBIDDEN)
    return [[palette(scale(cell)) if math.isfinite(cell) else grey for cell in row] for row in cells]


def _texts(panel: Panel) -> Sequence[Sequence[str]]:
    if panel.texts is not None:
        return panel.texts
    return [[_number(cell, panel.decimals) for cell in row] for row in panel.values.tolist()]


def _number(cell: float | bool, decimals: int) -> str:
    """A cell's number as it is written in the picture; a tick or nothing for a mask."""
    if isinstance(cell, bool):
        return "✓" if cell else ""
    if math.isinf(cell):
        return "−∞" if cell < 0 else "∞"
    if math.isnan(cell):
        return "nan"
    return f"{cell:.{decimals}f}".replace("-", "−")
