"""How many parameters a model has."""

from torch import nn


def count_parameters(model: nn.Module) -> int:
    """All of them, frozen ones included; what two layers share is counted once."""
    return sum(parameter.numel() for parameter in model.parameters())
