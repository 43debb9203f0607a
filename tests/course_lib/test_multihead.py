"""Multi-head attention, beside torch's own with the same weights."""

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from course_lib.masking import causal_mask, padding_mask
from course_lib.multihead import (
    CrossAttention,
    LayerKVCache,
    MultiHeadAttention,
)
from tests.course_lib.torch_twins import attention_weights

D_MODEL, HEADS = 12, 3


def torch_twin(ours: MultiHeadAttention) -> nn.MultiheadAttention:
    """Torch's multi-head attention with the weights of ours."""
    theirs = nn.MultiheadAttention(D_MODEL, ours.heads, batch_first=True)
    theirs.load_state_dict(attention_weights(ours))
    return theirs


@pytest.fixture
def multihead() -> MultiHeadAttention:
    return MultiHeadAttention(D_MODEL, HEADS)


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

    @pytest.mark.parametrize("kind", [MultiHeadAttention, CrossAttention])
    def test_cross_attention_with_padding(self, kind: type[MultiHeadAttention]) -> None:
        multihead = kind(D_MODEL, HEADS)
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

    @pytest.mark.parametrize("kind", [MultiHeadAttention, CrossAttention])
    def test_keys_and_values_may_be_made_in_advance(self, kind: type[MultiHeadAttention]) -> None:
        multihead = kind(D_MODEL, HEADS)
        x, memory = torch.randn(2, 4, D_MODEL), torch.randn(2, 6, D_MODEL)
        assert_close(multihead(x, multihead.keys_and_values(memory)).out, multihead(x, memory).out)
        assert_close(multihead(x).out, multihead(x, x).out)


class TestMasks:
    MASKS = {
        "queries keys": causal_mask(4),
        "batch queries keys": causal_mask(4) & padding_mask(torch.tensor([4, 2]), 4).unsqueeze(1),
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


class TestDropout:
    @pytest.mark.parametrize("need_weights", [True, False])
    def test_is_off_in_evaluation_and_on_in_training(self, need_weights: bool) -> None:
        dropping, whole = MultiHeadAttention(D_MODEL, HEADS, dropout=0.5), MultiHeadAttention(D_MODEL, HEADS)
        whole.load_state_dict(dropping.state_dict())
        x = torch.randn(2, 5, D_MODEL)
        assert not torch.allclose(dropping(x, need_weights=need_weights).out, whole(x).out)
        assert_close(dropping.eval()(x, need_weights=need_weights).out, whole(x).out)

    def test_alpha_is_what_was_there_before_it(self) -> None:
        alpha = MultiHeadAttention(D_MODEL, HEADS, dropout=0.5)(torch.randn(2, 5, D_MODEL), need_weights=True).alpha
        assert_close(alpha.sum(dim=-1), torch.ones(2, HEADS, 5))


class TestCausal:
    def test_the_flag_is_the_mask_on_both_paths(self, multihead: MultiHeadAttention) -> None:
        x = torch.randn(2, 5, D_MODEL)
        expected = multihead(x, mask=causal_mask(5)).out
        assert_close(multihead(x, is_causal=True).out, expected)
        assert_close(multihead(x, is_causal=True, need_weights=True).out, expected)

    @pytest.mark.parametrize("need_weights", [False, True])
    def test_the_flag_is_refused_where_tokens_came_before(
        self, multihead: MultiHeadAttention, need_weights: bool
    ) -> None:
        kv_cache = LayerKVCache(2, HEADS, 8, 4)
        multihead(torch.randn(2, 3, D_MODEL), is_causal=True, kv_cache=kv_cache)
        with pytest.raises(ValueError, match="as many keys as queries, without a mask"):
            multihead(torch.randn(2, 2, D_MODEL), is_causal=True, kv_cache=kv_cache, need_weights=need_weights)

    @pytest.mark.parametrize("need_weights", [False, True])
    def test_the_flag_is_refused_beside_a_mask(self, multihead: MultiHeadAttention, need_weights: bool) -> None:
        mask = torch.ones(5, 5, dtype=torch.bool)
        with pytest.raises(ValueError, match="as many keys as queries, without a mask"):
            multihead(torch.randn(2, 5, D_MODEL), mask=mask, is_causal=True, need_weights=need_weights)


class TestCache:
    def test_one_by_one_is_all_at_once(self, multihead: MultiHeadAttention) -> None:
        x, kv_cache = torch.randn(2, 5, D_MODEL), LayerKVCache(2, HEADS, 6, 4)
        outs = [multihead(x[:, i : i + 1], kv_cache=kv_cache, need_weights=i == 3).out for i in range(5)]
        assert_close(torch.cat(outs, dim=1), multihead(x, is_causal=True).out)
        assert (kv_cache.length, kv_cache.capacity) == (5, 6)

    def test_rows_go_on_from_others(self, multihead: MultiHeadAttention) -> None:
        x, kv_cache = torch.randn(3, 4, D_MODEL), LayerKVCache(3, HEADS, 5, 4)
        multihead(x, is_causal=True, kv_cache=kv_cache)
        kv_cache.select(torch.tensor([2, 2, 0]))
        token = torch.randn(3, 1, D_MODEL)
        expected = multihead(torch.cat([x[[2, 2, 0]], token], dim=1), is_causal=True).out[:, -1:]
        assert_close(multihead(token, kv_cache=kv_cache).out, expected)

    def test_a_full_one_takes_nothing(self, multihead: MultiHeadAttention) -> None:
        kv_cache = LayerKVCache(2, HEADS, 4, 4)
        multihead(torch.randn(2, 3, D_MODEL), is_causal=True, kv_cache=kv_cache)
        before = kv_cache.append(torch.empty(2, HEADS, 0, 4), torch.empty(2, HEADS, 0, 4)).keys.clone()
        with pytest.raises(ValueError, match="room for 4 tokens, not 5"):
            multihead(torch.randn(2, 2, D_MODEL), mask=torch.ones(2, 5, dtype=torch.bool), kv_cache=kv_cache)
        assert kv_cache.length == 3
        assert torch.equal(kv_cache.append(torch.empty(2, HEADS, 0, 4), torch.empty(2, HEADS, 0, 4)).keys, before)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("need_weights", [True, False])
def test_a_query_that_may_attend_to_nothing_stays_finite(dtype: torch.dtype, need_weights: bool) -> None:
    multihead = MultiHeadAttention(D_MODEL, HEADS).to(dtype)
    x = torch.randn(2, 4, D_MODEL, dtype=dtype, requires_grad=True)
    mask = torch.ones(2, 4, 4, dtype=torch.bool).tril()
    mask[1, 0] = mask[1, 2] = False
    out = multihead(x, mask=mask, need_weights=need_weights).out
    assert_close(out[1, 0], multihead.W_o.bias)
    out.float().square().sum().backward()
    assert x.grad.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in multihead.parameters())
