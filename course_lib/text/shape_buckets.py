"""Sentence pairs in batches of few shapes.

Every new shape costs a GPU time: attention kernels are planned again, and a CUDA graph can be replayed only for the
shape that it was recorded for. `LengthBuckets` packs tightly, so it has hundreds of shapes in one pass through
Multi30k. Here both sides are padded to the same multiple of `MULTIPLE`, and each width has a fixed number of rows: 10
shapes at 8,192 tokens, for 4% more padding.
"""

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
"""The number of a row without a target, which fills up a batch if too few pairs are left."""


@dataclass(frozen=True)
class ShapeBuckets:
    """Pairs in batches of a fixed number of rows for each width.

    In every pass the pairs of each width are shuffled and cut into whole batches. Pairs left over join those of the
    next width, so that each pair comes once a pass; only the very last batch may need blank rows.

    Attributes:
        examples: the pairs to learn from.
        max_tokens: the most tokens in a batch, both sides and padding included.
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
        """Plan one pass, in an order that the generator decides; `BLANK` stands for a blank row."""
        by_width: dict[int, list[int]] = {}
        for i in torch.randperm(len(self.examples), generator=generator).tolist():
            by_width.setdefault(self._widths[i], []).append(i)
        batches: list[list[int]] = []
        waiting: list[int] = []
        for width in sorted(by_width):
            rows, own = self.rows(width), by_width[width]
            count = min((len(waiting) + len(own)) // rows, len(own))
            # Each batch gets one pair of this width, which determines it, then those that have waited.
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
        """Return the batch of these pairs: sources of one width, and targets one token wider, for their <s>."""
        width = max(self._widths[i] for i in indices if i != BLANK)
        source, target = self._table
        rows = torch.tensor(indices)
        return TranslationBatch(source[:, :width][rows], target[:, : width + 1][rows])

    def rows(self, width: int) -> int:
        """Return the number of pairs of this width in a batch."""
        return self.max_tokens // (2 * width)

    @cached_property
    def _widths(self) -> list[int]:
        """Each pair's longer side, rounded up; the decoder reads one token less than the target has."""
        longer = (max(len(source), len(target) - 1) for source, target in self.examples)
        return [-(-length // MULTIPLE) * MULTIPLE for length in longer]

    @cached_property
    def _table(self) -> tuple[Int[Tensor, "rows widest"], Int[Tensor, "rows widest+1"]]:
        """All pairs, padded to the widest. The last row, with index `BLANK`, is blank.

        Its source has one token, since attention needs at least one.
        """
        widest = max(self._widths)
        blank = (torch.tensor([END_ID]), torch.tensor([PADDING_ID]))
        sources, targets = zip(*self.examples, blank, strict=True)
        return _padded(sources, widest), _padded(targets, widest + 1)


def _padded(sequences: Sequence[Tensor], width: int) -> Tensor:
    found = pad(sequences)
    return F.pad(found, (0, width - found.shape[1]), value=PADDING_ID)


def shared_vocabulary_data(pairs: Sequence[SentencePair], words: SubwordVocabulary, max_tokens: int) -> ShapeBuckets:
    """Return data for translation, with both languages in the same pieces, in batches of few shapes.

    Args:
        pairs: the pairs to learn from.
        words: the pieces of both languages.
        max_tokens: the most tokens in a batch, both sides and padding included.

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
        shapes: the number of different shapes.
        padding: the share of padding in all positions.
    """

    shapes: int
    padding: float


def count_shapes(batches: Iterable[TranslationBatch]) -> ShapeCount:
    """Count the shapes and the padding of these batches; a blank row is padding."""
    shapes, tokens, positions = set(), 0, 0
    for batch in batches:
        shapes.add((batch.source.shape, batch.target.shape))
        tokens += batch.tokens
        positions += batch.source.numel() + batch.target.numel()
    return ShapeCount(len(shapes), 1 - tokens / positions)
