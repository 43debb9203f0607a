"""Each change since 2017, against the library's own or torch's."""

from __future__ import annotations

import math
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.testing import assert_close

from course_lib.configurations import RotaryConfig
from course_lib.models import GPT, GPTConfig
from course_lib.modern.rotary import RotaryPositions
from course_lib.modern.swiglu import GatedFeedForward
from course_lib.references.since_2017 import (
    LoRA,
    decayed_step,
    grouped_query_attention,
    llama_parameters,
    orthogonalised,
    pre_norm,
    read_block,
    swiglu,
    turned_by_place,
)
from course_lib.training.lora import AdaptedLinear


def test_pre_norm_reads_normalised_and_adds_to_what_was_there() -> None:
    def doubled(x: Tensor) -> Tensor:
        return 2 * x

    x = torch.tensor([[1.0, 3.0]])
    assert_close(pre_norm(x, [doubled], [torch.sign], lambda y: y / 10), torch.tensor([[0.3, 0.5]]))


def test_turned_by_place_is_the_librarys_rotation() -> None:
    q = torch.randn(2, 3, 7, 8)
    positions = torch.arange(4, 11)
    turned = RotaryPositions(8, RotaryConfig(500.0))(positions, 11)(q)
    assert_close(turned_by_place(q, positions, 500.0), turned)


def test_swiglu_is_the_librarys() -> None:
    network = GatedFeedForward(4, 6)
    x = torch.randn(2, 3, 4)
    weights = (layer.weight.T for layer in (network.W_1, network.V, network.W_2))
    assert_close(swiglu(x, *weights), network(x))


def test_grouped_queries_are_torchs() -> None:
    q, k, v = torch.randn(2, 6, 5, 4), torch.randn(2, 3, 5, 4), torch.randn(2, 3, 5, 4)
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    assert_close(grouped_query_attention(q, k, v, mask), F.scaled_dot_product_attention(q, k, v, mask, enable_gqa=True))


def test_a_softmax_read_in_blocks_is_the_softmax() -> None:
    q, k, v = torch.randn(3, 5, 4), torch.randn(3, 11, 4), torch.randn(3, 11, 4)
    state = (torch.full((3, 5), -math.inf), torch.zeros(3, 5), torch.zeros(3, 5, 4))
    for block_k, block_v in zip(k.split(4, dim=1), v.split(4, dim=1), strict=True):
        state = read_block(*state, q @ block_k.mT, block_v)
    assert_close(state[2] / state[1].unsqueeze(-1), torch.softmax(q @ k.mT, dim=-1) @ v)


def test_a_block_of_which_nothing_is_seen_changes_nothing() -> None:
    nothing = (torch.full((2,), -math.inf), torch.zeros(2), torch.zeros(2, 3))
    after = read_block(*nothing, torch.full((2, 4), -math.inf), torch.randn(4, 3))
    for before, now in zip(nothing, after, strict=True):
        assert torch.equal(before, now)


def test_a_decayed_step_is_what_adamw_does_to_a_weight() -> None:
    weight = nn.Parameter(torch.randn(3, 2))
    gain = nn.Parameter(torch.ones(2))
    before = [weight.detach().clone(), gain.detach().clone()]
    weight.grad, gain.grad = torch.randn(3, 2), torch.randn(2)
    signs = [weight.grad.sign(), gain.grad.sign()]  # Adam's first step
    groups = [{"params": [weight], "weight_decay": 0.4}, {"params": [gain], "weight_decay": 0.0}]
    torch.optim.AdamW(groups, lr=0.1).step()
    for expected, found in zip((weight, gain), decayed_step(before, signs, 0.1, 0.4), strict=True):
        assert_close(found, expected.detach(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("groups", [2, 4])
@pytest.mark.parametrize("tied", [True, False])
def test_a_llamas_parameters_are_counted(groups: int, tied: bool) -> None:
    config = partial(GPTConfig, norm="rms", gated=True, bias=False, activation="silu")
    sizes = {"vocab_size": 50, "d_model": 16, "heads": 4, "layers": 3, "d_ff": 20}
    llama = GPTConfig.llama(**sizes)
    model = GPT(config(**sizes, context_length=9, key_value_heads=groups, tied_output=tied, rotary=llama.rotary))
    found = sum(weight.numel() for weight in model.parameters())
    assert llama_parameters(50, 16, 3, 4, groups, 20, tied) == found


def test_lora_is_the_librarys_layer() -> None:
    layer = AdaptedLinear(nn.Linear(5, 7, bias=False), rank=2, alpha=6.0, dropout=0.0)
    ours, x = LoRA(layer.weight.detach(), 2, 6.0), torch.randn(3, 5)
    assert [name for name, _ in ours.named_parameters()] == ["A", "B"]
    assert_close(ours(x), x @ layer.weight.T)
    nn.init.normal_(layer.B)
    ours.load_state_dict({"weight": layer.weight, "A": layer.A, "B": layer.B})
    assert_close(ours(x), layer(x))


@pytest.mark.parametrize("shape", [(6, 9), (9, 6), (5, 5)])
def test_orthogonalised_keeps_the_directions_and_evens_their_sizes(shape: tuple[int, int]) -> None:
    gradient = torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    u, sizes, v = torch.linalg.svd(gradient, full_matrices=False)
    found = orthogonalised(gradient, (3.4445, -4.775, 2.0315), 5)
    inside = u.T @ found @ v.T
    assert_close(inside, inside.diagonal().diag(), atol=1e-9, rtol=0)
    large = sizes / gradient.norm() > 0.02
    assert 0.6 < inside.diagonal()[large].min() <= inside.diagonal().max() < 1.3
    assert_close(orthogonalised(gradient, (1.0, 0.0, 0.0), 3), gradient / gradient.norm())
