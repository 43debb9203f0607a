"""Lesson 01, attention.scale: Scaling."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy
import torch
from torch import Generator, Tensor

from course_lib import attention
from course_lib.checking.exercise import Case, Exercise, Misconception
from course_lib.exercises.attention.shared import LESSON, WITHHELD
from course_lib.exercises.common import as_it_is, kinds
from course_lib.exercises.worked_examples import A


def _scale_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(A.name, (A.steps.scores, A.d_head))
    for kind in kinds(generator):
        queries, keys = kind.sizes(2)
        yield Case(kind.name, (3 * kind.normal(queries, keys), kind.d_head()))


def _scaled(
    scores: Tensor,
    d_head: int,
    *,
    by: Callable[[Tensor, int], float | Tensor] = lambda scores, d_head: math.sqrt(d_head),
    multiplied: bool = False,
    then: Callable[[Tensor], Tensor] = as_it_is,
) -> Tensor:
    """The scaled scores, with the mistakes that are set."""
    return then(scores * by(scores, d_head) if multiplied else scores / by(scores, d_head))


def _scale_by_loop(scores: Tensor, d_head: int) -> Tensor:
    scaled = torch.empty_like(scores)
    for index in numpy.ndindex(*scores.shape):
        scaled[index] = scores[index] / d_head**0.5
    return scaled


@torch.no_grad()
def _scale_as_a_module(scores: Tensor, d_head: int) -> Tensor:
    layer = torch.nn.Linear(1, 1, bias=False).to(scores.dtype)
    layer.weight.fill_(1 / math.sqrt(d_head))
    scaled: Tensor = layer(scores.unsqueeze(-1))
    return scaled.squeeze(-1)


CORRECT = (
    _scale_by_loop,
    _scale_as_a_module,
    lambda scores, d_head: scores * d_head**-0.5,
    lambda scores, d_head: scores / torch.sqrt(torch.tensor(d_head)),
    lambda scores, d_head: torch.from_numpy(scores.numpy() / math.sqrt(d_head)),
    lambda scores, d_head: scores.clone().div_(d_head**0.5),
    lambda scores, d_head: (scores.double() / math.sqrt(d_head)).to(scores.dtype),
    lambda scores, d_head: torch.einsum("...,->...", scores, torch.tensor(1 / math.sqrt(d_head), dtype=scores.dtype)),
    lambda scores, d_head: torch.func.vmap(lambda row: row / math.sqrt(d_head))(scores),
)


EXERCISE = Exercise(
    id="attention.scale",
    lesson=LESSON,
    name="scale_scores",
    title="Scaling",
    statement=(
        "scale_scores(scores [..., queries, keys], d_head) -> [..., queries, keys]: the scores divided by √d_head, "
        "where d_head is the number of components of a query."
    ),
    points=1,
    minutes=4,
    section="Scaling",
    source="S2, Attention: Working Example; Vaswani et al. (2017), section 3.2.1",
    reference=attention.scale_scores,
    cases=_scale_cases,
    correct=CORRECT,
    misconceptions=(
        Misconception(
            "divided_by_number_of_keys",
            "Your answer divides by the number of keys. So do the numbers printed on slide S2, which don't follow "
            "the formula beside them: divide by √d_head, the root of the number of components of a query.",
            partial(_scaled, by=lambda scores, d_head: scores.shape[-1]),
        ),
        Misconception(
            "divided_by_d_head",
            "Your answer divides by d_head, as the formula on slide S1 does. The paper's formula takes the root: "
            "divide by √d_head.",
            partial(_scaled, by=lambda scores, d_head: d_head),
        ),
        Misconception(
            "divided_by_twice_d_head",
            "Your answer divides by 2 · d_head. If you wrote d_head ** 1/2: the power comes before the division. "
            "Divide by d_head ** 0.5, or by math.sqrt(d_head).",
            partial(_scaled, by=lambda scores, d_head: 2 * d_head),
        ),
        Misconception(
            "root_of_number_of_keys",
            "Your answer divides by the root of the number of keys. Divide by √d_head: the scores grow with the "
            "number of components of a query, not with the number of keys.",
            partial(_scaled, by=lambda scores, d_head: math.sqrt(scores.shape[-1])),
        ),
        Misconception(
            "root_of_number_of_queries",
            "Your answer divides by the root of the number of queries. Divide by √d_head, the second argument.",
            partial(_scaled, by=lambda scores, d_head: math.sqrt(scores.shape[-2])),
        ),
        Misconception(
            "divided_by_number_of_queries",
            "Your answer divides by the number of queries. Divide by √d_head, the second argument.",
            partial(_scaled, by=lambda scores, d_head: scores.shape[-2]),
        ),
        Misconception(
            "multiplied",
            "Your answer multiplies, which makes large scores larger still. Divide: scores / math.sqrt(d_head).",
            partial(_scaled, multiplied=True),
        ),
        Misconception(
            "not_scaled",
            "Your answer returns the scores unchanged. Divide them by √d_head.",
            lambda scores, d_head: scores.clone(),
        ),
        Misconception(
            "root_cut_to_an_integer",
            "Your answer divides by √d_head cut down to an integer. Keep its fraction: math.sqrt(d_head) or "
            "d_head ** 0.5.",
            partial(_scaled, by=lambda scores, d_head: math.isqrt(d_head)),
        ),
        Misconception(
            "standardised",
            "Your answer divides by the standard deviation of these very scores. The scale is fixed, √d_head: it "
            "doesn't depend on the numbers.",
            partial(_scaled, by=lambda scores, d_head: scores.std()),
        ),
        Misconception(
            "root_rounded",
            "Your answer divides by √d_head rounded to an integer. Keep its fraction: math.sqrt(d_head) or "
            "d_head ** 0.5.",
            partial(_scaled, by=lambda scores, d_head: round(math.sqrt(d_head))),
        ),
        Misconception(
            "softmax_too_early",
            "Your answer is passed through a softmax. That is the next step: here the scores are divided, nothing "
            "more.",
            partial(_scaled, then=partial(torch.softmax, dim=-1)),
        ),
    ),
    withheld=WITHHELD,
)
