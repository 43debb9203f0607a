"""Parameters, counted as the published models count theirs; and reading without dropout."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from course_lib.ground.modules import count_parameters, evaluating
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


def test_dropout_is_off_within_and_what_was_frozen_stays_so() -> None:
    model = nn.Sequential(nn.Dropout(), nn.Sequential(nn.Dropout(), nn.Linear(2, 2))).train()
    model[1].eval()
    before = [module.training for module in model.modules()]
    with evaluating(model):
        assert not any(module.training for module in model.modules())
    assert [module.training for module in model.modules()] == before == [True, True, False, False, False]


def test_a_frozen_whole_may_have_parts_that_train() -> None:
    model = nn.Sequential(nn.Dropout(), nn.Linear(2, 2)).eval()
    model[0].train()
    with evaluating(model):
        assert not model[0].training
    assert [module.training for module in model.modules()] == [False, True, False]


def test_the_mode_comes_back_after_an_error() -> None:
    model = nn.Dropout()

    def fail() -> None:
        with evaluating(model):
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert model.training
