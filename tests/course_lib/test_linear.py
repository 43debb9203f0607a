"""The linear layer equals torch's, forward and backward, small and large, and keeps its memory's layout."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from course_lib import linear as linear_module
from course_lib.linear import ACTIVATIONS, LEAST_WORK, Activation, Linear, linear

SMALL, LARGE = (2, 3, 8, 12), (4, 64, 48, 40)


def pair(d_in: int, d_out: int, bias: bool = True) -> tuple[Linear, nn.Linear]:
    ours, theirs = Linear(d_in, d_out, bias), nn.Linear(d_in, d_out, bias)
    theirs.load_state_dict(ours.state_dict())
    return ours, theirs


def test_the_sizes_are_on_both_sides_of_the_line() -> None:
    assert 2 * 3 * 8 * 12 < LEAST_WORK < 4 * 64 * 48 * 40


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("sizes", [SMALL, LARGE])
def test_equals_torchs_forward_and_backward(sizes: tuple[int, int, int, int], bias: bool) -> None:
    batch, words, d_in, d_out = sizes
    ours, theirs = pair(d_in, d_out, bias)
    x = torch.randn(batch, words, d_in, requires_grad=True)
    out, expected = ours(x), theirs(x)
    assert_close(out, expected)
    cotangent = torch.randn_like(out)
    gradients = torch.autograd.grad(out, [x, *ours.parameters()], cotangent)
    assert_close(gradients, torch.autograd.grad(expected, [x, *theirs.parameters()], cotangent), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("activation", list(ACTIVATIONS))
@pytest.mark.parametrize("sizes", [SMALL, LARGE])
def test_bends_its_line_the_same_with_gradients_and_without(
    sizes: tuple[int, int, int, int], activation: Activation
) -> None:
    batch, words, d_in, d_out = sizes
    ours, theirs = pair(d_in, d_out)
    x = torch.randn(batch, words, d_in, requires_grad=True)
    out, expected = ours(x, activation), ACTIVATIONS[activation](theirs(x))
    assert_close(out, expected)
    assert_close(torch.autograd.grad(out.sum(), x), torch.autograd.grad(expected.sum(), x), rtol=1e-4, atol=1e-4)
    with torch.inference_mode():
        assert_close(ours(x, activation), expected.detach())


def test_has_gradients_of_gradients() -> None:
    ours, theirs = pair(48, 40)
    x = torch.randn(256, 48, requires_grad=True)

    def penalty(layer: nn.Module) -> Tensor:
        (gradient,) = torch.autograd.grad(layer(x).square().sum(), x, create_graph=True)
        return torch.autograd.grad(gradient.square().sum(), layer.weight)[0]

    assert_close(penalty(ours), penalty(theirs), rtol=1e-4, atol=1e-2)


def test_gradients_flow_only_where_they_are_wanted() -> None:
    layer = Linear(48, 40).requires_grad_(False)
    x = torch.randn(256, 48, requires_grad=True)
    layer(x).sum().backward()
    assert layer.weight.grad is None
    assert layer.bias.grad is None
    assert_close(x.grad, layer.weight.sum(dim=0).expand(256, 48))


@pytest.mark.parametrize("fused", [True, False])
def test_an_optimizer_moves_it_as_it_moves_torchs(fused: bool) -> None:
    ours, theirs = pair(48, 40)
    x = torch.randn(256, 48)
    for layer in (ours, theirs):
        optimizer = torch.optim.AdamW(layer.parameters(), lr=0.1, fused=fused)
        for _ in range(3):
            optimizer.zero_grad()
            layer(x).square().mean().backward()
            optimizer.step()
    assert_close(dict(ours.named_parameters()), dict(theirs.named_parameters()), rtol=1e-4, atol=1e-4)


def test_the_layout_survives_a_copy_a_move_and_loading() -> None:
    layer = Linear(6, 4)
    moved = copy.deepcopy(layer).double().float()
    moved.load_state_dict(nn.Linear(6, 4).state_dict())
    assert layer.weight.stride() == moved.weight.stride() == (1, 4)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_computes_in_other_dtypes_too(dtype: torch.dtype) -> None:
    ours, theirs = pair(48, 40)
    x = torch.randn(256, 48, dtype=dtype)
    assert_close(ours.to(dtype)(x), theirs.to(dtype)(x))


def test_autocast_computes_in_its_dtype() -> None:
    with torch.autocast("cpu", torch.bfloat16):
        assert Linear(48, 40)(torch.randn(256, 48)).dtype == torch.bfloat16


def test_a_slice_of_the_weight_will_do() -> None:
    layer, x = Linear(48, 120), torch.randn(256, 48)
    assert_close(linear(x, layer.weight[40:80], layer.bias[40:80]), layer(x)[:, 40:80])


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        Linear(48, 40)(torch.randn(256, 47))


def test_a_weight_with_gaps_is_not_given_to_onednn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answer would be right, and take hundreds of times as long: cross-attention trains on such slices."""
    asked: list[Tensor] = []

    def watched(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        asked.append(weight)
        return nn.functional.linear(x, weight, bias)

    monkeypatch.setattr(linear_module, "_product", watched)
    x, whole = torch.randn(4, 64, 48, requires_grad=True), Linear(48, 120).weight
    linear(x, whole[40:]).sum().backward()
    assert all(weight.is_contiguous() or weight.t().is_contiguous() for weight in asked)
    linear(x, whole)
    assert len(asked) >= 1
