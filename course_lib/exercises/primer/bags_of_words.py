"""Primer, primer.bags_of_words: A bag for every sentence."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.exercises.common import SMALLEST, hints, integer, sizes, slips
from course_lib.judging.exercise import Case, Exercise
from course_lib.references import primer


def _bag_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: the cat chased the cat, and the dog danced", (torch.tensor(EXAMPLE), 5))
        yield Case("the same words in reverse order", (torch.tensor(EXAMPLE).flip(1), 5))
    for name, vocab_size in (("a word that never occurs", integer(generator, 9, 12)), ("a larger vocabulary", 20)):
        sentences, words = sizes(generator, 2)
        ids = torch.randint(vocab_size - 1, (sentences, words), generator=generator)
        ids[0, -1] = ids[0, 0]
        yield Case(name, (ids, vocab_size))
    yield Case("one sentence of one word", (torch.tensor([[integer(generator, 0, 4)]]), 4))
    square = torch.randint(3, (3, 3), generator=generator)
    square[0] = 1
    yield Case("as many sentences as words, and as many words as the vocabulary has", (square, 3))
    yield Case(SMALLEST, (torch.tensor([[0]]), 1))


EXAMPLE = [[0, 1, 3, 0, 1], [0, 2, 4, 4, 4]]
"""Of the vocabulary the, cat, dog, chased, danced."""


def _compared(ids: Tensor, vocab_size: int) -> Tensor:
    numbers = torch.arange(vocab_size)
    said = ids[:, :, None]
    same = said == numbers
    counts = same.sum(dim=1)
    return counts


_COUNTS = "same.sum(dim=1)"


def _by_loops(ids: Tensor, vocab_size: int) -> Tensor:
    counts = torch.zeros(len(ids), vocab_size, dtype=torch.int64)
    for sentence, words in enumerate(ids.tolist()):
        for word in words:
            counts[sentence, word] += 1
    return counts


EXERCISE = Exercise(
    id="primer.bags_of_words",
    title="A bag for every sentence",
    statement=(
        "bags_of_words(ids int [sentences, words], vocab_size int) -> int [sentences, vocab_size]: how often each id "
        "from 0 to vocab_size - 1 occurs in each sentence."
    ),
    points=2,
    minutes=8,
    difficulty=3,
    importance=3,
    section="Broadcasting",
    source="PyTorch's documentation, Broadcasting semantics",
    reference=primer.bags_of_words,
    cases=_bag_cases,
    correct=(
        _by_loops,
        lambda ids, vocab_size: F.one_hot(ids, vocab_size).sum(dim=1),
        lambda ids, vocab_size: torch.stack([torch.bincount(row, minlength=vocab_size) for row in ids]),
        _compared,
    ),
    steps=("same",),
    hints=hints(
        idea="Compare every word with every id from 0 to `vocab_size - 1`, all at once. Then count the matches.",
        shapes=(
            "Give `ids` a last dimension of size 1, so that it is `[sentences, words, 1]`. Comparing it with "
            "`[vocab_size]` numbers gives `[sentences, words, vocab_size]`. Summing over the words leaves "
            "`[sentences, vocab_size]`.",
            ("not_summed", "all_sentences_together", "over_the_vocabulary", "over_the_sentences"),
        ),
    ),
    misconceptions=slips(
        _compared,
        whether_and_not_how_often=(
            "Your answer says whether a word occurs, not how often. *The cat chased the cat* has two cats: use a sum "
            "instead of any, max or a set.",
            (_COUNTS, "same.any(dim=1).long()"),
        ),
        booleans=(
            "Your answer has True or False for each word. Sum the booleans to count them.",
            (_COUNTS, "same.any(dim=1)"),
        ),
        not_summed=("Your answer still has a row for every word. Sum over the words: dim=1.", (_COUNTS, "same.long()")),
        all_sentences_together=(
            "Your answer puts all sentences into one bag. Sum over the words only (dim=1), so that each sentence gets "
            "its own bag.",
            (_COUNTS, "same.sum(dim=(0, 1))"),
        ),
        over_the_vocabulary=(
            "Your answer sums over the vocabulary, so every word gets a 1. Sum over the words of the sentence: dim=1.",
            (_COUNTS, "same.sum(dim=2)"),
        ),
        over_the_sentences=(
            "Your answer sums over the sentences (dim=0). Sum over the words of each sentence: dim=1.",
            (_COUNTS, "same.sum(dim=0)"),
        ),
        counted_from_one=(
            "Your answer counts ids from 1. Ids start at 0: use torch.arange(vocab_size).",
            ("arange(vocab_size)", "arange(1, vocab_size + 1)"),
        ),
        shares=(
            "Your answer divides by the number of words. Return the counts themselves.",
            (_COUNTS, "same.float().mean(dim=1)"),
        ),
        floats=(
            "Your answer has the right counts, but as floats. Return integers, which a sum of booleans gives you.",
            (_COUNTS, "same.float().sum(dim=1)"),
        ),
        transposed=(
            "Your answer has one row per word of the vocabulary. Give each sentence a row: [sentences, vocab_size].",
            ("return counts", "return counts.transpose(0, -1)"),
        ),
        last_word_missing=(
            "Your answer leaves out the last word of the vocabulary. Use torch.arange(vocab_size), which already "
            "stops at vocab_size - 1.",
            ("arange(vocab_size)", "arange(vocab_size - 1)"),
        ),
    ),
)
