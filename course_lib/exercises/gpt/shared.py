"""Helpers for several exercises of lesson 07."""

from collections.abc import Callable, Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import SMALLEST, Kind, sizes

Model = Callable[[Tensor], Tensor]
"""From ids [batch, tokens] to logits [batch, tokens, vocab_size]."""

SENTENCES = torch.tensor([[0, 1, 2, 3, 4], [2, 3, 1, 2, 3]])
"""*I saw the dog running*, and *the dog saw the dog*."""


def batched_kinds(generator: Generator) -> Iterator[Kind]:
    """Batches of sequences: as they come, the smallest, in double precision, and transposed in memory."""
    batches = sizes(generator, 3)
    yield Kind("a batch of sequences", generator, (batches[0],))
    yield Kind(SMALLEST, generator, (1,), ones=True)
    yield Kind("double precision", generator, (batches[1],), dtype=torch.float64)
    yield Kind("transposed in memory", generator, (batches[2],), transposed=True)


def random_ids(generator: Generator, vocab_size: int, *shape: int) -> Tensor:
    return torch.randint(vocab_size, shape, generator=generator)
