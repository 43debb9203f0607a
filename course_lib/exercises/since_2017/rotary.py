"""Lesson 12, since_2017.rotary: Turned by their positions."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import Kind, and_turned_around, edits_of, hints, integer, kinds, slips
from course_lib.exercises.since_2017.shared import DOUBLE, no_gradient
from course_lib.exercises.worked_examples import B
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.references import since_2017


def _rotary_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{B.name}: a quarter turn is 1.57", (B.q, torch.arange(4), 10_000.0))
    for kind in kinds(generator):
        if kind.dtype == torch.float64:
            # At any other place it would show whether the angles are in single precision or in double.
            yield Case(
                "double precision, at position 0",
                (kind.normal(3, 8), torch.zeros(3, dtype=torch.int64), 500.0),
                part=DOUBLE,
            )
            continue
        tokens, _ = kind.sizes(2)
        d_head = 2 * integer(generator, 4, 8)
        first, base = integer(generator, 0, 20) if kind.leading else 0, 100.0 * integer(generator, 3, 90)
        x = kind.normal(tokens, d_head)
        yield Case(kind.name, (x, torch.arange(first, first + tokens), base), gradients=() if kind.leading else (0,))
    few = Kind("only the newest token, as with a cache", generator, (2, 3))
    yield Case(few.name, (few.normal(1, 8), torch.tensor([integer(generator, 30, 90)]), 500.0))
    positions = torch.tensor([5, 0, 0, 17, 2])
    yield Case("positions in no order", (Kind("", generator).normal(5, 12), positions, 1000.0))


def _pair_by_pair(x: Tensor, positions: Tensor, base: float) -> Tensor:
    exponents = torch.arange(0, x.shape[-1], 2) / x.shape[-1]
    angles = positions.unsqueeze(-1) * base**-exponents
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., ::2], x[..., 1::2]
    first, second = a * cos - b * sin, a * sin + b * cos
    turned = torch.stack([first, second], dim=-1).flatten(-2)
    return turned


_slip = edits_of(_pair_by_pair)
_PLACES, _NUMBERS = "positions.unsqueeze", "torch.arange(0, x.shape[-1], 2)"
_FIRST, _TURN = "a * cos - b * sin", "a * cos - b * sin, a * sin + b * cos"
_HALVES_JOINED = ("torch.stack([first, second], dim=-1).flatten(-2)", "torch.cat([first, second], dim=-1)")


def _by_complex_numbers(x: Tensor, positions: Tensor, base: float) -> Tensor:
    angles = positions[:, None] * base ** -(torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    pairs = torch.complex(x[..., ::2].contiguous(), x[..., 1::2].contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


def _by_matrices(x: Tensor, positions: Tensor, base: float) -> Tensor:
    """Lesson 03's shift matrices, one for each position."""
    d_head = x.shape[-1]
    rows = []
    for number, position in enumerate(positions.tolist()):
        blocks = []
        for i in range(d_head // 2):
            angle = torch.tensor(position * base ** (-2 * i / d_head))
            blocks.append(torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()]).reshape(2, 2))
        rows.append(x[..., number, :] @ torch.block_diag(*blocks).to(x.dtype).T)
    return torch.stack(rows, dim=-2)


