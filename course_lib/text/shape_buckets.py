"""Sentence pairs in batches of few shapes.

A GPU pays for every shape that it meets for the first time: attention kernels are planned anew, and a CUDA graph can
only be replayed for the shape that it was recorded for. `LengthBuckets` packs tightly, and so meets hundreds of shapes
in one pass through Multi30k; here both sides are padded to the same multiple of `MULTIPLE`, and each of these widths
has its own fixed number of rows: 10 shapes at 8,192 tokens, for 4% more padding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
import torch.nn.functional as F
from jaxtyping import Int
from torch import Generator, Tensor

from course_lib.text.batches import TranslationBatch, TranslationExample, framed, pad
from course_lib.text.fast_subwords import SubwordVocabulary
from course_lib.text.texts import SentencePair
from course_lib.text.tokenization import END_ID, PADDING_ID

MULTIPLE = 4
"""Widths are multiples of this many tokens."""

BLANK = -1
"""The number of a row without a target, which fills a batch that too few pairs are left for."""


@dataclass(frozen=True)
class ShapeBuckets:
    """Pairs in batches of a fixed number of rows for each width.

    In every pass the pairs of each width are shuffled and cut into whole batches. Those left over join the next wider
    ones, so that each pair comes once a pass; only the last batch of all may need blank rows.

    Attributes:
        examples: what to learn from.
        max_tokens: of a batch, both sides and padding included.
    """

    examples: Sequence[TranslationExample]
    max_tokens: int

    def __post_init__(self) -> None:
        if not self.examples:
            raise ValueError("there is nothing to train on: the data is empty")
        widest = max(self._widths)
        if 2 * widest > self.max_tokens:
            raise ValueError(
                f"a pair needs {2 * widest} tokens, more than a batch may have ({self.max_tokens}); raise max_tokens, "
                "or leave long pairs out"
            )

    def plan(self, generator: Generator) -> list[list[int]]:
        """One pass, in an order that the generator decides; `BLANK` stands for a blank row."""
        by_width: dict[int, list[int]] = {}
        for i in torch.randperm(len(self.examples), generator=generator).tolist():
            by_width.setdefault(self._widths[i], []).append(i)
        batches: list[list[int]] = []
        waiting: list[int] = []
        for width in sorted(by_width):
            rows, own = self.rows(width), by_width[width]
            count = min((len(waiting) + len(own)) // rows, len(own))
            # One of its own in every batch, which gives it this width; then those that have waited.
            widest, others = own[:count], waiting + own[count:]
            step = rows - 1
            batches += [[first, *others[i * step : (i + 1) * step]] for i, first in enumerate(widest)]
            waiting = others[count * step :]
        while waiting:
            rows = self.rows(max(self._widths[i] for i in waiting))
            batches.append(waiting[:rows] + [BLANK] * (rows - len(waiting)))
            waiting = waiting[rows:]
        return [batches[i] for i in torch.randperm(len(batches), generator=generator).tolist()]

    def batch(self, indices: Sequence[int]) -> TranslationBatch:
        """The batch of these pairs: sources of one width, and targets, which begin with <s>, one token wider."""
        width = max(self._widths[i] for i in indices if i != BLANK)
        source, target = self._table
        rows = torch.tensor(indices)
        return TranslationBatch(source[:, :width][rows], target[:, : width + 1][rows])

    def rows(self, width: int) -> int:
        """Return the number of pairs of this width in a batch."""
        return self.max_tokens // (2 * width)

    @cached_property
    def _widths(self) -> list[int]:
        """Of each pair: its longer side, rounded up. The decoder reads one token less than the target has."""
        longer = (max(len(source), len(target) - 1) for source, target in self.examples)
        return [-(-length // MULTIPLE) * MULTIPLE for length in longer]

    @cached_property
    def _table(self) -> tuple[Int[Tensor, "rows widest"], Int[Tensor, "rows widest+1"]]:
        """All pairs, padded to the widest. The last row, which `BLANK` finds, is blank.

        Its source has one token, since attention needs something to attend to.
        """
        widest = max(self._widths)
        blank = (torch.tensor([END_ID]), torch.tensor([PADDING_ID]))
        sources, targets = zip(*self.examples, blank, strict=True)
        return _padded(sources, widest), _padded(targets, widest + 1)


def _padded(sequences: Sequence[Tensor], width: int) -> Tensor:
    found = pad(sequences)
    return F.pad(found, (0, width - found.shape[1]), value=PADDING_ID)


def shared_vocabulary_data(pairs: Sequence[SentencePair], words: SubwordVocabulary, max_tokens: int) -> ShapeBuckets:
    """Pairs to learn to translate, both languages in the same pieces, in batches of few shapes.

    Args:
        pairs: to learn from.
        words: the pieces of both languages.
        max_tokens: of a batch, both sides and padding included.

    Raises:
        ValueError: there are no pairs, a source has no words, or a pair is longer than a batch.
    """
    sources = words.encode_all([pair.source for pair in pairs])
    targets = words.encode_all([pair.target for pair in pairs])
    return ShapeBuckets(framed(pairs, sources, targets), max_tokens)


@dataclass(frozen=True)
class ShapeCount:
    """Counts of a data set's batch shapes and padding.

    Attributes:
        shapes: how many different ones there are.
        padding: the share of all places that hold padding.
    """

    shapes: int
    padding: float


def count_shapes(batches: Iterable[TranslationBatch]) -> ShapeCount:
    """The shapes and the padding of these batches; a blank row is padding."""
    shapes, tokens, positions = set(), 0, 0
    for batch in batches:
        shapes.add((batch.source.shape, batch.target.shape))
        tokens += batch.tokens
        positions += batch.source.numel() + batch.target.numel()
    return ShapeCount(len(shapes), 1 - tokens / positions)
