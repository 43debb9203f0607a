"""The transformer's blocks: attention and a feed-forward network, each joined to its input by "add & norm".

Every block takes and returns [batch, tokens, d_model], which is why blocks can be stacked. The norm comes
after the residual connection (post-norm), as in the paper and in BERT, or before the sublayer (pre-norm), as
in GPT-2; pre-norm leaves a path from the first embedding to the last block on which nothing is rescaled.

    post-norm:  x = layer_norm(x + dropout(sublayer(x)))
    pre-norm:   x = x + dropout(sublayer(layer_norm(x)))

Vaswani et al. (2017), sections 3.1, 3.3 and 5.4; Xiong et al. (2020), "On Layer Normalization in the
Transformer Architecture"; slides S2, S3 and S4.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from course_lib.ground.validation import (
    check_at_least,
    check_divisible,
    check_not_negative,
    check_one_of,
    check_probability,
)
from course_lib.multihead import (
    CrossAttention,
    KeysAndValues,
    LayerKVCache,
    MultiHeadAttention,
    Rotate,
)

Activation = Literal["relu", "gelu", "gelu_tanh", "silu"]
"""The feed-forward network's: ReLU in the paper, GELU in BERT, its approximation in GPT-2, SiLU in Marian and Llama."""

Norm = Literal["layer", "rms"]
"""The paper's layer norm, or RMSNorm, as in Llama."""

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,  # x Φ(x), by the error function
    "gelu_tanh": partial(F.gelu, approximate="tanh"),  # the approximation that GPT-2 was trained with
    "silu": F.silu,
}


@dataclass(frozen=True)
class BlockConfig:
    """The settings of one block, shared by all blocks of a model.

    Attributes:
        d_model: the length of a token's vector.
        heads: the number of attention heads; each gets d_model / heads numbers of a vector, or `d_head`.
        d_ff: the width of the feed-forward network.
        dropout: the probability of dropping a value that a sublayer adds, in training.
        attention_dropout: the probability of dropping an attention weight, in training.
        activation: the activation of the feed-forward network.
        norm_first: whether to use pre-norm instead of post-norm.
        norm_epsilon: added to the variance, or to the mean square, in each norm.
        norm: a layer norm or RMSNorm.
        gated: whether the feed-forward network has a gate; with SiLU it is SwiGLU.
        bias: whether linear layers and layer norms have a bias.
        qkv_bias: whether W_q, W_k and W_v have a bias; None to follow `bias`.
        key_value_heads: the number of heads for keys and values; None for as many as for queries.
        d_head: the length of a query, key or value in each head; None for d_model / heads.
        qk_norm: whether queries and keys are normalized before they meet.
    """

    d_model: int
    heads: int
    d_ff: int
    dropout: float = 0.0
    attention_dropout: float = 0.0
    activation: Activation = "relu"
    norm_first: bool = False
    norm_epsilon: float = 1e-5
    norm: Norm = "layer"
    gated: bool = False
    bias: bool = True
    qkv_bias: bool | None = None
    key_value_heads: int | None = None
    d_head: int | None = None
    qk_norm: bool = False

    def __post_init__(self) -> None:
        check_at_least(1, d_model=self.d_model, heads=self.heads, d_ff=self.d_ff)
        if self.d_head is None:
            check_divisible(self.d_model, self.heads)
        check_at_least(1, key_value_heads=self.kv_heads, d_head=self.head_dim)
        if self.heads % self.kv_heads:
            raise ValueError(f"heads must be a multiple of key_value_heads, not {self.heads} for {self.kv_heads}")
        check_one_of(Norm, norm=self.norm)
        check_one_of(Activation, activation=self.activation)
        check_probability(dropout=self.dropout, attention_dropout=self.attention_dropout)
        check_not_negative(norm_epsilon=self.norm_epsilon)

    @property
    def kv_heads(self) -> int:
        """The number of heads for keys and values: `key_value_heads`, or `heads` if that is None."""
        return self.heads if self.key_value_heads is None else self.key_value_heads

    @property
    def head_dim(self) -> int:
        """The length of a query, key or value in each head: `d_head`, or d_model / heads if that is None."""
        return self.d_model // self.heads if self.d_head is None else self.d_head


