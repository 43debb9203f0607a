"""The transformer's blocks: attention and a feed-forward network, each joined to its input by "add & norm".

Every layer takes and returns [batch, words, d_model], which is why blocks can be stacked. The norm comes
after the residual connection (post-norm), as in the paper and in BERT, or before the sublayer (pre-norm), as
in GPT-2; pre-norm leaves a path from the first embedding to the last block on which nothing is rescaled.

    post-norm:  x = layer_norm(x + dropout(sublayer(x)))
    pre-norm:   x = x + dropout(sublayer(layer_norm(x)))

Torch's own modules compute the norm and dropout, in one kernel each; `layer_norm` and `dropout` are what they compute.

Vaswani et al. (2017), sections 3.1, 3.3 and 5.4; Xiong et al. (2020), "On Layer Normalization in the
Transformer Architecture"; slides S2, S3 and S4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Generator, Tensor, nn

from course_lib.ground.refusals import require_at_least, require_divisible, require_not_negative, require_shares
from course_lib.multihead import CrossAttention, KeysAndValues, KeyValueCache, MultiHeadAttention

Activation = Literal["relu", "gelu", "gelu_tanh", "silu"]
"""What stands between the feed-forward network's two layers: in the paper, BERT, GPT-2 and Marian."""

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,  # x Φ(x), by the error function
    "gelu_tanh": partial(F.gelu, approximate="tanh"),  # the approximation that GPT-2 was trained with
    "silu": F.silu,
}


@dataclass(frozen=True)
class BlockConfig:
    """The sizes of one block, the same for all the blocks of a model.

    Attributes:
        d_model: the length of a word's vector.
        heads: in each multi-head attention; they divide `d_model` among them.
        d_hidden: the width of the feed-forward network.
        dropout: the share of values that training drops from what a sublayer adds.
        attention_dropout: the share of attention weights that training drops.
        activation: of the feed-forward network.
        norm_first: pre-norm instead of post-norm.
        norm_epsilon: added to the variance in each layer norm.
    """

    d_model: int
    heads: int
    d_hidden: int
    dropout: float = 0.0
    attention_dropout: float = 0.0
    activation: Activation = "relu"
    norm_first: bool = False
    norm_epsilon: float = 1e-5

    def __post_init__(self) -> None:
        require_at_least(1, d_model=self.d_model, heads=self.heads, d_hidden=self.d_hidden)
        require_divisible(self.d_model, self.heads)
        if self.activation not in ACTIVATIONS:
            raise ValueError(f"activation must be one of {', '.join(ACTIVATIONS)}, not {self.activation!r}")
        require_shares(dropout=self.dropout, attention_dropout=self.attention_dropout)
        require_not_negative(norm_epsilon=self.norm_epsilon)


class FeedForward(nn.Module):
    """The same small network at every word: FFN(x) = activation(x W_1 + b_1) W_2 + b_2."""

    def __init__(self, d_model: int, d_hidden: int, activation: Activation = "relu") -> None:
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_hidden)
        self.activation = activation
        self.W_2 = nn.Linear(d_hidden, d_model)

    def forward(self, x: Float[Tensor, "... d_model"]) -> Float[Tensor, "... d_model"]:
        """Each word's vector by itself; nothing passes between words here."""
        out: Tensor = self.W_2(ACTIVATIONS[self.activation](self.W_1(x)))
        return out


def layer_norm(
    x: Float[Tensor, "... d_model"],
    gamma: Float[Tensor, " d_model"],
    beta: Float[Tensor, " d_model"],
    epsilon: float = 1e-5,
) -> Float[Tensor, "... d_model"]:
    """Each word's vector standardised, then stretched and moved by what is learned: `nn.LayerNorm`, by its formula.

        gamma (x - mean) / √(variance + ε) + beta

    Mean and variance are over the word's own d_model numbers; the variance divides by d_model, not by d_model - 1.
    Ba, Kiros and Hinton (2016), "Layer Normalization", section 3; slide S3.
    """
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return gamma * centred / (variance + epsilon).sqrt() + beta


