"""Lesson 04's own forms, beside the library's."""

import dataclasses
from collections.abc import Mapping

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from course_lib import blocks, multihead
from course_lib.blocks import PostNorm, PreNorm
from course_lib.ground.torch_heads import TorchAttention
from course_lib.masking import causal_mask, padding_mask
from course_lib.references.heads_and_blocks import (
    AddAndNorm,
    EncoderBlock,
    FeedForward,
    MultiHeadAttention,
)
from tests.course_lib.torch_twins import shaken

D_MODEL, HEADS, D_FF = 12, 3, 20
SIZES = blocks.BlockConfig(D_MODEL, HEADS, D_FF)
PADDING = padding_mask(torch.tensor([5, 3]), 5)


def joined(module: PostNorm | PreNorm, x: Tensor) -> Tensor:
    return module.add(x, torch.tanh(module.sublayer_input(x)))


@pytest.mark.parametrize("kind", [PostNorm, PreNorm])
def test_add_and_norm_is_as_lesson_04_has_it(kind: type[PostNorm | PreNorm]) -> None:
    module, x = kind(nn.LayerNorm(D_MODEL), 0.0), torch.randn(2, 5, D_MODEL)
    module.dropout.forward = lambda y: y / 2  # type: ignore[method-assign]
    expected = AddAndNorm(module.norm, module.dropout, kind is PreNorm)(x, torch.tanh)
    assert_close(joined(module, x), expected)


@pytest.mark.parametrize("attention", [MultiHeadAttention, TorchAttention])
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize(
    ("mask", "keys"),
    [(None, 5), (PADDING.unsqueeze(1), 5), (causal_mask(5).unsqueeze(0), 5)],
    ids=["none", "padding", "causal"],
)
def test_the_block_is_the_librarys_with_its_projections_apart(
    attention: type[nn.Module], norm_first: bool, mask: Tensor | None, keys: int
) -> None:
    ours = shaken(blocks.EncoderBlock(dataclasses.replace(SIZES, norm_first=norm_first)))
    joins = [AddAndNorm(nn.LayerNorm(D_MODEL), nn.Identity(), norm_first) for _ in range(2)]
    plain = EncoderBlock(attention(D_MODEL, HEADS), joins[0], FeedForward(D_MODEL, D_FF), joins[1])
    plain.load_state_dict(apart(ours.state_dict()))
    x = torch.randn(2, keys, D_MODEL)
    assert_close(plain(x, mask), ours(x, mask).out)


@pytest.mark.parametrize("attention", [MultiHeadAttention, TorchAttention])
def test_attention_to_a_memory_with_and_without_biases(attention: type[nn.Module]) -> None:
    x, memory, mask = torch.randn(2, 4, D_MODEL), torch.randn(2, 5, D_MODEL), PADDING.unsqueeze(1)
    for bias in (True, False):
        ours = shaken(multihead.MultiHeadAttention(D_MODEL, HEADS, bias=bias))
        plain = attention(D_MODEL, HEADS, bias)
        plain.load_state_dict(apart(ours.state_dict()))
        assert_close(plain(x, memory, mask), ours(x, memory, mask).out)


def apart(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """A state dict with W_q, W_k and W_v for each W_qkv."""
    found = {}
    for name, value in weights.items():
        pieces = zip("qkv", value.chunk(3), strict=True) if "W_qkv" in name else [("qkv", value)]
        found |= {name.replace("W_qkv", f"W_{letter}"): piece for letter, piece in pieces}
    return found
