"""Scaled dot-product attention: the one equation of the course (lesson 01, and lesson 02 for its masks).

    out = softmax(q kᵀ / √d_head) v

Vaswani et al. (2017), "Attention Is All You Need", section 3.2.1; slides S2, "Attention: Working Example".

The steps follow one by one, small to large, named as everywhere in the course: `scores`, `scaled`, `masked`, `alpha`,
`out`. `attention` returns them all, for pictures and for checks; `F.scaled_dot_product_attention` computes the same
`out` in one kernel, for speed.

Shapes: every tensor may have any number of leading dimensions (batch, heads, ...), written `...`.
"""

import math
import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from course_lib.ground.validation import check_boolean, check_floating

# On the newest GPUs torch may pick cuDNN's attention in half precision. cuDNN plans again for every new shape: on an
# H100 a step on batches of sentences took 486 ms instead of 78, and a decoder meets a new shape at every token. The
# flash and memory-efficient kernels do not pay this price. A choice made in the environment wins.
if "TORCH_CUDNN_SDPA_DEPRIORITIZED" not in os.environ:
    torch.backends.cuda.enable_cudnn_sdp(False)


def dot_product_scores(
    q: Float[Tensor, "... queries d_head"], k: Float[Tensor, "... keys d_head"]
) -> Float[Tensor, "... queries keys"]:
    """Return the dot product of every query with every key: q kᵀ. Row i belongs to query i."""
    return q @ k.transpose(-2, -1)


def scale_scores(scores: Float[Tensor, "... queries keys"], d_head: int) -> Float[Tensor, "... queries keys"]:
    """Divide the scores by √d_head, so that their variance does not grow with the dimension.

    The numbers printed on the slide are divided by the number of keys instead (S2; see `docs/sources.md`).
    """
    return scores / math.sqrt(d_head)


def mask_scores(
    scaled: Float[Tensor, "... queries keys"], mask: Bool[Tensor, "... #queries #keys"] | None
) -> Float[Tensor, "... queries keys"]:
    """Return the scores with -inf wherever `mask` is False: a query may attend where its mask is True.

    Raises:
        TypeError: `mask` is not boolean. A 0/1 float mask would be ambiguous: torch's own functions add it.
        ValueError: `mask` does not fit the queries or keys.
    """
    if mask is None:
        return scaled
    _check_mask(mask, scaled.shape[-2], scaled.shape[-1])
    return scaled.masked_fill(~mask, -math.inf)


def _check_mask(mask: Tensor, queries: int, keys: int) -> None:
    """Refuse a mask that is not boolean, or whose last dimensions are neither those of the scores nor 1."""
    check_boolean(mask)
    if mask.dim() < 2 or mask.shape[-1] not in (1, keys) or mask.shape[-2] not in (1, queries):
        raise ValueError(
            f"mask must be [{queries}, {keys}] (queries, keys), or have 1 in place of one, not {list(mask.shape)}"
        )


def attention_weights(scaled: Float[Tensor, "... queries keys"]) -> Float[Tensor, "... queries keys"]:
    """Return the softmax of the scaled scores, masked or not, over the keys: each row is non-negative and sums to 1.

    A row without any allowed key (all -inf) gets weights of 0, as in torch's fused kernels: a query that
    may attend to nothing retrieves nothing. A plain softmax would return NaN there, forward and backward.
    """
    nowhere = torch.isneginf(scaled).all(dim=-1, keepdim=True)
    return torch.softmax(scaled.masked_fill(nowhere, 0.0), dim=-1).masked_fill(nowhere, 0.0)


def weighted_values(
    alpha: Float[Tensor, "... queries keys"], v: Float[Tensor, "... keys d_value"]
) -> Float[Tensor, "... queries d_value"]:
    """Return the average of the values for each query, weighted by its row of alpha: alpha v."""
    return alpha @ v


@dataclass(frozen=True)
class AttentionSteps:
    """All intermediate results of one attention, in the order in which they are computed.

    Attributes:
        scores: q kᵀ.
        scaled: scores / √d_head.
        masked: scaled, with -inf where a query may not attend; the same tensor as `scaled` without a mask.
        alpha: attention weights, softmax(masked) over the keys.
        out: alpha v.
    """

    scores: Float[Tensor, "... queries keys"]
    scaled: Float[Tensor, "... queries keys"]
    masked: Float[Tensor, "... queries keys"]
    alpha: Float[Tensor, "... queries keys"]
    out: Float[Tensor, "... queries d_value"]


