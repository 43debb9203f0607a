"""What was printed where somebody slipped, which lesson 09 has a student find: wrong on purpose."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def printed_probabilities(scores: Float[Tensor, "texts classes"]) -> Float[Tensor, "texts classes"]:
    """S1's exp(θ·f) with a normaliser that belongs to the wrong dimension: for each class the texts share 1."""
    return torch.softmax(scores, dim=0)