class FeedForward(nn.Module):
    """The same small network for every token: FFN(x) = activation(x W_1 + b_1) W_2 + b_2."""

    def __init__(self, d_model: int, d_ff: int, activation: Activation = "relu", *, bias: bool = True) -> None:
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff, bias=bias)
        self.activation = activation
        self.W_2 = nn.Linear(d_ff, d_model, bias=bias)

    def forward(self, x: Float[Tensor, "... d_model"]) -> Float[Tensor, "... d_model"]:
        """Transform each token's vector by itself; nothing passes between tokens here."""
        hidden = ACTIVATIONS[self.activation](self.W_1(x))
        out: Tensor = self.W_2(hidden)
        return out


class _AddAndNorm(nn.Module):
    """The norm, the dropout and the residual connection around one sublayer, attention or feed-forward.

    A block computes x = add(x, sublayer(sublayer_input(x))); the two subclasses differ in where the norm goes. In
    evaluation, `nn.Dropout` is not called: the call would take as long as the norm.
    """

    def __init__(self, norm: nn.Module, dropout: float) -> None:
        super().__init__()
        self.norm = norm
        self.dropout = nn.Dropout(dropout)


class PostNorm(_AddAndNorm):
    """norm(x + dropout(sublayer(x))), as in the paper and in BERT."""

    def sublayer_input(self, x: Float[Tensor, "batch tokens d_model"]) -> Float[Tensor, "batch tokens d_model"]:
        """Give the sublayer x itself."""
        return x

    def add(
        self, x: Float[Tensor, "batch tokens d_model"], y: Float[Tensor, "batch tokens d_model"]
    ) -> Float[Tensor, "batch tokens d_model"]:
        """Return norm(x + dropout(y)), where y is the sublayer's output."""
        out: Tensor = self.norm(x + (self.dropout(y) if self.training else y))
        return out


class PreNorm(_AddAndNorm):
    """x + dropout(sublayer(norm(x))), as in GPT-2 and Llama."""

    def sublayer_input(self, x: Float[Tensor, "batch tokens d_model"]) -> Float[Tensor, "batch tokens d_model"]:
        """Give the sublayer norm(x)."""
        out: Tensor = self.norm(x)
        return out

    def add(
        self, x: Float[Tensor, "batch tokens d_model"], y: Float[Tensor, "batch tokens d_model"]
    ) -> Float[Tensor, "batch tokens d_model"]:
        """Return x + dropout(y), where y is the sublayer's output."""
        return x + (self.dropout(y) if self.training else y)


@dataclass(frozen=True)
class BlockOutput:
    """A block's output, with its attention weights if they were asked for.

    Attributes:
        out: the new vector of each token.
        self_alpha: the self-attention's weights.
        cross_alpha: the cross-attention's weights; None in an encoder block.
    """

    out: Float[Tensor, "batch tokens d_model"]
    self_alpha: Float[Tensor, "batch heads tokens keys"] | None = None
    cross_alpha: Float[Tensor, "batch heads tokens source"] | None = None


def make_norm(config: BlockConfig) -> nn.Module:
    """Return the norm that a configuration names."""
    if config.norm == "rms":
        return nn.RMSNorm(config.d_model, config.norm_epsilon)
    return nn.LayerNorm(config.d_model, config.norm_epsilon, bias=config.bias)


def make_attention(config: BlockConfig) -> MultiHeadAttention:
    """Return the self-attention that a configuration names."""
    d_model, heads, dropout = config.d_model, config.heads, config.attention_dropout
    if config.key_value_heads is None and config.qkv_bias is None and not config.qk_norm:
        return MultiHeadAttention(d_model, heads, dropout, bias=config.bias, d_head=config.d_head)
    from course_lib.modern.grouped_query import (
        GroupedQueryAttention,  # imported late: a lesson may withhold it
    )

    return GroupedQueryAttention(
        d_model,
        heads,
        config.key_value_heads,
        dropout,
        d_head=config.d_head,
        bias=config.bias,
        qkv_bias=config.qkv_bias,
        norm=partial(nn.RMSNorm, eps=config.norm_epsilon) if config.qk_norm else None,
    )


