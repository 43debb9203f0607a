"""What was printed where somebody slipped: the computations that lessons 05 and 09 have a student find.

Each is wrong on purpose, and the lesson shows what is right beside it.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def printed_likelihood(p: Float[Tensor, "... words"]) -> Float[Tensor, "..."]:
    """The mean of -ln p of each text's words, as S1's slide adds it up: the last word but one twice, the last never.

    Args:
        p: the probabilities of the right words, two at least in a text.
    """
    return -torch.cat([p[..., :-1], p[..., -2:-1]], dim=-1).log().mean(dim=-1)


def printed_probabilities(scores: Float[Tensor, "texts classes"]) -> Float[Tensor, "texts classes"]:
    """S1's exp(θ·f) with a normaliser that belongs to the wrong dimension: for each class the texts share 1."""
    return torch.softmax(scores, dim=0)
