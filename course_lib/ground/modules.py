"""Helpers for any model: find its blocks, and switch off dropout for a while."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


def blocks_of(model: nn.Module) -> list[nn.Module]:
    """Return a model's blocks: the modules in its lists, such as `GPT.blocks` or `Transformer.encoder`."""
    return [block for module in model.modules() if isinstance(module, nn.ModuleList) for block in module]


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Switch dropout off; at the end restore each module's own mode, since some may be frozen while others train."""
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True
