"""What several exercises of lesson 01 use."""

from __future__ import annotations

from torch import Generator, Tensor

from course_lib.exercises.common import Kind, integer

LESSON = "01_attention"


WITHHELD = ("course_lib.attention",)


def turned_keys(k: Tensor) -> Tensor:
    return k.mT


def reshaped(k: Tensor) -> Tensor:
    """With its last two sizes swapped, and its numbers where they were."""
    return k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])


def all_reversed(k: Tensor) -> Tensor:
    """As `k.T`: all dimensions in reverse order."""
    return k.permute(*reversed(range(k.ndim)))


def all_alike(generator: Generator) -> Kind:
    """A batch in which all sizes are the same: what raises elsewhere returns something here, and can be named."""
    return Kind("all sizes alike", generator, (integer(generator, 3, 8),))


def single_query(generator: Generator) -> Kind:
    """For one query: dimensions of size 1 must stay."""
    return Kind("one query in a batch of one", generator, (1,))
