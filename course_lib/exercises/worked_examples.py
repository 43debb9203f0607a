"""The slides' two worked examples, as data. Every lesson's first visible case is one of them.

The slides' own numbers differ from these from the second step on; `docs/sources.md` says why.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from course_lib.attention import AttentionSteps, attention


@dataclass(frozen=True)
class WorkedExample:
    """One small attention, computed step by step on a slide.

    Attributes:
        name: as the student reads it.
        q, k, v: queries, keys and values.
        mask: True where a query may attend; None allows all.
        d_head: the dimension of queries and keys.
    """

    name: str
    q: Tensor
    k: Tensor
    v: Tensor
    mask: Tensor | None = None

    @property
    def d_head(self) -> int:
        """The dimension of queries and keys."""
        return self.q.shape[-1]

    @property
    def steps(self) -> AttentionSteps:
        """Every intermediate, as it should have been printed."""
        return attention(self.q, self.k, self.v, self.mask)


_SOURCE = torch.tensor([[-2.0, -4.0], [-2.5, -0.5], [4.5, 2.5]])
A = WorkedExample("worked example A", q=torch.tensor([[-1.0, -2.5], [4.0, 3.0]]), k=_SOURCE, v=_SOURCE)
"""Cross-attention (S2): the queries die, Katze; the keys and values the, cat, danced."""

_TARGET = torch.tensor([[1.0, 1.0], [-1.0, -2.5], [4.0, 3.0], [2.0, -3.0]])
B = WorkedExample("worked example B", q=_TARGET, k=_TARGET, v=_TARGET, mask=torch.ones(4, 4, dtype=torch.bool).tril())
"""Masked self-attention (S2): <s>, die, Katze, tanzte."""
