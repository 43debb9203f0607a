"""Sampling: tokens drawn at random, so that a model does not always say the same.

Four ways to keep improbable tokens from being drawn: a low temperature, the k most probable only, the nucleus, or those
not much less probable than the most probable. Fan et al. (2018), "Hierarchical Neural Story Generation" (top-k);
Holtzman et al. (2020), "The Curious Case of Neural Text Degeneration" (nucleus); Nguyen et al. (2024) (min-p).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from course_lib.ground.validation import check_at_least


def keep_top_k(logits: Float[Tensor, "... vocab_size"], k: int) -> Float[Tensor, "... vocab_size"]:
    """The logits with -inf wherever a token is not among the k most probable; tokens as probable as the k-th stay.

    Raises:
        ValueError: `k` is less than 1.
    """
    check_at_least(1, top_k=k)
    least = logits.topk(min(k, logits.shape[-1]), dim=-1).values[..., -1:]
    return logits.masked_fill(logits < least, -math.inf)


def keep_nucleus(logits: Float[Tensor, "... vocab_size"], p: float) -> Float[Tensor, "... vocab_size"]:
    """The logits with -inf outside the nucleus: the fewest tokens, most probable first, that have mass p together.

    Raises:
        ValueError: `p` is not above 0, or above 1.
    """
    _check_nucleus(p)
    ordered, positions = logits.sort(dim=-1, descending=True, stable=True)
    probabilities = torch.softmax(ordered, dim=-1)
    before = probabilities.cumsum(dim=-1) - probabilities
    before[..., 0] = 0.0  # the most probable token stays, whatever rounding made of the sum
    outside = torch.empty_like(before, dtype=torch.bool).scatter_(-1, positions, before >= p)
    return logits.masked_fill(outside, -math.inf)


def keep_min_p(logits: Float[Tensor, "... vocab_size"], p: float) -> Float[Tensor, "... vocab_size"]:
    """The logits with -inf wherever a token is less probable than p times the most probable.

    Nguyen et al. (2024), "Turning Up the Heat: Min-p Sampling for Creative and Coherent LLM Outputs", section 3.

    Raises:
        ValueError: `p` is below 0 or above 1.
    """
    _check_min_p(p)
    probabilities = torch.softmax(logits, dim=-1)
    return logits.masked_fill(probabilities < p * probabilities.amax(dim=-1, keepdim=True), -math.inf)


@dataclass(frozen=True)
class Sampler:
    """A random choice from softmax(logits / temperature), among what top-k, then the nucleus, then min-p leave.

    Attributes:
        temperature: above 0; below 1 the probable becomes more probable, above 1 less.
        top_k: draw from the k most probable only; None for all.
        top_p: draw from the nucleus of this mass only; None for all.
        min_p: draw from tokens at least this share as probable as the most probable; None for all.
        generator: of the draws, on the model's device; None for torch's own.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    generator: torch.Generator | None = None

    def __post_init__(self) -> None:
        if not (self.temperature > 0 and math.isfinite(self.temperature)):
            raise ValueError(
                f"temperature must be above 0, not {self.temperature}; greedy_decode takes the most probable token"
            )
        if self.top_k is not None:
            check_at_least(1, top_k=self.top_k)
        if self.top_p is not None:
            _check_nucleus(self.top_p)
        if self.min_p is not None:
            _check_min_p(self.min_p)

    def __call__(self, logits: Float[Tensor, "batch vocab_size"]) -> Int[Tensor, " batch"]:
        """One token of each text."""
        logits = logits.float() / self.temperature
        if self.top_k is not None:
            logits = keep_top_k(logits, self.top_k)
        if self.top_p is not None:
            logits = keep_nucleus(logits, self.top_p)
        if self.min_p is not None:
            logits = keep_min_p(logits, self.min_p)
        return torch.multinomial(torch.softmax(logits, dim=-1), 1, generator=self.generator).squeeze(-1)


def _check_nucleus(p: float) -> None:
    if not 0 < p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, not {p}")


def _check_min_p(p: float) -> None:
    if not 0 <= p <= 1:
        raise ValueError(f"min_p must be at least 0 and at most 1, not {p}")
