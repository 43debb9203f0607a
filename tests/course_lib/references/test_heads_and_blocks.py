"""Lesson 04's own forms, beside torch's and the library's."""

from __future__ import annotations

import dataclasses

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.testing import assert_close

from course_lib import blocks
from course_lib.blocks import PostNorm, PreNorm
from course_lib.masking import padding_mask
from course_lib.references.heads_and_blocks import EncoderBlock, add_and_norm, block_parameters, dropout, layer_norm
from tests.course_lib.parameters import count_parameters
from tests.course_lib.test_blocks import shaken
from tests.course_lib.torch_twins import attention_weights

D_MODEL, HEADS, D_FF = 12, 3, 20
SIZES = blocks.BlockConfig(D_MODEL, HEADS, D_FF)
PADDING = padding_mask(torch.tensor([5, 3]), 5)


class TestLayerNorm:
    @pytest.mark.parametrize("shape", [(D_MODEL,), (5, D_MODEL), (2, 5, D_MODEL)])
    @pytest.mark.parametrize("epsilon", [1e-5, 1e-12, 0.5])
    def test_equals_torchs_forward_and_backward(self, shape: tuple[int, ...], epsilon: float) -> None:
        gamma, beta = torch.randn(2, D_MODEL)
        x = (3 + 2 * torch.randn(shape)).requires_grad_()
        ours, theirs = layer_norm(x, gamma, beta, epsilon), F.layer_norm(x, [D_MODEL], gamma, beta, epsilon)
        assert_close(ours, theirs)
        cotangent = torch.randn_like(ours)
        expected = torch.autograd.grad(theirs, x, cotangent)
        assert_close(torch.autograd.grad(ours, x, cotangent), expected, rtol=1e-4, atol=1e-5)

    def test_equal_numbers_become_beta(self) -> None:
        beta = torch.randn(D_MODEL)
        assert_close(layer_norm(torch.full((2, D_MODEL), 7.0), torch.ones(D_MODEL), beta), beta.expand(2, -1))


def test_dropout_leaves_what_torchs_module_leaves() -> None:
    x = torch.randn(4000)
    theirs = nn.Dropout(0.4)(x)
    assert_close(dropout(x, theirs != 0, 0.4, True), theirs)
    assert torch.equal(dropout(x, theirs != 0, 0.4, False), x)


def joined(module: PostNorm | PreNorm, x: Tensor) -> Tensor:
    return module.add(x, torch.tanh(module.sublayer_input(x)))


@pytest.mark.parametrize("kind", [PostNorm, PreNorm])
class TestAddAndNorm:
    def test_as_a_function(self, kind: type[PostNorm | PreNorm]) -> None:
        module, x = kind(nn.LayerNorm(D_MODEL), 0.0), torch.randn(2, 5, D_MODEL)
        module.dropout.forward = lambda y: y / 2  # type: ignore[method-assign]
        expected = add_and_norm(x, torch.tanh, module.norm, module.dropout, kind is PreNorm)
        assert_close(joined(module, x), expected)

    def test_drops_only_what_the_sublayer_adds_and_only_in_training(self, kind: type[PostNorm | PreNorm]) -> None:
        module, x = kind(nn.LayerNorm(D_MODEL), 1.0), torch.randn(2, 5, D_MODEL)
        assert_close(joined(module, x), x if kind is PreNorm else module.norm(x))
        module.eval()
        assert_close(joined(module, x), add_and_norm(x, torch.tanh, module.norm, nn.Identity(), kind is PreNorm))


def plain_weights(ours: blocks.EncoderBlock) -> dict[str, Tensor]:
    """The weights of a block under the names of the reference."""
    weights = attention_weights(ours.self_attention, "attention.")
    for number, layer in [(1, ours.feed_forward.W_1), (2, ours.feed_forward.W_2)]:
        weights |= {f"W_{number}.weight": layer.weight, f"W_{number}.bias": layer.bias}
    for number, layer in [(1, ours.add_and_norm_1), (2, ours.add_and_norm_2)]:
        weights |= {f"norm_{number}.{name}": value for name, value in layer.norm.named_parameters()}
    return weights


@pytest.mark.parametrize("norm_first", [False, True])
def test_the_plain_block_is_the_block(norm_first: bool) -> None:
    ours = shaken(blocks.EncoderBlock(dataclasses.replace(SIZES, norm_first=norm_first)))
    plain = EncoderBlock(D_MODEL, HEADS, D_FF, norm_first=norm_first)
    plain.load_state_dict(plain_weights(ours))
    x = torch.randn(2, 5, D_MODEL)
    assert_close(plain(x, PADDING), ours(x, PADDING.unsqueeze(1)).out)


@pytest.mark.parametrize("heads", [1, 3, 4])
def test_parameters_are_those_of_a_block(heads: int) -> None:
    counted = block_parameters(D_MODEL, heads, D_FF)
    block = blocks.EncoderBlock(blocks.BlockConfig(D_MODEL, heads, D_FF))
    assert sum(counted.values()) == count_parameters(block)
    assert counted["attention"] == 0
    assert counted["projections"] == count_parameters(block.self_attention)
    assert counted["feed_forward"] == count_parameters(block.feed_forward)
