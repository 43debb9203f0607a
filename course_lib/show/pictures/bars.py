"""Numbers as bars: one for each word of a sentence, or several distributions over the same words, side by side."""

from collections.abc import Mapping, Sequence

from jaxtyping import Float
from matplotlib.axes import Axes
from torch import Tensor

from course_lib.show.figures import BLUE, GREY, INK, LETTER, ORANGE, axes_in, canvas, figure


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
        axes.set(title=title, yticks=[])
        axes.spines["left"].set_visible(False)
        axes.margins(y=0.18)
    figure(drawn, alt)


_PANEL, _ROW = 1.9, 0.29
"""In inches: the width of a distribution, and the height of a word."""


def distributions(
    words: Sequence[str],
    probabilities: Mapping[str, Float[Tensor, " tokens"]],
    *,
    alt: str,
    drawn: Mapping[str, Float[Tensor, " tokens"]] | None = None,
) -> None:
    """Show distributions over the same words as horizontal bars side by side, to the same scale.

    Args:
        words: the words, from top to bottom; they may be whole sentences.
        probabilities: each distribution's probabilities of the words, by its name. Words of probability 0 are gray.
        alt: one sentence for readers who cannot see the picture.
        drawn: for some distributions, how often each word was sampled, from 0 to 1; marked by dots.

    Raises:
        ValueError: a distribution does not have one number for each word, or a sample belongs to no distribution.
    """
    drawn = drawn or {}
    for name, values in (*probabilities.items(), *drawn.items()):
        if tuple(values.shape) != (len(words),):
            raise ValueError(
                f"{name}: {len(words)} words need values of shape [{len(words)}], not {list(values.shape)}"
            )
    if set(drawn) - set(probabilities):
        raise ValueError(f"no distribution is called {', '.join(sorted(set(drawn) - set(probabilities)))}")
    left = 0.25 + LETTER * max(map(len, words))
    reach = 1.35 * max(float(values.max()) for values in (*probabilities.values(), *drawn.values()))
    width, height = left + _PANEL * len(probabilities), _ROW * len(words) + 0.45
    with canvas(width, height) as picture:
        for panel, (name, values) in enumerate(probabilities.items()):
            axes = axes_in(picture, left + panel * _PANEL, 0.08, _PANEL - 0.15, height - 0.45)
            axes.set(xlim=(0, reach), ylim=(len(words) - 0.5, -0.5))
            _draw(axes, name, values, drawn.get(name))
            axes.set_yticks(range(len(words)), labels=words if panel == 0 else [])
    figure(picture, alt)


def _draw(axes: Axes, name: str, values: Tensor, frequencies: Tensor | None) -> None:
    lengths = values.detach().double().tolist()
    axes.set_title(name, loc="left", pad=6)
    axes.barh(range(len(lengths)), lengths, height=0.66, color=BLUE)
    if frequencies is not None:
        dots = [(frequency, row) for row, frequency in enumerate(frequencies.tolist()) if frequency or lengths[row]]
        axes.plot(*zip(*dots, strict=True), "o", color=ORANGE, ms=5, zorder=3)
    dotted = lengths if frequencies is None else frequencies.tolist()
    farthest = [max(pair) for pair in zip(lengths, dotted, strict=True)]
    for row, (length, edge) in enumerate(zip(lengths, farthest, strict=True)):
        text, colour = ("0", GREY) if length == 0 else (f"{length:.3f}", INK)
        axes.annotate(
            text, (edge, row), (4, 0), textcoords="offset points", va="center_baseline", fontsize=8.5, color=colour
        )
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.spines["bottom"].set_visible(False)
    axes.spines["left"].set_color(GREY)
