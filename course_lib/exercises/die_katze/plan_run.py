"""Lesson 11, die_katze.plan_run: The plan of a run."""

import math
from collections.abc import Iterator
from fractions import Fraction

from torch import Generator

from course_lib.exercises.common import edits_of, hints, integer, mistake, slips
from course_lib.judging.exercise import CORE, Case, Exercise
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


def _in_four_steps(
    tokens: int, batch_tokens: int, accumulate: int, devices: int, epochs: float, warmup_ratio: float
) -> tuple[int, int, int]:
    of_a_step = batch_tokens * accumulate * devices
    steps = math.ceil(epochs * tokens / of_a_step)
    share = warmup_ratio * steps
    return of_a_step, steps, max(1, math.floor(share))


_slip = edits_of(_in_four_steps)
_NO_ACCUMULATION, _NO_DEVICES = (" * accumulate", ""), (" * devices", "")
_STEPS, _SHARE = "math.ceil(epochs * tokens / of_a_step)", "warmup_ratio * steps"


def _in_whole_numbers(
    tokens: int, batch_tokens: int, accumulate: int, devices: int, epochs: float, warmup_ratio: float
) -> tuple[int, int, int]:
    of_a_step = batch_tokens * accumulate * devices
    steps = -(-int(Fraction(epochs) * tokens * 64) // (64 * of_a_step))
    return of_a_step, steps, max(1, int(warmup_ratio * steps))


def _in_turn(
    tokens: int, batch_tokens: int, accumulate: int, devices: int, epochs: float, warmup_ratio: float
) -> tuple[int, int, int]:
    of_a_step = 0
    for _device in range(devices):
        of_a_step += accumulate * batch_tokens
    whole, left = divmod(tokens * epochs, of_a_step)
    steps = int(whole) + (left > 0)
    warmup = int(steps * warmup_ratio // 1)
    return of_a_step, steps, warmup or 1


EXERCISE = Exercise(
    id="die_katze.plan_run",
    title="The plan of a run",
    statement=(
        "plan_run(tokens int, batch_tokens int, accumulate int, devices int, epochs float, warmup_ratio float) -> "
        "(tokens_per_step, steps, warmup), three ints. Steps are rounded up; warm-up is rounded down, but at least 1."
    ),
    minutes=10,
    difficulty=2,
    importance=3,
    section="The plan",
    source="Vaswani et al. (2017), section 5",
    reference=die_katze.plan_run,
    cases=_plan_cases,
    parts={CORE: 2, _SHORT: 1},
    correct=(_in_four_steps, _in_whole_numbers, _in_turn),
    hints=hints(
        idea=(
            "The optimizer takes a step after every device has accumulated all its batches. So multiply the tokens of "
            "one batch by the number of accumulated batches and by the number of devices.",
            ("devices_forgotten", "accumulation_forgotten", "accumulation_divides"),
        ),
        shapes="All three results are whole numbers. `math.ceil` rounds up and `math.floor` down; both give an `int`.",
    ),
    misconceptions=(
        *mistake(
            "Your answer rounds up the steps of one epoch and multiplies by the epochs. A step may run into the next "
            "epoch: multiply first, and round up once.",
            each_epoch_rounded_up=_slip((_STEPS, "math.ceil(math.ceil(tokens / of_a_step) * epochs)"), paired=False),
        ),
        *mistake(
            "Your answer gives 0 steps for a very short warm-up, so the schedule would divide by 0. Return at least 1.",
            no_warm_up_at_all=_slip(("max(1,", "max(0,")),
            alone=True,
        ),
        *slips(
            _in_four_steps,
            devices_forgotten=(
                "Your answer ignores the devices. Each device works on its own batches at the same time, so a step "
                "sees `devices` times as many tokens.",
                _NO_DEVICES,
            ),
            accumulation_forgotten=(
                "Your answer ignores accumulation. The weights change only after `accumulate` batches: multiply by "
                "`accumulate`.",
                _NO_ACCUMULATION,
            ),
            one_batch=(
                "Your step sees only one batch of one device. Multiply by `accumulate` and by `devices`.",
                _NO_ACCUMULATION,
                _NO_DEVICES,
            ),
            accumulation_divides=(
                "Your answer divides by `accumulate`. `batch_tokens` is what fits in memory at once; accumulating "
                "several batches makes a step larger, not smaller.",
                ("accumulate * devices", "devices // accumulate"),
            ),
            added=(
                "Your answer adds `accumulate` and `devices`. Each device accumulates `accumulate` batches: multiply.",
                ("accumulate * devices", "(accumulate + devices)"),
            ),
            leftovers_dropped=(
                "Your number of steps is rounded down, so you never use the last tokens. Round up.",
                ("math.ceil", "math.floor"),
            ),
            one_step_too_many=(
                "Your answer has one step too many when there is no remainder. Round up with math.ceil, which leaves "
                "a whole number as it is.",
                ("math.ceil", "1 + math.floor"),
            ),
            nearest_step=(
                "Your number of steps is rounded to the nearest whole number. Round up: the remainder needs a step, "
                "too.",
                ("math.ceil", "round"),
            ),
            one_epoch=(
                "Your answer plans a single epoch. Multiply the tokens by `epochs`.",
                ("epochs * tokens", "tokens"),
            ),
            whole_epochs=(
                "Your answer rounds the number of epochs down to a whole number. Keep the fraction: half an epoch has "
                "steps, too.",
                ("epochs * tokens", "math.floor(epochs) * tokens"),
            ),
            warmup_of_an_epoch=(
                "Your warm-up is a share of one epoch's steps. Make it a share of all steps.",
                (_SHARE, "warmup_ratio * (tokens / of_a_step)"),
            ),
            warmup_rounded_up=("Your warm-up is rounded up. Round it down.", ("math.floor(share)", "math.ceil(share)")),
            steps_after_the_warmup=(
                "Your last number is the number of steps after the warm-up. Return the steps of the warm-up itself.",
                (_SHARE, f"steps - math.floor({_SHARE})"),
            ),
        ),
    ),
)
