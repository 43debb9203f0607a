"""The order of batches: pass after pass, and the same from where it was left."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from course_lib.text.batches import TextBatch
from course_lib.training.batch_order import BatchOrder


class Pairs:
    """Ten examples, two in a batch, shuffled."""

    def plan(self, generator: torch.Generator) -> list[list[int]]:
        return torch.randperm(10, generator=generator).view(5, 2).tolist()

    def batch(self, indices: Sequence[int]) -> TextBatch:
        raise NotImplementedError


class Nothing(Pairs):
    def plan(self, generator: torch.Generator) -> list[list[int]]:
        return []


def order(seed: int = 0) -> BatchOrder:
    return BatchOrder(Pairs(), torch.Generator().manual_seed(seed))


def test_every_pass_has_each_example_once_and_its_own_order() -> None:
    batches = order()
    passes = [[batches.next() for _ in range(5)] for _ in range(3)]
    assert all(sorted(i for batch in one for i in batch) == list(range(10)) for one in passes)
    assert passes[0] != passes[1] != passes[2]


@pytest.mark.parametrize("taken", [0, 1, 4, 5, 6, 10, 13])
def test_it_goes_on_from_where_it_stood(taken: int) -> None:
    batches = order()
    for _ in range(taken):
        batches.next()
    again = BatchOrder.at(Pairs(), batches.state())
    assert again.state()["used"] == batches.state()["used"]
    assert [again.next() for _ in range(12)] == [batches.next() for _ in range(12)]


def test_its_state_tells_how_many_batches_the_pass_has() -> None:
    assert order().state()["batches"] == 5


def test_data_without_batches_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to train on: the data gives no batches"):
        BatchOrder(Nothing(), torch.Generator())
