"""Masks: where a query may attend (lesson 02).

A mask is boolean and True means "may attend", throughout the course. Rows are queries and columns are
keys; slide S3 indexes [key, query] instead, so its mask is the transpose of this one.
"""

import math
from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_lib.attention import attention_weights, mask_scores, scaled_dot_product_attention


def causal_mask(length: int, device: torch.device | str | None = None) -> Bool[Tensor, "length length"]:
    """Return a lower-triangular mask: query i may attend to keys 0..i, itself included, but not later ones (S2, S4)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def padding_mask(lengths: Int[Tensor, " batch"], max_length: int) -> Bool[Tensor, "batch max_length"]:
    """Return a mask for each length: True at the sequence's tokens, False at the padding after them (S4)."""
    return torch.arange(max_length, device=lengths.device) < lengths.unsqueeze(-1)


def at_last_token(
    x: Float[Tensor, "batch tokens *rest"], mask: Bool[Tensor, "batch tokens"] | None = None
) -> Float[Tensor, "batch *rest"]:
    """Pick the vector of each sequence's last token, wherever its padding is.

    Args:
        x: a value for each token, such as states or logits.
        mask: True at tokens, at least one in each row; None if there is no padding.
    """
    if mask is None:
        return x[:, -1]
    position = torch.arange(x.shape[1], device=x.device)
    return x[torch.arange(len(x), device=x.device), (position * mask).argmax(dim=1)]


def packed_mask(ids: Int[Tensor, "batch tokens"], end: int) -> Bool[Tensor, "batch tokens tokens"]:
    """Return causal masks for rows of several documents, one after another, so that no row needs padding.

    A token may attend to itself and to what comes before it in its own document (Krell et al., 2021, "Efficient
    Sequence Packing without Cross-contamination").

    Args:
        ids: documents, each closed by an `end`, which belongs to it; the last one of a row may be cut off.
        end: the id that closes a document.
    """
    ends = ids == end
    document = ends.cumsum(dim=-1) - ends.long()
    same = document.unsqueeze(-1) == document.unsqueeze(-2)
    return same & causal_mask(ids.shape[-1], ids.device)


def leak_test(model: Callable[[Tensor], Tensor], x: Float[Tensor, "tokens d_model"]) -> Bool[Tensor, "tokens tokens"]:
    """Find which tokens each token sees: those on which its output depends.

    Args:
        model: takes [tokens, d_model] and returns a row for each token.
        x: an input; a single one cannot prove that a model does not leak.

    Returns:
        True at [i, j] where the output of token i changes with token j. Above the diagonal that is a leak.
    """
    out = model(x)
    seen = torch.zeros(len(x), len(x), dtype=torch.bool, device=x.device)
    for token in range(len(x)):
        changed = x.clone()
        changed[token] = torch.randn_like(x[token])
        seen[:, token] = (model(changed) != out).any(dim=-1)
    return seen


def masked_weights(
    scaled: Float[Tensor, "... queries keys"], mask: Bool[Tensor, "... queries keys"]
) -> Float[Tensor, "... queries keys"]:
    """Return attention weights under a mask, by filling in -inf before the softmax.

    Rows sum to 1 over the allowed keys; a row without allowed keys is all 0.
    """
    masked = mask_scores(scaled, mask)
    return attention_weights(masked)


def masked_self_attention(
    x: Float[Tensor, "... tokens d_model"], mask: Bool[Tensor, "... tokens tokens"]
) -> Float[Tensor, "... tokens d_model"]:
    """Apply self-attention without projections, q = k = v = x, under a mask (S2, the second worked example)."""
    return scaled_dot_product_attention(x, x, x, mask)


class AttentionPooling(nn.Module):
    """Turns a sequence of any length into one vector: attention from a single learned query.

    This is what S1 calls attention in general, alpha = softmax(sim(query, x_k)) and u = Σ_k alpha_k x_k, with the
    scaled dot product as `sim` and padding masked out.

    Parameters:
        query: [d_model], the learned query.
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.randn(d_model) / math.sqrt(d_model))

    def forward(
        self, x: Float[Tensor, "batch tokens d_model"], mask: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch d_model"]:
        """Return the weighted mean of the tokens where `mask` is True; zeros for a sequence without any."""
        scaled = x @ self.query / math.sqrt(x.shape[-1])
        alpha = masked_weights(scaled, mask)
        return (alpha.unsqueeze(-2) @ x).squeeze(-2)
