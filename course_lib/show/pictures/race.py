"""Layers compared over the length of a sentence, by sequential steps and by time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from course_lib.show.figures import figure, frames


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
