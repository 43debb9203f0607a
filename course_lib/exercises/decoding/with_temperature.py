"""Lesson 06, decoding.with_temperature: Temperature."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy
import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.checking.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.exercises.common import and_turned_around, kinds, sizes
from course_lib.exercises.decoding.shared import BEHIND, BEHIND_DIE_KATZE, LESSON, WITHHELD
from course_lib.references import decoding

NEAR_0 = "near 0"
"""The part of `with_temperature` where what is computed on the way may be too large or too small for a float."""


def _temperature_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{BEHIND}, temperature 0.5", (BEHIND_DIE_KATZE.log(), 0.5))
        yield Case("the ten tokens of the lesson, temperature 2", (BEHIND_DIE_KATZE.log(), 2.0))
        yield Case("the ten tokens of the lesson, temperature 0.02", (BEHIND_DIE_KATZE.log(), 0.02), part=NEAR_0)
    for kind, temperature in zip(kinds(generator), (0.7, 1.5, 0.4, 2.5, 1.0), strict=True):
        (vocabulary,) = kind.sizes(1)
        several = (3,) if kind.transposed else ()
        yield Case(f"{kind.name}, temperature {temperature:g}", (2 * kind.normal(*several, vocabulary), temperature))
    (vocabulary,) = sizes(generator, 1)
    logits = 20 * torch.randn(2, vocabulary, generator=generator)
    logits[0, 0], logits[1, 1] = 80.0, -80.0
    yield Case("a temperature near 0", (logits, 0.02), part=NEAR_0)
    order = torch.stack([torch.randperm(8, generator=generator) for _ in range(2)])
    yield Case("a temperature near 0, and logits that differ by little", (0.02 * order, 0.015), part=NEAR_0)


def _softmax(divided: Tensor, dim: int) -> Tensor:
    return torch.softmax(divided, dim=dim)


def _tempered(
    logits: Tensor,
    temperature: float,
    *,
    divided: Callable[[Tensor, float], Tensor] = torch.div,
    normalised: Callable[[Tensor, int], Tensor] = _softmax,
    dim: int = -1,
) -> Tensor:
    """Probabilities at a temperature, with something done differently.

    Args:
        divided: the logits, by the temperature.
        normalised: what is made of that, along a dimension.
        dim: this dimension.
    """
    return normalised(divided(logits, temperature), dim)


def _exp_of_all(divided: Tensor, dim: int) -> Tensor:
    powers = torch.exp(divided)
    return powers / powers.sum(dim=dim, keepdim=True)


def _less_the_largest_of_all(divided: Tensor, dim: int) -> Tensor:
    return _exp_of_all(divided - divided.max(), dim)


def _on_the_best(logits: Tensor) -> Tensor:
    return (logits == logits.amax(dim=-1, keepdim=True)).to(logits.dtype)


def _normalised_powers(logits: Tensor, temperature: float) -> Tensor:
    powers = torch.softmax(logits, dim=-1) ** (1 / temperature)
    return powers / powers.sum(dim=-1, keepdim=True)


def _temperature_by_hand(logits: Tensor, temperature: float) -> Tensor:
    divided = logits / temperature
    powers = torch.exp(divided - divided.amax(dim=-1, keepdim=True))
    return powers / powers.sum(dim=-1, keepdim=True)


def _temperature_by_loop(logits: Tensor, temperature: float) -> Tensor:
    rows = [row.div(temperature).softmax(0) for row in logits.reshape(-1, logits.shape[-1])]
    return torch.stack(rows).reshape(logits.shape)


def _temperature_in_numpy(logits: Tensor, temperature: float) -> Tensor:
    divided = logits.double().numpy() / temperature
    powers = numpy.exp(divided - divided.max(axis=-1, keepdims=True))
    return torch.from_numpy(powers / powers.sum(axis=-1, keepdims=True)).to(logits.dtype)


CORRECT = (
    _temperature_by_hand,
    _temperature_by_loop,
    _temperature_in_numpy,
    lambda logits, temperature: F.softmax(logits * (1 / temperature), dim=-1),
    lambda logits, temperature: torch.log_softmax(logits / temperature, dim=-1).exp(),
    lambda logits, temperature: torch.exp(logits / temperature - (logits / temperature).logsumexp(-1, keepdim=True)),
    lambda logits, temperature: torch.softmax(torch.log_softmax(logits, dim=-1) / temperature, dim=-1),
    lambda logits, temperature: torch.distributions.Categorical(logits=logits / temperature).probs,
    lambda logits, temperature: F.normalize(
        (logits.softmax(-1) / logits.softmax(-1).amax(-1, keepdim=True)) ** (1 / temperature), p=1.0, dim=-1
    ),
)


EXERCISE = Exercise(
    id="decoding.with_temperature",
    lesson=LESSON,
    name="with_temperature",
    title="Temperature",
    statement=(
        "with_temperature(logits [..., vocabulary], temperature) -> [..., vocabulary]: probabilities, "
        "softmax(logits / temperature); the temperature is at least 0.01."
    ),
    points=2,
    minutes=6,
    section="Temperature",
    source="Ackley, Hinton and Sejnowski (1985); Holtzman et al. (2020)",
    reference=decoding.with_temperature,
    cases=and_turned_around(_temperature_cases),
    parts={CORE: 1, NEAR_0: 1},
    correct=CORRECT,
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
            lambda logits, temperature: _tempered(logits, max(temperature, 0.1)),
            alone=True,
        ),
        Misconception(
            "exp_overflows",
            "Your answer is right where exp does not overflow. Near temperature 0 the quotients are large: subtract "
            "the largest logit first, or use torch.softmax, which does.",
            partial(_tempered, normalised=_exp_of_all),
            alone=True,
        ),
        Misconception(
            "one_largest_for_all",
            "Your answer subtracts one number, the largest of all rows, everywhere. Near temperature 0 every exp of a "
            "row that lies far below it becomes 0, and 0 / 0 is NaN: subtract each row's own largest.",
            partial(_tempered, normalised=_less_the_largest_of_all),
            alone=True,
        ),
        Misconception(
            "powers_vanish",
            "Your answer is right where the powers of the probabilities are not too small for a float. Near "
            "temperature 0 all of them may be rounded to 0, and 0 / 0 is NaN: take softmax(logits / temperature).",
            _normalised_powers,
        ),
        Misconception(
            "all_on_the_best_near_0",
            "At a low temperature your answer gives all the probability to the best token. Where others are nearly as "
            "good they keep some: use the formula at every temperature.",
            lambda logits, temperature: (
                _on_the_best(logits) if temperature < 0.1 else torch.softmax(logits / temperature, dim=-1)
            ),
        ),
        Misconception(
            "multiplied",
            "Your answer flattens where it should sharpen, and the other way round: in effect, it multiplies the "
            "logits by the temperature. Divide them.",
            partial(_tempered, divided=torch.mul),
        ),
        Misconception(
            "ignored",
            "Your answer is the softmax of the logits, and the temperature has no effect. (Subtracting a constant "
            "from all logits changes nothing; nor does dividing all probabilities before they are normalised.) Divide "
            "the logits by it.",
            partial(_tempered, divided=lambda logits, temperature: logits),
        ),
        Misconception(
            "probabilities_divided",
            "Your answer divides the probabilities by the temperature, so that they no longer sum to 1. Divide the "
            "logits, before the softmax.",
            lambda logits, temperature: torch.softmax(logits, dim=-1) / temperature,
        ),
        Misconception(
            "logarithms_divided",
            "Your answer gives log-probabilities, divided by the temperature. Divide the logits, then take their "
            "softmax.",
            lambda logits, temperature: torch.log_softmax(logits, dim=-1) / temperature,
        ),
        Misconception(
            "softmax_twice",
            "Your answer takes the softmax of probabilities. Divide the logits themselves by the temperature.",
            partial(_tempered, divided=lambda logits, temperature: torch.softmax(logits, dim=-1) / temperature),
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
            partial(_tempered, normalised=lambda divided, dim: torch.log_softmax(divided, dim=dim)),
        ),
        Misconception(
            "first_dimension",
            "Your answer takes the softmax over the first dimension, which is the batch where there is one. The "
            "vocabulary is the last: dim=-1.",
            partial(_tempered, dim=0),
        ),
        Misconception(
            "everything_normalised_together",
            "Your answer takes one softmax of all rows together, so that everything sums to 1. Each row does so by "
            "itself: dim=-1.",
            partial(_tempered, normalised=lambda divided, dim: divided.flatten().softmax(0).view(divided.shape)),
        ),
        Misconception(
            "root_of_the_temperature",
            "Your answer divides the logits by the root of the temperature. Divide them by the temperature itself.",
            partial(_tempered, divided=lambda logits, temperature: logits / math.sqrt(temperature)),
        ),
        Misconception(
            "sign_turned",
            "Your answer prefers the tokens with the smallest logits: it has one minus too many (softmin has one "
            "inside).",
            partial(_tempered, divided=lambda logits, temperature: -logits / temperature),
        ),
        Misconception(
            "whole_division",
            "Your answer divides without remainder (//), so that different logits become the same. Use /.",
            partial(_tempered, divided=torch.floor_divide),
        ),
    ),
    withheld=WITHHELD,
)
