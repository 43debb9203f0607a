"""Texts with labels, in batches, for training heads.

All heads use the same form. An example is one input, or several to choose from, and its labels: one for the whole text,
one for each token, or the two ends of a span.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from course_lib.masking import padding_mask
from course_lib.text.batches import LengthBuckets, TensorBatch, pad
from course_lib.text.tokenization import JoinedPair

IGNORED = -100
"""The label of what is not to be learned, such as padding; torch's cross-entropy ignores this value."""


@dataclass(frozen=True)
class LabelledText:
    """One example.

    Attributes:
        inputs: the text, or the pair; several if one of them is to be chosen.
        labels: the text's label or the right choice (), the tokens' labels [tokens], or an answer's two ends [2].
    """

    inputs: tuple[JoinedPair, ...]
    labels: Int[Tensor, "..."]

    def __post_init__(self) -> None:
        if not self.inputs or not all(text.ids for text in self.inputs):
            raise ValueError("a labeled example needs at least one input, and each needs at least one token")


@dataclass(frozen=True)
class LabelledBatch(TensorBatch):
    """Sequences with their labels; [batch, choices, tokens] if there are choices.

    Attributes:
        ids: the tokens.
        segments: 0 at the tokens of the first text, 1 at those of the second.
        mask: True at tokens, False at padding.
        labels: the labels, `IGNORED` where there is nothing to learn.
    """

    ids: Int[Tensor, "batch *choices tokens"]
    segments: Int[Tensor, "batch *choices tokens"]
    mask: Bool[Tensor, "batch *choices tokens"]
    labels: Int[Tensor, "batch *positions"]

    @property
    def targets(self) -> int:
        """The number of labels to learn."""
        return int((self.labels != IGNORED).sum())

    @property
    def tokens(self) -> int:
        """The number of tokens, without padding."""
        return int(self.mask.sum())


def collate_labelled(examples: Sequence[LabelledText]) -> LabelledBatch:
    """Return a batch of these examples, padded to the longest input.

    Raises:
        ValueError: there are no examples, or they differ in their number of inputs or their kind of labels.
    """
    if not examples:
        raise ValueError("a batch needs at least one example, got none")
    choices = {len(example.inputs) for example in examples}
    dimensions = {example.labels.dim() for example in examples}
    if len(choices) != 1 or len(dimensions) != 1:
        raise ValueError("the examples of a batch must have the same number of inputs, and the same kind of labels")
    rows = [text for example in examples for text in example.inputs]
    lengths = torch.tensor([len(text.ids) for text in rows])
    ids = pad([torch.tensor(text.ids) for text in rows])
    segments = pad([torch.tensor(text.segments) for text in rows])
    mask = padding_mask(lengths, ids.shape[1])
    if choices != {1}:
        ids, segments, mask = (tensor.unflatten(0, (len(examples), -1)) for tensor in (ids, segments, mask))
    return LabelledBatch(ids, segments, mask, _stacked([example.labels for example in examples]))


def labelled_data(examples: Sequence[LabelledText], max_tokens: int) -> LengthBuckets[LabelledText, LabelledBatch]:
    """Put examples into batches of at most this many tokens, padding included.

    Raises:
        ValueError: there are no examples, or one is longer than a batch.
    """
    return LengthBuckets(examples, _tokens, max_tokens, collate_labelled)


def _tokens(example: LabelledText) -> tuple[int]:
    return (len(example.inputs) * max(len(text.ids) for text in example.inputs),)


def _stacked(labels: Sequence[Tensor]) -> Tensor:
    if labels[0].dim() == 0:
        return torch.stack(list(labels))
    return pad_sequence(list(labels), batch_first=True, padding_value=IGNORED)
