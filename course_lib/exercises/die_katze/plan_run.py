"""Lesson 11, die_katze.plan_run: The plan of a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

import torch
from torch import Generator

from course_lib.checking.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.exercises.common import integer
from course_lib.exercises.die_katze.shared import LESSON, WITHHELD
from course_lib.references import die_katze

_SHORT = "a warm-up of at least one step"


def _plan_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: Multi30k, 8192 tokens at a time", (910_000, 8192, 1, 1, 70.0, 0.25))
        yield Case("a warm-up of 33 steps and three quarters", (8192 * 135, 8192, 1, 1, 1.0, 0.25))
        yield Case("the same on two GPUs, four batches each", (910_000, 1024, 4, 2, 70.0, 0.25))
    for name in ("a small run", "another", "a long one"):
        batch, accumulate, devices = integer(generator, 500, 9000), integer(generator, 2, 9), integer(generator, 2, 9)
        tokens = batch * integer(generator, 2000, 90_000) + integer(generator, 1, batch)
        epochs = integer(generator, 5, 60) / 4
        share = integer(generator, 3, 14) / 32
        yield Case(name, (tokens, batch, accumulate, devices, epochs, share))
    batch, steps = integer(generator, 500, 9000), integer(generator, 50, 900)
    yield Case("nothing left over", (batch * steps, batch, 1, 1, 2.0, 0.125))
    yield Case("hardly any warm-up", (batch * 12 + 3, batch, 1, 1, 1.0, 1 / 64), part=_SHORT)
    yield Case("none at all", (batch * 40, batch, 2, 1, 1.0, 0.0), part=_SHORT)


def _planned(
    tokens: int,
    batch_tokens: int,
    accumulate: int,
    devices: int,
    epochs: float,
    warmup_share: float,
    *,
    together: Callable[[int, int, int], int] = lambda batch, accumulate, devices: batch * accumulate * devices,
    passes: Callable[[float], float] = float,
    steps_of: Callable[[float], int] = math.ceil,
    least: int = 1,
    warmup: Callable[[float, int, float], float] = lambda share, steps, of_an_epoch: share * steps,
    whole: Callable[[float], int] = math.floor,
) -> tuple[int, int, int]:
    """`plan_run` with one thing, or several, done differently."""
    of_a_step = together(batch_tokens, accumulate, devices)
    steps = steps_of(passes(epochs) * tokens / of_a_step)
    return of_a_step, steps, max(least, whole(warmup(warmup_share, steps, tokens / of_a_step)))


def _in_whole_numbers(
    tokens: int, batch_tokens: int, accumulate: int, devices: int, epochs: float, warmup_share: float
) -> tuple[int, int, int]:
    of_a_step = batch_tokens * accumulate * devices
    steps = -(-int(Fraction(epochs) * tokens * 64) // (64 * of_a_step))
    return of_a_step, steps, max(1, int(warmup_share * steps))


def _in_turn(
    tokens: int, batch_tokens: int, accumulate: int, devices: int, epochs: float, warmup_share: float
) -> tuple[int, int, int]:
    of_a_step = 0
    for _device in range(devices):
        of_a_step += accumulate * batch_tokens
    whole, left = divmod(tokens * epochs, of_a_step)
    steps = int(whole) + (left > 0)
    warmup = int(steps * warmup_share // 1)
    return of_a_step, steps, warmup or 1


CORRECT = (
    _in_whole_numbers,
    _in_turn,
    lambda tokens, batch_tokens, accumulate, devices, epochs, warmup_share: (
        (size := math.prod((batch_tokens, accumulate, devices))),
        (steps := int(torch.tensor(epochs * tokens / size, dtype=torch.float64).ceil())),
        max(int(steps * warmup_share), 1),
    ),
)


EXERCISE = Exercise(
    id="die_katze.plan_run",
    lesson=LESSON,
    name="plan_run",
    title="The plan of a run",
    statement=(
        "plan_run(tokens int, batch_tokens int, accumulate int, devices int, epochs float, warmup_share float) -> "
        "(tokens_per_step, steps, warmup), three ints: steps rounded up, warm-up rounded down but at least 1."
    ),
    points=3,
    minutes=10,
    section="The plan",
    source="Vaswani et al. (2017), section 5",
    reference=die_katze.plan_run,
    cases=_plan_cases,
    parts={CORE: 2, _SHORT: 1},
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "The weights move once when every device has added up all its batches. So a step sees the tokens of one "
            "batch, times the batches that are added up, times the devices.",
            answers=("devices_forgotten", "accumulation_forgotten", "accumulation_divides"),
        ),
        Hint(
            "shapes",
            "All three results are whole numbers. `math.ceil` rounds up and `math.floor` down; both give an `int`.",
        ),
    ),
    misconceptions=(
        Misconception(
            "each_epoch_rounded_up",
            "Your answer rounds up the steps of one pass and multiplies by the passes. A step may read on into the "
            "next pass: multiply first, and round up once.",
            lambda tokens, batch_tokens, accumulate, devices, epochs, warmup_share: _planned(
                tokens,
                batch_tokens,
                accumulate,
                devices,
                epochs,
                warmup_share,
                passes=lambda epochs: 1.0,
                steps_of=lambda of_one_pass: math.ceil(math.ceil(of_one_pass) * epochs),
            ),
        ),
        Misconception(
            "no_warm_up_at_all",
            "Your answer is right but for a short warm-up, where it has no step at all, and the schedule would divide "
            "by 0. Return at least 1.",
            partial(_planned, least=0),
            alone=True,
        ),
        Misconception(
            "devices_forgotten",
            "Your answer forgets the devices. They work at the same time on batches of their own, so a step sees "
            "`devices` times as many tokens.",
            partial(_planned, together=lambda batch, accumulate, devices: batch * accumulate),
        ),
        Misconception(
            "accumulation_forgotten",
            "Your answer forgets the accumulation. The weights move only after `accumulate` batches: multiply by it.",
            partial(_planned, together=lambda batch, accumulate, devices: batch * devices),
        ),
        Misconception(
            "one_batch",
            "Your step sees a single batch of a single device. Multiply by `accumulate` and by `devices`.",
            partial(_planned, together=lambda batch, accumulate, devices: batch),
        ),
        Misconception(
            "accumulation_divides",
            "Your answer divides by `accumulate`. `batch_tokens` is what fits in memory at once; adding up several "
            "batches makes a step larger, not smaller.",
            partial(_planned, together=lambda batch, accumulate, devices: batch * devices // accumulate),
        ),
        Misconception(
            "added",
            "Your answer adds `accumulate` and `devices`. Each device adds up `accumulate` batches: multiply them.",
            partial(_planned, together=lambda batch, accumulate, devices: batch * (accumulate + devices)),
        ),
        Misconception(
            "leftovers_dropped",
            "Your number of steps is rounded down, so the last tokens are never learned from. Round up.",
            partial(_planned, steps_of=math.floor),
        ),
        Misconception(
            "one_step_too_many",
            "Your answer has one step too many where nothing is left over. Round up with math.ceil, which leaves a "
            "whole number as it is.",
            partial(_planned, steps_of=lambda steps: math.floor(steps) + 1),
        ),
        Misconception(
            "nearest_step",
            "Your number of steps is rounded to the nearest whole number. Round up: what is left over needs a step, "
            "too.",
            partial(_planned, steps_of=round),
        ),
        Misconception(
            "one_epoch",
            "Your answer passes through the data once. Multiply the tokens by `epochs`.",
            partial(_planned, passes=lambda epochs: 1.0),
        ),
        Misconception(
            "whole_epochs",
            "Your answer cuts the number of epochs down to a whole number. Half a pass counts as well.",
            partial(_planned, passes=math.floor),
        ),
        Misconception(
            "warmup_of_an_epoch",
            "Your warm-up is a share of one epoch's steps. It is a share of all steps.",
            partial(_planned, warmup=lambda share, steps, of_an_epoch: share * of_an_epoch),
        ),
        Misconception(
            "warmup_rounded_up",
            "Your warm-up is rounded up. It is rounded down here.",
            partial(_planned, whole=math.ceil),
        ),
        Misconception(
            "steps_after_the_warmup",
            "Your last number is the steps that are left after the warm-up. Return those of the warm-up itself.",
            partial(_planned, warmup=lambda share, steps, of_an_epoch: steps - math.floor(share * steps)),
        ),
    ),
    withheld=WITHHELD,
)
