"""A sentence being written word by word: what the model has read, where it looks, and what it expects next."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course_lib.show.figures import BLUE, GREY, INK, LETTER, ORANGE, axes_in, canvas, pictured
from course_lib.show.interactive import interactive
from course_lib.show.pictures.matrices import WEIGHTS, readable_on

_CELL, _BARS, _STEP, _ABOVE = 0.26, 2.3, 0.9, 0.4
"""In inches: the height of a source word, the width of the bars, the height of a step, and of the headings."""


@dataclass(frozen=True)
class Written:
    """A step: the model is about to write a word.

    Attributes:
        read: the words so far, <s> first.
        candidates: the most probable next words with their probabilities, best first; the first is written.
        alpha: the attention of the last word read to the source, a weight for each source word.
    """

    read: Sequence[str]
    candidates: Sequence[tuple[str, float]]
    alpha: Sequence[float]


def writing(source: Sequence[str], steps: Sequence[Written], *, alt: str) -> None:
    """Show a sentence being written, to step through or to play.

    Args:
        source: the words of the sentence to translate.
        steps: a step for each word.
        alt: one sentence for readers who cannot see the picture.

    Raises:
        ValueError: there are no steps, or a step does not have a weight for each source word.
    """
    if not steps:
        raise ValueError("there is nothing to show: no word has been written")
    for step in steps:
        if len(step.alpha) != len(source):
            raise ValueError(f"{len(source)} source words need as many weights, not {len(step.alpha)}")
    lines = (
        f"{' '.join(step.read)} → " + ", ".join(f"{word} {p:.2f}" for word, p in step.candidates) for step in steps
    )
    interactive(
        "writing",
        {"source": list(source), "steps": [asdict(step) for step in steps]},
        still=pictured(_drawn(source, steps), alt).html(),
        alt=alt,
        text="\n".join([alt, *lines]),
    )


def _drawn(source: Sequence[str], steps: Sequence[Written]) -> Figure:
    """Draw a row for each step."""
    said = LETTER * 1.2 * max(len(" ".join(step.read)) for step in steps) + 0.3
    looks = LETTER * sum(len(word) + 3 for word in source) + 0.2
    names = LETTER * max(len(word) for step in steps for word, _share in step.candidates) + 0.25
    width, height = said + looks + names + _BARS, _ABOVE + _STEP * len(steps)
    with canvas(width, height) as drawn:
        heads = ((0.1, "has read"), (said, "looks at"), (said + looks + names, "thinks next"))
        for x, text in heads:
            drawn.text(x / width, 1 - 0.14 / height, text, fontsize=11, va="top")
        for number, step in enumerate(steps):
            bottom = height - _ABOVE - (number + 1) * _STEP
            middle = bottom + _STEP / 2
            drawn.text(0.1 / width, middle / height, " ".join(step.read), va="center", fontsize=11)
            _draw_cells(axes_in(drawn, said, middle - _CELL / 2, looks - 0.25, _CELL), source, step.alpha)
            bars = axes_in(drawn, said + looks + names, bottom + 0.08, _BARS - 0.1, _STEP - 0.16)
            _draw_bars(bars, step.candidates)
    return drawn


def _draw_cells(axes: Axes, source: Sequence[str], alpha: Sequence[float]) -> None:
    """Draw the source on a line, each word in the shade of its weight."""
    axes.set(xlim=(0, sum(len(word) + 3 for word in source)), ylim=(0, 1))
    axes.set_axis_off()
    x = 0.0
    for word, weight in zip(source, alpha, strict=True):
        colour = WEIGHTS(weight)
        axes.add_patch(mpl.patches.Rectangle((x, 0), len(word) + 2.6, 1, color=colour, linewidth=0))
        middle = x + (len(word) + 2.6) / 2
        axes.text(middle, 0.5, word, ha="center", va="center", fontsize=10, color=readable_on(colour))
        axes.text(middle, -0.42, f"{weight:.2f}", ha="center", va="center", fontsize=8.5, color=INK)
        x += len(word) + 3


def _draw_bars(axes: Axes, candidates: Sequence[tuple[str, float]]) -> None:
    likely = [p for _word, p in candidates]
    colours = [ORANGE, *[BLUE] * (len(likely) - 1)]
    axes.barh(range(len(likely)), likely, height=0.7, color=colours)
    axes.set(xlim=(0, 1.25), ylim=(len(likely) - 0.5, -0.5), xticks=[])
    axes.set_yticks(range(len(likely)), labels=[word for word, _p in candidates])
    axes.tick_params(length=0)
    for row, p in enumerate(likely):
        axes.annotate(f"{p:.2f}", (p, row), (3, 0), textcoords="offset points", va="center", fontsize=8.5)
    axes.spines["bottom"].set_visible(False)
    axes.spines["left"].set_color(GREY)
