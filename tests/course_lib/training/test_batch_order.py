"""The order of batches: pass after pass."""

from __future__ import annotations

import torch

from course_lib.text.batches import LengthBuckets, collate
from course_lib.training.batch_order import BatchOrder


def test_every_pass_has_each_example_once_and_its_own_order() -> None:
    ten = [(torch.tensor([5]), torch.tensor([1, 2]))] * 10
    batches = BatchOrder(LengthBuckets(ten, lambda pair: (1,), 2, collate), torch.Generator().manual_seed(0))
    passes = [[batches.next() for _ in range(5)] for _ in range(3)]
    assert all(sorted(i for batch in one for i in batch) == list(range(10)) for one in passes)
    assert passes[0] != passes[1] != passes[2]
