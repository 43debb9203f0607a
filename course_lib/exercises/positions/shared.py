"""Helpers for several exercises of lesson 03 use."""

from collections.abc import Callable

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import slips
from course_lib.judging.exercise import Misconception

Device = torch.device | str | None


def random_order(generator: Generator, tokens: int) -> Tensor:
    """A random order of three tokens or more that is not its own inverse."""
    while True:
        order = torch.randperm(tokens, generator=generator)
        if not torch.equal(order[order], torch.arange(tokens)):
            return order


EXPONENT = "torch.arange(0, d_model, 2, dtype=torch.float64, device=device) / d_model"
"""The exponents in the right answers that mistakes are edits of; their angles are something `/ 10_000**exponent`."""


def wrong_exponents(right: Callable[..., Tensor]) -> tuple[Misconception, ...]:
    """An exponent half or twice as large."""
    return slips(
        right,
        two_forgotten=(
            "Your exponent is i / d_model, where i counts the pairs. The 2 is missing, so the clocks slow down too "
            "little from pair to pair. Use 2i / d_model.",
            (EXPONENT, f"{EXPONENT} / 2"),
        ),
        two_counted_twice=(
            "Your exponent is twice as large as it should be. If your i counts in steps of two, it is already the "
            "paper's 2i: use i / d_model.",
            (EXPONENT, f"2 * {EXPONENT}"),
        ),
    )


def wrong_speeds(right: Callable[..., Tensor]) -> tuple[Misconception, ...]:
    """Clocks of other speeds: their range, order, base or unit."""
    return slips(
        right,
        one_frequency_less=(
            "Your exponents run from 0 to 1, as in the authors' own program. In the paper's formula they stop before "
            "1: 2i / d_model for i < d_model / 2.",
            (EXPONENT, "torch.linspace(0, 1, d_model // 2, dtype=torch.float64, device=device)"),
        ),
        slowest_first=(
            "Your clocks are in reverse order, slowest first. Pair i = 0 is the fastest: its exponent is 0.",
            (EXPONENT, f"({EXPONENT}).flip(0)"),
        ),
        base_1000=("Your base is 1000. Use 10000, with four zeros.", ("10_000", "1_000")),
        degrees=(
            "Your answer treats the angle as degrees. Keep it in radians, as torch.sin expects.",
            ("10_000**exponent", "10_000**exponent * torch.pi / 180"),
        ),
    )
