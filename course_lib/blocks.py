"""The transformer's blocks: attention and a feed-forward network, each followed by "add & norm".

Every layer takes and returns [batch, words, d_model], which is why blocks can be stacked. The norm stands
after the residual connection (post-norm), as in the paper:

    x = layer_norm(x + dropout(sublayer(x)))

Vaswani et al. (2017), sections 3.1, 3.3 and 5.4; slides S2, S3 and S4.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from course_lib.multihead import MultiHeadAttention


class FeedForward(nn.Module):
    """The same small network at every word: FFN(x) = relu(x W_1 + b_1) W_2 + b_2."""

    def __init__(self, d_model: int, d_hidden: int) -> None:
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_hidden)
        self.W_2 = nn.Linear(d_hidden, d_model)

    def forward(self, x: Float[Tensor, "batch words d_model"]) -> Float[Tensor, "batch words d_model"]:
        """Each word's vector by itself; nothing passes between words here."""
        out: Tensor = self.W_2(torch.relu(self.W_1(x)))
        return out


class AddAndNorm(nn.Module):
    """layer_norm(x + dropout(y)): what a sublayer found out is added to what came in, then standardised."""

    def __init__(self, d_model: int, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(d_model)

    def forward(
        self, x: Float[Tensor, "batch words d_model"], y: Float[Tensor, "batch words d_model"]
    ) -> Float[Tensor, "batch words d_model"]:
        """Join a sublayer's output `y` to its input `x`."""
        out: Tensor = self.norm(x + self.dropout(y))
        return out


class EncoderBlock(nn.Module):
    """Self-attention over all the words, then the feed-forward network."""

    def __init__(self, d_model: int, heads: int, d_hidden: int, dropout: float) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_1 = AddAndNorm(d_model, dropout)
        self.feed_forward = FeedForward(d_model, d_hidden)
        self.add_and_norm_2 = AddAndNorm(d_model, dropout)

    def forward(
        self, x: Float[Tensor, "batch words d_model"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch words d_model"]:
        """One layer of the encoder; `mask` hides the padding."""
        x = self.add_and_norm_1(x, self.self_attention(x, mask=mask).out)
        x = self.add_and_norm_2(x, self.feed_forward(x))
        return x


class DecoderBlock(nn.Module):
    """Masked self-attention, then cross-attention to the encoder's words, then the feed-forward network."""

    def __init__(self, d_model: int, heads: int, d_hidden: int, dropout: float) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_1 = AddAndNorm(d_model, dropout)
        self.cross_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_2 = AddAndNorm(d_model, dropout)
        self.feed_forward = FeedForward(d_model, d_hidden)
        self.add_and_norm_3 = AddAndNorm(d_model, dropout)

    def forward(
        self,
        x: Float[Tensor, "batch words d_model"],
        memory: Float[Tensor, "batch source d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
    ) -> Float[Tensor, "batch words d_model"]:
        """One layer of the decoder.

        Args:
            x: the target's words so far.
            memory: the encoder's output: keys and values of the cross-attention.
            mask: where a target word may attend among the target's words (causal).
            memory_mask: where it may attend among the source's words (no padding).
        """
        x = self.add_and_norm_1(x, self.self_attention(x, mask=mask).out)
        x = self.add_and_norm_2(x, self.cross_attention(x, memory, memory_mask).out)
        x = self.add_and_norm_3(x, self.feed_forward(x))
        return x
