"""Masks: the second worked example, each kind of mask, and the edges."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from course_lib.attention import attention
from course_lib.masking import (
    AttentionPooling,
    at_last_token,
    causal_mask,
    leak_test,
    masked_self_attention,
    masked_weights,
    packed_mask,
    padding_mask,
)

# Worked example B (S2): <s>, die, Katze, tanzte, each a query, a key and a value.
X = torch.tensor([[1.0, 1.0], [-1.0, -2.5], [4.0, 3.0], [2.0, -3.0]])
SCORES = torch.tensor(
    [[2.0, -3.5, 7.0, -1.0], [-3.5, 7.25, -11.5, 5.5], [7.0, -11.5, 25.0, -1.0], [-1.0, 5.5, -1.0, 13.0]]
)


def printed(values: list[float], actual: Tensor, digits: int = 4) -> None:
    """Assert that `actual` prints as `values` when it is rounded to so many digits."""
    assert_close(actual, torch.tensor(values, dtype=actual.dtype), atol=0.5 * 10**-digits + 1e-6, rtol=0)


class TestWorkedExampleB:
    def test_right_numbers(self) -> None:
        steps = attention(X, X, X, causal_mask(4))
        assert_close(steps.scores, SCORES)
        printed([1.4142, -2.4749, 4.9497, -0.7071], steps.scaled[0])
        assert torch.equal(steps.masked.isneginf(), ~causal_mask(4))
        printed([1, 0, 0, 0], steps.alpha[0])
        printed([0.0005, 0.9995, 0, 0], steps.alpha[1])
        printed([0.0000, 0.0050, 0.0000, 0.9950], steps.alpha[3])
        printed([-0.9990, -2.4983], steps.out[1])
        printed([1.9852, -2.9970], steps.out[3])
        assert_close(masked_self_attention(X, causal_mask(4)), steps.out)


class TestMasks:
    def test_causal_goes_to_its_device(self) -> None:
        assert causal_mask(2, device="meta").device.type == "meta"

    def test_padding_has_one_row_a_length(self) -> None:
        mask = padding_mask(torch.tensor([2, 0, 3]), max_length=3)
        assert mask.tolist() == [[True, True, False], [False, False, False], [True, True, True]]


class TestMaskedWeights:
    def test_is_the_softmax_over_the_allowed_keys(self) -> None:
        scaled, mask = torch.randn(2, 3, 5), torch.rand(2, 3, 5) < 0.5
        mask[..., 0] = True
        alpha = masked_weights(scaled, mask)
        assert_close(alpha.sum(dim=-1), torch.ones(2, 3))
        allowed = mask[1, 2]
        assert_close(alpha[1, 2, allowed], torch.softmax(scaled[1, 2, allowed], dim=-1))
        assert torch.equal(alpha[~mask], torch.zeros_like(alpha[~mask]))

    def test_survives_large_scores_on_either_side_of_the_mask(self) -> None:
        scaled = torch.tensor([[1000.0, 999.0, 5000.0], [-1000.0, -999.0, 5000.0]])
        mask = torch.tensor([True, True, False]).expand(2, 3)
        near, far = math.e / (1 + math.e), 1 / (1 + math.e)
        assert_close(masked_weights(scaled, mask), torch.tensor([[near, far, 0.0], [far, near, 0.0]]))

    @pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
    def test_fully_masked_rows_are_zero_with_finite_gradients(self, dtype: torch.dtype) -> None:
        scaled = torch.randn(3, 4).to(dtype).requires_grad_()
        mask = torch.ones(3, 4, dtype=torch.bool)
        mask[1] = False
        alpha = masked_weights(scaled, mask)
        assert alpha.dtype == dtype
        assert torch.equal(alpha[1], torch.zeros_like(alpha[1]))
        (gradient,) = torch.autograd.grad((alpha * torch.arange(4)).sum(), scaled)
        assert gradient.isfinite().all()
        assert (gradient[0] != 0).any()


@pytest.mark.parametrize(
    ("ids", "documents"),
    [
        ([5, 6, 2, 7, 2, 8], [0, 0, 0, 1, 1, 2]),  # the last is cut off
        ([2, 2, 5, 2], [0, 1, 2, 2]),  # two are an end alone
        ([5, 6, 7], [0, 0, 0]),
        ([5, 2], [0, 0]),
        ([2], [0]),
    ],
)
def test_packed_documents_do_not_see_each_other(ids: list[int], documents: list[int]) -> None:
    mask = packed_mask(torch.tensor([ids, [9] * len(ids)]), 2)
    number = torch.tensor(documents)
    assert torch.equal(mask[0], (number[:, None] == number).tril())
    assert torch.equal(mask[1], causal_mask(len(ids)))


@pytest.mark.parametrize("mask", [causal_mask(5), torch.eye(5) > 0, causal_mask(5).T, torch.ones(5, 5) > 0])
def test_a_leak_test_finds_what_the_mask_says(mask: torch.Tensor) -> None:
    x = torch.randn(5, 3, dtype=torch.float64)
    before = x.clone()
    assert torch.equal(leak_test(lambda vectors: masked_self_attention(vectors, mask), x), mask)
    assert torch.equal(x, before)


class TestAttentionPooling:
    def test_is_attention_from_the_learned_query(self) -> None:
        pooling, x = AttentionPooling(8), torch.randn(3, 5, 8)
        mask = padding_mask(torch.tensor([5, 2, 1]), 5)
        steps = attention(pooling.query.expand(3, 1, 8), x, x, mask.unsqueeze(1))
        assert_close(pooling(x, mask), steps.out.squeeze(1))

    def test_padding_has_no_influence_and_an_empty_sequence_is_zero(self) -> None:
        pooling, x = AttentionPooling(8), torch.randn(2, 5, 8)
        mask = padding_mask(torch.tensor([2, 0]), 5)
        before = pooling(x, mask)
        x[0, 2:] = 100.0
        assert torch.equal(pooling(x, mask)[0], before[0])
        assert torch.equal(before[1], torch.zeros(8))


class TestLastWord:
    @pytest.mark.parametrize("rest", [(), (3,), (3, 2)])
    def test_is_found_wherever_padding_stands(self, rest: tuple[int, ...]) -> None:
        x = torch.randn(4, 5, *rest)
        mask = torch.tensor([[1, 1, 1, 0, 0], [0, 0, 1, 1, 1], [1, 0, 1, 0, 0], [1, 0, 0, 0, 0]]).bool()
        expected = torch.stack([x[0, 2], x[1, 4], x[2, 2], x[3, 0]])
        assert torch.equal(at_last_token(x, mask), expected)

    def test_without_padding_it_is_the_last_column(self) -> None:
        x = torch.randn(4, 5, 3)
        assert torch.equal(at_last_token(x), x[:, 4])
        assert torch.equal(at_last_token(x, torch.ones(4, 5, dtype=torch.bool)), x[:, 4])
