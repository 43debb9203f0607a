"""Honest ways to leave out what is masked, large numbers among them, pass."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from tests.course_lib.exercises.judging import verdict


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
