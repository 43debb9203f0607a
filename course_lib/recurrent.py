"""A recurrent encoder: what came before `BERT`, usable under the same heads for comparison (S1, S3).

Gated recurrent units (Cho et al., 2014): each token's state is computed from the state before it, so n tokens take n
steps, one after another.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from course_lib.ground.encoder import BERTOutput, Encoder
from course_lib.ground.validation import (
    check_at_least,
    check_ids,
    check_mask,
    check_probability,
)
from course_lib.masking import padding_mask


@dataclass(frozen=True)
class RecurrentConfig:
    """The sizes of a recurrent network.

    Attributes:
        vocab_size: the number of tokens in the vocabulary.
        d_model: the length of a token's vector and of its state.
        layers: the number of recurrent layers.
        dropout: the probability of dropping a value of the embeddings and of the states, in training.
    """

    vocab_size: int
    d_model: int = 128
    layers: int = 1
    dropout: float = 0.1

    def __post_init__(self) -> None:
        check_at_least(1, vocab_size=self.vocab_size, d_model=self.d_model, layers=self.layers)
        check_probability(dropout=self.dropout)


class RecurrentEncoder(Encoder):
    """Reads each sequence forwards and backwards, so that a token's state has seen both sides of it (S1).

    Under `SequenceClassifier` it is the recurrent classifier, under `TokenClassifier` the recurrent tagger.
    """

    def __init__(self, config: RecurrentConfig) -> None:
        """Build one network for each direction, of width d_model / 2.

        Raises:
            ValueError: `d_model` is odd.
        """
        super().__init__()
        if config.d_model % 2:
            raise ValueError(f"reading both ways needs an even d_model, not {config.d_model}")
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.recurrence = nn.GRU(
            config.d_model,
            config.d_model // 2,
            config.layers,
            batch_first=True,
            bidirectional=True,
            dropout=config.dropout if config.layers > 1 else 0.0,  # torch drops only between layers, else warns
        )

    def forward(
        self,
        ids: Int[Tensor, "batch tokens"],
        *,
        segments: Int[Tensor, "batch tokens"] | None = None,
        mask: Bool[Tensor, "batch tokens"] | None = None,
    ) -> BERTOutput:
        """Return the states of all tokens and, for the whole sequence, the last state in each direction.

        Segments are not used: [SEP] between two texts is read like any token.

        Raises:
            ValueError: padding comes before a token, or a sequence has no tokens.
        """
        check_ids(ids, self.config.vocab_size, "ids")
        check_mask(mask, ids)
        states, last = read_sequences(self.recurrence, self.dropout(self.embedding(ids)), mask)
        forwards, backwards = last[-2:]  # of the top layer
        return BERTOutput(self.dropout(states), self.dropout(torch.cat([forwards, backwards], dim=-1)))


def read_sequences(
    recurrence: nn.GRU, x: Float[Tensor, "batch tokens d_model"], mask: Bool[Tensor, "batch tokens"] | None
) -> tuple[Float[Tensor, "batch tokens d_model"], Float[Tensor, "layers batch d_state"]]:
    """Return every token's state, and each layer's state after the last token, however many tokens there are.

    The backward network must begin at the last token, not at the padding after it, so torch needs the lengths.

    Raises:
        ValueError: padding comes before a token, or a sequence has no tokens.
    """
    if mask is None:
        states, last = recurrence(x)
        return states, last
    lengths = mask.sum(dim=1)
    if not torch.equal(mask, padding_mask(lengths, mask.shape[1])):
        raise ValueError("padding must come after the tokens: a recurrent network reads from the first to the last")
    if not lengths.all():
        raise ValueError("a sequence has no tokens: all of it is padding")
    packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
    states, last = recurrence(packed)
    return pad_packed_sequence(states, batch_first=True, total_length=x.shape[1])[0], last
