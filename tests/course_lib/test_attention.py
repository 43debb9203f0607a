"""Scaled dot-product attention: the slides' numbers, the two paths, and the edges."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.testing import assert_close

from course_lib.attention import (
    attention,
    attention_gradients,
    attention_weights,
    contextual_embedding,
    dot_product_variance,
    scaled_dot_product_attention,
    softmax_jacobian,
)

# Worked example A, die Katze (S2): two queries from the target, three keys that are also the values.
Q = torch.tensor([[-1.0, -2.5], [4.0, 3.0]])
K = V = torch.tensor([[-2.0, -4.0], [-2.5, -0.5], [4.5, 2.5]])


def rounded(values: list[list[float]], actual: Tensor, digits: int = 4) -> None:
    """Assert that `actual` prints as `values` when it is rounded to so many digits."""
    assert_close(actual, torch.tensor(values, dtype=actual.dtype), atol=0.5 * 10**-digits + 1e-6, rtol=0)


class TestWorkedExampleA:
    def test_right_numbers(self) -> None:
        steps = attention(Q, K, V)
        assert_close(steps.scores, torch.tensor([[12.0, 3.75, -10.75], [-20.0, -11.5, 25.5]]))
        rounded([[8.4853, 2.6517, -7.6014], [-14.1421, -8.1317, 18.0312]], steps.scaled)
        assert steps.masked is steps.scaled
        rounded([[0.9971, 0.0029, 0.0000], [0.0, 0.0, 1.0]], steps.alpha)
        rounded([[-2.0015, -3.9898], [4.5000, 2.5000]], steps.out)


class TestSteps:
    def test_each_step_follows_from_the_one_before(self) -> None:
        q, k, v = torch.randn(2, 3, 5, 8), torch.randn(2, 3, 7, 8), torch.randn(2, 3, 7, 4)
        mask = torch.rand(2, 1, 5, 7) < 0.7
        steps = attention(q, k, v, mask)
        assert_close(steps.scores[1, 2, 3, 4], torch.dot(q[1, 2, 3], k[1, 2, 4]))
        assert_close(steps.scaled, steps.scores / math.sqrt(8))
        assert torch.equal(steps.masked.isneginf(), (~mask).expand_as(steps.masked))
        assert_close(steps.alpha, attention_weights(steps.masked))
        assert_close(steps.out, steps.alpha @ v)
        assert steps.out.shape == (2, 3, 5, 4)

    def test_weights_survive_scores_that_overflow_exp(self) -> None:
        scaled = torch.tensor([[1000.0, 999.0, -1000.0]])
        e = math.e
        assert_close(attention_weights(scaled), torch.tensor([[e / (1 + e), 1 / (1 + e), 0.0]]))

    @pytest.mark.parametrize("leading", [(), (2,), (2, 3), (2, 1, 3)])
    def test_any_leading_dimensions(self, leading: tuple[int, ...]) -> None:
        q, k, v = torch.randn(*leading, 4, 8), torch.randn(*leading, 5, 8), torch.randn(*leading, 5, 6)
        out = scaled_dot_product_attention(q, k, v)
        assert out.shape == (*leading, 4, 6)
        flat = [x.reshape(-1, *x.shape[-2:]) for x in (q, k, v)]
        one_by_one = torch.stack([attention(*each).out for each in zip(*flat, strict=True)])
        assert_close(out, one_by_one.reshape(out.shape))


def mask_of(kind: str) -> Tensor | None:
    masks = {
        "none": None,
        "causal": torch.ones(6, 6, dtype=torch.bool).tril(),
        "each batch its own": torch.rand(2, 1, 6, 6) < 0.6,
        "a fully masked row": torch.ones(6, 6, dtype=torch.bool).tril(-1),
        "nothing allowed": torch.zeros(6, 6, dtype=torch.bool),
    }
    return masks[kind]


MASKS = ["none", "causal", "each batch its own", "a fully masked row", "nothing allowed"]


class TestFused:
    @pytest.mark.parametrize("kind", MASKS)
    def test_equals_the_explicit_path_forward_and_backward(self, kind: str) -> None:
        inputs = [torch.randn(2, 3, 6, 8, dtype=torch.float64, requires_grad=True) for _ in "qkv"]
        mask = mask_of(kind)
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


class TestFullyMaskedRows:
    @pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
    @pytest.mark.parametrize("path", ["explicit", "fused"])
    def test_zero_and_finite_forward_and_backward(self, dtype: torch.dtype, path: str) -> None:
        inputs = [torch.randn(2, 4, 8).to(dtype).requires_grad_() for _ in "qkv"]
        mask = torch.ones(4, 4, dtype=torch.bool)
        mask[1] = False
        attend = F.scaled_dot_product_attention if path == "fused" else scaled_dot_product_attention
        out = attend(*inputs, mask)
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


def test_an_additive_mask_is_told_how_to_become_boolean() -> None:
    with pytest.raises(TypeError, match=r"or mask == 0 for an additive mask"):
        attention(Q, K, V, torch.zeros(1, 1))


class TestContextualEmbedding:
    def test_is_self_attention_without_scaling(self) -> None:
        embeddings = torch.randn(5, 4)
        weights = torch.tensor([torch.dot(embeddings[j], embeddings[2]).exp().item() for j in range(5)])
        expected = (weights / weights.sum()) @ embeddings
        assert_close(contextual_embedding(embeddings, 2), expected)

    def test_follows_the_word_when_the_sentence_is_shuffled(self) -> None:
        embeddings, order = torch.randn(5, 4), torch.tensor([3, 1, 4, 0, 2])
        assert_close(contextual_embedding(embeddings[order], 0), contextual_embedding(embeddings, 3))


class TestWhyScale:
    @pytest.mark.parametrize("d_head", [4, 64])
    def test_the_variance_of_a_dot_product_is_about_its_dimension(self, d_head: int) -> None:
        generator = torch.Generator().manual_seed(0)
        q, k = torch.randn(2, 20_000, d_head, generator=generator)
        assert dot_product_variance(q, k).item() == pytest.approx(d_head, rel=0.05)

    def test_the_variance_is_unbiased(self) -> None:
        q, k = torch.tensor([[1.0], [3.0]]), torch.tensor([[1.0], [1.0]])
        assert dot_product_variance(q, k).item() == pytest.approx(2.0)  # dividing by samples would give 1

    def test_the_jacobian_is_autograds(self) -> None:
        scores = torch.randn(4)
        expected = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, dim=-1), scores)
        assert_close(softmax_jacobian(scores), expected)
        assert_close(softmax_jacobian(torch.stack([scores, scores]))[1], expected)

    def test_the_jacobian_vanishes_for_large_scores(self) -> None:
        assert softmax_jacobian(torch.tensor([40.0, 0.0, -40.0])).abs().max() < 1e-12


@pytest.mark.parametrize("leading", [(), (2,), (2, 3)])
def test_gradients_are_those_of_autograd(leading: tuple[int, ...]) -> None:
    q, k, v = (torch.randn(*leading, *shape, requires_grad=True) for shape in ((4, 8), (5, 8), (5, 6)))
    of_out = torch.randn(*leading, 4, 6)
    expected = torch.autograd.grad(scaled_dot_product_attention(q, k, v), (q, k, v), of_out)
    assert_close(attention_gradients(q.detach(), k.detach(), v.detach(), of_out), expected)
