"""Positions: what tells attention where a word stands.

Attention by itself sees a set: shuffle the words and its outputs are shuffled alike (S3, S4). So each
word's embedding gets a vector added that depends on its position alone; it is computed (sinusoidal) or
learned.

Vaswani et al. (2017), section 3.5; slides S2, S3 and S4.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

WAVELENGTH_BASE = 10_000.0
"""The slowest sinusoid's wavelength is nearly 2π times this many words."""


def sinusoidal_encoding(
    length: int, d_model: int, device: torch.device | str | None = None
) -> Float[Tensor, "length d_model"]:
    """One row for each position, counted from 0; a sine and a cosine for each of d_model / 2 frequencies.

        encoding[pos, 2i]     = sin(pos / 10000^(2i / d_model))
        encoding[pos, 2i + 1] = cos(pos / 10000^(2i / d_model))

    Raises:
        ValueError: `d_model` is odd, so that its last sine would have no cosine.
    """
    if d_model % 2:
        raise ValueError(f"sinusoidal positions need an even d_model, not {d_model}")
    position = torch.arange(length, device=device).unsqueeze(-1)
    frequency = WAVELENGTH_BASE ** (-torch.arange(0, d_model, 2, device=device) / d_model)
    angle = position * frequency  # [length, d_model / 2], in radians
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)


class SinusoidalPositions(nn.Module):
    """Adds the sinusoidal encoding. Nothing is learned, and there is no longest sequence."""

    encoding: Tensor

    def __init__(self, d_model: int, max_length: int = 256) -> None:
        """Computes the first `max_length` rows in advance; later ones when they are first asked for."""
        super().__init__()
        self.register_buffer("encoding", sinusoidal_encoding(max_length, d_model), persistent=False)

    def forward(self, x: Float[Tensor, "... words d_model"]) -> Float[Tensor, "... words d_model"]:
        """Each word's embedding plus the encoding of its position."""
        words, d_model = x.shape[-2:]
        if words > self.encoding.shape[0]:
            self.encoding = sinusoidal_encoding(2 * words, d_model, self.encoding.device).to(self.encoding.dtype)
        return x + self.encoding[:words]


class LearnedPositions(nn.Module):
    """Adds a learned vector for each position, as GPT and BERT do; beyond `max_length` there is none.

    Parameters:
        encoding: [max_length, d_model].
    """

    def __init__(self, d_model: int, max_length: int) -> None:
        super().__init__()
        self.encoding = nn.Parameter(torch.randn(max_length, d_model) * 0.02)  # GPT-2's and BERT's deviation

    def forward(self, x: Float[Tensor, "... words d_model"]) -> Float[Tensor, "... words d_model"]:
        """Each word's embedding plus the vector of its position.

        Raises:
            ValueError: the sequence is longer than `max_length`.
        """
        words, max_length = x.shape[-2], self.encoding.shape[0]
        if words > max_length:
            raise ValueError(f"a sequence of {words} words is longer than the {max_length} learned positions")
        return x + self.encoding[:words]
