"""Lesson 09, bert.printed_probabilities: Which computation printed them?"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.bert.shared import LESSON, WITHHELD
from course_lib.exercises.common import Kind, and_turned_around, sizes
from course_lib.judging.exercise import Case, Exercise, Hint, Misconception
from course_lib.references import bert

THREE_TEXTS = torch.tensor([[1.2, -0.4, 0.3], [0.5, 2.0, -1.0], [-0.3, 0.1, 0.8]])
"""What the lesson's program was given."""


def _printed_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: three texts", (THREE_TEXTS,))
    for name, dtype, transposed in (
        ("some texts", torch.float32, False),
        ("double precision", torch.float64, False),
        ("transposed in memory", torch.float32, True),
    ):
        texts, classes = sizes(generator, 2)
        yield Case(name, (Kind(name, generator, dtype=dtype, transposed=transposed).normal(texts, classes),))
    yield Case("as many texts as classes", (torch.randn(4, 4, generator=generator),))
    yield Case("a single text", (torch.randn(1, 5, generator=generator),))


def _class_by_class(scores: Tensor) -> Tensor:
    return torch.stack([column.exp() / column.exp().sum() for column in scores.unbind(1)], dim=1)


def _scaled(scores: Tensor) -> Tensor:
    powers = (scores - scores.amax(dim=0)).exp()
    return powers @ torch.eye(powers.shape[1], dtype=powers.dtype) / powers.sum(dim=0, keepdim=True)


EXERCISE = Exercise(
    id="bert.printed_probabilities",
    lesson=LESSON,
    name="printed_probabilities",
    title="Which computation printed them?",
    statement=(
        "printed_probabilities(scores [texts, classes]) -> [texts, classes]: what the program with the slip prints for "
        "these scores, which are of moderate size."
    ),
    points=2,
    minutes=6,
    difficulty=2,
    importance=2,
    section="One label for a text or a pair",
    source="S1, classifiers as exp(θ·f)",
    reference=bert.printed_probabilities,
    cases=and_turned_around(_printed_cases),
    correct=(
        _class_by_class,
        _scaled,
        lambda scores: scores.T.softmax(-1).T,
    ),
    hints=(
        Hint(
            "idea",
            "Probabilities sum to 1. Add up the printed table in every direction that you can think of: somewhere it "
            "does sum to 1.",
        ),
        Hint(
            "shapes",
            "`[texts, classes]` goes in and comes out. There are as many sums as there are columns, `[classes]`, and "
            "each entry is divided by the one of its column.",
            answers=("without_exp",),
        ),
    ),
    misconceptions=(
        Misconception(
            "sums_beside_the_rows",
            "Your sums are the right ones, but each stands beside a row and not above its column: as [classes] or [1, "
            "classes] they divide the columns, as [classes, 1] the rows.",
            lambda scores: scores.exp() / scores.exp().sum(0).unsqueeze(1),
        ),
        Misconception(
            "as_it_should_be",
            "Your answer is right, and that is not what was printed: your rows sum to 1. Do the printed ones?",
            lambda scores: scores.softmax(dim=-1),
        ),
        Misconception(
            "never_divided",
            "Your answer is exp of the scores, as the slide has it. What was printed has been divided by something.",
            torch.exp,
        ),
        Misconception(
            "one_sum_for_all",
            "Your answer divides by one sum over the whole table. What was printed sums to more than 1 altogether, so "
            "there were several sums.",
            lambda scores: scores.flatten().softmax(dim=0).view_as(scores),
        ),
        Misconception(
            "both_ways",
            "Your answer takes the softmax twice, over the classes and over the texts. One of them is enough for what "
            "was printed.",
            lambda scores: scores.softmax(dim=-1).softmax(dim=0),
        ),
        Misconception(
            "without_exp",
            "Your answer divides the scores themselves by their sums. The slide's exp comes first.",
            lambda scores: scores / scores.sum(dim=0),
        ),
        Misconception(
            "each_by_itself",
            "Your answer is the sigmoid, which treats each score by itself. What was printed depends on other scores, "
            "too.",
            torch.sigmoid,
        ),
    ),
    withheld=(*WITHHELD, "course_lib.references.bert"),
)
