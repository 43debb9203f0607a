"""Grouped queries: multi-head attention whose keys and values are shared."""

from __future__ import annotations

import torch
from torch.testing import assert_close

from course_lib.masking import causal_mask
from course_lib.modern.grouped_query import GroupedQueryAttention
from course_lib.multihead import MultiHeadAttention

X = torch.randn(2, 5, 12, generator=torch.Generator().manual_seed(0))


def test_it_is_multi_head_attention_with_repeated_keys_and_values() -> None:
    grouped, whole = GroupedQueryAttention(12, 6, 2), MultiHeadAttention(12, 6, bias=False)
    q, k, v = grouped.projections()
    spread = [part.view(2, 2, 12).repeat_interleave(3, dim=0).flatten(0, 1) for part in (k, v)]
    whole.W_qkv.weight.data = torch.cat([q, *spread])
    whole.W_o.weight.data = grouped.W_o.weight.data
    for how in ({}, {"mask": causal_mask(5)}, {"is_causal": True}):
        assert_close(grouped(X, **how).out, whole(X, **how).out)


def test_as_many_groups_as_heads_is_multi_head_attention() -> None:
    grouped, whole = GroupedQueryAttention(12, 4, bias=True), MultiHeadAttention(12, 4)
    grouped.load_state_dict(whole.state_dict())
    assert_close(grouped(X).out, whole(X).out)


def test_keys_and_values_made_in_advance() -> None:
    attention, memory = GroupedQueryAttention(12, 4, 2), torch.randn(2, 7, 12)
    assert_close(attention(X, attention.keys_and_values(memory)).out, attention(X, memory).out)
