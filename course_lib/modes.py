"""Training and evaluation: reading with a model as it is, without dropout, and leaving it as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


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
