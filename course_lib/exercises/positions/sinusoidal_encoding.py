"""Lesson 03, positions.sinusoidal_encoding: Sinusoids."""

import math
from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib import positions
from course_lib.exercises.common import (
    ANOTHER_DEVICE,
    NO_DEVICE_THEN,
    elsewhere,
    hints,
    integer,
    made_on_the_cpu,
    slips,
)
from course_lib.exercises.positions.shared import EXPONENT, Device, wrong_exponents, wrong_speeds
from course_lib.exercises.worked_examples import A
from course_lib.judging.exercise import CORE, Case, Exercise


def _sinusoidal_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{A.name}: the, cat, danced in 4 dimensions", (3, 4))
        yield Case("a single pair of dimensions", (7, 2))
        yield Case("the lesson's picture: 50 tokens in 128 dimensions", (50, 128))
    for fewer in (True, False):
        d_model = 2 * integer(generator, 5, 50 if hidden else 10)
        tokens = integer(generator, 3, d_model) if fewer else d_model + integer(generator, 1, 40)
        words = f"{'fewer' if fewer else 'more'} tokens than dimensions: {tokens} and {d_model}"
        yield Case(words, (tokens, d_model))
    yield Case("a single token", (1, 2 * integer(generator, 3, 100 if hidden else 9)))
    tokens = integer(generator, 260, 1000 if hidden else 300)
    yield Case(f"a long text of {tokens} tokens in 2 dimensions", (tokens, 2))  # their angles are exact
    yield elsewhere(Case("six tokens in 4 dimensions", (6, 4)))


def _waves(length: int, d_model: int, device: Device = None) -> Tensor:
    exponent = torch.arange(0, d_model, 2, dtype=torch.float64, device=device) / d_model
    position = torch.arange(length, dtype=torch.float64).unsqueeze(-1).to(exponent.device)
    angle = position / 10_000**exponent
    sine, cosine = angle.sin(), angle.cos()
    waves = torch.stack([sine, cosine], dim=-1).flatten(-2)
    return waves.float()


_slips = partial(slips, _waves)

_ANGLE, _PAIR = "position / 10_000**exponent", "angle.sin(), angle.cos()"


def _sinusoidal_by_slices(length: int, d_model: int, device: Device = None) -> Tensor:
    """As the annotated transformer writes it."""
    encoding = torch.zeros(length, d_model, device=device)
    position = torch.arange(length, device=device).unsqueeze(1)
    frequency = torch.exp(torch.arange(0, d_model, 2, device=device) * -(math.log(10_000.0) / d_model))
    encoding[:, 0::2] = torch.sin(position * frequency)
    encoding[:, 1::2] = torch.cos(position * frequency)
    return encoding


def _sinusoidal_by_turning(length: int, d_model: int) -> Tensor:
    """Each row from the one before it, by one turn of every clock; from before there was a device to ask for."""
    step = 10_000.0 ** (-torch.arange(0, d_model, 2).double() / d_model)
    sine, cosine = torch.zeros_like(step), torch.ones_like(step)
    rows = []
    for _ in range(length):
        rows.append(torch.stack([sine, cosine], dim=1).flatten())
        sine, cosine = sine * step.cos() + cosine * step.sin(), cosine * step.cos() - sine * step.sin()
    return torch.stack(rows).float()


