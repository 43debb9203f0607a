"""The exercises of lesson 00: embeddings, a sentence as the mean of its words, and a classifier made of it.

Built like those of `course_lib/exercises/attention.py`; read that file first.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator

import torch
from torch import Generator, Tensor, nn

from course_lib import bags
from course_lib.checking.exercise import CORE, Case, Exercise, Misconception
from course_lib.exercises.common import Kind, integer, sizes
from course_lib.exercises.correct import words_in_a_bag as correct
from course_lib.masking import padding_mask

LESSON = "00_words_in_a_bag"
WITHHELD = ("course_lib.bags", "course_lib.scoring")

DOG_CHASED_CAT = torch.tensor([[1, 2, 3, 1, 4]])
"""The ids of *the dog chased the cat*, where the is 1."""


def _ids(generator: Generator, vocabulary: int, *shape: int) -> Tensor:
    """Random ids of the whole vocabulary, of words that occur more than once."""
    drawn = torch.randint(vocabulary, shape, generator=generator)
    drawn[..., 1] = drawn[..., 0]
    return drawn


def _padded(generator: Generator, batch: int, words: int) -> Tensor:
    """The mask of a batch whose first sentence fills half of its row, and another one all of it."""
    lengths = torch.randint(1, words + 1, (batch,), generator=generator)
    lengths[0], lengths[1] = words // 2, words
    return padding_mask(lengths, words)


# words_in_a_bag.look_up ------------------------------------------------------------------------------------


def _look_up_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        table = torch.tensor([[0.0, 0.0], [0.1, 0.1], [2.0, 0.5], [1.0, -1.5], [1.8, 0.9]])
        yield Case("worked example: the dog chased the cat", (table, DOG_CHASED_CAT[0]))
    for name, leading, dtype in (
        ("one sentence", (), torch.float32),
        ("a batch of sentences", (integer(generator, 3, 5),), torch.float32),
        ("a batch of one sentence", (1,), torch.float32),
        ("double precision", (2,), torch.float64),
    ):
        kind = Kind(name, generator, dtype=dtype)
        words, vocabulary = integer(generator, 4, 7), integer(generator, 20, 30)
        table = kind.normal(vocabulary, kind.d_head())
        yield Case(name, (table, _ids(generator, vocabulary, *leading, words)))
    table = torch.randn(6, 4, generator=generator)
    yield Case("a sentence of one word", (table, torch.tensor([integer(generator, 1, 6)])))


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
            lambda table, ids: table[ids - 1],
        ),
        Misconception(
            "one_row_further",
            "Your answer takes the row behind the right one. Rows are counted from 0: take row i for the id i.",
            lambda table, ids: table[(ids + 1) % len(table)],
        ),
        Misconception(
            "each_word_once",
            "Your answer has each word only once, in the order of the ids. A sentence may repeat a word: one row for "
            "every word, in the order of the sentence.",
            lambda table, ids: table[torch.unique(ids)],
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
            lambda table, ids: table[ids].sum(dim=-2),
        ),
        Misconception(
            "averaged",
            "Your answer is the mean of a sentence's words already. That comes later: here every word keeps a vector "
            "of its own, one row each.",
            lambda table, ids: table[ids].mean(dim=-2),
        ),
        Misconception(
            "transposed",
            "Your answer has the components as rows and the words as columns. One row for each word: leave out the "
            "transpose.",
            lambda table, ids: table[ids].mT,
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
            lambda table, i: table @ table[i],
        ),
        Misconception(
            "own_length_only",
            "Your answer divides by the length of word i's vector only. Divide by the length of the other vector as "
            "well.",
            lambda table, i: table @ table[i] / table[i].norm(),
        ),
        Misconception(
            "other_length_only",
            "Your answer divides by the length of the other word's vector only. Divide by that of word i as well, so "
            "that a word is exactly 1 like itself.",
            lambda table, i: table @ table[i] / _lengths(table),
        ),
        Misconception(
            "squared_lengths",
            "Your answer divides by the squared lengths: the root is missing. The length of a vector is the root of "
            "the sum of its squares.",
            lambda table, i: table @ table[i] / (_lengths(table) * _lengths(table)[i]) ** 2,
        ),
        Misconception(
            "lengths_of_columns",
            "Your answer takes the lengths of the table's columns. Words are its rows: sum the squares over dim=-1.",
            lambda table, i: (table / table.norm(dim=0)) @ (table / table.norm(dim=0))[i],
        ),
        Misconception(
            "lengths_added",
            "Your answer divides by the sum of the two lengths. Divide by their product.",
            lambda table, i: table @ table[i] / (_lengths(table) + _lengths(table)[i]),
        ),
        Misconception(
            "distance",
            "Your answer is the distance between the vectors, which is 0 for the word itself. Take the dot product "
            "divided by both lengths: 1 for the word itself.",
            lambda table, i: (table - table[i]).norm(dim=-1),
        ),
        Misconception(
            "one_minus",
            "Your answer is 1 minus the cosine, which is a distance: 0 for the word itself. Return the cosine itself.",
            lambda table, i: 1 - bags.cosine_similarities(table, i),
        ),
        Misconception(
            "absolute",
            "Your answer has lost the signs. Vectors that point away from each other have a negative cosine: take no "
            "absolute value, and no square.",
            lambda table, i: bags.cosine_similarities(table, i).abs(),
        ),
        Misconception(
            "all_pairs",
            "Your answer holds the cosines of all pairs of words. Only those of word i were asked for: row i of it.",
            lambda table, i: (table @ table.T) / (_lengths(table).unsqueeze(1) * _lengths(table)),
        ),
        Misconception(
            "dimension_kept",
            "The numbers are right, but your answer has one dimension too many: a column or a row instead of "
            "[vocabulary]. Remove it with squeeze, or multiply by a vector.",
            lambda table, i: bags.cosine_similarities(table, i).unsqueeze(-1),
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
        yield Case(name, (kind.normal(words, kind.d_head()), _padded(generator, batch, words)), gradients=(0,))
    batch, words = 3, integer(generator, 5, 8)
    scattered = _padded(generator, batch, words)[:, torch.randperm(words, generator=generator)]
    yield Case(
        "padding between the words", (torch.randn(batch, words, 4, generator=generator), scattered), gradients=(0,)
    )
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
            "Your answer is right for sentences with words. Without any it divides 0 by 0, which is NaN: divide by 1 "
            "there, for example with clamp(min=1).",
            lambda x, mask: _words_of(x, mask).sum(dim=1) / _number(mask),
        ),
        Misconception(
            "nan_of_the_words_alone",
            "Your answer is right for sentences with words. Without any it divides 0 by 0, which is NaN: divide by 1 "
            "there, for example with clamp(min=1).",
            lambda x, mask: x.masked_fill(~mask.unsqueeze(-1), 0).sum(dim=1) / _number(mask),
        ),
        Misconception(
            "nan_in_the_gradient",
            "The values are right, but the gradient of a sentence without words is NaN: you divide 0 by 0 and mend "
            "the result afterwards, which does not mend its gradient. Divide by 1 there: clamp(min=1).",
            lambda x, mask: torch.nan_to_num(_words_of(x, mask).sum(dim=1) / _number(mask)),
        ),
        Misconception(
            "padding_counted",
            "Your answer is the mean over all positions, padding included, as on slide S3: a sentence's vector then "
            "depends on its neighbours in the batch. Add the words up where the mask is True, and divide by their "
            "number.",
            lambda x, mask: x.mean(dim=1),
        ),
        Misconception(
            "padding_counted_in_the_number",
            "Your answer adds up the right words, but divides by the number of all positions, padding included. "
            "Divide each sentence by the number of its own words.",
            lambda x, mask: _words_of(x, mask).mean(dim=1),
        ),
        Misconception(
            "padding_added_up",
            "Your answer divides by the right number, but adds the vectors of padding up as well. Multiply them by 0 "
            "first: x * mask.unsqueeze(-1).",
            lambda x, mask: x.sum(dim=1) / _number(mask).clamp(min=1),
        ),
        Misconception(
            "sum",
            "Your answer is the sum of the words. Divide each sentence by the number of its words.",
            lambda x, mask: _words_of(x, mask).sum(dim=1),
        ),
        Misconception(
            "words_of_the_whole_batch",
            "Your answer divides by the number of words in the whole batch. Each sentence has its own: "
            "mask.sum(dim=1, keepdim=True).",
            lambda x, mask: _words_of(x, mask).sum(dim=1) / mask.sum(),
        ),
        Misconception(
            "inverted",
            "Your answer is the mean of the padding. The mask is True at words: use it as it comes.",
            lambda x, mask: _words_of(x, ~mask).sum(dim=1) / _number(~mask).clamp(min=1),
        ),
        Misconception(
            "over_the_batch",
            "Your answer takes the mean over the batch (dim=0), which mixes different sentences. The words of a "
            "sentence are dim=1.",
            lambda x, mask: _words_of(x, mask).sum(dim=0) / mask.sum(dim=0).clamp(min=1).unsqueeze(-1),
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
            "The numbers are right, but your answer is [batch, 1, d_model]: leave out the keepdim of the sum over the "
            "words, or end with squeeze(1).",
            lambda x, mask: bags.mean_pooling(x, mask).unsqueeze(1),
        ),
        Misconception(
            "detached",
            "The values are right, but no gradient reaches `x`: somewhere you use .data, .detach(), numpy or "
            "torch.tensor(...). Without it the embeddings can never be learned.",
            lambda x, mask: bags.mean_pooling(x.detach(), mask),
        ),
        Misconception(
            "number_without_keepdim",
            "Your answer divides columns by the numbers of words, not rows: a number for each sentence, [batch], is "
            "laid along the last dimension. Keep the dimension: mask.sum(dim=1, keepdim=True).",
            lambda x, mask: _words_of(x, mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1),
        ),
        Misconception(
            "one_more",
            "Your answer divides by the number of words plus one. That avoids a division by 0, but makes every mean "
            "too small. clamp(min=1) changes nothing but the 0.",
            lambda x, mask: _words_of(x, mask).sum(dim=1) / (_number(mask) + 1),
        ),
        Misconception(
            "small_number_added",
            "Your answer adds a small number, 1e-6, to the number of words. That avoids a division by 0, but makes "
            "every mean a little too small. clamp(min=1) changes nothing but the 0.",
            lambda x, mask: _words_of(x, mask).sum(dim=1) / (_number(mask) + 1e-6),
        ),
        Misconception(
            "first_words",
            "Your answer takes the first words of each sentence, as many as the mask has Trues. Padding need not "
            "stand at the end: take the words where the mask is True.",
            lambda x, mask: torch.stack(
                [
                    words[: int(kept.sum())].sum(dim=0) / max(int(kept.sum()), 1)
                    for words, kept in zip(x, mask, strict=True)
                ]
            ),
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
        return
    rng = random.Random(int(torch.randint(2**31, (), generator=generator)))
    for number in range(1, 3):
        words = rng.sample(_WORDS[:11], 5) + ["the", "the"]
        text = " ".join(words)
        yield Case(f"another order, {number}", (text, _shuffled(words, rng)))
        yield Case(f"the same sentence, {number}", (text, text))
        yield Case(f"another word, {number}", (text, _shuffled([*words[1:], "penguin"], rng)))
        yield Case(f"other counts, {number}", (text, _shuffled([*words[:-1], words[0]], rng)))
        yield Case(f"said {number + 1} times", (text, _shuffled(words * (number + 1), rng)))
        yield Case(f"a word once more, {number}", (text, _shuffled([*words, words[0]], rng)))
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


def _counts(text: str) -> Counter[str]:
    return Counter(text.split())


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
            "Your answer is True only where every word occurs equally often in both. Nearly: `ha` and `ha ha ha` have "
            "the same mean. Compare shares: a word's count, divided by the number of words in its own sentence.",
            lambda first, second: _counts(first) == _counts(second),
        ),
        Misconception(
            "order_matters",
            "You expect that the order of the words changes their mean. It does not: a sum is the same in every "
            "order, and so is a mean. Compare which words there are, and how often.",
            lambda first, second: first == second,
        ),
        Misconception(
            "words_without_counts",
            "Your answer asks only which words occur, not how often. A word that stands there twice pulls the mean "
            "twice as hard: compare each word's share of its sentence.",
            lambda first, second: set(first.split()) == set(second.split()),
        ),
        Misconception(
            "letters",
            "Your answer compares letters. The bag holds words: `dog` and `god` have different vectors. Split the "
            "sentences at their spaces.",
            lambda first, second: sorted(first) == sorted(second),
        ),
        Misconception(
            "as_many_words",
            "Your answer compares how many words there are. Which words they are matters, and how large a share each "
            "has; how many does not.",
            lambda first, second: len(first.split()) == len(second.split()),
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
            "Your answer is the opposite of the right one in every case. Return True where the two vectors are the "
            "same.",
            lambda first, second: not bags.same_vector(first, second),
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
    for name in ("a batch", "another batch", "a third batch"):
        batch, words = integer(generator, 3, 5), integer(generator, 5, 8)
        vocabulary, d_model, classes = integer(generator, 10, 15), *sizes(generator, 2)
        # No word has id 0, which an answer may keep for padding (padding_idx); but padding may have any.
        mask = _padded(generator, batch, words)
        mask[-1] = torch.arange(words) == 0  # a sentence of one word
        ids = torch.where(mask, 1 + _ids(generator, vocabulary - 1, batch, words), _ids(generator, 5, batch, words))
        yield Case(
            name,
            (ids, mask),
            construct={"vocabulary": vocabulary, "d_model": d_model, "classes": classes},
            weights=_weights(generator, vocabulary, d_model, classes),
            weight_gradients=True,
        )


def _bag(forward: Callable[[nn.Module, nn.Module, Tensor, Tensor], Tensor]) -> type[nn.Module]:
    """A class like `course_lib.bags.BagClassifier` whose forward is `forward(embedding, output, ids, mask)`."""

    class BagClassifier(nn.Module):
        def __init__(self, vocabulary: int, d_model: int, classes: int) -> None:
            super().__init__()
            self.embedding = nn.Embedding(vocabulary, d_model)
            self.output = nn.Linear(d_model, classes)

        def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
            return forward(self.embedding, self.output, ids, mask)

    return BagClassifier


class _WithPaddingIndex(nn.Module):
    def __init__(self, vocabulary: int, d_model: int, classes: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, d_model, padding_idx=0)
        self.output = nn.Linear(d_model, classes)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        logits: Tensor = self.output(self.embedding(ids).mean(dim=1))
        return logits


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
    correct=correct.BAG_OF_EMBEDDINGS,
    misconceptions=(
        Misconception(
            "padding_counted",
            "Your answer takes the mean over all positions, padding included, as on slide S3. Add up the words where "
            "the mask is True, and divide by their number.",
            _bag(lambda embedding, output, ids, mask: output(embedding(ids).mean(dim=1))),
        ),
        Misconception(
            "padding_counted_in_the_number",
            "Your answer adds up the right words, but divides by the number of all positions, padding included. "
            "Divide each sentence by the number of its own words.",
            _bag(lambda embedding, output, ids, mask: output(_words_of(embedding(ids), mask).mean(dim=1))),
        ),
        Misconception(
            "sum",
            "Your answer adds the words up and does not divide. Take the mean: divide each sentence by the number of "
            "its words.",
            _bag(lambda embedding, output, ids, mask: output(_words_of(embedding(ids), mask).sum(dim=1))),
        ),
        Misconception(
            "probabilities",
            "Your answer is the softmax of the right numbers. Return the numbers before it, the logits: the loss "
            "takes the softmax itself.",
            _bag(lambda embedding, output, ids, mask: output(bags.mean_pooling(embedding(ids), mask)).softmax(-1)),
        ),
        Misconception(
            "log_probabilities",
            "Your answer is the log softmax of the right numbers. Return the numbers before it, the logits.",
            _bag(lambda embedding, output, ids, mask: output(bags.mean_pooling(embedding(ids), mask)).log_softmax(-1)),
        ),
        Misconception(
            "classes_picked",
            "Your answer is the class with the largest number. Return the numbers of all classes, [batch, classes]: "
            "the loss needs them, and an argmax has no gradient.",
            _bag(lambda embedding, output, ids, mask: output(bags.mean_pooling(embedding(ids), mask)).argmax(-1)),
        ),
        Misconception(
            "no_output_layer",
            "Your answer is the mean of the words, [batch, d_model]. Put it through self.output: one number for each "
            "class.",
            _bag(lambda embedding, output, ids, mask: bags.mean_pooling(embedding(ids), mask)),
        ),
        Misconception(
            "not_pooled",
            "Your answer gives every word numbers of its own, [batch, words, classes]. Take the mean over the words "
            "of a sentence.",
            _bag(lambda embedding, output, ids, mask: output(embedding(ids))),
        ),
        Misconception(
            "bias_left_out",
            "Your answer multiplies by the output layer's weights, but leaves out its bias. Call the layer: "
            "self.output(...).",
            _bag(
                lambda embedding, output, ids, mask: (
                    bags.mean_pooling(embedding(ids), mask) @ output.get_parameter("weight").T
                )
            ),
        ),
        Misconception(
            "hidden_activation",
            "Your answer sets the negative components of the mean to 0 (a ReLU) before the output layer. This model "
            "has none: embeddings, mean, one linear layer.",
            _bag(lambda embedding, output, ids, mask: output(bags.mean_pooling(embedding(ids), mask).relu())),
        ),
        Misconception(
            "maximum",
            "Your answer takes the largest value in each component of a sentence's words. Take their mean.",
            _bag(
                lambda embedding, output, ids, mask: output(
                    embedding(ids).masked_fill(~mask.unsqueeze(-1), torch.finfo(torch.float32).min).amax(dim=1)
                )
            ),
        ),
        Misconception(
            "embeddings_detached",
            "The values are right, but no gradient reaches the embeddings: somewhere you use .data, .detach(), numpy "
            "or torch.tensor(...). They could never be learned.",
            _bag(lambda embedding, output, ids, mask: output(bags.mean_pooling(embedding(ids).detach(), mask))),
        ),
        Misconception(
            "padding_is_zero",
            "Your answer takes every id but 0 for a word, and never uses the mask. Padding is where the mask is "
            "False, whatever id stands there.",
            _bag(lambda embedding, output, ids, mask: output(bags.mean_pooling(embedding(ids), ids != 0))),
        ),
        Misconception(
            "padding_counted_with_padding_idx",
            "Your answer takes the mean over all positions, padding included: padding_idx=0 only keeps the gradient "
            "from one row, which is not 0 here. Leave out the positions where the mask is False.",
            _WithPaddingIndex,
        ),
        Misconception(
            "sigmoid_at_the_end",
            "Your answer ends in a sigmoid. Return the linear layer's numbers as they are: the loss takes logits.",
            _bag(lambda embedding, output, ids, mask: torch.sigmoid(output(bags.mean_pooling(embedding(ids), mask)))),
        ),
        Misconception(
            "relu_at_the_end",
            "Your answer ends in a ReLU, so that no class can have a negative number. Return the linear layer's "
            "numbers as they are.",
            _bag(lambda embedding, output, ids, mask: torch.relu(output(bags.mean_pooling(embedding(ids), mask)))),
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


ACCURACY = Exercise(
    id="words_in_a_bag.accuracy",
    lesson=LESSON,
    name="accuracy",
    title="How often it is right",
    statement=(
        "accuracy(logits [examples, classes], labels int [examples]) -> []: the share of examples whose largest logit "
        "is that of the right class, a tensor from 0 to 1."
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
            "Your answer is how many examples are right. Divide by the number of examples: the mean of right (1) and "
            "wrong (0).",
            lambda logits, labels: (logits.argmax(-1) == labels).float().sum(),
        ),
        Misconception(
            "number_of_right_ones_as_an_integer",
            "Your answer is how many examples are right. Divide by the number of examples: the mean of right (1) and "
            "wrong (0), as a float.",
            lambda logits, labels: (logits.argmax(-1) == labels).sum(),
        ),
        Misconception(
            "percent",
            "Your answer is in percent. Return a share, from 0 to 1.",
            lambda logits, labels: 100 * (logits.argmax(-1) == labels).float().mean(),
        ),
        Misconception(
            "error_rate",
            "Your answer is the share of wrong answers. Accuracy is the share of right ones.",
            lambda logits, labels: (logits.argmax(-1) != labels).float().mean(),
        ),
        Misconception(
            "not_averaged",
            "Your answer still has one entry for each example. Take the mean over them: one number.",
            lambda logits, labels: (logits.argmax(-1) == labels).float(),
        ),
        Misconception(
            "mean_probability",
            "Your answer is the mean probability of the right class. Accuracy asks only whether the right class comes "
            "first: compare the argmax with the label.",
            lambda logits, labels: logits.softmax(-1)[torch.arange(len(labels)), labels].mean(),
        ),
        Misconception(
            "smallest",
            "Your answer takes the class with the smallest number. The model's answer is the one with the largest: "
            "argmax.",
            lambda logits, labels: (logits.argmin(-1) == labels).float().mean(),
        ),
        Misconception(
            "right_class_above_zero",
            "Your answer asks whether the right class's number is above 0. All may be, or none: ask whether it is the "
            "largest of its row.",
            lambda logits, labels: (logits[torch.arange(len(labels)), labels] > 0).float().mean(),
        ),
        Misconception(
            "python_number",
            "The number is right, but it is a Python float. Return the tensor of shape [] itself, without .item() or "
            "float(...).",
            lambda logits, labels: (logits.argmax(-1) == labels).float().mean().item(),
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
    yield Case(
        "a class that training never saw",
        (torch.tensor([0, 0, 3, 1]), torch.tensor([3, 4, 4, integer(generator, 1, 3), 3, 4, 4, 0, 0, 0])),
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
            lambda training_labels, test_labels: (test_labels == _most_frequent(test_labels)).float().mean(),
        ),
        Misconception(
            "majority_of_both",
            "Your answer takes the most frequent label of training and test together. That is peeking as well: nobody "
            "knows the test's labels beforehand. Count in training alone.",
            lambda training_labels, test_labels: (
                (test_labels == _most_frequent(torch.cat([training_labels, test_labels]))).float().mean()
            ),
        ),
        Misconception(
            "median_label",
            "Your answer takes the median of the labels. Labels are names, and have no middle: count how often each "
            "occurs, with torch.bincount, and take the argmax of the counts.",
            lambda training_labels, test_labels: (test_labels == training_labels.median()).float().mean(),
        ),
        Misconception(
            "share_in_training",
            "Your answer is how frequent the majority is in training. Measure the baseline where every model is "
            "measured: on the test labels.",
            lambda training_labels, test_labels: (training_labels == _most_frequent(training_labels)).float().mean(),
        ),
        Misconception(
            "one_of_the_classes",
            "Your answer is 1 divided by the number of training's classes, which is guessing at random. Count how "
            "often the majority's label is right in the test.",
            lambda training_labels, test_labels: torch.tensor(1 / len(torch.unique(training_labels))),
        ),
        Misconception(
            "the_label_itself",
            "Your answer is the most frequent label. Return how often it is right in the test, a share from 0 to 1.",
            lambda training_labels, test_labels: _most_frequent(training_labels),
        ),
        Misconception(
            "largest_label",
            "Your answer takes the largest label, not the most frequent one. Count first, with torch.bincount, then "
            "take the argmax of the counts.",
            lambda training_labels, test_labels: (test_labels == training_labels.max()).float().mean(),
        ),
        Misconception(
            "least_frequent",
            "Your answer takes the least frequent label of training. The baseline answers with the most frequent one.",
            lambda training_labels, test_labels: (
                (test_labels == torch.bincount(training_labels, minlength=1).argmin()).float().mean()
            ),
        ),
        Misconception(
            "number_of_right_ones",
            "Your answer is how many test labels the majority gets right. Divide by the number of test labels.",
            lambda training_labels, test_labels: (test_labels == _most_frequent(training_labels)).float().sum(),
        ),
        Misconception(
            "error_rate",
            "Your answer is how often the majority is wrong. Return how often it is right.",
            lambda training_labels, test_labels: (test_labels != _most_frequent(training_labels)).float().mean(),
        ),
        Misconception(
            "python_number",
            "The number is right, but it is a Python float. Return the tensor of shape [] itself, without .item() or "
            "float(...).",
            lambda training_labels, test_labels: bags.majority_accuracy(training_labels, test_labels).item(),
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
            lambda vocabulary, d_model, hidden_dim, classes: (
                vocabulary * d_model + d_model * hidden_dim + hidden_dim + hidden_dim * classes + classes
            ),
        ),
        Misconception(
            "output_from_hidden_dim",
            "Your answer lets the linear layer read hidden_dim numbers. The slide's reads the mean of the embeddings, "
            "which has d_model.",
            lambda vocabulary, d_model, hidden_dim, classes: vocabulary * d_model + hidden_dim * classes + classes,
        ),
        Misconception(
            "bias_forgotten",
            "Your answer leaves out the linear layer's bias: one more number for each class.",
            lambda vocabulary, d_model, hidden_dim, classes: vocabulary * d_model + d_model * classes,
        ),
        Misconception(
            "embedding_alone",
            "Your answer counts the embedding only. The linear layer has d_model weights and a bias for each class.",
            lambda vocabulary, d_model, hidden_dim, classes: vocabulary * d_model,
        ),
        Misconception(
            "output_layer_alone",
            "Your answer counts the linear layer only. The embedding has d_model numbers for each word, which is "
            "nearly everything.",
            lambda vocabulary, d_model, hidden_dim, classes: d_model * classes + classes,
        ),
        Misconception(
            "bias_for_each_component",
            "Your answer gives the linear layer a bias for each of its inputs. It has one for each of its outputs, "
            "the classes.",
            lambda vocabulary, d_model, hidden_dim, classes: vocabulary * d_model + d_model * classes + d_model,
        ),
        Misconception(
            "bias_for_each_word",
            "Your answer gives the embedding a bias for each word as well. An embedding is a table and nothing else: "
            "vocabulary × d_model numbers.",
            lambda vocabulary, d_model, hidden_dim, classes: (
                vocabulary * d_model + vocabulary + d_model * classes + classes
            ),
        ),
        Misconception(
            "two_tables",
            "Your answer counts the embedding twice. Pooling learns nothing: one table, and one linear layer.",
            lambda vocabulary, d_model, hidden_dim, classes: 2 * vocabulary * d_model + d_model * classes + classes,
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
