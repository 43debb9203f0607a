"""A small exercise for the tests of the checker, to double a tensor, and how an answer to it is judged."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from course_lib.judging.answer_key import AnswerKey
from course_lib.judging.exercise import Case, Exercise, Misconception
from course_lib.judging.judge import judge
from course_lib.judging.observation import observe
from course_lib.judging.ready_made import ReadyMade
from course_lib.judging.verdict import Verdict


def double(x: Tensor) -> Tensor:
    return 2 * x


def _cases(generator: torch.Generator, hidden: bool) -> Iterable[Case]:
    if hidden:
        yield Case("other numbers", (torch.randn(4, generator=generator),))
        return
    yield Case("a vector", (torch.tensor([1.0, 2.0, 3.0]),), gradients=(0,))
    yield Case("a matrix", (torch.randn(2, 3, generator=generator),))
    yield Case("a huge number", (torch.tensor([1e30]),), part="huge numbers")


DOUBLE = Exercise(
    id="sample.double",
    lesson="00_sample",
    name="double",
    title="Doubling",
    statement="Return twice x, of the same shape.",
    points=3,
    minutes=1,
    section="Doubling",
    source="none",
    reference=double,
    cases=_cases,
    misconceptions=(
        Misconception("squared", "You squared x; double it instead.", lambda x: x**2),
        Misconception("added_two", "You added 2; multiply by 2 instead.", lambda x: x + 2),
    ),
    correct=(lambda x: x + x, lambda x: x * 2.0, lambda x: torch.add(x, x)),
    parts={"values": 2, "huge numbers": 1},
    forbidden=(ReadyMade("adding_in_place", ("add_",)),),
)


class Scale(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


def _scale_cases(generator: torch.Generator, hidden: bool) -> Iterable[Case]:
    yield Case(
        "three weights",
        (torch.randn(2, 3, generator=generator),),
        construct={"size": 3},
        weights={"weight": torch.randn(3, generator=generator)},
        gradients=(0,),
        weight_gradients=True,
    )


SCALE = Exercise(
    id="sample.scale",
    lesson="00_sample",
    name="Scale",
    title="Scaling",
    statement="A module that multiplies by its weight.",
    points=1,
    minutes=1,
    section="Scaling",
    source="none",
    reference=Scale,
    cases=_scale_cases,
    misconceptions=(),
    correct=(),
)


def verdict_on(answer: Any, exercise: Exercise = DOUBLE, seed: int | None = None) -> Verdict:
    """What somebody reads whose answer this is; with a seed, hidden cases count as well."""
    return judge(AnswerKey(exercise, seed), lambda case: observe(answer, case))


def told(answer: Any, exercise: Exercise = DOUBLE) -> str:
    """The verdict in one line."""
    return " ".join(verdict_on(answer, exercise).text().split())


def named(answer: Any, exercise: Exercise = DOUBLE, seed: int | None = None) -> str:
    """The id of the mistake that the verdict names; empty where it names none."""
    misconception = verdict_on(answer, exercise, seed).misconception
    return misconception.id if misconception else ""
