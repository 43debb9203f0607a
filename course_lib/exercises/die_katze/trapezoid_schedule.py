"""Lesson 11, die_katze.trapezoid_schedule: A warmup-stable-decay schedule."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import edits_of, hints, integer, mistake, slips
from course_lib.judging.exercise import Case, Exercise
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


def _at_once(steps: Tensor, total: int, warmup: int, cooldown: int, peak: float) -> Tensor:
    numbers = steps.double()
    rising, falling = numbers / warmup, (total + 1 - numbers) / cooldown
    share = torch.minimum(rising, falling).clamp(max=1)
    return (peak * share).float()


_slip = edits_of(_at_once)
_LOWER, _ROOF, _UNCUT = "torch.minimum(rising, falling)", ".clamp(max=1)", (".clamp(max=1)", "")


def _by_loop(steps: Tensor, total: int, warmup: int, cooldown: int, peak: float) -> Tensor:
    rates = []
    for step in steps.tolist():
        rates.append(peak * min(1.0, step / warmup, (total - step + 1) / cooldown))
    return torch.tensor(rates)


def _by_parts(steps: Tensor, total: int, warmup: int, cooldown: int, peak: float) -> Tensor:
    rising = torch.where(steps < warmup, steps * (peak / warmup), peak)
    falling = (total + 1 - steps) * (peak / cooldown)
    return torch.where(falling < rising, falling, rising)


EXERCISE = Exercise(
    id="die_katze.trapezoid_schedule",
    title="A warmup-stable-decay schedule",
    statement=(
        "trapezoid_schedule(steps int64 [steps], total, warmup, cooldown, peak) -> float32 [steps]: peak · min(1, "
        "step / warmup, (total + 1 - step) / cooldown) at each step."
    ),
    points=2,
    minutes=8,
    difficulty=2,
    importance=3,
    section="Up, along, and down",
    source="Zhai et al. (2022), section 3.5",
    reference=die_katze.trapezoid_schedule,
    cases=_trapezoid_cases,
    correct=(_at_once, _by_loop, _by_parts),
    steps=("shares",),
    hints=hints(
        idea=(
            "There are three lines: one rises, one is flat, one falls. The rate at each step is the lowest of them. "
            "`torch.minimum` compares two tensors, and `clamp(max=...)` compares a tensor with a number."
        )
    ),
    misconceptions=(
        *slips(
            _at_once,
            no_flat_part=(
                "Your answer goes above the peak. Take the smallest of three terms; one of them is 1.",
                _UNCUT,
            ),
            cut_off_at_one=(
                "Your answer is capped at 1 instead of at the peak. Take the smallest of the three terms, one of "
                "which is 1, then multiply by the peak.",
                _UNCUT,
                ("(peak * share)", "(peak * share).clamp(max=1)"),
            ),
            never_below_the_peak=(
                "Your answer is never below the peak. Take the smallest of three terms, one of which is 1: use "
                "clamp(max=1), not clamp(min=1).",
                _slip((_ROOF, ".clamp(min=1)"), paired=False),
            ),
            product=(
                "Your answer multiplies the rising line by the falling line. Take the smaller of the two.",
                _slip((_LOWER, "(rising.clamp(max=1) * falling.clamp(max=1))"), paired=False),
            ),
            slopes_swapped=(
                "Your answer has `warmup` and `cooldown` swapped. The rise takes `warmup` steps, and the decay takes "
                "`cooldown`.",
                _slip(("/ warmup", "/ cooldown"), ("/ cooldown", "/ warmup"), paired=False),
            ),
            by_place=(
                "Your answer uses a step's index in the tensor. Steps may come in any order: use their values.",
                _slip(("steps.double()", "torch.arange(1, len(steps) + 1).double()"), paired=False),
            ),
            no_cooldown=(
                "Your answer never decays. The third of the three terms is (total + 1 - step) / cooldown.",
                (_LOWER, "rising"),
            ),
            no_warmup=("Your answer starts at the peak. One of the three terms is step / warmup.", (_LOWER, "falling")),
            largest=(
                "Your answer takes the larger of the rising and the falling line. Take the smaller one.",
                (_LOWER, "torch.maximum(rising, falling)"),
            ),
        ),
        *mistake(
            "Your answer is 0 at the last step, which then learns nothing. Use total + 1 - step, which is 0 only after "
            "the last step.",
            last_step_wasted=_slip(("total + 1 -", "total -")),
            last_step_wasted_and_a_steeper_fall=_slip(("total + 1 -", "total -"), ("/ cooldown", "/ (cooldown - 1)")),
        ),
        *slips(
            _at_once,
            first_step_wasted=(
                "Your answer is 0 at the first step, so the model learns nothing from it. Steps are counted from 1: "
                "use step / warmup.",
                ("numbers / warmup", "(numbers - 1) / warmup"),
            ),
            over_the_whole_run=(
                "Your answer decays over the whole run. Divide by `cooldown`, the number of steps in the decay.",
                ("/ cooldown", "/ total"),
            ),
            peak_left_out=("Your answer peaks at 1. Multiply by the peak.", ("peak * share", "share")),
        ),
    ),
)
