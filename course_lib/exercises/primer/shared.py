"""Helpers that several exercises of the primer use."""

import torch
from torch import Generator, Tensor

POSITIONS = torch.tensor(
    [[[0.0, 0.0], [3.0, 4.0], [3.0, 4.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 2.0], [1.0, 3.0], [1.0, 4.0]]]
)
"""Where the lesson's two cats are at four beats."""

BAGS = torch.tensor([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
"""The lesson's four sentences as bags of *cat*, *danced* and *slept*."""


def random_labels(generator: Generator, classes: int, examples: int) -> Tensor:
    """Random labels, each class at least once where there are examples enough."""
    drawn = torch.randint(classes, (examples,), generator=generator)
    some = min(classes, examples)
    drawn[:some] = torch.arange(some)
    return drawn