def attention(
    q: Float[Tensor, "... queries d_head"],
    k: Float[Tensor, "... keys d_head"],
    v: Float[Tensor, "... keys d_value"],
    mask: Bool[Tensor, "... #queries #keys"] | None = None,
) -> AttentionSteps:
    """Compute scaled dot-product attention step by step.

    In half precision, the steps before alpha run in single precision, as in torch's fused kernels: in fp16 a score of
    65,520 or more would be infinite, and everything after it NaN.

    Args:
        q: queries.
        k: keys, with the same last dimension as `q`.
        v: values, one for each key.
        mask: True where a query may attend to a key; broadcast over leading dimensions. None allows all.

    Raises:
        TypeError: `mask` is not boolean.
        ValueError: queries, keys, values and mask do not fit together.
    """
    _check_fitting(q, k, v)
    with _without_autocast(q.device):
        scores = dot_product_scores(_at_least_single(q), _at_least_single(k))
    scaled = scale_scores(scores, d_head=q.shape[-1])
    masked = mask_scores(scaled, mask)
    alpha = attention_weights(masked).to(v.dtype)
    return AttentionSteps(scores, scaled, masked, alpha, out=weighted_values(alpha, v))


def _check_fitting(q: Tensor, k: Tensor, v: Tensor) -> None:
    """Refuse queries, keys and values that do not fit together."""
    check_floating(queries=q, keys=k, values=v)
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"queries and keys must have the same length d_head, not {q.shape[-1]} and {k.shape[-1]}")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"each key needs its value, but there are {k.shape[-2]} keys and {v.shape[-2]} values")


def _at_least_single(x: Tensor) -> Tensor:
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def _without_autocast(device: torch.device) -> AbstractContextManager[Any]:
    """Return a context without autocast, which would turn the scores back to half; meta tensors have no autocast."""
    return nullcontext() if device.type == "meta" else torch.autocast(device.type, enabled=False)


def scaled_dot_product_attention(
    q: Float[Tensor, "... queries d_head"],
    k: Float[Tensor, "... keys d_head"],
    v: Float[Tensor, "... keys d_value"],
    mask: Bool[Tensor, "... #queries #keys"] | None = None,
) -> Float[Tensor, "... queries d_value"]:
    """Return the `out` of `attention`: what the student writes in lesson 01, and with a mask in lesson 02."""
    return attention(q, k, v, mask).out


def contextual_embedding(embeddings: Float[Tensor, "tokens d_model"], position: int) -> Float[Tensor, " d_model"]:
    """Return one word's embedding, pulled toward the words it is related to: ŵ_i = Σ_j s_ij w_j (slide S3).

    The weights are softmax(w_j · w_i) over all the words j, the word itself included; nothing is scaled or
    projected yet.

    Args:
        embeddings: the stand-alone embeddings of a sentence.
        position: the word's position, counted from 0.
    """
    weights = torch.softmax(embeddings @ embeddings[position], dim=-1)
    return weights @ embeddings


def dot_product_variance(q: Float[Tensor, "samples d_head"], k: Float[Tensor, "samples d_head"]) -> Float[Tensor, ""]:
    """Return the unbiased sample variance of q_s · k_s over the samples s.

    For independent components of mean 0 and variance 1, this is d_head on average (slide S2, "the motivation for
    scaling"): the reason to divide by √d_head.
    """
    products = (q * k).sum(dim=-1)
    return products.var()


def softmax_jacobian(scores: Float[Tensor, "... keys"]) -> Float[Tensor, "... keys keys"]:
    """Return the derivative of softmax: entry (i, j) is ∂alpha_i / ∂scores_j = alpha_i (δ_ij - alpha_j).

    When one score is far above the rest alpha is nearly one-hot, every entry is nearly 0, and no gradient
    passes (slide S2).
    """
    alpha = torch.softmax(scores, dim=-1)
    return torch.diag_embed(alpha) - alpha.unsqueeze(-1) * alpha.unsqueeze(-2)


def attention_gradients(
    q: Float[Tensor, "... queries d_head"],
    k: Float[Tensor, "... keys d_head"],
    v: Float[Tensor, "... keys d_value"],
    of_out: Float[Tensor, "... queries d_value"],
) -> tuple[Float[Tensor, "... queries d_head"], Float[Tensor, "... keys d_head"], Float[Tensor, "... keys d_value"]]:
    """Return the gradients of a loss with respect to q, k and v, from the gradient with respect to `out`.

    This does by hand what torch's autograd does: Dao et al. (2022), "FlashAttention", appendix B.2.
    """
    root = math.sqrt(q.shape[-1])
    alpha = torch.softmax(q @ k.mT / root, dim=-1)
    of_v = alpha.mT @ of_out
    of_alpha = of_out @ v.mT
    of_scaled = alpha * (of_alpha - (alpha * of_alpha).sum(dim=-1, keepdim=True))
    of_scores = of_scaled / root
    return of_scores @ k, of_scores.mT @ q, of_v
