"""Multi-head attention: several attentions side by side, each on its own learned projections.

    head_i = attention(x W_q_i, memory W_k_i, memory W_v_i)
    out    = concat(head_1, ..., head_h) W_o

Vaswani et al. (2017), section 3.2.2; slides S1 to S4. Attention itself has nothing to learn: every
parameter here belongs to one of the four projections.
"""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor, nn

from course_lib.attention import attention, fused_attention


def split_heads(x: Float[Tensor, "batch words d_model"], heads: int) -> Float[Tensor, "batch heads words d_head"]:
    """Cut each word's vector into `heads` pieces of d_head = d_model / heads, and put the heads before the words."""
    pieces: Tensor = x.unflatten(-1, (heads, -1))
    return pieces.transpose(-3, -2)


def join_heads(x: Float[Tensor, "batch heads words d_head"]) -> Float[Tensor, "batch words d_model"]:
    """The inverse of `split_heads`: each word's pieces, one behind the other."""
    return x.transpose(-3, -2).flatten(-2)


@dataclass(frozen=True)
class MultiHeadOutput:
    """What multi-head attention returns.

    Attributes:
        out: the new vector of each query.
        alpha: each head's attention weights; None unless they were asked for, since the fused kernel never
            holds them.
    """

    out: Float[Tensor, "batch queries d_model"]
    alpha: Float[Tensor, "batch heads queries keys"] | None = None


class MultiHeadAttention(nn.Module):
    """Self-attention, or with `memory` cross-attention, in several heads.

    Parameters:
        W_q, W_k, W_v, W_o: linear layers from d_model to d_model. The columns of head i are the i-th piece of
            d_head outputs of `W_q`, `W_k` and `W_v`, and the i-th piece of inputs of `W_o`.
    """

    def __init__(self, d_model: int, heads: int) -> None:
        """Four projections.

        Raises:
            ValueError: `d_model` cannot be divided by `heads`.
        """
        super().__init__()
        if d_model % heads:
            raise ValueError(f"d_model must be a multiple of the number of heads, not {d_model} for {heads} heads")
        self.heads = heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(
        self,
        x: Float[Tensor, "batch queries d_model"],
        memory: Float[Tensor, "batch keys d_model"] | None = None,
        mask: Bool[Tensor, "..."] | None = None,
        *,
        need_weights: bool = False,
    ) -> MultiHeadOutput:
        """Attend from every word of `x`.

        Args:
            x: where the queries come from.
            memory: where the keys *and* the values come from; None for self-attention, where it is `x`.
            mask: True where a query may attend; [queries, keys] for all, [batch, queries, keys] for all
                heads, or [batch, heads, queries, keys]. Each dimension may also be 1.
            need_weights: take the explicit path and return alpha too; `out` is the same.
        """
        memory = x if memory is None else memory
        q = split_heads(self.W_q(x), self.heads)
        k = split_heads(self.W_k(memory), self.heads)
        v = split_heads(self.W_v(memory), self.heads)
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(1)  # the same for every head
        if need_weights:
            steps = attention(q, k, v, mask)
            return MultiHeadOutput(self.W_o(join_heads(steps.out)), steps.alpha)
        return MultiHeadOutput(self.W_o(join_heads(fused_attention(q, k, v, mask))))
