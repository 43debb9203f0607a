"""Lesson 03, positions.shift_matrix: The shift matrix."""

import math
from collections.abc import Iterator

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
from course_lib.exercises.positions.shared import Device, wrong_exponents, wrong_speeds
from course_lib.exercises.worked_examples import A
from course_lib.judging.exercise import CORE, Case, Exercise


def _shift_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{A.name}: from the to cat, one token on, in 4 dimensions", (1, 4))
        yield Case("one pair of dimensions, three tokens on", (3, 2))
        yield Case("no shift", (0, 6))
    shifts, pairs = (60, 40) if hidden else (12, 7)
    for name, sign in (("forwards", 1), ("backwards", -1)):
        shift, d_model = sign * integer(generator, 2, shifts), 2 * integer(generator, 3, pairs)
        yield Case(f"{abs(shift)} tokens {name} in {d_model} dimensions", (shift, d_model))
    shift, d_model = integer(generator, 30, 60), 2 * integer(generator, 8, 40) if hidden else 16
    yield Case(f"{shift} tokens forwards in {d_model} dimensions", (shift, d_model))
    yield elsewhere(Case("five tokens on in 4 dimensions", (5, 4)))


def _turned(shift: int, d_model: int, device: Device = None) -> Tensor:
    exponent = torch.arange(0, d_model, 2, dtype=torch.float64, device=device) / d_model
    angle = shift / 10_000**exponent
    cos, sin = angle.cos(), angle.sin()
    blocks = torch.stack([cos, sin, -sin, cos], dim=-1).view(-1, 2, 2)
    matrix: Tensor = torch.block_diag(*blocks)
    return matrix.float()


_BLOCK = "[cos, sin, -sin, cos]"


def _shift_by_loop(shift: int, d_model: int, device: Device = None) -> Tensor:
    matrix = torch.zeros(d_model, d_model, device=device)
    for i in range(0, d_model, 2):
        angle = shift / 10_000 ** (i / d_model)
        matrix[i, i] = matrix[i + 1, i + 1] = math.cos(angle)
        matrix[i, i + 1] = math.sin(angle)
        matrix[i + 1, i] = -math.sin(angle)
    return matrix


def _shift_by_exponential(shift: int, d_model: int) -> Tensor:
    """Turning steadily: the matrix exponential of the velocities. From before there was a device to ask for."""
    speed = 10_000.0 ** (-torch.arange(0, d_model, 2).double() / d_model)
    velocity: Tensor = torch.block_diag(
        *(s * torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64) for s in speed)
    )
    return torch.matrix_exp(shift * velocity).float()


