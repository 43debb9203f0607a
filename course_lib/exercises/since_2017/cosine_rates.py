"""Lesson 12, since_2017.cosine_rates: Down a cosine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import integer
from course_lib.exercises.since_2017.shared import LESSON, WITHHELD
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import Case, Exercise, Hint, Misconception
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


def _rates_at_once(steps: Tensor, peak: float, warmup: int, total: int, least: float) -> Tensor:
    exact = steps.double()
    rising = peak * exact / warmup
    done = (exact - warmup) / (total - warmup)
    share = (1 + torch.cos(math.pi * done)) / 2
    falling = least + (peak - least) * share
    return torch.where(exact < warmup, rising, falling).float()


_slip = partial(Edited, _rates_at_once)
_EXACT, _DONE, _FALLING = "steps.double()", "(exact - warmup) / (total - warmup)", "least + (peak - least) * share"
_TURN, _SHARE = "math.pi * done", "(1 + torch.cos(math.pi * done)) / 2"


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
    difficulty=2,
    importance=4,
    section="Down to nothing",
    source="Loshchilov and Hutter (2017), equation 5",
    reference=since_2017.cosine_rates,
    cases=_rate_cases,
    correct=(_rates_at_once, _rates_by_loop, _rates_by_squares),
    steps=("done", "falling"),
    hints=(
        Hint(
            "idea",
            "Half a cosine goes from 1 to -1. Lift it by 1 and halve it, and it goes from 1 to 0: the share of the way "
            "down that is left. How much of the way is done counts from the end of the warm-up.",
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
            _slip((_TURN, "done")),
        ),
        Misconception(
            "no_warmup",
            "Your answer has no warm-up: up to step `warmup` the rate rises in a line, peak · step / warmup.",
            _slip(("torch.where(exact < warmup, rising, falling)", "falling")),
        ),
        Misconception(
            "done_from_the_start",
            "Your cosine begins at step 0, so that the rate has fallen already when the warm-up ends. What is done is "
            "(step - warmup) / (total - warmup).",
            _slip((_DONE, "exact / total")),
        ),
        Misconception(
            "done_after_the_end",
            "Your cosine takes `total` steps after the warm-up, and is not done at step `total`. Divide by total - "
            "warmup.",
            _slip((_DONE, "(exact - warmup) / total")),
        ),
        Misconception(
            "whole_cosine",
            "Your answer takes a whole turn of the cosine: down, and up again. Half a turn is π, not 2π.",
            _slip((_TURN, f"2 * {_TURN}")),
        ),
        Misconception(
            "not_lifted",
            "Your rates become negative: a cosine goes from 1 to -1. Add 1, and halve it.",
            _slip((_SHARE, f"torch.cos({_TURN})")),
        ),
        Misconception(
            "not_halved",
            "Your peak is twice as high as it should be: 1 + cos goes from 2 to 0. Halve it.",
            _slip((") / 2", ")")),
        ),
        Misconception(
            "straight_line",
            "Your answer falls in a straight line. Half a cosine lingers at the top and at the bottom.",
            _slip((_SHARE, "1 - done")),
        ),
        Misconception(
            "least_left_out",
            "Your answer falls to 0 whatever `least` is. It falls to `least`.",
            _slip((_FALLING, "peak * share")),
        ),
        Misconception(
            "least_added_on_top",
            "Your answer adds `least` to everything, so that the fall begins above the peak. Only the difference, "
            "peak - least, follows the cosine.",
            _slip((_FALLING, "least + peak * share")),
        ),
        Misconception(
            "cut_off_at_least",
            "Your answer falls towards 0 and is cut off at `least`. It falls all the way to `least`, and reaches it at "
            "the last step.",
            _slip((_FALLING, "(peak * share).clamp(min=least)")),
        ),
        Misconception(
            "warm_from_least",
            "Your warm-up begins at `least`. It begins at 0: peak · step / warmup.",
            _slip(("peak * exact / warmup", "least + (peak - least) * exact / warmup"), paired=False),
        ),
        Misconception(
            "counted_from_zero",
            "Your answer is one step late. Steps count from 1 here: use them as they come.",
            _slip((_EXACT, f"{_EXACT} - 1"), paired=False),
        ),
        Misconception(
            "by_place",
            "Your answer goes by a step's position in the tensor. Steps may come in any order: use their numbers.",
            _slip((_EXACT, "torch.arange(1, len(steps) + 1).double()"), paired=False),
        ),
        Misconception(
            "in_double_precision",
            "The result is in double precision (float64). Return float32, torch's default: .float() does it.",
            _slip((".float()", "")),
        ),
    ),
    withheld=WITHHELD,
)
