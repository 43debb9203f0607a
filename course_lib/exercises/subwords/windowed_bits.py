"""Lesson 08, subwords.windowed_bits: Bits per byte of a long text."""

import math
from collections.abc import Callable, Iterator

from torch import Generator

from course_lib.exercises.common import edits_of, hints, integer, mistake
from course_lib.exercises.subwords.shared import random_source
from course_lib.judging.exercise import CORE, Callback, Case, Exercise
from course_lib.references import subwords as reference

BEYOND_ASCII = "characters of several bytes"

Losses = Callable[[list[int]], list[float]]


def _losses(window: object) -> list[float]:
    """Of each token after the first: it depends on the tokens before it, and on how many they are."""
    if not isinstance(window, (list, tuple)) or not all(type(i) is int for i in window):
        raise TypeError("losses takes a list of ids")
    return [
        round(1 + (7 * window[i] + 3 * window[i - 1]) % 11 / 4 + 3 / i + window[0] % 3 / 8, 4)
        for i in range(1, len(window))
    ]


_LOSSES = Callback("losses", _losses)


def _bits_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    rng = random_source(generator)

    def case(name: str, text: str, tokens: int, context: int, stride: int, part: str = CORE) -> Case:
        ids = [rng.randint(2, 90) for _ in range(tokens)]
        return Case(name, (_LOSSES, ids, text, context, stride), part=part)

    line = "the course of true love never did run smooth"
    if not hidden:
        yield case("worked example: 6 tokens, windows of 4", "meowmeowmeow", 6, 4, 2)
        yield case("the text fits into one window", "to be or not to be", 7, 7, 3)
        yield case("a last window that is shorter", line, 9, 4, 3)
        yield case("two tokens further each time", f"  {line}\n", 12, 6, 2)
        yield case("windows of two tokens", line, 5, 2, 1)
        yield case("one token more than a window", line, 6, 5, 4)
    else:
        for number in range(1, 4):
            context = integer(generator, 4, 9)
            text = " \n".join([line] * integer(generator, 1, 3))
            tokens, stride = integer(generator, 15, 40), integer(generator, 2, context - 1)
            yield case(f"a line, {number}", text, tokens, context, stride)
        yield case("shorter than a window", line, integer(generator, 3, 6), 8, 4)
    tokens = 11 if not hidden else integer(generator, 8, 16)
    yield case("German", "Die Mäuse hören süße Flöten.", tokens, 5, 2, part=BEYOND_ASCII)
    yield case("Greek and a cat", "η γάτα 🐈", tokens, 4, 3, part=BEYOND_ASCII)


def _bits_in_windows(losses: Losses, ids: list[int], text: str, context: int, stride: int) -> float:
    nats, done = 0.0, 1
    for begin in range(0, len(ids), stride):
        window = ids[begin : begin + context]
        new = begin + len(window) - done
        if new > 0:
            nats += sum(losses(window)[-new:])
            done += new
    return nats / math.log(2) / len(text.encode())


_slip = edits_of(_bits_in_windows)
_NEW, _LENGTH, _WINDOWS = "[-new:]", "len(text.encode())", "range(0, len(ids), stride)"


def _bits_by_position(losses: Losses, ids: list[int], text: str, context: int, stride: int) -> float:
    """The loss of each token from the first window that asks for it."""
    of_token: dict[str, float] = {}
    begin = 0
    while len(of_token) < len(ids) - 1:
        for position, loss in enumerate(losses(ids[begin : begin + context]), start=begin + 1):
            of_token.setdefault(str(position), loss)
        begin += stride
    return sum(of_token.values()) * math.log2(math.e) / len(bytes(text, "utf-8"))


def _bits_first_window_apart(losses: Losses, ids: list[int], text: str, context: int, stride: int) -> float:
    bits = sum(losses(ids[:context])) / math.log(2)
    for end in range(context, len(ids), stride):
        window = ids[end + stride - context : end + stride]
        bits += sum(losses(window)[context - stride - 1 :]) / math.log(2)
    return bits / len(text.encode())


