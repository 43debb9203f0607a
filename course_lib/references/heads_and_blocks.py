"""The parts of an encoder block that lesson 04 has students write: the norm, dropout, add & norm, the block, its size.

Vaswani et al. (2017), sections 3.1, 3.3 and 5.4; slides S2 and S3.
"""

from __future__ import annotations

from collections.abc import Callable

import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn


def layer_norm(
    x: Float[Tensor, "... d_model"],
    gamma: Float[Tensor, " d_model"],
    beta: Float[Tensor, " d_model"],
    epsilon: float = 1e-5,
) -> Float[Tensor, "... d_model"]:
    """Each token's vector standardised, then stretched and moved by what is learned: `nn.LayerNorm`, by its formula.

        gamma (x - mean) / √(variance + ε) + beta

    Mean and variance are over the token's own d_model numbers; the variance divides by d_model, not by d_model - 1.
    Ba, Kiros and Hinton (2016), "Layer Normalization", section 3; slide S3.
    """
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return gamma * centred / (variance + epsilon).sqrt() + beta


def dropout(
    x: Float[Tensor, "*shape"], kept: Bool[Tensor, "*shape"], p: float, training: bool
) -> Float[Tensor, "*shape"]:
    """Set numbers whose `kept` is False to 0, and divide the others by 1 - p: `nn.Dropout`, with all chance passed in.

    So each number keeps its mean, and in evaluation nothing needs to change. Srivastava et al. (2014), "Dropout: A
    Simple Way to Prevent Neural Networks from Overfitting", section 10; slide S3.

    Args:
        x: any numbers.
        kept: True where a number stays.
        p: the probability of being dropped, whatever the share in `kept`.
        training: whether to drop at all.
    """
    return x.masked_fill(~kept, 0.0) / (1 - p) if training else x


def add_and_norm(
    x: Float[Tensor, "... d_model"],
    sublayer: Callable[[Tensor], Tensor],
    norm: Callable[[Tensor], Tensor],
    dropout: Callable[[Tensor], Tensor],
    norm_first: bool,
) -> Float[Tensor, "... d_model"]:
    """One sublayer with its residual connection: post-norm, as on slide S2, or pre-norm."""
    return x + dropout(sublayer(norm(x))) if norm_first else norm(x + dropout(sublayer(x)))


class EncoderBlock(nn.Module):
    """`blocks.EncoderBlock`, made of torch's own attention, norms and linear layers."""

    def __init__(self, d_model: int, heads: int, d_ff: int, dropout: float = 0.0, norm_first: bool = False) -> None:
        super().__init__()
        self.norm_first = norm_first
        self.attention = nn.MultiheadAttention(d_model, heads, batch_first=True)
        self.norm_1 = nn.LayerNorm(d_model)
        self.W_1 = nn.Linear(d_model, d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "batch tokens d_model"], mask: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens d_model"]:
        """Self-attention between the tokens where `mask` is True, then the feed-forward network at every token."""

        def attend(y: Tensor) -> Tensor:
            out: Tensor = self.attention(y, y, y, key_padding_mask=~mask, need_weights=False)[0]
            return out

        def feed_forward(y: Tensor) -> Tensor:
            out: Tensor = self.W_2(F.relu(self.W_1(y)))
            return out

        attended = add_and_norm(x, attend, self.norm_1, self.dropout, self.norm_first)
        return add_and_norm(attended, feed_forward, self.norm_2, self.dropout, self.norm_first)


def block_parameters(d_model: int, heads: int, d_ff: int) -> dict[str, int]:
    """Count the parameters of an encoder block, by what they are for; biases included.

    Attention itself has none (S2), and the number of heads changes nothing: they divide the projections among them.
    """
    return {
        "attention": 0,
        "projections": 4 * (d_model * d_model + d_model),
        "feed_forward": (d_model * d_ff + d_ff) + (d_ff * d_model + d_model),
        "layer_norms": 2 * (d_model + d_model),
    }
