"""What costs a part of the points, and precision that costs none."""

from __future__ import annotations

from collections.abc import Callable

import numpy
import pytest
import torch
from torch import Tensor

from tests.course_lib.exercises.judging import verdict


class TestParts:
    @pytest.mark.parametrize(
        "subtracted",
        [
            lambda scaled: scaled.mean(-1, keepdim=True),
            lambda scaled: scaled.amin(-1, keepdim=True),
            lambda scaled: scaled.median(-1, keepdim=True).values,
            lambda scaled: scaled[..., :1],
            lambda scaled: scaled.double() * 0,
        ],
    )
    def test_only_the_largest_score_is_safe(self, subtracted: Callable[[Tensor], Tensor]) -> None:
        def answer(scaled: Tensor) -> Tensor:
            powers = torch.exp(scaled - subtracted(scaled))
            return (powers / powers.sum(-1, keepdim=True)).to(scaled.dtype)

        for seed in (None, 1, 2):
            assert verdict("attention.weights", answer, seed).points == 2


class TestHonestAnswers:
    """Precision that an honest answer may lose, and habits that change nothing."""

    @pytest.mark.parametrize(
        ("exercise_id", "answer"),
        [
            ("attention.scale", lambda scores, d_head: scores / torch.sqrt(torch.tensor(d_head, dtype=torch.float32))),
            ("attention.scale", lambda scores, d_head: scores / numpy.sqrt(d_head)),
            ("attention.weights", lambda scaled: (scaled - scaled.logsumexp(-1, keepdim=True)).exp()),
            (
                "attention.scaled_dot_product",
                lambda q, k, v: (q @ k.mT / torch.sqrt(torch.tensor(q.size(-1)))).softmax(-1) @ v,
            ),
        ],
    )
    def test_pass(self, exercise_id: str, answer: Callable[..., object]) -> None:
        for seed in range(10):
            assert verdict(exercise_id, answer, seed).passed
