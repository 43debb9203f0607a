"""A decoding tree: what a model might write, word by word, with a probability at every branch."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from course_lib.show.figures import BLUE, GREEN, GREY, INK, LETTER, ORANGE, canvas, figure

Words = tuple[str, ...]
Branches = Mapping[Words, Mapping[str, float]]
Places = dict[Words, tuple[float, float]]

_END = "<e>"
_COLOURS = (ORANGE, BLUE, GREEN)
_COLUMN, _ROW = 1.22, 0.44
"""The inches from word to word, and from one sentence to the next."""
_APART = 0.05
"""The inches between paths that share a branch."""


def tree(
    branches: Branches,
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
    places = _placed(branches)
    leaves = sum(words[-1:] == (_END,) for words in places)
    deepest = max(map(len, places))
    longest = max(map(len, ends.values()), default=0)
    width = 0.35 + _COLUMN * deepest + 0.4 + LETTER * longest
    above = 0.4 if ways else 0.1
    height = _ROW * leaves + above + 0.1
    with canvas(width, height) as drawn:
        axes = drawn.add_axes((0, 0, 1, (height - above) / height))
        axes.set(xlim=(-0.35, width - 0.35), ylim=(_ROW * leaves, -0.1))
        axes.set_axis_off()
        _draw_ways(axes, places, ways)
        for words in places:
            _draw_word(axes, branches, places, words)
        for words, text in ends.items():
            if (*words, _END) in places:
                x, y = places[*words, _END]
                axes.text(x + 0.3, y, text, va="center", fontsize=9.5, color=INK, zorder=5)
        if ways:
            handles = [Line2D([], [], color=colour, linewidth=4) for colour, _name in zip(_COLOURS, ways, strict=False)]
            drawn.legend(handles, list(ways), loc="upper left", ncols=len(ways), borderaxespad=0.4)
    figure(drawn, alt)


def _following(branches: Branches, words: Words) -> Mapping[str, float | None]:
    """Return the words that may follow with their probabilities; none after <e>."""
    return {} if words[-1:] == (_END,) else branches.get(words) or {_END: None}


def _placed(branches: Branches) -> Places:
    """Return the place of each word: each leaf in its own row, others in the middle of those after them."""
    places: Places = {}
    rows = count()

    def place(words: Words) -> float:
        below = [place((*words, word)) for word in _following(branches, words)]
        y = (below[0] + below[-1]) / 2 if below else _ROW * (next(rows) + 0.5)
        places[words] = _COLUMN * len(words), y
        return y

    place(())
    return places


def _draw_word(axes: Axes, branches: Branches, places: Places, words: Words) -> None:
    """Draw a word, and the branches after it."""
    x, y = places[words]
    for word, probability in _following(branches, words).items():
        to_x, to_y = places[*words, word]
        axes.plot([x, to_x], [y, to_y], color=GREY, linewidth=1.1, zorder=2)
        if probability is not None:
            axes.text(
                x + 0.56 * (to_x - x),
                y + 0.56 * (to_y - y),
                f"{probability:g}",
                ha="center",
                va="center",
                fontsize=9,
                zorder=4,
                bbox={"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none"},
            )
    box = {"boxstyle": "round,pad=0.28", "facecolor": "#f1f4f8", "edgecolor": GREY, "linewidth": 0.8}
    word = words[-1] if words else "<s>"
    axes.text(x, y, word, ha="center", va="center", fontsize=10, color=INK, zorder=5, bbox=box)


def _draw_ways(axes: Axes, places: Places, ways: Mapping[str, Sequence[str]]) -> None:
    """Draw broad lines below the branches; paths that share a branch run side by side."""
    taken: Counter[Words] = Counter()
    for colour, (name, sentence) in zip(_COLOURS, ways.items(), strict=False):
        for number, word in enumerate(sentence):
            before, words = tuple(sentence[:number]), tuple(sentence[: number + 1])
            if words not in places:
                raise ValueError(f"{name}: {' '.join(sentence)!r} leaves the tree at {word!r}")
            is_shared = sum(tuple(other[: number + 1]) == words for other in ways.values()) > 1
            aside = _APART * (2 * taken[words] - is_shared)
            taken[words] += 1
            (x, y), (to_x, to_y) = places[before], places[words]
            axes.plot([x, to_x], [y + aside, to_y + aside], color=colour, linewidth=5, alpha=0.75, zorder=1)
