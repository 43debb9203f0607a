"""What any model is asked: how many numbers it learns, what its blocks are, and to read without dropout for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


def count_parameters(model: nn.Module) -> int:
    """All of a model's parameters, frozen ones included; what two layers share is counted once (S0, S3).

    So the smallest GPT-2 has 124,439,808: counted twice, its output layer, which is the embedding, would add
    38,597,376. Attention itself has none, its projections do (S1). Buffers, such as sinusoids, are not learned.
    """
    return sum(parameter.numel() for parameter in model.parameters())  # torch gives each of them once


def blocks_of(model: nn.Module) -> list[nn.Module]:
    """A model's blocks: what it holds in lists, such as `GPT.blocks` or `Transformer.encoder`."""
    return [block for module in model.modules() if isinstance(module, nn.ModuleList) for block in module]


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Switch dropout off, and every module back to what it was at the end: some may be frozen while others train."""
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True
