"""What the models are measured against where no library has it: a language model as in nanoGPT, written anew."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class NanoBlock(nn.Module):
    """Pre-norm: one matrix for queries, keys and values, torch's fused attention, GELU on four times the width."""

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
        batch, words, d_model = x.shape
        q, k, v = (
            piece.view(batch, words, self.heads, -1).transpose(1, 2)
            for piece in self.qkv(self.norm_1(x)).split(d_model, dim=2)
        )
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).contiguous().view(batch, words, d_model))
        out: Tensor = x + self.narrow(F.gelu(self.wide(self.norm_2(x))))
        return out


class NanoGPT(nn.Module):
    """A small GPT of torch's own layers, without dropout."""

    def __init__(self, vocabulary: int, context: int, d_model: int, heads: int, layers: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, d_model)
        self.positions = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(NanoBlock(d_model, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocabulary, bias=False)
        self.output.weight = self.words.weight
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, ids: Tensor) -> Tensor:
        """Logits of the word after each word."""
        x = self.words(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        logits: Tensor = self.output(self.norm(x))
        return logits
