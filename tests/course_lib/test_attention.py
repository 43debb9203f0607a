"""Scaled dot-product attention: the two paths, and the edges."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.testing import assert_close

from course_lib.attention import (
    attention,
    attention_weights,
    scaled_dot_product_attention,
)


def test_each_step_follows_from_the_one_before() -> None:
    q, k, v = torch.randn(2, 3, 5, 8), torch.randn(2, 3, 7, 8), torch.randn(2, 3, 7, 4)
    mask = torch.rand(2, 1, 5, 7) < 0.7
    steps = attention(q, k, v, mask)
    assert_close(steps.scores[1, 2, 3, 4], torch.dot(q[1, 2, 3], k[1, 2, 4]))
    assert_close(steps.scaled, steps.scores / math.sqrt(8))
    assert torch.equal(steps.masked.isneginf(), (~mask).expand_as(steps.masked))
    assert_close(steps.alpha, attention_weights(steps.masked))
    assert_close(steps.out, steps.alpha @ v)
    assert steps.out.shape == (2, 3, 5, 4)


MASKS = {
    "none": None,
    "causal": torch.ones(6, 6, dtype=torch.bool).tril(),
    "each batch its own": torch.rand(2, 1, 6, 6) < 0.6,
    "a fully masked row": torch.ones(6, 6, dtype=torch.bool).tril(-1),
    "nothing allowed": torch.zeros(6, 6, dtype=torch.bool),
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_the_fused_path_equals_the_explicit_one_forward_and_backward(mask: Tensor | None) -> None:
    inputs = [torch.randn(2, 3, 6, 8, dtype=torch.float64, requires_grad=True) for _ in "qkv"]
    explicit, fused = attention(*inputs, mask).out, F.scaled_dot_product_attention(*inputs, mask)
    assert_close(fused, explicit)
    cotangent = torch.randn_like(explicit)
    expected = torch.autograd.grad(explicit, inputs, cotangent)
    actual = torch.autograd.grad(fused, inputs, cotangent)
    assert all(gradient.isfinite().all() for gradient in expected)
    for ours, theirs in zip(expected, actual, strict=True):
        assert_close(theirs, ours)


class TestHalfPrecision:
    """64 products of 60 and 60 make 230,400, more than fp16's 65,504; the weights are equal all the same."""

    @pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
    @pytest.mark.parametrize("value", [60.0, 200.0])  # of 200 the scaled scores would overflow, too
    def test_large_scores_stay_finite_forward_and_backward(self, dtype: torch.dtype, value: float) -> None:
        inputs = [torch.full((2, 3, 64), value, dtype=dtype, requires_grad=True) for _ in "qkv"]
        steps = attention(*inputs)
        assert torch.equal(steps.scores, torch.full((2, 3, 3), 64 * value**2))
        assert (steps.alpha.dtype, steps.out.dtype) == (dtype, dtype)
        assert_close(steps.out, F.scaled_dot_product_attention(*inputs))
        assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(steps.out.sum(), inputs))

    def test_autocast_does_not_make_them_overflow_again(self) -> None:
        x = torch.full((1, 3, 64), 60.0)
        with torch.autocast("cpu", torch.float16):
            steps = attention(x, x, x)
        assert_close(steps.out.float(), x, rtol=1e-3, atol=0)

    def test_is_as_near_to_single_precision_as_the_fused_kernel(self) -> None:
        whole = torch.randn(3, 2, 6, 64, generator=torch.Generator().manual_seed(0))
        q, k, v = whole.half()
        expected = attention(*(x.float() for x in (q, k, v))).out
        assert_close(attention(q, k, v).out.float(), expected, rtol=2e-3, atol=1e-3)

    def test_tensors_without_values_have_shapes(self) -> None:
        x = torch.empty(2, 3, 8, device="meta", dtype=torch.float16)
        assert attention(x, x, x).out.shape == (2, 3, 8)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_fully_masked_rows_are_zero_and_finite_forward_and_backward(dtype: torch.dtype) -> None:
    inputs = [torch.randn(2, 4, 8).to(dtype).requires_grad_() for _ in "qkv"]
    mask = torch.ones(4, 4, dtype=torch.bool)
    mask[1] = False
    out = scaled_dot_product_attention(*inputs, mask)
    assert out.dtype == dtype
    assert torch.equal(out[:, 1], torch.zeros_like(out[:, 1]))
    assert (out[:, 0] != 0).any()
    gradients = torch.autograd.grad(out.sum(), inputs)
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert torch.equal(gradients[0][:, 1], torch.zeros_like(gradients[0][:, 1]))


class TestWhatDoesNotFit:
    @pytest.mark.parametrize("shape", [(4,), (2, 4), (3, 5), (2, 2, 4), (4, 3)])
    def test_a_mask_for_other_queries_or_keys(self, shape: tuple[int, ...]) -> None:
        with pytest.raises(ValueError, match=r"mask must be \[3, 4\] \(queries, keys\), or have 1 .*, not \[.*\]"):
            attention(torch.randn(2, 3, 8), torch.randn(2, 4, 8), torch.randn(2, 4, 8), torch.ones(shape).bool())

    @pytest.mark.parametrize("shape", [(1, 4), (3, 1), (2, 1, 4), (1, 1)])
    def test_a_mask_may_be_of_one_for_all(self, shape: tuple[int, ...]) -> None:
        q, k, v, mask = torch.randn(2, 3, 8), torch.randn(2, 4, 8), torch.randn(2, 4, 8), torch.rand(shape) < 0.7
        assert_close(attention(q, k, v, mask).out, attention(q, k, v, mask.expand(2, 3, 4)).out)
