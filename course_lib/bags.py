"""Words in a bag: every word a vector, every sentence the mean of its words, and a linear layer to classify it (S3).

The first model of the course, and what it cannot do: a bag knows which words a sentence has, but not their order.
`BagClassifier` is the lesson's; `BagOfEmbeddings` is the same bag in place of `BERT`, under the same heads, to
compare them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_lib.ground.encoder import BERTOutput, Encoder
from course_lib.ground.validation import check_at_least, check_ids, check_mask, check_probability


def look_up(
    table: Float[Tensor, "vocab_size d_model"], ids: Int[Tensor, "*leading words"]
) -> Float[Tensor, "*leading words d_model"]:
    """The embedding of each word: row i of the table is the vector of the word with the id i."""
    return table[ids]


def cosine_similarities(table: Float[Tensor, "vocab_size d_model"], i: int) -> Float[Tensor, " vocab_size"]:
    """Return the cosine of word i's vector with every word's: a · b / (|a| |b|), from -1 to 1.

    Salton et al. (1975), "A Vector Space Model for Automatic Indexing", for documents.
    """
    lengths: Tensor = torch.linalg.vector_norm(table, dim=-1)
    return table @ table[i] / (lengths * lengths[i])


def same_vector(first: str, second: str) -> bool:
    """Return whether two sentences have the same mean, whatever the embeddings are; neither is empty.

    They are if every word has the same share in both: neither the order of the words nor their number counts.
    """
    ours, theirs = Counter(first.split()), Counter(second.split())
    words, others = ours.total(), theirs.total()
    return all(ours[word] * others == theirs[word] * words for word in ours | theirs)


def mean_pooling(
    x: Float[Tensor, "batch words d_model"], mask: Bool[Tensor, "batch words"] | None = None
) -> Float[Tensor, "batch d_model"]:
    """The mean of each sequence's words, padding left out; zeros for a sequence without words.

    The slide's mean counts padding (S3): a sentence's vector would then depend on its neighbours in the batch.
    """
    if mask is None:
        return x.mean(dim=1)
    words = mask.unsqueeze(-1).to(x.dtype)
    total, count = (x * words).sum(dim=1), words.sum(dim=1)
    return total / count.clamp(min=1)


class BagClassifier(nn.Module):
    """The mean of a sentence's embeddings, and a linear layer that gives each class a number (S3).

    The slide's constructor takes a `hidden_dim` as well, which nothing uses, and its mean counts padding.
    """

    def __init__(self, vocab_size: int, d_model: int, classes: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.output = nn.Linear(d_model, classes)

    def forward(
        self, ids: Int[Tensor, "batch words"], mask: Bool[Tensor, "batch words"]
    ) -> Float[Tensor, "batch classes"]:
        """The logits of each sentence's classes.

        Args:
            ids: the words.
            mask: True at words, False at padding.
        """
        logits: Tensor = self.output(mean_pooling(self.embedding(ids), mask))
        return logits


def count_bag_parameters(vocab_size: int, d_model: int, hidden_dim: int, classes: int) -> int:
    """Count a `BagClassifier`'s parameters; `hidden_dim`, which the slide passes as well, is never used (S3)."""
    return vocab_size * d_model + d_model * classes + classes


def logits_accuracy(logits: Float[Tensor, "examples classes"], labels: Int[Tensor, " examples"]) -> Float[Tensor, ""]:
    """The share of examples whose largest logit is that of the right class."""
    return (logits.argmax(dim=-1) == labels).float().mean()


def majority_accuracy(
    training_labels: Int[Tensor, " training"], test_labels: Int[Tensor, " test"]
) -> Float[Tensor, ""]:
    """The accuracy of always giving the answer that is most frequent in training: what any model must beat."""
    return (test_labels == torch.bincount(training_labels).argmax()).float().mean()


# --- In place of an encoder ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BagOfEmbeddingsConfig:
    """The sizes of a bag of embeddings.

    Attributes:
        vocab_size: how many words there are.
        d_model: the length of a word's vector.
        dropout: the probability of dropping a value of the embeddings, in training.
    """

    vocab_size: int
    d_model: int = 128
    dropout: float = 0.1

    def __post_init__(self) -> None:
        check_at_least(1, vocab_size=self.vocab_size, d_model=self.d_model)
        check_probability(dropout=self.dropout)


class BagOfEmbeddings(Encoder):
    """Each word is its embedding, and the whole is their mean: *dog bites man* is *man bites dog* (S3)."""

    def __init__(self, config: BagOfEmbeddingsConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        ids: Int[Tensor, "batch tokens"],
        *,
        segments: Int[Tensor, "batch tokens"] | None = None,
        mask: Bool[Tensor, "batch tokens"] | None = None,
    ) -> BERTOutput:
        """Each word's embedding, and their mean; a bag holds the words of both segments together."""
        check_ids(ids, self.config.vocab_size, "ids")
        check_mask(mask, ids)
        x = self.dropout(self.embedding(ids))
        return BERTOutput(x, mean_pooling(x, mask))
