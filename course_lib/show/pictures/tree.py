"""A decoding tree: what a model might write, word by word, with a probability at every branch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from course_lib.show.figures import BLUE, GREEN, GREY, INK, LETTER, ORANGE, canvas, figure

Words = tuple[str, ...]

_END = "<e>"
_COLOURS = (ORANGE, BLUE, GREEN)
_COLUMN, _ROW = 1.22, 0.44
"""The inches from word to word, and from one sentence to the next."""
_APART = 0.05
"""The inches between paths that share a branch."""


def tree(
    branches: Mapping[Words, Mapping[str, float]],
    *,
    alt: str,
    ways: Mapping[str, Sequence[str]] | None = None,
    ends: Mapping[Words, str] | None = None,
) -> None:
    """Show a tree of sentences from left to right, with some paths through it in color.

    Args:
        branches: maps the words so far, without <s>, to the probabilities of those that may follow. If there is no
            entry, <e> follows and ends the sentence.
        alt: one sentence for readers who cannot see the picture.
        ways: up to three sentences, or their beginnings, by their names in the legend.
        ends: texts to write after some sentences (without <e>), such as their probability.

    Raises:
        ValueError: there are more ways than colors, or a way leaves the tree.
    """
    ways, ends = ways or {}, ends or {}
    if len(ways) > len(_COLOURS):
        raise ValueError(f"a tree can show {len(_COLOURS)} ways, not {len(ways)}")
    root = _grown(branches, (), None)
    leaves = _place(root, 0)
    deepest = max(node.depth for node in _all(root))
    longest = max(map(len, ends.values()), default=0)
    width = 0.35 + _COLUMN * deepest + 0.4 + LETTER * longest
    above = 0.4 if ways else 0.1
    height = _ROW * leaves + above + 0.1
    with canvas(width, height) as drawn:
        axes = drawn.add_axes((0, 0, 1, (height - above) / height))
        axes.set(xlim=(-0.35, width - 0.35), ylim=(_ROW * leaves, -0.1))
        axes.set_axis_off()
        _draw_ways(axes, root, ways)
        for node in _all(root):
            _draw_node(axes, node, ends)
        if ways:
            handles = [Line2D([], [], color=colour, linewidth=4) for colour, _name in zip(_COLOURS, ways, strict=False)]
            drawn.legend(handles, list(ways), loc="upper left", ncols=len(ways), borderaxespad=0.4)
    figure(drawn, alt)


@dataclass
class _Node:
    """A word at its position."""

    words: Words
    depth: int
    probability: float | None
    children: list[_Node] = field(default_factory=list)
    row: float = 0.0


def _grown(branches: Mapping[Words, Mapping[str, float]], words: Words, probability: float | None) -> _Node:
    node = _Node(words, len(words), probability)
    if not words or words[-1] != _END:
        following: Mapping[str, float | None] = branches.get(words) or {_END: None}
        node.children = [_grown(branches, (*words, word), p) for word, p in following.items()]
    return node


def _place(node: _Node, row: int) -> int:
    """Place each leaf in its own row, and other words in the middle of those after them; return the next free row."""
    if not node.children:
        node.row = row
        return row + 1
    for child in node.children:
        row = _place(child, row)
    node.row = (node.children[0].row + node.children[-1].row) / 2
    return row


def _all(node: _Node) -> list[_Node]:
    return [node, *(below for child in node.children for below in _all(child))]


def _at(node: _Node) -> tuple[float, float]:
    return _COLUMN * node.depth, _ROW * (node.row + 0.5)


def _draw_node(axes: Axes, node: _Node, ends: Mapping[Words, str]) -> None:
    x, y = _at(node)
    for child in node.children:
        to_x, to_y = _at(child)
        axes.plot([x, to_x], [y, to_y], color=GREY, linewidth=1.1, zorder=2)
        if child.probability is not None:
            axes.text(
                x + 0.56 * (to_x - x),
                y + 0.56 * (to_y - y),
                f"{child.probability:g}",
                ha="center",
                va="center",
                fontsize=9,
                zorder=4,
                bbox={"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none"},
            )
    box = {"boxstyle": "round,pad=0.28", "facecolor": "#f1f4f8", "edgecolor": GREY, "linewidth": 0.8}
    word = node.words[-1] if node.words else "<s>"
    axes.text(x, y, word, ha="center", va="center", fontsize=10, color=INK, zorder=5, bbox=box)
    if node.words and node.words[-1] == _END:
        axes.text(x + 0.3, y, ends.get(node.words[:-1], ""), va="center", fontsize=9.5, color=INK, zorder=5)


def _draw_ways(axes: Axes, root: _Node, ways: Mapping[str, Sequence[str]]) -> None:
    """Draw broad lines below the branches; paths that share a branch run side by side."""
    taken: dict[Words, int] = {}
    for colour, (name, sentence) in zip(_COLOURS, ways.items(), strict=False):
        node = root
        for word in sentence:
            following = next((child for child in node.children if child.words[-1] == word), None)
            if following is None:
                raise ValueError(f"{name}: {' '.join(sentence)!r} leaves the tree at {word!r}")
            aside = _APART * (taken.get(following.words, 0) * 2 - (1 if _shared(following.words, ways) else 0))
            taken[following.words] = taken.get(following.words, 0) + 1
            (x, y), (to_x, to_y) = _at(node), _at(following)
            axes.plot([x, to_x], [y + aside, to_y + aside], color=colour, linewidth=5, alpha=0.75, zorder=1)
            node = following


def _shared(words: Words, ways: Mapping[str, Sequence[str]]) -> bool:
    return sum(tuple(sentence[: len(words)]) == words for sentence in ways.values()) > 1
