"""The moving average of the weights: its formula, and that the trained model is it."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn
from torch.testing import assert_close

from course_lib.training.averaging import MovingAverage
from course_lib.training.checkpoints import read_checkpoint
from tests.course_lib.training.together import learn


def test_the_formula() -> None:
    layer = nn.Linear(2, 2, bias=False)
    average = MovingAverage(layer, decay=0.75)
    first = layer.weight.detach().clone()
    with torch.no_grad():
        layer.weight += 1.0
    average.update()
    assert_close(average.weights["weight"], 0.75 * first + 0.25 * (first + 1.0))


def test_the_model_has_it_for_a_while_only() -> None:
    layer = nn.Linear(2, 2)
    average = MovingAverage(layer, decay=0.5)
    with torch.no_grad():
        layer.weight += 1.0
    moved = layer.weight.detach().clone()
    with average.given():
        assert_close(layer.weight, moved - 1.0)
    assert torch.equal(layer.weight, moved)


def test_what_is_frozen_is_left_alone() -> None:
    layer = nn.Linear(2, 2)
    layer.bias.requires_grad_(False)
    assert MovingAverage(layer, decay=0.5).weights.keys() == {"weight"}


def test_the_trained_model_is_the_average_and_the_training_is_not_changed(tmp_path: Path) -> None:
    plain = learn(tmp_path / "plain", "accumulated")
    averaged = learn(tmp_path / "averaged", "accumulated", ema_decay=0.5)
    assert averaged["losses"] == plain["losses"]
    assert averaged["validations"] != plain["validations"]
    steps = [read_checkpoint(tmp_path / "averaged" / "accumulated" / f"step-{i:08d}.pt") for i in (3, 6)]
    assert steps[1]["model"]["norm.weight"].tolist() == plain["weights"]["norm.weight"]
    assert steps[1]["average"]["norm.weight"].tolist() == averaged["weights"]["norm.weight"]


def test_it_goes_on_bit_for_bit(tmp_path: Path) -> None:
    straight = learn(tmp_path / "straight", "accumulated", ema_decay=0.9)
    learn(tmp_path / "halved", "accumulated", steps=3, ema_decay=0.9)
    assert learn(tmp_path / "halved", "accumulated", ema_decay=0.9) == straight
