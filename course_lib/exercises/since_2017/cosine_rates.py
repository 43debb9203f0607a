"""Lesson 12, since_2017.cosine_rates: Down a cosine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy
import torch
from torch import Generator, Tensor

from course_lib.checking.exercise import Case, Exercise, Hint, Misconception
from course_lib.exercises.common import integer
from course_lib.exercises.since_2017.shared import LESSON, WITHHELD
from course_lib.references import since_2017


def _rate_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(
            "worked example: 100 steps, 20 of them up", (torch.tensor([1, 10, 20, 60, 100]), 0.003, 20, 100, 0.0)
        )
    for name in ("down to 0", "down to a tenth"):
        warmup, total = integer(generator, 5, 20), integer(generator, 40, 80)
        peak = 0.001 * integer(generator, 1, 90)
        least = 0.0 if name == "down to 0" else peak / 10
        yield Case(name, (torch.arange(1, total + 1), peak, warmup, total, least))
    total = integer(generator, 60, 90)
    yield Case("not in order", (torch.tensor([50, 3, 18, 33, 18]), 0.01 * integer(generator, 1, 90), 17, total, 0.001))
    yield Case("a single step", (torch.tensor([30]), 0.01, 10, 40, 0.0))
    yield Case("a warm-up of one step", (torch.arange(1, 20), 0.01 * integer(generator, 1, 90), 1, 19, 0.0))


Rate = Callable[[Tensor, float, int], Tensor]


def _rates(
    steps: Tensor,
    peak: float,
    warmup: int,
    total: int,
    least: float,
    *,
    rising: Rate = lambda steps, peak, warmup: peak * steps / warmup,
    done: Callable[[Tensor, int, int], Tensor] = lambda steps, warmup, total: (steps - warmup) / (total - warmup),
    shape: Callable[[Tensor], Tensor] = lambda done: (1 + torch.cos(math.pi * done)) / 2,
    down: Callable[[Tensor, float, float], Tensor] = lambda share, peak, least: least + (peak - least) * share,
    early: Callable[[Tensor, int], Tensor] = lambda steps, warmup: steps < warmup,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """The schedule with changes, in double precision until the end."""
    exact = steps.double()
    falling = down(shape(done(exact, warmup, total)), peak, least)
    return torch.where(early(steps, warmup), rising(exact, peak, warmup), falling).to(dtype)


def _rates_by_loop(steps: Tensor, peak: float, warmup: int, total: int, least: float) -> Tensor:
    def rate(step: int) -> float:
        if step < warmup:
            return peak * step / warmup
        return least + 0.5 * (peak - least) * (1 + math.cos(math.pi * (step - warmup) / (total - warmup)))

    return torch.tensor([rate(step) for step in steps.tolist()])


def _rates_by_squares(steps: Tensor, peak: float, warmup: int, total: int, least: float) -> Tensor:
    """(1 + cos z) / 2 is the square of cos z/2."""
    half = math.pi / 2 * (steps.double() - warmup).clamp(min=0) / (total - warmup)
    falling = least + (peak - least) * half.cos().square()
    return (falling * (steps / warmup).double().clamp(max=1)).float()


def _rates_in_numpy(steps: Tensor, peak: float, warmup: int, total: int, least: float) -> Tensor:
    at = steps.numpy().astype(float)
    falling = least + (peak - least) * (1 + numpy.cos(numpy.pi * (at - warmup) / (total - warmup))) / 2
    return torch.from_numpy(numpy.where(at <= warmup, peak * at / warmup, falling)).float()


CORRECT = (
    _rates_by_loop,
    _rates_by_squares,
    _rates_in_numpy,
)


EXERCISE = Exercise(
    id="since_2017.cosine_rates",
    lesson=LESSON,
    name="cosine_rates",
    title="Down a cosine",
    statement=(
        "cosine_rates(steps int64 [steps], peak, warmup, total, least) -> float32 [steps]: up in a line to `peak` at "
        "step `warmup`, then down half a cosine to `least` at step `total`."
    ),
    points=2,
    minutes=8,
    section="Down to nothing",
    source="Loshchilov and Hutter (2017), equation 5",
    reference=since_2017.cosine_rates,
    cases=_rate_cases,
    correct=CORRECT,
    steps=("done", "falling"),
    hints=(
        Hint(
            "idea",
            "Half a cosine goes from 1 to -1. Lift it by 1 and halve it, and it goes from 1 to 0: the share of the way "
            "down that is left. How much of the way is done counts from the end of the warm-up.",
            answers=("whole_cosine", "done_from_the_start", "not_lifted"),
        ),
        Hint(
            "shapes",
            "Compute both parts for all steps, `[steps]` each, and let `torch.where` choose. Numbers of steps are "
            "integers, the rates float32.",
            answers=("by_place",),
        ),
    ),
    misconceptions=(
        Misconception(
            "pi_forgotten",
            "Your cosine gets no π: it goes from 0 to 1, not from 0 to π, and never comes down. Take cos(π · done).",
            partial(_rates, shape=lambda done: (1 + torch.cos(done)) / 2),
        ),
        Misconception(
            "no_warmup",
            "Your answer has no warm-up: up to step `warmup` the rate rises in a line, peak · step / warmup.",
            partial(_rates, early=lambda steps, warmup: torch.zeros_like(steps, dtype=torch.bool)),
        ),
        Misconception(
            "done_from_the_start",
            "Your cosine begins at step 0, so that the rate has fallen already when the warm-up ends. What is done is "
            "(step - warmup) / (total - warmup).",
            partial(_rates, done=lambda steps, warmup, total: steps / total),
        ),
        Misconception(
            "done_after_the_end",
            "Your cosine takes `total` steps after the warm-up, and is not done at step `total`. Divide by total - "
            "warmup.",
            partial(_rates, done=lambda steps, warmup, total: (steps - warmup) / total),
        ),
        Misconception(
            "whole_cosine",
            "Your answer takes a whole turn of the cosine: down, and up again. Half a turn is π, not 2π.",
            partial(_rates, shape=lambda done: (1 + torch.cos(2 * math.pi * done)) / 2),
        ),
        Misconception(
            "quarter_cosine",
            "Your answer takes a quarter turn of the cosine, which falls ever faster and ends with a bump. Take (1 + "
            "cos(π done)) / 2.",
            partial(_rates, shape=lambda done: torch.cos(math.pi / 2 * done)),
        ),
        Misconception(
            "not_lifted",
            "Your rates become negative: a cosine goes from 1 to -1. Add 1, and halve it.",
            partial(_rates, shape=lambda done: torch.cos(math.pi * done)),
        ),
        Misconception(
            "not_halved",
            "Your peak is twice as high as it should be: 1 + cos goes from 2 to 0. Halve it.",
            partial(_rates, shape=lambda done: 1 + torch.cos(math.pi * done)),
        ),
        Misconception(
            "straight_line",
            "Your answer falls in a straight line. Half a cosine lingers at the top and at the bottom.",
            partial(_rates, shape=lambda done: 1 - done),
        ),
        Misconception(
            "least_left_out",
            "Your answer falls to 0 whatever `least` is. It falls to `least`.",
            partial(_rates, down=lambda share, peak, least: peak * share),
        ),
        Misconception(
            "least_added_on_top",
            "Your answer adds `least` to everything, so that the fall begins above the peak. Only the difference, "
            "peak - least, follows the cosine.",
            partial(_rates, down=lambda share, peak, least: least + peak * share),
        ),
        Misconception(
            "cut_off_at_least",
            "Your answer falls towards 0 and is cut off at `least`. It falls all the way to `least`, and reaches it at "
            "the last step.",
            partial(_rates, down=lambda share, peak, least: (peak * share).clamp(min=least)),
        ),
        Misconception(
            "warm_from_least",
            "Your warm-up begins at `least`. It begins at 0: peak · step / warmup.",
            lambda steps, peak, warmup, total, least: _rates(
                steps, peak, warmup, total, least, rising=lambda steps, p, w: least + (p - least) * steps / w
            ),
        ),
        Misconception(
            "counted_from_zero",
            "Your answer is one step late. Steps count from 1 here: use them as they come.",
            lambda steps, *others: _rates(steps - 1, *others),
        ),
        Misconception(
            "by_place",
            "Your answer goes by a step's place in the tensor. Steps may come in any order: use their numbers.",
            lambda steps, *others: _rates(torch.arange(1, len(steps) + 1), *others),
        ),
        Misconception(
            "in_double_precision",
            "The result is in double precision (float64). Return float32, torch's default: .float() does it.",
            partial(_rates, dtype=torch.float64),
        ),
    ),
    withheld=WITHHELD,
)
