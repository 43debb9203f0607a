"""The exercises of lesson 03: what a shuffle does, and five ways to tell words where they stand.

Built like those of `course_lib/exercises/attention.py`; read that file first.

The sizes of a case are all different, and an order is never its own inverse unless its case says so: then an
answer that turns a matrix or an order round is told apart from a right one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

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


def _taken(
    out: Tensor, order: Tensor, *, by: Callable[[Tensor], Tensor] = lambda order: order, dim: int = -2
) -> Tensor:
    """Rows in some order along some dimension."""
    return out[by(order)] if dim == 0 else out.index_select(dim, by(order))


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
            partial(_taken, by=torch.argsort),
        ),
        Misconception(
            "sentences_shuffled",
            "In a batch your prediction shuffles the sentences: out[order] takes "
            "the first dimension. Words are the last but one: out[..., order, :].",
            partial(_taken, dim=0),
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
            partial(_taken, by=lambda order: order[order]),
        ),
        Misconception(
            "counted_from_one",
            "Your prediction takes the row before the one that is asked for: the numbers in `order` are counted from "
            "0, so that there is nothing to subtract.",
            partial(_taken, by=lambda order: (order - 1) % len(order)),
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


def _kept(order: Tensor) -> Tensor:
    """Whether a word keeps its place."""
    return order == _places(order)


def _predicted(
    order: Tensor,
    *,
    same: Callable[[Tensor], Tensor] = positions.same_under_causal_mask,
    returned: Callable[[Tensor], Tensor] = lambda same: same,
) -> Tensor:
    """A prediction, by some rule and in some form."""
    return returned(same(order))


def _nothing_lost(order: Tensor) -> Tensor:
    """Whether the words that were attended to before are all among those up to here."""
    words = order.tolist()
    return torch.tensor([set(range(old + 1)) <= set(words[: place + 1]) for place, old in enumerate(words)])


def _same_before(order: Tensor) -> Tensor:
    """Whether the words before this place are those that stood before it, whichever word stands here."""
    words = order.tolist()
    return torch.tensor([set(words[:place]) == set(range(place)) for place in range(len(words))])


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
            partial(_predicted, same=_kept),
        ),
        Misconception(
            "same_words_so_far",
            "Your prediction looks at the place: do the same words stand up to here as before? But the word itself "
            "may be another one, which attended to fewer words or to more when it stood elsewhere.",
            partial(_predicted, same=lambda order: _furthest(order) == _places(order)),
        ),
        Misconception(
            "order_before_it_counts",
            "Your prediction is that a word keeps its vector only if all words before it stand as they did. Their "
            "order does not matter: attention adds them up. It matters only which words they are.",
            partial(_predicted, same=lambda order: _kept(order).cumprod(dim=0).bool()),
        ),
        Misconception(
            "moved_back_is_harmless",
            "Your prediction is that a word keeps its vector if it stands where it was or further back. Further back "
            "it attends to more words than before, and even where it was, other words may stand before it now.",
            partial(_predicted, same=lambda order: order <= _places(order)),
        ),
        Misconception(
            "nothing_new_is_harmless",
            "Your prediction is that a word keeps its vector if no new word has come before it. But it may have lost "
            "some: it must attend to exactly the same words.",
            partial(_predicted, same=lambda order: _furthest(order) == order),
        ),
        Misconception(
            "first_word_only",
            "Your prediction is that the first place alone keeps its vector. Which word stands there now? And later "
            "words may keep theirs too: those that attend to exactly the same words as before.",
            partial(_predicted, same=lambda order: _places(order) == 0),
        ),
        Misconception(
            "inverted",
            "Your prediction is turned round: True where the vector changes. True is asked for where it stays.",
            partial(_predicted, returned=torch.logical_not),
        ),
        Misconception(
            "numbers",
            "Your prediction is made of numbers, 1 and 0. Return booleans: compare, or end with .bool().",
            partial(_predicted, returned=torch.Tensor.long),
        ),
        Misconception(
            "moved_forward_is_harmless",
            "Your prediction is that a word keeps its vector if it stands where it was or further forward. Further "
            "forward it attends to fewer words than before, and even where it was, other words may stand before it "
            "now.",
            partial(_predicted, same=lambda order: order >= _places(order)),
        ),
        Misconception(
            "nothing_lost_is_harmless",
            "Your prediction is that a word keeps its vector if it has lost no word that it attended to. But new ones "
            "may have come: it must attend to exactly the same words.",
            partial(_predicted, same=_nothing_lost),
        ),
        Misconception(
            "words_before_alone",
            "Your prediction is True wherever the same words stand before a place as before. But the word itself may "
            "be another one, which attended to fewer words or to more when it stood elsewhere.",
            partial(_predicted, same=_same_before),
        ),
        Misconception(
            "all_or_none",
            "Your prediction is one for the whole sentence: True everywhere if nobody moves, else False everywhere. "
            "Each word has its own answer: does it attend to exactly the same words as before?",
            partial(_predicted, same=lambda order: _kept(order).all().expand(len(order)).clone()),
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
    words = integer(generator, 260, 300)
    yield Case(f"a long text of {words} words", (torch.randn(words, 1, generator=generator),))


def _numbered(
    x: Tensor,
    *,
    number: Callable[[Tensor], Tensor] = lambda x: _place(x),
    joined: Callable[[Tensor, Tensor], Tensor] = lambda x, column: _beside(x, column),
    returned: Callable[[Tensor], Tensor] = lambda joined: joined,
) -> Tensor:
    """Each word with a number, joined to it in some way."""
    return returned(joined(x, number(x)))


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
            partial(_numbered, number=lambda x: _place(x) + 1),
        ),
        Misconception(
            "in_front",
            "Your answer puts the position in front of each vector. Append it at the end: torch.cat([x, index], "
            "dim=-1).",
            partial(_numbered, joined=lambda x, column: _beside(x, column).roll(1, dims=-1)),
        ),
        Misconception(
            "added",
            "Your answer adds the position to every component of the vector. Append it as one more component: the "
            "result is [..., words, d_model + 1].",
            partial(_numbered, joined=lambda x, column: (x + column.unsqueeze(-1)).to(x.dtype)),
        ),
        Misconception(
            "shrunk_to_one",
            "Your answer divides the positions, so that the last is 1. Then one step means something else in each "
            "length of sentence; here the position itself is asked for: 0, 1, 2, ...",
            partial(_numbered, number=lambda x: _place(x).to(x.dtype) / max(1, x.shape[-2] - 1)),
        ),
        Misconception(
            "divided_by_length",
            "Your answer divides the positions by the number of words. Then one step means something else in each "
            "length of sentence; here the position itself is asked for: 0, 1, 2, ...",
            partial(_numbered, number=lambda x: _place(x).to(x.dtype) / x.shape[-2]),
        ),
        Misconception(
            "sentences_counted",
            "In a batch your answer counts the sentences: x.shape[0] is the number "
            "of sentences there. Words are the last dimension but one, x.shape[-2].",
            lambda x: torch.cat(
                [x, torch.arange(x.shape[0]).view(-1, *[1] * (x.ndim - 1)).to(x.dtype).expand(*x.shape[:-1], 1)], -1
            ),
        ),
        Misconception(
            "length_appended",
            "Your answer appends the same number to every word, the length of the sentence. Append each word's own "
            "position: 0, 1, 2, ...",
            partial(_numbered, number=lambda x: torch.full((x.shape[-2],), x.shape[-2])),
        ),
        Misconception(
            "backwards",
            "Your answer counts from the end of the sentence. The first word is at position 0.",
            partial(_numbered, number=lambda x: _place(x).flip(0)),
        ),
        Misconception(
            "always_single",
            "Your answer is float32 whatever comes in. Give the positions the dtype of x: "
            "torch.arange(words, dtype=x.dtype).",
            partial(_numbered, returned=torch.Tensor.float),
        ),
        Misconception(
            "divided_in_single_precision",
            "Your answer divides the positions by the number of words. Then one step means something else in each "
            "length of sentence; here the position itself is asked for: 0, 1, 2, ...",
            lambda x: _beside(x, _place(x) / x.shape[-2]),
        ),
        Misconception(
            "small_integers",
            "Your positions are integers of 8 bits (int8 or uint8), which start over, or turn negative, in a long "
            "text. Use the dtype of x, or torch.arange's own.",
            lambda x: _beside(x, _place(x).to(torch.int8)),
        ),
        Misconception(
            "unsigned_small_integers",
            "Your positions are integers of 8 bits (int8 or uint8), which start over, or turn negative, in a long "
            "text. Use the dtype of x, or torch.arange's own.",
            lambda x: _beside(x, _place(x).to(torch.uint8)),
        ),
        Misconception(
            "last_component_overwritten",
            "Your answer writes the position over the last component of each vector. Append it as one more component: "
            "the result is [..., words, d_model + 1].",
            lambda x: _beside(x[..., :-1], _place(x)),
        ),
        Misconception(
            "counted_through_the_batch",
            "Your answer goes on counting from one sentence of the batch to the next. Each sentence begins at "
            "position 0.",
            lambda x: torch.cat([x, torch.arange(x[..., 0].numel()).view(*x.shape[:-1], 1).to(x.dtype)], dim=-1),
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
    long = integer(generator, 260, 300)
    yield Case(f"a long text: {long} words, 9 bits", (long, 9))


def _counted(length: int, bits: int) -> tuple[Tensor, Tensor]:
    """Positions as a column, powers of two as a row."""
    return torch.arange(length).unsqueeze(-1), 2 ** torch.arange(bits)


def _bit(position: Tensor, power: Tensor) -> Tensor:
    return position // power % 2


def _binary(
    length: int,
    bits: int,
    *,
    first: int = 0,
    bit: Callable[[Tensor, Tensor], Tensor] = _bit,
    turned: Callable[[Tensor], Tensor] = lambda table: table,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """Entries `bit(position, power of two)`, with a setting for each place where one can slip."""
    position, power = _counted(length, bits)
    return turned(bit(position + first, power)).to(dtype)


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
            "In your rows the highest bit stands first, as we write numbers. Here the lowest comes first: "
            "column 0 changes at every word.",
            partial(_binary, turned=lambda table: table.flip(1)),
        ),
        Misconception(
            "counted_from_one",
            "Your first row is the number 1. Positions are counted from 0, so the first row is all zeros.",
            partial(_binary, first=1),
        ),
        Misconception(
            "integers",
            "Your bits are integers. They are to be added to embeddings, so end with .float().",
            partial(_binary, dtype=torch.long),
        ),
        Misconception(
            "booleans",
            "Your bits are True and False. They are to be added to embeddings, so end with .float().",
            partial(_binary, dtype=torch.bool),
        ),
        Misconception(
            "minus_one_for_zero",
            "Your answer writes -1 for the digit 0. Here the digits are 0.0 and 1.0.",
            partial(_binary, bit=lambda position, power: 2 * _bit(position, power) - 1),
        ),
        Misconception(
            "transposed",
            "Your answer is [bits, length]. One row for each position: [length, bits].",
            partial(_binary, turned=torch.t),
        ),
        Misconception(
            "quotient_only",
            "Your answer divides by the powers of two, but does not take the remainder: column i holds ⌊pos / 2^i⌋. "
            "Its last digit is the bit: take it modulo 2.",
            partial(_binary, bit=lambda position, power: position // power),
        ),
        Misconception(
            "remainder_only",
            "Your answer is pos modulo 2^i, which grows. First divide, ⌊pos / 2^i⌋, then take that modulo 2.",
            partial(_binary, bit=lambda position, power: position % power),
        ),
        Misconception(
            "not_rounded_down",
            "Your answer divides without rounding down, so that there are fractions. Use // or >> before you take "
            "the remainder.",
            partial(_binary, bit=lambda position, power: (position / power) % 2),
        ),
        Misconception(
            "starts_with_twos",
            "Your columns are one place off: the first one counts the twos. Column 0 is the lowest bit, which is "
            "⌊pos / 1⌋ modulo 2.",
            partial(_binary, bit=lambda position, power: position // (2 * power) % 2),
        ),
        Misconception(
            "gray_code",
            "Your answer is a Gray code: from each row to the next exactly one bit changes. Here ordinary binary "
            "numbers are asked for.",
            partial(_binary, bit=lambda position, power: _bit(position ^ (position >> 1), power)),
        ),
        Misconception(
            "double_precision",
            "Your bits are float64. Embeddings are float32: end with .float().",
            partial(_binary, dtype=torch.float64),
        ),
        Misconception(
            "divided_only",
            "Your answer divides by the powers of two, and does no more: there are fractions, and they grow. Round "
            "down (//), and take the remainder (% 2).",
            partial(_binary, bit=lambda position, power: position / power),
        ),
        Misconception(
            "bits_keep_their_weight",
            "Your answer holds 2^i where bit i is set. Here the digits are 0.0 and 1.0: shift the number, or compare "
            "with 0.",
            partial(_binary, bit=lambda position, power: position & power),
        ),
        Misconception(
            "rounded_to_the_nearest",
            "Your answer rounds the quotients to the nearest number. Round down: // or >>.",
            partial(_binary, bit=lambda position, power: (position / power).round() % 2),
        ),
        Misconception(
            "lowest_bit_everywhere",
            "Every column of yours is the lowest bit. Halve the number (// 2) from one column to the next.",
            partial(_binary, bit=lambda position, power: (position % 2).expand(-1, len(power))),
        ),
        Misconception(
            "remainder_first",
            "Your answer takes the remainder by 2 before it divides: only the lowest bit is left then. First divide, "
            "⌊pos / 2^i⌋, then take that modulo 2.",
            partial(_binary, bit=lambda position, power: position % 2 // power),
        ),
        Misconception(
            "zeros_for_ones",
            "Your zeros and ones have changed places. Row 0 is the number 0: all its digits are 0.0.",
            partial(_binary, bit=lambda position, power: 1 - _bit(position, power)),
        ),
        Misconception(
            "one_place_marked",
            "Your answer marks one column for each position. A binary number may have several digits 1: bit i is ⌊pos "
            "/ 2^i⌋ modulo 2.",
            partial(_binary, bit=lambda position, power: (position == _places(power)).long()),
        ),
        Misconception(
            "small_integers",
            "Your positions are integers of 8 bits, which start over at 256 in a long text. Leave torch.arange its own "
            "dtype.",
            partial(_binary, bit=lambda position, power: _bit(position % 256, power)),
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
    words = integer(generator, 260, 300)
    yield Case(f"a long text of {words} words in 2 dimensions", (words, 2))  # their angles are exact


def _clock(position: Tensor, exponent: Tensor) -> Tensor:
    return position / 10_000**exponent


def _sine_and_cosine(angle: Tensor) -> tuple[Tensor, Tensor]:
    return angle.sin(), angle.cos()


def _side_by_side(first: Tensor, second: Tensor) -> Tensor:
    return torch.stack([first, second], dim=-1).flatten(-2)


def _waves(
    length: int,
    d_model: int,
    *,
    first: int = 0,
    angle: Callable[[Tensor, Tensor], Tensor] = _clock,
    pair: Callable[[Tensor], tuple[Tensor, Tensor]] = _sine_and_cosine,
    placed: Callable[[Tensor, Tensor], Tensor] = _side_by_side,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """Two functions of `angle(position, 2i / d_model)` for each pair, with a setting for each place to slip."""
    position = torch.arange(first, first + length, dtype=torch.float64).unsqueeze(-1)
    angles = angle(position, torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    return placed(*pair(angles)).to(dtype)


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
            "two_forgotten",
            "Your exponent is i / d_model, with i counting the pairs: the 2 is missing, and the clocks slow down too "
            "little from pair to pair. The paper's exponent is 2i / d_model.",
            partial(_waves, angle=lambda position, exponent: _clock(position, exponent / 2)),
        ),
        Misconception(
            "two_counted_twice",
            "Your exponent is twice as large as it should be. If your i counts in steps of two, it is the paper's 2i "
            "already: the exponent is then i / d_model.",
            partial(_waves, angle=lambda position, exponent: _clock(position, 2 * exponent)),
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
            lambda length, d_model: _waves(
                length, d_model, angle=lambda position, exponent: position * 10_000**exponent
            ),
        ),
        Misconception(
            "counted_from_one",
            "Your first row belongs to position 1. Positions are counted from 0: at the first one all angles are 0.",
            partial(_waves, first=1),
        ),
        Misconception(
            "base_1000",
            "Your base is 1000. The paper's is 10000, with four zeros.",
            partial(_waves, angle=lambda position, exponent: position / 1_000**exponent),
        ),
        Misconception(
            "whole_turns",
            "Your answer multiplies the angle by 2π, so that the first clock turns all the way round at each word. "
            "The formula has no 2π: one word turns it by 1 radian.",
            partial(_waves, angle=lambda position, exponent: 2 * math.pi * _clock(position, exponent)),
        ),
        Misconception(
            "degrees",
            "Your answer takes the angle for degrees. It is in radians, which is what torch.sin expects.",
            partial(_waves, angle=lambda position, exponent: _clock(position, exponent).deg2rad()),
        ),
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
        Misconception(
            "base_100000",
            "Your base is 100000. The paper's is 10000, with four zeros.",
            partial(_waves, angle=lambda position, exponent: position / 100_000**exponent),
        ),
        Misconception(
            "exponent_not_divided",
            "Your exponent is 2i, not divided by d_model: from the second pair on, the clocks stand nearly still. It "
            "is 2i / d_model.",
            lambda length, d_model: _encoded(length, d_model, lambda i: 10000.0 ** (-2 * i)),
        ),
        Misconception(
            "sine_negative",
            "Your sines have the wrong sign: the clocks turn backwards. Take the sine of pos / 10000^(2i / d_model) "
            "as it is.",
            partial(_waves, pair=lambda a: (-a.sin(), a.cos())),
        ),
        Misconception(
            "divided_by_length",
            "Your answer divides the positions by the number of words. Then one step means something else in each "
            "length of sentence; the formula takes the position itself: 0, 1, 2, ...",
            partial(_waves, angle=lambda position, exponent: _clock(position / len(position), exponent)),
        ),
        Misconception(
            "slowest_first",
            "Your clocks are in reverse order, the slowest first. Pair i = 0 has the angle pos itself.",
            partial(_waves, angle=lambda position, exponent: _clock(position, exponent.flip(0))),
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


def _rotation(cos: Tensor, sin: Tensor) -> list[Tensor]:
    return [cos, sin, -sin, cos]


def _turn(shift: float, exponent: Tensor) -> Tensor:
    return shift / 10_000**exponent


def _on_the_diagonal(blocks: Tensor) -> Tensor:
    matrix: Tensor = torch.block_diag(*blocks)
    return matrix


def _in_halves(blocks: Tensor) -> Tensor:
    """The shift matrix of an encoding whose sines stand in the first half and whose cosines stand in the second."""
    place = torch.arange(2 * len(blocks)).view(-1, 2).T.flatten()
    return _on_the_diagonal(blocks)[place][:, place]


def _added_to_the_identity(blocks: Tensor) -> Tensor:
    matrix = _on_the_diagonal(blocks)
    return matrix + torch.eye(len(matrix), dtype=matrix.dtype)


def _turned(
    shift: int,
    d_model: int,
    *,
    moved: Callable[[int], int] = lambda shift: shift,
    angle: Callable[[float, Tensor], Tensor] = _turn,
    block: Callable[[Tensor, Tensor], list[Tensor]] = _rotation,
    placed: Callable[[Tensor], Tensor] = _on_the_diagonal,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """The 2 x 2 block (four entries, row by row) of `angle(shift, 2i / d_model)` for each pair, put together."""
    angles = angle(moved(shift), torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    entries = torch.stack(block(angles.cos(), angles.sin()), dim=-1)
    return placed(entries.view(-1, 2, 2)).to(dtype)


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
            partial(_turned, block=lambda cos, sin: [cos, -sin, sin, cos]),
        ),
        Misconception(
            "minus_forgotten",
            "Your blocks have no minus sign: [[cos, sin], [sin, cos]]. It comes from cos(a + b) = cos a cos b - sin a "
            "sin b, the second row of each block: [-sin, cos].",
            partial(_turned, block=lambda cos, sin: [cos, sin, sin, cos]),
        ),
        Misconception(
            "sine_on_the_diagonal",
            "Your blocks have the sines on their diagonal. Where nothing is shifted the matrix must be the identity: "
            "the cosines belong there, [[cos, sin], [-sin, cos]].",
            partial(_turned, block=lambda cos, sin: [sin, cos, -cos, sin]),
        ),
        Misconception(
            "diagonal_only",
            "Your matrix only scales: it has the cosines on its diagonal and nothing beside them. sin(a + b) needs "
            "the cosine of a as well: each block is [[cos, sin], [-sin, cos]].",
            partial(_turned, block=lambda cos, sin: [cos, 0 * sin, 0 * sin, cos]),
        ),
        Misconception(
            "one_angle_for_all",
            "Your matrix turns all pairs by the same angle, the shift itself. Each pair has its own clock: turn it by "
            "shift / 10000^(2i / d_model).",
            partial(_turned, angle=lambda shift, exponent: torch.full_like(exponent, shift)),
        ),
        Misconception(
            "two_forgotten",
            "Your blocks turn by shift / 10000^(i / d_model): the 2 is missing. The angle of pair i is shift / "
            "10000^(2i / d_model), as in the encoding.",
            partial(_turned, angle=lambda shift, exponent: _turn(shift, exponent / 2)),
        ),
        Misconception(
            "two_counted_twice",
            "Your exponent is twice as large as it should be. If your i counts in steps of two, it is the paper's 2i "
            "already: the exponent is then i / d_model.",
            partial(_turned, angle=lambda shift, exponent: _turn(shift, 2 * exponent)),
        ),
        Misconception(
            "multiplied",
            "Your angles are shift · 10000^(2i / d_model), faster and faster. Divide: the clocks slow down from pair "
            "to pair.",
            partial(_turned, angle=lambda shift, exponent: shift * 10_000**exponent),
        ),
        Misconception(
            "halves",
            "Your matrix shifts an encoding with all sines before all cosines. In ours they alternate, so that the "
            "rotations are 2 × 2 blocks along the diagonal.",
            partial(_turned, placed=_in_halves),
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
            partial(_turned, moved=abs),
        ),
        Misconception(
            "blocks_not_placed",
            "Your answer is the 2 × 2 blocks one after the other, [d_model / 2, 2, 2]. Place them along the diagonal "
            "of a [d_model, d_model] matrix, with zeros elsewhere: torch.block_diag.",
            partial(_turned, placed=lambda blocks: blocks),
        ),
        Misconception(
            "double_precision",
            "Your numbers are float64. The encoding is float32: end with .float().",
            partial(_turned, dtype=torch.float64),
        ),
        Misconception(
            "minus_twice",
            "Your answer has a minus at both sines of a block. Only one of them has it: the cosine's formula for a "
            "sum subtracts, the sine's adds.",
            partial(_turned, block=lambda cos, sin: [cos, -sin, -sin, cos]),
        ),
        Misconception(
            "exponents_counted_from_one",
            "Your answer counts the pairs of dimensions from 1. The first has i = 0: it turns by `shift` itself.",
            partial(_turned, angle=lambda shift, exponent: _turn(shift, exponent + 1 / len(exponent))),
        ),
        Misconception(
            "minus_at_the_cosine",
            "Your blocks have their minus at the lower right cosine, which makes a reflection of them. It belongs to "
            "the sine below the diagonal: [[cos, sin], [-sin, cos]].",
            partial(_turned, block=lambda cos, sin: [cos, sin, sin, -cos]),
        ),
        Misconception(
            "backwards_nothing_moves",
            "Your matrix is the identity where `shift` is negative. It must turn the clocks back there: the same "
            "formula holds for negative shifts.",
            partial(_turned, moved=lambda shift: max(shift, 0)),
        ),
        Misconception(
            "one_word_too_far",
            "Your matrix shifts by one word too many. The angle of pair i is shift / 10000^(2i / d_model).",
            partial(_turned, moved=lambda shift: shift + 1),
        ),
        Misconception(
            "one_word_always",
            "Your matrix shifts by one word, whatever `shift` is. Multiply the angles by it.",
            partial(_turned, moved=lambda shift: 1),
        ),
        Misconception(
            "base_1000",
            "Your base is 1000. The paper's is 10000, with four zeros.",
            partial(_turned, angle=lambda shift, exponent: shift / 1_000**exponent),
        ),
        Misconception(
            "degrees",
            "Your answer takes the angle for degrees. It is in radians, which is what torch.sin expects.",
            partial(_turned, angle=lambda shift, exponent: _turn(shift, exponent).deg2rad()),
        ),
        Misconception(
            "slowest_first",
            "Your clocks are in reverse order, the slowest first. The first block turns by `shift` itself.",
            partial(_turned, angle=lambda shift, exponent: _turn(shift, exponent.flip(0))),
        ),
        Misconception(
            "one_frequency_less",
            "Your slowest clock turns by shift / 10000: the exponents run from 0 to 1. By the paper's formula they "
            "stop before 1: 2i / d_model for i < d_model / 2.",
            partial(
                _turned,
                angle=lambda shift, exponent: _turn(shift, exponent * len(exponent) / max(len(exponent) - 1, 1)),
            ),
        ),
        Misconception(
            "added_to_the_identity",
            "Your matrix has the identity added: its diagonal is 1 too large. Start from zeros, or replace the "
            "entries.",
            partial(_turned, placed=_added_to_the_identity),
        ),
        Misconception(
            "sine_never_negative",
            "Your sines are never negative: the root of 1 - cos² has lost the sign. Take the sine of the angle itself.",
            partial(_turned, block=lambda cos, sin: [cos, sin.abs(), -sin.abs(), cos]),
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
        (words,) = kind.sizes(1)
        longest = words + integer(generator, 2, 5)
        encoding = torch.randn(longest, kind.d_head(), generator=generator).to(kind.dtype)
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


def _refuse(words: int, longest: int) -> None:
    if words > longest:
        raise ValueError(f"{words} words are more than {longest} positions")


class _Learned(nn.Module):
    """Learned positions, with a setting for each place where one can slip."""

    def __init__(
        self,
        d_model: int,
        max_length: int,
        *,
        counted: Callable[[Tensor], int] = lambda x: x.shape[-2],
        checked: Callable[[int, int], None] = _refuse,
        words: Callable[[Tensor], Tensor] = lambda x: x,
        table: Callable[[Tensor], Tensor] = lambda encoding: encoding,
        rows: Callable[[Tensor, int], Tensor] = lambda encoding, words: encoding[:words],
        together: Callable[[Tensor, Tensor], Tensor] = torch.add,
    ) -> None:
        super().__init__()
        self.encoding = nn.Parameter(torch.zeros(max_length, d_model))
        self.counted, self.checked, self.words = counted, checked, words
        self.table, self.rows, self.together = table, rows, together

    def forward(self, x: Tensor) -> Tensor:
        words = self.counted(x)
        self.checked(words, len(self.encoding))
        return self.together(self.words(x), self.rows(self.table(self.encoding), words))


def _never(words: int, longest: int) -> None:
    """Refuses nothing."""


def _cut_off(x: Tensor, rows: Tensor) -> Tensor:
    return x[..., : len(rows), :] + rows


def _row_for_each_sentence(x: Tensor, rows: Tensor) -> Tensor:
    return x + rows.view(-1, *[1] * (x.ndim - 2), x.shape[-1])


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
            "Your answer says nothing of its own to sentences that are too long: torch complains about shapes, or "
            "adds a single row to all words. Compare the numbers first, and raise a ValueError.",
            partial(_Learned, checked=_never),
        ),
        Misconception(
            "first_word_again",
            "Your answer starts over where the table ends: a word too many gets the position of the first. It must not "
            "go on in silence: raise a ValueError.",
            partial(
                _Learned, checked=_never, rows=lambda encoding, words: encoding[torch.arange(words) % len(encoding)]
            ),
        ),
        Misconception(
            "last_row_again",
            "Your answer gives all words too many the last position, as if they stood in one place. It must not go on "
            "in silence: raise a ValueError.",
            partial(
                _Learned,
                checked=_never,
                rows=lambda encoding, words: encoding[torch.arange(words).clamp(max=len(encoding) - 1)],
            ),
        ),
        Misconception(
            "nothing_added",
            "Your answer adds nothing to the words that are too many, so that they have no place at all. It must not "
            "go on in silence: raise a ValueError.",
            partial(
                _Learned,
                checked=_never,
                rows=lambda encoding, words: F.pad(encoding, (0, 0, 0, max(0, words - len(encoding))))[:words],
            ),
        ),
        Misconception(
            "only_the_rows",
            "Your answer returns the positions alone. Add them to the words: x + encoding[:words].",
            partial(_Learned, together=lambda x, rows: rows),
        ),
        Misconception(
            "last_rows",
            "Your answer takes the last rows of `encoding`. The first word is at position 0 and gets the first row.",
            partial(_Learned, rows=lambda encoding, words: encoding[len(encoding) - words :]),
        ),
        Misconception(
            "backwards",
            "Your answer gives the first word the position of the last, and so on. Word 0 gets row 0.",
            partial(_Learned, rows=lambda encoding, words: encoding[:words].flip(0)),
        ),
        Misconception(
            "same_row_for_all",
            "Your answer adds row 0 to every word, which says nothing about their order. Word number pos gets row pos.",
            partial(_Learned, rows=lambda encoding, words: encoding[0]),
        ),
        Misconception(
            "multiplied",
            "Your answer multiplies the words by their positions' vectors. Add them.",
            partial(_Learned, together=torch.mul),
        ),
        Misconception(
            "appended",
            "Your answer puts the positions' vectors beside the words. Add them, so that the result is as long as x.",
            partial(_Learned, together=lambda x, rows: torch.cat([x, rows.expand_as(x)], dim=-1)),
        ),
        Misconception(
            "words_scaled",
            "Your answer multiplies the words by √d_model first. The paper does that in its embedding (section 3.4); "
            "here they come as they are.",
            partial(_Learned, words=lambda x: x * math.sqrt(x.shape[-1])),
        ),
        Misconception(
            "sentences_counted",
            "In a batch your answer gives each sentence a row, not each word: "
            "x.shape[0] is the number of sentences there. Words are the last dimension but one.",
            partial(_Learned, counted=len, checked=_never, together=_row_for_each_sentence),
        ),
        Misconception(
            "len_of_the_batch",
            "Your answer counts len(x) words, which is x.shape[0]: in a batch that is the number of "
            "sentences. The number of words is x.shape[-2], with a batch and without.",
            partial(_Learned, counted=len),
        ),
        Misconception(
            "encoding_detached",
            "No gradient reaches `encoding`: your answer uses encoding.data, encoding.detach(), or a new tensor or "
            "parameter made of it. Use the parameter itself, or it can never be learned.",
            partial(_Learned, table=torch.detach),
        ),
        Misconception(
            "x_detached",
            "No gradient reaches x: in your answer the computation leaves torch somewhere (.detach(), "
            ".data, numpy or torch.tensor(...)), so that the embeddings can never be learned.",
            partial(_Learned, words=torch.detach),
        ),
        Misconception(
            "cut_off",
            "Your answer leaves out the words that are too many. It must not go on in silence: raise a ValueError.",
            partial(_Learned, checked=_never, together=_cut_off),
        ),
        Misconception(
            "single_row_not_refused",
            "Your answer leaves it to torch to complain, and passes its error on: but a table of one row is added to "
            "any number of words without complaint. Compare the numbers first, and raise a ValueError.",
            partial(_Learned, checked=lambda words, longest: _refuse(words if longest > 1 else 0, longest)),
        ),
        Misconception(
            "counted_from_one",
            "Your answer gives the first word row 1. Positions are counted from 0: the first word gets row 0.",
            partial(_Learned, rows=lambda encoding, words: encoding[1 : words + 1]),
        ),
        Misconception(
            "subtracted",
            "Your answer subtracts the positions' vectors. Add them.",
            partial(_Learned, together=torch.sub),
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
