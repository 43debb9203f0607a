"""The slides' printed numbers are named mistakes, and so are slips in a student's own handwriting."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from course_lib.exercises.worked_examples import B
from tests.course_lib.exercises.judging import mistake, named, verdict


class TestTheSlides:
    def test_printed_out_is_of_the_unscaled_scores(self) -> None:
        out = mistake("masking.masked_self_attention", "unscaled_scores_masked")(B.q, B.mask)
        assert_close(out[1], torch.tensor([-0.9999571, -2.499925]), atol=1e-6, rtol=0)
        assert_close(out[3], torch.tensor([1.9983424, -2.9997153]), atol=1e-6, rtol=0)

    def test_code_on_the_slide(self) -> None:
        def as_printed(x: Tensor, mask: Tensor) -> Tensor:
            scores = x @ x.transpose(-2, -1)
            masked = scores.masked_fill(mask == 0, -1e9)
            return torch.softmax(masked, dim=-1) @ x

        assert named("masking.masked_self_attention", as_printed) == "unscaled_scores_masked"


class _MeanPooling(nn.Module):
    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return torch.stack([sequence[allowed].mean(0) for sequence, allowed in zip(x, mask, strict=True)])


class _UnmaskedPooling(_MeanPooling):
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        alpha = torch.softmax(x @ self.query / math.sqrt(x.shape[-1]), dim=1)
        return torch.einsum("bw,bwd->bd", alpha, x)


class _InvertedPooling(_MeanPooling):
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        scaled = (x @ self.query / x.shape[-1] ** 0.5).masked_fill(mask, -torch.inf)
        return (scaled.softmax(-1).unsqueeze(-2) @ x).squeeze(-2)


def _leaky(scaled: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scaled.masked_fill(~mask, 0), dim=-1)


def _additive(scaled: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scaled + torch.where(mask, 0.0, -1e9), dim=-1)


def _inverted(scaled: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scaled.masked_fill(mask, float("-inf")), dim=-1)


def _filled_with_minus_hundred(scaled: Tensor, mask: Tensor) -> Tensor:
    filled = torch.where(mask, scaled, torch.tensor(-100.0))
    return filled.softmax(-1) * mask.float()


def _normalised_after_masking(scaled: Tensor, mask: Tensor) -> Tensor:
    alpha = scaled.softmax(-1) * mask
    return alpha / alpha.sum(-1, keepdim=True)


def _by_halves(model: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    columns = []
    for token in range(len(x)):
        changed = x.clone()
        changed[token] = changed[token] / 2
        columns.append((model(changed) - model(x)).norm(dim=-1) > 0)
    return torch.stack(columns, dim=1)


def _piling_up(model: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    before, x, seen = model(x), x.clone(), []
    for row in x:
        row += torch.rand(len(row))
        seen.append((model(x) != before).any(1))
    return torch.stack(seen, 1)


def _row_by_row(model: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    seen = [(model(torch.where(torch.arange(len(x))[:, None] == token, 9.0, x)) != model(x)) for token in range(len(x))]
    return torch.stack(seen).any(dim=-1)


def _documents(ids: Tensor, end: int, opened: bool) -> Tensor:
    number = torch.stack([torch.cumsum(row == end, 0) - (0 if opened else 1) * (row == end).long() for row in ids])
    return (number[:, :, None] == number[:, None]).tril()


@pytest.mark.parametrize(
    ("exercise_id", "answer", "expected"),
    [
        ("masking.causal_mask", lambda length: torch.triu(torch.ones(length, length), 1).bool(), "inverted"),
        ("masking.causal_mask", lambda length: torch.tril(torch.ones(length, length)), "zeros_and_ones"),
        ("masking.padding_mask", lambda lengths, n: torch.arange(n)[None] <= lengths[:, None], "one_too_many"),
        ("masking.padding_mask", lambda lengths, n: torch.arange(n) < lengths[:, None], "on_the_cpu"),
        ("masking.causal_mask", lambda n, device=None: torch.ones(n, n).bool().tril(), "on_the_cpu"),
        ("masking.causal_mask", lambda n, device=None: torch.ones(n, n).bool().tril(1), "one_word_ahead+on_the_cpu"),
        ("masking.leak_test", _by_halves, "scaled"),
        ("masking.leak_test", _piling_up, "changes_pile_up"),
        ("masking.leak_test", _row_by_row, "transposed"),
        ("masking.packed_mask", lambda ids, end: _documents(ids, end, True), "end_opens_the_next"),
        ("masking.packed_mask", lambda ids, end: _documents(ids, end, False).float(), "zeros_and_ones"),
        ("masking.masked_weights", _leaky, "scores_times_mask"),
        ("masking.masked_weights", _additive, "uniform_by_addition_where_nothing_is_allowed"),
        ("masking.masked_weights", _inverted, "inverted"),
        ("masking.masked_weights", _filled_with_minus_hundred, "filled_not_low_enough_times_mask"),
        ("masking.masked_weights", _normalised_after_masking, "forbidden_score_far_above_nan"),
        ("masking.attention_pooling", _InvertedPooling, "inverted"),
        ("masking.attention_pooling", _MeanPooling, "mean_pooling"),
        ("masking.attention_pooling", _UnmaskedPooling, "padding_counted"),
    ],
)
def test_slips_are_named(exercise_id: str, answer: Callable[..., object], expected: str) -> None:
    assert named(exercise_id, answer) == expected


class TestParts:
    def test_rows_that_allow_something_earn_their_part(self) -> None:
        for name in ("nan_where_nothing_is_allowed", "uniform_where_nothing_is_allowed"):
            assert verdict("masking.masked_weights", mistake("masking.masked_weights", name)).points == 3

    def test_a_mask_on_the_cpu_costs_its_own_part_only(self) -> None:
        assert verdict("masking.padding_mask", mistake("masking.padding_mask", "on_the_cpu")).points == 1
        assert verdict("masking.packed_mask", mistake("masking.packed_mask", "on_the_cpu")).points == 3


@pytest.mark.parametrize(
    "answer",
    [
        lambda scaled, mask: (scaled + (1 - mask.float()) * -1e9).softmax(-1) * mask,
        lambda scaled, mask: torch.softmax(scaled.masked_fill(~mask, torch.finfo(scaled.dtype).min), -1) * mask,
        lambda scaled, mask: torch.nan_to_num(scaled.masked_fill(mask == 0, -torch.inf).softmax(-1)),
    ],
)
def test_honest_answers_pass(answer: Callable[..., Tensor]) -> None:
    for seed in range(10):
        assert verdict("masking.masked_weights", answer, seed).passed
