"""Lesson 10, evaluation.bleu: BLEU."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy
import torch
from torch import Generator

from course_lib.checking.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.checking.ready_made import METRICS
from course_lib.exercises.common import sizes
from course_lib.exercises.evaluation.shared import LESSON, WITHHELD, in_percent
from course_lib.references import evaluation


def _bleu_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    def precisions(count: int) -> list[float]:
        return (0.1 + 0.85 * torch.rand(count, generator=generator, dtype=torch.float64)).tolist()

    def penalty() -> float:
        return 0.5 + 0.4 * float(torch.rand((), generator=generator, dtype=torch.float64))

    if not hidden:
        yield Case("worked example: the cat did (not) dance", ([1.0, 8 / 9, 6 / 8, 4 / 7], math.exp(-0.1)))
    for number in ("", "again"):
        yield Case(f"four precisions {number}".strip(), (precisions(4), penalty()))
    yield Case("no penalty", (precisions(4), 1.0))
    once = precisions(1)
    yield Case("two equal ones, and one that is small", ([0.9, *once, *once, 0.004], penalty()))
    yield Case("a penalty of 0", (precisions(4), 0.0))
    for count in sizes(generator, 2):
        yield Case(f"{count} precisions", (precisions(count), penalty()))
    yield Case("a single precision", (precisions(1), penalty()))
    for place in sorted(sizes(generator, 4))[:2]:
        some = precisions(4)
        some[place % 4] = 0.0
        yield Case(f"precision {place % 4} is 0", (some, penalty()), part="a precision of 0")
    yield Case("nothing matches", ([0.0] * 4, penalty()), part="a precision of 0")


def _bleu_differently(
    precisions: Sequence[float],
    penalty: float,
    *,
    mean: Callable[[Sequence[float]], float] = lambda some: math.prod(some) ** (1 / len(some)),
    zeros: Callable[[Sequence[float]], Sequence[float]] = list,
    nothing: float | None = 0.0,
    weighed: Callable[[float, float], float] = lambda mean, penalty: mean * penalty,
    times: float = 1.0,
) -> float:
    """`bleu` with one thing, or several, done differently; `nothing`: what it is where a precision is 0."""
    some = zeros(precisions)
    if not some or (not all(some) and nothing is not None):
        return nothing or 0.0
    return times * weighed(mean(some), penalty)


def _log_mean(precisions: Sequence[float]) -> float:
    """The mean of the logarithms; -inf where one of them is that of 0."""
    return sum(math.log(one) if one else -math.inf for one in precisions) / len(precisions)


def _bleu_by_logarithms(precisions: Sequence[float], penalty: float) -> float:
    if min(precisions) == 0:
        return 0.0
    return penalty * math.exp(sum(math.log(precision) for precision in precisions) / len(precisions))


CORRECT = (
    _bleu_by_logarithms,
    lambda precisions, penalty: penalty * torch.tensor(precisions).log().mean().exp().item(),
    lambda precisions, penalty: float(penalty * numpy.prod(precisions) ** (1 / len(precisions))),
    lambda precisions, penalty: 0.0 if 0 in precisions else penalty * statistics.geometric_mean(precisions),
)


EXERCISE = Exercise(
    id="evaluation.bleu",
    lesson=LESSON,
    name="bleu",
    title="BLEU",
    statement=(
        "bleu(precisions list of float, penalty float) -> float: the geometric mean of the precisions times the "
        "penalty; 0 as soon as one precision is 0."
    ),
    points=3,
    minutes=10,
    section="Putting BLEU together",
    source="S1, BLEU; Papineni et al. (2002), section 2.3",
    reference=evaluation.bleu,
    cases=_bleu_cases,
    parts={CORE: 2, "a precision of 0": 1},
    correct=CORRECT,
    steps=("mean",),
    hints=(
        Hint(
            "idea",
            "The geometric mean of n numbers is the n-th root of their product, and a root is a power of one over "
            "something. If you prefer logarithms, beware of the logarithm of 0.",
        ),
    ),
    misconceptions=(
        Misconception(
            "equal_ones_counted_once",
            "Your answer counts equal precisions once, as a set does. Each belongs to an n of its own.",
            lambda precisions, penalty: _bleu_differently(list(set(precisions)), penalty),
        ),
        Misconception(
            "zeros_left_out",
            "Your answer is right as long as no precision is 0, and leaves out those that are. Then BLEU is 0: a "
            "product with a 0 in it.",
            partial(_bleu_differently, zeros=lambda precisions: [one for one in precisions if one]),
            alone=True,
        ),
        Misconception(
            "zeros_made_small",
            "Your answer is right as long as no precision is 0; for 0 it takes a very small number instead. Without "
            "smoothing, BLEU is then 0.",
            partial(_bleu_differently, zeros=lambda precisions: [max(one, 1e-9) for one in precisions]),
            alone=True,
        ),
        Misconception(
            "nan_for_zero",
            "Your answer is right as long as no precision is 0, and NaN where one is. Then BLEU is 0: test for it "
            "before you take logarithms.",
            partial(_bleu_differently, nothing=math.nan),
            alone=True,
        ),
        Misconception(
            "arithmetic_mean",
            "Your answer takes the ordinary mean of the precisions. The geometric mean is the n-th root of their "
            "product, with n precisions.",
            partial(_bleu_differently, mean=lambda some: sum(some) / len(some), nothing=None),
        ),
        Misconception(
            "harmonic_mean",
            "Your answer takes the harmonic mean, as F1 does. The geometric mean is the n-th root of the product.",
            partial(_bleu_differently, mean=lambda some: len(some) / sum(1 / one for one in some)),
        ),
        Misconception(
            "root_forgotten",
            "Your answer multiplies the precisions but takes no root: it shrinks with each of them. Take the n-th "
            "root for n precisions, or exp of the mean logarithm.",
            partial(_bleu_differently, mean=math.prod),
        ),
        Misconception(
            "always_the_fourth_root",
            "Your answer takes the fourth root, or a weight of 1/4, however many precisions there are. Use "
            "len(precisions).",
            partial(_bleu_differently, mean=lambda some: math.prod(some) ** 0.25),
        ),
        Misconception(
            "divided_after_the_power",
            "Your answer divides by the number of precisions instead of taking a root: Python reads ** 1 / N as (** "
            "1) / N. Put brackets: ** (1 / N).",
            partial(_bleu_differently, mean=lambda some: math.prod(some) / len(some)),
        ),
        Misconception(
            "square_root",
            "Your answer takes the square root of the product. For n precisions it is the n-th root, ** (1 / n).",
            partial(_bleu_differently, mean=lambda some: math.prod(some) ** 0.5),
        ),
        Misconception(
            "penalty_forgotten",
            "Your answer leaves out the penalty. Multiply the mean of the precisions by it.",
            partial(_bleu_differently, weighed=lambda mean, penalty: mean),
        ),
        Misconception(
            "penalty_under_the_root",
            "Your answer has the penalty under the root, where most of it is lost. Take the geometric mean first, "
            "then multiply.",
            lambda precisions, penalty: (penalty * math.prod(precisions)) ** (1 / len(precisions)),
        ),
        Misconception(
            "not_exponentiated",
            "Your answer uses the mean logarithm itself. Take exp of it before you multiply.",
            partial(_bleu_differently, mean=_log_mean),
        ),
        in_percent("a share from 0 to 1", partial(_bleu_differently, times=100)),
        Misconception(
            "divided_by_the_penalty",
            "Your answer divides by the penalty, which makes short translations better. Multiply by it.",
            partial(_bleu_differently, weighed=lambda mean, penalty: mean / penalty if penalty else 0.0),
        ),
        Misconception(
            "logarithm_to_base_10",
            "Your answer takes logarithms to base 10, but exp goes back from natural ones. Take math.log.",
            partial(_bleu_differently, mean=lambda some: math.exp(_log_mean(some) / math.log(10))),
        ),
        Misconception(
            "logarithm_to_base_2",
            "Your answer takes logarithms to base 2, but exp goes back from natural ones. Take math.log.",
            partial(_bleu_differently, mean=lambda some: math.exp(_log_mean(some) / math.log(2))),
        ),
        Misconception(
            "power_for_root",
            "Your answer raises the product to the power of n. It is the n-th root: ** (1 / n).",
            partial(_bleu_differently, mean=lambda some: math.prod(some) ** len(some)),
        ),
        Misconception(
            "smallest_precision",
            "Your answer uses the smallest precision only. BLEU is the geometric mean of all of them.",
            partial(_bleu_differently, mean=min),
        ),
    ),
    withheld=WITHHELD,
    forbidden=(METRICS,),
)
