"""The slides' slips are named mistakes, and so are slips in a student's own handwriting."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.attention import attention
from course_lib.judging.observation import Outcome
from course_lib.multihead import join_heads, split_heads
from course_lib.references.heads_and_blocks import EncoderBlock, add_and_norm
from tests.course_lib.exercises.judging import is_told, mistake, verdict

MULTI_HEAD = "heads_and_blocks.multi_head_attention"
BLOCK = "heads_and_blocks.encoder_block"
Function = Callable[[Tensor], Tensor]


def multi_head(
    scaled: Callable[[Tensor, Tensor], Tensor], mask_of: Callable[[Tensor], Tensor] = lambda mask: mask[:, None]
) -> Callable[..., Tensor]:
    """Multi-head attention as a student may write it, head after head, with other scores or another mask."""

    def answer(
        x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, heads: int, mask: Tensor | None
    ) -> Tensor:
        batch, queries, d_model = x.shape
        q = (x @ W_q).view(batch, queries, heads, -1).permute(0, 2, 1, 3)
        k = (memory @ W_k).view(batch, -1, heads, d_model // heads).permute(0, 2, 1, 3)
        v = (memory @ W_v).view(batch, -1, heads, d_model // heads).permute(0, 2, 1, 3)
        scores = scaled(q, k)
        if mask is not None:
            scores = torch.where(mask_of(mask), scores, -1e9)
        out = torch.einsum("bhqk,bhkd->bqhd", F.softmax(scores, dim=-1), v)
        return out.reshape(batch, queries, d_model) @ W_o

    return answer


def right_scores(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.transpose(2, 3) / q.size(3) ** 0.5


class TestTheSlides:
    def test_the_missing_transpose(self) -> None:
        """S1: softmax(1 / d_k (Q W)(K W)) V W, without the root's being there either."""
        found = verdict(MULTI_HEAD, multi_head(lambda q, k: q @ k / math.sqrt(q.shape[-1])))
        assert found.misconception is not None
        assert found.misconception.id == "transpose_left_out"

    def test_divided_by_d_k(self) -> None:
        found = verdict(MULTI_HEAD, multi_head(lambda q, k: q @ k.mT / q.shape[-1]))
        assert found.misconception is not None
        assert found.misconception.id == "divided_by_d_head"

    def test_add_and_norm_of_the_slide_lacks_dropout(self) -> None:
        """S2: return LayerNorm(x + sublayer(x))."""

        def as_printed(x: Tensor, sublayer: Function, norm: Function, dropout: Function, norm_first: bool) -> Tensor:
            return norm(x + sublayer(x))

        found = verdict("heads_and_blocks.add_and_norm", as_printed)
        assert found.misconception is not None
        assert found.misconception.id == "dropout_left_out"


def _split_by_indices(x: Tensor, heads: int) -> Tensor:
    """Deals the numbers out, head by head."""
    return torch.stack([x[..., head::heads] for head in range(heads)], dim=1)


def _numpy_variance(x: Tensor, gamma: Tensor, beta: Tensor, epsilon: float) -> Tensor:
    centred = x - x.mean(-1, True)
    return centred / torch.sqrt((centred**2).sum(-1, True) / (x.shape[-1] - 1) + epsilon) * gamma + beta


def _sum_for_mean(x: Tensor, gamma: Tensor, beta: Tensor, epsilon: float) -> Tensor:
    centred = x - x.mean(-1, True)
    return centred / torch.sqrt((centred**2).sum(-1, True) + epsilon) * gamma + beta


def _weights_times_mask(
    x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, heads: int, mask: Tensor | None
) -> Tensor:
    pieces = []
    for Q, K, V in zip(*(W.chunk(heads, dim=1) for W in (W_q, W_k, W_v)), strict=True):
        weights = torch.softmax(x @ Q @ (memory @ K).mT / math.sqrt(Q.shape[1]), dim=-1)
        pieces.append((weights if mask is None else weights * mask) @ memory @ V)
    return torch.cat(pieces, dim=-1) @ W_o


def _no_epsilon(x: Tensor, gamma: Tensor, beta: Tensor, epsilon: float) -> Tensor:
    mean, std = x.mean(-1, keepdim=True), x.std(-1, keepdim=True, unbiased=False)
    return (x - mean) / std * gamma + beta


class _PreNormOverwritten(EncoderBlock):
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        if self.norm_first:
            x = self.norm_1(x)
        x = x + self.dropout(self.attention(x, x, x, key_padding_mask=~mask)[0])
        x = self.norm_2(x) if self.norm_first else self.norm_1(x)
        x = x + self.dropout(self.W_2(self.W_1(x).relu()))
        return x if self.norm_first else self.norm_2(x)


