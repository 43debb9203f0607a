"""Grouped queries: multi-head attention whose keys and values are shared."""

from __future__ import annotations

import torch
from torch import nn
from torch.testing import assert_close

from course_lib.masking import causal_mask
from course_lib.modern.grouped_query import GroupedQueryAttention, repeat_groups
from course_lib.multihead import LayerKVCache, MultiHeadAttention

X = torch.randn(2, 5, 12, generator=torch.Generator().manual_seed(0))


def test_groups_stand_behind_each_other() -> None:
    x = torch.arange(2.0).view(1, 2, 1, 1)
    assert repeat_groups(x, 4).flatten().tolist() == [0, 0, 1, 1]


def test_it_is_multi_head_attention_with_repeated_keys_and_values() -> None:
    grouped, whole = GroupedQueryAttention(12, 6, 2), MultiHeadAttention(12, 6, bias=False)
    q, k, v = grouped.projections()
    spread = [part.view(2, 2, 12).repeat_interleave(3, dim=0).flatten(0, 1) for part in (k, v)]
    whole.W_qkv.weight.data = torch.cat([q, *spread])
    whole.W_o.weight.data = grouped.W_o.weight.data
    for how in ({}, {"mask": causal_mask(5)}, {"is_causal": True}):
        assert_close(grouped(X, **how).out, whole(X, **how).out)


def test_the_explicit_path_gives_the_same_and_alpha_of_every_head() -> None:
    attention = GroupedQueryAttention(12, 6, 3)
    shown = attention(X, is_causal=True, need_weights=True)
    assert_close(shown.out, attention(X, is_causal=True).out)
    assert shown.alpha is not None
    assert shown.alpha.shape == (2, 6, 5, 5)


def test_as_many_groups_as_heads_is_multi_head_attention() -> None:
    grouped, whole = GroupedQueryAttention(12, 4, bias=True), MultiHeadAttention(12, 4)
    grouped.load_state_dict(whole.state_dict())
    assert_close(grouped(X).out, whole(X).out)


def test_the_cache_holds_a_key_for_each_group() -> None:
    attention, kv_cache = GroupedQueryAttention(12, 6, 2), LayerKVCache(2, 2, 5, 2)
    steps = [attention(X[:, :3], mask=causal_mask(3), kv_cache=kv_cache).out]
    steps += [attention(X[:, i : i + 1], kv_cache=kv_cache).out for i in (3, 4)]
    assert_close(torch.cat(steps, dim=1), attention(X, is_causal=True).out)


def test_queries_and_keys_are_normalised_before_they_turn() -> None:
    attention = GroupedQueryAttention(12, 4, 2, norm=nn.RMSNorm, d_head=8)
    lengths = []

    def rotate(x: torch.Tensor) -> torch.Tensor:
        lengths.append(x.square().mean(dim=-1))
        return x

    attention(100 * X, rotate=rotate)
    for found, heads in zip(lengths, (4, 2), strict=True):
        assert_close(found, torch.ones(2, heads, 5), atol=1e-3, rtol=0)


def test_biases_are_where_they_are_asked_for() -> None:
    attention = GroupedQueryAttention(12, 4, 2, qkv_bias=True)
    assert attention.W_qkv.bias is not None
    assert attention.W_o.bias is None


def test_keys_and_values_made_in_advance() -> None:
    attention, memory = GroupedQueryAttention(12, 4, 2), torch.randn(2, 7, 12)
    assert_close(attention(X, attention.keys_and_values(memory)).out, attention(X, memory).out)
