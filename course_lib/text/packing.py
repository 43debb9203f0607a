"""Texts of different lengths in rows of one length: packed one after another, so that there is hardly any padding.

A model that reads such a batch needs its `documents`, so that no text attends to its neighbors (`modern.documents`).
"""

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from jaxtyping import Int
from torch import Generator, Tensor

from course_lib.ground.validation import check_at_least
from course_lib.text.batches import POOL, TensorBatch
from course_lib.text.tokenization import PADDING_ID

T = TypeVar("T")

NOTHING = -100
"""The label where nothing is to be predicted; torch's own default."""

NO_DOCUMENT = -1
"""The document number of padding."""


@dataclass(frozen=True)
class PackedBatch(TensorBatch):
    """Rows of consecutive texts, padded at the end.

    Attributes:
        ids: the tokens of each text except its last.
        labels: the next token in the same text; `NOTHING` at padding.
        documents: the number of each token's text in its row, counted from 0; `NO_DOCUMENT` at padding.
    """

    ids: Int[Tensor, "batch tokens"]
    labels: Int[Tensor, "batch tokens"]
    documents: Int[Tensor, "batch tokens"]

    @property
    def targets(self) -> int:
        """The number of tokens to predict."""
        return int((self.documents != NO_DOCUMENT).sum())

    @property
    def tokens(self) -> int:
        """The number of tokens read, without padding."""
        return self.targets


@dataclass(frozen=True)
class PackedTexts:
    """Texts to learn to continue, each of them whole in one row, once in every pass.

    In every pass the texts are shuffled, then packed within pools of about `POOL` batches: longest first, each where it
    leaves the least room. Of several processes, each packs its part of a batch, in fewer rows.

    Attributes:
        texts: the ids of each text.
        length: the number of tokens that the model reads in a row; a text may have one more, the last to be predicted.
        batch_size: the most rows in a batch.

    Raises:
        TypeError, ValueError: there are no texts, a text is too long or has nothing to predict, or a size is below 1.
    """

    texts: Sequence[Int[Tensor, " _"]]
    length: int
    batch_size: int

    def __post_init__(self) -> None:
        check_at_least(1, length=self.length, batch_size=self.batch_size)
        if not self.texts:
            raise ValueError("there is nothing to train on: the data is empty")
        for number, text in enumerate(self.texts):
            if not 2 <= len(text) <= self.length + 1:
                raise ValueError(
                    f"text {number} has {len(text)} tokens, but a row of {self.length} takes texts of 2 to "
                    f"{self.length + 1}; leave it out, or cut it in pieces"
                )

    def plan(self, generator: Generator) -> list[list[int]]:
        """Plan one pass, in an order that the generator decides: the texts of each batch, row after row."""
        lengths = [len(text) - 1 for text in self.texts]
        order = _shuffled(range(len(lengths)), generator)
        pool = POOL * max(1, self.batch_size * self.length * len(lengths) // sum(lengths))
        rows: list[list[int]] = []
        for start in range(0, len(order), pool):
            rows += pack(order[start : start + pool], lengths, self.length)
        # Shuffle within rows, too: otherwise the first of several processes would get all the long texts.
        rows = [_shuffled(row, generator) for row in _shuffled(rows, generator)]
        groups = [rows[start : start + self.batch_size] for start in range(0, len(rows), self.batch_size)]
        return [[text for row in group for text in row] for group in groups]

    def batch(self, indices: Sequence[int]) -> PackedBatch:
        """Return the batch of these texts, in this order; a new row begins when a text does not fit any more.

        Raises:
            ValueError: there are none.
        """
        if not indices:
            raise ValueError("a batch needs at least one text, got none")
        rows = self._in_rows(indices)
        ids = torch.full((len(rows), self.length), PADDING_ID)
        labels, documents = torch.full_like(ids, NOTHING), torch.full_like(ids, NO_DOCUMENT)
        for row, texts in enumerate(rows):
            end = 0
            for number, text in enumerate(texts):
                start, end = end, end + len(text) - 1
                ids[row, start:end] = text[:-1]
                labels[row, start:end] = text[1:]
                documents[row, start:end] = number
        return PackedBatch(ids, labels, documents)

    def _in_rows(self, indices: Sequence[int]) -> list[list[Tensor]]:
        """Put texts into as few rows as their order allows, so not more than were planned."""
        rows: list[list[Tensor]] = []
        room = 0
        for text in (self.texts[i] for i in indices):
            if not rows or len(text) - 1 > room:
                rows.append([])
                room = self.length
            rows[-1].append(text)
            room -= len(text) - 1
        return rows


def _shuffled(items: Sequence[T], generator: Generator) -> list[T]:
    return [items[i] for i in torch.randperm(len(items), generator=generator).tolist()]


def pack(numbers: Sequence[int], lengths: Sequence[int], length: int) -> list[list[int]]:
    """Pack texts into rows of at most `length` tokens: longest first, each where it leaves the least room (best fit).

    Args:
        numbers: the numbers of the texts to pack.
        lengths: the lengths of all texts, each at most `length`.
        length: the length of a row.
    """
    rows: list[list[int]] = []
    room: list[tuple[int, int]] = []  # the room left in each row, least first
    for number in sorted(numbers, key=lengths.__getitem__, reverse=True):
        position = bisect_left(room, (lengths[number], 0))
        if position < len(room):
            left, row = room.pop(position)
        else:
            left, row = length, len(rows)
            rows.append([])
        rows[row].append(number)
        insort(room, (left - lengths[number], row))
    return rows
