"""Lesson 04, heads_and_blocks.gelu: GELU, exactly and nearly."""

import math
from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, hints, kinds, slips
from course_lib.judging.exercise import CORE, Case, Exercise
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


EXERCISE = Exercise(
    id="heads_and_blocks.gelu",
    title="GELU",
    statement=(
        "gelu(x [...], approximate=False) -> [...]: each number times the probability that a standard normal variable "
        "is below it; with approximate=True, 0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))), as in GPT-2; with gradients."
    ),
    minutes=12,
    difficulty=2,
    importance=4,
    section="The feed-forward network",
    source="S3; Hendrycks and Gimpel (2016), section 2",
    reference=heads_and_blocks.gelu,
    cases=and_turned_around(_gelu_cases),
    parts={CORE: 2, NEARLY: 1},
    correct=(_gelu, _by_the_normal_distribution, _number_by_number),
    hints=hints(
        idea=(
            "You need two formulas, and `approximate` says which to use. Compute the probability that a normal "
            "variable is below `x` with `torch.erf`, and the approximation with `torch.tanh`."
        ),
        outline=(
            "For the approximation, compute the inner sum: `x` plus 0.044715 times its cube.\n"
            "Multiply the sum by the square root of 2 / π, take `tanh`, add 1, and multiply by half of `x`.\n"
            "Otherwise, compute the probability: divide `x` by the square root of 2, take `erf`, add 1, and divide by "
            "2.\n"
            "Multiply by `x`.",
            ("root_left_out", "half_left_out", "probability_alone", "one_left_out", "cube_left_out"),
        ),
    ),
    misconceptions=(
        *slips(
            _gelu,
            root_left_out=(
                "Your answer takes erf of x itself. For the normal distribution, take erf(x / √2).",
                (" / math.sqrt(2))", ")"),
            ),
            half_left_out=(
                "Your answer leaves out a factor of 1/2: 1 + erf(x / √2) runs from 0 to 2, but a probability stops at "
                "1.",
                ("below = 0.5 * ", "below = "),
            ),
            one_left_out=(
                "Your answer uses erf alone, which runs from -1 to 1. The probability is (1 + erf(x / √2)) / 2.",
                ("(1 + torch.erf(x / math.sqrt(2)))", "torch.erf(x / math.sqrt(2))"),
            ),
            above_for_below=(
                "Your answer uses the probability that a normal variable is above x. Use the probability that it is "
                "below x.",
                ("1 + torch.erf", "1 - torch.erf"),
            ),
            probability_alone=(
                "Your answer is only the probability. Multiply it by x.",
                ("return x * below", "return below"),
            ),
            density=(
                "Your answer uses the density of the normal distribution, the bell curve. Use the area under it to the "
                "left of x.",
                (_BELOW, "torch.exp(-x * x / 2) / math.sqrt(2 * math.pi)"),
            ),
            logistic=(
                "Your answer is SiLU, x times sigmoid(x). Use the normal distribution's probability instead of the "
                "sigmoid.",
                (_BELOW, "torch.sigmoid(x)"),
            ),
            logistic_scaled=(
                "Your answer is x sigmoid(1.702 x), a coarser approximation. If `approximate` is False, use erf.",
                (_BELOW, "torch.sigmoid(1.702 * x)"),
            ),
            relu=(
                "Your answer is ReLU, which has a corner at 0. Instead, multiply x by the probability that a normal "
                "variable is below x.",
                ("return x * below", "return torch.relu(x)"),
            ),
            always_nearly=(
                "Your answer always returns the approximation. If `approximate` is False, use erf.",
                ("if approximate", "if True"),
            ),
            gradients_cut=(
                "No gradient reaches x. Look for .detach(), .data, numpy or no_grad.",
                ("return x * below", "return (x * below).detach()"),
            ),
        ),
        *slips(
            _gelu,
            beside=NEARLY,
            never_nearly=(
                "Your answer ignores `approximate` and is always exact. If it is True, use the formula with tanh: "
                "weights trained with one formula need the same one later.",
                ("if approximate", "if False"),
            ),
            cube_left_out=(
                "Your approximation leaves out the term 0.044715 x³. Add it to x before you multiply by √(2/π).",
                (" + 0.044715 * x**3", ""),
            ),
            square_for_cube=("Your approximation uses x². Use x³.", ("x**3", "x**2")),
            pi_and_two_exchanged=("Your approximation uses √(π/2). Use √(2/π).", ("2 / math.pi", "math.pi / 2")),
            root_of_two_over_pi_left_out=(
                "Your approximation leaves out the factor √(2/π). Multiply by it before you take tanh.",
                ("math.sqrt(2 / math.pi) * (x", "(x"),
            ),
            factor_misplaced=(
                "Your approximation multiplies only x by √(2/π). Multiply the whole sum: √(2/π) (x + 0.044715 x³).",
                (_INNER, "math.sqrt(2 / math.pi) * x + 0.044715 * x**3"),
            ),
            half_left_out_nearly=(
                "Your approximation leaves out a factor of 1/2: 1 + tanh runs from 0 to 2.",
                ("return 0.5 * x", "return x"),
            ),
        ),
    ),
    forbidden=(GELU,),
)
