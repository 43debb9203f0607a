"""Multi-head attention, beside torch's own with the same weights."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from course_lib.masking import causal_mask, combined_mask, padding_mask
from course_lib.multihead import MultiHeadAttention, join_heads, split_heads

D_MODEL, HEADS = 12, 3


def torch_twin(ours: MultiHeadAttention) -> nn.MultiheadAttention:
    """Torch's multi-head attention with the weights of ours."""
    theirs = nn.MultiheadAttention(D_MODEL, ours.heads, batch_first=True)
    theirs.load_state_dict(
        {
            "in_proj_weight": ours.W_qkv.weight,
            "in_proj_bias": ours.W_qkv.bias,
            "out_proj.weight": ours.W_o.weight,
            "out_proj.bias": ours.W_o.bias,
        }
    )
    return theirs


@pytest.fixture
def multihead() -> MultiHeadAttention:
    return MultiHeadAttention(D_MODEL, HEADS)


def test_heads_are_cut_from_each_word_and_joined_again() -> None:
    x = torch.randn(2, 5, D_MODEL)
    heads = split_heads(x, HEADS)
    assert heads.shape == (2, HEADS, 5, D_MODEL // HEADS)
    assert torch.equal(heads[1, 2, 3], x[1, 3, 8:12])
    assert torch.equal(join_heads(heads), x)


class TestAgainstTorch:
    @pytest.mark.parametrize("masked", [False, True])
    def test_self_attention(self, multihead: MultiHeadAttention, masked: bool) -> None:
        x = torch.randn(2, 5, D_MODEL)
        mask = causal_mask(5) if masked else None
        ours = multihead(x, mask=mask, need_weights=True)
        out, alpha = torch_twin(multihead)(
            x, x, x, attn_mask=None if mask is None else ~mask, average_attn_weights=False
        )
        assert_close(ours.out, out)
        assert_close(ours.alpha, alpha)

    def test_cross_attention_with_padding(self, multihead: MultiHeadAttention) -> None:
        x, memory = torch.randn(2, 4, D_MODEL), torch.randn(2, 6, D_MODEL)
        padding = padding_mask(torch.tensor([6, 3]), 6)
        ours = multihead(x, memory, padding.unsqueeze(1))
        out, _ = torch_twin(multihead)(x, memory, memory, key_padding_mask=~padding)
        assert_close(ours.out, out)

    def test_gradients(self, multihead: MultiHeadAttention) -> None:
        theirs, x = torch_twin(multihead), torch.randn(2, 5, D_MODEL)
        multihead(x).out.square().sum().backward()
        theirs(x, x, x)[0].square().sum().backward()
        assert_close(multihead.W_qkv.weight.grad, theirs.in_proj_weight.grad)
        assert_close(multihead.W_o.weight.grad, theirs.out_proj.weight.grad)


class TestMasks:
    MASKS = {
        "queries keys": causal_mask(4),
        "batch queries keys": combined_mask(causal_mask(4), padding_mask(torch.tensor([4, 2]), 4)),
        "batch 1 keys": padding_mask(torch.tensor([4, 2]), 4).unsqueeze(1),
        "batch heads queries keys": torch.rand(2, HEADS, 4, 4) < 0.6,
        "a query that may attend to nothing": causal_mask(4).tril(-1),
    }

    @pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
    def test_both_paths_agree_and_alpha_keeps_to_the_mask(self, multihead: MultiHeadAttention, mask: Tensor) -> None:
        x = torch.randn(2, 4, D_MODEL)
        explicit, fused = multihead(x, mask=mask, need_weights=True), multihead(x, mask=mask)
        assert_close(fused.out, explicit.out)
        assert fused.alpha is None
        full = (mask.unsqueeze(1) if mask.dim() == 3 else mask).expand(2, HEADS, 4, 4)
        assert torch.equal(explicit.alpha > 0, full)

    def test_a_hidden_word_has_no_influence(self, multihead: MultiHeadAttention) -> None:
        x = torch.randn(1, 4, D_MODEL)
        before = multihead(x, mask=causal_mask(4)).out
        x[0, 3] = 100.0
        after = multihead(x, mask=causal_mask(4)).out
        assert torch.equal(after[:, :3], before[:, :3])
        assert not torch.allclose(after[:, 3], before[:, 3])


def test_the_dimension_must_fit_the_heads() -> None:
    with pytest.raises(ValueError, match="multiple of the number of heads, not 10 for 3 heads"):
        MultiHeadAttention(10, 3)
