"""Torch's own multi-head attention, with this course's names and masks."""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn


class TorchAttention(nn.Module):
    """Torch's multi-head attention, called as in lesson 04: attention(x, memory, mask).

    Use it to try a block by itself, or until you have written your own attention.

    Parameters:
        W_q, W_k, W_v, W_o: linear layers from d_model to d_model.
    """

    def __init__(self, d_model: int, heads: int, bias: bool = True) -> None:
        super().__init__()
        self.heads = heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=bias) for _ in range(4))

    def forward(
        self,
        x: Float[Tensor, "batch queries d_model"],
        memory: Float[Tensor, "batch keys d_model"],
        mask: Bool[Tensor, "#batch #queries keys"] | None = None,
    ) -> Float[Tensor, "batch queries d_model"]:
        """Attend from each token of `x` to the tokens of `memory`, where `mask` is True.

        Args:
            x: where the queries come from.
            memory: where the keys and the values come from.
            mask: the same for all heads; None allows everything.

        Raises:
            TypeError: `mask` is not boolean.
            ValueError: `mask` has another number of dimensions.
        """
        batch, queries, _d_model = x.shape
        if mask is not None:
            if mask.dtype != torch.bool:
                raise TypeError(f"a mask is a boolean tensor, True where a query may attend, not {mask.dtype}")
            if mask.dim() != 3:
                problem = f"a mask is [batch, queries, keys], where batch and queries may be 1, not {list(mask.shape)}"
                missing = ": unsqueeze(0) adds the batch, unsqueeze(1) the queries" if mask.dim() == 2 else ""
                raise ValueError(problem + missing)
            mask = mask.expand(batch, queries, memory.shape[1]).unsqueeze(1)
        projected = (self.W_q(x), self.W_k(memory), self.W_v(memory))
        q, k, v = (each.unflatten(-1, (self.heads, -1)).transpose(1, 2) for each in projected)
        out = F.scaled_dot_product_attention(q, k, v, mask)
        projection: Tensor = self.W_o(out.transpose(1, 2).flatten(2))
        return projection
