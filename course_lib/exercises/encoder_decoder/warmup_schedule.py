"""Lesson 05, encoder_decoder.warmup_schedule: The warm-up schedule."""

import math
from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import hints, integer, slips
from course_lib.judging.exercise import Case, Exercise
from course_lib.references import encoder_decoder


def _schedule_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: the paper's base model", (torch.tensor([1, 400, 4000, 16_000, 100_000]), 512, 4000))
        yield Case("the first steps", (torch.arange(1, 9), 64, 4))
    for number in ("one", "another"):
        warmup, d_model = integer(generator, 5, 20), integer(generator, 30, 300)
        yield Case(f"{number} warm-up", (torch.arange(1, 4 * warmup), d_model, warmup))
    d_model = integer(generator, 30, 3000 if hidden else 300)
    yield Case("not in order", (torch.tensor([70, 3, 18, 1, 18]), d_model, 17))
    yield Case("a warm-up of one step", (torch.arange(1, 6), 100, 1))
    yield Case("a single step", (torch.tensor([integer(generator, 2, 30)]), 1, 12))


def _scheduled(steps: Tensor, d_model: int, warmup: int) -> Tensor:
    counted = steps.double()
    rising = counted * warmup**-1.5
    falling = counted**-0.5
    rates: Tensor = d_model**-0.5 * torch.minimum(rising, falling)
    return rates.float()


_slips = partial(slips, _scheduled)

_JOINED, _RISING, _FALLING = "torch.minimum(rising, falling)", "counted * warmup**-1.5", "counted**-0.5"
_WIDTH = "d_model**-0.5"


def _rates_by_where(steps: Tensor, d_model: int, warmup: int) -> Tensor:
    rising = steps / (warmup * math.sqrt(d_model * warmup))
    return torch.where(steps < warmup, rising, 1 / torch.sqrt(steps * d_model))


EXERCISE = Exercise(
    id="encoder_decoder.warmup_schedule",
    title="The warm-up schedule",
    statement=(
        "warmup_schedule(steps int64 [steps], d_model, warmup) -> float32 [steps]: the paper's learning rate, "
        "d_model^-0.5 · min(step^-0.5, step · warmup^-1.5), at each of these steps."
    ),
    points=1,
    minutes=8,
    difficulty=2,
    importance=4,
    section="Up, then down",
    source="Vaswani et al. (2017), section 5.3; S4, the transformer's optimizer",
    reference=encoder_decoder.warmup_schedule,
    cases=_schedule_cases,
    correct=(
        _scheduled,
        _rates_by_where,
        lambda steps, d_model, warmup: torch.rsqrt(torch.max(steps, warmup**3 / steps**2) * d_model),
    ),
    hints=hints(
        idea=(
            "One curve rises and one falls; take the lower one at each step. `torch.minimum` compares two tensors "
            "entry by entry. To test your answer, check that the curves meet at `step = warmup`."
        )
    ),
    misconceptions=(
        *_slips(
            never_falls=(
                "Your answer keeps rising. After step `warmup`, the rate must fall as step^-0.5, which is then the "
                "smaller term.",
                (_JOINED, "rising"),
            ),
            never_rises=(
                "Your answer falls from the very first step. Either the rising term, step · warmup^-1.5, is missing, "
                "or its exponent has no minus sign, so it is never the smaller of the two.",
                (_JOINED, "falling"),
            ),
            larger_of_the_two=(
                "Your answer takes the larger term, so it falls first and then rises. Take the smaller one.",
                (_JOINED, "torch.maximum(rising, falling)"),
            ),
            width_left_out=(
                "Your answer ignores d_model. Multiply the rate by d_model^-0.5: wider models take smaller steps.",
                (_WIDTH, "1"),
            ),
            root_of_the_width=(
                "Your answer multiplies by the square root of d_model. Divide by it: d_model^-0.5.",
                (_WIDTH, "d_model**0.5"),
            ),
            divided_by_the_width=(
                "Your answer divides by d_model. Divide by its square root: d_model^-0.5.",
                (_WIDTH, "1 / d_model"),
            ),
            stays_at_the_peak=(
                "Your answer rises and then stays constant. After the warm-up, it must fall as 1 / √step.",
                (_FALLING, "torch.full_like(counted, warmup**-0.5)"),
            ),
            falls_with_the_step=(
                "Your answer falls as 1 / step after the warm-up. Use the square root: step^-0.5, or 1 / √step.",
                (_FALLING, "torch.where(counted > warmup, warmup**0.5 / counted, counted**-0.5)"),
            ),
            falling_without_minus=(
                "Your answer has step^0.5, which rises. Put a minus sign in the exponent: step^-0.5.",
                (_FALLING, "counted**0.5"),
            ),
            too_steep=(
                "Your answer rises too steeply: its line is step · warmup^-0.5, which meets the other term long "
                "before step `warmup`. Use the exponent -1.5.",
                (_RISING, "counted * warmup**-0.5"),
            ),
            rises_to_one=(
                "Your answer's rising term is step / warmup. Use step · warmup^-1.5, which meets the other term at "
                "step `warmup`.",
                (_RISING, "counted / warmup"),
            ),
            exponent_of_the_step=(
                "Your answer raises the step to the power -1.5. Raise `warmup` instead: step · warmup^-1.5.",
                (_RISING, "warmup * counted**-1.5"),
            ),
            counted_from_zero=(
                "Your answer subtracts 1 from each step. Steps already start at 1: use them as they are.",
                ("steps.double()", "steps.double() - 1"),
            ),
            one_step_early=(
                "Your answer adds 1 to each step. Steps already start at 1: use them as they are.",
                ("steps.double()", "steps.double() + 1"),
            ),
            in_double_precision=(
                "Your answer is in double precision, float64. Convert it to float32 with .float().",
                (".float()", ""),
            ),
        ),
        *_slips(
            paired=False,
            flat_until_the_peak=(
                "Your answer starts at its peak and falls after the warm-up. Before the peak, the rate rises with the "
                "step: step · warmup^-1.5.",
                ("steps.double()", "steps.clamp(min=warmup).double()"),
            ),
            by_place=(
                "Your answer goes by the position in the tensor: the first `warmup` entries rise, and the rest fall. "
                "Steps can come in any order: compare each number with `warmup`.",
                (_JOINED, "torch.where(torch.arange(len(steps)) < warmup, rising, falling)"),
            ),
            width_in_the_falling_term_alone=(
                "Your answer multiplies only step^-0.5 by d_model^-0.5. Multiply the whole minimum by it.",
                (_WIDTH, "1"),
                (_FALLING, "(counted * d_model) ** -0.5"),
            ),
            exponent_over_both=(
                "Your answer raises the product, step · warmup, to the power -1.5. Raise only `warmup`: step · "
                "warmup^-1.5.",
                (_RISING, "(counted * warmup) ** -1.5"),
            ),
            step_divides=(
                "Your answer divides by the step in the rising term: 1 / (step · warmup^1.5). Multiply by it: step · "
                "warmup^-1.5, or step / warmup^1.5.",
                (_RISING, "1 / (counted * warmup**1.5)"),
            ),
            papers_sizes=(
                "Your answer always uses the paper's sizes, 512 and 4000. Use `d_model` and `warmup`.",
                ("    counted", "    d_model, warmup = 512, 4000\n    counted"),
            ),
            papers_warmup=(
                "Your answer always warms up for 4000 steps, as in the paper. Use `warmup`.",
                ("    counted", "    warmup = 4000\n    counted"),
            ),
        ),
    ),
    entrywise=True,
)
