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


@pytest.mark.parametrize(
    ("exercise_id", "answer", "expected"),
    [
        ("masking.padding_mask", lambda lengths, n: torch.arange(n)[None] <= lengths[:, None], "one_too_many"),
        ("masking.attention_pooling", _InvertedPooling, "inverted"),
        ("masking.attention_pooling", _MeanPooling, "mean_pooling"),
        ("masking.attention_pooling", _UnmaskedPooling, "padding_counted"),
    ],
)
def test_slips_are_named(exercise_id: str, answer: Callable[..., object], expected: str) -> None:
    assert named(exercise_id, answer) == expected


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
