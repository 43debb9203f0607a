"""The blocks, beside torch's own layers with the same weights."""

from __future__ import annotations

import dataclasses

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.testing import assert_close

from course_lib.blocks import (
    BlockConfig,
    DecoderBlock,
    EncoderBlock,
    FeedForward,
    PlainEncoderBlock,
    PostNorm,
    PreNorm,
    add_and_norm,
    block_parameters,
    drop,
    dropout,
    layer_norm,
)
from course_lib.masking import causal_mask, combined_mask, padding_mask
from tests.course_lib.parameters import count_parameters
from tests.course_lib.torch_twins import attention_weights, block_weights

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
        out = ours(x, memory, combined_mask(causal_mask(4), target), PADDING.unsqueeze(1)).out
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


class TestDropout:
    def test_what_stays_is_what_torchs_module_leaves(self) -> None:
        x = torch.randn(4000)
        ours, theirs = dropout(x, 0.4, generator=torch.Generator().manual_seed(0)), nn.Dropout(0.4)(x)
        for dropped in (ours, theirs):
            assert ((dropped == 0).float().mean() - 0.4).abs() < 0.05  # some six standard deviations
        both = (ours != 0) & (theirs != 0)
        assert_close(ours[both], theirs[both])
        assert_close(ours[both], x[both] / 0.6)

    def test_the_mean_is_kept(self) -> None:
        dropped = dropout(torch.ones(100_000), 0.25, generator=torch.Generator().manual_seed(0))
        assert dropped.mean().item() == pytest.approx(1, abs=0.02)

    def test_each_call_draws_anew_and_a_generator_decides(self) -> None:
        x = torch.ones(100)
        assert not torch.equal(dropout(x, 0.5), dropout(x, 0.5))
        assert torch.equal(*(dropout(x, 0.5, generator=torch.Generator().manual_seed(3)) for _ in range(2)))

    def test_is_off_in_evaluation_and_at_a_share_of_0(self) -> None:
        x = torch.randn(5)
        assert torch.equal(dropout(x, 0.5, training=False), x)
        assert torch.equal(dropout(x, 0.0), x)

    @pytest.mark.parametrize("share", [-0.1, 1.0])
    def test_impossible_shares_are_refused(self, share: float) -> None:
        with pytest.raises(ValueError, match=f"at least 0 and below 1, not {share}"):
            dropout(torch.ones(2), share)

    def test_with_lots_drawn_before(self) -> None:
        x, kept = torch.tensor([2.0, 4.0, 8.0]), torch.tensor([True, False, True])
        assert torch.equal(drop(x, kept, 0.5, True), torch.tensor([4.0, 0.0, 16.0]))
        assert torch.equal(drop(x, kept, 0.5, False), x)


@pytest.mark.parametrize("kind", [PostNorm, PreNorm])
class TestAddAndNorm:
    def test_as_a_function(self, kind: type[PostNorm | PreNorm]) -> None:
        module, x = kind(nn.LayerNorm(D_MODEL), 0.0), torch.randn(2, 5, D_MODEL)
        module.dropout.forward = lambda y: y / 2  # type: ignore[method-assign]
        expected = add_and_norm(x, torch.tanh, module.norm, module.dropout, kind is PreNorm)
        assert_close(module(x, torch.tanh), expected)

    def test_drops_only_what_the_sublayer_adds_and_only_in_training(self, kind: type[PostNorm | PreNorm]) -> None:
        module, x = kind(nn.LayerNorm(D_MODEL), 1.0), torch.randn(2, 5, D_MODEL)
        assert_close(module(x, torch.tanh), x if kind is PreNorm else module.norm(x))
        module.eval()
        assert_close(module(x, torch.tanh), add_and_norm(x, torch.tanh, module.norm, nn.Identity(), kind is PreNorm))


def plain_weights(ours: EncoderBlock) -> dict[str, Tensor]:
    """The weights of a block under the names of `PlainEncoderBlock`."""
    weights = attention_weights(ours.self_attention, "attention.")
    for number, layer in [(1, ours.feed_forward.W_1), (2, ours.feed_forward.W_2)]:
        weights |= {f"W_{number}.weight": layer.weight, f"W_{number}.bias": layer.bias}
    for number, layer in [(1, ours.add_and_norm_1), (2, ours.add_and_norm_2)]:
        weights |= {f"norm_{number}.{name}": value for name, value in layer.norm.named_parameters()}
    return weights


@pytest.mark.parametrize("norm_first", [False, True])
def test_the_plain_block_is_the_block(norm_first: bool) -> None:
    ours = shaken(EncoderBlock(dataclasses.replace(SIZES, norm_first=norm_first)))
    plain = PlainEncoderBlock(D_MODEL, HEADS, D_HIDDEN, norm_first=norm_first)
    plain.load_state_dict(plain_weights(ours))
    x = torch.randn(2, 5, D_MODEL)
    assert_close(plain(x, PADDING), ours(x, PADDING.unsqueeze(1)).out)


@pytest.mark.parametrize("heads", [1, 3, 4])
def test_parameters_are_those_of_a_block(heads: int) -> None:
    counted = block_parameters(D_MODEL, heads, D_HIDDEN)
    block = EncoderBlock(BlockConfig(D_MODEL, heads, D_HIDDEN))
    assert sum(counted.values()) == count_parameters(block)
    assert counted["attention"] == 0
    assert counted["projections"] == count_parameters(block.self_attention)
    assert counted["feed_forward"] == count_parameters(block.feed_forward)


@pytest.mark.parametrize("block", [EncoderBlock, DecoderBlock])
def test_dropout_is_off_in_evaluation(block: type[nn.Module]) -> None:
    layer, x = block(dataclasses.replace(SIZES, dropout=0.5)), torch.randn(2, 5, D_MODEL)
    inputs = (x,) if block is EncoderBlock else (x, torch.randn(2, 6, D_MODEL))
    assert not torch.equal(layer(*inputs).out, layer(*inputs).out)
    layer.eval()
    assert torch.equal(layer(*inputs).out, layer(*inputs).out)