def dropout(
    x: Float[Tensor, "..."], share: float, *, training: bool = True, generator: Generator | None = None
) -> Float[Tensor, "..."]:
    """Set a share of the numbers to 0, each at random, and divide the others by 1 - share: `nn.Dropout`.

    So each number keeps its mean, and in evaluation nothing needs to change. Srivastava et al. (2014), "Dropout: A
    Simple Way to Prevent Neural Networks from Overfitting", section 10; slide S3.

    Args:
        x: any numbers.
        share: of them that are dropped.
        training: whether to drop at all.
        generator: on the device of `x`; None for torch's own.

    Raises:
        ValueError: `share` is not at least 0 and below 1.
    """
    if not 0 <= share < 1:
        raise ValueError(f"the share to drop must be at least 0 and below 1, not {share}")
    if not training:
        return x
    kept = torch.rand(x.shape, generator=generator, device=x.device) >= share
    return drop(x, kept, share, training)


def drop(
    x: Float[Tensor, "*shape"], kept: Bool[Tensor, "*shape"], share: float, training: bool
) -> Float[Tensor, "*shape"]:
    """Dropout once chance has decided: numbers whose `kept` is False become 0, the others are divided by 1 - share.

    Args:
        x: any numbers.
        kept: True where a number stays.
        share: of the numbers that are dropped on average, whatever the share in `kept`.
        training: whether to drop at all.
    """
    return x.masked_fill(~kept, 0.0) / (1 - share) if training else x


def add_and_norm(
    x: Float[Tensor, "... d_model"],
    sublayer: Callable[[Tensor], Tensor],
    norm: Callable[[Tensor], Tensor],
    dropout: Callable[[Tensor], Tensor],
    norm_first: bool,
) -> Float[Tensor, "... d_model"]:
    """One sublayer with its residual connection: the two formulas above (slide S2 has the first, without dropout)."""
    return x + dropout(sublayer(norm(x))) if norm_first else norm(x + dropout(sublayer(x)))


class AddAndNorm(nn.Module):
    """The residual connection and the layer norm around one sublayer.

    `before` gives what the sublayer reads, and the module itself joins the sublayer's output to its input.
    """

    def __init__(self, d_model: int, dropout: float, *, norm_first: bool = False, epsilon: float = 1e-5) -> None:
        super().__init__()
        self.norm_first = norm_first
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(d_model, epsilon)

    def before(self, x: Float[Tensor, "batch words d_model"]) -> Float[Tensor, "batch words d_model"]:
        """What the sublayer reads: `x`, standardised first in pre-norm."""
        out: Tensor = self.norm(x) if self.norm_first else x
        return out

    def forward(
        self, x: Float[Tensor, "batch words d_model"], y: Float[Tensor, "batch words d_model"]
    ) -> Float[Tensor, "batch words d_model"]:
        """Join a sublayer's output `y` to its input `x`, and standardise the sum in post-norm."""
        total: Tensor = x + (self.dropout(y) if self.training else y)
        return total if self.norm_first else self.norm(total)


@dataclass(frozen=True)
class BlockOutput:
    """What a block returns when its attention weights are asked for.

    Attributes:
        out: the new vector of each word.
        self_alpha: the self-attention's weights.
        cross_alpha: the cross-attention's weights; None in an encoder block.
    """

    out: Float[Tensor, "batch words d_model"]
    self_alpha: Float[Tensor, "batch heads words keys"] | None = None
    cross_alpha: Float[Tensor, "batch heads words source"] | None = None


