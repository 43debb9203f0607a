"""Lesson 03, positions.sinusoidal_encoding: Sinusoids."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy
import torch
from torch import Generator, Tensor

from course_lib import positions
from course_lib.checking.exercise import Case, Exercise, Hint, Misconception
from course_lib.exercises.common import integer
from course_lib.exercises.positions.shared import (
    LESSON,
    WITHHELD,
    clock,
    wrong_exponents,
    wrong_speeds,
)
from course_lib.exercises.worked_examples import A


def _sinusoidal_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if hidden:
        yield from _hidden_cases(generator)
    else:
        yield Case(f"{A.name}: the, cat, danced in 4 dimensions", (3, 4))
        yield Case("a single pair of dimensions", (7, 2))
        yield Case("S4's picture: 50 tokens in 128 dimensions", (50, 128))
        yield from _further_cases(generator)


def _hidden_cases(generator: Generator) -> Iterator[Case]:
    d_model = 2 * integer(generator, 5, 50)
    tokens = integer(generator, 3, d_model)
    yield Case(f"fewer tokens than dimensions: {tokens} and {d_model}", (tokens, d_model))
    d_model = 2 * integer(generator, 3, 30)
    tokens = d_model + integer(generator, 1, 40)
    yield Case(f"more tokens than dimensions: {tokens} and {d_model}", (tokens, d_model))
    yield Case("a single token", (1, 2 * integer(generator, 3, 100)))
    tokens = integer(generator, 260, 1000)
    yield Case(f"a long text of {tokens} tokens in 2 dimensions", (tokens, 2))  # their angles are exact


def _further_cases(generator: Generator) -> Iterator[Case]:
    for name in ("fewer tokens than dimensions", "more tokens than dimensions"):
        small = integer(generator, 3, 6)
        d_model = 2 * (small + 2 if name.startswith("fewer") else small)
        tokens = 2 * small + (1 if name.startswith("fewer") else 5)
        yield Case(f"{name}: {tokens} and {d_model}", (tokens, d_model))
    yield Case("a single token", (1, 2 * integer(generator, 3, 9)))
    tokens = integer(generator, 260, 300)
    yield Case(f"a long text of {tokens} tokens in 2 dimensions", (tokens, 2))  # their angles are exact


def _sine_and_cosine(angle: Tensor) -> tuple[Tensor, Tensor]:
    return angle.sin(), angle.cos()


def _side_by_side(first: Tensor, second: Tensor) -> Tensor:
    return torch.stack([first, second], dim=-1).flatten(-2)


def _waves(
    length: int,
    d_model: int,
    *,
    first: int = 0,
    angle: Callable[[Tensor, Tensor], Tensor] = clock,
    pair: Callable[[Tensor], tuple[Tensor, Tensor]] = _sine_and_cosine,
    placed: Callable[[Tensor, Tensor], Tensor] = _side_by_side,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """Two functions of `angle(position, 2i / d_model)` for each pair, with a setting for each place to slip."""
    position = torch.arange(first, first + length, dtype=torch.float64).unsqueeze(-1)
    angles = angle(position, torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    return placed(*pair(angles)).to(dtype)


def _of_dimensions(length: int, d_model: int, *, factor: int) -> Tensor:
    """Every dimension j turns at 10000^(-factor · j / d_model), so that a sine and its cosine are two clocks."""
    dimension = torch.arange(d_model, dtype=torch.float64)
    angle = clock(torch.arange(length, dtype=torch.float64).unsqueeze(-1), factor * dimension / d_model)
    return torch.where(dimension % 2 == 0, angle.sin(), angle.cos()).float()


def _of_products(length: int, d_model: int) -> Tensor:
    """The angles pos · 10000^(2i / d_model) in single precision, whose rounding shows where they are large."""
    angle = torch.arange(length).unsqueeze(-1) * 10_000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)


def _sinusoidal_by_slices(length: int, d_model: int) -> Tensor:
    """As the annotated transformer writes it."""
    encoding = torch.zeros(length, d_model)
    position = torch.arange(length).unsqueeze(1)
    frequency = torch.exp(torch.arange(0, d_model, 2) * -(math.log(10_000.0) / d_model))
    encoding[:, 0::2] = torch.sin(position * frequency)
    encoding[:, 1::2] = torch.cos(position * frequency)
    return encoding


def _sinusoidal_in_numpy(length: int, d_model: int) -> Tensor:
    angle = numpy.arange(length)[:, None] / 10_000 ** (numpy.arange(d_model) // 2 * 2 / d_model)
    waves = numpy.where(numpy.arange(d_model) % 2, numpy.cos(angle), numpy.sin(angle))
    return torch.from_numpy(waves).float()


def _sinusoidal_by_phase(length: int, d_model: int) -> Tensor:
    """A cosine is a sine a quarter of a turn ahead."""
    dimension = torch.arange(d_model, dtype=torch.float64)
    angle = torch.arange(length).unsqueeze(1) * 10_000 ** (-(dimension - dimension % 2) / d_model)
    return torch.sin(angle + dimension % 2 * math.pi / 2).float()


def _sinusoidal_by_loop(length: int, d_model: int) -> Tensor:
    encoding = torch.zeros(length, d_model)
    for pos in range(length):
        for i in range(d_model // 2):
            angle = pos / 10_000 ** (2 * i / d_model)
            encoding[pos, 2 * i] = math.sin(angle)
            encoding[pos, 2 * i + 1] = math.cos(angle)
    return encoding


def _sinusoidal_by_complex(length: int, d_model: int) -> Tensor:
    angle = torch.outer(torch.arange(length).double(), 10_000.0 ** (-torch.arange(0, d_model, 2).double() / d_model))
    turned = torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(turned).flip(-1).reshape(length, d_model).float()


def _sinusoidal_by_turning(length: int, d_model: int) -> Tensor:
    """Each row from the one before it, by one turn of every clock."""
    step = 10_000.0 ** (-torch.arange(0, d_model, 2).double() / d_model)
    sine, cosine = torch.zeros_like(step), torch.ones_like(step)
    rows = []
    for _ in range(length):
        rows.append(torch.stack([sine, cosine], dim=1).flatten())
        sine, cosine = sine * step.cos() + cosine * step.sin(), cosine * step.cos() - sine * step.sin()
    return torch.stack(rows).float()


def _sinusoidal_by_vmap(length: int, d_model: int) -> Tensor:
    pairs = torch.arange(d_model // 2)

    def row(pos: Tensor) -> Tensor:
        angle = pos / torch.pow(10_000, 2 * pairs / d_model)
        return torch.stack([torch.sin(angle), torch.cos(angle)], dim=-1).reshape(-1)

    return torch.func.vmap(row)(torch.arange(length))


def _sinusoidal_by_einsum(length: int, d_model: int) -> Tensor:
    frequency = torch.logspace(0, -4 * (d_model - 2) / d_model, d_model // 2, dtype=torch.float64)
    angle = torch.einsum("p,f->pf", torch.arange(length, dtype=torch.float64), frequency).repeat_interleave(2, dim=1)
    return torch.where(torch.arange(d_model) % 2 == 1, angle.cos(), angle.sin()).float()


CORRECT = (
    _sinusoidal_by_loop,
    _sinusoidal_by_slices,
    _sinusoidal_in_numpy,
    _sinusoidal_by_phase,
    _sinusoidal_by_complex,
    _sinusoidal_by_turning,
    _sinusoidal_by_vmap,
    _sinusoidal_by_einsum,
)


EXERCISE = Exercise(
    id="positions.sinusoidal_encoding",
    lesson=LESSON,
    name="sinusoidal_encoding",
    title="Sinusoids",
    statement=(
        "sinusoidal_encoding(length, d_model) -> float32 [length, d_model], d_model even: sin(pos / 10000^(2i / "
        "d_model)) at [pos, 2i], the cosine of the same angle at [pos, 2i + 1]."
    ),
    points=3,
    minutes=15,
    section="Clocks",
    source="Vaswani et al. (2017), section 3.5; S4",
    reference=positions.sinusoidal_encoding,
    cases=_sinusoidal_cases,
    correct=CORRECT,
    steps=("angle",),
    hints=(
        Hint(
            "idea",
            "Two neighbouring dimensions are one clock, read as its sine and its cosine: there are only `d_model` / 2 "
            "angles for each token. The exponent in the formula is the even dimension 2i over `d_model`.",
        ),
        Hint(
            "shapes",
            "Positions as a column `[length, 1]` and the even dimensions 0, 2, 4, ... as a row `[d_model / 2]` give "
            "the angles `[length, d_model / 2]`. Sines go to the even columns, cosines to the odd ones.",
            answers=("halves", "cosine_first", "sines_only", "transposed", "one_frequency_for_all"),
        ),
        Hint(
            "outline",
            "Positions as a column; the even dimensions as a row, in steps of 2.\n"
            "The angles: position over 10000 to the power of the even dimension over `d_model`.\n"
            "An empty tensor `[length, d_model]`.\n"
            "Fill every second column, from 0, with the sines, and every second one, from 1, with the cosines of the "
            "same angles.",
        ),
    ),
    misconceptions=(
        Misconception(
            "halves",
            "Your sines stand in the first half of the dimensions and the cosines in the second, as in "
            "some libraries. Here they alternate, as in the paper: sine at 2i, cosine at 2i + 1.",
            partial(_waves, placed=lambda sines, cosines: torch.cat([sines, cosines], dim=-1)),
        ),
        Misconception(
            "cosine_first",
            "Your sines and cosines have changed places. The sine stands at dimension 2i, the cosine of the same angle "
            "at 2i + 1.",
            partial(_waves, pair=lambda a: (a.cos(), a.sin())),
        ),
        Misconception(
            "sines_only",
            "Your answer uses the sine in both dimensions of a pair. The second is the cosine of the same angle.",
            partial(_waves, pair=lambda a: (a.sin(), a.sin())),
        ),
        Misconception(
            "a_frequency_for_each_dimension",
            "Each of your dimensions has a frequency of its own. The paper's i counts pairs: dimensions 2i and 2i + 1 "
            "share the angle pos / 10000^(2i / d_model).",
            partial(_of_dimensions, factor=2),
        ),
        *wrong_exponents(_waves),
        Misconception(
            "cosine_too_slow",
            "Your sines are right, but each cosine has a frequency of its own: its exponent is (2i + 1) / d_model. It "
            "shares the angle of the sine before it, with 2i / d_model.",
            partial(_of_dimensions, factor=1),
        ),
        Misconception(
            "multiplied",
            "Your answer multiplies the position by 10000^(2i / d_model), so that the clocks run faster and faster. "
            "Divide by it: they slow down from pair to pair.",
            _of_products,
        ),
        Misconception(
            "counted_from_one",
            "Your first row belongs to position 1. Positions are counted from 0: at the first one all angles are 0.",
            partial(_waves, first=1),
        ),
        *wrong_speeds(_waves),
        Misconception(
            "transposed",
            "Your answer is [d_model, length]. One row for each position: [length, d_model].",
            lambda length, d_model: positions.sinusoidal_encoding(length, d_model).T,
        ),
        Misconception(
            "double_precision",
            "Your numbers are float64. Embeddings are float32: end with .float().",
            partial(_waves, dtype=torch.float64),
        ),
        Misconception(
            "exponent_without_brackets",
            "Your answer computes 10000 ** 2 * i / d_model: a power binds more tightly than a product. Put the whole "
            "exponent in brackets: 10000 ** (2 * i / d_model).",
            partial(_waves, angle=lambda position, exponent: position / 10_000**2 * exponent / 2),
        ),
        Misconception(
            "one_frequency_for_all",
            "Your answer has the same angle, pos, in all dimensions. Each pair turns more slowly than the one before "
            "it: divide by 10000^(2i / d_model).",
            partial(_waves, angle=lambda position, exponent: position.expand(-1, len(exponent))),
        ),
        Misconception(
            "base_100000",
            "Your base is 100000. The paper's is 10000, with four zeros.",
            partial(_waves, angle=lambda position, exponent: position / 100_000**exponent),
        ),
        Misconception(
            "exponent_not_divided",
            "Your exponent is 2i, not divided by d_model: from the second pair on, the clocks stand nearly still. It "
            "is 2i / d_model.",
            partial(_waves, angle=lambda position, exponent: clock(position, exponent * 2 * len(exponent))),
        ),
        Misconception(
            "sine_negative",
            "Your sines have the wrong sign: the clocks turn backwards. Take the sine of pos / 10000^(2i / d_model) "
            "as it is.",
            partial(_waves, pair=lambda a: (-a.sin(), a.cos())),
        ),
        Misconception(
            "divided_by_length",
            "Your answer divides the positions by the number of tokens. Then a step means something different in "
            "sentences of different lengths; the formula takes the position itself: 0, 1, 2, ...",
            partial(_waves, angle=lambda position, exponent: clock(position / len(position), exponent)),
        ),
    ),
    withheld=WITHHELD,
    memorisable="Its whole input is two small numbers: a table needs the encodings of some fifty widths.",
)
