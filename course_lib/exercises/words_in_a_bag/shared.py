"""Helpers that several exercises of lesson 00 use."""

from collections.abc import Callable

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import slips
from course_lib.judging.exercise import Misconception
from course_lib.masking import padding_mask

TABLE = torch.tensor([[-1.5, 1.0], [0.5, 0.5], [2.0, 0.3], [1.0, -1.5], [0.6, 1.7], [1.5, 1.9]])
"""The lesson's made-up embeddings: of `<pad>`, the, dog, chased, cat, meow."""

DOG_CHASED_CAT = torch.tensor([[1, 2, 3, 1, 4]])
"""The ids of *the dog chased the cat* in that table."""


def random_ids(generator: Generator, vocab_size: int, *shape: int) -> Tensor:
    """Random ids of the whole vocabulary, of words that occur more than once."""
    drawn = torch.randint(vocab_size, shape, generator=generator)
    drawn[..., 1] = drawn[..., 0]
    return drawn


def padded(generator: Generator, batch: int, words: int, spare: int = 0) -> Tensor:
    """The mask of a batch whose first sentence has half of the words, another one all, and none the spare ones."""
    lengths = torch.randint(1, words + 1, (batch,), generator=generator)
    lengths[0], lengths[1] = words // 2, words
    return padding_mask(lengths, words + spare)


COUNTED = ("words.sum(dim=1)", "torch.ones_like(words).sum(dim=1)")
"""Padding in the number of words."""

ADDED_UP = ("(x * words)", "x")
"""Padding in the sum of words."""


def wrong_means(right: Callable[..., object]) -> tuple[Misconception, ...]:
    """Padding in the sum or in the number of words, nothing divided, or by another number, in `bags.mean_pooling`."""
    return slips(
        right,
        padding_counted_in_the_number=(
            "Your answer sums the right words but divides by the number of all positions, padding included. Divide "
            "each sentence's sum by its own number of words.",
            COUNTED,
        ),
        padding_added_up=(
            "Your answer divides by the right number but adds padding vectors to the sum. Multiply the padding by 0 "
            "first: x * mask.unsqueeze(-1).",
            ADDED_UP,
        ),
        sum=(
            "Your answer sums the words but doesn't divide. Divide each sum by the number of words.",
            ("words.sum(dim=1)", "words.new_ones(1)"),
        ),
        words_of_the_whole_batch=(
            "Your answer divides by the number of words in the whole batch. Count each sentence's words: "
            "mask.sum(dim=1, keepdim=True).",
            ("words.sum(dim=1)", "words.sum()"),
        ),
        number_without_keepdim=(
            "Your answer divides columns instead of rows: counts of shape [batch] line up with the last dimension. "
            "Keep the dimension: mask.sum(dim=1, keepdim=True).",
            ("words.sum(dim=1)", "mask.sum(dim=1)"),
        ),
    )