class _PreNormNotWritten(EncoderBlock):
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        if self.norm_first:
            raise NotImplementedError()
        out, _ = self.attention(x, x, x, key_padding_mask=~mask)
        x = self.norm_1(x + self.dropout(out))
        fed: Tensor = self.norm_2(x + self.dropout(self.W_2(F.relu(self.W_1(x)))))
        return fed


class _NothingDropped(EncoderBlock):
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        y = self.norm_1(x) if self.norm_first else x
        x = x + self.attention(y, y, y, key_padding_mask=~mask)[0]
        x = x if self.norm_first else self.norm_1(x)
        y = self.norm_2(x) if self.norm_first else x
        x = x + self.W_2(F.relu(self.W_1(y)))
        return x if self.norm_first else self.norm_2(x)


class _MaskAsItIs(EncoderBlock):
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        for norm, sublayer in (
            (self.norm_1, lambda y: self.attention(y, y, y, key_padding_mask=mask, need_weights=False)[0]),
            (self.norm_2, lambda y: self.W_2(F.relu(self.W_1(y)))),
        ):
            x = x + sublayer(norm(x)) if self.norm_first else norm(x + sublayer(x))
        return x


class _SquashedFeedForward(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.sigma = nn.Sigmoid()

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.W_2(self.sigma(self.W_1(x)))
        return out


def _every_head_its_own(d_model: int, heads: int, d_ff: int) -> dict[str, int]:
    one_head = sum(d_model**2 + d_model for _ in "qkvo")
    feed_forward = d_model * d_ff * 2 + d_ff + d_model
    return {
        "attention": 0,
        "projections": heads * one_head,
        "feed_forward": feed_forward,
        "layer_norms": 4 * d_model,
    }


@pytest.mark.parametrize(
    ("exercise_id", "answer", "expected"),
    [
        (
            "heads_and_blocks.project",
            lambda x, memory, W_q, W_k, W_v: tuple(
                F.linear(y, W) for y, W in zip((x, memory, memory), (W_q, W_k, W_v), strict=True)
            ),
            "transposed",
        ),
        ("heads_and_blocks.split_heads", lambda x, h: x.view(x.size(0), h, x.size(1), -1), "viewed_not_transposed"),
        (
            "heads_and_blocks.split_heads",
            lambda x, h: x.flatten().view(x.size(0), h, x.size(1), x.size(2) // h),
            "reshaped_not_transposed",
        ),
        ("heads_and_blocks.split_heads", _split_by_indices, "interleaved"),
        ("heads_and_blocks.split_heads", lambda x, h: x.unflatten(2, (h, -1)), "words_before_heads"),
        (
            MULTI_HEAD,
            multi_head(lambda q, k: q @ k.mT / math.sqrt(q.shape[1] * q.shape[3])),
            "scaled_by_d_model",
        ),
        (MULTI_HEAD, _weights_times_mask, "mask_multiplies_the_weights"),
        (MULTI_HEAD, multi_head(right_scores, mask_of=lambda mask: mask), "masks_meet_heads"),
        (MULTI_HEAD, multi_head(right_scores, mask_of=lambda mask: ~mask.unsqueeze(1)), "mask_inverted"),
        ("heads_and_blocks.layer_norm", _numpy_variance, "divided_by_one_less"),
        ("heads_and_blocks.layer_norm", _no_epsilon, "epsilon_left_out"),
        ("heads_and_blocks.layer_norm", _sum_for_mean, "not_divided_by_d_model"),
        (
            "heads_and_blocks.layer_norm",
            lambda x, gamma, beta, epsilon: F.normalize(x, dim=-1) * x.shape[-1] ** 0.5 * gamma + beta,
            "root_mean_square",
        ),
        (
            "heads_and_blocks.dropout",
            lambda x, kept, share, training: torch.where(kept | (not training), x, 0.0),
            "not_rescaled",
        ),
        (
            "heads_and_blocks.dropout",
            lambda x, kept, share, training: x.masked_fill(kept, 0) / (1 - share) if training else x,
            "kept_and_dropped_exchanged",
        ),
        ("heads_and_blocks.feed_forward", _SquashedFeedForward, "sigmoid"),
        (BLOCK, _PreNormOverwritten, "residual_normalised_too"),
        (BLOCK, _MaskAsItIs, "mask_inverted"),
        (BLOCK, _NothingDropped, "dropout_left_out"),
        ("heads_and_blocks.count_parameters", _every_head_its_own, "one_projection_for_each_head"),
    ],
)
def test_slips_are_named(exercise_id: str, answer: Callable[..., object], expected: str) -> None:
    found = verdict(exercise_id, answer)
    assert found.outcome is Outcome.WRONG
    assert is_told(found, exercise_id, expected)


class TestParts:
    @pytest.mark.parametrize(
        ("name", "points"),
        [
            ("memory_ignored", 4),
            ("x_and_memory_exchanged", 4),
            ("values_from_x", 4),
            ("mask_ignored", 5),
            ("mask_inverted", 5),
            ("masks_meet_heads", 5),
            ("scaled_by_d_model", 0),
        ],
    )
    def test_self_attention_earns_its_part(self, name: str, points: int) -> None:
        assert verdict(MULTI_HEAD, mistake(MULTI_HEAD, name)).points == points

    def test_layer_norm_without_epsilon_earns_two_of_three(self) -> None:
        exercise_id = "heads_and_blocks.layer_norm"
        for name in ("epsilon_left_out", "epsilon_outside_the_root", "epsilon_fixed"):
            assert verdict(exercise_id, mistake(exercise_id, name)).points == 2

    def test_post_norm_alone_earns_its_part(self) -> None:
        for exercise_id, points in (("heads_and_blocks.add_and_norm", 1), (BLOCK, 4)):
            for name in ("always_post_norm", "residual_normalised_too"):
                assert verdict(exercise_id, mistake(exercise_id, name)).points == points

    def test_post_norm_alone_earns_its_part_where_pre_norm_is_still_the_stub(self) -> None:
        def post_norm_only(
            x: Tensor, sublayer: Function, norm: Function, dropout: Function, norm_first: bool
        ) -> Tensor:
            if norm_first:
                raise NotImplementedError()
            return norm(x + dropout(sublayer(x)))

        assert verdict("heads_and_blocks.add_and_norm", post_norm_only).points == 1
        found = verdict(BLOCK, _PreNormNotWritten)
        assert found.outcome is Outcome.RAISED
        assert found.points == 4

    @pytest.mark.usefixtures("slow")
    def test_without_dropout_a_block_is_right_in_evaluation_alone(self) -> None:
        for name in ("dropout_left_out", "sum_dropped", "dropped_after_the_norm", "input_dropped", "hidden_dropped"):
            assert verdict(BLOCK, mistake(BLOCK, name)).points == 3

    @pytest.mark.usefixtures("slow")
    @pytest.mark.parametrize("more", ["read", "heads joined", "read by the network", "alpha"])
    def test_dropping_more_than_what_is_added_costs_the_dropout(self, more: str) -> None:
        class Block(EncoderBlock):
            def dropped(self, y: Tensor, name: str) -> Tensor:
                return F.dropout(y, self.dropout.p, self.training) if name == more else y

            def attend(self, y: Tensor, mask: Tensor) -> Tensor:
                y = self.dropped(y, "read")
                q, k, v = F.linear(y, self.attention.in_proj_weight, self.attention.in_proj_bias).chunk(3, dim=-1)
                q, k, v = (split_heads(part, self.attention.num_heads) for part in (q, k, v))
                joined = join_heads(self.dropped(attention(q, k, v, mask[:, None, None]).alpha, "alpha") @ v)
                out: Tensor = self.attention.out_proj(self.dropped(joined, "heads joined"))
                return out

            def forward(self, x: Tensor, mask: Tensor) -> Tensor:
                def fed(y: Tensor) -> Tensor:
                    out: Tensor = self.W_2(F.relu(self.W_1(self.dropped(y, "read by the network"))))
                    return out

                x = add_and_norm(x, lambda y: self.attend(y, mask), self.norm_1, self.dropout, self.norm_first)
                return add_and_norm(x, fed, self.norm_2, self.dropout, self.norm_first)

        assert verdict(BLOCK, Block).points == 3


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
            ("heads_and_blocks.layer_norm", _norm_in_one_pass),
            ("heads_and_blocks.layer_norm", _norm_by_a_product),
            ("heads_and_blocks.dropout", _dropout_by_multiplying),
            (MULTI_HEAD, multi_head(right_scores)),
        ],
    )
    def test_pass(self, exercise_id: str, answer: Callable[..., object]) -> None:
        for seed in range(5):
            assert verdict(exercise_id, answer, seed).passed