EXERCISE = Exercise(
    id="positions.sinusoidal_encoding",
    title="Sinusoids",
    statement=(
        "sinusoidal_encoding(length, d_model, device=None) -> float32 [length, d_model], on that device, d_model even: "
        "sin(pos / 10000^(2i / d_model)) at [pos, 2i], and the cosine of the same angle at [pos, 2i + 1]."
    ),
    minutes=15,
    difficulty=3,
    importance=5,
    section="Clocks",
    source="Vaswani et al. (2017), section 3.5; S4",
    reference=positions.sinusoidal_encoding,
    cases=_sinusoidal_cases,
    formerly=NO_DEVICE_THEN,
    parts={CORE: 2, ANOTHER_DEVICE: 1},
    correct=(_waves, _sinusoidal_by_slices, _sinusoidal_by_turning),
    steps=("angle",),
    hints=hints(
        idea=(
            "Two neighboring dimensions are one clock: the sine and cosine of the same angle. So there are only "
            "`d_model` / 2 angles per token. The exponent in the formula is the even dimension 2i divided by `d_model`."
        ),
        shapes=(
            "Make the positions a column, `[length, 1]`, and the even dimensions 0, 2, 4, ... a row, `[d_model / 2]`. "
            "Together they give angles of shape `[length, d_model / 2]`. Put the sines in the even columns and the "
            "cosines in the odd ones.",
            ("halves", "cosine_first", "sines_only", "transposed", "one_frequency_for_all"),
        ),
        outline=(
            "Make the positions a column, and the even dimensions a row in steps of 2.\n"
            "Divide each even dimension by `d_model`, and raise 10000 to that power. Divide the positions by the "
            "results to get the angles.\n"
            "Make an empty tensor `[length, d_model]`.\n"
            "Fill columns 0, 2, 4, ... with the sines, and columns 1, 3, 5, ... with the cosines of the same angles."
        ),
    ),
    misconceptions=(
        *_slips(
            halves=(
                "Your answer puts all sines before all cosines, as some libraries do. Alternate them, as in the "
                "paper: sine at 2i, cosine at 2i + 1.",
                ("torch.stack([sine, cosine], dim=-1).flatten(-2)", "torch.cat([sine, cosine], dim=-1)"),
            ),
            cosine_first=(
                "Your sines and cosines are swapped. Put the sine at dimension 2i and the cosine at 2i + 1.",
                (_PAIR, "angle.cos(), angle.sin()"),
            ),
            sines_only=(
                "Your answer uses the sine in both dimensions of a pair. Make the second one the cosine of the same "
                "angle.",
                (_PAIR, "angle.sin(), angle.sin()"),
            ),
            counted_from_one=(
                "Your first row is for position 1. Positions start at 0, where all angles are 0.",
                ("torch.arange(length, ", "torch.arange(1, length + 1, "),
            ),
            double_precision=(
                "Your numbers are float64, but embeddings are float32. End with .float().",
                ("waves.float()", "waves"),
            ),
            exponent_without_brackets=(
                "Your answer computes 10000 ** 2 * i / d_model, where the power comes first. Put the whole exponent "
                "in parentheses: 10000 ** (2 * i / d_model).",
                (_ANGLE, "position / 10_000**2 * exponent / 2"),
            ),
            one_frequency_for_all=(
                "Your answer uses the same angle, pos, in all dimensions. Each pair turns more slowly than the one "
                "before: divide pos by 10000^(2i / d_model).",
                (_ANGLE, "position.expand(-1, len(exponent))"),
            ),
            base_100000=("Your base is 100000. Use 10000, with four zeros.", ("10_000", "100_000")),
            exponent_not_divided=(
                "Your exponent is 2i without the division by d_model, so all clocks but the first hardly move. Use 2i "
                "/ d_model.",
                (_ANGLE, "position / 10_000 ** (exponent * d_model)"),
            ),
            sine_negative=(
                "Your sines have the wrong sign, so the clocks turn backward. Take the sine of pos / 10000^(2i / "
                "d_model).",
                ("angle.sin()", "-angle.sin()"),
            ),
            divided_by_length=(
                "Your answer divides the positions by the number of tokens. Then the size of a step depends on the "
                "length of the sentence. Use the positions themselves: 0, 1, 2, ...",
                (_ANGLE, "position / length / 10_000**exponent"),
            ),
        ),
        *_slips(
            paired=False,
            a_frequency_for_each_dimension=(
                "Each of your dimensions has its own frequency. The paper's i counts pairs: dimensions 2i and 2i + 1 "
                "share the angle pos / 10000^(2i / d_model).",
                (EXPONENT, f"2 * {EXPONENT}"),
                ("angle.cos()", "(position / 10_000 ** (exponent + 2 / d_model)).cos()"),
            ),
            cosine_too_slow=(
                "Your sines are right, but your cosines use different frequencies, with the exponent (2i + 1) / "
                "d_model. Each cosine shares the angle of the sine before it, with the exponent 2i / d_model.",
                ("angle.cos()", "(position / 10_000 ** (exponent + 1 / d_model)).cos()"),
            ),
            multiplied=(
                "Your answer multiplies the position by 10000^(2i / d_model), so the clocks speed up from pair to "
                "pair. Divide by this power instead, to slow them down.",
                (_ANGLE, "position.float() * 10_000 ** exponent.float()"),
            ),
            transposed=(
                "Your answer is [d_model, length]. Give each position a row: [length, d_model].",
                ("return waves.float()", "return waves.float().T"),
            ),
        ),
        *wrong_exponents(_waves),
        *wrong_speeds(_waves),
        made_on_the_cpu(_waves, "device"),
    ),
    memorisable="Its whole input is two small numbers: a table needs the encodings of some fifty widths.",
)
