"""Lesson 03's exercises: predictions that hold, and what a missing refusal costs."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from course_lib import exercises
from course_lib.attention import scaled_dot_product_attention
from course_lib.exercises.positions import order_matters, same_under_causal_mask
from course_lib.judging.observation import fresh
from tests.course_lib.exercises.judging import verdict

SHUFFLE, MASKED, LEARNED = (
    f"positions.{name}" for name in ("order_matters", "same_under_causal_mask", "learned_positions")
)


def attended(x: Tensor, causal: bool) -> Tensor:
    mask = torch.ones(len(x), len(x), dtype=torch.bool)
    return scaled_dot_product_attention(x, x, x, mask.tril() if causal else mask)


@pytest.mark.parametrize("seed", range(5))
def test_the_predictions_are_what_attention_does(seed: int) -> None:
    for case in exercises.find(MASKED).hidden_cases(seed):
        (order,) = case.args
        x = torch.randn(len(order), 12, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
        matters, batch = order_matters.EXERCISE.reference, x.unsqueeze(0)
        assert not matters(lambda vectors: attended(vectors[0], causal=False).unsqueeze(0), batch, order).any()
        changed = matters(lambda vectors: attended(vectors[0], causal=True).unsqueeze(0), batch, order)
        assert torch.equal(same_under_causal_mask.EXERCISE.reference(order), ~changed[0])


@pytest.mark.parametrize("seed", range(5))
def test_what_changes_differs_by_far_more_than_rounding(seed: int) -> None:
    """What the lesson promises of the check's models."""
    for case in [*exercises.find(SHUFFLE).hidden_cases(seed), *exercises.find(SHUFFLE).visible_cases()]:
        model, x, order = fresh(case.args)
        apart = (model(x[:, order]) - model(x)[:, order]).abs().amax(dim=-1)
        assert not ((apart > 1e-5) & (apart < 1e-3)).any()


class _Sliced(nn.Module):
    def __init__(self, d_model: int, context_length: int) -> None:
        super().__init__()
        self.encoding = nn.Parameter(torch.randn(context_length, d_model))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.encoding.narrow(0, 0, min(x.shape[-2], len(self.encoding)))


class _StartsOver(_Sliced):
    def forward(self, x: Tensor) -> Tensor:
        return x + torch.stack([self.encoding[i % len(self.encoding)] for i in range(x.shape[-2])])


class _Indexed(_Sliced):
    def forward(self, x: Tensor) -> Tensor:
        return x + self.encoding[torch.arange(x.shape[-2])]


def test_a_missing_refusal_costs_its_own_part_only() -> None:
    for answer in (_Sliced, _StartsOver, _Indexed):
        assert verdict(LEARNED, answer).points == 2
    told = " ".join(verdict(LEARNED, _Indexed).text().split())
    assert "This call should raise a plain ValueError. Your answer raised IndexError" in told
