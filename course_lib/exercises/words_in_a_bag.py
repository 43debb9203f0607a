"""The exercises of lesson 00: embeddings, a sentence as the mean of its words, and a classifier made of it.

Built like those of `course_lib/exercises/attention.py`; read that file first.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor, nn

from course_lib import bags
from course_lib.checking.exercise import CORE, Case, Exercise, Misconception, Pair
from course_lib.exercises.common import Kind, integer, sizes
from course_lib.exercises.correct import words_in_a_bag as correct
from course_lib.masking import padding_mask

LESSON = "00_words_in_a_bag"
WITHHELD = ("course_lib.bags", "course_lib.from_scratch.scoring")

DOG_CHASED_CAT = torch.tensor([[1, 2, 3, 1, 4]])
"""The ids of *the dog chased the cat*, where the is 1."""


def _ids(generator: Generator, vocabulary: int, *shape: int) -> Tensor:
    """Random ids of the whole vocabulary, of words that occur more than once."""
    drawn = torch.randint(vocabulary, shape, generator=generator)
    drawn[..., 1] = drawn[..., 0]
    return drawn


def _padded(generator: Generator, batch: int, words: int, spare: int = 0) -> Tensor:
    """The mask of a batch whose first sentence has half of the words, and another one all; none has the spare ones."""
    lengths = torch.randint(1, words + 1, (batch,), generator=generator)
    lengths[0], lengths[1] = words // 2, words
    return padding_mask(lengths, words + spare)


def _as_it_is(x: Tensor) -> Tensor:
    return x


# words_in_a_bag.look_up ------------------------------------------------------------------------------------


def _look_up_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        table = torch.tensor([[0.0, 0.0], [0.1, 0.1], [2.0, 0.5], [1.0, -1.5], [1.8, 0.9]])
        yield Case("worked example: the dog chased the cat", (table, DOG_CHASED_CAT[0]))
    words, vocabulary = integer(generator, 4, 7), integer(generator, 20, 30)
    sentence = _ids(generator, vocabulary, words)
    sentence[2] = 0
    for name, ids, dtype in (
        ("one sentence", sentence, torch.float32),
        ("a batch of sentences", _ids(generator, vocabulary, integer(generator, 3, 5), words), torch.float32),
        ("a batch of one sentence", _ids(generator, vocabulary, 1, words), torch.float32),
        ("the same sentence, another table in double precision", sentence, torch.float64),
    ):
        kind = Kind(name, generator, dtype=dtype)
        yield Case(name, (kind.normal(vocabulary, kind.d_head()), ids))
    table = torch.randn(6, 4, generator=generator)
    yield Case("a sentence of one word", (table, torch.tensor([integer(generator, 1, 6)])))
    yield Case("more words than the table has rows", (table[:3], _ids(generator, 3, integer(generator, 6, 9))))


def _looked_up(
    table: Tensor,
    ids: Tensor,
    *,
    shift: int = 0,
    chosen: Callable[[Tensor], Tensor] = _as_it_is,
    then: Callable[[Tensor], Tensor] = _as_it_is,
) -> Tensor:
    """The rows, with the mistakes that are set."""
    return then(table[(chosen(ids) + shift) % len(table)])


LOOK_UP = Exercise(
    id="words_in_a_bag.look_up",
    lesson=LESSON,
    name="look_up",
    title="Looking words up",
    statement=(
        "look_up(table [vocabulary, d_model], ids int [..., words]) -> [..., words, d_model]: for each word the row "
        "of the table that its id counts to, from 0."
    ),
    points=1,
    minutes=4,
    section="A vector for every word",
    source="S3, a simple model: the embedding layer",
    reference=bags.look_up,
    cases=_look_up_cases,
    correct=correct.LOOK_UP,
    misconceptions=(
        Misconception(
            "counted_from_one",
            "Your answer takes the row before the right one: it counts the rows from 1. Python, and ids, count from "
            "0: take row i of the table for the id i.",
            partial(_looked_up, shift=-1),
        ),
        Misconception(
            "one_row_further",
            "Your answer takes the row behind the right one. Rows are counted from 0: take row i for the id i.",
            partial(_looked_up, shift=1),
        ),
        Misconception(
            "each_word_once",
            "Your answer has each word only once, in the order of the ids. A sentence may repeat a word: one row for "
            "every word, in the order of the sentence.",
            partial(_looked_up, chosen=torch.unique),
        ),
        Misconception(
            "one_hot",
            "Your answer is a row of zeros with a single 1 for each word, which says where to look. Take the row that "
            "stands there: multiply by the table, or index it.",
            lambda table, ids: torch.nn.functional.one_hot(ids, len(table)).to(table.dtype),
        ),
        Misconception(
            "summed",
            "Your answer adds the words of a sentence up. Here every word keeps a vector of its own: one row each.",
            partial(_looked_up, then=lambda rows: rows.sum(dim=-2)),
        ),
        Misconception(
            "averaged",
            "Your answer is the mean of a sentence's words already. That comes later: here every word keeps a vector "
            "of its own, one row each.",
            partial(_looked_up, then=lambda rows: rows.mean(dim=-2)),
        ),
        Misconception(
            "transposed",
            "Your answer has the components as rows and the words as columns. One row for each word: leave out the "
            "transpose.",
            partial(_looked_up, then=lambda rows: rows.mT),
        ),
        Misconception(
            "row_0_zeroed",
            "Your answer has zeros where the id is 0. Here row 0 is a row like the others, whatever it stands for: "
            "take it from the table. Leaving padding out is the mask's business, in exercise 3.",
            lambda table, ids: table[ids] * (ids != 0).unsqueeze(-1),
        ),
    ),
    withheld=WITHHELD,
)


# words_in_a_bag.cosine -------------------------------------------------------------------------------------


def _cosine_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        table = torch.tensor([[3.0, 0.5], [2.2, 2.0], [0.3, 2.8], [-0.5, 0.4]])
        yield Case("worked example: train, station, radio, the; seen from station", (table, 1))
    for name, dtype, transposed in (
        ("some words", torch.float32, False),
        ("double precision", torch.float64, False),
        ("transposed in memory", torch.float32, True),
    ):
        kind = Kind(name, generator, dtype=dtype, transposed=transposed)
        words, d_model = kind.sizes(2)
        yield Case(name, (3 * kind.normal(words, d_model), integer(generator, 0, words)))
    square = 2 * torch.randn(5, 5, generator=generator)
    yield Case("as many words as components", (square, integer(generator, 0, 5)))


def _lengths(table: Tensor) -> Tensor:
    lengths: Tensor = torch.linalg.vector_norm(table, dim=-1)
    return lengths


def _cosines(
    table: Tensor,
    i: int,
    *,
    own: float = 1,
    other: float = 1,
    shift: int = 0,
    lengths: Callable[[Tensor], Tensor] = _lengths,
    then: Callable[[Tensor], Tensor] = _as_it_is,
) -> Tensor:
    """The cosines, with the mistakes that are set: `own` and `other` are the powers of the two lengths."""
    word = table[i + shift]
    return then(table @ word / (lengths(table) ** other * lengths(word) ** own))


COSINE = Exercise(
    id="words_in_a_bag.cosine",
    lesson=LESSON,
    name="cosine_similarities",
    title="How alike two words are",
    statement=(
        "cosine_similarities(table [vocabulary, d_model], i) -> [vocabulary]: the cosine of the angle between word i's "
        "vector and each word's, a · b / (|a| |b|)."
    ),
    points=2,
    minutes=8,
    section="Which words are alike?",
    source="S3, related words have similar vectors",
    reference=bags.cosine_similarities,
    cases=_cosine_cases,
    correct=correct.COSINE,
    misconceptions=(
        Misconception(
            "dot_product",
            "Your answer is the dot product alone, which grows with the vectors' lengths. Divide it by both lengths, "
            "|a| and |b|.",
            partial(_cosines, own=0, other=0),
        ),
        Misconception(
            "own_length_only",
            "Your answer divides by the length of word i's vector only. Divide by the length of the other vector as "
            "well.",
            partial(_cosines, own=1, other=0),
        ),
        Misconception(
            "other_length_only",
            "Your answer divides by the length of the other word's vector only. Divide by that of word i as well, so "
            "that a word is exactly 1 like itself.",
            partial(_cosines, own=0, other=1),
        ),
        Misconception(
            "own_length_twice",
            "Your answer divides by the square of the length of word i's vector. One of the two lengths is the other "
            "word's: divide by |a| |b|.",
            partial(_cosines, own=2, other=0),
        ),
        Misconception(
            "other_length_twice",
            "Your answer divides by the square of the other word's length. One of the two lengths is that of word i: "
            "divide by |a| |b|, lengths * lengths[i].",
            partial(_cosines, own=0, other=2),
        ),
        Misconception(
            "squared_lengths",
            "Your answer divides by the squared lengths: the root is missing. The length of a vector is the root of "
            "the sum of its squares.",
            partial(_cosines, own=2, other=2),
        ),
        Misconception(
            "root_of_the_lengths",
            "Your answer divides by the root of |a| |b|. A length is a root already: divide by the product itself.",
            partial(_cosines, own=0.5, other=0.5),
        ),
        Misconception(
            "multiplied_by_own_length",
            "Your answer divides by the other word's length and multiplies by that of word i: / and * go from left to "
            "right. Put the product in brackets: / (lengths * lengths[i]).",
            partial(_cosines, own=-1, other=1),
        ),
        Misconception(
            "multiplied_by_other_length",
            "Your answer divides by the length of word i and multiplies by the other word's: / and * go from left to "
            "right. Put the product in brackets: / (lengths[i] * lengths).",
            partial(_cosines, own=1, other=-1),
        ),
        Misconception(
            "length_of_the_table",
            "Your answer takes the norm of the whole table for the length of each word. Every row has a length of its "
            "own: table.norm(dim=-1).",
            partial(_cosines, lengths=torch.linalg.vector_norm),
        ),
        Misconception(
            "lengths_of_columns",
            "Your answer takes the lengths of the table's columns. Words are its rows: sum the squares over dim=-1.",
            lambda table, i: (table / table.norm(dim=0)) @ (table / table.norm(dim=0))[i],
        ),
        Misconception(
            "lengths_as_a_column",
            "Your answer has numbers for all pairs of words, for it divides the dot products, [vocabulary], by a "
            "column of lengths, [vocabulary, 1]. Leave keepdim out: table.norm(dim=-1).",
            partial(_cosines, lengths=lambda table: table.norm(dim=-1, keepdim=True)),
        ),
        Misconception(
            "lengths_added",
            "Your answer divides by the sum of the two lengths. Divide by their product.",
            lambda table, i: table @ table[i] / (_lengths(table) + _lengths(table)[i]),
        ),
        Misconception(
            "sums_for_lengths",
            "Your answer takes the sum of a vector's absolute values for its length. The length is the root of the "
            "sum of its squares: table.norm(dim=-1).",
            partial(_cosines, lengths=lambda table: table.abs().sum(dim=-1)),
        ),
        Misconception(
            "counted_from_one",
            "Your answer compares with the word before word i. Words are counted from 0: take table[i].",
            partial(_cosines, shift=-1),
        ),
        Misconception(
            "distance",
            "Your answer is the distance between the vectors, which is 0 for the word itself. Take the dot product "
            "divided by both lengths: 1 for the word itself.",
            lambda table, i: (table - table[i]).norm(dim=-1),
        ),
        Misconception(
            "one_minus",
            "Your answer subtracts from 1, which makes a distance: 0 for the word itself. Return the cosine itself.",
            partial(_cosines, then=lambda cosines: 1 - cosines),
        ),
        Misconception(
            "angle",
            "Your answer is the angle between the vectors. Its cosine was asked for: leave out the acos.",
            partial(_cosines, then=lambda cosines: cosines.clamp(-1, 1).acos()),
        ),
        Misconception(
            "absolute",
            "Your answer has lost the signs. Vectors that point away from each other have a negative cosine: take no "
            "absolute value, and no square.",
            partial(_cosines, then=torch.abs),
        ),
        Misconception(
            "negative_to_zero",
            "Your answer has 0 where vectors point away from each other. Their cosine is negative: keep it, without "
            "clamp or ReLU.",
            partial(_cosines, then=torch.relu),
        ),
        Misconception(
            "softmax_on_top",
            "Your answer ends in a softmax. Return the cosines themselves: they need not sum to 1.",
            partial(_cosines, then=lambda cosines: cosines.softmax(dim=-1)),
        ),
        Misconception(
            "all_pairs",
            "Your answer holds the cosines of all pairs of words. Only those of word i were asked for: row i of it.",
            lambda table, i: (table @ table.T) / (_lengths(table).unsqueeze(1) * _lengths(table)),
        ),
        Misconception(
            "dimension_kept",
            "Your answer has one dimension too many: a column instead of [vocabulary]. Remove it with squeeze(-1), or "
            "multiply by a vector.",
            partial(_cosines, then=lambda cosines: cosines.unsqueeze(-1)),
        ),
    ),
    withheld=WITHHELD,
    forbidden=("cosine_similarity", "CosineSimilarity"),
)


# words_in_a_bag.mean_pooling -------------------------------------------------------------------------------


def _pooling_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        x = torch.tensor(
            [[[2.0, -1.0], [9.0, 9.0], [9.0, 9.0]], [[1.0, 0.0], [2.0, 3.0], [0.0, 1.5]]],
        )
        mask = torch.tensor([[True, False, False], [True, True, True]])
        yield Case("worked example: meow, and two paddings", (x, mask), gradients=(0,))
    for name, dtype, transposed in (
        ("a batch of sentences", torch.float32, False),
        ("double precision", torch.float64, False),
        ("transposed in memory", torch.float32, True),
    ):
        batch, words = integer(generator, 3, 5), integer(generator, 5, 8)
        kind = Kind(name, generator, (batch,), dtype=dtype, transposed=transposed)
        x = kind.normal(words, kind.d_head())
        x[0, -1] = x[1, 0] = 0  # padding, and a word: by their numbers nobody can tell
        yield Case(name, (x, _padded(generator, batch, words)), gradients=(0,))
    batch, words = 3, integer(generator, 5, 8)
    scattered = _padded(generator, batch, words, spare=1)[:, torch.randperm(words + 1, generator=generator)]
    x = torch.randn(batch, words + 1, 4, generator=generator)
    yield Case("padding between the words", (x, scattered), gradients=(0,))
    some = _padded(generator, batch, words)
    some[2] = False
    yield Case(
        "a sentence without words",
        (torch.randn(batch, words, 4, generator=generator), some),
        gradients=(0,),
        part="sentences without words",
    )


def _words_of(x: Tensor, mask: Tensor) -> Tensor:
    """The words, with zeros where there is padding."""
    return x * mask.unsqueeze(-1)


def _number(mask: Tensor) -> Tensor:
    """How many words each sentence has, [batch, 1]."""
    return mask.sum(dim=1, keepdim=True)


def _pooled(
    x: Tensor,
    mask: Tensor,
    *,
    padding: str = "",
    words: Callable[[Tensor, Tensor], Tensor] = lambda x, mask: mask,
    number: Callable[[Tensor], Tensor] = _number,
    least: int = 1,
    more: float = 0.0,
    arriving: Callable[[Tensor], Tensor] = _as_it_is,
    then: Callable[[Tensor], Tensor] = _as_it_is,
) -> Tensor:
    """The mean of the words, with the mistakes that are set: padding may count in the "sum", the "number" or "both"."""
    x, mask = arriving(x), words(x, mask)
    total = (x if padding in ("sum", "both") else _words_of(x, mask)).sum(dim=1)
    counted = number(torch.ones_like(mask) if padding in ("number", "both") else mask)
    return then(total / (counted.clamp(min=least) + more))


def _inverted(x: Tensor, mask: Tensor) -> Tensor:
    return ~mask


def _of_the_batch(mask: Tensor) -> Tensor:
    return mask.sum()


def _not_divided(mask: Tensor) -> Tensor:
    return torch.ones_like(_number(mask))


def _without_keepdim(mask: Tensor) -> Tensor:
    return mask.sum(dim=1)


def _root(mask: Tensor) -> Tensor:
    return _number(mask).sqrt()


MEAN_POOLING = Exercise(
    id="words_in_a_bag.mean_pooling",
    lesson=LESSON,
    name="mean_pooling",
    title="The mean of the words",
    statement=(
        "mean_pooling(x [batch, words, d_model], mask bool [batch, words]) -> [batch, d_model]: the mean of each "
        "sentence's words, which are where the mask is True; zeros for a sentence without words."
    ),
    points=4,
    minutes=15,
    section="A sentence is the mean of its words",
    source="S3, a simple model: mean pooling",
    reference=bags.mean_pooling,
    cases=_pooling_cases,
    parts={CORE: 3, "sentences without words": 1},
    correct=correct.MEAN_POOLING,
    misconceptions=(
        Misconception(
            "nan_without_words",
            "Where nothing is left to average, your answer is NaN: 0 / 0, or a softmax of nothing but -inf. Divide by "
            "1 there, for example with clamp(min=1), and a sentence without words gets zeros.",
            partial(_pooled, least=0),
        ),
        Misconception(
            "nan_of_the_words_alone",
            "Where nothing is left to average, your answer is NaN: 0 / 0, or a softmax of nothing but -inf. Divide by "
            "1 there, for example with clamp(min=1), and a sentence without words gets zeros.",
            lambda x, mask: x.masked_fill(~mask.unsqueeze(-1), 0).sum(dim=1) / _number(mask),
        ),
        Misconception(
            "nan_in_the_gradient",
            "The values are right, but the gradient of a sentence without words is NaN: you divide 0 by 0 and mend "
            "the result afterwards, which does not mend its gradient. Divide by 1 there: clamp(min=1).",
            lambda x, mask: torch.nan_to_num(_words_of(x, mask).sum(dim=1) / _number(mask)),
            alone=True,
        ),
        Misconception(
            "padding_where_no_words",
            "For a sentence without words your answer is the mean of its padding, as from a softmax of scores that are "
            "all equally low. Such a sentence gets zeros.",
            lambda x, mask: torch.where(mask.any(dim=1, keepdim=True), _pooled(x, mask), x.mean(dim=1)),
            alone=True,
        ),
        Misconception(
            "padding_counted",
            "Your answer is the mean over all positions, padding included, as on slide S3: a sentence's vector then "
            "depends on its neighbours in the batch. Add the words up where the mask is True, and divide by their "
            "number.",
            partial(_pooled, padding="both"),
        ),
        Misconception(
            "padding_counted_in_the_number",
            "Your answer adds up the right words, but divides by the number of all positions, padding included. "
            "Divide each sentence by the number of its own words.",
            partial(_pooled, padding="number"),
        ),
        Misconception(
            "padding_added_up",
            "Your answer adds the vectors of padding up as well, although it does not count them. Multiply them by 0 "
            "first: x * mask.unsqueeze(-1).",
            partial(_pooled, padding="sum"),
        ),
        Misconception(
            "sum",
            "Your answer is a sum. Divide each sentence by the number of its words.",
            partial(_pooled, number=_not_divided),
        ),
        Misconception(
            "words_of_the_whole_batch",
            "Your answer divides by the number of words in the whole batch. Each sentence has its own: "
            "mask.sum(dim=1, keepdim=True).",
            partial(_pooled, number=_of_the_batch),
        ),
        Misconception(
            "words_of_the_longest",
            "Your answer divides every sentence by the number of words in the longest. Each has its own: "
            "mask.sum(dim=1, keepdim=True).",
            partial(_pooled, number=lambda mask: _number(mask).max()),
        ),
        Misconception(
            "root_of_the_number",
            "Your answer divides by the root of the number of words. Divide by the number itself.",
            partial(_pooled, number=_root),
        ),
        Misconception(
            "number_without_keepdim",
            "Your answer divides columns by the numbers of words, not rows: a number for each sentence, [batch], is "
            "laid along the last dimension. Keep the dimension: mask.sum(dim=1, keepdim=True).",
            partial(_pooled, number=_without_keepdim),
        ),
        Misconception(
            "inverted",
            "Your answer takes the padding for the words. The mask is True at words: use it as it comes.",
            partial(_pooled, words=_inverted),
        ),
        Misconception(
            "words_by_their_numbers",
            "Your answer takes every vector that is not all zeros for a word, and never uses the mask. Padding has a "
            "vector of its own, and a word's may be zeros: go by the mask.",
            partial(_pooled, words=lambda x, mask: (x != 0).any(dim=-1)),
        ),
        Misconception(
            "words_of_zeros_left_out",
            "Your answer does not count a word whose vector is all zeros. A word is where the mask is True, whatever "
            "its numbers are: count the Trues of the mask.",
            lambda x, mask: _words_of(x, mask).sum(dim=1) / _number(mask & (x != 0).any(dim=-1)).clamp(min=1),
        ),
        Misconception(
            "first_words",
            "Your answer takes the first words of each sentence, as many as the mask has Trues. Padding need not "
            "stand at the end: take the words where the mask is True.",
            partial(_pooled, words=lambda x, mask: torch.arange(mask.shape[1]) < _number(mask)),
        ),
        Misconception(
            "over_the_batch",
            "Your answer takes the mean over the batch (dim=0), which mixes different sentences. The words of a "
            "sentence are dim=1.",
            lambda x, mask: _words_of(x, mask).sum(dim=0) / mask.sum(dim=0).clamp(min=1).unsqueeze(-1),
        ),
        Misconception(
            "over_the_components",
            "Your answer takes the mean over a vector's components (dim=-1), one number for each word. Take it over "
            "the words, dim=1: one vector for each sentence.",
            lambda x, mask: x.mean(dim=-1),
        ),
        Misconception(
            "one_mean_for_the_batch",
            "Your answer is one vector, the mean of all the words of the batch: x[mask] no longer says which sentence "
            "a word is from. Each sentence has a mean of its own, [batch, d_model].",
            lambda x, mask: x[mask].mean(dim=0),
        ),
        Misconception(
            "maximum",
            "Your answer takes the largest value in each component. Mean pooling takes the mean of the words.",
            lambda x, mask: x.masked_fill(~mask.unsqueeze(-1), torch.finfo(x.dtype).min).amax(dim=1),
        ),
        Misconception(
            "maximum_with_padding",
            "Your answer takes the largest value in each component, padding included. Mean pooling takes the mean of "
            "the words.",
            lambda x, mask: x.amax(dim=1),
        ),
        Misconception(
            "first_word",
            "Your answer is the first position alone. Take the mean of all the words.",
            lambda x, mask: x[:, 0],
        ),
        Misconception(
            "dimension_kept",
            "Your answer is [batch, 1, d_model]: leave out the keepdim of the sum over the words, or end with "
            "squeeze(1).",
            partial(_pooled, then=lambda means: means.unsqueeze(1)),
        ),
        Misconception(
            "detached",
            "No gradient reaches `x` from your answer: somewhere you use .data, .detach(), numpy, no_grad or "
            "torch.tensor(...). Without it the embeddings can never be learned.",
            partial(_pooled, arriving=Tensor.detach),
        ),
        Misconception(
            "one_more",
            "Your answer divides by the number of words plus one. That avoids a division by 0, but makes every mean "
            "too small. clamp(min=1) changes nothing but the 0.",
            partial(_pooled, more=1),
        ),
        Misconception(
            "small_number_added",
            "Your answer adds a small number, 1e-6, to the number of words. That avoids a division by 0, but makes "
            "every mean a little too small. clamp(min=1) changes nothing but the 0.",
            partial(_pooled, more=1e-6),
        ),
    ),
    listed_pairs=(
        Pair(
            "inverted",
            "nan_of_the_words_alone",
            lambda x, mask: x.masked_fill(mask.unsqueeze(-1), 0).sum(dim=1) / _number(~mask),
        ),
    ),
    withheld=WITHHELD,
)


# words_in_a_bag.same_vector --------------------------------------------------------------------------------


_WORDS = ("the", "a", "dog", "cat", "cow", "mouse", "chased", "saw", "only", "slept", "never", "god", "was", "on", "no")
"""Among them some that are others with their letters shuffled."""


def _shuffled(words: list[str], rng: random.Random) -> str:
    """The words in another order."""
    while (drawn := rng.sample(words, len(words))) == words:
        pass
    return " ".join(drawn)


def _same_vector_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: who chased whom", ("the dog chased the cat", "the cat chased the dog"))
        yield Case("the same sentence", ("the cat slept", "the cat slept"))
        yield Case("where only stands", ("she only eats pizza", "only she eats pizza"))
        yield Case("another word", ("the animal was too tired", "the animal was too wide"))
        yield Case("one word more often", ("the dog saw the cat", "the dog saw cat"))
        yield Case("the same words, other counts", ("no no no dog", "no dog dog dog"))
        yield Case("the same letters", ("the dog was on", "the god saw no"))
        yield Case("laughing longer", ("ha", "ha ha ha"))
        yield Case("two of each, three of each", ("ha ha oh oh", "ha ha ha oh oh oh"))
        yield Case("nearly as many", ("ha oh", " ".join(["ha"] * 6 + ["oh"] * 5)))
        yield Case("twice as often, and once more", ("ha ha ha ha oh oh oh oh oh", "ha ha oh oh"))
        yield Case("said twice", ("meow meow cat", "cat meow meow cat meow meow"))
        yield Case("a word more", ("the dog slept", "the old dog slept"))
        yield Case("a word less", ("the old dog slept", "the dog slept"))
        yield Case("laughing less", ("ha ha ha", "ha"))
        yield Case("backwards", ("a cow saw the dog", "dog the saw cow a"))
        yield Case("other words, as often", ("the cat saw the dog", "a cow chased a mouse"))
        return
    rng = random.Random(int(torch.randint(2**31, (), generator=generator)))
    for number in range(1, 3):
        words = rng.sample(_WORDS[:11], 5) + ["the", "the"]
        text = " ".join(words)
        yield Case(f"another order, {number}", (text, _shuffled(words, rng)))
        yield Case(f"the same sentence, {number}", (text, text))
        yield Case(f"backwards, {number}", (text, " ".join(reversed(words))))
        yield Case(f"another word, {number}", (text, _shuffled([*words[1:], "penguin"], rng)))
        yield Case(f"other counts, {number}", (text, _shuffled([*words[:-1], words[0]], rng)))
        several = _shuffled(words * (number + 1), rng)
        yield Case(f"said {number + 1} times", (text, several) if number == 1 else (several, text))
        yield Case(f"a word once more, {number}", (text, _shuffled([*words, words[0]], rng)))
        yield Case(f"a word more, {number}", (text, _shuffled([*words, "penguin"], rng)))
        yield Case(f"a word less, {number}", (_shuffled([*words, "penguin"], rng), text))
        yield Case(f"the same letters, {number}", (f"the dog {text}", f"the god {text}"))
        yield Case(f"{number + 1} times and {number + 2} times", _repeated(words, number + 1, number + 2, rng))
        yield Case(f"{number + 2} times and {number + 1} times", _repeated(words, number + 2, number + 1, rng))
    a, b = rng.sample(_WORDS, 2)
    for times in (rng.randint(5, 9), rng.randint(50, 60)):
        nearly = _shuffled([a] * (times + 1) + [b] * times, rng)
        yield Case(f"{times + 1} of one and {times} of the other are nearly halves", (f"{a} {b}", nearly))
    times = rng.randint(2, 4)
    halves = _shuffled([a] * times + [b] * times, rng)
    yield Case("twice as often, and once more", (_shuffled([a] * 2 * times + [b] * (2 * times + 1), rng), halves))


def _repeated(words: list[str], first: int, second: int, rng: random.Random) -> tuple[str, str]:
    """The same words so and so many times, in other orders."""
    return _shuffled(words * first, rng), _shuffled(words * second, rng)


def _counts(words: Sequence[str]) -> dict[str, int]:
    return dict(Counter(words))


def _shares(words: Sequence[str]) -> dict[str, Fraction]:
    return {word: Fraction(times, len(words)) for word, times in Counter(words).items()}


def _alike(
    first: str,
    second: str,
    *,
    compared: Callable[[Sequence[str]], object] = _shares,
    parts: Callable[[str], Sequence[str]] = str.split,
    then: Callable[[bool], object] = bool,
) -> object:
    """Whether two sentences are alike in what is compared of their words, or of other parts."""
    return then(compared(parts(first)) == compared(parts(second)))


def _in_whole_multiples(first: str, second: str) -> bool:
    shorter, longer = sorted((first.split(), second.split()), key=len)
    return sorted(shorter * (len(longer) // len(shorter))) == sorted(longer)


def _alike_in(words: Sequence[str], first: str, second: str) -> bool:
    """Whether each of some words has the same share of both."""
    ours, theirs = _shares(first.split()), _shares(second.split())
    return all(ours.get(word, 0) == theirs.get(word, 0) for word in words)


SAME_VECTOR = Exercise(
    id="words_in_a_bag.same_vector",
    lesson=LESSON,
    name="same_vector",
    title="Predict: which sentences look alike?",
    statement=(
        "same_vector(first, second) -> bool: whether mean pooling gives two sentences (str, words between spaces) the "
        "same vector, whatever the embeddings are."
    ),
    points=2,
    minutes=10,
    section="What a bag forgets",
    source="S3, order matters",
    reference=bags.same_vector,
    cases=_same_vector_cases,
    correct=correct.SAME_VECTOR,
    misconceptions=(
        Misconception(
            "counts_must_be_equal",
            "Your answer is True only where everything occurs equally often in both. Nearly: `ha` and `ha ha ha` have "
            "the same mean. Compare shares: a word's count, divided by the number of words in its own sentence.",
            partial(_alike, compared=_counts),
        ),
        Misconception(
            "order_matters",
            "You expect that the order of the words changes their mean. It does not: a sum is the same in every "
            "order, and so is a mean. Compare which words there are, and how often.",
            lambda first, second: first == second,
        ),
        Misconception(
            "repeated_in_order",
            "You allow for a sentence that is said several times, but expect the order of its words to matter. A sum "
            "is the same in every order: sort the words before you compare them.",
            lambda first, second: first.split() * len(second.split()) == second.split() * len(first.split()),
        ),
        Misconception(
            "words_without_counts",
            "Your answer asks only which words occur, not how often. A word that stands there twice pulls the mean "
            "twice as hard: compare each word's share of its sentence.",
            partial(_alike, compared=set),
        ),
        Misconception(
            "words_and_length",
            "Your answer asks which words occur, and how many words there are in all. It depends on how often each of "
            "them occurs: compare each word's share of its sentence.",
            partial(_alike, compared=lambda words: (set(words), len(words))),
        ),
        Misconception(
            "counts_without_words",
            "Your answer compares how often words occur, and not which ones. Other words have other vectors: compare "
            "word by word, each with its share of the sentence.",
            partial(_alike, compared=lambda words: sorted(Counter(words).values())),
        ),
        Misconception(
            "divided_by_the_smallest_count",
            "Your answer divides the counts by the smallest of them and drops what remains: two and three become one "
            "and one. Divide by the number of words in the sentence, with / and not //.",
            partial(
                _alike,
                compared=lambda words: {word: n // min(_counts(words).values()) for word, n in _counts(words).items()},
            ),
        ),
        Misconception(
            "most_frequent_word",
            "Your answer compares the most frequent word of each sentence. All words count: compare the share of each.",
            partial(_alike, compared=lambda words: Counter(words).most_common(1)[0][0]),
        ),
        Misconception(
            "letters",
            "Your answer compares letters. The bag holds words: `dog` and `god` have different vectors. Split the "
            "sentences at their spaces.",
            partial(_alike, parts=lambda text: list(text.replace(" ", ""))),
        ),
        Misconception(
            "as_many_words",
            "Your answer compares how many words there are. Which words they are matters, and how large a share each "
            "has; how many does not.",
            partial(_alike, compared=len),
        ),
        Misconception(
            "whole_multiples",
            "Your answer allows one sentence to be said a whole number of times in the other. Two times and three "
            "times have the same mean as well: compare shares, or repeat each as often as the other has words.",
            _in_whole_multiples,
        ),
        Misconception(
            "second_as_a_multiple",
            "Your answer allows the second sentence to be the first one several times, and not the other way round. "
            "Compare shares, or repeat each sentence as often as the other has words.",
            lambda first, second: (
                sorted(first.split() * (len(second.split()) // len(first.split()))) == sorted(second.split())
            ),
        ),
        Misconception(
            "shares_rounded",
            "Your answer rounds the shares to one decimal, so that nearly the same share passes for the same. Compare "
            "them as they are, or as fractions: a / m equals b / n where a * n equals b * m.",
            partial(_alike, compared=lambda words: {word: round(share, 1) for word, share in _shares(words).items()}),
        ),
        Misconception(
            "first_in_second",
            "Your answer asks whether the second sentence has all the words of the first. It may have others, and have "
            "them more often: compare each word's share of its sentence, for the words of both.",
            lambda first, second: set(first.split()) <= set(second.split()),
        ),
        Misconception(
            "common_words_only",
            "Your answer compares the shares of those words only that both sentences have. A word of one alone changes "
            "the mean, too: go through the words of both, set(a) | set(b).",
            lambda first, second: _alike_in([*{*first.split()} & {*second.split()}], first, second),
        ),
        Misconception(
            "one_word_decides",
            "Your answer looks at the first word alone: a return in a loop ends it in its first round. Return False "
            "where a share differs, and True only after the loop.",
            lambda first, second: _alike_in(first.split()[:1], first, second),
        ),
        Misconception(
            "cut_to_the_shorter",
            "Your answer compares the sorted words one by one only until the shorter sentence ends, as zip does. "
            "Compare each word's share of its sentence.",
            lambda first, second: all(map(str.__eq__, sorted(first.split()), sorted(second.split()))),
        ),
        Misconception(
            "always",
            "You expect the same vector for any two sentences. A sentence with other words has another mean: compare "
            "which words there are, and how large a share each has.",
            lambda first, second: True,
        ),
        Misconception(
            "never",
            "You expect that no two sentences have the same vector. Sums do not depend on the order, so `the dog "
            "chased the cat` and `the cat chased the dog` do: compare which words there are, and their shares.",
            lambda first, second: False,
        ),
        Misconception(
            "inverted",
            "Your answer is True where it should be False, and the other way round. Return True where the two vectors "
            "are the same.",
            partial(_alike, then=lambda same: not same),
        ),
    ),
    withheld=WITHHELD,
)


# words_in_a_bag.bag_of_embeddings --------------------------------------------------------------------------


def _weights(generator: Generator, vocabulary: int, d_model: int, classes: int) -> dict[str, Tensor]:
    return {
        "embedding.weight": torch.randn(vocabulary, d_model, generator=generator),
        "output.weight": torch.randn(classes, d_model, generator=generator),
        "output.bias": torch.randn(classes, generator=generator),
    }


def _bag_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(
            "worked example: the dog chased the cat, and the cat slept",
            (
                torch.tensor([[1, 2, 3, 1, 4], [1, 4, 5, 0, 0]]),
                torch.tensor([[True] * 5, [True] * 3 + [False] * 2]),
            ),
            construct={"vocabulary": 6, "d_model": 2, "classes": 3},
            weights={
                "embedding.weight": torch.tensor(
                    [[5.0, 5.0], [0.1, 0.1], [2.0, 0.5], [1.0, -1.5], [1.8, 0.9], [-0.6, 0.3]]
                ),
                "output.weight": torch.tensor([[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]]),
                "output.bias": torch.tensor([0.5, -0.25, 0.125]),
            },
            weight_gradients=True,
        )
    for name, batch, dtype in (
        ("a batch", integer(generator, 3, 5), torch.float32),
        ("weights in double precision", 4, torch.float64),
        ("a batch of one sentence", 1, torch.float32),
    ):
        words = integer(generator, 5, 8)
        vocabulary, d_model, classes = integer(generator, 10, 15), *sizes(generator, 2)
        # No word has id 0, which an answer may keep for padding (padding_idx); but padding may have any.
        mask = _padded(generator, max(batch, 2), words, spare=1)[:batch]
        mask[2:3] = torch.arange(words + 1) == 0  # a sentence of one word
        anything = _ids(generator, 5, batch, words + 1)
        ids = torch.where(mask, 1 + _ids(generator, vocabulary - 1, batch, words + 1), anything)
        weights = _weights(generator, vocabulary, d_model, classes)
        yield Case(
            name,
            (ids, mask),
            construct={"vocabulary": vocabulary, "d_model": d_model, "classes": classes},
            weights={name: weight.to(dtype) for name, weight in weights.items()},
            weight_gradients=True,
            part=CORE if dtype == torch.float32 else "double precision",
        )


class _Bag(nn.Module):
    """A class like `course_lib.bags.BagClassifier`, with the mistakes that are set; others are those of `_pooled`."""

    def __init__(
        self,
        vocabulary: int,
        d_model: int,
        classes: int,
        *,
        taken: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] = lambda ids, mask: (ids, mask),
        pooled: Callable[..., Tensor] = _pooled,
        hidden: Callable[[Tensor], Tensor] = _as_it_is,
        decided: Callable[[nn.Linear, Tensor], Tensor] = lambda output, mean: output(mean),
        then: Callable[[Tensor], Tensor] = _as_it_is,
        padding_idx: int | None = None,
        **mistakes: Any,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, d_model, padding_idx=padding_idx)
        self.output = nn.Linear(d_model, classes)
        self.steps = taken, partial(pooled, **{"least": 0, **mistakes}), hidden, decided, then

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        taken, pooled, hidden, decided, then = self.steps
        ids, mask = taken(ids, mask)
        return then(decided(self.output, hidden(pooled(self.embedding(ids), mask))))


BAG_OF_EMBEDDINGS = Exercise(
    id="words_in_a_bag.bag_of_embeddings",
    lesson=LESSON,
    name="BagClassifier",
    title="A bag of embeddings that decides",
    statement=(
        "class BagClassifier(nn.Module): __init__(vocabulary, d_model, classes) makes `embedding` (nn.Embedding) and "
        "`output` (nn.Linear); forward(ids int [batch, words], mask bool [batch, words]) -> [batch, classes] is the "
        "linear layer of the mean of each sentence's embeddings, padding left out."
    ),
    points=4,
    minutes=15,
    section="A classifier",
    source="S3, a simple model",
    reference=bags.BagClassifier,
    cases=_bag_cases,
    parts={CORE: 3, "double precision": 1},
    correct=correct.BAG_OF_EMBEDDINGS,
    misconceptions=(
        Misconception(
            "padding_counted",
            "Your answer takes the mean over all positions, padding included, as on slide S3. Add up the words where "
            "the mask is True, and divide by their number.",
            partial(_Bag, padding="both"),
        ),
        Misconception(
            "padding_counted_in_the_number",
            "Your answer adds up the right words, but divides by the number of all positions, padding included. "
            "Divide each sentence by the number of its own words.",
            partial(_Bag, padding="number"),
        ),
        Misconception(
            "padding_added_up",
            "Your answer adds the vectors of padding up as well, although it does not count them. Multiply them by 0 "
            "first: x * mask.unsqueeze(-1).",
            partial(_Bag, padding="sum"),
        ),
        Misconception(
            "sum",
            "Your answer adds the words up and does not divide. Take the mean: divide each sentence by the number of "
            "its words.",
            partial(_Bag, number=_not_divided),
        ),
        Misconception(
            "words_of_the_whole_batch",
            "Your answer divides by the number of words in the whole batch. Each sentence has its own: "
            "mask.sum(dim=1, keepdim=True).",
            partial(_Bag, number=_of_the_batch),
        ),
        Misconception(
            "root_of_the_number",
            "Your answer divides by the root of the number of words. Divide by the number itself.",
            lambda **sizes: _Bag(**sizes, number=_root),
        ),
        Misconception(
            "number_without_keepdim",
            "Your answer divides columns by the numbers of words, not rows: a number for each sentence, [batch], is "
            "laid along the last dimension. Keep the dimension: mask.sum(dim=1, keepdim=True).",
            partial(_Bag, number=_without_keepdim),
        ),
        Misconception(
            "one_more",
            "Your answer divides by the number of words plus one, which makes every mean too small. Every sentence "
            "has a word: divide by the number itself.",
            lambda **sizes: _Bag(**sizes, more=1),
        ),
        Misconception(
            "inverted",
            "Your answer takes the padding for the words, and is NaN where there is none. The mask is True at words: "
            "use it as it comes.",
            partial(_Bag, words=_inverted),
        ),
        Misconception(
            "inverted_and_clamped",
            "Your answer takes the padding for the words. The mask is True at words: use it as it comes.",
            lambda **sizes: _Bag(**sizes, words=_inverted, least=1),
        ),
        Misconception(
            "padding_is_zero",
            "Your answer takes every id but 0 for a word, and never uses the mask. Padding is where the mask is "
            "False, whatever id stands there.",
            partial(_Bag, taken=lambda ids, mask: (ids, ids != 0)),
        ),
        Misconception(
            "ids_multiplied_by_the_mask",
            "Your answer multiplies the ids by the mask, which makes word 0 of the padding, and word 0 has a vector as "
            "well. Multiply the vectors, after the embedding: x * mask.unsqueeze(-1).",
            partial(_Bag, taken=lambda ids, mask: (ids * mask, mask), padding="sum"),
        ),
        Misconception(
            "ids_multiplied_and_counted",
            "Your answer multiplies the ids by the mask, which makes word 0 of the padding, and takes the mean over "
            "all positions. Multiply the vectors by the mask, and divide by the number of words.",
            partial(_Bag, taken=lambda ids, mask: (ids * mask, mask), padding="both"),
        ),
        Misconception(
            "first_word",
            "Your answer takes the first word alone. Take the mean of all the words.",
            lambda **sizes: _Bag(**sizes, pooled=lambda x, mask, **_: x[:, 0]),
        ),
        Misconception(
            "over_the_batch",
            "Your answer takes the mean over the batch (dim=0), which mixes different sentences. The words of a "
            "sentence are dim=1.",
            lambda **sizes: _Bag(**sizes, pooled=lambda x, mask, **_: _words_of(x, mask).mean(dim=0)),
        ),
        Misconception(
            "maximum",
            "Your answer takes the largest value in each component of a sentence's words. Take their mean.",
            partial(
                _Bag,
                pooled=lambda x, mask, **_: x.masked_fill(~mask.unsqueeze(-1), torch.finfo(x.dtype).min).amax(dim=1),
            ),
        ),
        Misconception(
            "not_pooled",
            "Your answer gives every word numbers of its own, [batch, words, classes]. Take the mean over the words "
            "of a sentence.",
            partial(_Bag, pooled=lambda x, mask, **_: x),
        ),
        Misconception(
            "zeroed_and_not_pooled",
            "Your answer gives every position numbers of its own, [batch, words, classes]. Sum over the words of a "
            "sentence, dim=1, and divide by their number.",
            lambda **sizes: _Bag(**sizes, pooled=lambda x, mask, **_: _words_of(x, mask)),
        ),
        Misconception(
            "probabilities",
            "Your answer ends in a softmax. Return the numbers before it, the logits: the loss takes the softmax "
            "itself.",
            partial(_Bag, then=lambda logits: logits.softmax(dim=-1)),
        ),
        Misconception(
            "log_probabilities",
            "Your answer ends in a log softmax. Return the numbers before it, the logits.",
            partial(_Bag, then=lambda logits: logits.log_softmax(dim=-1)),
        ),
        Misconception(
            "softmax_over_the_batch",
            "Your answer ends in a softmax, and over the sentences of the batch at that. Return the numbers before it, "
            "the logits: the loss takes the softmax itself.",
            lambda **sizes: _Bag(**sizes, then=lambda logits: logits.softmax(dim=0)),
        ),
        Misconception(
            "sigmoid_at_the_end",
            "Your answer ends in a sigmoid. Return the linear layer's numbers as they are: the loss takes logits.",
            partial(_Bag, then=torch.sigmoid),
        ),
        Misconception(
            "relu_at_the_end",
            "Your answer ends in a ReLU, so that no class can have a negative number. Return the linear layer's "
            "numbers as they are.",
            lambda **sizes: _Bag(**sizes, then=torch.relu),
        ),
        Misconception(
            "classes_picked",
            "Your answer is the class with the largest number. Return the numbers of all classes, [batch, classes]: "
            "the loss needs them, and an argmax has no gradient.",
            partial(_Bag, then=lambda logits: logits.argmax(dim=-1)),
        ),
        Misconception(
            "no_output_layer",
            "Your answer has [batch, d_model] numbers: no output layer comes after the pooling. Put the mean through "
            "self.output: one number for each class.",
            partial(_Bag, decided=lambda output, mean: mean),
        ),
        Misconception(
            "bias_left_out",
            "Your answer multiplies by the output layer's weights, but leaves out its bias. Call the layer: "
            "self.output(...).",
            partial(_Bag, decided=lambda output, mean: mean @ output.weight.T),
        ),
        Misconception(
            "bias_twice",
            "Your answer adds the output layer's bias twice. The layer adds it when it is called: self.output(...) is "
            "all.",
            partial(_Bag, decided=lambda output, mean: output(mean) + output.bias),
        ),
        Misconception(
            "hidden_activation",
            "Your answer sets the negative components of the mean to 0 (a ReLU) before the output layer. This model "
            "has none: embeddings, mean, one linear layer.",
            partial(_Bag, hidden=torch.relu),
        ),
        Misconception(
            "hidden_tanh",
            "Your answer puts the mean through a tanh before the output layer. This model has none: embeddings, mean, "
            "one linear layer.",
            lambda **sizes: _Bag(**sizes, hidden=torch.tanh),
        ),
        Misconception(
            "embeddings_detached",
            "No gradient reaches the embeddings from your answer: somewhere you use .data, .detach(), numpy, no_grad "
            "or torch.tensor(...). They could never be learned.",
            partial(_Bag, arriving=Tensor.detach),
        ),
        Misconception(
            "padding_counted_with_padding_idx",
            "Your answer takes the mean over all positions, padding included: padding_idx=0 only keeps the gradient "
            "from one row, which is not 0 here. Leave out the positions where the mask is False.",
            lambda **sizes: _Bag(**sizes, padding="both", padding_idx=0),
        ),
    ),
    withheld=WITHHELD,
)


# words_in_a_bag.accuracy -----------------------------------------------------------------------------------


def _accuracy_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        logits = torch.tensor([[1.2, -0.3], [0.1, 0.4], [-2.0, -1.0], [0.9, 0.8]])
        yield Case("worked example: three of four", (logits, torch.tensor([0, 1, 0, 0])))
    for classes in (3, 5):
        examples = integer(generator, 11, 20)
        logits = torch.randn(examples, classes, generator=generator)
        labels = torch.where(
            torch.rand(examples, generator=generator) < 0.6,
            logits.argmax(dim=-1),
            torch.randint(classes, (examples,), generator=generator),
        )
        labels[0], labels[1] = logits[0].argmax(), logits[1].argmin()
        yield Case(f"{classes} classes", (logits, labels))
    square = torch.randn(4, 4, generator=generator)
    labels = square.argmax(dim=-1)
    labels[0] = square[0].argmin()
    yield Case("as many examples as classes", (square, labels))
    logits = torch.randn(7, 3, generator=generator) - 4
    labels = logits.argmax(dim=-1)
    labels[2] = logits[2].argmin()
    yield Case("all numbers below 0", (logits, labels))
    rows = [torch.arange(5), *(torch.randperm(5, generator=generator) for _ in range(integer(generator, 3, 6)))]
    whole = torch.stack(rows).double()
    yield Case("whole numbers in double precision, all right", (whole, whole.argmax(dim=-1)))


def _mean_of(right: Tensor) -> Tensor:
    return right.float().mean()


def _accuracy(
    logits: Tensor,
    labels: Tensor,
    *,
    picked: Callable[[Tensor], Tensor] = lambda logits: logits.argmax(dim=-1),
    shift: int = 0,
    compared: Callable[[Tensor, Tensor], Tensor] = torch.eq,
    then: Callable[[Tensor], object] = _mean_of,
) -> object:
    """The accuracy, with the mistakes that are set."""
    return then(compared(picked(logits) + shift, labels))


ACCURACY = Exercise(
    id="words_in_a_bag.accuracy",
    lesson=LESSON,
    name="accuracy",
    title="How often it is right",
    statement=(
        "accuracy(logits [examples, classes], labels int [examples]) -> []: the share of examples whose largest logit "
        "is that of the right class, a float32 tensor from 0 to 1."
    ),
    points=1,
    minutes=6,
    section="How good is it?",
    source="S1, evaluating a classifier",
    reference=bags.logits_accuracy,
    cases=_accuracy_cases,
    correct=correct.ACCURACY,
    misconceptions=(
        Misconception(
            "number_of_right_ones",
            "Your answer is a number of examples. Divide by how many there are: the mean of right (1) and wrong (0).",
            partial(_accuracy, then=lambda right: right.float().sum()),
        ),
        Misconception(
            "number_of_right_ones_as_an_integer",
            "Your answer is a number of examples. Divide by how many there are: the mean of right (1) and wrong (0), "
            "as a float.",
            partial(_accuracy, then=torch.sum),
        ),
        Misconception(
            "percent",
            "Your answer is in percent. Return a share, from 0 to 1.",
            partial(_accuracy, then=lambda right: 100 * _mean_of(right)),
        ),
        Misconception(
            "divided_by_the_classes",
            "Your answer divides by the number of classes. Divide by the number of examples, len(labels).",
            lambda logits, labels: (logits.argmax(-1) == labels).sum() / logits.shape[-1],
        ),
        Misconception(
            "divided_by_all_logits",
            "Your answer divides by the number of logits, examples times classes. Divide by the number of examples, "
            "len(labels).",
            lambda logits, labels: (logits.argmax(-1) == labels).sum() / logits.numel(),
        ),
        Misconception(
            "divided_without_remainder",
            "Your answer is 0 unless every example is right: // drops what is behind the point, and so does a test of "
            "all at once. Divide with /, or take the mean.",
            partial(_accuracy, then=lambda right: right.all().float()),
        ),
        Misconception(
            "not_averaged",
            "Your answer still has one entry for each example. Take the mean over them: one number.",
            partial(_accuracy, then=Tensor.float),
        ),
        Misconception(
            "error_rate",
            "Your answer counts the wrong answers. Accuracy is the share of right ones.",
            partial(_accuracy, compared=torch.ne),
        ),
        Misconception(
            "mean_probability",
            "Your answer is the mean probability of the right class. Accuracy asks only whether the right class comes "
            "first: compare the argmax with the label.",
            lambda logits, labels: logits.softmax(-1)[torch.arange(len(labels)), labels].mean(),
        ),
        Misconception(
            "values_compared",
            "Your answer compares the largest logit itself with the label. Compare the place where it stands: argmax, "
            "or the indices that max gives beside the values.",
            partial(_accuracy, picked=lambda logits: logits.amax(dim=-1)),
        ),
        Misconception(
            "smallest",
            "Your answer takes the class with the smallest number. The model's answer is the one with the largest: "
            "argmax.",
            partial(_accuracy, picked=lambda logits: logits.argmin(dim=-1)),
        ),
        Misconception(
            "largest_absolute_value",
            "Your answer takes the class whose number is largest without its sign. Large negative logits are unlikely "
            "classes: take the argmax of the logits as they are.",
            partial(_accuracy, picked=lambda logits: logits.abs().argmax(dim=-1)),
        ),
        Misconception(
            "over_the_examples",
            "Your answer takes the argmax over the examples (dim=0). Each example has its own answer, the largest over "
            "the classes: dim=-1.",
            partial(_accuracy, picked=lambda logits: logits.argmax(dim=0)),
        ),
        Misconception(
            "all_with_all",
            "Your answer compares every answer with every label: with keepdim the answers are a column, [examples, 1]. "
            "Leave keepdim out.",
            partial(_accuracy, picked=lambda logits: logits.argmax(dim=-1, keepdim=True)),
        ),
        Misconception(
            "counted_from_one",
            "Your answer counts the classes from 1. Labels count from 0, and so does argmax: compare them as they are.",
            partial(_accuracy, shift=1),
        ),
        Misconception(
            "two_classes_only",
            "Your answer asks only whether class 1 has a larger number than class 0. There may be more classes: take "
            "the argmax of each row.",
            partial(_accuracy, picked=lambda logits: (logits[:, 1] > logits[:, 0]).long()),
        ),
        Misconception(
            "right_class_above_zero",
            "Your answer asks whether the right class's number is above 0. All may be, or none: ask whether it is the "
            "largest of its row.",
            lambda logits, labels: (logits[torch.arange(len(labels)), labels] > 0).float().mean(),
        ),
        Misconception(
            "probability_above_one_half",
            "Your answer asks whether the right class has a probability above one half. Among several classes the "
            "winner may have less: ask whether it is the largest of its row.",
            lambda logits, labels: _mean_of(logits.softmax(-1)[torch.arange(len(labels)), labels] > 0.5),
        ),
        Misconception(
            "largest_above_zero",
            "Your answer says class 0 where all numbers of a row are below 0: a search for the largest that begins "
            "with 0 finds none. Begin with the first number of the row, or take argmax.",
            partial(_accuracy, picked=lambda logits: logits.clamp(min=0).argmax(dim=-1)),
        ),
        Misconception(
            "python_number",
            "Your answer is a Python float. Return a tensor of shape [], without .item() or float(...).",
            partial(_accuracy, then=lambda right: _mean_of(right).item()),
        ),
        Misconception(
            "double_precision",
            "Your answer is in double precision, float64. The task asks for float32: .float().",
            partial(_accuracy, then=lambda right: right.double().mean()),
        ),
    ),
    withheld=WITHHELD,
)


# words_in_a_bag.majority -----------------------------------------------------------------------------------


def _majority_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: two classes", (torch.tensor([1, 0, 1, 1, 0]), torch.tensor([0, 1, 0, 0, 1, 0, 0])))
    for classes in (2, 3, 5):
        yield Case(f"{classes} classes, others in the test than in training", _labels(generator, classes))
    common = integer(generator, 5, 9)
    yield Case(
        "labels with gaps, and a class that training never saw",
        (
            torch.tensor([3, common, 1, common, 3, common]),
            torch.tensor([common] * 2 + [2] * 3 + [4] * integer(generator, 5, 9) + [3] * 4 + [1]),
        ),
    )
    yield Case(
        "a majority that the test has none of",
        (torch.tensor([0, common, 1, common]), torch.tensor([1, 0, 1] * integer(generator, 1, 4))),
    )


def _labels(generator: Generator, classes: int) -> tuple[Tensor, Tensor]:
    """Labels of training and of the test, each of them another number of times in the test.

    Of three classes or more, training's most frequent one is neither the median nor nearest to the mean, and taken
    together both sides have another most frequent one.
    """
    drawn = torch.randperm(classes, generator=generator).tolist()
    common = next(label for label in drawn if classes == 2 or label != classes // 2)
    least, *between = [label for label in drawn if label != common]
    training, test = [common] * 5 + [least] * 3, [common] * 2 + [least] * (3 if classes == 2 else classes + 3)
    for times, label in enumerate(between, 3):
        training += [label] * 4
        test += [label] * times
    first, second = (
        torch.tensor(labels)[torch.randperm(len(labels), generator=generator)] for labels in (training, test)
    )
    return first, second


def _most_frequent(labels: Tensor) -> Tensor:
    return torch.bincount(labels).argmax()


def _baseline(
    training_labels: Tensor,
    test_labels: Tensor,
    *,
    counted: Callable[[Tensor, Tensor], Tensor] = lambda training, test: training,
    label: Callable[[Tensor], Tensor] = _most_frequent,
    measured: Callable[[Tensor, Tensor], Tensor] = lambda training, test: test,
    compared: Callable[[Tensor, Tensor], Tensor] = torch.eq,
    then: Callable[[Tensor], object] = _mean_of,
) -> object:
    """The majority baseline, with the mistakes that are set."""
    answer = label(counted(training_labels, test_labels))
    return then(compared(measured(training_labels, test_labels), answer))


MAJORITY = Exercise(
    id="words_in_a_bag.majority",
    lesson=LESSON,
    name="majority_accuracy",
    title="The majority baseline",
    statement=(
        "majority_accuracy(training_labels int [training], test_labels int [test]) -> []: the accuracy on the test of "
        "always answering with the most frequent label of training."
    ),
    points=2,
    minutes=8,
    section="How good is it?",
    source="S1, evaluating a classifier",
    reference=bags.majority_accuracy,
    cases=_majority_cases,
    correct=correct.MAJORITY,
    misconceptions=(
        Misconception(
            "majority_of_the_test",
            "Your answer takes the most frequent label of the test. That would be peeking: nobody knows the test's "
            "labels beforehand. Take the most frequent one of training.",
            partial(_baseline, counted=lambda training, test: test),
        ),
        Misconception(
            "majority_of_both",
            "Your answer takes the most frequent label of training and test together. That is peeking as well: nobody "
            "knows the test's labels beforehand. Count in training alone.",
            partial(_baseline, counted=lambda training, test: torch.cat([training, test])),
        ),
        Misconception(
            "share_in_training",
            "Your answer measures on the training labels. Measure the baseline where every model is measured: on the "
            "test labels.",
            partial(_baseline, measured=lambda training, test: training),
        ),
        Misconception(
            "median_label",
            "Your answer takes the median of the labels. Labels are names, and have no middle: count how often each "
            "occurs, with torch.bincount, and take the argmax of the counts.",
            partial(_baseline, label=torch.median),
        ),
        Misconception(
            "mean_label",
            "Your answer takes the label nearest to the mean. Labels are names, and have no mean: count how often each "
            "occurs, with torch.bincount, and take the argmax of the counts.",
            partial(_baseline, label=lambda labels: labels.double().mean().round()),
        ),
        Misconception(
            "largest_label",
            "Your answer takes the largest label, not the most frequent one. Count first, with torch.bincount, then "
            "take the argmax of the counts.",
            partial(_baseline, label=torch.max),
        ),
        Misconception(
            "smallest_label",
            "Your answer takes the smallest label, not the most frequent one. Count first, with torch.bincount, then "
            "take the argmax of the counts.",
            partial(_baseline, label=torch.min),
        ),
        Misconception(
            "first_label",
            "Your answer takes the first label, not the most frequent one. (A Counter of tensors counts each of them "
            "once, for no two are the same object: give it a list, labels.tolist().)",
            partial(_baseline, label=lambda labels: labels[0]),
        ),
        Misconception(
            "place_of_the_largest_label",
            "Your answer takes the argmax of the labels themselves: the place where the largest one stands. Count "
            "first, with torch.bincount, then take the argmax of the counts.",
            partial(_baseline, label=torch.argmax),
        ),
        Misconception(
            "place_among_the_labels",
            "Your answer takes a place among the labels that occur for the label itself. The two differ where a label "
            "is missing: torch.unique returns the labels as well, take the one at that place.",
            partial(_baseline, label=lambda labels: labels.unique(return_counts=True)[1].argmax()),
        ),
        Misconception(
            "count_for_the_label",
            "Your answer takes how often the most frequent label occurs for the label itself: the max of the counts. "
            "Take their argmax.",
            partial(_baseline, label=lambda labels: torch.bincount(labels).max()),
        ),
        Misconception(
            "counted_from_one",
            "Your answer takes the label behind the most frequent one. Place 0 of torch.bincount counts the label 0, "
            "and so on: add nothing to the argmax.",
            partial(_baseline, label=lambda labels: _most_frequent(labels) + 1),
        ),
        Misconception(
            "least_frequent",
            "Your answer takes the least frequent label. The baseline answers with the most frequent one.",
            partial(_baseline, label=lambda labels: torch.bincount(labels).argmin()),
        ),
        Misconception(
            "one_of_the_classes",
            "Your answer is 1 divided by the number of training's classes, which is guessing at random. Count how "
            "often the majority's label is right in the test.",
            lambda training_labels, test_labels: torch.tensor(1 / len(torch.unique(training_labels))),
        ),
        Misconception(
            "guessing_in_proportion",
            "Your answer is what guessing each label as often as in training gives on average. The baseline always "
            "gives one and the same answer: training's most frequent label.",
            lambda training_labels, test_labels: _mean_of(training_labels.unsqueeze(0) == test_labels.unsqueeze(1)),
        ),
        Misconception(
            "the_label_itself",
            "Your answer is the most frequent label. Return how often it is right in the test, a share from 0 to 1.",
            lambda training_labels, test_labels: _most_frequent(training_labels),
        ),
        Misconception(
            "number_of_right_ones",
            "Your answer is a number of labels. Divide by how many there are.",
            partial(_baseline, then=lambda right: right.float().sum()),
        ),
        Misconception(
            "divided_by_training",
            "Your answer divides by the number of training labels. The right answers are counted in the test: divide "
            "by the number of test labels.",
            lambda training_labels, test_labels: (
                (test_labels == _most_frequent(training_labels)).sum() / len(training_labels)
            ),
        ),
        Misconception(
            "error_rate",
            "Your answer counts the wrong ones. Return how often the majority's label is right.",
            partial(_baseline, compared=torch.ne),
        ),
        Misconception(
            "python_number",
            "Your answer is a Python float. Return a tensor of shape [], without .item() or float(...).",
            partial(_baseline, then=lambda right: _mean_of(right).item()),
        ),
    ),
    withheld=WITHHELD,
)


# words_in_a_bag.parameters ---------------------------------------------------------------------------------


def _parameter_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: the slide's sizes, and BERT's 30,522 words", (30_522, 128, 128, 2))
        yield Case("another hidden_dim, which changes nothing", (30_522, 128, 999, 2))
    for number in range(1, 4):
        sizes_drawn = (
            integer(generator, 1000, 50_000),
            integer(generator, 20, 60),
            integer(generator, 61, 99),
            integer(generator, 3, 9),
        )
        yield Case(f"sizes {number}", sizes_drawn)


Count = Callable[[int, int, int, int], int]


def _counted(
    vocabulary: int,
    d_model: int,
    hidden_dim: int,
    classes: int,
    *,
    table: Count = lambda v, d, h, c: v * d,
    weights: Count = lambda v, d, h, c: d * c,
    biases: Count = lambda v, d, h, c: c,
) -> int:
    """The sum of the three, with the mistakes that are set."""
    return sum(count(vocabulary, d_model, hidden_dim, classes) for count in (table, weights, biases))


PARAMETERS = Exercise(
    id="words_in_a_bag.parameters",
    lesson=LESSON,
    name="count_parameters",
    title="How many numbers it learns",
    statement=(
        "count_parameters(vocabulary, d_model, hidden_dim, classes) -> int: how many numbers the slide's model learns, "
        "in its embedding and its output layer."
    ),
    points=1,
    minutes=5,
    section="What it costs",
    source="S3, a simple model: `hidden_dim` is never used",
    reference=bags.count_bag_parameters,
    cases=_parameter_cases,
    correct=correct.PARAMETERS,
    misconceptions=(
        Misconception(
            "hidden_layer_counted",
            "Your answer counts a hidden layer. The slide's constructor is given a `hidden_dim`, but nothing uses it: "
            "there are only the embedding and one linear layer from d_model to the classes.",
            partial(_counted, weights=lambda v, d, h, c: d * h + h * c, biases=lambda v, d, h, c: h + c),
        ),
        Misconception(
            "hidden_layer_beside",
            "Your answer counts a hidden layer beside the linear one. The slide's constructor is given a `hidden_dim`, "
            "but nothing uses it: there are only the embedding and one linear layer.",
            partial(_counted, weights=lambda v, d, h, c: d * h + d * c, biases=lambda v, d, h, c: h + c),
        ),
        Misconception(
            "hidden_layer_without_its_bias",
            "Your answer counts a hidden layer, without a bias. The slide's constructor is given a `hidden_dim`, but "
            "nothing uses it: there are only the embedding and one linear layer from d_model to the classes.",
            partial(_counted, weights=lambda v, d, h, c: d * h + h * c),
        ),
        Misconception(
            "hidden_dim_added",
            "Your answer adds hidden_dim to the sum. It is a number that the slide's constructor is given, and nothing "
            "uses it: no number is learned for it.",
            lambda vocabulary, d_model, hidden_dim, classes: (
                vocabulary * d_model + hidden_dim + (d_model + 1) * classes
            ),
        ),
        Misconception(
            "output_from_hidden_dim",
            "Your answer lets the linear layer read hidden_dim numbers. The slide's reads the mean of the embeddings, "
            "which has d_model.",
            partial(_counted, weights=lambda v, d, h, c: h * c),
        ),
        Misconception(
            "output_from_the_vocabulary",
            "Your answer lets the linear layer read a number for each word of the vocabulary. It reads the mean of "
            "the embeddings, which has d_model.",
            partial(_counted, weights=lambda v, d, h, c: v * c),
        ),
        Misconception(
            "hidden_dim_in_the_table",
            "Your answer gives the embeddings hidden_dim numbers each. They have d_model; nothing uses hidden_dim.",
            partial(_counted, table=lambda v, d, h, c: v * h),
        ),
        Misconception(
            "bias_forgotten",
            "Your answer leaves out the linear layer's bias: one more number for each class.",
            partial(_counted, biases=lambda v, d, h, c: 0),
        ),
        Misconception(
            "one_bias",
            "Your answer gives the linear layer a single bias. It has one for each of its outputs, the classes.",
            partial(_counted, biases=lambda v, d, h, c: 1),
        ),
        Misconception(
            "bias_for_each_component",
            "Your answer gives the linear layer a bias for each of its inputs. It has one for each of its outputs, "
            "the classes.",
            partial(_counted, biases=lambda v, d, h, c: d),
        ),
        Misconception(
            "embedding_alone",
            "Your answer counts the embedding only. The linear layer has d_model weights and a bias for each class.",
            partial(_counted, weights=lambda v, d, h, c: 0, biases=lambda v, d, h, c: 0),
        ),
        Misconception(
            "output_layer_alone",
            "Your answer counts the linear layer only. The embedding has d_model numbers for each word, which is "
            "nearly everything.",
            partial(_counted, table=lambda v, d, h, c: 0),
        ),
        Misconception(
            "bias_for_each_word",
            "Your answer gives the embedding a bias for each word as well. An embedding is a table and nothing else: "
            "vocabulary × d_model numbers.",
            partial(_counted, table=lambda v, d, h, c: v * d + v),
        ),
        Misconception(
            "one_row_more",
            "Your answer counts d_model numbers too many. The embedding has a row for each word of the vocabulary, "
            "with no other one for padding, and no bias.",
            lambda vocabulary, d_model, hidden_dim, classes: (vocabulary + 1 + classes) * d_model + classes,
        ),
        Misconception(
            "two_tables",
            "Your answer counts the embedding twice. Pooling learns nothing: one table, and one linear layer.",
            partial(_counted, table=lambda v, d, h, c: 2 * v * d),
        ),
    ),
    withheld=WITHHELD,
)


EXERCISES = (
    LOOK_UP,
    COSINE,
    MEAN_POOLING,
    SAME_VECTOR,
    BAG_OF_EMBEDDINGS,
    ACCURACY,
    MAJORITY,
    PARAMETERS,
)
"""In the order of the lesson."""
