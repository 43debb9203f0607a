"""Lesson 11, die_katze.trapezoid_schedule: A schedule with a flat roof."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy
import torch
from torch import Generator, Tensor

from course_lib.checking.exercise import Case, Exercise, Hint, Misconception
from course_lib.exercises.common import alike, integer
from course_lib.exercises.die_katze.shared import LESSON, WITHHELD
from course_lib.references import die_katze


def _trapezoid_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: twenty steps", (torch.arange(1, 21), 20, 4, 5, 1.0))
        yield Case("no flat part", (torch.arange(1, 11), 10, 5, 6, 0.5))
    for name in ("a run", "another run"):
        warmup, flat, cooldown = (integer(generator, 5, 12) for _ in range(3))
        total = warmup + flat + cooldown
        peak = integer(generator, 2, 900 if hidden else 90) / 1000
        yield Case(name, (torch.arange(1, total + 1), total, warmup, cooldown, peak))
    total = integer(generator, 60, 90)
    numbers = torch.randperm(total, generator=generator)[: 12 if hidden else 20] + 1
    yield Case("not in order", (numbers, total, 15, 20, 0.003))
    yield Case("a single step", (torch.tensor([11]), 12, 4, 4, 0.5))
    yield Case("warm-up and cool-down meet", (torch.arange(1, 13), 12, 8, 8, 1.0))


def _sloped(
    steps: Tensor,
    total: int,
    warmup: int,
    cooldown: int,
    peak: float,
    *,
    up: Callable[[Tensor, int], Tensor] = lambda steps, warmup: steps / warmup,
    down: Callable[[Tensor, int, int], Tensor] = lambda steps, total, cooldown: (total + 1 - steps) / cooldown,
    joined: Callable[[Tensor, Tensor], Tensor] = torch.minimum,
    most: float = 1.0,
    factor: Callable[[float], float] = float,
) -> Tensor:
    """The formula with changes, in double precision until the end."""
    numbers = steps.double()
    return (factor(peak) * joined(up(numbers, warmup), down(numbers, total, cooldown)).clamp(max=most)).float()


def _by_place(steps: Tensor, total: int, warmup: int, cooldown: int, peak: float) -> Tensor:
    return _sloped(torch.arange(1, len(steps) + 1), total, warmup, cooldown, peak)


def _by_loop(steps: Tensor, total: int, warmup: int, cooldown: int, peak: float) -> Tensor:
    rates = []
    for step in steps.tolist():
        rates.append(peak * min(1.0, step / warmup, (total - step + 1) / cooldown))
    return torch.tensor(rates)


def _by_parts(steps: Tensor, total: int, warmup: int, cooldown: int, peak: float) -> Tensor:
    rising = torch.where(steps < warmup, steps * (peak / warmup), peak)
    falling = (total + 1 - steps) * (peak / cooldown)
    return torch.where(falling < rising, falling, rising)


CORRECT = (
    _by_loop,
    _by_parts,
    lambda steps, total, warmup, cooldown, peak: torch.from_numpy(
        peak * numpy.minimum(1, numpy.minimum(steps.numpy() / warmup, (total + 1 - steps.numpy()) / cooldown))
    ).float(),
    lambda steps, total, warmup, cooldown, peak: (
        peak * torch.stack([steps / warmup, torch.ones(len(steps)), (total + 1 - steps) / cooldown]).amin(0)
    ),
)


EXERCISE = Exercise(
    id="die_katze.trapezoid_schedule",
    lesson=LESSON,
    name="trapezoid_schedule",
    title="A schedule with a flat roof",
    statement=(
        "trapezoid_schedule(steps int64 [steps], total, warmup, cooldown, peak) -> float32 [steps]: "
        "peak · min(1, step / warmup, (total + 1 - step) / cooldown), at each of these steps."
    ),
    points=2,
    minutes=8,
    section="Up, along, and down",
    source="Zhai et al. (2022), section 3.5",
    reference=die_katze.trapezoid_schedule,
    cases=_trapezoid_cases,
    correct=CORRECT,
    steps=("shares",),
    hints=(
        Hint(
            "idea",
            "Three lines, one rising, one flat and one falling, and the lowest of them counts at each step. "
            "`torch.minimum` compares two tensors, and `clamp(max=...)` a tensor with a number.",
        ),
    ),
    misconceptions=(
        Misconception(
            "no_flat_part",
            "Your answer goes above the peak. The smallest of three counts, and one of the three is 1.",
            partial(_sloped, most=1e9),
        ),
        Misconception(
            "cut_off_at_one",
            "Your answer is cut off at 1, and not at the peak. The smallest of three counts, one of which is 1, and "
            "only then is it multiplied by the peak.",
            lambda steps, total, warmup, cooldown, peak: _sloped(steps, total, warmup, cooldown, peak, most=1e9).clamp(
                max=1
            ),
        ),
        Misconception(
            "never_below_the_peak",
            "Your answer is never below the peak. The smallest of three counts, one of which is 1: that is "
            "clamp(max=1), not clamp(min=1).",
            lambda steps, total, warmup, cooldown, peak: (
                _sloped(steps, total, warmup, cooldown, 1.0, most=1e9).clamp(min=1) * peak
            ),
        ),
        Misconception(
            "no_cooldown",
            "Your answer never comes down. The third of the three is (total + 1 - step) / cooldown.",
            partial(_sloped, joined=lambda up, down: up),
        ),
        Misconception(
            "no_warmup",
            "Your answer begins at the peak. One of the three is step / warmup.",
            partial(_sloped, joined=lambda up, down: down),
        ),
        Misconception(
            "largest",
            "Your answer takes the larger of rising and falling. Take the smaller one.",
            partial(_sloped, joined=torch.maximum),
        ),
        Misconception(
            "product",
            "Your answer multiplies rising and falling. Take the smaller of the two.",
            lambda steps, total, warmup, cooldown, peak: (
                peak * (steps / warmup).clamp(max=1) * ((total + 1 - steps) / cooldown).clamp(max=1)
            ),
        ),
        *alike(
            "Your answer is 0 at the last step, which then learns nothing. It is total + 1 - step, so that 0 would "
            "come only after it.",
            last_step_wasted=partial(_sloped, down=lambda steps, total, cooldown: (total - steps) / cooldown),
            last_step_wasted_and_a_steeper_fall=partial(
                _sloped, down=lambda steps, total, cooldown: (total - steps) / (cooldown - 1)
            ),
        ),
        Misconception(
            "first_step_wasted",
            "Your answer is 0 at the first step, which then learns nothing. Steps count from 1: it is step / warmup.",
            partial(_sloped, up=lambda steps, warmup: (steps - 1) / warmup),
        ),
        Misconception(
            "over_the_whole_run",
            "Your answer comes down over the whole run. Divide by `cooldown`, the steps that the fall takes.",
            partial(_sloped, down=lambda steps, total, cooldown: (total + 1 - steps) / total),
        ),
        Misconception(
            "slopes_swapped",
            "Your answer has `warmup` and `cooldown` swapped. The rise takes `warmup` steps, the fall `cooldown`.",
            lambda steps, total, warmup, cooldown, peak: _sloped(steps, total, cooldown, warmup, peak),
        ),
        Misconception(
            "peak_left_out",
            "Your answer goes up to 1. Multiply by the peak.",
            partial(_sloped, factor=lambda peak: 1.0),
        ),
        Misconception(
            "by_place",
            "Your answer goes by a step's place in the tensor. Steps may come in any order: use their numbers.",
            _by_place,
        ),
    ),
    withheld=WITHHELD,
)
