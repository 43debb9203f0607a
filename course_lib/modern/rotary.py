"""Rotary positions: queries and keys are turned by their tokens' positions, so that a score depends on the distance.

Each pair of a query's numbers is a point in the plane, and turns by its own angle with every token:

    rotated[2i]     = cos(pos f_i) x[2i] - sin(pos f_i) x[2i + 1]
    rotated[2i + 1] = sin(pos f_i) x[2i] + cos(pos f_i) x[2i + 1]     f_i = base^(-2i / d_head)

If a query is turned by pos and a key by pos', their dot product depends only on pos - pos' (the shift matrix of
`course_lib.positions` is the same rotation). Su et al. (2021), "RoFormer", section 3.2 and equation 34. Llama's
published weights pair x[i] with x[i + d_head / 2] instead; `course_lib.published` reorders them.

To handle positions beyond those in training, a model turns more slowly. `interpolated`, `llama3_frequencies` and
`yarn_frequencies` compute how much, each for longer texts and at less cost to short ones than the one before.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

if TYPE_CHECKING:
    from course_lib.configurations import RotaryConfig

FIRST_TABLE = 256
"""The number of positions whose cosines and sines are computed at first; more follow when they are needed."""


def rotary_frequencies(d_head: int, base: float = 10_000.0) -> Float[Tensor, " pairs"]:
    """Return how far each pair turns with every token, in radians: base^(-2i / d_head)."""
    return 1 / base ** (torch.arange(0, d_head, 2, device="cpu") / d_head)


def interpolated(frequencies: Float[Tensor, " pairs"], factor: float) -> Float[Tensor, " pairs"]:
    """Slow every pair down by `factor`: a text `factor` times as long then covers the angles of training.

    Chen et al. (2023), "Extending Context Window of Large Language Models via Positional Interpolation", equation 4.
    """
    return frequencies / factor


def llama3_frequencies(
    frequencies: Float[Tensor, " pairs"], factor: float, trained_context: int, few: float = 1.0, many: float = 4.0
) -> Float[Tensor, " pairs"]:
    """Interpolate pairs that turned fewer than `few` times in training, but not those of `many` turns or more.

    In between, the share that is left alone grows linearly with the turns: YaRN's "NTK-by-parts" (section 3.2) as Llama
    3.1 computes it (Grattafiori et al., 2024, "The Llama 3 Herd of Models", section 3.4.2, for the context).

    Args:
        frequencies: the frequency of each pair, in radians per token.
        factor: how many times as long the texts may be.
        trained_context: the number of tokens in the longest training text.
        few, many: numbers of turns within the trained context.
    """
    turns = trained_context * frequencies / (2 * math.pi)
    left_alone = ((turns - few) / (many - few)).clamp(0, 1)
    return left_alone * frequencies + (1 - left_alone) * interpolated(frequencies, factor)


def yarn_frequencies(
    frequencies: Float[Tensor, " pairs"],
    factor: float,
    trained_context: int,
    base: float,
    few: float = 1.0,
    many: float = 32.0,
) -> Float[Tensor, " pairs"]:
    """Do as `llama3_frequencies` does, but linearly from pair to pair, as in YaRN's published models.

    Args:
        frequencies, factor, trained_context, few, many: as for `llama3_frequencies`.
        base: the base of the frequencies.
    """
    pairs = len(frequencies)
    first, last = (_pair_of(turns, trained_context, base, pairs) for turns in (many, few))
    first, last = max(math.floor(first), 0), min(math.ceil(last), 2 * pairs - 1)
    interpolate = ((torch.arange(pairs, device="cpu") - first) / max(last - first, 0.001)).clamp(0, 1)
    return (1 - interpolate) * frequencies + interpolate * interpolated(frequencies, factor)


def _pair_of(turns: float, context_length: int, base: float, pairs: int) -> float:
    """Return the pair i, from 0, that turns this often in a context: base^(-i / pairs) context = 2π turns."""
    return pairs * math.log(context_length / (2 * math.pi * turns)) / math.log(base)


def yarn_scale(factor: float) -> float:
    """Return YaRN's factor for queries and keys, so that a longer text does not flatten alpha: 0.1 ln(factor) + 1.

    Peng et al. (2023), section 3.4, equation 22: the square root of 1 / t.
    """
    return 0.1 * math.log(factor) + 1.0


def rotate(
    x: Float[Tensor, "... tokens d_head"],
    cosine: Float[Tensor, "... tokens pairs"],
    sine: Float[Tensor, "... tokens pairs"],
) -> Float[Tensor, "... tokens d_head"]:
    """Turn each pair of neighboring numbers by its angle, by the formula above; compute half precision in single."""
    pairs = (x.float() if x.element_size() < 4 else x).unflatten(-1, (-1, 2))
    if torch.compiler.is_compiling():  # torch's compiler fuses all this, but does not support complex numbers
        a, b = pairs.unbind(-1)
        turned = torch.stack([a * cosine - b * sine, a * sine + b * cosine], dim=-1)
    else:  # the same as one product, many times as fast as the strided sums
        turned = torch.view_as_real(torch.view_as_complex(pairs) * torch.complex(cosine, sine))
    return turned.flatten(-2).type_as(x)


class RotaryPositions(nn.Module):
    """Turns queries and keys by position. Nothing is learned, and a text may have any length.

    Cosines and sines stay in single precision whatever the model's: in half, distant tokens would share their angles.
    """

    def __init__(self, d_head: int, config: RotaryConfig) -> None:
        """Compute the frequencies for queries of `d_head` numbers, which must be even."""
        super().__init__()
        kind, factor, context, few = config.extension, config.factor, config.trained_context, config.few
        self.scale = yarn_scale(factor) if kind == "yarn" else 1.0
        frequencies = rotary_frequencies(d_head, config.base)
        if kind == "linear":
            frequencies = interpolated(frequencies, factor)
        if kind == "llama3":
            frequencies = llama3_frequencies(frequencies, factor, context, few, config.many or 4.0)
        if kind == "yarn":
            frequencies = yarn_frequencies(frequencies, factor, context, config.base, few, config.many or 32.0)
        self.frequencies: list[float] = frequencies.tolist()
        self._table = torch.empty(2, 0, len(self.frequencies))  # computed when and where it is needed

    def forward(
        self, position_ids: Int[Tensor, "... tokens"], longest: int
    ) -> Callable[[Float[Tensor, "batch heads tokens d_head"]], Float[Tensor, "batch heads tokens d_head"]]:
        """Return the function that turns the queries and keys of these tokens.

        Args:
            position_ids: the position of each token, the same in all texts, or with a row for each text.
            longest: a number above all positions.
        """
        if self._table.shape[1] < longest or self._table.device != position_ids.device:
            self._table = self._computed(max(longest, 2 * self._table.shape[1], FIRST_TABLE), position_ids.device)
        cosine, sine = self._table[:, position_ids]
        if position_ids.dim() > 1:  # a text's angles are the same in every head
            cosine, sine = cosine.unsqueeze(-3), sine.unsqueeze(-3)
        return partial(rotate, cosine=cosine, sine=sine)

    def _computed(self, length: int, device: torch.device) -> Float[Tensor, "2 length pairs"]:
        with torch.inference_mode(False):  # a tensor made in inference mode could not be trained with
            frequencies = torch.tensor(self.frequencies, device=device)
            angle = torch.arange(length, device=device).unsqueeze(-1) * frequencies
            return torch.stack([angle.cos(), angle.sin()]) * self.scale
