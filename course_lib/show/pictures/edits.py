"""A table of edits, with the path through it that turns one sentence into the other."""

from __future__ import annotations

from collections.abc import Sequence

from jaxtyping import Int
from matplotlib.patches import Rectangle
from torch import Tensor

from course_lib.show.figures import ORANGE, figure
from course_lib.show.pictures.matrices import Panel, draw_matrices

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
