"""The sizes of the three models, and published sizes by name."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Literal

from course_lib.blocks import Activation, BlockConfig, Norm
from course_lib.ground.validation import check_at_least, check_one_of, check_special_ids

Extension = Literal["linear", "llama3", "yarn"]
"""Ways to use rotary positions on texts longer than those in training."""


class _Sizes:
    """A model's configuration, which includes the settings of its blocks under the same names."""

    @property
    def block(self) -> BlockConfig:
        """The settings of each block, with `BlockConfig`'s defaults where this model has no such setting."""
        names = [field.name for field in fields(BlockConfig)]
        return BlockConfig(**{name: getattr(self, name) for name in names if hasattr(self, name)})


@dataclass(frozen=True)
class TransformerConfig(_Sizes):
    """The sizes of an encoder-decoder transformer, by default the paper's base model's.

    `base` is that model in full: both languages share one vocabulary, and its embedding.

    Attributes:
        source_vocab_size: how many tokens the source language has.
        target_vocab_size: how many tokens the target language has.
        d_model: the length of a token's vector, in every layer.
        heads: the number of heads in each attention, which divide `d_model` among them.
        d_ff: the width of the feed-forward networks.
        encoder_layers: the number of blocks in the encoder.
        decoder_layers: the number of blocks in the decoder.
        dropout: the probability of dropping a value after the embeddings and after each sublayer, in training.
        tied_output: whether the output layer's rows are the target's token embeddings (S0).
        padding_id: the id of <pad>, in both languages.
        start_id: the id that every target begins with, <s>.
        end_id: the id that every target ends with, <e>.
        shared_embeddings: whether both languages have one vocabulary, and one embedding for it.
        output_bias: whether the output layer adds a learned number to each token's score.
        attention_dropout: the probability of dropping an attention weight, in training.
        activation: the activation of the feed-forward networks.
        norm_first: whether to use pre-norm instead of post-norm.
        norm_epsilon: added to the variance in each layer norm.
    """

    source_vocab_size: int
    target_vocab_size: int
    d_model: int = 512
    heads: int = 8
    d_ff: int = 2048
    encoder_layers: int = 6
    decoder_layers: int = 6
    dropout: float = 0.1
    tied_output: bool = True
    padding_id: int = 0
    start_id: int = 1
    end_id: int = 2
    shared_embeddings: bool = False
    output_bias: bool = False
    attention_dropout: float = 0.0
    activation: Activation = "relu"
    norm_first: bool = False
    norm_epsilon: float = 1e-5

    def __post_init__(self) -> None:
        check_at_least(1, source_vocab_size=self.source_vocab_size, target_vocab_size=self.target_vocab_size)
        check_at_least(1, encoder_layers=self.encoder_layers, decoder_layers=self.decoder_layers)
        check_special_ids(min(self.source_vocab_size, self.target_vocab_size), padding_id=self.padding_id)
        check_special_ids(self.target_vocab_size, start_id=self.start_id, end_id=self.end_id)
        _ = self.block  # raises an error if sizes are impossible
        if self.shared_embeddings and self.source_vocab_size != self.target_vocab_size:
            raise ValueError(
                "shared embeddings need one vocabulary, "
                f"not {self.source_vocab_size} and {self.target_vocab_size} tokens"
            )

    @classmethod
    def base(cls, vocab_size: int = 37_000) -> TransformerConfig:
        """Return the paper's base model (table 3), for a vocabulary of both languages (37,000 for English-German)."""
        return cls(vocab_size, vocab_size, shared_embeddings=True)

    @classmethod
    def big(cls, vocab_size: int = 37_000) -> TransformerConfig:
        """Return the paper's big model (table 3): twice as wide, twice the heads, three times the dropout."""
        return cls(vocab_size, vocab_size, 1024, 16, 4096, dropout=0.3, shared_embeddings=True)


