"""The linear layer, y = x Wᵀ + b, as torch's own but faster on a processor, and what bends its line.

Torch brings two libraries that multiply matrices of single precision, MKL and oneDNN, and its linear layer always asks
MKL. MKL leaves the widest instructions of processors that are not Intel's unused; there oneDNN is up to three times as
fast, and elsewhere it is no slower. The numbers differ by rounding alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

Activation = Literal["relu", "gelu", "gelu_tanh", "silu"]
"""What bends the feed-forward network's line: the paper's, BERT's, GPT-2's, and Marian's."""

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,  # x Φ(x), by the error function
    "gelu_tanh": partial(F.gelu, approximate="tanh"),  # the approximation that GPT-2 was trained with
    "silu": F.silu,
}

LEAST_WORK = 2**18
"""Multiplications from which oneDNN pays: a call to it costs about 10 µs more."""

_ONEDNN = getattr(torch.ops.mkldnn, "_linear_pointwise", None) if torch.backends.mkldnn.is_available() else None
"""The operator that torch's own compiler uses; None where torch was built without it."""

_ONEDNN_ACTIVATIONS = {
    None: ("none", ""),
    "relu": ("relu", ""),
    "gelu": ("gelu", "none"),
    "gelu_tanh": ("gelu", "tanh"),
    "silu": ("swish", ""),
}
"""What that operator calls them: a name, and which way it is computed."""


class Linear(nn.Linear):
    """`nn.Linear`, with its parameters' names and shapes.

    In memory the weight lies column by column, as GPT-2's do: then a product with a few words, as in decoding, runs
    along the memory (half as long again would it take across).
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__(in_features, out_features, bias)
        self.weight = nn.Parameter(self.weight.detach().t().contiguous().t())

    def forward(
        self, x: Float[Tensor, "... in_features"], activation: Activation | None = None
    ) -> Float[Tensor, "... out_features"]:
        """Each vector by itself: x Wᵀ + b, or activation(x Wᵀ + b)."""
        return linear(x, self.weight, self.bias, activation)


def linear(
    x: Float[Tensor, "... in_features"],
    weight: Float[Tensor, "out_features in_features"],
    bias: Float[Tensor, " out_features"] | None = None,
    activation: Activation | None = None,
) -> Float[Tensor, "... out_features"]:
    """x Wᵀ + b, or activation(x Wᵀ + b), by whichever library is faster, with gradients of any order.

    Without gradients oneDNN bends each number as it writes it, for which torch would pass over all of them again.
    """
    if x.numel() * weight.shape[0] < LEAST_WORK or not _possible(x, weight):
        out = F.linear(x, weight, bias)
    elif torch.is_grad_enabled():
        out = _Product.apply(x, weight, bias)  # type: ignore[no-untyped-call]
    else:
        return _product(x, weight, bias, activation)
    return out if activation is None else ACTIVATIONS[activation](out)


def _possible(x: Tensor, weight: Tensor) -> bool:
    return (
        x.dtype is weight.dtype is torch.float32
        and x.device.type == "cpu"
        and x.shape[-1] == weight.shape[1]  # else torch's own complaint is the clearer one
        # A part of a larger weight, as cross-attention's, has gaps; oneDNN takes hundreds of times as long for it.
        and (weight.is_contiguous() or weight.t().is_contiguous())
        and _ONEDNN is not None
        and not torch.is_autocast_enabled("cpu")
        and not torch.compiler.is_compiling()
    )


def _product(x: Tensor, weight: Tensor, bias: Tensor | None, activation: Activation | None = None) -> Tensor:
    name, way = _ONEDNN_ACTIVATIONS[activation]
    out: Tensor = torch.ops.mkldnn._linear_pointwise.default(x, weight, bias, name, [], way)
    return out


class _Product(torch.autograd.Function):
    """The gradients of x Wᵀ + b are products, too: ∂x = ∂y W, ∂W = ∂yᵀ x, ∂b = Σ ∂y."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return _product(x, weight, bias)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor | None], output: Tensor) -> None:
        x, weight, _ = inputs
        ctx.save_for_backward(x, weight)

    @staticmethod
    def backward(ctx: Any, out: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        of_x, of_weight, of_bias = ctx.needs_input_grad
        rows = out.reshape(-1, out.shape[-1])
        return (
            linear(out, weight.t()) if of_x else None,
            linear(x.reshape(-1, x.shape[-1]).t(), rows.t()).t() if of_weight else None,  # laid out as the weight is
            rows.sum(dim=0) if of_bias else None,
        )
