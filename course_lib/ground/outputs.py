"""What several models return, so that one can stand in the other's place."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class BERTOutput:
    """What BERT returns.

    Attributes:
        states: a vector for each word that has seen all the others.
        pooled: one for the whole sequence, made from its first word, [CLS].
    """

    states: Float[Tensor, "batch words d_model"]
    pooled: Float[Tensor, "batch d_model"]
