"""What has changed from the model of 2017 to current ones, as lesson 12 builds it: a function for each change.

RMSNorm is `course_lib.modern.rms_norm`. For real training, use `course_lib.models.GPT` with `GPTConfig.llama`.
"""

import math
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_lib.attention import attention

Layer = Callable[[Float[Tensor, "... tokens d_model"]], Float[Tensor, "... tokens d_model"]]
"""A norm, or a sublayer."""


def pre_norm(
    x: Float[Tensor, "... tokens d_model"], sublayers: Sequence[Layer], norms: Sequence[Layer], final_norm: Layer
) -> Float[Tensor, "... tokens d_model"]:
    """Apply x + sublayer(norm(x)) for one sublayer after another, then a last norm.

    Xiong et al. (2020), "On Layer Normalization in the Transformer Architecture", table 1.
    """
    for sublayer, norm in zip(sublayers, norms, strict=True):
        x = x + sublayer(norm(x))
    return final_norm(x)


def turned_by_place(
    x: Float[Tensor, "... tokens d_head"], positions: Int[Tensor, " tokens"], base: float
) -> Float[Tensor, "... tokens d_head"]:
    """Turn each pair of neighboring numbers by position · base^(-2i / d_head).

    Su et al. (2021), "RoFormer", section 3.2.2; as code, equation 34.
    """
    frequencies = base ** (-torch.arange(0, x.shape[-1], 2, device=x.device) / x.shape[-1])
    angles = positions.unsqueeze(-1) * frequencies
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


def swiglu(
    x: Float[Tensor, "... d_model"],
    W_1: Float[Tensor, "d_model d_ff"],
    V: Float[Tensor, "d_model d_ff"],
    W_2: Float[Tensor, "d_ff d_model"],
) -> Float[Tensor, "... d_model"]:
    """Return (SiLU(x W_1) ⊙ x V) W_2, with SiLU(z) = z sigmoid(z).

    Shazeer (2020), "GLU Variants Improve Transformer", equation 6.
    """
    gate, value = F.silu(x @ W_1), x @ V
    return (gate * value) @ W_2


def grouped_query_attention(
    q: Float[Tensor, "batch heads queries d_head"],
    k: Float[Tensor, "batch groups keys d_head"],
    v: Float[Tensor, "batch groups keys d_head"],
    mask: Bool[Tensor, "queries keys"] | None,
) -> Float[Tensor, "batch heads queries d_head"]:
    """Compute attention in which heads / groups neighboring query heads share a head of keys and values.

    Ainslie et al. (2023), "GQA", section 2.2.
    """
    shared = q.shape[1] // k.shape[1]
    return attention(q, k.repeat_interleave(shared, dim=1), v.repeat_interleave(shared, dim=1), mask).out


def read_block(
    largest: Float[Tensor, "... queries"],
    total: Float[Tensor, "... queries"],
    out: Float[Tensor, "... queries d_head"],
    scores: Float[Tensor, "... queries keys"],
    values: Float[Tensor, "... keys d_head"],
) -> tuple[Float[Tensor, "... queries"], Float[Tensor, "... queries"], Float[Tensor, "... queries d_head"]]:
    """Update a block-by-block softmax: the largest score s so far, Σ exp(score - s), and Σ exp(score - s) value.

    `out / total` is attention over all blocks read. Before the first, `largest` is -∞ and the sums are 0; they stay so
    for a query with only scores of -∞. Milakov and Gimelshein (2018), "Online normalizer calculation for softmax",
    algorithm 3; Dao et al. (2022), "FlashAttention", algorithm 1.
    """
    new_largest = torch.maximum(largest, scores.amax(dim=-1))
    finite = new_largest.masked_fill(new_largest == -math.inf, 0.0)
    shrink = (largest - finite).exp()
    powers = (scores - finite.unsqueeze(-1)).exp()
    return new_largest, shrink * total + powers.sum(dim=-1), shrink.unsqueeze(-1) * out + powers @ values


def decayed_step(
    weights: Sequence[Float[Tensor, "..."]], updates: Sequence[Float[Tensor, "..."]], rate: float, decay: float
) -> list[Float[Tensor, "..."]]:
    """Return weight - rate · (update + decay · weight) for matrices; biases and gains, which are vectors, do not decay.

    Loshchilov and Hutter (2019), "Decoupled Weight Decay Regularization", algorithm 2.
    """
    return [
        weight - rate * (update + (decay * weight if weight.dim() > 1 else 0.0))
        for weight, update in zip(weights, updates, strict=True)
    ]


def orthogonalised(
    gradient: Float[Tensor, "rows columns"], coefficients: tuple[float, float, float], steps: int
) -> Float[Tensor, "rows columns"]:
    """Return a matrix with the gradient's singular vectors and all singular values near 1, by Newton-Schulz steps.

    X is the gradient over its Frobenius norm; each step replaces it by a X + b (X Xᵀ) X + c (X Xᵀ)² X, which applies a
    s + b s³ + c s⁵ to every singular value s. Jordan et al. (2024), "Muon: An optimizer for hidden layers in neural
    networks", with a = 3.4445, b = -4.775, c = 2.0315 and 5 steps.

    Args:
        gradient: not all 0.
        coefficients: a, b and c.
        steps: the number of steps.
    """
    a, b, c = coefficients
    x: Tensor = gradient / gradient.norm()
    for _ in range(steps):
        square = x @ x.T
        x = a * x + (b * square + c * square @ square) @ x
    return x


def llama_parameters(
    vocab_size: int, d_model: int, layers: int, heads: int, key_value_heads: int, d_ff: int, tied: bool
) -> int:
    """Count the parameters of a Llama of these sizes: no biases, no positions, gains but no shifts.

    Touvron et al. (2023), "LLaMA", section 2.2; with the grouped queries of "Llama 2", section 2.2.
    """
    width = key_value_heads * (d_model // heads)
    block = 2 * d_model * d_model + 2 * d_model * width + 3 * d_model * d_ff + 2 * d_model
    return vocab_size * d_model * (1 if tied else 2) + layers * block + d_model


class LoRA(nn.Module):
    """A frozen linear layer with learned matrices beside it: W x + (alpha / rank) B A x.

    Hu et al. (2022), "LoRA: Low-Rank Adaptation of Large Language Models", section 4.1, equation 3.

    Parameters:
        A: [rank, d_in], random at first.
        B: [d_out, rank], 0 at first, so that outputs do not change yet.
    """

    def __init__(self, weight: Float[Tensor, "d_out d_in"], rank: int, alpha: float) -> None:
        super().__init__()
        d_out, d_in = weight.shape
        self.register_buffer("weight", weight)
        self.weight: Tensor
        self.A = nn.Parameter(torch.randn(rank, d_in) / math.sqrt(d_in))
        self.B = nn.Parameter(torch.zeros(d_out, rank))
        self.scale = alpha / rank

    def forward(self, x: Float[Tensor, "... d_in"]) -> Float[Tensor, "... d_out"]:
        """Return the layer's own output plus what was learned."""
        change = x @ self.A.T @ self.B.T
        return x @ self.weight.T + self.scale * change
