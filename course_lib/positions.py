"""Positions: what tells attention where a token is (lesson 03).

Attention by itself sees a set: shuffle the tokens and its outputs are shuffled alike (S4). So each token's embedding
gets a vector added that depends on its position alone; it is computed (sinusoidal) or learned. The module begins with
what a shuffle changes, then two simpler ideas, so that the lesson can show where they fail.

Vaswani et al. (2017), section 3.5; slides S2, S3 and S4.
"""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

WAVELENGTH_BASE = 10_000.0
"""The slowest sinusoid's wavelength is nearly 2π times this many tokens."""

ROUNDING = 1e-4
"""Numbers of size 1 may differ by less than this if they were added up in another order."""


def order_matters(
    model: Callable[[Tensor], Tensor], x: Float[Tensor, "batch tokens d_model"], order: Int[Tensor, " tokens"]
) -> Bool[Tensor, "batch tokens"]:
    """Return which tokens of shuffled sentences get a different vector than before, wherever they are now.

    No token does if the model is equivariant to permutations (Lee et al., 2019, "Set Transformer"), as self-attention
    without positions is: a shuffle moves each vector along with its token, and changes none.

    Args:
        model: takes [batch, tokens, d_model] and returns a vector for each token.
        x: the sentences.
        order: token i of a shuffled sentence is token order[i] of the old one.
    """
    moved = model(x)[:, order]
    difference = (model(x[:, order]) - moved).abs()
    return difference.amax(dim=-1) > ROUNDING


def same_under_causal_mask(order: Int[Tensor, " tokens"]) -> Bool[Tensor, " tokens"]:
    """Return which tokens of a shuffled sentence get the same vector as before from one causal self-attention.

    These are the tokens that attend to the same tokens as before, in any order: they keep their place, and what was
    before them still is. All others depend on the order, although no position was added.

    Args:
        order: token i of the shuffled sentence is token order[i] of the old one.
    """
    position = torch.arange(len(order), device=order.device)
    return (order == position) & (order.cummax(dim=0).values == position)


def appended_index(x: Float[Tensor, "... tokens d_model"]) -> Float[Tensor, "... tokens d_model+1"]:
    """Return each token's vector with its position, counted from 0, as one more number (S4: the easiest idea).

    It fails: the number grows without bound, and soon drowns the others.
    """
    index = torch.arange(x.shape[-2], dtype=x.dtype, device=x.device).unsqueeze(-1)
    return torch.cat([x, index.expand(*x.shape[:-1], 1)], dim=-1)


def binary_counting(length: int, bits: int, device: torch.device | str | None = None) -> Float[Tensor, "length bits"]:
    """Return positions as binary numbers, lowest bit first: bit i of row pos is ⌊pos / 2^i⌋ mod 2 (S4).

    Bounded, but it jumps: from 7 to 8 four bits change, from 8 to 9 one. Sinusoids are its smooth form.

    Raises:
        ValueError: `bits` cannot count that far.
    """
    if length > 2**bits:
        raise ValueError(f"{bits} bits count {2**bits} positions, not {length}")
    position = torch.arange(length, device=device).unsqueeze(-1)
    return (position >> torch.arange(bits, device=device)).bitwise_and(1).float()


def _frequencies(d_model: int, device: torch.device | str | None) -> Float[Tensor, " pairs"]:
    """Return one angular frequency, in radians per token, for each pair of dimensions: 10000^(-2i / d_model)."""
    if d_model % 2:
        raise ValueError(f"sinusoidal positions need an even d_model, not {d_model}")
    return WAVELENGTH_BASE ** (-torch.arange(0, d_model, 2, device=device) / d_model)


def sinusoidal_encoding(
    length: int, d_model: int, device: torch.device | str | None = None
) -> Float[Tensor, "length d_model"]:
    """Return one row for each position, counted from 0; a sine and a cosine for each of d_model / 2 frequencies.

        encoding[pos, 2i]     = sin(pos / 10000^(2i / d_model))
        encoding[pos, 2i + 1] = cos(pos / 10000^(2i / d_model))

    Raises:
        ValueError: `d_model` is odd, so that its last sine would have no cosine.
    """
    position = torch.arange(length, device=device).unsqueeze(-1)
    angle = position * _frequencies(d_model, device)  # [length, d_model / 2], in radians
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)


