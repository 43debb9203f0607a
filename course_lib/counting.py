"""How many numbers a model learns."""

from __future__ import annotations

from torch import nn


def count_parameters(model: nn.Module) -> int:
    """All of a model's parameters, those that are frozen included; what two layers share is counted once (S0, S3).

    So the smallest GPT-2 has 124,439,808: counted twice, its output layer, which is the embedding, would add
    38,597,376. Attention itself has none, its projections do (S1). Buffers, such as sinusoids, are not learned.
    """
    return sum(parameter.numel() for parameter in model.parameters())  # torch gives each of them once
