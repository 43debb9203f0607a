"""Models: the encoder-decoder transformer (T-ED) of the paper.

    encoder: source ids -> states           [batch, source, d_model]
    decoder: target ids, states -> logits   [batch, target, vocabulary]

Vaswani et al. (2017), section 3; slides S2 and S4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_lib.blocks import DecoderBlock, EncoderBlock
from course_lib.masking import causal_mask
from course_lib.positions import SinusoidalPositions


@dataclass(frozen=True)
class TransformerConfig:
    """The sizes of a transformer; those not named are the paper's base model's.

    Attributes:
        source_vocabulary: how many words the source language has.
        target_vocabulary: how many words the target language has.
        d_model: the length of a word's vector, in every layer.
        heads: in each multi-head attention; they divide `d_model` among them.
        d_hidden: the width of the feed-forward networks.
        encoder_layers: blocks in the encoder.
        decoder_layers: blocks in the decoder.
        dropout: the share of values that training drops after the embeddings and after each sublayer.
        tied_output: whether the output layer's rows are the target's word embeddings (S0).
        padding_id: the id of <pad>, in both languages.
    """

    source_vocabulary: int
    target_vocabulary: int
    d_model: int = 512
    heads: int = 8
    d_hidden: int = 2048
    encoder_layers: int = 6
    decoder_layers: int = 6
    dropout: float = 0.1
    tied_output: bool = True
    padding_id: int = 0


@dataclass(frozen=True)
class Encoded:
    """What the decoder needs to know of the source.

    Attributes:
        states: the encoder's output, a vector for each source word.
        mask: True at words, False at padding; the same for every query.
    """

    states: Float[Tensor, "batch source d_model"]
    mask: Bool[Tensor, "batch 1 source"]


class Transformer(nn.Module):
    """The encoder-decoder transformer.

    `forward` is for training, where the whole target is known. `encode` once and `decode` again and again is
    for translating.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        sizes = (config.d_model, config.heads, config.d_hidden, config.dropout)
        self.source_embedding = nn.Embedding(config.source_vocabulary, config.d_model)
        self.target_embedding = nn.Embedding(config.target_vocabulary, config.d_model)
        self.positions = SinusoidalPositions(config.d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = nn.ModuleList(EncoderBlock(*sizes) for _ in range(config.encoder_layers))
        self.decoder = nn.ModuleList(DecoderBlock(*sizes) for _ in range(config.decoder_layers))
        self.output = nn.Linear(config.d_model, config.target_vocabulary, bias=False)
        self.apply(_initialise)
        if config.tied_output:
            self.output.weight = self.target_embedding.weight

    def forward(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target vocabulary"]:
        """Logits of the word after each target word: position t has seen target words 0..t and all the source."""
        return self.decode(target, self.encode(source))

    def encode(self, source: Int[Tensor, "batch source"]) -> Encoded:
        """Read the source. Every word may attend to every other, but not to padding."""
        mask = (source != self.config.padding_id).unsqueeze(1)
        x = self._embed(source, self.source_embedding)
        for block in self.encoder:
            x = block(x, mask)
        return Encoded(x, mask)

    def decode(self, target: Int[Tensor, "batch target"], encoded: Encoded) -> Float[Tensor, "batch target vocabulary"]:
        """Logits of the word after each target word, given the encoded source."""
        mask = causal_mask(target.shape[1], device=target.device)  # hides padding too: it stands behind every word
        x = self._embed(target, self.target_embedding)
        for block in self.decoder:
            x = block(x, encoded.states, mask, encoded.mask)
        return F.linear(x, self.output.weight)

    def _embed(self, ids: Int[Tensor, "batch words"], embedding: nn.Embedding) -> Float[Tensor, "batch words d_model"]:
        scale = math.sqrt(self.config.d_model)  # embeddings are drawn small, for the tied output's sake
        x: Tensor = self.dropout(self.positions(embedding(ids) * scale))
        return x


def _initialise(module: nn.Module) -> None:
    """Glorot's uniform weights and zero biases; embeddings of length about 1."""
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
    if isinstance(module, nn.Embedding):
        nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