def make_feed_forward(config: BlockConfig) -> nn.Module:
    """Return the feed-forward network that a configuration names."""
    if not config.gated:
        return FeedForward(config.d_model, config.d_ff, config.activation, bias=config.bias)
    from course_lib.modern.swiglu import GatedFeedForward  # imported late: a lesson may withhold it

    return GatedFeedForward(config.d_model, config.d_ff, ACTIVATIONS[config.activation], bias=config.bias)


def make_add_and_norm(config: BlockConfig) -> PreNorm | PostNorm:
    """Return the residual connection and the norm around one sublayer."""
    return (PreNorm if config.norm_first else PostNorm)(make_norm(config), config.dropout)


class EncoderBlock(nn.Module):
    """Self-attention over the tokens, then the feed-forward network; with a causal mask, a block of GPT."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.self_attention = make_attention(config)
        self.add_and_norm_1 = make_add_and_norm(config)
        self.feed_forward = make_feed_forward(config)
        self.add_and_norm_2 = make_add_and_norm(config)

    def forward(
        self,
        x: Float[Tensor, "batch tokens d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        *,
        is_causal: bool = False,
        kv_cache: LayerKVCache | None = None,
        rotate: Rotate | None = None,
        need_weights: bool = False,
    ) -> BlockOutput:
        """Run one layer of the encoder, or of GPT: attention, add & norm, feed-forward network, add & norm.

        Args:
            x: the tokens.
            mask: [queries, keys], or [batch, 1 or queries, keys]: True where a token may attend. In the encoder the
                mask hides padding, in GPT also the future.
            is_causal, kv_cache, rotate, need_weights: as for `MultiHeadAttention`.
        """
        attended = self.self_attention(
            self.add_and_norm_1.sublayer_input(x),
            mask=mask,
            is_causal=is_causal,
            kv_cache=kv_cache,
            rotate=rotate,
            need_weights=need_weights,
        )
        x = self.add_and_norm_1.add(x, attended.out)
        fed = self.feed_forward(self.add_and_norm_2.sublayer_input(x))
        return BlockOutput(self.add_and_norm_2.add(x, fed), attended.alpha)


class DecoderBlock(nn.Module):
    """Masked self-attention, then cross-attention to the encoder's tokens, then the feed-forward network.

    Cross-attention is the paper's, whatever kind of self-attention the configuration names.
    """

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.self_attention = make_attention(config)
        self.add_and_norm_1 = make_add_and_norm(config)
        self.cross_attention: MultiHeadAttention = CrossAttention(
            config.d_model, config.heads, config.attention_dropout, bias=config.bias
        )
        self.add_and_norm_2 = make_add_and_norm(config)
        self.feed_forward = make_feed_forward(config)
        self.add_and_norm_3 = make_add_and_norm(config)

    def forward(
        self,
        x: Float[Tensor, "batch tokens d_model"],
        memory: Float[Tensor, "batch source d_model"] | KeysAndValues,
        mask: Bool[Tensor, "..."] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
        *,
        is_causal: bool = False,
        kv_cache: LayerKVCache | None = None,
        need_weights: bool = False,
    ) -> BlockOutput:
        """Run one layer of the decoder.

        Args:
            x: the target's tokens, without those in the cache.
            memory: the encoder's output, or its keys and values for this block's cross-attention.
            mask: [target, keys], or [batch, target, keys]: where a target token may attend among the target's tokens
                (causal).
            memory_mask: [batch, 1, source]: where a target token may attend among the source's tokens (not to padding).
            is_causal, kv_cache, need_weights: as for `MultiHeadAttention`.
        """
        attended = self.self_attention(
            self.add_and_norm_1.sublayer_input(x),
            mask=mask,
            is_causal=is_causal,
            kv_cache=kv_cache,
            need_weights=need_weights,
        )
        x = self.add_and_norm_1.add(x, attended.out)
        crossed = self.cross_attention(
            self.add_and_norm_2.sublayer_input(x), memory, memory_mask, need_weights=need_weights
        )
        x = self.add_and_norm_2.add(x, crossed.out)
        fed = self.feed_forward(self.add_and_norm_3.sublayer_input(x))
        return BlockOutput(self.add_and_norm_3.add(x, fed), attended.alpha, crossed.alpha)
