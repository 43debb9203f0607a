"""The slides' printed numbers are named mistakes, and so are slips in a student's own handwriting."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from course_lib.exercises.worked_examples import A
from course_lib.judging.observation import Outcome
from tests.course_lib.exercises.judging import mistake, named, verdict


class TestTheSlides:
    def test_printed_scaled(self) -> None:
        scaled = mistake("attention.scale", "divided_by_number_of_keys")(A.steps.scores, 2)
        printed = torch.tensor([[4.0000, 1.2500, -3.5833], [-6.6667, -3.8333, 8.5000]])
        assert_close(scaled, printed, atol=5e-5, rtol=0)

    def test_printed_out(self) -> None:
        out = mistake("attention.scaled_dot_product", "divided_by_number_of_keys")(A.q, A.k, A.v)
        printed = torch.tensor([[-2.02, -3.78], [4.49, 2.49]])  # cut off, not rounded
        assert_close(torch.trunc(out * 100) / 100, printed)

    def test_code_on_the_slide(self) -> None:
        def as_printed(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            scores = q @ k.transpose(-2, -1)
            scaled = scores / math.sqrt(q.shape[-1])  # noqa: F841  never used, as on the slide
            alpha = torch.softmax(scores, dim=-1)
            return alpha @ v

        assert named("attention.scaled_dot_product", as_printed) == "unscaled_softmax"


def _softmax_of_columns(scaled: Tensor) -> Tensor:
    powers = torch.exp(scaled - scaled.max(dim=-2, keepdim=True).values)
    return powers / powers.sum(dim=-2, keepdim=True)


def _numpy_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scaled = q.detach().numpy() @ k.detach().numpy().swapaxes(-1, -2) / numpy.sqrt(q.shape[-1])
    powers = numpy.exp(scaled - scaled.max(-1, keepdims=True))
    return torch.from_numpy(
        (powers / powers.sum(-1, keepdims=True) @ v.detach().numpy()).astype(v.numpy(force=True).dtype)
    )


@pytest.mark.parametrize(
    ("exercise_id", "answer", "expected"),
    [
        ("attention.weights", _softmax_of_columns, "normalised_over_queries"),
        ("attention.weights", lambda scaled: scaled.exp() / scaled.exp().sum(-1)[..., None], "large_scores_overflow"),
        ("attention.scaled_dot_product", _numpy_attention, "no_gradients"),
    ],
)
def test_slips_are_named(exercise_id: str, answer: Callable[..., object], expected: str) -> None:
    assert named(exercise_id, answer) == expected


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


def test_an_unknown_mistake_gets_no_guess() -> None:
    found = verdict("attention.scores", lambda q, k: 1.01 * q @ k.mT)
    assert found.outcome is Outcome.WRONG
    assert found.misconception is None
    assert found.points == 0


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
