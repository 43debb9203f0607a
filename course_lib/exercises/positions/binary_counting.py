"""Lesson 03, positions.binary_counting: Counting in binary."""

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
from course_lib.exercises.positions.shared import Device
from course_lib.judging.exercise import CORE, Case, Exercise


def _binary_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if hidden:
        yield from _hidden_cases(generator)
    else:
        yield Case("worked example: the numbers 0 to 15", (16, 4))
        yield Case("a single token", (1, 1))
        yield Case("more bits than are needed", (5, 6))
        yield from _further_cases(generator)
    yield elsewhere(Case("seven tokens, 3 bits", (7, 3)))


def _hidden_cases(generator: Generator) -> Iterator[Case]:
    for more, name in enumerate(("as many bits as are needed", "one bit more", "two bits more")):
        needed = integer(generator, 4, 10)
        length = integer(generator, 2 ** (needed - 1) + 1, 2**needed + 1)
        yield Case(f"{name}: {length} tokens, {needed + more} bits", (length, needed + more))
    long = integer(generator, 260, 1000)
    yield Case(f"a long text: {long} tokens, 10 bits", (long, 10))


def _further_cases(generator: Generator) -> Iterator[Case]:
    for name in ("as far as the bits reach", "one bit more", "one token fewer"):
        bits = integer(generator, 2, 6)
        length = {"as far as the bits reach": 2**bits, "one bit more": 2 ** (bits - 1), "one token fewer": 2**bits - 1}
        yield Case(f"{name}: {length[name]} tokens, {bits} bits", (length[name], bits))
    long = integer(generator, 260, 300)
    yield Case(f"a long text: {long} tokens, 9 bits", (long, 9))


def _binary(length: int, bits: int, device: Device = None) -> Tensor:
    position = torch.arange(length, device=device).unsqueeze(-1)
    power = 2 ** torch.arange(bits).to(position.device)
    table = position // power % 2
    return table.float()


_BIT, _PLACES = "position // power % 2", "torch.arange(length, device=device)"


def _binary_by_text(length: int, bits: int, device: Device = None) -> Tensor:
    rows = [[float(digit) for digit in reversed(f"{pos:0{bits}b}")] for pos in range(length)]
    return torch.tensor(rows, device=device)


def _binary_by_repeating(length: int, bits: int) -> Tensor:
    """From before there was a device to ask for."""
    columns = []
    for bit in range(bits):
        wave = torch.tensor([0.0, 1.0]).repeat_interleave(2**bit)
        columns.append(wave.repeat(length // len(wave) + 1)[:length])
    return torch.stack(columns, dim=1)


EXERCISE = Exercise(
    id="positions.binary_counting",
    title="Counting in binary",
    statement=(
        "binary_counting(length, bits, device=None) -> float32 [length, bits], on that device: row pos is the number "
        "pos in binary, as 0.0 and 1.0, lowest bit first."
    ),
    minutes=10,
    difficulty=2,
    importance=2,
    section="Counting with two digits",
    source="S4, the binary encoding of 0 to 15",
    reference=positions.binary_counting,
    cases=_binary_cases,
    formerly=NO_DEVICE_THEN,
    parts={CORE: 1, ANOTHER_DEVICE: 1},
    correct=(_binary, _binary_by_text, _binary_by_repeating),
    hints=hints(
        idea=(
            "To get the bit of weight 2ʲ, divide the position by 2ʲ, drop the remainder, and ask whether the result "
            "is even or odd."
        ),
        shapes=(
            "Make the positions a column, `[length, 1]`, and the powers of two a row, `[bits]`. Together they give "
            "all bits at once, `[length, bits]`. Convert the result to float32.",
            ("transposed", "highest_bit_first", "integers", "booleans", "small_integers", "double_precision"),
        ),
    ),
    misconceptions=(
        *slips(
            _binary,
            highest_bit_first=(
                "Your rows start with the highest bit, like written numbers. Start with the lowest: column 0 changes "
                "at every token.",
                ("return table", "return table.flip(1)"),
            ),
            counted_from_one=(
                "Your first row is the number 1. Positions start at 0, so the first row must be all zeros.",
                (_PLACES, f"({_PLACES} + 1)"),
            ),
            integers=(
                "Your bits are integers, but they will be added to embeddings. End with .float().",
                (".float()", ".long()"),
            ),
            booleans=(
                "Your bits are True and False, but they will be added to embeddings. End with .float().",
                (".float()", ".bool()"),
            ),
            minus_one_for_zero=(
                "Your answer writes -1 for the bit 0. Use 0.0 and 1.0.",
                (_BIT, "2 * (position // power % 2) - 1"),
            ),
            transposed=(
                "Your answer is [bits, length]. Give each position a row: [length, bits].",
                ("return table", "return table.T"),
            ),
            quotient_only=(
                "Your answer divides by the powers of two but never takes the remainder: column i holds ⌊pos / 2^i⌋. "
                "Take that modulo 2.",
                (_BIT, "position // power"),
            ),
            remainder_only=(
                "Your answer is pos modulo 2^i. Compute ⌊pos / 2^i⌋ first, and take that modulo 2.",
                (_BIT, "position % power"),
            ),
            not_rounded_down=(
                "Your answer divides without rounding down, which leaves fractions. Use // or >> before you take the "
                "remainder.",
                (_BIT, "(position / power) % 2"),
            ),
            double_precision=(
                "Your bits are float64, but embeddings are float32. End with .float().",
                (".float()", ".double()"),
            ),
            divided_only=(
                "Your answer only divides by the powers of two, which leaves fractions. Round down (//), and take the "
                "remainder (% 2).",
                (_BIT, "position / power"),
            ),
            bits_keep_their_weight=(
                "Your answer contains 2^i where bit i is set. Write 1.0 there: shift the number instead, or test "
                "whether the result is above 0.",
                (_BIT, "position & power"),
            ),
            lowest_bit_everywhere=(
                "Each of your columns is the lowest bit. Halve the number (// 2) from one column to the next.",
                (_BIT, "(position % 2).expand(-1, bits)"),
            ),
            remainder_first=(
                "Your answer takes the remainder modulo 2 before it divides, which keeps only the lowest bit. Compute "
                "⌊pos / 2^i⌋ first, and take that modulo 2.",
                (_BIT, "position % 2 // power"),
            ),
            zeros_for_ones=(
                "Your zeros and ones are swapped. Row 0 is the number 0, so it must be all 0.0.",
                (_BIT, "1 - position // power % 2"),
            ),
            one_place_marked=(
                "Your answer marks one column per position. A binary number can have several ones: bit i is ⌊pos / "
                "2^i⌋ modulo 2.",
                (_BIT, "position == power.log2()"),
            ),
            small_integers=(
                "Your positions are 8-bit integers, which overflow at 256 in a long text. Use torch.arange's default "
                "dtype.",
                (_PLACES, f"({_PLACES}% 256)"),
            ),
        ),
        made_on_the_cpu(_binary, "device"),
    ),
    memorisable="Its whole input is two small numbers: a table needs hundreds of lengths, each for several bits.",
)
