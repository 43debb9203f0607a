"""Batches to learn from: examples as padded tensors of ids, with similar lengths together.

Training data (`TrainingData`) does two things: it cuts a pass into batches, as lists of numbers, and makes a batch from
such a list. So the order of a training run can be saved, resumed and split among processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

import torch
from jaxtyping import Int, Integer
from torch import Generator, Tensor
from torch.nn.utils.rnn import pad_sequence

from course_lib.text.texts import SentencePair
from course_lib.text.tokenization import END_ID, PADDING_ID, START_ID, Vocabulary


class AnyBatch(Protocol):
    """The interface of a batch, as the training loop needs it."""

    @property
    def targets(self) -> int:
        """The number of labels that the loss is a mean over."""

    @property
    def tokens(self) -> int:
        """The number of tokens in the batch, without padding."""

    def to(self, device: torch.device | str) -> AnyBatch:
        """Return the same batch on another device."""


B_co = TypeVar("B_co", bound=AnyBatch, covariant=True)
B = TypeVar("B", bound=AnyBatch)
E = TypeVar("E")


class TrainingData(Protocol[B_co]):
    """Examples that can be cut into batches."""

    def plan(self, generator: Generator) -> list[list[int]]:
        """Plan one pass: the numbers of each batch's examples, in an order that the generator decides."""

    def batch(self, indices: Sequence[int]) -> B_co:
        """Return the batch of these examples."""


class TensorBatch:
    """Base class of batches that are dataclasses of tensors."""

    def to(self, device: torch.device | str) -> Self:
        """Return the same batch on another device."""
        return type(self)(*(tensor.to(device, non_blocking=True) for tensor in vars(self).values()))


# --- Sentences and their translations --------------------------------------------------------------------------


@dataclass(frozen=True)
class TranslationBatch(TensorBatch):
    """Sequences of ids, padded to the longest on their side.

    Attributes:
        source: the sentences to translate.
        target: their translations, each from <s> to <e>.
    """

    source: Int[Tensor, "batch source"]
    target: Int[Tensor, "batch target"]

    @property
    def targets(self) -> int:
        """The number of tokens to predict: all target tokens except the <s>'s."""
        return int((self.target[:, 1:] != PADDING_ID).sum())

    @property
    def tokens(self) -> int:
        """The number of tokens on both sides; a row without a target does not count."""
        target = self.target != PADDING_ID
        source = (self.source != PADDING_ID) & target.any(dim=1, keepdim=True)
        return int(source.sum() + target.sum())


TranslationExample = tuple[Int[Tensor, " _"], Int[Tensor, " _"]]
"""The ids of a source and of its target, the latter from <s> to <e>; of any lengths."""


def examples(pairs: Sequence[SentencePair], source: Vocabulary, target: Vocabulary) -> list[TranslationExample]:
    """Encode pairs as ids, with <s> and <e> around each translation.

    Raises:
        ValueError: a source has no words, so there is nothing to attend to.
    """
    sources, targets = (source.encode(pair.source) for pair in pairs), (target.encode(pair.target) for pair in pairs)
    return framed(pairs, sources, targets)


def framed(
    pairs: Sequence[SentencePair], sources: Iterable[Sequence[int]], targets: Iterable[Sequence[int]]
) -> list[TranslationExample]:
    """Return the ids of these pairs as tensors, with <s> and <e> around each translation.

    Raises:
        ValueError: a source has no words.
    """
    found = []
    for pair, ids, translation in zip(pairs, sources, targets, strict=True):
        if not ids:
            raise ValueError(f"a source has no words: {pair.source!r}, translated as {pair.target!r}")
        found.append((torch.tensor(ids), torch.tensor([START_ID, *translation, END_ID])))
    return found


def pad(sequences: Sequence[Int[Tensor, " _"]]) -> Int[Tensor, "batch longest"]:
    """Stack sequences, padded with <pad> to the longest.

    Raises:
        ValueError: there are none.
    """
    if not sequences:
        raise ValueError("a batch needs at least one sequence, got none")
    return pad_sequence(list(sequences), batch_first=True, padding_value=PADDING_ID)


def collate(batch: Sequence[TranslationExample]) -> TranslationBatch:
    """Return a batch of these examples."""
    return TranslationBatch(pad([source for source, _ in batch]), pad([target for _, target in batch]))


# --- Similar lengths together ----------------------------------------------------------------------------------

POOL = 50
"""The approximate number of batches that are sorted by length together."""