def shift_matrix(
    shift: int, d_model: int, device: torch.device | str | None = None
) -> Float[Tensor, "d_model d_model"]:
    """Return the matrix M with encoding[pos + shift] = M encoding[pos], the same for every position (S4).

    A shift turns each pair (sin, cos) by its own angle, frequency · shift, so M holds one 2 x 2 rotation for
    each frequency on its diagonal: [[cos, sin], [-sin, cos]]. This is why the paper hopes that a model
    can learn to attend by relative positions (section 3.5).

    Raises:
        ValueError: `d_model` is odd.
    """
    angle = shift * _frequencies(d_model, device)
    rotations = torch.stack([angle.cos(), angle.sin(), -angle.sin(), angle.cos()], dim=-1)  # [pairs, 4]
    matrix: Tensor = torch.block_diag(*rotations.view(-1, 2, 2))
    return matrix


def alibi_weights(scaled: Float[Tensor, "... heads tokens tokens"]) -> Float[Tensor, "... heads tokens tokens"]:
    """Return causal attention weights with ALiBi, which lowers each score in proportion to the distance of its key.

    Head h of n, counted from 1, subtracts 2^(-8h / n) for each token between query and key. No position is added to the
    embeddings (Press et al., 2022, "Train Short, Test Long"; its slopes for numbers of heads that are powers of two).
    """
    heads, tokens = scaled.shape[-3:-1]
    position = torch.arange(tokens, device=scaled.device)
    distance = position.unsqueeze(-1) - position
    slope = 2.0 ** (-8.0 / heads * torch.arange(1, heads + 1, dtype=scaled.dtype, device=scaled.device))
    biased = scaled - slope.view(-1, 1, 1) * distance
    return biased.masked_fill(distance < 0, -torch.inf).softmax(dim=-1)


class _AddedPositions(nn.Module):
    """Adds a vector for each position, `encoding`, [positions, d_model]."""

    encoding: Tensor

    def forward(
        self,
        x: Float[Tensor, "... tokens d_model"],
        start: int = 0,
        position_ids: Int[Tensor, "batch tokens"] | None = None,
    ) -> Float[Tensor, "... tokens d_model"]:
        """Add to each token's embedding the vector of its position.

        Args:
            x: embeddings.
            start: the position of the first token; the others follow it.
            position_ids: the position of each token, below start + tokens, if padding interrupts the sequence.

        Raises:
            ValueError: the embeddings have another d_model, or there are more tokens than learned positions.
        """
        tokens, d_model = x.shape[-2:]
        if d_model != self.encoding.shape[1]:
            wanted = self.encoding.shape[1]
            raise ValueError(f"the embeddings must be as long as the positions, {wanted}, not {d_model}")
        if start + tokens > self.encoding.shape[0]:
            self._lengthen(start + tokens)
        return x + (self.encoding.narrow(0, start, tokens) if position_ids is None else self.encoding[position_ids])

    def _lengthen(self, tokens: int) -> None:
        """Make room for this many tokens."""
        raise NotImplementedError


class SinusoidalPositions(_AddedPositions):
    """Adds the sinusoidal encoding. Nothing is learned, and a sequence may have any length."""

    def __init__(self, d_model: int, context_length: int = 256) -> None:
        """Compute the first `context_length` rows in advance; later ones follow when they are needed."""
        super().__init__()
        self.register_buffer("encoding", sinusoidal_encoding(context_length, d_model), persistent=False)

    def _lengthen(self, tokens: int) -> None:
        with torch.inference_mode(False):  # a tensor made in inference mode could not be trained with
            longer = sinusoidal_encoding(2 * tokens, self.encoding.shape[1], self.encoding.device)
            self.encoding = longer.to(self.encoding.dtype)


class LearnedPositions(_AddedPositions):
    """Adds a learned vector for each position, as GPT and BERT do; beyond `context_length` there is none.

    Parameters:
        encoding: [context_length, d_model].
    """

    def __init__(self, d_model: int, context_length: int) -> None:
        super().__init__()
        self.encoding = nn.Parameter(torch.randn(context_length, d_model) * 0.02)  # deviation of GPT-2 and BERT

    def _lengthen(self, tokens: int) -> None:
        raise ValueError(f"a sequence of {tokens} tokens is longer than the {len(self.encoding)} learned positions")
