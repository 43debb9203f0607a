"""What several exercises of lesson 00 use."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import as_it_is
from course_lib.masking import padding_mask

LESSON = "00_words_in_a_bag"


WITHHELD = ("course_lib.bags", "course_lib.from_scratch.scoring")


def random_ids(generator: Generator, vocabulary: int, *shape: int) -> Tensor:
    """Random ids of the whole vocabulary, of words that occur more than once."""
    drawn = torch.randint(vocabulary, shape, generator=generator)
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
    """How many words each sentence has, [batch, 1]."""
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


def of_the_batch(mask: Tensor) -> Tensor:
    return mask.sum()


def not_divided(mask: Tensor) -> Tensor:
    return torch.ones_like(number_of_words(mask))


def without_keepdim(mask: Tensor) -> Tensor:
    return mask.sum(dim=1)


def root_of_number(mask: Tensor) -> Tensor:
    return number_of_words(mask).sqrt()


def mean_of(right: Tensor) -> Tensor:
    return right.float().mean()
