"""The order of batches: pass after pass, and the same from where it was left."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from course_lib.text.batches import TextBatch
from course_lib.training.batch_order import BatchOrder


class Pairs:
    """Ten examples, two in a batch, shuffled."""

    def plan(self, generator: torch.Generator) -> list[list[int]]:
        return torch.randperm(10, generator=generator).view(5, 2).tolist()

    def batch(self, indices: Sequence[int]) -> TextBatch:
        raise NotImplementedError


def order(seed: int = 0) -> BatchOrder:
    return BatchOrder(Pairs(), torch.Generator().manual_seed(seed))


def test_every_pass_has_each_example_once_and_its_own_order() -> None:
    batches = order()
    passes = [[batches.next() for _ in range(5)] for _ in range(3)]
    assert all(sorted(i for batch in one for i in batch) == list(range(10)) for one in passes)
    assert passes[0] != passes[1] != passes[2]
