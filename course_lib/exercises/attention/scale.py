"""Lesson 01, attention.scale: Scaling."""

import math
from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib import attention
from course_lib.exercises.attention.shared import wrong_divisors
from course_lib.exercises.common import and_turned_around, hints, kinds, slips
from course_lib.exercises.worked_examples import A
from course_lib.judging.exercise import Case, Exercise


def _scale_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(A.name, (A.steps.scores, A.d_head))
    for kind in kinds(generator):
        queries, keys = kind.sizes(2)
        yield Case(kind.name, (3 * kind.normal(queries, keys), kind.d_head()), gradients=() if kind.leading else (0,))


def _scaled(scores: Tensor, d_head: int) -> Tensor:
    scaled = scores / math.sqrt(d_head)
    return scaled


def _scale_as_a_module(scores: Tensor, d_head: int) -> Tensor:
    layer = torch.nn.Linear(1, 1, bias=False).to(scores.dtype)
    torch.nn.init.constant_(layer.weight, 1 / math.sqrt(d_head))
    scaled: Tensor = layer(scores.unsqueeze(-1))
    return scaled.squeeze(-1)


EXERCISE = Exercise(
    id="attention.scale",
    title="Scaling",
    statement=(
        "scale_scores(scores [..., queries, keys], d_head) -> [..., queries, keys]: the scores divided by √d_head, "
        "where d_head is the number of components of a query."
    ),
    points=1,
    minutes=4,
    difficulty=1,
    importance=5,
    section="Scaling",
    source="S2, Attention: Working Example; Vaswani et al. (2017), section 3.2.1",
    reference=attention.scale_scores,
    cases=and_turned_around(_scale_cases),
    correct=(_scaled, _scale_as_a_module, lambda scores, d_head: scores / torch.sqrt(torch.tensor(d_head))),
    hints=hints(
        idea=(
            "A dot product is a sum of `d_head` products, some positive and some negative. So the typical size of a "
            "dot product grows like the square root of `d_head`. Divide by that square root."
        ),
        outline=(
            "Use `math.sqrt` for the square root: `d_head` is an ordinary number.\n"
            "Divide the whole tensor by the square root: this divides every score at once.\n"
            "If you write a power instead, watch the order of operations: `x ** 1/2` is half of x."
        ),
    ),
    misconceptions=(
        *wrong_divisors(_scaled),
        *slips(
            _scaled,
            multiplied=(
                "Your answer multiplies by √d_head, which makes large scores even larger. Divide: scores / "
                "math.sqrt(d_head).",
                ("scores / ", "scores * "),
            ),
            root_rounded=(
                "Your answer rounds √d_head to an integer. Keep the fraction: math.sqrt(d_head) or d_head ** 0.5.",
                ("math.sqrt(d_head)", "round(math.sqrt(d_head))"),
            ),
            softmax_too_early=(
                "Your answer takes a softmax. The softmax is the next step: here, just divide.",
                ("return scaled", "return torch.softmax(scaled, dim=-1)"),
            ),
            not_scaled=(
                "Your answer returns the scores unchanged. Divide them by √d_head.",
                lambda scores, d_head: scores.clone(),
            ),
        ),
    ),
)