class EncoderBlock(nn.Module):
    """Self-attention over the words, then the feed-forward network; with a causal mask, a block of GPT."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config.d_model, config.heads, config.attention_dropout)
        self.add_and_norm_1 = _add_and_norm(config)
        self.feed_forward = FeedForward(config.d_model, config.d_hidden, config.activation)
        self.add_and_norm_2 = _add_and_norm(config)

    def forward(
        self,
        x: Float[Tensor, "batch words d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        *,
        is_causal: bool = False,
        cache: KeyValueCache | None = None,
        need_weights: bool = False,
    ) -> BlockOutput:
        """One layer of the encoder.

        Args:
            x: the words.
            mask: where a word may attend: not to padding.
            is_causal, cache, need_weights: as for `MultiHeadAttention`.
        """
        attended = self.self_attention(
            self.add_and_norm_1.before(x), None, mask, is_causal=is_causal, cache=cache, need_weights=need_weights
        )
        x = self.add_and_norm_1(x, attended.out)
        x = self.add_and_norm_2(x, self.feed_forward(self.add_and_norm_2.before(x)))
        return BlockOutput(x, attended.alpha)


class DecoderBlock(nn.Module):
    """Masked self-attention, then cross-attention to the encoder's words, then the feed-forward network."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config.d_model, config.heads, config.attention_dropout)
        self.add_and_norm_1 = _add_and_norm(config)
        self.cross_attention: MultiHeadAttention = CrossAttention(
            config.d_model, config.heads, config.attention_dropout
        )
        self.add_and_norm_2 = _add_and_norm(config)
        self.feed_forward = FeedForward(config.d_model, config.d_hidden, config.activation)
        self.add_and_norm_3 = _add_and_norm(config)

    def forward(
        self,
        x: Float[Tensor, "batch words d_model"],
        memory: Float[Tensor, "batch source d_model"] | KeysAndValues,
        mask: Bool[Tensor, "..."] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
        *,
        is_causal: bool = False,
        cache: KeyValueCache | None = None,
        need_weights: bool = False,
    ) -> BlockOutput:
        """One layer of the decoder.

        Args:
            x: the target's words, those in the cache left out.
            memory: the encoder's output, or its keys and values for this block's cross-attention.
            mask: where a target word may attend among the target's words (causal).
            memory_mask: where it may attend among the source's words (no padding).
            is_causal, cache, need_weights: as for `MultiHeadAttention`.
        """
        attended = self.self_attention(
            self.add_and_norm_1.before(x), None, mask, is_causal=is_causal, cache=cache, need_weights=need_weights
        )
        x = self.add_and_norm_1(x, attended.out)
        crossed = self.cross_attention(self.add_and_norm_2.before(x), memory, memory_mask, need_weights=need_weights)
        x = self.add_and_norm_2(x, crossed.out)
        x = self.add_and_norm_3(x, self.feed_forward(self.add_and_norm_3.before(x)))
        return BlockOutput(x, attended.alpha, crossed.alpha)


class PlainEncoderBlock(nn.Module):
    """The same block as `EncoderBlock`, spelt out with torch's own parts, as lesson 04 writes it."""

    def __init__(self, d_model: int, heads: int, d_hidden: int, dropout: float = 0.0, norm_first: bool = False) -> None:
        super().__init__()
        self.norm_first = norm_first
        self.attention = nn.MultiheadAttention(d_model, heads, batch_first=True)
        self.norm_1 = nn.LayerNorm(d_model)
        self.W_1 = nn.Linear(d_model, d_hidden)
        self.W_2 = nn.Linear(d_hidden, d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "batch words d_model"], mask: Bool[Tensor, "batch words"]
    ) -> Float[Tensor, "batch words d_model"]:
        """Self-attention between the words where `mask` is True, then the feed-forward network at every word."""

        def attend(y: Tensor) -> Tensor:
            out: Tensor = self.attention(y, y, y, key_padding_mask=~mask, need_weights=False)[0]
            return out

        def feed_forward(y: Tensor) -> Tensor:
            out: Tensor = self.W_2(F.relu(self.W_1(y)))
            return out

        x = add_and_norm(x, attend, self.norm_1, self.dropout, self.norm_first)
        return add_and_norm(x, feed_forward, self.norm_2, self.dropout, self.norm_first)


def block_parameters(d_model: int, heads: int, d_hidden: int) -> dict[str, int]:
    """How many numbers an encoder block learns, by what they are for; biases included.

    Attention itself has none (S2), and the number of heads changes nothing: they divide the projections among them.
    """
    return {
        "attention": 0,
        "projections": 4 * (d_model * d_model + d_model),
        "feed_forward": (d_model * d_hidden + d_hidden) + (d_hidden * d_model + d_model),
        "layer_norms": 2 * (d_model + d_model),
    }


def _add_and_norm(config: BlockConfig) -> AddAndNorm:
    return AddAndNorm(config.d_model, config.dropout, norm_first=config.norm_first, epsilon=config.norm_epsilon)
