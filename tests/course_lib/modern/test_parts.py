"""The modern block's parts by themselves; their formulas are compared where whole models are."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

from course_lib.configurations import GPTConfig
from course_lib.masking import causal_mask
from course_lib.models import GPT
from course_lib.modern.grouped_query import GroupedQueryAttention
from course_lib.modern.rms_norm import rms_norm
from course_lib.modern.swiglu import GatedFeedForward
from course_lib.multihead import MultiHeadAttention


def test_rms_norm_does_not_overflow_in_half_precision() -> None:
    x = torch.full((8,), 300.0, dtype=torch.float16)  # 300² is beyond fp16
    out = rms_norm(x, torch.ones(8, dtype=torch.float16))
    assert out.dtype == torch.float16
    assert_close(out, torch.ones(8, dtype=torch.float16))


def test_another_activation_is_another_of_swiglus_family() -> None:
    network, x = GatedFeedForward(6, 10, F.relu, bias=True), torch.randn(2, 3, 6)
    assert_close(network(x), network.W_2(F.relu(network.W_1(x)) * network.V(x)))
    assert network.V.bias is not None


X = torch.randn(2, 5, 12, generator=torch.Generator().manual_seed(0))


def test_grouped_queries_are_multi_head_attention_with_repeated_keys_and_values() -> None:
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


DOCUMENTS = torch.tensor([[0, 0, 0, 1, 1, 2, 2, -1, -1], [0, 1, 1, 1, 1, 1, 1, 1, 1], [0] * 9])
LEARNED = GPTConfig(vocab_size=11, context_length=9, d_model=16, heads=4, layers=2, d_ff=32)
ROTARY = replace(GPTConfig.llama(11, 16, 4, 2, 32), key_value_heads=2)


@pytest.mark.parametrize("config", [LEARNED, ROTARY], ids=["learned", "rotary"])
def test_each_text_is_read_as_if_it_stood_alone(config: GPTConfig) -> None:
    gpt = GPT(config).eval()
    ids = torch.randint(11, DOCUMENTS.shape)
    together = gpt.states(ids, documents=DOCUMENTS)
    assert together.isfinite().all()
    for row, documents in enumerate(DOCUMENTS):
        for number in documents.unique():
            alone = gpt.states(ids[row, documents == number].unsqueeze(0))[0]
            assert_close(together[row, documents == number], alone, rtol=1e-5, atol=1e-5)
