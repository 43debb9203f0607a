"""What several exercises of lesson 03 use."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib.checking.exercise import Misconception

LESSON = "03_positions"


WITHHELD = ("course_lib.positions",)


def random_order(generator: Generator, tokens: int) -> Tensor:
    """A random order of three tokens or more that is not its own inverse."""
    while True:
        order = torch.randperm(tokens, generator=generator)
        if not torch.equal(order[order], torch.arange(tokens)):
            return order


def places_of(order: Tensor) -> Tensor:
    return torch.arange(len(order))


def clock(position: float | Tensor, exponent: Tensor) -> Tensor:
    """How far a clock turns, in radians."""
    return position / 10_000**exponent


def _from_0_to_1(exponent: Tensor) -> Tensor:
    return exponent * len(exponent) / max(len(exponent) - 1, 1)


def wrong_exponents(answer: Callable[..., Tensor]) -> tuple[Misconception, ...]:
    """An exponent half or twice as large; `answer` takes `angle` instead of `clock`."""
    return (
        Misconception(
            "two_forgotten",
            "Your exponent is i / d_model, with i counting the pairs: the 2 is missing, and the clocks slow down too "
            "little from pair to pair. The paper's exponent is 2i / d_model.",
            partial(answer, angle=lambda position, exponent: clock(position, exponent / 2)),
        ),
        Misconception(
            "two_counted_twice",
            "Your exponent is twice as large as it should be. If your i counts in steps of two, it is already the "
            "paper's 2i: the exponent is then i / d_model.",
            partial(answer, angle=lambda position, exponent: clock(position, 2 * exponent)),
        ),
    )


def wrong_speeds(answer: Callable[..., Tensor]) -> tuple[Misconception, ...]:
    """Clocks of other speeds: their range, order, base or unit; `answer` takes `angle` instead of `clock`."""
    return (
        Misconception(
            "one_frequency_less",
            "Your exponents run from 0 to 1, so that the slowest clock is 10000 times as slow as the first, as in the "
            "authors' own program. By the paper's formula they stop before 1: 2i / d_model for i < d_model / 2.",
            partial(answer, angle=lambda position, exponent: clock(position, _from_0_to_1(exponent))),
        ),
        Misconception(
            "slowest_first",
            "Your clocks are in reverse order, the slowest first. Pair i = 0 is the fastest: its exponent is 0.",
            partial(answer, angle=lambda position, exponent: clock(position, exponent.flip(0))),
        ),
        Misconception(
            "base_1000",
            "Your base is 1000. The paper's is 10000, with four zeros.",
            partial(answer, angle=lambda position, exponent: position / 1_000**exponent),
        ),
        Misconception(
            "degrees",
            "Your answer treats the angle as degrees. It is in radians, which is what torch.sin expects.",
            partial(answer, angle=lambda position, exponent: clock(position, exponent).deg2rad()),
        ),
    )