EXERCISE = Exercise(
    id="since_2017.rotary",
    name="rotary",
    title="Turned by their positions",
    statement=(
        "rotary(x [..., tokens, d_head], positions int64 [tokens], base) -> [..., tokens, d_head]: rotate each pair of "
        "neighboring numbers of each token by position · base^(-2i / d_head), counter-clockwise; gradients must flow."
    ),
    minutes=20,
    difficulty=4,
    importance=5,
    section="Rotate, don't add",
    source="Su et al. (2021), section 3.2.2; as code, equation 34",
    parts={CORE: 3, DOUBLE: 1},
    reference=since_2017.turned_by_place,
    cases=and_turned_around(_rotary_cases),
    correct=(_pair_by_pair, _by_complex_numbers, _by_matrices),
    steps=("frequencies", "angles"),
    hints=hints(
        idea=(
            "Each pair is a point in the plane, and you rotated such points in lesson 03. The first formula has a "
            "minus, the second a plus. Only the angle is new: it differs from token to token."
        ),
        shapes=(
            "There are `d_head / 2` pairs. The angles are `[tokens, d_head / 2]`, the product of the positions as a "
            "column and the frequencies as a row. Their cosines and sines have the same shape. The first and the "
            "second numbers of the pairs are `[..., tokens, d_head / 2]` each.",
            ("halves_as_pairs", "halves_joined", "counted_from_zero"),
        ),
        outline=(
            "Compute the frequency of each pair, from the base.\n"
            "Compute the angle of each token and pair, and its cosine and sine.\n"
            "Split `x` into the even and the odd numbers.\n"
            "Rotate each pair.\n"
            "Interleave the two halves again, in the old order.",
            ("two_forgotten", "two_counted_twice", "fastest_last", "base_of_the_paper"),
        ),
    ),
    misconceptions=(
        *slips(
            _pair_by_pair,
            halves_as_pairs=(
                "Your answer pairs number i with number i + d_head / 2, as Hugging Face's Llama does. Pair neighbors, "
                "as the paper does: 0 and 1, 2 and 3.",
                ("x[..., ::2], x[..., 1::2]", "x.chunk(2, dim=-1)"),
                _HALVES_JOINED,
            ),
            halves_joined=(
                "Your answer rotates the pairs correctly, but returns all first numbers before all second ones. Put "
                "each pair side by side again.",
                _HALVES_JOINED,
            ),
            clockwise=(
                "Your answer rotates clockwise. The minus sign goes with the first number of a pair: a cos - b sin.",
                (_TURN, "a * cos + b * sin, b * cos - a * sin"),
            ),
            minus_forgotten=(
                "Your answer has a plus in both numbers of a pair. A rotation has one minus: a cos - b sin, a sin + b "
                "cos.",
                (_FIRST, "a * cos + b * sin"),
            ),
            second_from_the_first=(
                "Your answer computes the second numbers from first numbers that are already rotated. Keep the old "
                "ones until you have both.",
                (_TURN, f"(a := {_FIRST}), a * sin + b * cos"),
            ),
            counted_from_zero=(
                "Your answer numbers the tokens from 0. Use `positions`: with a cache, the only token may be token 40.",
                (_PLACES, "torch.arange(len(positions)).unsqueeze"),
            ),
            one_place_on=(
                "Your answer rotates every token as if it were one position later. At position 0, nothing is rotated.",
                (_PLACES, "(positions + 1).unsqueeze"),
            ),
            two_forgotten=(
                "Your exponent is i / d_head, where i counts pairs. Use 2i / d_head.",
                (_NUMBERS, "torch.arange(x.shape[-1] // 2)"),
            ),
            two_counted_twice=(
                "Your exponent is twice as large as it should be. If your i counts in steps of two, it is already the "
                "paper's 2i: use i / d_head.",
                (_NUMBERS, f"2 * {_NUMBERS}"),
            ),
            fastest_last=(
                "Your later pairs rotate faster than the first. The exponent needs a minus: pair 0 rotates by one "
                "radian per token, the others more slowly.",
                (_NUMBERS, f"-{_NUMBERS}"),
            ),
            base_of_the_paper=("Your base is always 10000. Use `base`: Llama 3's is 500000.", ("base**", "10_000.0**")),
            added=(
                "Your answer adds cosines and sines to x, as lesson 03 does. Rotary positions rotate each pair "
                "instead.",
                (_TURN, "a + sin, b + cos"),
            ),
        ),
        no_gradient(_slip(("return turned", "return turned.detach()")), "x"),
    ),
)
