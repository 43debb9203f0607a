"""Lesson 06, decoding.length_penalised: Length penalty."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, integer, kinds
from course_lib.exercises.decoding.shared import LESSON, WITHHELD
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.references import decoding

DOUBLE = "double precision"
"""The part of `length_penalised` where whole numbers, divided, are not precise enough."""


def _length_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        scores, lengths = torch.tensor([-3.2, -4.0]), torch.tensor([5, 10])
        yield Case("worked example: the short and the whole translation of the lesson", (scores, lengths, 0.6))
    for kind in kinds(generator):
        (sentences,) = kind.sizes(1)
        scores = -5 * kind.normal(sentences).abs() - 1
        lengths = torch.randint(1, 30, (*kind.leading, sentences), generator=generator)
        part = DOUBLE if kind.dtype == torch.float64 else CORE
        yield Case(kind.name, (scores, lengths, integer(generator, 3, 9) / 10), part=part)
    scores, lengths = torch.tensor([-2.0, -7.0, -11.0]), torch.randperm(20, generator=generator)[:3] + 2
    yield Case("alpha = 0: no penalty", (scores, lengths, 0.0))
    yield Case("a single sentence", (torch.tensor(-6.0), torch.tensor(4), 0.5))
    lengths = torch.tensor([3, 40, integer(generator, 130, 160)])
    yield Case("alpha above 1", (scores, lengths, integer(generator, 13, 18) / 10))


def _penalised(log_probability: Tensor, length: Tensor, alpha: float) -> Tensor:
    tokens = length.to(log_probability.dtype)
    base = (5 + tokens) / 6
    penalty = base**alpha
    return log_probability / penalty


_slip = partial(Edited, _penalised)
_WORDS = "length.to(log_probability.dtype)"


def _length_by_loop(log_probability: Tensor, length: Tensor, alpha: float) -> Tensor:
    pairs = zip(log_probability.flatten().tolist(), length.flatten().tolist(), strict=True)
    scores = [score / ((5 + tokens) / 6) ** alpha for score, tokens in pairs]
    return torch.tensor(scores, dtype=log_probability.dtype).reshape(log_probability.shape)


EXERCISE = Exercise(
    id="decoding.length_penalised",
    lesson=LESSON,
    name="length_penalised",
    title="Length penalty",
    statement=(
        "length_penalised(log_probability [...], length int64 [...], alpha) -> [...]: each log-probability divided by "
        "((5 + length) / 6)^alpha, as precise as the log-probabilities are."
    ),
    points=2,
    minutes=8,
    difficulty=1,
    importance=3,
    section="Short sentences win",
    source="Wu et al. (2016), section 7, equation 14",
    reference=decoding.length_penalised,
    cases=and_turned_around(_length_cases),
    parts={CORE: 1, DOUBLE: 1},
    correct=(
        _penalised,
        _length_by_loop,
        lambda log_probability, length, alpha: (
            -torch.exp(torch.log(-log_probability) - alpha * torch.log((5 + length.to(log_probability.dtype)) / 6))
        ),
    ),
    entrywise=True,
    steps=("divisors",),
    hints=(
        Hint(
            "idea",
            "The exponent belongs to the whole fraction, and in Python a power binds more strongly than a division: "
            "so the fraction needs brackets. Bring the lengths to the dtype of the log-probabilities first.",
        ),
    ),
    misconceptions=(
        Misconception(
            "single_precision",
            "Your formula is right, but in torch, whole numbers divided by one another give single precision, and so "
            "your penalty has it too. Bring the lengths to the log-probabilities' dtype first: "
            "length.to(log_probability.dtype).",
            _slip((_WORDS, "length")),
            alone=True,
        ),
        Misconception(
            "multiplied",
            "Your answer multiplies by the penalty, which makes long sentences even worse. Divide by it: the scores "
            "are negative, and come nearer to 0.",
            _slip(("/ penalty", "* penalty")),
        ),
        Misconception(
            "divided_by_the_length",
            "Your answer divides by length^alpha, which is another way of normalising. Here the divisor is "
            "((5 + length) / 6)^alpha, which is milder for short sentences.",
            _slip(("(5 + tokens) / 6", "tokens")),
        ),
        Misconception(
            "mean_of_the_words",
            "Your answer is the mean log-probability of a token. Divide by ((5 + length) / 6)^alpha instead.",
            _slip(("/ penalty", "/ tokens")),
        ),
        Misconception(
            "alpha_left_out",
            "Your answer divides by (5 + length) / 6 whatever alpha is. Raise that to the power alpha.",
            _slip(("base**alpha", "base")),
            alone=True,
        ),
        Misconception(
            "alpha_of_the_paper",
            "Your answer raises to the power 0.6 whatever alpha is. Use the argument.",
            _slip(("base**alpha", "base**0.6")),
        ),
        Misconception(
            "alpha_of_the_paper_for_0",
            "Where alpha is 0 your answer takes 0.6: to Python 0 counts as False in `alpha or 0.6`. With alpha = 0 "
            "nothing is penalised.",
            _slip(("base**alpha", "base ** (alpha or 0.6)")),
        ),
        Misconception(
            "only_six_raised",
            "Your answer raises only the 6 to the power alpha, because ** binds more strongly than /. Put the whole "
            "fraction in parentheses: ((5 + length) / 6) ** alpha.",
            _slip(("base**alpha", "6 * base / 6**alpha")),
        ),
        Misconception(
            "divided_twice",
            "Your answer divides by 5 + length, and then by 6^alpha as well. Put the whole divisor in parentheses: "
            "((5 + length) / 6) ** alpha.",
            _slip(("base**alpha", "6 * base * 6**alpha")),
        ),
        Misconception(
            "score_raised",
            "Your answer raises the whole quotient to the power alpha, the log-probability included, and a negative "
            "number has no such power. Raise the divisor alone, then divide.",
            _slip(("log_probability / penalty", "(log_probability / base) ** alpha")),
        ),
        Misconception(
            "only_the_length_divided",
            "Your answer divides only the length by 6, because / binds more strongly than +. Put the sum in "
            "parentheses: (5 + length) / 6.",
            _slip(("(5 + tokens) / 6", "5 + tokens / 6")),
        ),
        Misconception(
            "five_left_out",
            "Your answer leaves out the 5: the divisor is ((5 + length) / 6)^alpha.",
            _slip(("(5 + tokens)", "tokens")),
        ),
        Misconception(
            "end_not_counted",
            "Your answer counts one token fewer than `length`, which is right as it comes: <e> is a token like any "
            "other.",
            _slip((_WORDS, f"{_WORDS} - 1")),
        ),
    ),
    withheld=WITHHELD,
)
