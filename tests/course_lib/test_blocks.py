"""The blocks, beside torch's own layers with the same weights."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from course_lib.blocks import (
    BlockConfig,
    DecoderBlock,
    EncoderBlock,
    FeedForward,
)
from course_lib.masking import causal_mask, padding_mask
from tests.course_lib.torch_twins import block_weights

D_MODEL, HEADS, D_HIDDEN = 12, 3, 20
SIZES = BlockConfig(D_MODEL, HEADS, D_HIDDEN)
PADDING = padding_mask(torch.tensor([5, 3]), 5)


def shaken(block: nn.Module) -> nn.Module:
    """The block with every parameter drawn anew, so that no gain of 1 or bias of 0 hides a mistake."""
    for parameter in block.parameters():
        nn.init.normal_(parameter, std=0.3)
    return block


class TestAgainstTorch:
    def test_encoder_block(self) -> None:
        ours = shaken(EncoderBlock(SIZES))
        theirs = nn.TransformerEncoderLayer(D_MODEL, HEADS, D_HIDDEN, dropout=0.0, batch_first=True)
        theirs.load_state_dict(block_weights(ours))
        x = torch.randn(2, 5, D_MODEL, requires_grad=True)
        out, expected = ours(x, PADDING.unsqueeze(1)).out, theirs(x, src_key_padding_mask=~PADDING)
        assert_close(out, expected)
        cotangent = torch.randn_like(out)
        assert_close(torch.autograd.grad(out, x, cotangent), torch.autograd.grad(expected, x, cotangent))

    def test_decoder_block(self) -> None:
        ours = shaken(DecoderBlock(SIZES))
        theirs = nn.TransformerDecoderLayer(D_MODEL, HEADS, D_HIDDEN, dropout=0.0, batch_first=True)
        theirs.load_state_dict(block_weights(ours))
        x, memory = torch.randn(2, 4, D_MODEL), torch.randn(2, 5, D_MODEL)
        target = padding_mask(torch.tensor([4, 2]), 4)
        out = ours(x, memory, causal_mask(4) & target.unsqueeze(1), PADDING.unsqueeze(1)).out
        expected = theirs(
            x,
            memory,
            tgt_mask=~causal_mask(4),
            tgt_key_padding_mask=~target,
            memory_key_padding_mask=~PADDING,
        )
        assert_close(out, expected)


def test_the_feed_forward_network_sees_one_token_at_a_time() -> None:
    network, x = FeedForward(D_MODEL, D_HIDDEN), torch.randn(2, 5, D_MODEL)
    assert_close(network(x)[1, 3], network(x[1, 3]))
    hidden = (x @ network.W_1.weight.T + network.W_1.bias).clamp(min=0)
    assert_close(network(x), hidden @ network.W_2.weight.T + network.W_2.bias)


@pytest.mark.parametrize("block", [EncoderBlock, DecoderBlock])
def test_dropout_is_off_in_evaluation(block: type[nn.Module]) -> None:
    layer, x = block(dataclasses.replace(SIZES, dropout=0.5)), torch.randn(2, 5, D_MODEL)
    inputs = (x,) if block is EncoderBlock else (x, torch.randn(2, 6, D_MODEL))
    assert not torch.equal(layer(*inputs).out, layer(*inputs).out)
    layer.eval()
    assert torch.equal(layer(*inputs).out, layer(*inputs).out)