@dataclass(frozen=True)
class RotaryConfig:
    """The settings of rotary positions, `course_lib.modern.rotary.RotaryPositions`.

    Attributes:
        base: the base of the frequencies; the larger it is, the more slowly the slowest pairs turn.
        extension: how to handle texts longer than those in training: turn every pair more slowly ("linear"), only those
            that turned little in training, as in Llama 3.1 ("llama3"), or as in YaRN ("yarn").
        factor: how many times as long the texts may be.
        trained_context: the number of tokens in the longest training text, for "llama3" and "yarn".
        few, many: for these two: a pair that turns fewer than `few` times within that context is slowed by the whole
            factor; a pair that turns more than `many` times is not slowed. None means 4 for "llama3" and 32 for "yarn".
    """

    base: float = 10_000.0
    extension: Extension | None = None
    factor: float = 1.0
    trained_context: int = 0
    few: float = 1.0
    many: float | None = None

    def __post_init__(self) -> None:
        if self.extension is not None:
            check_one_of(Extension, extension=self.extension)
        if not 1 < self.base < math.inf:
            raise ValueError(f"base must be above 1 and finite, not {self.base}")
        if not 1 <= self.factor < math.inf:
            raise ValueError(f"factor must be at least 1 and finite, not {self.factor}")
        if self.extension in ("llama3", "yarn"):
            check_at_least(1, trained_context=self.trained_context)
        if not 0 < self.few < (math.inf if self.many is None else self.many):
            raise ValueError(f"few must be above 0 and below many, not {self.few} with many={self.many}")


@dataclass(frozen=True)
class GPTConfig(_Sizes):
    """The sizes of a decoder-only transformer, by default the smallest GPT-2's.

    `gpt2` is that model in full: with its activation, its attention dropout and its end of text.

    Attributes:
        vocab_size: the number of tokens in the vocabulary.
        context_length: the longest sequence.
        d_model: the length of a token's vector, in every layer.
        heads: the number of heads in each attention, which divide `d_model` among them.
        layers: the number of blocks.
        d_ff: the width of the feed-forward networks.
        dropout: the probability of dropping a value after the embeddings and after each sublayer, in training.
        activation: the activation of the feed-forward networks.
        norm_first: whether to use pre-norm instead of post-norm.
        tied_output: whether the output layer's rows are the token embeddings (S0).
        attention_dropout: the probability of dropping an attention weight, in training.
        norm_epsilon: added to the variance in each layer norm.
        end_id: the id that ends a text, or a tuple of several, as Llama 3 has; None if texts have no end.
        padding_id: the id of padding in prompts of different lengths; None if there is none.
        norm, gated, bias, qkv_bias, key_value_heads, d_head, qk_norm: as in `BlockConfig`; GPT-2's by default.
        rotary: how positions turn queries and keys; None to learn a vector for each position instead.
        window: how many tokens a token attends to, itself included; None for all before it.
        windowed: the blocks with a window, counted from 0; None for all of them.
    """

    vocab_size: int
    context_length: int = 1024
    d_model: int = 768
    heads: int = 12
    layers: int = 12
    d_ff: int = 3072
    dropout: float = 0.1
    activation: Activation = "gelu"
    norm_first: bool = True
    tied_output: bool = True
    attention_dropout: float = 0.0
    norm_epsilon: float = 1e-5
    end_id: int | tuple[int, ...] | None = None
    padding_id: int | None = None
    norm: Norm = "layer"
    gated: bool = False
    bias: bool = True
    qkv_bias: bool | None = None
    key_value_heads: int | None = None
    d_head: int | None = None
    qk_norm: bool = False
    rotary: RotaryConfig | None = None
    window: int | None = None
    windowed: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        check_at_least(1, vocab_size=self.vocab_size, context_length=self.context_length, layers=self.layers)
        check_special_ids(self.vocab_size, padding_id=self.padding_id)
        for end in self.end_ids:
            check_special_ids(self.vocab_size, end_id=end)
        d_head = self.block.head_dim  # raises an error if sizes are impossible
        if self.rotary and d_head % 2:
            raise ValueError(f"rotary positions turn pairs of numbers, so d_head must be even, not {d_head}")
        if self.window is not None:
            check_at_least(1, window=self.window)
        if self.windowed is not None and not set(self.windowed) <= set(range(self.layers)):
            raise ValueError(f"windowed must name blocks from 0 to {self.layers - 1}, not {self.windowed}")

    @classmethod
    def gpt2(cls) -> GPTConfig:
        """Return the smallest GPT-2: 12 layers."""
        return cls._gpt2(768, 12, 12)

    @classmethod
    def gpt2_medium(cls) -> GPTConfig:
        """Return GPT-2 with 24 layers."""
        return cls._gpt2(1024, 16, 24)

    @classmethod
    def gpt2_large(cls) -> GPTConfig:
        """Return GPT-2 with 36 layers."""
        return cls._gpt2(1280, 20, 36)

    @classmethod
    def gpt2_xl(cls) -> GPTConfig:
        """Return GPT-2 with 48 layers."""
        return cls._gpt2(1600, 25, 48)

    @classmethod
    def _gpt2(cls, d_model: int, heads: int, layers: int) -> GPTConfig:
        return cls(
            vocab_size=50_257,
            context_length=1024,
            d_model=d_model,
            heads=heads,
            layers=layers,
            d_ff=4 * d_model,
            activation="gelu_tanh",
            attention_dropout=0.1,
            end_id=50_256,
        )

    @classmethod
    def llama(
        cls,
        vocab_size: int,
        d_model: int,
        heads: int,
        layers: int,
        d_ff: int,
        context_length: int = 2048,
        **changes: Any,
    ) -> GPTConfig:
        """Return a model with Llama's block: RMSNorm, rotary positions, SwiGLU, no biases (Touvron et al., 2023).

        Pass later changes as further fields: `GPTConfig.llama(..., key_value_heads=4, qk_norm=True, window=1024)`.
        """
        fields: dict[str, Any] = {
            "dropout": 0.0,
            "activation": "silu",
            "tied_output": False,
            "norm_epsilon": 1e-6,
            "norm": "rms",
            "gated": True,
            "bias": False,
            "rotary": RotaryConfig(),
        }
        return cls(vocab_size, context_length, d_model, heads, layers, d_ff, **fields | changes)

    @property
    def end_ids(self) -> tuple[int, ...]:
        """All ids that end a text."""
        if self.end_id is None:
            return ()
        return self.end_id if isinstance(self.end_id, tuple) else (self.end_id,)

    def window_of(self, layer: int) -> int | None:
        """Return how many tokens a token attends to in this block, counted from 0; None for all before it."""
        return self.window if self.windowed is None or layer in self.windowed else None


