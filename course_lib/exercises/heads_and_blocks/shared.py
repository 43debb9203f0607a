"""Helpers that several exercises of lesson 04 use."""

import math
from collections.abc import Callable

import torch
from torch import Generator, Tensor, nn

from course_lib.exercises.worked_examples import B
from course_lib.judging.exercise import Misconception, Value
from course_lib.judging.observation import fresh

FOUR_NUMBERS_A_WORD = torch.cat([B.q, B.q.roll(1, dims=0)], dim=1)
"""The tokens of worked example B, [4, 4]: each with its own two numbers and those of the token before it."""


Function = Callable[[Tensor], Tensor]


ORDERS = ((False, "post-norm"), (True, "pre-norm"))
"""`norm_first`, and what it is called. The core is post-norm, and comes first: a hint says to write it first."""


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