EXERCISE = Exercise(
    id="positions.shift_matrix",
    title="The shift matrix",
    statement=(
        "shift_matrix(shift, d_model, device=None) -> float32 [d_model, d_model], on that device: the matrix M with "
        "encoding[pos + shift] = M encoding[pos] for every position pos of the sinusoidal encoding; shift may be "
        "negative."
    ),
    minutes=20,
    difficulty=5,
    importance=3,
    section="A shift is a matrix",
    source="Vaswani et al. (2017), section 3.5; S4, relative positions",
    reference=positions.shift_matrix,
    cases=_shift_cases,
    formerly=NO_DEVICE_THEN,
    parts={CORE: 3, ANOTHER_DEVICE: 1},
    correct=(_turned, _shift_by_loop, _shift_by_exponential),
    steps=("angle",),
    hints=hints(
        idea=(
            "Moving on by `shift` tokens turns each clock's hand by an angle that depends on the clock, not on the "
            "position. So the matrix has one small rotation per clock along its diagonal."
        ),
        shapes=(
            "There are `d_model` / 2 blocks of 2 × 2, and zeros elsewhere. The angles are the same as at position "
            "`shift` of the sinusoidal encoding. Our pairs are (sine, cosine), so the minus sign is at the lower left.",
            ("turned_back", "minus_forgotten", "minus_at_the_cosine", "sine_on_the_diagonal", "diagonal_only"),
        ),
        outline=(
            "Start from zeros, `[d_model, d_model]`.\n"
            "For each even dimension, divide the dimension by `d_model`, raise 10000 to that power, and divide "
            "`shift` by the result to get the angle.\n"
            "The block for this angle is [[cos, sin], [-sin, cos]].\n"
            "Put the block where this pair of rows meets the same pair of columns.\n"
            "Test it: the matrix for shift 3, times the encoding of position 5, is the encoding of position 8.",
            ("two_forgotten", "two_counted_twice", "multiplied", "base_1000", "slowest_first", "one_frequency_less"),
        ),
    ),
    misconceptions=(
        *slips(
            _turned,
            turned_back=(
                "Your matrix is the transpose, so it shifts the other way: from encoding[pos] to encoding[pos - "
                "shift]. The pairs are (sin, cos), so each block is [[cos, sin], [-sin, cos]].",
                (_BLOCK, "[cos, -sin, sin, cos]"),
            ),
            minus_forgotten=(
                "Your blocks have no minus sign: [[cos, sin], [sin, cos]]. Because cos(a + b) = cos a cos b - sin a "
                "sin b, the second row is [-sin, cos].",
                (_BLOCK, "[cos, sin, sin, cos]"),
            ),
            sine_on_the_diagonal=(
                "Your blocks have sines on the diagonal. For a shift of 0, the matrix must be the identity, so put "
                "the cosines there: [[cos, sin], [-sin, cos]].",
                (_BLOCK, "[sin, cos, -cos, sin]"),
            ),
            diagonal_only=(
                "Your matrix has only the cosines on its diagonal, so it only rescales each component. sin(a + b) "
                "needs the cosine of a too: each block is [[cos, sin], [-sin, cos]].",
                (_BLOCK, "[cos, 0 * sin, 0 * sin, cos]"),
            ),
            one_angle_for_all=(
                "Your matrix turns all pairs by the same angle, the shift itself. Turn each pair by its own angle: "
                "shift / 10000^(2i / d_model).",
                ("shift / 10_000**exponent", "torch.full_like(exponent, shift)"),
            ),
            multiplied=(
                "Your angles are shift · 10000^(2i / d_model), so the clocks speed up from pair to pair. Divide by the "
                "power instead, to slow them down.",
                ("/ 10_000", "* 10_000"),
            ),
            halves=(
                "Your matrix is for an encoding with all sines before all cosines. In ours they alternate, so the "
                "rotations are 2 × 2 blocks along the diagonal.",
                (
                    "return matrix.float()",
                    "position = torch.arange(d_model).view(-1, 2).T.flatten()\n    return matrix[position][:, "
                    "position].float()",
                ),
            ),
            distance_only=(
                "Your matrix ignores the sign of `shift`. A negative shift must turn the clocks back: leave out the "
                "absolute value.",
                ("angle = shift", "angle = abs(shift)"),
            ),
            double_precision=(
                "Your numbers are float64, but the encoding is float32. End with .float().",
                ("matrix.float()", "matrix"),
            ),
            minus_at_the_cosine=(
                "Your blocks have the minus sign on the lower-right cosine, which makes them reflections. Put it on "
                "the sine below the diagonal: [[cos, sin], [-sin, cos]].",
                (_BLOCK, "[cos, sin, sin, -cos]"),
            ),
            backwards_nothing_moves=(
                "Your matrix is the identity for negative shifts. It must turn the clocks back: use the same formula.",
                ("angle = shift", "angle = max(shift, 0)"),
            ),
            one_word_always=(
                "Your matrix always shifts by one token. Multiply the angles by `shift`.",
                ("angle = shift", "angle = 1"),
            ),
            rows_rolled=(
                "Your matrix moves components to other positions. Shifting tokens changes the numbers within each "
                "pair instead: use one rotation per pair, in 2 × 2 blocks along the diagonal.",
                lambda shift, d_model, device=None: torch.eye(d_model, device=device).roll(shift, dims=0),
            ),
        ),
        *wrong_exponents(_turned),
        *wrong_speeds(_turned),
        made_on_the_cpu(_turned, "device"),
    ),
    memorisable="Its whole input is two small numbers: a table needs over four thousand matrices.",
)
