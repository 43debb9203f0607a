"""The losses of a training: read back in time, told in order, and refused where they are no numbers."""

import math

import pytest
import torch

from course_lib.training.distributed import World
from course_lib.training.loss_log import READ_TOGETHER, DivergedError, LossLog
from course_lib.training.progress import TrainingStep
from course_lib.training.schedules import linear_schedule

SCHEDULE = linear_schedule(peak=1.0, warmup=2, steps=20)


def log(told: list[TrainingStep] | None = None, *, device: str = "cpu", scaled: bool = False) -> LossLog:
    world = World(0, 1, torch.device(device))
    return LossLog(world, SCHEDULE, None if told is None else told.append, scaled=scaled)


def note(into: LossLog, loss: float, norm: float = 1.0, tokens: int = 0) -> None:
    into.note(torch.tensor(loss), torch.tensor(norm), tokens)


def test_from_a_gpu_several_are_read_together_each_with_its_own_tokens() -> None:
    told: list[TrainingStep] = []
    losses = log(told, device="cuda")
    for step in range(READ_TOGETHER - 1):
        note(losses, 1.0 / (step + 1), tokens=10 * step)
    assert losses.losses == []
    assert told == []
    note(losses, 0.0, tokens=99)
    assert len(losses.losses) == READ_TOGETHER
    assert [step.tokens for step in told] == [*range(0, 10 * READ_TOGETHER - 10, 10), 99]
    note(losses, 4.0)
    losses.settle()
    losses.settle()
    assert losses.losses[READ_TOGETHER:] == [4.0]


def test_a_scaled_loss_may_have_gradients_out_of_range() -> None:
    losses = log(scaled=True)
    note(losses, 1.0, math.inf)
    assert losses.losses == [1.0]
    with pytest.raises(DivergedError, match="the loss of step 2 is nan"):
        note(losses, math.nan)
