"""A training run's parts, beside the library that does the same at full size."""

from __future__ import annotations

import pytest
import torch
from torch.testing import assert_close

from course_lib.references.die_katze import (
    accumulated_loss,
    batches_by_tokens,
    bootstrap_interval,
    choose_checkpoint,
    plan_run,
    sort_error,
    trapezoid_schedule,
)
from course_lib.training.schedules import linear_schedule


def test_the_plan_of_the_paper() -> None:
    # Vaswani et al. (2017), section 5.1 and 5.2: 25,000 tokens of each language on 8 GPUs together, 100,000 steps.
    of_a_step, steps, warmup = plan_run(125_000_000, 3125, 1, 8, 20, 0.04)
    assert (of_a_step, steps, warmup) == (25_000, 100_000, 4000)


def test_batches_hold_each_pair_once_and_no_more_than_fits() -> None:
    lengths = [(9, 4), (3, 3), (3, 5), (8, 8), (3, 3), (1, 2)]
    batches = batches_by_tokens(lengths, 24)
    assert sorted(i for batch in batches for i in batch) == list(range(6))
    assert batches == [[5, 1, 4], [2], [3], [0]]
    assert batches_by_tokens([(30, 30), (1, 1)], 10) == [[1], [0]]
    assert batches_by_tokens([], 10) == []


def test_a_trapezoid_without_a_flat_part_is_the_librarys_straight_lines() -> None:
    steps = torch.arange(1, 101)
    rates = trapezoid_schedule(steps, 100, 20, 81, 3e-3)
    assert_close(rates, torch.tensor([linear_schedule(3e-3, 20, 100)(step) for step in steps.tolist()]))
    flat = trapezoid_schedule(steps, 100, 10, 30, 1.0)
    assert (flat == 1).sum() == 62
    assert flat[-1] == pytest.approx(1 / 30)


def test_accumulated_batches_are_one_large_batch() -> None:
    losses = torch.rand(7, generator=torch.Generator().manual_seed(1), requires_grad=True)
    parts = losses.split([1, 4, 0, 2])
    means = torch.stack([part.mean() for part in parts])
    found = accumulated_loss(means, torch.tensor([1, 4, 0, 2]))
    assert_close(found, losses.mean())
    (gradient,) = torch.autograd.grad(found, losses)
    assert_close(gradient, torch.full((7,), 1 / 7))


def test_the_best_checkpoint_is_the_first_of_the_smallest_until_patience_ends() -> None:
    assert choose_checkpoint([3.0, 2.0, 2.0, 2.5, 1.0], 2) == (1, 4)
    assert choose_checkpoint([3.0, 2.0, 2.1, 1.5], 2) == (3, 4)
    assert choose_checkpoint([1.0], 5) == (0, 1)


def test_the_interval_holds_the_middle_of_the_samples() -> None:
    counts = torch.tensor([[1, 2], [2, 2], [0, 2]])
    drawn = torch.tensor([[0, 0, 0], [1, 1, 1], [2, 2, 2], [0, 1, 2]])
    low, high = bootstrap_interval(counts, drawn, lambda sums: (sums[0] / sums[1]).item())
    assert (low, high) == pytest.approx((0.0375, 0.9625))


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("eine Katze tanzt auf einem Tisch", "right"),
        ("auf einem Tisch tanzt eine Katze", "order"),
        ("eine Katze tanzt auf einen Tisch", "form"),
        ("eine Katze tanzt tanzt auf einem Tisch", "repeated"),
        ("eine Katze tanzt", "short"),
        ("eine Katze schläft auf einem Tisch", "word"),
    ],
)
def test_errors_are_sorted(said: str, kind: str) -> None:
    assert sort_error(said.split(), "eine Katze tanzt auf einem Tisch".split()) == kind
