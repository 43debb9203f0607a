"""Torch's own multi-head attention, with the names and the masks of this course."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn


class TorchAttention(nn.Module):
    """Multi-head attention as torch computes it, called as lesson 04's own: attention(x, memory, mask).

    It is used to try a block by itself, or until you have written your own attention.

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
        """Attend from each token of `x` to the tokens of `memory`, where `mask` is True: torch's own says where not.

        Args:
            x: where the queries come from.
            memory: where the keys and the values come from.
            mask: the same for all heads; None allows everything.

        Raises:
            TypeError: `mask` is not boolean.
            ValueError: `mask` has another number of dimensions.
        """
        batch, queries, d_model = x.shape
        if mask is not None:
            if mask.dtype != torch.bool:
                raise TypeError(f"a mask is a boolean tensor, True where a query may attend, not {mask.dtype}")
            if mask.dim() != 3:
                told = f"a mask is [batch, queries, keys], where batch and queries may be 1, not {list(mask.shape)}"
                missing = ": unsqueeze(0) adds the batch, unsqueeze(1) the queries" if mask.dim() == 2 else ""
                raise ValueError(told + missing)
            mask = ~mask.expand(batch, queries, memory.shape[1]).repeat_interleave(self.heads, dim=0)
        projections = (self.W_q, self.W_k, self.W_v)
        biases = None if self.W_q.bias is None else torch.cat([layer.bias for layer in projections])
        out, _ = F.multi_head_attention_forward(
            query=x.transpose(0, 1),
            key=memory.transpose(0, 1),
            value=memory.transpose(0, 1),
            embed_dim_to_check=d_model,
            num_heads=self.heads,
            in_proj_weight=None,
            in_proj_bias=biases,
            bias_k=None,
            bias_v=None,
            add_zero_attn=False,
            dropout_p=0.0,
            out_proj_weight=self.W_o.weight,
            out_proj_bias=self.W_o.bias,
            need_weights=False,
            attn_mask=mask,
            use_separate_proj_weight=True,
            q_proj_weight=self.W_q.weight,
            k_proj_weight=self.W_k.weight,
            v_proj_weight=self.W_v.weight,
        )
        return out.transpose(0, 1)
