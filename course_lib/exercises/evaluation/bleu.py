"""Lesson 10, evaluation.bleu: BLEU."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

import torch
from torch import Generator

from course_lib.exercises.common import sizes
from course_lib.exercises.evaluation.shared import LESSON, WITHHELD, in_percent
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.judging.ready_made import METRICS
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


def _bleu_by_the_root(precisions: Sequence[float], penalty: float) -> float:
    some = list(precisions)
    if not all(some):
        return 0.0
    mean = math.prod(some) ** (1 / len(some))
    return mean * penalty


_slip = partial(Edited, _bleu_by_the_root)
_SOME, _MEAN, _RETURN = "list(precisions)", "math.prod(some) ** (1 / len(some))", "mean * penalty"


def _bleu_by_logarithms(precisions: Sequence[float], penalty: float) -> float:
    if min(precisions) == 0:
        return 0.0
    return penalty * math.exp(sum(math.log(precision) for precision in precisions) / len(precisions))


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
    difficulty=2,
    importance=5,
    section="Putting BLEU together",
    source="S1, BLEU; Papineni et al. (2002), section 2.3",
    reference=evaluation.bleu,
    cases=_bleu_cases,
    parts={CORE: 2, "a precision of 0": 1},
    correct=(
        _bleu_by_the_root,
        _bleu_by_logarithms,
        lambda precisions, penalty: penalty * torch.tensor(precisions).log().mean().exp().item(),
    ),
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
            _slip((_SOME, "list(set(precisions))"), paired=False),
        ),
        Misconception(
            "zeros_left_out",
            "Your answer is right as long as no precision is 0, and leaves out those that are. Then BLEU is 0: a "
            "product with a 0 in it.",
            _slip((_SOME, "[one for one in precisions if one]"), ("not all(some)", "not some")),
            alone=True,
        ),
        Misconception(
            "zeros_made_small",
            "Your answer is right as long as no precision is 0; for 0 it takes a very small number instead. Without "
            "smoothing, BLEU is then 0.",
            _slip((_SOME, "[max(one, 1e-9) for one in precisions]")),
            alone=True,
        ),
        Misconception(
            "nan_for_zero",
            "Your answer is right as long as no precision is 0, and NaN where one is. Then BLEU is 0: test for it "
            "before you take logarithms.",
            _slip(("0.0", "math.nan")),
            alone=True,
        ),
        Misconception(
            "arithmetic_mean",
            "Your answer takes the ordinary mean of the precisions. The geometric mean is the n-th root of their "
            "product, with n precisions.",
            _slip((_MEAN, "sum(some) / len(some)"), ("not all(some)", "False")),
        ),
        Misconception(
            "root_forgotten",
            "Your answer multiplies the precisions but takes no root: it shrinks with each of them. Take the n-th "
            "root for n precisions, or exp of the mean logarithm.",
            _slip((_MEAN, "math.prod(some)")),
        ),
        Misconception(
            "always_the_fourth_root",
            "Your answer takes the fourth root, or a weight of 1/4, however many precisions there are. Use "
            "len(precisions).",
            _slip((_MEAN, "math.prod(some) ** 0.25")),
        ),
        Misconception(
            "divided_after_the_power",
            "Your answer divides by the number of precisions instead of taking a root: Python reads ** 1 / N as (** "
            "1) / N. Put brackets: ** (1 / N).",
            _slip((_MEAN, "math.prod(some) / len(some)")),
        ),
        Misconception(
            "penalty_forgotten",
            "Your answer leaves out the penalty. Multiply the mean of the precisions by it.",
            _slip((_RETURN, "mean")),
        ),
        Misconception(
            "penalty_under_the_root",
            "Your answer has the penalty under the root, where most of it is lost. Take the geometric mean first, "
            "then multiply.",
            _slip((_MEAN, "(penalty * math.prod(some)) ** (1 / len(some))"), (_RETURN, "mean")),
        ),
        Misconception(
            "not_exponentiated",
            "Your answer uses the mean logarithm itself. Take exp of it before you multiply.",
            _slip((_MEAN, "sum(map(math.log, some)) / len(some)")),
        ),
        in_percent("a share from 0 to 1", _slip((_RETURN, "100 * mean * penalty"))),
        Misconception(
            "logarithm_to_base_10",
            "Your answer takes logarithms to base 10, but exp goes back from natural ones. Take math.log.",
            _slip((_MEAN, "math.exp(sum(map(math.log10, some)) / len(some))")),
        ),
        Misconception(
            "power_for_root",
            "Your answer raises the product to the power of n. It is the n-th root: ** (1 / n).",
            _slip((_MEAN, "math.prod(some) ** len(some)")),
        ),
    ),
    withheld=WITHHELD,
    forbidden=(METRICS,),
)