EXERCISE = Exercise(
    id="subwords.windowed_bits",
    title="Bits per byte of a long text",
    statement=(
        "bits_per_byte(losses, ids: list of int, text: str, context: int, stride: int) -> float: the bits that a model "
        "needs per byte (in UTF-8) of a text. Windows of at most `context` tokens begin at 0, stride, 2 stride, ...; "
        "each token but the first counts once, in the first window that predicts it."
    ),
    minutes=15,
    difficulty=4,
    importance=4,
    section="Tokens in a model",
    source="Gao et al. (2020), The Pile, section 3.1; Shannon (1948)",
    reference=reference.bits_per_byte,
    cases=_bits_cases,
    parts={CORE: 2, BEYOND_ASCII: 1},
    correct=(_bits_in_windows, _bits_by_position, _bits_first_window_apart),
    steps=("nats",),
    hints=hints(
        idea=(
            "Windows overlap so that the later window sees earlier tokens, too. Only the end of each window is new: "
            "keep track of how many tokens you have counted. Then convert nats to bits, and divide by the number of "
            "bytes."
        ),
        shapes=(
            "`losses` returns one number fewer than the window has tokens, since the first isn't predicted. A "
            "window's last token is at position begin + length - 1. One nat is 1 / ln 2 bits; a string's method "
            "`encode` returns its bytes.",
            ("per_character", "in_nats", "times_ln_2", "per_token"),
        ),
        outline=(
            "Start with 0 nats and one counted token, the first.\n"
            "For each starting position 0, stride, 2 stride and so on, take a window of at most `context` tokens.\n"
            "Work out how many of its tokens are new.\n"
            "If any are, add that many of its last losses, and mark these tokens as counted.\n"
            "Return the sum in bits, divided by the number of bytes.",
            ("overlap_counted_again", "no_overlap", "first_losses", "short_window_dropped", "first_window_cut"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer counts a token in every window that contains it. Count it once, in the first window that "
            "predicts it: only the last losses of later windows are new.",
            overlap_counted_again=_slip((_NEW, ""), ("new > 0", "new > -stride")),
        ),
        *mistake(
            "Your answer takes the first losses of each window, which it has already counted. The new tokens are at "
            "its end, so take the last losses.",
            first_losses=_slip((_NEW, "[:new]")),
        ),
        *mistake(
            "Your answer begins each window where the last one ends, so the first token of each window isn't "
            "predicted. Move on by `stride` tokens each time.",
            no_overlap=_slip((_WINDOWS, "range(0, len(ids), context)"), paired=False),
        ),
        *mistake(
            "Your answer drops the last window if it is shorter than `context`. Keep it: its tokens belong to the "
            "text.",
            short_window_dropped=_slip((_WINDOWS, "range(0, max(len(ids) - context, 0) + 1, stride)"), paired=False),
        ),
        *mistake(
            "Your answer takes only the last `stride` losses of the first window. There, every token except the first "
            "is new.",
            first_window_cut=_slip((_NEW, "[-min(new, stride):]"), paired=False),
        ),
        *mistake(
            "Your answer adds up the windows' mean losses. Add up the losses of all tokens instead.",
            mean_of_windows=_slip(("sum(losses(window)[-new:])", "sum(losses(window)[-new:]) / new")),
        ),
        *mistake(
            "Your answer counts only the bytes of the words. Spaces and line breaks are bytes as well.",
            spaces_left_out=_slip((_LENGTH, "len(''.join(text.split()).encode())")),
        ),
        *mistake(
            "Your answer divides by the number of characters. In UTF-8, an ä has two bytes and a 🐈 has four: divide "
            "by len(text.encode()).",
            per_character=_slip((_LENGTH, "len(text)")),
        ),
        *mistake(
            "Your answer is not in bits. A bit is ln 2 nats: divide by math.log(2).",
            in_nats=_slip((" / math.log(2)", "")),
            times_ln_2=_slip(("/ math", "* math")),
        ),
        *mistake(
            "Your answer does not divide by the number of bytes. Divide by len(text.encode()), so that models with "
            "different tokens can be compared.",
            per_token=_slip((_LENGTH, "len(ids)")),
            of_the_text=_slip((_LENGTH, "1")),
            per_word=_slip((_LENGTH, "len(text.split())")),
        ),
    ),
)
