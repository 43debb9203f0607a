"""Lesson 04, heads_and_blocks.gelu: GELU, exactly and nearly."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, kinds, slips
from course_lib.judging.exercise import CORE, Case, Exercise, Hint
from course_lib.judging.ready_made import GELU
from course_lib.references import heads_and_blocks

NEARLY = "the approximation"


def _gelu_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    for approximate in (False, True):
        part, words = (NEARLY, "by tanh") if approximate else (CORE, "exactly")
        if not hidden:
            yield Case(f"-3 to 3, {words}", (torch.linspace(-3, 3, 7), approximate), part=part)
        for kind in kinds(generator):
            tokens, d_ff = kind.sizes(2)
            gradients = () if kind.leading else (0,)
            yield Case(
                f"{kind.name}, {words}", (2 * kind.normal(tokens, d_ff), approximate), gradients=gradients, part=part
            )
        yield Case(f"a single number, {words}", (torch.randn((), generator=generator), approximate), part=part)
        far = torch.tensor([-60.0, -9.0, 9.0, 60.0]) + torch.rand(4, generator=generator)
        yield Case(f"numbers far from 0, {words}", (far, approximate), part=part)


def _gelu(x: Tensor, approximate: bool = False) -> Tensor:
    if approximate:
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        return 0.5 * x * (1 + torch.tanh(inner))
    below = 0.5 * (1 + torch.erf(x / math.sqrt(2)))
    return x * below


_slips = partial(slips, _gelu)
_slips_nearly = partial(slips, _gelu, beside=NEARLY)
"""Those that show in the approximation only."""

_BELOW, _INNER = "0.5 * (1 + torch.erf(x / math.sqrt(2)))", "math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)"


def _by_the_normal_distribution(x: Tensor, approximate: bool = False) -> Tensor:
    if not approximate:
        below: Tensor = torch.special.ndtr(x)
        return x * below
    return x * torch.sigmoid(2 * (2 / math.pi) ** 0.5 * x * (1 + 0.044715 * x.square()))


def _number_by_number(x: Tensor, approximate: bool = False) -> Tensor:
    def one(z: Tensor) -> Tensor:
        if approximate:
            return z / 2 + z / 2 * (0.7978845608028654 * (z + 0.044715 * z * z * z)).tanh()
        above: Tensor = torch.special.erfc(z / 2**0.5) / 2
        return z - z * above

    return torch.stack([one(z) for z in x.flatten()]).reshape(x.shape)


CORRECT = (_gelu, _by_the_normal_distribution, _number_by_number)


EXERCISE = Exercise(
    id="heads_and_blocks.gelu",
    name="gelu",
    title="GELU",
    statement=(
        "gelu(x [...], approximate=False) -> [...]: each number times the probability that a standard normal number is "
        "below it; with approximate=True 0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))), as GPT-2 has it; with gradients."
    ),
    points=3,
    minutes=12,
    difficulty=2,
    importance=4,
    section="The feed-forward network",
    source="S3; Hendrycks and Gimpel (2016), section 2",
    reference=heads_and_blocks.gelu,
    cases=and_turned_around(_gelu_cases),
    parts={CORE: 2, NEARLY: 1},
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "Two formulas, and a question that says which. The probability below a number is written with `torch.erf`; "
            "the approximation needs only `torch.tanh`.",
        ),
        Hint(
            "outline",
            "If the approximation is wanted: the inner sum, `x` plus 0.044715 times its third power.\n"
            "Times the root of 2 over π, then `tanh`, plus 1, times half of `x`.\n"
            "Else the probability: `erf` of `x` over the root of 2, plus 1, over 2.\n"
            "Times `x`.",
            answers=("root_left_out", "half_left_out", "probability_alone", "one_left_out", "cube_left_out"),
        ),
    ),
    misconceptions=(
        *_slips(
            root_left_out=(
                "Your answer takes erf of x itself. For the normal distribution it is erf(x / √2).",
                (" / math.sqrt(2))", ")"),
            ),
            half_left_out=(
                "Your answer lacks a factor 1/2: 1 + erf(x / √2) goes from 0 to 2, and a probability from 0 to 1.",
                ("below = 0.5 * ", "below = "),
            ),
            one_left_out=(
                "Your answer takes erf alone, which goes from -1 to 1. The probability is (1 + erf(x / √2)) / 2.",
                ("(1 + torch.erf(x / math.sqrt(2)))", "torch.erf(x / math.sqrt(2))"),
            ),
            above_for_below=(
                "Your answer takes the probability of a number above x. Take the probability of one below it.",
                ("1 + torch.erf", "1 - torch.erf"),
            ),
            probability_alone=(
                "Your answer is the probability alone. Multiply it by x.",
                ("return x * below", "return below"),
            ),
            density=(
                "Your answer takes the density of the normal distribution, the bell. Take the probability below x, the "
                "area to its left.",
                (_BELOW, "torch.exp(-x * x / 2) / math.sqrt(2 * math.pi)"),
            ),
            logistic=(
                "Your answer is SiLU, x times sigmoid(x). GELU takes the normal distribution's probability.",
                (_BELOW, "torch.sigmoid(x)"),
            ),
            logistic_scaled=(
                "Your answer is x sigmoid(1.702 x), a coarser approximation. Where `approximate` is False, use erf.",
                (_BELOW, "torch.sigmoid(1.702 * x)"),
            ),
            relu=("Your answer is ReLU, with a corner at 0.", ("return x * below", "return torch.relu(x)")),
            always_nearly=(
                "Your answer is the approximation, whatever is asked for. Where `approximate` is False, use erf.",
                ("if approximate", "if True"),
            ),
            gradients_cut=(
                "No gradient reaches x: the computation leaves torch on the way (.detach(), .data, numpy or no_grad).",
                ("return x * below", "return (x * below).detach()"),
            ),
        ),
        *_slips_nearly(
            never_nearly=(
                "Your answer is exact, also where the approximation is asked for. Weights that were trained with one "
                "form need that one: look at `approximate`.",
                ("if approximate", "if False"),
            ),
            cube_left_out=(
                "Your approximation lacks 0.044715 x³.",
                (" + 0.044715 * x**3", ""),
            ),
            square_for_cube=("Your approximation has a square where the third power belongs.", ("x**3", "x**2")),
            pi_and_two_exchanged=(
                "Your approximation has √(π/2) for √(2/π).",
                ("2 / math.pi", "math.pi / 2"),
            ),
            root_of_two_over_pi_left_out=(
                "Your approximation lacks the factor √(2/π).",
                ("math.sqrt(2 / math.pi) * (x", "(x"),
            ),
            factor_misplaced=(
                "Your approximation multiplies only x by √(2/π). The factor is for the sum: √(2/π) (x + 0.044715 x³).",
                (_INNER, "math.sqrt(2 / math.pi) * x + 0.044715 * x**3"),
            ),
            half_left_out_nearly=(
                "Your approximation lacks a factor 1/2: 1 + tanh goes from 0 to 2.",
                ("return 0.5 * x", "return x"),
            ),
        ),
    ),
    forbidden=(GELU,),
)