@dataclass(frozen=True)
class LengthBuckets(Generic[E, B]):
    """Examples in batches of about equally many tokens, with examples of similar lengths together.

    In every pass the examples are shuffled, sorted by length within pools of about `POOL` batches, and cut. This leaves
    little padding, and still gives different batches in every pass, with each example once.

    Attributes:
        examples: the examples to learn from.
        lengths: an example's length on each of its sides, such as source and target.
        max_tokens: the most tokens in a batch, all sides together and padding included.
        collate: makes a batch of examples.
    """

    examples: Sequence[E]
    lengths: Callable[[E], tuple[int, ...]]
    max_tokens: int
    collate: Callable[[Sequence[E]], B]

    def __post_init__(self) -> None:
        if not self.examples:
            raise ValueError("there is nothing to train on: the data is empty")
        longest = max(self.examples, key=lambda example: sum(self.lengths(example)))
        if sum(self.lengths(longest)) > self.max_tokens:
            raise ValueError(
                f"an example has {sum(self.lengths(longest))} tokens, more than a batch may have "
                f"({self.max_tokens}); raise max_tokens, or leave long examples out"
            )

    def plan(self, generator: Generator) -> list[list[int]]:
        """Plan one pass, in an order that the generator decides."""
        lengths = [self.lengths(example) for example in self.examples]
        order = torch.randperm(len(lengths), generator=generator).tolist()
        mean = sum(map(sum, lengths)) / len(lengths)
        pool = POOL * max(1, int(self.max_tokens / mean))
        groups: list[list[int]] = []
        for start in range(0, len(order), pool):
            groups += self._cut(sorted(order[start : start + pool], key=lengths.__getitem__), lengths)
        return [groups[i] for i in torch.randperm(len(groups), generator=generator).tolist()]

    def batch(self, indices: Sequence[int]) -> B:
        """Return the batch of these examples."""
        return self.collate([self.examples[i] for i in indices])

    def _cut(self, order: Sequence[int], lengths: Sequence[tuple[int, ...]]) -> list[list[int]]:
        """Put neighbors together, as many as fit in a batch."""
        groups: list[list[int]] = []
        longest: tuple[int, ...] = ()
        for i in order:
            longest = tuple(map(max, longest, lengths[i])) if groups else lengths[i]
            if groups and (len(groups[-1]) + 1) * sum(longest) <= self.max_tokens:
                groups[-1].append(i)
            else:
                groups.append([i])
                longest = lengths[i]
        return groups


def translation_data(
    pairs: Sequence[SentencePair], source: Vocabulary, target: Vocabulary, max_tokens: int
) -> LengthBuckets[TranslationExample, TranslationBatch]:
    """Return data for translation, in batches of at most this many tokens (both languages, padding included).

    Raises:
        ValueError: there are no pairs, a source has no words, or a pair is longer than a batch.
    """
    return LengthBuckets(examples(pairs, source, target), _pair_lengths, max_tokens, collate)


def _pair_lengths(example: TranslationExample) -> tuple[int, int]:
    return len(example[0]), len(example[1])


# --- A text to continue ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TextBatch(TensorBatch):
    """Pieces of a text, all of the same length.

    Attributes:
        ids: each piece, from its first token to the last one to predict.
    """

    ids: Int[Tensor, "batch tokens"]

    @property
    def targets(self) -> int:
        """The number of tokens to predict: all but the first of each piece."""
        return self.ids[:, 1:].numel()

    @property
    def tokens(self) -> int:
        """The number of tokens read."""
        return self.targets


@dataclass(frozen=True)
class Windows:
    """A long text, cut into windows at other positions in each pass; every token is predicted at most once.

    Attributes:
        ids: the text, [text], in whole numbers of any width. A text too long for memory can stay in its file:
            torch.from_numpy(np.memmap(path, np.uint16, "c")).
        length: the number of tokens that the model reads at once; a window has one more, the last to be predicted.
        batch_size: the number of windows in a batch.
    """

    ids: Integer[Tensor, " text"]
    length: int
    batch_size: int

    def __post_init__(self) -> None:
        if self.length < 1 or self.batch_size < 1:
            raise ValueError(f"length and batch_size must be at least 1, got {self.length} and {self.batch_size}")
        if not isinstance(self.ids, Tensor):
            raise TypeError(
                f"ids must be a tensor [text], not a {type(self.ids).__name__}; torch.from_numpy makes one of an array "
                "or a file's np.memmap, torch.tensor of a list"
            )
        if self.ids.dim() != 1 or self.ids.is_floating_point():
            raise TypeError(f"ids must be whole numbers, [text], not {self.ids.dtype} {list(self.ids.shape)}")
        if len(self.ids) <= self.length:
            raise ValueError(
                f"a text of {len(self.ids)} tokens is too short for windows of {self.length}: "
                f"expected at least {self.length + 1}"
            )

    def plan(self, generator: Generator) -> list[list[int]]:
        """Plan the starts of each batch's windows; the first begins anywhere within the first `length` tokens."""
        spare = min(self.length, len(self.ids) - self.length)
        offset = int(torch.randint(spare, (), generator=generator))
        starts = torch.arange(offset, len(self.ids) - self.length, self.length)
        order = torch.randperm(len(starts), generator=generator)
        return [group.tolist() for group in starts[order].split(self.batch_size)]

    def batch(self, indices: Sequence[int]) -> TextBatch:
        """Return the windows that begin at these positions.

        Raises:
            ValueError: there are none.
        """
        if not indices:
            raise ValueError("a batch needs at least one window, got none")
        starts = torch.tensor(list(indices))
        return TextBatch(self.ids[starts.unsqueeze(1) + torch.arange(self.length + 1)].long())
