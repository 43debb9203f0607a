"""Words in a bag: every word a vector, every sentence the mean of its words, and a linear layer to classify it (S3).

This is the first model of the course. Its limit: a bag knows which words a sentence has, but not their order.
`train_bag` trains the lesson's bag; `BagOfEmbeddings` is the same bag as an encoder, to compare with `BERT` under the
same heads.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_lib.ground.encoder import BERTOutput, Encoder
from course_lib.ground.validation import check_at_least, check_ids, check_mask, check_probability


def look_up(
    table: Float[Tensor, "vocab_size d_model"], ids: Int[Tensor, "*leading words"]
) -> Float[Tensor, "*leading words d_model"]:
    """Return the embedding of each word: row i of the table is the vector of the word with the id i."""
    return table[ids]


def cosine_similarities(table: Float[Tensor, "vocab_size d_model"], i: int) -> Float[Tensor, " vocab_size"]:
    """Return the cosine of word i's vector with every word's: a · b / (|a| |b|), from -1 to 1.

    Salton et al. (1975), "A Vector Space Model for Automatic Indexing", for documents.
    """
    lengths: Tensor = torch.linalg.vector_norm(table, dim=-1)
    return table @ table[i] / (lengths * lengths[i])


def analogy(
    table: Float[Tensor, "vocab_size d_model"], words: Sequence[str], a: str, b: str, c: str, count: int
) -> list[str]:
    """Return the words nearest to b - a + c by cosine, best first: a is to b as c is to them. a, b and c are left out.

    Mikolov et al. (2013), "Linguistic Regularities in Continuous Space Word Representations", section 4, with all
    vectors scaled to length 1.

    Args:
        table: an embedding for each word, none of them all zeros.
        words: the word of each row.
        count: how many to return.
    """
    unit = table / torch.linalg.vector_norm(table, dim=-1, keepdim=True)
    asked = [words.index(word) for word in (a, b, c)]
    target = unit[asked[1]] - unit[asked[0]] + unit[asked[2]]
    cosines = unit @ target
    cosines[asked] = -math.inf
    nearest: list[int] = cosines.topk(count).indices.tolist()
    return [words[row] for row in nearest]


def same_vector(first: str, second: str) -> bool:
    """Return whether two sentences, neither empty, have the same mean, whatever the embeddings are.

    They do if every word has the same share in both; neither the order of the words nor their number matters.
    """
    ours, theirs = Counter(first.split()), Counter(second.split())
    words, others = ours.total(), theirs.total()
    return all(ours[word] * others == theirs[word] * words for word in ours | theirs)


def mean_pooling(
    x: Float[Tensor, "batch words d_model"], mask: Bool[Tensor, "batch words"] | None = None
) -> Float[Tensor, "batch d_model"]:
    """Return the mean of each sequence's words, padding left out; zeros for a sequence without words.

    The mean on the slide counts padding (S3): a sentence's vector would then depend on its neighbors in the batch.
    """
    if mask is None:
        return x.mean(dim=1)
    words = mask.unsqueeze(-1).to(x.dtype)
    total, count = (x * words).sum(dim=1), words.sum(dim=1)
    return total / count.clamp(min=1)


def bag_logits(
    parameters: Sequence[Tensor], ids: Int[Tensor, "batch words"], mask: Bool[Tensor, "batch words"]
) -> Float[Tensor, "batch classes"]:
    """Return the logits of a bag of embeddings: the mean of each sentence's embeddings, and a linear layer (S3).

    The mean on the slide counts padding; `hidden_dim` there makes no layer.

    Args:
        parameters: the table [vocab_size, d_model], the layer's weight [classes, d_model] and its bias [classes].
        ids: the words.
        mask: True at words, False at padding.
    """
    table, weight, bias = parameters
    return mean_pooling(table[ids], mask) @ weight.T + bias


def train_bag(
    parameters: Sequence[Tensor],
    ids: Int[Tensor, "examples words"],
    mask: Bool[Tensor, "examples words"],
    labels: Int[Tensor, " examples"],
    orders: Int[Tensor, "epochs examples"],
    batch_size: int,
    rate: float,
) -> tuple[list[Tensor], Float[Tensor, " epochs"]]:
    """Train a bag of embeddings with Adam, in mini-batches, each epoch in its own order.

    Returns:
        the trained parameters, and each epoch's mean loss over its examples, each computed when the example was trained
        on.
    """
    parameters = [parameter.clone().requires_grad_() for parameter in parameters]
    optimizer = torch.optim.Adam(parameters, lr=rate)
    losses = []
    for order in orders:
        total = torch.zeros((), device=ids.device)
        for chosen in order.split(batch_size):
            loss = F.cross_entropy(bag_logits(parameters, ids[chosen], mask[chosen]), labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total = total + len(chosen) * loss.detach()
        losses.append(total / len(order))
    return [parameter.detach() for parameter in parameters], torch.stack(losses)


def logits_accuracy(logits: Float[Tensor, "examples classes"], labels: Int[Tensor, " examples"]) -> Float[Tensor, ""]:
    """Return the share of examples whose largest logit is that of the right class."""
    return (logits.argmax(dim=-1) == labels).float().mean()


def majority_accuracy(
    training_labels: Int[Tensor, " training"], test_labels: Int[Tensor, " test"]
) -> Float[Tensor, ""]:
    """Return the accuracy of always giving the answer that is most frequent in training: what any model must beat."""
    return (test_labels == torch.bincount(training_labels).argmax()).float().mean()


# --- In place of an encoder ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BagOfEmbeddingsConfig:
    """The sizes of a bag of embeddings.

    Attributes:
        vocab_size: the number of words in the vocabulary.
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
        """Return each word's embedding, and their mean; the words of both segments are in one bag."""
        check_ids(ids, self.config.vocab_size, "ids")
        check_mask(mask, ids)
        x = self.dropout(self.embedding(ids))
        return BERTOutput(x, mean_pooling(x, mask))
