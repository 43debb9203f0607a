"""The slides' slips are named mistakes, and so are slips in a student's own handwriting."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.judging.observation import Outcome
from course_lib.references.heads_and_blocks import AddAndNorm, LayerNorm, MultiHeadAttention
from tests.course_lib.exercises.judging import is_told, named, verdict

MULTI_HEAD = "heads_and_blocks.multi_head_attention"
NORM = "heads_and_blocks.layer_norm"
JOIN = "heads_and_blocks.add_and_norm"
Function = Callable[[Tensor], Tensor]


def multi_head(
    scaled: Callable[[Tensor, Tensor], Tensor],
    mask_of: Callable[[Tensor], Tensor] = lambda mask: mask[:, None],
) -> type[nn.Module]:
    """Multi-head attention as a student may write it, head after head, with other scores or masks."""

    class Heads(MultiHeadAttention):
        def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
            batch, queries, d_model = x.shape
            q = self.W_q(x).view(batch, queries, self.heads, -1).permute(0, 2, 1, 3)
            k = self.W_k(memory).view(batch, -1, self.heads, d_model // self.heads).permute(0, 2, 1, 3)
            v = self.W_v(memory).view(batch, -1, self.heads, d_model // self.heads).permute(0, 2, 1, 3)
            scores = scaled(q, k)
            if mask is not None:
                scores = torch.where(mask_of(mask), scores, -1e9)
            out = torch.einsum("bhqk,bhkd->bqhd", F.softmax(scores, dim=-1), v)
            mixed: Tensor = self.W_o(out.reshape(batch, queries, d_model))
            return mixed

    return Heads


def right_scores(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.transpose(2, 3) / q.size(3) ** 0.5


def norm(formula: Callable[[Tensor, Tensor, Tensor, float], Tensor]) -> type[nn.Module]:
    """Layer norm by a formula of x, gamma, beta and epsilon."""

    class Norm(LayerNorm):
        def forward(self, x: Tensor) -> Tensor:
            return formula(x, self.weight, self.bias, self.epsilon)

    return Norm


def joined(formula: Callable[[Tensor, Function, Function, Function, bool], Tensor]) -> type[nn.Module]:
    """Add & norm by a formula of x, sublayer, norm, dropout and norm_first."""

    class Joined(AddAndNorm):
        def forward(self, x: Tensor, sublayer: Function) -> Tensor:
            return formula(x, sublayer, self.norm, self.dropout, self.norm_first)

    return Joined


class TestTheSlides:
    def test_the_missing_transpose(self) -> None:
        """S1: softmax(1 / d_k (Q W)(K W)) V W, without the root's being there either."""
        assert named(MULTI_HEAD, multi_head(lambda q, k: q @ k / math.sqrt(q.shape[-1]))) == "transpose_left_out"

    def test_divided_by_d_k(self) -> None:
        assert named(MULTI_HEAD, multi_head(lambda q, k: q @ k.mT / q.shape[-1])) == "divided_by_d_head"

    def test_add_and_norm_of_the_slide_lacks_dropout(self) -> None:
        """S2: return LayerNorm(x + sublayer(x))."""

        assert (
            named(JOIN, joined(lambda x, sublayer, norm, dropout, norm_first: norm(x + sublayer(x))))
            == "dropout_left_out"
        )


def _numpy_variance(x: Tensor, gamma: Tensor, beta: Tensor, epsilon: float) -> Tensor:
    centred = x - x.mean(-1, True)
    return centred / torch.sqrt((centred**2).sum(-1, True) / (x.shape[-1] - 1) + epsilon) * gamma + beta


def _sum_for_mean(x: Tensor, gamma: Tensor, beta: Tensor, epsilon: float) -> Tensor:
    centred = x - x.mean(-1, True)
    return centred / torch.sqrt((centred**2).sum(-1, True) + epsilon) * gamma + beta


def _no_epsilon(x: Tensor, gamma: Tensor, beta: Tensor, epsilon: float) -> Tensor:
    mean, std = x.mean(-1, keepdim=True), x.std(-1, keepdim=True, unbiased=False)
    return (x - mean) / std * gamma + beta


@pytest.mark.parametrize(
    ("exercise_id", "answer", "expected"),
    [
        (MULTI_HEAD, multi_head(right_scores, mask_of=lambda mask: ~mask.unsqueeze(1)), "mask_inverted"),
        (NORM, norm(_numpy_variance), "divided_by_one_less"),
        (NORM, norm(_no_epsilon), "epsilon_left_out"),
        (NORM, norm(_sum_for_mean), "not_divided_by_d_model"),
        (
            NORM,
            norm(lambda x, gamma, beta, epsilon: F.normalize(x, dim=-1) * x.shape[-1] ** 0.5 * gamma + beta),
            "root_mean_square",
        ),
        (
            "heads_and_blocks.dropout",
            lambda x, kept, share, training: x.masked_fill(kept, 0) / (1 - share) if training else x,
            "kept_and_dropped_exchanged",
        ),
    ],
)
def test_slips_are_named(exercise_id: str, answer: Callable[..., object], expected: str) -> None:
    found = verdict(exercise_id, answer)
    assert found.outcome is Outcome.WRONG
    assert is_told(found, exercise_id, expected)


class TestParts:
    def test_post_norm_alone_earns_its_part_where_pre_norm_is_still_the_stub(self) -> None:
        def post_norm_only(
            x: Tensor, sublayer: Function, norm: Function, dropout: Function, norm_first: bool
        ) -> Tensor:
            if norm_first:
                raise NotImplementedError()
            return norm(x + dropout(sublayer(x)))

        found = verdict(JOIN, joined(post_norm_only))
        assert (found.outcome, found.points) == (Outcome.RAISED, 2)


def _norm_in_one_pass(x: Tensor, gamma: Tensor, beta: Tensor, epsilon: float) -> Tensor:
    """The mean of the squares less the square of the mean, in the precision of x: less exact, and honest."""
    mean, square = x.mean(-1, keepdim=True), (x * x).mean(-1, keepdim=True)
    return gamma * (x - mean) / torch.sqrt(square - mean**2 + epsilon) + beta


def _norm_by_a_product(x: Tensor, gamma: Tensor, beta: Tensor, epsilon: float) -> Tensor:
    """The mean as a product with 1 / d, which is rounded."""
    share = x.new_full((x.shape[-1], 1), 1 / x.shape[-1])
    centred = x - x @ share
    return gamma * centred / torch.sqrt(centred**2 @ share + epsilon) + beta


def _dropout_by_multiplying(x: Tensor, kept: Tensor, share: float, training: bool) -> Tensor:
    return x * torch.from_numpy(numpy.where(kept, 1 / (1 - share), 0)).to(x.dtype) if training else x


class TestHonestAnswers:
    """Precision that an honest answer may lose, and habits that change nothing."""

    @pytest.mark.parametrize(
        ("exercise_id", "answer"),
        [
            (NORM, norm(_norm_in_one_pass)),
            (NORM, norm(_norm_by_a_product)),
            ("heads_and_blocks.dropout", _dropout_by_multiplying),
            (MULTI_HEAD, multi_head(right_scores)),
        ],
    )
    def test_pass(self, exercise_id: str, answer: Callable[..., object]) -> None:
        for seed in range(5):
            assert verdict(exercise_id, answer, seed).passed
