"""Lesson 06, decoding.with_temperature: Temperature."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, kinds, sizes
from course_lib.exercises.decoding.shared import AFTER_DIE_KATZE, LESSON, TEN_TOKENS, WITHHELD
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.references import decoding

NEAR_0 = "near 0"
"""The part of `with_temperature` where what is computed on the way may be too large or too small for a float."""


def _temperature_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{TEN_TOKENS}, temperature 0.5", (AFTER_DIE_KATZE.log(), 0.5))
        yield Case("the ten tokens of the lesson, temperature 2", (AFTER_DIE_KATZE.log(), 2.0))
        yield Case("the ten tokens of the lesson, temperature 0.02", (AFTER_DIE_KATZE.log(), 0.02), part=NEAR_0)
    for kind, temperature in zip(kinds(generator), (0.7, 1.5, 0.4, 2.5, 1.0), strict=True):
        (vocab_size,) = kind.sizes(1)
        several = (3,) if kind.transposed else ()
        yield Case(f"{kind.name}, temperature {temperature:g}", (2 * kind.normal(*several, vocab_size), temperature))
    (vocab_size,) = sizes(generator, 1)
    logits = 20 * torch.randn(2, vocab_size, generator=generator)
    logits[0, 0], logits[1, 1] = 80.0, -80.0
    yield Case("a temperature near 0", (logits, 0.02), part=NEAR_0)
    order = torch.stack([torch.randperm(8, generator=generator) for _ in range(2)])
    yield Case("a temperature near 0, and logits that differ by little", (0.02 * order, 0.015), part=NEAR_0)


def _temperature_by_hand(logits: Tensor, temperature: float) -> Tensor:
    divided = logits / temperature
    less = divided - divided.amax(dim=-1, keepdim=True)
    powers = torch.exp(less)
    return powers / powers.sum(dim=-1, keepdim=True)


_slip = partial(Edited, _temperature_by_hand)
_LARGEST = "divided.amax(dim=-1, keepdim=True)"


def _temperature_by_loop(logits: Tensor, temperature: float) -> Tensor:
    rows = [row.div(temperature).softmax(0) for row in logits.reshape(-1, logits.shape[-1])]
    return torch.stack(rows).reshape(logits.shape)


EXERCISE = Exercise(
    id="decoding.with_temperature",
    lesson=LESSON,
    name="with_temperature",
    title="Temperature",
    statement=(
        "with_temperature(logits [..., vocab_size], temperature) -> [..., vocab_size]: probabilities, "
        "softmax(logits / temperature); the temperature is at least 0.01."
    ),
    points=2,
    minutes=6,
    difficulty=1,
    importance=5,
    section="Temperature",
    source="Ackley, Hinton and Sejnowski (1985); Holtzman et al. (2020)",
    reference=decoding.with_temperature,
    cases=and_turned_around(_temperature_cases),
    parts={CORE: 1, NEAR_0: 1},
    correct=(
        _temperature_by_hand,
        _temperature_by_loop,
        lambda logits, temperature: torch.softmax(torch.log_softmax(logits, dim=-1) / temperature, dim=-1),
    ),
    hints=(
        Hint(
            "idea",
            "Divide the logits, not the probabilities, and then take the softmax. torch's own subtracts the largest "
            "number first, as yours did in lesson 01, and does not overflow.",
        ),
    ),
    misconceptions=(
        Misconception(
            "never_below_a_tenth",
            "Your answer is right down to a temperature of 0.1, and takes 0.1 for all below. There is no least one: "
            "torch.softmax takes any quotient.",
            _slip(("/ temperature", "/ max(temperature, 0.1)")),
            alone=True,
        ),
        Misconception(
            "exp_overflows",
            "Your answer is right where exp does not overflow. Near temperature 0 the quotients are large: subtract "
            "the largest logit first, or use torch.softmax, which does.",
            _slip((" - divided.amax(dim=-1, keepdim=True)", "")),
            alone=True,
        ),
        Misconception(
            "one_largest_for_all",
            "Your answer subtracts one number, the largest of all rows, everywhere. Near temperature 0 every exp of a "
            "row that lies far below it becomes 0, and 0 / 0 is NaN: subtract each row's own largest.",
            _slip((_LARGEST, "divided.max()")),
            alone=True,
        ),
        Misconception(
            "powers_vanish",
            "Your answer is right where the powers of the probabilities are not too small for a float. Near "
            "temperature 0 all of them may be rounded to 0, and 0 / 0 is NaN: take softmax(logits / temperature).",
            _slip(("torch.exp(less)", "torch.softmax(logits, dim=-1) ** (1 / temperature)")),
        ),
        Misconception(
            "all_on_the_best_near_0",
            "At a low temperature your answer gives all the probability to the best token. Where others are nearly as "
            "good they keep some: use the formula at every temperature.",
            _slip(("torch.exp(less)", "torch.exp(less) if temperature >= 0.1 else (less == 0).to(less.dtype)")),
        ),
        Misconception(
            "multiplied",
            "Your answer flattens where it should sharpen, and the other way round: in effect, it multiplies the "
            "logits by the temperature. Divide them.",
            _slip(("/ temperature", "* temperature")),
        ),
        Misconception(
            "ignored",
            "Your answer is the softmax of the logits, and the temperature has no effect. (Subtracting a constant "
            "from all logits changes nothing; nor does dividing all probabilities before they are normalised.) Divide "
            "the logits by it.",
            _slip((" / temperature", "")),
        ),
        Misconception(
            "probabilities_divided",
            "Your answer divides the probabilities by the temperature, so that they no longer sum to 1. Divide the "
            "logits, before the softmax.",
            lambda logits, temperature: torch.softmax(logits, dim=-1) / temperature,
        ),
        Misconception(
            "softmax_twice",
            "Your answer takes the softmax of probabilities. Divide the logits themselves by the temperature.",
            _slip(("logits / ", "torch.softmax(logits, dim=-1) / ")),
            alone=True,
        ),
        Misconception(
            "powers_not_normalised",
            "Your answer raises the probabilities to the power 1 / temperature, which is a good way, but then they no "
            "longer sum to 1. Divide them by their sum.",
            lambda logits, temperature: torch.softmax(logits, dim=-1) ** (1 / temperature),
        ),
        Misconception(
            "logarithms",
            "Your answer gives the logarithms of the probabilities. Use softmax instead of log_softmax.",
            _slip(("powers / powers.sum(dim=-1, keepdim=True)", "less - powers.sum(dim=-1, keepdim=True).log()")),
        ),
        Misconception(
            "first_dimension",
            "Your answer takes the softmax over the first dimension, which is the batch where there is one. The "
            "vocabulary is the last: dim=-1.",
            _slip(("amax(dim=-1", "amax(dim=0"), ("sum(dim=-1", "sum(dim=0")),
        ),
        Misconception(
            "everything_normalised_together",
            "Your answer takes one softmax of all rows together, so that everything sums to 1. Each row does so by "
            "itself: dim=-1.",
            _slip((_LARGEST, "divided.max()"), (".sum(dim=-1, keepdim=True)", ".sum()")),
        ),
    ),
    withheld=WITHHELD,
)
