"""The modules of lesson 04, which together form an encoder block; dropout; and the block's size.

A block receives its parts, so that each can be anybody's. The attributes have the same names as in `blocks`.

Vaswani et al. (2017), sections 3.1, 3.3 and 5.4; slides S2 and S3.
"""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from course_lib.multihead import join_heads, split_heads


class MultiHeadAttention(nn.Module):
    """`multihead.MultiHeadAttention` with a linear layer for each projection, returning only its output.

    Parameters:
        W_q, W_k, W_v, W_o: linear layers from d_model to d_model. Head i owns the i-th d_head rows of the weights of
            the first three, and the i-th d_head columns of the weight of the last.
    """

    def __init__(self, d_model: int, heads: int, bias: bool = True) -> None:
        super().__init__()
        self.heads = heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(
        self,
        x: Float[Tensor, "batch queries d_model"],
        memory: Float[Tensor, "batch keys d_model"],
        mask: Bool[Tensor, "#batch #queries keys"] | None = None,
    ) -> Float[Tensor, "batch queries d_model"]:
        """Attend from each token of `x` to the tokens of `memory`, where `mask` is True; None allows everything."""
        q, k, v = (split_heads(y, self.heads) for y in (self.W_q(x), self.W_k(memory), self.W_v(memory)))
        attended = F.scaled_dot_product_attention(q, k, v, None if mask is None else mask.unsqueeze(1))
        out: Tensor = self.W_o(join_heads(attended))
        return out


class LayerNorm(nn.Module):
    """Standardizes each token's vector, then applies a learned scale and shift: `nn.LayerNorm`, by its formula.

        weight (x - mean) / √(variance + ε) + bias

    Mean and variance are over the token's own d_model numbers; the variance divides by d_model, not by d_model - 1.
    Ba, Kiros and Hinton (2016), "Layer Normalization", section 3; slide S3, where weight is γ and bias is β.
    """

    def __init__(self, d_model: int, epsilon: float = 1e-5) -> None:
        super().__init__()
        self.epsilon = epsilon
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Float[Tensor, "... d_model"]) -> Float[Tensor, "... d_model"]:
        """Transform each token's vector by itself."""
        centred = x - x.mean(dim=-1, keepdim=True)
        variance = centred.square().mean(dim=-1, keepdim=True)
        return self.weight * centred / (variance + self.epsilon).sqrt() + self.bias


def dropout(
    x: Float[Tensor, "*shape"], kept: Bool[Tensor, "*shape"], p: float, training: bool
) -> Float[Tensor, "*shape"]:
    """Set numbers whose `kept` is False to 0 and divide the others by 1 - p: `nn.Dropout`, given all random choices.

    This keeps each number's mean, so evaluation needs no change. Srivastava et al. (2014), "Dropout: A Simple Way to
    Prevent Neural Networks from Overfitting", section 10; slide S3.

    Args:
        x: any numbers.
        kept: True where a number stays.
        p: the probability of being dropped, whatever the share in `kept`.
        training: whether to drop at all.
    """
    return x.masked_fill(~kept, 0.0) / (1 - p) if training else x


class AddAndNorm(nn.Module):
    """A sublayer with its residual connection: post-norm, as on slide S2, or pre-norm.

    Its parameters are the norm's.
    """

    def __init__(self, norm: nn.Module, dropout: nn.Module, norm_first: bool = False) -> None:
        super().__init__()
        self.norm = norm
        self.dropout = dropout
        self.norm_first = norm_first

    def forward(
        self, x: Float[Tensor, "... d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "... d_model"]:
        """Call the sublayer, and add its output to its input."""
        if self.norm_first:
            added: Tensor = self.dropout(sublayer(self.norm(x)))
            return x + added
        out: Tensor = self.norm(x + self.dropout(sublayer(x)))
        return out


def gelu(x: Float[Tensor, "*shape"], approximate: bool = False) -> Float[Tensor, "*shape"]:
    """Multiply each number by the probability that a standard normal variable is below it: `F.gelu`, by its formula.

    Hendrycks and Gimpel (2016), "Gaussian Error Linear Units (GELUs)", section 2; slide S3.

    Args:
        x: any numbers.
        approximate: use tanh, as GPT-2 does; the result differs from the exact one by less than 0.001.
    """
    if approximate:
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


class FeedForward(nn.Module):
    """The same small network for every token: activation(x W_1 + b_1) W_2 + b_2."""

    def __init__(self, d_model: int, d_ff: int, activation: Callable[[Tensor], Tensor] = F.relu) -> None:
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff)
        self.activation = activation
        self.W_2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Float[Tensor, "... d_model"]) -> Float[Tensor, "... d_model"]:
        """Transform each token's vector by itself."""
        hidden = self.activation(self.W_1(x))
        out: Tensor = self.W_2(hidden)
        return out


class EncoderBlock(nn.Module):
    """`blocks.EncoderBlock`, assembled from its four parts."""

    def __init__(
        self, self_attention: nn.Module, add_and_norm_1: nn.Module, feed_forward: nn.Module, add_and_norm_2: nn.Module
    ) -> None:
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.feed_forward = feed_forward
        self.add_and_norm_2 = add_and_norm_2

    def forward(
        self, x: Float[Tensor, "batch tokens d_model"], mask: Bool[Tensor, "#batch #tokens tokens"] | None = None
    ) -> Float[Tensor, "batch tokens d_model"]:
        """Run self-attention between the tokens where `mask` is True, then the feed-forward network at every token."""
        attended = self.add_and_norm_1(x, lambda y: self.self_attention(y, y, mask))
        out: Tensor = self.add_and_norm_2(attended, self.feed_forward)
        return out


def block_parameters(d_model: int, heads: int, d_ff: int) -> dict[str, int]:
    """Count the parameters of an encoder block by purpose, biases included.

    Attention itself has none (S2), and the number of heads makes no difference, since heads divide the projections.
    """
    return {
        "attention": 0,
        "projections": 4 * (d_model * d_model + d_model),
        "feed_forward": (d_model * d_ff + d_ff) + (d_ff * d_model + d_model),
        "layer_norms": 2 * (d_model + d_model),
    }


def one_by_one(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Split the library's shared projection layers, so that each projection has its own weights, as here."""
    found: dict[str, Tensor] = {}
    for name, tensor in weights.items():
        before, joined, kind = name.partition(".W_qkv." if ".W_qkv." in name else ".W_kv.")
        letters = joined.strip(".").removeprefix("W_")
        pieces = tensor.chunk(len(letters)) if joined else [tensor]
        names = [f"{before}.W_{letter}.{kind}" for letter in letters] if joined else [name]
        found |= dict(zip(names, pieces, strict=True))
    return found
