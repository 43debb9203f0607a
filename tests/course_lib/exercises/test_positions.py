"""Lesson 03's exercises: what S4 says is a named mistake, and slips in a student's own hand are named too."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy
import pytest
import torch
from torch import Tensor, nn

from course_lib import exercises
from course_lib.attention import scaled_dot_product_attention
from course_lib.exercises.positions import order_matters, same_under_causal_mask, shift_matrix
from course_lib.judging.observation import fresh
from tests.course_lib.exercises.judging import named, verdict

SHUFFLE, MASKED = "positions.order_matters", "positions.same_under_causal_mask"
INDEX, BINARY = "positions.appended_index", "positions.binary_counting"
WAVES, SHIFT, LEARNED = "positions.sinusoidal_encoding", "positions.shift_matrix", "positions.learned_positions"
ALIBI = "positions.alibi_weights"


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


def _alibi(scaled: Tensor, numbers: Iterable[float]) -> Tensor:
    heads, tokens = scaled.shape[-3:-1]
    slopes = scaled.new_tensor([2 ** (-8 * number / heads) for number, _ in zip(numbers, range(heads), strict=False)])
    steps = scaled.new_ones(tokens, tokens).tril()
    return (scaled + slopes[:, None, None] * steps[-1].cumsum(0) + steps.log()).softmax(-1)


def _halves(length: int, d_model: int) -> Tensor:
    angle = torch.arange(length)[:, None] / 10000 ** (2 * torch.arange(d_model // 2) / d_model)
    return torch.cat([torch.sin(angle), torch.cos(angle)], dim=1)


def _in_numpy(length: int, d_model: int) -> Tensor:
    angle = numpy.arange(length)[:, None] / numpy.power(10000, numpy.arange(0, d_model, 2) / d_model)
    encoding = numpy.zeros((length, d_model))
    encoding[:, 0::2], encoding[:, 1::2] = numpy.sin(angle), numpy.cos(angle)
    return torch.from_numpy(encoding)


class _OneRow(nn.Module):
    def __init__(self, d_model: int, context_length: int) -> None:
        super().__init__()
        self.encoding = nn.Parameter(torch.randn(context_length, d_model))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.encoding[:1]


class _Sliced(_OneRow):
    def forward(self, x: Tensor) -> Tensor:
        return x + self.encoding.narrow(0, 0, min(x.shape[-2], len(self.encoding)))


class _StartsOver(_OneRow):
    def forward(self, x: Tensor) -> Tensor:
        return x + torch.stack([self.encoding[i % len(self.encoding)] for i in range(x.shape[-2])])


class _Indexed(_OneRow):
    def forward(self, x: Tensor) -> Tensor:
        return x + self.encoding[torch.arange(x.shape[-2])]


@pytest.mark.parametrize(
    ("exercise_id", "answer", "expected"),
    [
        (ALIBI, lambda scaled: _alibi(scaled, [h * scaled.shape[-3] / 8 for h in range(1, 99)]), "slopes_halved"),
        (INDEX, lambda x: x + torch.arange(x.shape[-2], dtype=x.dtype)[:, None], "added"),
        (WAVES, _halves, "halves"),
        (WAVES, _in_numpy, "double_precision"),
        (LEARNED, _OneRow, "same_row_for_all"),
        (LEARNED, _StartsOver, "first_word_again"),
    ],
)
def test_slips_are_named(exercise_id: str, answer: Callable[..., object], expected: str) -> None:
    assert named(exercise_id, answer) == expected


def test_a_missing_refusal_costs_its_own_part_only() -> None:
    for answer in (_Sliced, _StartsOver, _Indexed):
        assert verdict(LEARNED, answer).points == 2
    told = " ".join(verdict(LEARNED, _Indexed).text().split())
    assert "This call should raise a plain ValueError. Your answer raised IndexError" in told


def _as_a_mask(order: Tensor) -> Tensor:
    """By the rows of two permuted masks."""
    causal = torch.ones(len(order), len(order)).tril()
    return (causal[order][:, order] == causal).all(dim=1)


@pytest.mark.parametrize(
    ("exercise_id", "answer"),
    [
        (SHUFFLE, lambda model, x, order: (model(x[:, order]) - model(x)[:, order]).norm(dim=-1) > 5e-4),
        (ALIBI, lambda scaled: _alibi(scaled, range(1, 99))),
        (MASKED, _as_a_mask),
        (INDEX, lambda x: torch.cat((x, torch.arange(x.shape[-2]).to(x)[:, None].expand(*x.shape[:-1], 1)), -1)),
        (BINARY, lambda n, bits: (torch.arange(n)[:, None] / 2 ** torch.arange(bits)).floor() % 2),
        (SHIFT, lambda shift, d_model: shift_matrix.EXERCISE.reference(-shift, d_model).T),
    ],
)
def test_honest_answers_pass(exercise_id: str, answer: Callable[..., Tensor]) -> None:
    for seed in range(10):
        assert verdict(exercise_id, answer, seed).passed
