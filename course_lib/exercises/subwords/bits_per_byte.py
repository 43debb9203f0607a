"""Lesson 08, subwords.bits_per_byte: Bits for a byte."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator

from course_lib.exercises.common import integer
from course_lib.exercises.subwords.shared import LESSON, WITHHELD
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.text import subwords

BEYOND_ASCII = "letters of several bytes"


def _bits_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    def loss() -> float:
        return round(1 + 4 * float(torch.rand((), generator=generator, dtype=torch.float64)), 3)

    if not hidden:
        yield Case("worked example: 2 nats a piece, 3 pieces of 4 letters", (2.0, 3, "meowmeowmeow"))
        yield Case("characters as pieces", (1.75, 19, "to be or not to be,"))
        yield Case("spaces around it", (6.25, 1, " to be or not to be,\n"))
    else:
        yield Case("a line", (loss(), integer(generator, 9, 14), "  the course of true love never did run smooth"))
        yield Case("other pieces", (loss(), integer(generator, 15, 30), "lord, what fools these mortals be!"))
        times = integer(generator, 2, 2000)
        yield Case("a perfect guess", (0.0, integer(generator, times, 4 * times), "to sleep " * times))
    pieces = 11 if not hidden else integer(generator, 8, 16)
    yield Case("German", (2.5 if not hidden else loss(), pieces, "Die Mäuse hören süße Flöten."), part=BEYOND_ASCII)
    yield Case("Greek and a cat", (3.5 if not hidden else loss(), pieces, "η γάτα 🐈"), part=BEYOND_ASCII)


def _bits_in_steps(mean_loss: float, pieces: int, text: str) -> float:
    total = mean_loss * pieces
    bits = total / math.log(2)
    return bits / len(text.encode())


_slip = partial(Edited, _bits_in_steps)
_TOTAL, _LENGTH = "mean_loss * pieces", "len(text.encode())"
_OF_A_PIECE, _UNDIVIDED = (_TOTAL, "mean_loss"), (_LENGTH, "1")


EXERCISE = Exercise(
    id="subwords.bits_per_byte",
    lesson=LESSON,
    name="bits_per_byte",
    title="Bits for a byte",
    statement=(
        "bits_per_byte(mean_loss, pieces, text) -> float: the bits that a model spends on each byte (in UTF-8) of a "
        "text which it reads as `pieces` pieces, with a mean loss of `mean_loss` nats a piece."
    ),
    points=2,
    minutes=8,
    difficulty=2,
    importance=4,
    section="Pieces in a model",
    source="Gao et al. (2020), The Pile, section 3.1; Shannon (1948)",
    reference=subwords.bits_per_byte,
    cases=_bits_cases,
    parts={CORE: 1, BEYOND_ASCII: 1},
    correct=(
        _bits_in_steps,
        lambda mean_loss, pieces, text: math.log2(math.exp(mean_loss)) * pieces / len(bytes(text, "utf8")),
        lambda mean_loss, pieces, text: mean_loss * math.log2(math.e) / (len(text.encode()) / pieces),
    ),
    steps=("bits",),
    hints=(
        Hint(
            "idea",
            "First the loss of the whole text, then its share for each byte. A nat is 1 / ln 2 bits, about 1.44. "
            "A string's length counts its characters; `encode` gives its bytes, and these have a length, too.",
        ),
    ),
    misconceptions=(
        Misconception(
            "spaces_left_out",
            "Your answer counts the bytes of the words alone. Spaces and ends of lines are bytes of the text as well.",
            _slip((_LENGTH, "len(''.join(text.split()).encode())")),
        ),
        Misconception(
            "per_character",
            "Your answer divides by the number of characters. In UTF-8 an ä has two bytes and a 🐈 four: divide by "
            "len(text.encode()).",
            _slip((_LENGTH, "len(text)")),
        ),
        Misconception(
            "in_nats",
            "Your answer is in nats. A bit is ln 2 nats: divide by math.log(2).",
            _slip((" / math.log(2)", "")),
        ),
        Misconception(
            "times_ln_2",
            "Your answer multiplies by ln 2. A nat is more than a bit: divide by math.log(2).",
            _slip(("/ math", "* math")),
        ),
        Misconception(
            "per_piece",
            "Your answer is the bits for each piece. Models with other pieces cannot be compared like that: multiply "
            "by the number of pieces, and divide by the bytes.",
            _slip(_OF_A_PIECE, _UNDIVIDED),
        ),
        Misconception(
            "pieces_forgotten",
            "Your answer divides the loss of a single piece by the bytes of the whole text. Multiply by the number of "
            "pieces first: that is the loss of the text.",
            _slip(_OF_A_PIECE),
        ),
        Misconception(
            "of_the_text",
            "Your answer is the bits for the whole text. Divide by its bytes.",
            _slip(_UNDIVIDED),
            alone=True,
        ),
        Misconception(
            "divided_by_pieces",
            "Your answer divides by the number of pieces. The loss is a mean over pieces: multiply by their number to "
            "get that of the text.",
            _slip((_TOTAL, "mean_loss / pieces")),
        ),
        Misconception(
            "per_word",
            "Your answer divides by the number of words. Divide by the bytes of the text.",
            _slip((_LENGTH, "len(text.split())")),
        ),
    ),
    withheld=WITHHELD,
)
