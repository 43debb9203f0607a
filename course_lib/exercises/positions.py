"""The exercises of lesson 03: what a shuffle does, and five ways to tell words where they stand.

Built like those of `course_lib/exercises/attention.py`; read that file first.

The sizes of a case are all different, and an order is never its own inverse unless its case says so: then an
answer that turns a matrix or an order round is told apart from a right one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib import positions
from course_lib.attention import scaled_dot_product_attention
from course_lib.checking.exercise import CORE, Case, Exercise, Misconception
from course_lib.exercises.common import Kind, integer, kinds, predicted, sizes
from course_lib.exercises.correct import positions as correct
from course_lib.exercises.worked_examples import A, B

LESSON = "03_positions"
WITHHELD = ("course_lib.positions",)

CHASE = torch.tensor([0, 4, 2, 3, 1])
"""S3's pair: *the dog chased the cat* with dog and cat in each other's place."""


def _shuffle(generator: Generator, words: int) -> Tensor:
    """A random order of three words or more that is not its own inverse."""
    while True:
        order = torch.randperm(words, generator=generator)
        if not torch.equal(order[order], torch.arange(words)):
            return order


# positions.shuffled_outputs ----------------------------------------------------------------------------------


def _shuffled_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        out = scaled_dot_product_attention(B.q, B.k, B.v)
        order = torch.tensor([2, 0, 3, 1])
        yield Case(f"{B.name}, unmasked: Katze <s> tanzte die", (out, order))
    for kind in kinds(generator):
        words = kind.sizes(1)[0] + 1
        yield Case(kind.name, (kind.normal(words, kind.d_head()), _shuffle(generator, words)))
    words, d_model = 4, integer(generator, 5, 8)
    many = torch.randn(9, words, d_model, generator=generator)
    yield Case("more sentences than words", (many, _shuffle(generator, words)))


SHUFFLED_OUTPUTS = Exercise(
    id="positions.shuffled_outputs",
    lesson=LESSON,
    name="shuffled_outputs",
    title="Predict: shuffled words",
    statement=(
        "shuffled_outputs(out [..., words, d_model], order int64 [words]) -> [..., words, d_model]: the outputs of "
        "unmasked self-attention after a shuffle, from those before it; word i of the shuffled sentence is word "
        "order[i] of the old one."
    ),
    points=1,
    minutes=5,
    section="A bag of words",
    source="S4, why position embeddings are needed; Lee et al. (2019)",
    reference=positions.shuffled_outputs,
    cases=predicted(_shuffled_cases),
    correct=correct.SHUFFLED_OUTPUTS,
    misconceptions=(
        Misconception(
            "nothing_moves",
            "Your prediction is that the outputs stay as they were, row for row: S4 says that switching words "
            "wouldn't affect the computation. Each word keeps its vector, but the vector moves with its word.",
            lambda out, order: out.clone(),
        ),
        Misconception(
            "shuffled_back",
            "Your prediction shuffles the rows the other way round, by the inverse order. Row i belongs to the word "
            "that stands there now, which is word order[i] of the old sentence: out[..., order, :].",
            lambda out, order: out[..., order.argsort(), :],
        ),
        Misconception(
            "sentences_shuffled",
            "Your prediction is right for one sentence, but in a batch it shuffles the sentences: out[order] takes "
            "the first dimension. Words are the last but one: out[..., order, :].",
            lambda out, order: out[order],
        ),
        Misconception(
            "dimensions_shuffled",
            "Your prediction shuffles the components within each vector. The vectors stay whole and change places: "
            "out[..., order, :].",
            lambda out, order: torch.cat([out[..., order], out[..., len(order) :]], dim=-1),
        ),
        Misconception(
            "reversed",
            "Your prediction turns the rows round, whatever the order is. Use `order`: row i belongs to word order[i] "
            "of the old sentence.",
            lambda out, order: out.flip(-2),
        ),
        Misconception(
            "all_alike",
            "Your prediction is that all words get the same vector, the mean. Attention ignores the order, not the "
            "words: each word still asks its own question, and keeps its own vector.",
            lambda out, order: out.mean(dim=-2, keepdim=True).expand_as(out),
        ),
        Misconception(
            "shuffled_twice",
            "Your prediction shuffles the rows twice. Once is enough: row i belongs to word order[i] of the old "
            "sentence.",
            lambda out, order: out[..., order, :][..., order, :],
        ),
    ),
    withheld=WITHHELD,
)


# positions.same_under_causal_mask ----------------------------------------------------------------------------


def _causal_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{B.name}: <s> Katze die tanzte", (torch.tensor([0, 2, 1, 3]),))
        yield Case("the dog chased the cat, dog and cat exchanged", (CHASE,))
        yield Case("nobody moves", (torch.arange(5),))
        yield Case("back to front", (torch.arange(5).flip(0),))
        yield Case("the last word comes to the front", (torch.tensor([5, 0, 1, 2, 3, 4]),))
    for name in ("neighbours change places here and there", "shuffled in groups", "larger groups"):
        yield Case(name, (_grouped(generator, name),))
    words = integer(generator, 6, 9)
    yield Case("all of them shuffled", (_shuffle(generator, words),))


def _grouped(generator: Generator, name: str) -> Tensor:
    """An order that only moves words within groups, some of one word, the first of several."""
    largest = {"neighbours change places here and there": 2, "shuffled in groups": 3}.get(name, 4)
    groups = [largest, 1, *(integer(generator, 1, largest + 1) for _ in range(3)), 1]
    order: list[int] = []
    for group in groups:
        shuffled = torch.randperm(group, generator=generator) if group != largest else torch.arange(group).roll(1)
        order += (shuffled + len(order)).tolist()
    return torch.tensor(order)


def _furthest(order: Tensor) -> Tensor:
    """The largest old place among a word and those before it."""
    return order.cummax(dim=0).values


def _places(order: Tensor) -> Tensor:
    return torch.arange(len(order))


SAME_UNDER_CAUSAL_MASK = Exercise(
    id="positions.same_under_causal_mask",
    lesson=LESSON,
    name="same_under_causal_mask",
    title="Predict: shuffled under a mask",
    statement=(
        "same_under_causal_mask(order int64 [words]) -> bool [words]: True where the word at this place of a shuffled "
        "sentence gets the same vector as before from one causally masked self-attention without positions; word i "
        "is word order[i] of the old sentence, and all words differ."
    ),
    points=2,
    minutes=12,
    section="Shuffling under a mask",
    source="S4, switching words; S2 and S4, the causal mask",
    reference=positions.same_under_causal_mask,
    cases=predicted(_causal_cases),
    correct=correct.SAME_UNDER_CAUSAL_MASK,
    misconceptions=(
        Misconception(
            "nothing_changes",
            "Your prediction is that every word keeps its vector, as without a mask: S4's sentence on switching words "
            "fails here. Under a causal mask a word attends only to those before it, and these may be others now.",
            lambda order: torch.ones(len(order), dtype=torch.bool),
        ),
        Misconception(
            "everything_changes",
            "Your answer is False for every word. One that attends to the very same words as before gets the same "
            "vector, even if these have changed places. Sets of tensors are never equal: compare order.tolist().",
            lambda order: torch.zeros(len(order), dtype=torch.bool),
        ),
        Misconception(
            "not_moved",
            "Your prediction is that a word keeps its vector if it keeps its place. That is not enough: other words "
            "may stand before it now.",
            lambda order: order == _places(order),
        ),
        Misconception(
            "same_words_so_far",
            "Your prediction looks at the place: do the same words stand up to here as before? But the word itself "
            "may be another one, which attended to fewer words or to more when it stood elsewhere.",
            lambda order: _furthest(order) == _places(order),
        ),
        Misconception(
            "order_before_it_counts",
            "Your prediction is that a word keeps its vector only if all words before it stand as they did. Their "
            "order does not matter: attention adds them up. It matters only which words they are.",
            lambda order: (order == _places(order)).cumprod(dim=0).bool(),
        ),
        Misconception(
            "moved_back_is_harmless",
            "Your prediction is that a word keeps its vector if it stands where it was or further back. Further back "
            "it attends to more words than before, and even where it was, other words may stand before it now.",
            lambda order: order <= _places(order),
        ),
        Misconception(
            "nothing_new_is_harmless",
            "Your prediction is that a word keeps its vector if no new word has come before it. But it may have lost "
            "some: it must attend to exactly the same words.",
            lambda order: _furthest(order) == order,
        ),
        Misconception(
            "first_word_only",
            "Your prediction is that the first place alone keeps its vector. Which word stands there now? And later "
            "words may keep theirs too: those that attend to exactly the same words as before.",
            lambda order: _places(order) == 0,
        ),
        Misconception(
            "inverted",
            "Your prediction is turned round: True where the vector changes. True is asked for where it stays.",
            lambda order: ~positions.same_under_causal_mask(order),
        ),
        Misconception(
            "numbers",
            "The prediction is right, but it is made of numbers, 1 and 0. Return booleans: compare, or end with "
            ".bool().",
            lambda order: positions.same_under_causal_mask(order).long(),
        ),
    ),
    withheld=WITHHELD,
)


# positions.appended_index ------------------------------------------------------------------------------------


def _appended_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{A.name}: the, cat, danced", (A.k,))
    for kind in kinds(generator):
        (words,) = kind.sizes(1)
        yield Case(kind.name, (kind.normal(words, kind.d_head()),))
    yield Case("a single word", (torch.randn(1, integer(generator, 2, 6), generator=generator),))


def _beside(x: Tensor, column: Tensor) -> Tensor:
    """x with one number more for each word, from [words] numbers."""
    return torch.cat([x, column.to(x.dtype).unsqueeze(-1).expand(*x.shape[:-1], 1)], dim=-1)


def _place(x: Tensor) -> Tensor:
    """0, 1, 2, ... for the words of x."""
    return torch.arange(x.shape[-2])


APPENDED_INDEX = Exercise(
    id="positions.appended_index",
    lesson=LESSON,
    name="appended_index",
    title="A number for each place",
    statement=(
        "appended_index(x [..., words, d_model]) -> [..., words, d_model + 1]: each word's vector with its position, "
        "counted from 0, as one more number at its end; of the dtype of x."
    ),
    points=1,
    minutes=8,
    section="The easiest idea",
    source="S4, the easiest way to encode a position",
    reference=positions.appended_index,
    cases=_appended_cases,
    correct=correct.APPENDED_INDEX,
    misconceptions=(
        Misconception(
            "counted_from_one",
            "Your answer counts the words from 1. In this course positions are counted from 0.",
            lambda x: _beside(x, _place(x) + 1),
        ),
        Misconception(
            "in_front",
            "Your answer puts the position in front of each vector. Append it at the end: torch.cat([x, index], "
            "dim=-1).",
            lambda x: _beside(x, _place(x)).roll(1, dims=-1),
        ),
        Misconception(
            "added",
            "Your answer adds the position to every component of the vector. Append it as one more component: the "
            "result is [..., words, d_model + 1].",
            lambda x: x + _place(x).unsqueeze(-1),
        ),
        Misconception(
            "shrunk_to_one",
            "Your answer divides the positions, so that the last is 1. Then one step means something else in each "
            "length of sentence; here the position itself is asked for: 0, 1, 2, ...",
            lambda x: _beside(x, _place(x) / max(1, x.shape[-2] - 1)),
        ),
        Misconception(
            "divided_by_length",
            "Your answer divides the positions by the number of words. Then one step means something else in each "
            "length of sentence; here the position itself is asked for: 0, 1, 2, ...",
            lambda x: _beside(x, _place(x) / x.shape[-2]),
        ),
        Misconception(
            "sentences_counted",
            "Your answer is right for one sentence, but in a batch it counts the sentences: x.shape[0] is the number "
            "of sentences there. Words are the last dimension but one, x.shape[-2].",
            lambda x: torch.cat(
                [x, torch.arange(x.shape[0]).view(-1, *[1] * (x.ndim - 1)).to(x.dtype).expand(*x.shape[:-1], 1)], -1
            ),
        ),
        Misconception(
            "length_appended",
            "Your answer appends the same number to every word, the length of the sentence. Append each word's own "
            "position: 0, 1, 2, ...",
            lambda x: _beside(x, torch.full((x.shape[-2],), x.shape[-2])),
        ),
        Misconception(
            "backwards",
            "Your answer counts from the end of the sentence. The first word is at position 0.",
            lambda x: _beside(x, _place(x).flip(0)),
        ),
    ),
    withheld=WITHHELD,
)


# positions.binary_counting -----------------------------------------------------------------------------------


def _binary_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: S4's numbers 0 to 15", (16, 4))
        yield Case("a single word", (1, 1))
        yield Case("more bits than are needed", (5, 6))
    for name in ("as far as the bits reach", "one bit more", "one word fewer"):
        bits = integer(generator, 2, 6)
        length = {"as far as the bits reach": 2**bits, "one bit more": 2 ** (bits - 1), "one word fewer": 2**bits - 1}
        yield Case(f"{name}: {length[name]} words, {bits} bits", (length[name], bits))


def _counted(length: int, bits: int) -> tuple[Tensor, Tensor]:
    """Positions as a column, powers of two as a row."""
    return torch.arange(length).unsqueeze(-1), 2 ** torch.arange(bits)


def _by(bit: Callable[[Tensor, Tensor], Tensor]) -> Callable[[int, int], Tensor]:
    """An answer whose entries are `bit(position, power of two)`, as float32."""
    return lambda length, bits: bit(*_counted(length, bits)).float()


BINARY_COUNTING = Exercise(
    id="positions.binary_counting",
    lesson=LESSON,
    name="binary_counting",
    title="Counting in binary",
    statement=(
        "binary_counting(length, bits) -> float32 [length, bits]: row pos is the number pos in binary, 0.0 and 1.0, "
        "the lowest bit first."
    ),
    points=2,
    minutes=10,
    section="Counting with two digits",
    source="S4, the binary encoding of 0 to 15",
    reference=positions.binary_counting,
    cases=_binary_cases,
    correct=correct.BINARY_COUNTING,
    misconceptions=(
        Misconception(
            "highest_bit_first",
            "Your bits are right, but the highest stands first, as we write numbers. Here the lowest comes first: "
            "column 0 changes at every word.",
            lambda length, bits: positions.binary_counting(length, bits).flip(1),
        ),
        Misconception(
            "counted_from_one",
            "Your first row is the number 1. Positions are counted from 0, so the first row is all zeros.",
            lambda length, bits: positions.binary_counting(length + 1, bits + 1)[1:, :bits],
        ),
        Misconception(
            "integers",
            "The bits are right, but they are integers. They are to be added to embeddings, so end with .float().",
            lambda length, bits: positions.binary_counting(length, bits).long(),
        ),
        Misconception(
            "booleans",
            "The bits are right, but they are True and False. They are to be added to embeddings, so end with "
            ".float().",
            lambda length, bits: positions.binary_counting(length, bits).bool(),
        ),
        Misconception(
            "minus_one_for_zero",
            "Your answer writes -1 for the digit 0. Here the digits are 0.0 and 1.0.",
            lambda length, bits: 2 * positions.binary_counting(length, bits) - 1,
        ),
        Misconception(
            "transposed",
            "Your answer is [bits, length]. One row for each position: [length, bits].",
            lambda length, bits: positions.binary_counting(length, bits).T,
        ),
        Misconception(
            "quotient_only",
            "Your answer divides by the powers of two, but does not take the remainder: column i holds ⌊pos / 2^i⌋. "
            "Its last digit is the bit: take it modulo 2.",
            _by(lambda position, power: position // power),
        ),
        Misconception(
            "remainder_only",
            "Your answer is pos modulo 2^i, which grows. First divide, ⌊pos / 2^i⌋, then take that modulo 2.",
            _by(lambda position, power: position % power),
        ),
        Misconception(
            "not_rounded_down",
            "Your answer divides without rounding down, so that there are fractions. Use // or >> before you take "
            "the remainder.",
            _by(lambda position, power: (position / power) % 2),
        ),
        Misconception(
            "starts_with_twos",
            "Your columns are one place off: the first one counts the twos. Column 0 is the lowest bit, which is "
            "⌊pos / 1⌋ modulo 2.",
            _by(lambda position, power: position // (2 * power) % 2),
        ),
        Misconception(
            "gray_code",
            "Your answer is a Gray code: from each row to the next exactly one bit changes. Here ordinary binary "
            "numbers are asked for.",
            _by(lambda position, power: (position ^ (position >> 1)) // power % 2),
        ),
    ),
    withheld=WITHHELD,
)


# positions.sinusoidal_encoding -------------------------------------------------------------------------------


def _sinusoidal_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{A.name}: the, cat, danced in 4 dimensions", (3, 4))
        yield Case("a single pair of dimensions", (7, 2))
        yield Case("S4's picture: 50 words in 128 dimensions", (50, 128))
    for name in ("fewer words than dimensions", "more words than dimensions"):
        small = integer(generator, 3, 6)
        d_model = 2 * (small + 2 if name.startswith("fewer") else small)
        words = 2 * small + (1 if name.startswith("fewer") else 5)
        yield Case(f"{name}: {words} and {d_model}", (words, d_model))
    yield Case("a single word", (1, 2 * integer(generator, 3, 9)))


def _waves(
    angle: Callable[[Tensor, Tensor], Tensor],
    pair: Callable[[Tensor], tuple[Tensor, Tensor]] = lambda angle: (angle.sin(), angle.cos()),
    dtype: torch.dtype = torch.float32,
) -> Callable[[int, int], Tensor]:
    """An answer that interleaves two functions of `angle(position, 2i / d_model)`."""

    def answer(length: int, d_model: int) -> Tensor:
        position = torch.arange(length, dtype=torch.float64).unsqueeze(-1)
        exponent = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
        angles = angle(position, exponent)
        return torch.stack(pair(angles), dim=-1).flatten(-2).to(dtype)

    return answer


def _of_own_frequency(length: int, d_model: int) -> Tensor:
    """Every dimension j turns at 10000^(-2j / d_model), so that a sine and its cosine do not belong together."""
    dimension = torch.arange(d_model, dtype=torch.float64)
    angle = torch.arange(length, dtype=torch.float64).unsqueeze(-1) / 10_000 ** (2 * dimension / d_model)
    return torch.where(dimension % 2 == 0, angle.sin(), angle.cos()).float()


def _of_single_exponents(length: int, d_model: int) -> Tensor:
    """Every dimension j turns at 10000^(-j / d_model): right for the sines, but not for the cosines."""
    dimension = torch.arange(d_model, dtype=torch.float64)
    angle = torch.arange(length, dtype=torch.float64).unsqueeze(-1) / 10_000 ** (dimension / d_model)
    return torch.where(dimension % 2 == 0, angle.sin(), angle.cos()).float()


def _of_products(length: int, d_model: int) -> Tensor:
    """The angles pos · 10000^(2i / d_model) in single precision, whose rounding shows where they are large."""
    angle = torch.arange(length).unsqueeze(-1) * 10_000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)


def _encoded(length: int, d_model: int, frequency: Callable[[Tensor], Tensor]) -> Tensor:
    """Sines and cosines of pos · frequency(i), for the pairs i = 0, 1, ... of dimensions."""
    angles = torch.arange(length).unsqueeze(-1) * frequency(torch.arange(d_model // 2).double())
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).float()


def _overwritten(length: int, d_model: int) -> Tensor:
    right = positions.sinusoidal_encoding(length, d_model)
    wrong = torch.zeros(length, d_model)
    for pair in range(d_model // 2):
        wrong[:, pair : pair + 2] = right[:, 2 * pair : 2 * pair + 2]
    return wrong


SINUSOIDAL_ENCODING = Exercise(
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
    correct=correct.SINUSOIDAL_ENCODING,
    misconceptions=(
        Misconception(
            "halves",
            "All your numbers are there, but the sines stand in the first half and the cosines in the second, as in "
            "some libraries. Here they alternate, as in the paper: sine at 2i, cosine at 2i + 1.",
            lambda length, d_model: (
                positions.sinusoidal_encoding(length, d_model).unflatten(1, (-1, 2)).mT.reshape(length, d_model)
            ),
        ),
        Misconception(
            "cosine_first",
            "Your sines and cosines have changed places. The sine stands at dimension 2i, the cosine at 2i + 1: the "
            "row of position 0 is 0, 1, 0, 1, ...",
            _waves(lambda position, exponent: position / 10_000**exponent, lambda a: (a.cos(), a.sin())),
        ),
        Misconception(
            "sines_only",
            "Your answer uses the sine in both dimensions of a pair. The second is the cosine of the same angle.",
            _waves(lambda position, exponent: position / 10_000**exponent, lambda a: (a.sin(), a.sin())),
        ),
        Misconception(
            "two_forgotten",
            "Your exponent is i / d_model, with i counting the pairs: the 2 is missing, and the clocks slow down too "
            "little from pair to pair. The paper's exponent is 2i / d_model.",
            _waves(lambda position, exponent: position / 10_000 ** (exponent / 2)),
        ),
        Misconception(
            "two_counted_twice",
            "Your exponent is twice as large as it should be. If your i counts in steps of two, it is the paper's 2i "
            "already: the exponent is then i / d_model.",
            _waves(lambda position, exponent: position / 10_000 ** (2 * exponent)),
        ),
        Misconception(
            "a_frequency_for_each_dimension",
            "Your dimensions all have frequencies of their own. The paper's i counts pairs: dimensions 2i and 2i + 1 "
            "share the angle pos / 10000^(2i / d_model).",
            _of_own_frequency,
        ),
        Misconception(
            "cosine_too_slow",
            "Your sines are right, but each cosine has a frequency of its own: its exponent is (2i + 1) / d_model. It "
            "shares the angle of the sine before it, with 2i / d_model.",
            _of_single_exponents,
        ),
        Misconception(
            "multiplied",
            "Your answer multiplies the position by 10000^(2i / d_model), so that the clocks run faster and faster. "
            "Divide by it: they slow down from pair to pair.",
            _of_products,
        ),
        Misconception(
            "multiplied_in_double_precision",
            "Your answer multiplies the position by 10000^(2i / d_model), so that the clocks run faster and faster. "
            "Divide by it: they slow down from pair to pair.",
            _waves(lambda position, exponent: position * 10_000**exponent),
        ),
        Misconception(
            "counted_from_one",
            "Your first row belongs to position 1. Positions are counted from 0, and the first row is 0, 1, 0, 1, ...",
            _waves(lambda position, exponent: (position + 1) / 10_000**exponent),
        ),
        Misconception(
            "base_1000",
            "Your base is 1000. The paper's is 10000, with four zeros.",
            _waves(lambda position, exponent: position / 1_000**exponent),
        ),
        Misconception(
            "whole_turns",
            "Your answer multiplies the angle by 2π, so that the first clock turns all the way round at each word. "
            "The formula has no 2π: one word turns it by 1 radian.",
            _waves(lambda position, exponent: 2 * math.pi * position / 10_000**exponent),
        ),
        Misconception(
            "degrees",
            "Your answer takes the angle for degrees. It is in radians, which is what torch.sin expects.",
            _waves(lambda position, exponent: (position / 10_000**exponent).deg2rad()),
        ),
        Misconception(
            "transposed",
            "Your answer is [d_model, length]. One row for each position: [length, d_model].",
            lambda length, d_model: positions.sinusoidal_encoding(length, d_model).T,
        ),
        Misconception(
            "double_precision",
            "The numbers are right, but their dtype is float64. Embeddings are float32: end with .float().",
            _waves(lambda position, exponent: position / 10_000**exponent, dtype=torch.float64),
        ),
        Misconception(
            "one_frequency_less",
            "Your answer's slowest angle is pos / 10000: the exponents run from 0 to 1, as in the authors' own "
            "program. By the paper's formula they stop before 1: 2i / d_model for i < d_model / 2.",
            lambda length, d_model: _encoded(length, d_model, lambda i: 10000.0 ** -(i / max(d_model // 2 - 1, 1))),
        ),
        Misconception(
            "exponent_without_brackets",
            "Your answer computes 10000 ** 2 * i / d_model: a power binds more tightly than a product. Put the whole "
            "exponent in brackets: 10000 ** (2 * i / d_model).",
            lambda length, d_model: _encoded(length, d_model, lambda i: 1 / 10000.0**2 * i / d_model),
        ),
        Misconception(
            "exponents_counted_from_one",
            "Your answer counts the pairs of dimensions from 1. The first has i = 0, so that its angle is pos itself.",
            lambda length, d_model: _encoded(length, d_model, lambda i: 10000.0 ** (-2 * (i + 1) / d_model)),
        ),
        Misconception(
            "one_frequency_for_all",
            "Your answer has the same angle, pos, in all dimensions. Each pair turns more slowly than the one before "
            "it: divide by 10000^(2i / d_model).",
            lambda length, d_model: _encoded(length, d_model, lambda i: torch.ones_like(i)),
        ),
        Misconception(
            "overwritten",
            "Your answer writes to [pos, i] and [pos, i + 1] for i < d_model / 2, so that each sine overwrites the "
            "cosine before it, and the second half stays 0. Pair i stands at 2i and 2i + 1.",
            _overwritten,
        ),
    ),
    withheld=WITHHELD,
)


# positions.shift_matrix --------------------------------------------------------------------------------------


def _shift_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{A.name}: from the to cat, one word on, in 4 dimensions", (1, 4))
        yield Case("one pair of dimensions, three words on", (3, 2))
        yield Case("nobody moves", (0, 6))
    for name, sign in (("forwards", 1), ("backwards", -1)):
        shift, d_model = sign * integer(generator, 2, 12), 2 * integer(generator, 3, 7)
        yield Case(f"{abs(shift)} words {name} in {d_model} dimensions", (shift, d_model))
    shift = integer(generator, 30, 60)
    yield Case(f"{shift} words forwards in 16 dimensions", (shift, 16))


def _turned(
    block: Callable[[Tensor, Tensor], list[Tensor]],
    angle: Callable[[int, Tensor], Tensor] = lambda shift, exponent: shift / 10_000**exponent,
    dtype: torch.dtype = torch.float32,
) -> Callable[[int, int], Tensor]:
    """An answer with the 2 x 2 block (four entries, row by row) of `angle(shift, 2i / d_model)` for each pair."""

    def answer(shift: int, d_model: int) -> Tensor:
        angles = angle(shift, torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
        entries = torch.stack(block(angles.cos(), angles.sin()), dim=-1)
        matrix: Tensor = torch.block_diag(*entries.view(-1, 2, 2))
        return matrix.to(dtype)

    return answer


def _rotation(cos: Tensor, sin: Tensor) -> list[Tensor]:
    return [cos, sin, -sin, cos]


def _shift_in_halves(shift: int, d_model: int) -> Tensor:
    """The shift matrix of an encoding whose sines stand in the first half and whose cosines stand in the second."""
    place = torch.arange(d_model).view(-1, 2).T.flatten()
    return positions.shift_matrix(shift, d_model)[place][:, place]


SHIFT_MATRIX = Exercise(
    id="positions.shift_matrix",
    lesson=LESSON,
    name="shift_matrix",
    title="The shift matrix",
    statement=(
        "shift_matrix(shift, d_model) -> float32 [d_model, d_model]: the M with encoding[pos + shift] = M "
        "encoding[pos] for every position pos of the sinusoidal encoding; shift may be negative."
    ),
    points=4,
    minutes=20,
    section="A shift is a matrix",
    source="Vaswani et al. (2017), section 3.5; S4, relative positions",
    reference=positions.shift_matrix,
    cases=_shift_cases,
    correct=correct.SHIFT_MATRIX,
    misconceptions=(
        Misconception(
            "turned_back",
            "Your matrix shifts the other way: it is the transpose, which takes encoding[pos] to encoding[pos - "
            "shift]. The pairs are (sin, cos), so that each block is [[cos, sin], [-sin, cos]].",
            _turned(lambda cos, sin: [cos, -sin, sin, cos]),
        ),
        Misconception(
            "minus_forgotten",
            "Your blocks have no minus sign: [[cos, sin], [sin, cos]]. It comes from cos(a + b) = cos a cos b - sin a "
            "sin b, the second row of each block: [-sin, cos].",
            _turned(lambda cos, sin: [cos, sin, sin, cos]),
        ),
        Misconception(
            "sine_on_the_diagonal",
            "Your blocks have the sines on their diagonal. Where nothing is shifted the matrix must be the identity: "
            "the cosines belong there, [[cos, sin], [-sin, cos]].",
            _turned(lambda cos, sin: [sin, cos, -cos, sin]),
        ),
        Misconception(
            "diagonal_only",
            "Your matrix only scales: it has the cosines on its diagonal and nothing beside them. sin(a + b) needs "
            "the cosine of a as well: each block is [[cos, sin], [-sin, cos]].",
            _turned(lambda cos, sin: [cos, 0 * sin, 0 * sin, cos]),
        ),
        Misconception(
            "one_angle_for_all",
            "Your matrix turns all pairs by the same angle, the shift itself. Each pair has its own clock: turn it by "
            "shift / 10000^(2i / d_model).",
            _turned(_rotation, lambda shift, exponent: torch.full_like(exponent, shift)),
        ),
        Misconception(
            "two_forgotten",
            "Your blocks turn by shift / 10000^(i / d_model): the 2 is missing. The angle of pair i is shift / "
            "10000^(2i / d_model), as in the encoding.",
            _turned(_rotation, lambda shift, exponent: shift / 10_000 ** (exponent / 2)),
        ),
        Misconception(
            "two_counted_twice",
            "Your exponent is twice as large as it should be. If your i counts in steps of two, it is the paper's 2i "
            "already: the exponent is then i / d_model.",
            _turned(_rotation, lambda shift, exponent: shift / 10_000 ** (2 * exponent)),
        ),
        Misconception(
            "multiplied",
            "Your angles are shift · 10000^(2i / d_model), faster and faster. Divide: the clocks slow down from pair "
            "to pair.",
            _turned(_rotation, lambda shift, exponent: shift * 10_000**exponent),
        ),
        Misconception(
            "halves",
            "Your matrix shifts an encoding with all sines before all cosines. In ours they alternate, so that the "
            "rotations are 2 × 2 blocks along the diagonal.",
            _shift_in_halves,
        ),
        Misconception(
            "rows_rolled",
            "Your matrix moves components to other places. Shifting the words changes the numbers within each pair: "
            "a rotation for each pair, as 2 × 2 blocks along the diagonal.",
            lambda shift, d_model: torch.eye(d_model).roll(shift, dims=0),
        ),
        Misconception(
            "distance_only",
            "Your matrix shifts forwards whatever the sign of `shift`. A negative one must turn the clocks back: "
            "don't take its absolute value.",
            lambda shift, d_model: positions.shift_matrix(abs(shift), d_model),
        ),
        Misconception(
            "blocks_not_placed",
            "Your answer is the 2 × 2 blocks one after the other, [d_model / 2, 2, 2]. Place them along the diagonal "
            "of a [d_model, d_model] matrix, with zeros elsewhere: torch.block_diag.",
            lambda shift, d_model: torch.stack(
                [positions.shift_matrix(shift, d_model)[i : i + 2, i : i + 2] for i in range(0, d_model, 2)]
            ),
        ),
        Misconception(
            "double_precision",
            "The numbers are right, but their dtype is float64. The encoding is float32: end with .float().",
            _turned(_rotation, dtype=torch.float64),
        ),
        Misconception(
            "minus_twice",
            "Your answer has a minus at both sines of a block. Only one of them has it: the cosine's formula for a "
            "sum subtracts, the sine's adds.",
            _turned(lambda cos, sin: [cos, -sin, -sin, cos]),
        ),
        Misconception(
            "exponents_counted_from_one",
            "Your answer counts the pairs of dimensions from 1. The first has i = 0: it turns by `shift` itself.",
            _turned(_rotation, lambda shift, exponent: shift / 10_000 ** (exponent + 1 / len(exponent))),
        ),
    ),
    withheld=WITHHELD,
)


# positions.learned_positions ---------------------------------------------------------------------------------


def _learned_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        encoding = torch.tensor([[0.1, 0.2], [0.3, -0.4], [-0.5, 0.6], [0.7, 0.8], [0.9, -1.0]])
        yield _learned_case(f"{A.name}: the, cat, danced and five positions", A.k, encoding)
    for kind in kinds(generator):
        if kind.dtype == torch.float32:
            (words,) = kind.sizes(1)
            longest = words + integer(generator, 2, 5)
            encoding = torch.randn(longest, kind.d_head(), generator=generator)
            yield _learned_case(kind.name, kind.normal(words, encoding.shape[1]), encoding)
    batch, words = sizes(generator, 2)
    single = Kind("a batch of one sentence", generator, (1,))
    encoding = torch.randn(words + 2, single.d_head(), generator=generator)
    yield _learned_case(single.name, single.normal(words, encoding.shape[1]), encoding)
    full = Kind("as many words as positions", generator, (batch,))
    encoding = torch.randn(words, full.d_head(), generator=generator)
    yield _learned_case(full.name, full.normal(words, encoding.shape[1]), encoding)
    for name, further, leading in (("one word too many", 1, ()), ("a batch of far too many words", 7, (batch,))):
        x = torch.randn(*leading, words + further, encoding.shape[1], generator=generator)
        yield replace(_learned_case(name, x, encoding), part="too many words", refused="ValueError")
    one = torch.randn(1, 3, generator=generator)
    x = torch.randn(2, 3, generator=generator)
    yield replace(_learned_case("two words, one position", x, one), part="too many words", refused="ValueError")


def _learned_case(name: str, x: Tensor, encoding: Tensor) -> Case:
    return Case(
        name,
        (x,),
        construct={"d_model": encoding.shape[1], "max_length": encoding.shape[0]},
        weights={"encoding": encoding},
        gradients=(0,),
        weight_gradients=True,
    )


def _by_len(x: Tensor, encoding: Tensor) -> Tensor:
    """As many rows as `x` has sentences, which are its words only where there is no batch."""
    if len(x) > len(encoding):
        raise ValueError(f"{len(x)} words are more than {len(encoding)} positions")
    return x + encoding[: len(x)]


def _learned(forward: Callable[[Tensor, Tensor], Tensor]) -> type[nn.Module]:
    return correct.learned(forward)


LEARNED_POSITIONS = Exercise(
    id="positions.learned_positions",
    lesson=LESSON,
    name="LearnedPositions",
    title="Learned positions",
    statement=(
        "class LearnedPositions(d_model, max_length) with the parameter encoding [max_length, d_model]; its forward(x "
        "[..., words, d_model]) -> [..., words, d_model] adds row pos of encoding to the word at position pos, and "
        "raises a ValueError where there are more words than rows."
    ),
    points=3,
    minutes=12,
    section="Learned positions",
    source="S3, learn a position embedding; S4; Vaswani et al. (2017), section 3.5",
    reference=positions.LearnedPositions,
    cases=_learned_cases,
    parts={CORE: 2, "too many words": 1},
    correct=correct.LEARNED_POSITIONS,
    misconceptions=(
        Misconception(
            "not_refused",
            "Your answer is right for sentences that fit, but says nothing of its own to longer ones: torch complains "
            "about shapes, or adds a single row to all words. Compare the numbers first, and raise a ValueError.",
            _learned(lambda x, encoding: x + encoding[: x.shape[-2]]),
        ),
        Misconception(
            "first_word_again",
            "Your answer starts over where the table ends: a word too many gets the position of the first. It must not "
            "go on in silence: raise a ValueError.",
            _learned(lambda x, encoding: x + encoding[torch.arange(x.shape[-2]) % len(encoding)]),
        ),
        Misconception(
            "last_row_again",
            "Your answer gives all words too many the last position, as if they stood in one place. It must not go on "
            "in silence: raise a ValueError.",
            _learned(lambda x, encoding: x + encoding[torch.arange(x.shape[-2]).clamp(max=len(encoding) - 1)]),
        ),
        Misconception(
            "nothing_added",
            "Your answer adds nothing to the words that are too many, so that they have no place at all. It must not "
            "go on in silence: raise a ValueError.",
            _learned(
                lambda x, encoding: x + F.pad(encoding, (0, 0, 0, max(0, x.shape[-2] - len(encoding))))[: x.shape[-2]]
            ),
        ),
        Misconception(
            "only_the_rows",
            "Your answer returns the positions alone. Add them to the words: x + encoding[:words].",
            _learned(lambda x, encoding: encoding[: x.shape[-2]].expand_as(x) + 0 * x),
        ),
        Misconception(
            "last_rows",
            "Your answer takes the last rows of `encoding`. The first word is at position 0 and gets the first row.",
            _learned(lambda x, encoding: x + encoding[len(encoding) - x.shape[-2] :]),
        ),
        Misconception(
            "backwards",
            "Your answer gives the first word the position of the last, and so on. Word 0 gets row 0.",
            _learned(lambda x, encoding: x + encoding[: x.shape[-2]].flip(0)),
        ),
        Misconception(
            "same_row_for_all",
            "Your answer adds row 0 to every word, which says nothing about their order. Word number pos gets row pos.",
            _learned(lambda x, encoding: x + encoding[0]),
        ),
        Misconception(
            "multiplied",
            "Your answer multiplies the words by their positions' vectors. Add them.",
            _learned(lambda x, encoding: x * encoding[: x.shape[-2]]),
        ),
        Misconception(
            "appended",
            "Your answer puts the positions' vectors beside the words. Add them, so that the result is as long as x.",
            _learned(lambda x, encoding: torch.cat([x, encoding[: x.shape[-2]].expand_as(x)], dim=-1)),
        ),
        Misconception(
            "words_scaled",
            "Your answer multiplies the words by √d_model first. The paper does that in its embedding (section 3.4); "
            "here they come as they are.",
            _learned(lambda x, encoding: x * math.sqrt(x.shape[-1]) + encoding[: x.shape[-2]]),
        ),
        Misconception(
            "sentences_counted",
            "Your answer is right for one sentence, but in a batch it gives each sentence a row, not each word: "
            "x.shape[0] is the number of sentences there. Words are the last dimension but one.",
            _learned(lambda x, encoding: x + encoding[: x.shape[0]].view(-1, *[1] * (x.ndim - 2), x.shape[-1])),
        ),
        Misconception(
            "len_of_the_batch",
            "Your answer is right for one sentence, but in a batch len(x), which is x.shape[0], is the number of "
            "sentences. The number of words is x.shape[-2], with a batch and without.",
            _learned(_by_len),
        ),
        Misconception(
            "encoding_detached",
            "The values are right, but no gradient reaches `encoding`: somewhere you use encoding.data, "
            "encoding.detach() or torch.tensor(encoding). Use the parameter itself, or it can never be learned.",
            _learned(lambda x, encoding: x + encoding.detach()[: x.shape[-2]]),
        ),
        Misconception(
            "x_detached",
            "The values are right, but no gradient reaches x: the computation leaves torch somewhere (.detach(), "
            ".data, numpy or torch.tensor(...)), so that the embeddings can never be learned.",
            _learned(lambda x, encoding: x.detach() + encoding[: x.shape[-2]]),
        ),
    ),
    withheld=WITHHELD,
)


EXERCISES = (
    SHUFFLED_OUTPUTS,
    SAME_UNDER_CAUSAL_MASK,
    APPENDED_INDEX,
    BINARY_COUNTING,
    SINUSOIDAL_ENCODING,
    SHIFT_MATRIX,
    LEARNED_POSITIONS,
)
"""In the order of the lesson."""
