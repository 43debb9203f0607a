"""Helpers for several exercises of lesson 04 use."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Generator, Tensor, nn

from course_lib.exercises.worked_examples import B
from course_lib.judging.exercise import Misconception, Value
from course_lib.judging.observation import fresh

FOUR_NUMBERS_A_WORD = torch.cat([B.q, B.q.roll(1, dims=0)], dim=1)
"""The tokens of worked example B, [4, 4]: each with its own two numbers and those of the token before it."""


Sources = Callable[[Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]
Three = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]


Cut = Callable[[Tensor, int], Tensor]
"""Cuts [batch, tokens, d_model] into [batch, tokens, heads, d_head]."""


Function = Callable[[Tensor], Tensor]


ORDERS = ((False, "post-norm"), (True, "pre-norm"))
"""`norm_first`, and what it is called. The core is post-norm, and comes first: a hint says to write it first."""


def misplaced_dropouts(dropping: Callable[[str], Callable[..., Tensor | nn.Module]]) -> tuple[Misconception, ...]:
    """Dropout on the sum, on what is returned, and on what a sublayer reads, from the answer for such a position."""
    return (
        Misconception(
            "sum_dropped",
            "Your answer applies dropout to the sum, so it also drops numbers of x. Apply it only to the sublayer's "
            "output: x + dropout(sublayer(...)).",
            dropping("sum"),
        ),
        Misconception(
            "dropped_after_the_norm",
            "Your answer applies dropout last. Apply it to the sublayer's output, before the sum: x + "
            "dropout(sublayer(...)).",
            dropping("end"),
        ),
        Misconception(
            "input_dropped",
            "Your answer applies dropout to the sublayer's input. Apply it to its output: dropout(sublayer(...)).",
            dropping("read"),
        ),
    )


def gradients_cut(answer: Callable[..., Tensor | nn.Module], learned: str) -> Misconception:
    return Misconception(
        "gradients_cut",
        f"Your values are right, but no gradient reaches {learned}. Look for .detach(), .data, numpy or no_grad.",
        answer,
        alone=True,
    )


def drawn_weights(
    module: type[nn.Module], generator: Generator, dtype: torch.dtype = torch.float32, **construct: Value
) -> dict[str, Tensor]:
    """A random state dict for a module built so; small enough for its activations to be of size 1."""
    built = module(**{name: fresh(value) for name, value in construct.items()})
    return {
        name: torch.randn(value.shape, generator=generator, dtype=dtype)
        / math.sqrt(value.shape[-1] if value.ndim > 1 else 1)
        for name, value in built.state_dict().items()
    }
