"""Sampling: tokens drawn at random, so that a model does not always say the same thing.

Four ways to avoid improbable tokens: a low temperature, or drawing only from the k most probable, from the nucleus, or
from tokens not much less probable than the most probable one. Fan et al. (2018), "Hierarchical Neural Story Generation"
(top-k); Holtzman et al. (2020), "The Curious Case of Neural Text Degeneration" (nucleus); Nguyen et al. (2024) (min-p).
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from course_lib.decoding.generation_config import GenerationConfig


def keep_top_k(logits: Float[Tensor, "... vocab_size"], k: int) -> Float[Tensor, "... vocab_size"]:
    """Return the logits with -inf outside the k most probable tokens; tokens as probable as the k-th stay."""
    least = logits.topk(min(k, logits.shape[-1]), dim=-1).values[..., -1:]
    return logits.masked_fill(logits < least, -math.inf)


def keep_nucleus(logits: Float[Tensor, "... vocab_size"], p: float) -> Float[Tensor, "... vocab_size"]:
    """Return the logits with -inf outside the nucleus: the fewest tokens, most probable first, with mass p together."""
    ordered, positions = logits.sort(dim=-1, descending=True, stable=True)
    probabilities = torch.softmax(ordered, dim=-1)
    before = probabilities.cumsum(dim=-1) - probabilities
    before[..., 0] = 0.0  # the most probable token stays, whatever rounding made of the sum
    outside = torch.empty_like(before, dtype=torch.bool).scatter_(-1, positions, before >= p)
    return logits.masked_fill(outside, -math.inf)


def keep_min_p(logits: Float[Tensor, "... vocab_size"], p: float) -> Float[Tensor, "... vocab_size"]:
    """Return the logits with -inf wherever a token is less probable than p times the most probable.

    Nguyen et al. (2024), "Turning Up the Heat: Min-p Sampling for Creative and Coherent LLM Outputs", section 3.
    """
    probabilities = torch.softmax(logits, dim=-1)
    return logits.masked_fill(probabilities < p * probabilities.amax(dim=-1, keepdim=True), -math.inf)


def draw(logits: Float[Tensor, "batch vocab_size"], settings: GenerationConfig) -> Int[Tensor, " batch"]:
    """Draw a token for each text from softmax(logits / temperature), restricted by top-k, the nucleus and min-p."""
    logits = logits.float() / (1.0 if settings.temperature is None else settings.temperature)
    if settings.top_k is not None:
        logits = keep_top_k(logits, settings.top_k)
    if settings.top_p is not None:
        logits = keep_nucleus(logits, settings.top_p)
    if settings.min_p is not None:
        logits = keep_min_p(logits, settings.min_p)
    return torch.multinomial(torch.softmax(logits, dim=-1), 1, generator=settings.generator).squeeze(-1)