@dataclass(frozen=True)
class BERTConfig(_Sizes):
    """The sizes of an encoder-only transformer, by default BERT base's (uncased).

    Attributes:
        vocab_size: the number of tokens in the vocabulary.
        context_length: the longest sequence.
        d_model: the length of a token's vector, in every layer.
        heads: the number of heads in each attention, which divide `d_model` among them.
        layers: the number of blocks.
        d_ff: the width of the feed-forward networks.
        segments: the number of texts that a sequence may hold.
        dropout: the probability of dropping a value after the embeddings and after each sublayer, in training.
        attention_dropout: the probability of dropping an attention weight, in training.
        activation: the activation of the feed-forward networks.
        norm_epsilon: added to the variance in each layer norm.
        pooler_activation: the activation after the pooler's layer; "relu" in DistilBERT.
    """

    vocab_size: int = 30_522
    context_length: int = 512
    d_model: int = 768
    heads: int = 12
    layers: int = 12
    d_ff: int = 3072
    segments: int = 2
    dropout: float = 0.1
    attention_dropout: float = 0.1
    activation: Activation = "gelu"
    norm_epsilon: float = 1e-12
    pooler_activation: Literal["tanh", "relu"] = "tanh"

    def __post_init__(self) -> None:
        check_at_least(1, vocab_size=self.vocab_size, context_length=self.context_length, layers=self.layers)
        check_at_least(1, segments=self.segments)
        check_one_of(Literal["tanh", "relu"], pooler_activation=self.pooler_activation)
        _ = self.block  # raises an error if sizes are impossible

    @classmethod
    def base(cls) -> BERTConfig:
        """Return BERT base, uncased."""
        return cls()

    @classmethod
    def large(cls) -> BERTConfig:
        """Return BERT large, uncased."""
        return cls(d_model=1024, heads=16, layers=24, d_ff=4096)
