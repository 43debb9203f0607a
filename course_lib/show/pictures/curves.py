"""Curves: the loss of a training run, and layers compared over the length of a sentence."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from course_lib.show.figures import BLUE, GREY, INK, ORANGE, figure, frames

_SHARE = 50
"""The curve is smoothed over one Nth of the training steps, where N is this number."""


def loss_curve(
    losses: Sequence[float],
    validations: Mapping[int, float] | None = None,
    *,
    title: str = "loss in nats",
    floor: float | None = None,
) -> None:
    """Show the loss of every step, smoothed and, in gray, unsmoothed; and the validation loss, if given.

    The result of a training run holds both: `show.loss_curve(result.losses, result.validations)`.

    Args:
        losses: the losses of steps 1, 2, ...
        validations: the loss on data that is not trained on, by step.
        title: what the numbers are.
        floor: the lowest possible loss, if that is not 0; drawn as a labeled line.

    Raises:
        ValueError: there are no losses.
    """
    if not losses:
        raise ValueError("there is no loss to draw: the training has taken no step")
    drawn = Figure(figsize=(6.4, 3.0), layout="constrained")
    axes = drawn.subplots()
    alt = f"The loss of {len(losses)} steps: {losses[0]:.3g} at the first, {losses[-1]:.3g} at the last."
    steps = range(1, len(losses) + 1)
    axes.plot(steps, losses, color=GREY, alpha=0.35, linewidth=0.8)
    axes.plot(steps, smoothed(losses, max(1, len(losses) // _SHARE)), color=BLUE, label="training")
    if validations:
        axes.plot(list(validations), list(validations.values()), color=ORANGE, marker="o", ms=3.5, label="validation")
        axes.legend()
    if floor is not None:
        alt += f" A dotted line at {floor:.3g} is the lowest possible."
        axes.axhline(floor, color=INK, linestyle=":", linewidth=1)
        axes.annotate(
            f"lowest possible: {floor:.2f}",
            (0.99, floor),
            xytext=(0, -3),
            xycoords=axes.get_yaxis_transform(),
            textcoords="offset points",
            ha="right",
            va="top",
        )
    axes.set(xlabel="step", title=title, ylim=(0, None))
    figure(drawn, alt)


def smoothed(values: Sequence[float], width: int) -> list[float]:
    """Return at each position the mean of the last `width` values, or of all values so far if there are fewer."""
    means, total = [], 0.0
    for i, value in enumerate(values):
        total += value - (values[i - width] if i >= width else 0.0)
        means.append(total / min(i + 1, width))
    return means


def race(
    lengths: Sequence[int],
    steps: Mapping[str, Sequence[int]],
    milliseconds: Mapping[str, Sequence[float]],
    *,
    machine: str,
    alt: str,
) -> None:
    """Show steps and time side by side, with a line for each layer.

    Args:
        lengths: the numbers of words in the sentences.
        steps: the number of sequential steps of each layer at each length, by the layer's name.
        milliseconds: the time that each took, by the same names.
        machine: the machine on which it was measured, for the title.
        alt: one sentence for readers who cannot see the picture.

    Raises:
        ValueError: steps and times are for different layers, or there is not one number for each length.
    """
    if steps.keys() != milliseconds.keys():
        raise ValueError(f"steps are for {', '.join(steps)}, but times for {', '.join(milliseconds)}")
    drawn, (left, right) = frames(2, width=9.5, height=3.5)
    for axes, numbers in ((left, steps), (right, milliseconds)):
        for name, line in numbers.items():
            if len(line) != len(lengths):
                raise ValueError(f"{name} has {len(line)} numbers for {len(lengths)} lengths")
            axes.loglog(lengths, line, "o-", label=name)
        axes.set_xticks(lengths[::2], labels=[str(length) for length in lengths[::2]])
        axes.yaxis.set_major_formatter("{x:g}")
        axes.minorticks_off()
        axes.set_xlabel("words in the sentence")
    left.set(ylabel="steps", title="Steps that must wait for each other")
    right.set(ylabel="milliseconds", title=f"Time, measured on this machine ({machine})")
    left.legend()
    figure(drawn, alt)
