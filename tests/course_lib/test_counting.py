"""Parameters, counted as the published models count theirs."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from course_lib.counting import count_parameters
from course_lib.models import GPT, GPTConfig
from course_lib.multihead import MultiHeadAttention
from course_lib.positions import SinusoidalPositions


@pytest.mark.parametrize(
    ("config", "parameters"),
    [
        (GPTConfig.gpt2(), 124_439_808),
        (GPTConfig.gpt2_medium(), 354_823_168),
        (GPTConfig.gpt2_large(), 774_030_080),
        (GPTConfig.gpt2_xl(), 1_557_611_200),
    ],
)
def test_the_four_gpt2s(config: GPTConfig, parameters: int) -> None:
    with torch.device("meta"):
        assert count_parameters(GPT(config)) == parameters


def test_shared_weights_count_once() -> None:
    first, second = nn.Linear(3, 5, bias=False), nn.Linear(3, 5, bias=False)
    assert count_parameters(nn.Sequential(first, second)) == 30
    second.weight = first.weight
    assert count_parameters(nn.Sequential(first, second)) == 15
    assert count_parameters(nn.Sequential(first, first)) == 15


def test_frozen_ones_count_too_and_buffers_do_not() -> None:
    assert count_parameters(nn.Linear(3, 5).requires_grad_(False)) == 20
    assert count_parameters(SinusoidalPositions(8)) == 0


def test_those_of_multi_head_attention_are_its_projections() -> None:
    assert count_parameters(MultiHeadAttention(12, 3)) == 4 * (12 * 12 + 12)
