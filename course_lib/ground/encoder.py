"""The interface of encoders, so that one can replace another under the same heads."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn


class BERTOutput(NamedTuple):
    """An encoder's output; a tuple, so that `torch.export` and wrappers of a model can find its tensors.

    Attributes:
        states: a vector for each token that has seen all the others.
        pooled: a vector for the whole sequence, made from its first token, [CLS].
    """

    states: Float[Tensor, "batch tokens d_model"]
    pooled: Float[Tensor, "batch d_model"]


class Encoder(nn.Module, ABC):
    """A model that reads texts, like `BERT`; every head on an encoder works on any encoder.

    Attributes:
        config: its sizes, including `vocab_size` and `d_model`.
    """

    config: Any

    @abstractmethod
    def forward(
        self,
        ids: Int[Tensor, "batch tokens"],
        *,
        segments: Int[Tensor, "batch tokens"] | None = None,
        mask: Bool[Tensor, "batch tokens"] | None = None,
    ) -> BERTOutput:
        """Read a batch of sequences, each of one text or of two.

        Args:
            ids: the tokens; for BERT [CLS] first, and [SEP] after each text.
            segments: 0 at the tokens of the first text, 1 at those of the second; None for a single text. Only BERT
                uses them.
            mask: True at tokens, False at padding; None if there is no padding.

        Raises:
            TypeError: the ids are not whole numbers, or the mask is not boolean.
            ValueError: ids are outside the vocabulary, there are no tokens, shapes differ, or the model cannot read the
                input.
        """
