"""A formula as it was printed, wrong on purpose: lesson 09 has students find the slip."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def printed_probabilities(scores: Float[Tensor, "texts classes"]) -> Float[Tensor, "texts classes"]:
    """S1's exp(θ·f) with a normaliser that belongs to the wrong dimension: for each class the texts share 1."""
    return torch.softmax(scores, dim=0)
