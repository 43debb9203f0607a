"""What lesson 09 measures with."""

from __future__ import annotations

import torch
from torch.testing import assert_close

from course_lib.references.bert import few_labels, linear_probe


def test_few_labels_are_balanced_and_part_of_more() -> None:
    generator = torch.Generator().manual_seed(0)
    labels, order = torch.randint(3, (200,), generator=generator), torch.randperm(200, generator=generator)
    small, large = (few_labels(labels, order, count) for count in (12, 60))
    assert labels[small].bincount().tolist() == [4, 4, 4]
    assert set(small.tolist()) < set(large.tolist())
    assert large.tolist() == [position for position in order.tolist() if position in set(large.tolist())]


def test_a_probe_ends_where_the_loss_is_least_and_takes_no_offence_at_a_constant() -> None:
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    x[:, 2] = 7
    labels = (x[:, 0] > 0.3).long()
    scores = linear_probe(x, labels, x, 2, 0.5, 0.1, 2000)
    assert_close(scores, linear_probe(x, labels, x, 2, 0.5, 0.1, 1000))
    assert_close(scores.softmax(dim=1).mean(dim=0), labels.bincount().double() / 40)  # the bias does not decay
    assert (scores.argmax(dim=1) == labels).double().mean() > 0.9
