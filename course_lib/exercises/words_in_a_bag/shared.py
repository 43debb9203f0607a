"""Helpers for several exercises of lesson 00 use."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import as_it_is
from course_lib.judging.exercise import Misconception
from course_lib.masking import padding_mask

LESSON = "00_words_in_a_bag"


WITHHELD = ("course_lib.bags",)


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


def words_of(x: Tensor, mask: Tensor) -> Tensor:
    """The words, with zeros where there is padding."""
    return x * mask.unsqueeze(-1)


def number_of_words(mask: Tensor) -> Tensor:
    """Return the number of words of each sentence, [batch, 1]."""
    return mask.sum(dim=1, keepdim=True)


def pooled_by(
    x: Tensor,
    mask: Tensor,
    *,
    padding: str = "",
    words: Callable[[Tensor, Tensor], Tensor] = lambda x, mask: mask,
    number: Callable[[Tensor], Tensor] = number_of_words,
    least: int = 1,
    more: float = 0.0,
    arriving: Callable[[Tensor], Tensor] = as_it_is,
    then: Callable[[Tensor], Tensor] = as_it_is,
) -> Tensor:
    """The mean of the words, with the mistakes that are set: padding may count in the "sum", the "number" or "both"."""
    x, mask = arriving(x), words(x, mask)
    total = (x if padding in ("sum", "both") else words_of(x, mask)).sum(dim=1)
    counted = number(torch.ones_like(mask) if padding in ("number", "both") else mask)
    return then(total / (counted.clamp(min=least) + more))


def inverted(x: Tensor, mask: Tensor) -> Tensor:
    return ~mask


def mean_of(right: Tensor) -> Tensor:
    return right.float().mean()


def wrong_means(pooled: Callable[..., object]) -> tuple[Misconception, ...]:
    """Padding in the sum or in the number of words, nothing divided, or by another number; `pooled` as `pooled_by`."""
    return (
        Misconception(
            "padding_counted_in_the_number",
            "Your answer adds up the right words, but divides by the number of all positions, padding included. "
            "Divide each sentence by the number of its own words.",
            partial(pooled, padding="number"),
        ),
        Misconception(
            "padding_added_up",
            "Your answer adds in the vectors of padding as well, although it does not count them. Multiply them by 0 "
            "first: x * mask.unsqueeze(-1).",
            partial(pooled, padding="sum"),
        ),
        Misconception(
            "sum",
            "Your answer adds up the words but does not divide. Take the mean: divide each sentence by the number of "
            "its words.",
            partial(pooled, number=lambda mask: torch.ones_like(number_of_words(mask))),
        ),
        Misconception(
            "words_of_the_whole_batch",
            "Your answer divides by the number of words in the whole batch. Each sentence has its own: "
            "mask.sum(dim=1, keepdim=True).",
            partial(pooled, number=torch.sum),
        ),
        Misconception(
            "root_of_the_number",
            "Your answer divides by the root of the number of words. Divide by the number itself.",
            partial(pooled, number=lambda mask: number_of_words(mask).sqrt()),
        ),
        Misconception(
            "number_without_keepdim",
            "Your answer divides columns by the numbers of words, not rows: the numbers of the sentences, [batch], "
            "are laid along the last dimension. Keep the dimension: mask.sum(dim=1, keepdim=True).",
            partial(pooled, number=lambda mask: mask.sum(dim=1)),
        ),
    )
