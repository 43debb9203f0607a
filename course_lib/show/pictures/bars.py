"""One bar for each word of a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from course_lib.show.figures import BLUE, ORANGE, axes_in, canvas, figure


def bars(
    words: Sequence[str], values: Float[Tensor, " tokens"], *, title: str, alt: str, highlight: int | None = None
) -> None:
    """Show a number for each word, in the order of the sentence.

    Args:
        words: the sentence.
        values: a number for each word.
        title: what the numbers are.
        alt: one sentence for readers who cannot see the picture.
        highlight: the word that the picture is about, drawn in another color.

    Raises:
        ValueError: there is not exactly one value for each word.
    """
    if tuple(values.shape) != (len(words),):
        raise ValueError(f"{len(words)} words need values of shape [{len(words)}], not {list(values.shape)}")
    heights = values.detach().double().tolist()
    width, height = 0.95 * len(words) + 0.8, 2.6
    with canvas(width, height) as drawn:
        axes = axes_in(drawn, 0.1, 0.34, width - 0.2, height - 0.7)
        colours = [ORANGE if index == highlight else BLUE for index in range(len(words))]
        drawn_bars = axes.bar(range(len(words)), heights, width=0.66, color=colours)
        axes.bar_label(drawn_bars, [f"{height:.2f}" for height in heights], padding=2, fontsize=9.5)
        axes.set_xticks(range(len(words)), labels=words)
        axes.tick_params(length=0)
        axes.set_title(title)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.margins(y=0.18)
    figure(drawn, alt)
