"""Words cut into pieces: as bricks, with a row for each way to cut, and as a tree, with a fork for each merged pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from course_lib.show.figures import BLUE, GREY, INK, LETTER, ORANGE, axes_in, canvas, figure

_CHARACTER, _ROW = 0.27, 0.46
"""In inches: the width of a character in a brick, and the height of a row."""
FACES = ("#c9dcf2", "#f6e3cd")
"""The colors of bricks, in turn."""


def piece_rows(rows: Sequence[tuple[str, Sequence[str]]], *, title: str, alt: str) -> None:
    """Show words cut into pieces: a row for each word, and a brick for each piece.

    Args:
        rows: a label and the pieces of each row.
        title: what the picture shows.
        alt: one sentence for readers who cannot see it.
    """
    figure(draw_piece_rows(rows, title), alt)


def draw_piece_rows(rows: Sequence[tuple[str, Sequence[str]]], title: str) -> Figure:
    """Draw the figure that `piece_rows` shows, as wide as its longest row and label."""
    left = LETTER * max(len(label) for label, _ in rows) + 0.25
    longest = max(sum(map(len, pieces)) for _, pieces in rows)
    count = max(len(str(len(pieces))) for _, pieces in rows)
    width = max(longest * _CHARACTER, LETTER * 1.25 * len(title))
    size = (left + width + LETTER * count + 0.35, _ROW * len(rows) + 0.5)
    with canvas(*size) as drawn:
        axes = axes_in(drawn, left, 0.08, width, _ROW * len(rows))
        axes.set(xlim=(0, width / _CHARACTER), ylim=(len(rows), 0))
        axes.axis("off")
        axes.set_title(title, loc="left", pad=7)
        for row, (label, pieces) in enumerate(rows):
            axes.text(-0.4, row + 0.5, label, ha="right", va="center", fontsize=9.5)
            x = 0
            for index, piece in enumerate(pieces):
                axes.add_patch(
                    FancyBboxPatch(
                        (x + 0.14, row + 0.17),
                        len(piece) - 0.28,
                        0.66,
                        boxstyle="round,pad=0.05",
                        facecolor=FACES[index % 2],
                        edgecolor="white",
                    )
                )
                for offset, character in enumerate(piece):
                    axes.text(x + offset + 0.5, row + 0.5, character, ha="center", va="center", fontsize=10, color=INK)
                x += len(piece)
            axes.text(x + 0.3, row + 0.5, str(len(pieces)), ha="left", va="center", fontsize=9, color=GREY)
    return drawn


@dataclass(frozen=True)
class _Node:
    """A piece in the tree: its position, the number of forks below it, and the pair that it was merged from."""

    text: str
    x: float
    height: int
    parts: tuple[_Node, _Node] | None = None
    number: int | None = None


def merge_tree(steps: Sequence[Sequence[str]], *, numbers: Sequence[int], title: str, alt: str) -> None:
    """Show how a word's pieces were merged: its characters below, every merged piece above its two parts.

    Args:
        steps: the pieces before the first merge and after each one; a step merges one pair wherever it occurs.
        numbers: for each merge, the number of its pair among all learned pairs.
        title: what the picture shows.
        alt: one sentence for readers who cannot see it.

    Raises:
        ValueError: there is not exactly one number for each merge, or a step does not follow from the one before.
    """
    if len(numbers) != len(steps) - 1:
        raise ValueError(f"{len(steps)} steps need {len(steps) - 1} numbers, not {len(numbers)}")
    roots = [_Node(character, index, 0) for index, character in enumerate(steps[0])]
    for pieces, number in zip(steps[1:], numbers, strict=True):
        roots = _joined(roots, pieces, number)
    tallest = max(root.height for root in roots)
    size = (max(0.62 * len(steps[0]), LETTER * 1.25 * len(title)) + 0.3, 0.55 * (tallest + 1) + 0.5)
    with canvas(*size) as drawn:
        axes = axes_in(drawn, 0.15, 0.05, size[0] - 0.3, size[1] - 0.45)
        axes.set(xlim=(-0.6, len(steps[0]) - 0.4), ylim=(-0.45, tallest + 0.45))
        axes.axis("off")
        axes.set_title(title, loc="left", pad=4)
        nodes = list(roots)
        while nodes:
            node = nodes.pop()
            for part in node.parts or ():
                axes.plot([node.x, part.x], [node.height, part.height], color=GREY, linewidth=1.2, zorder=1)
                nodes.append(part)
            colour = BLUE if node.parts is None else ORANGE
            box = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": colour, "linewidth": 1.2}
            axes.text(node.x, node.height, node.text, ha="center", va="center", fontsize=10, bbox=box, zorder=2)
            if node.number is not None:
                axes.annotate(
                    f"{node.number}.",
                    (node.x, node.height),
                    xytext=(4.2 * len(node.text) + 8, 6),
                    textcoords="offset points",
                    fontsize=8.5,
                    color="#b5651d",
                )
    figure(drawn, alt)


def _joined(nodes: Sequence[_Node], pieces: Sequence[str], number: int) -> list[_Node]:
    """Return the nodes after a merge that leaves these pieces."""
    left = list(nodes)
    found: list[_Node] = []
    for piece in pieces:
        if left and left[0].text == piece:
            found.append(left.pop(0))
            continue
        if len(left) < 2 or left[0].text + left[1].text != piece:
            raise ValueError(f"{list(pieces)} does not follow from {[node.text for node in nodes]} by merging one pair")
        first, second = left.pop(0), left.pop(0)
        middle, height = (first.x + second.x) / 2, max(first.height, second.height) + 1
        found.append(_Node(piece, middle, height, (first, second), number))
    if left:
        raise ValueError(f"{list(pieces)} lacks the end of {[node.text for node in nodes]}")
    return found
