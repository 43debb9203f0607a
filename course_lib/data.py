"""Batches: examples as padded tensors of ids, like lengths together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from course_lib.texts import Pair
from course_lib.tokenization import END_ID, PADDING_ID, START_ID, WordVocabulary


@dataclass(frozen=True)
class Batch:
    """Sequences of ids, padded to the longest of their side.

    Attributes:
        source: the sentences to translate.
        target: their translations, each from <s> to <e>.
    """

    source: Int[Tensor, "batch source"]
    target: Int[Tensor, "batch target"]

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on another device."""
        return Batch(self.source.to(device), self.target.to(device))


Example = tuple[Int[Tensor, " source"], Int[Tensor, " target"]]


def examples(pairs: Sequence[Pair], source: WordVocabulary, target: WordVocabulary) -> list[Example]:
    """Pairs as ids, with <s> and <e> around each translation."""
    return [
        (torch.tensor(source.encode(pair.source)), torch.tensor([START_ID, *target.encode(pair.target), END_ID]))
        for pair in pairs
    ]


def pad(sequences: Sequence[Int[Tensor, " words"]]) -> Int[Tensor, "batch words"]:
    """Sequences one below the other, filled up with <pad> to the longest."""
    return pad_sequence(list(sequences), batch_first=True, padding_value=PADDING_ID)


def collate(batch: Sequence[Example]) -> Batch:
    """A batch of these examples."""
    return Batch(pad([source for source, _ in batch]), pad([target for _, target in batch]))


POOL = 50
"""How many batches are sorted by length together."""


def batches(data: Sequence[Example], batch_size: int, generator: torch.Generator) -> Iterator[Batch]:
    """One pass through the data, in random order, with sentences of like lengths together.

    Shuffled examples are sorted by length within pools of `POOL` batches: little padding, and still different
    batches in every pass.
    """
    order = torch.randperm(len(data), generator=generator).tolist()
    pool = batch_size * POOL
    groups = []
    for start in range(0, len(order), pool):
        like = sorted(order[start : start + pool], key=lambda i: (len(data[i][0]), len(data[i][1])))
        groups += [like[i : i + batch_size] for i in range(0, len(like), batch_size)]
    for index in torch.randperm(len(groups), generator=generator).tolist():
        yield collate([data[i] for i in groups[index]])
