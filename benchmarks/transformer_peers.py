"""The peers that our models are measured against.

A translator around `torch.nn.Transformer`, a GPT written like nanoGPT, and a decoding loop for it like gpt-fast's.
"""

import math
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.models import TransformerConfig
from course_lib.positions import SinusoidalPositions
from course_lib.text.tokenization import PADDING_ID


class TorchTranslator(nn.Module):
    """`torch.nn.Transformer` with the parts that it needs to translate: embeddings, positions, output layer, masks."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.source_embedding = nn.Embedding(config.source_vocab_size, config.d_model)
        self.target_embedding = nn.Embedding(config.target_vocab_size, config.d_model)
        self.positions = SinusoidalPositions(config.d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.transformer = nn.Transformer(
            config.d_model,
            config.heads,
            config.encoder_layers,
            config.decoder_layers,
            config.d_ff,
            config.dropout,
            batch_first=True,
        )
        for embedding in (self.source_embedding, self.target_embedding):
            nn.init.normal_(embedding.weight, std=config.d_model**-0.5)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Return the logits of the word after each target word."""
        padding = source == PADDING_ID
        causal = nn.Transformer.generate_square_subsequent_mask(target.shape[1], source.device).isinf()
        states = self.transformer(
            self._embed(source, self.source_embedding),
            self._embed(target, self.target_embedding),
            tgt_mask=causal,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
            tgt_is_causal=True,
        )
        return F.linear(states, self.target_embedding.weight)

    def _embed(self, ids: Tensor, embedding: nn.Embedding) -> Tensor:
        x: Tensor = self.dropout(self.positions(embedding(ids) * math.sqrt(self.config.d_model)))
        return x


class NanoBlock(nn.Module):
    """A pre-norm block: one matrix for queries, keys, values; torch's fused attention; GELU on four times the width."""

    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm_1 = nn.LayerNorm(d_model)
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.wide = nn.Linear(d_model, 4 * d_model)
        self.narrow = nn.Linear(4 * d_model, d_model)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.projected(x)
        return self.finished(x, F.scaled_dot_product_attention(q, k, v, is_causal=True))

    def projected(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values, each [batch, heads, tokens, d_head]."""
        batch, words, d_model = x.shape
        q, k, v = self.qkv(self.norm_1(x)).split(d_model, dim=2)
        shape = (batch, words, self.heads, -1)
        return q.view(shape).transpose(1, 2), k.view(shape).transpose(1, 2), v.view(shape).transpose(1, 2)

    def finished(self, x: Tensor, attended: Tensor) -> Tensor:
        """Return the block's output, from its input and the attention's output."""
        x = x + self.out(attended.transpose(1, 2).contiguous().view(x.shape))
        out: Tensor = x + self.narrow(F.gelu(self.wide(self.norm_2(x))))
        return out


class NanoGPT(nn.Module):
    """A small GPT made of torch's own layers, without dropout."""

    def __init__(self, vocab_size: int, context_length: int, d_model: int, heads: int, layers: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(context_length, d_model)
        self.blocks = nn.ModuleList(NanoBlock(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size, bias=False)
        self.output.weight = self.words.weight
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def each_block(self) -> list[NanoBlock]:
        return cast(list[NanoBlock], list(self.blocks))

    def forward(self, ids: Tensor) -> Tensor:
        """Return the logits of the word after each word."""
        x = self.words(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        logits: Tensor = self.output(self.norm(x))
        return logits


class FastDecoder(nn.Module):
    """Greedy decoding of one text as in gpt-fast: every token is the same step on a cache of fixed size."""

    places: Tensor

    def __init__(self, model: NanoGPT, length: int) -> None:
        super().__init__()
        self.model = model
        weight = model.words.weight
        for i, block in enumerate(model.each_block()):
            for name in (f"keys_{i}", f"values_{i}"):  # as buffers, because a CUDA graph may write only to those
                self.register_buffer(name, weight.new_zeros(1, block.heads, length, weight.shape[1] // block.heads))
        self.register_buffer("places", torch.arange(length, device=weight.device))

    def forward(self, token: Tensor, place: Tensor) -> Tensor:
        """Return the token after this one, [1, 1], which is at this place, [1]."""
        x = self.model.words(token) + self.model.positions(place)
        seen = (self.places <= place).unsqueeze(0)
        for i, block in enumerate(self.model.each_block()):
            q, k, v = block.projected(x)
            keys, values = self.get_buffer(f"keys_{i}"), self.get_buffer(f"values_{i}")
            keys.index_copy_(2, place, k)
            values.index_copy_(2, place, v)
            x = block.finished(x, F.scaled_dot_product_attention(q, keys, values, attn_mask=seen))
        logits: Tensor = self.model.output(self.model.norm(x))
        return logits.argmax(-1)

    @torch.inference_mode()
    def write(self, prompt: Tensor, new: int) -> Tensor:
        """Return the tokens after a prompt, [1, new]."""
        written: list[Tensor] = []
        for place in range(prompt.shape[1] + new - 1):
            token = prompt[:, place : place + 1] if place < prompt.shape[1] else written[-1]
            following = self(token, self.places[place : place + 1])
            if place >= prompt.shape[1] - 1:
                written.append(following.clone())  # the next step may overwrite it
        return torch.cat(written, dim=1)
