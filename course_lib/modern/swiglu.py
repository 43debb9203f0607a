"""SwiGLU: a feed-forward network in which one projection decides how much of another passes.

Shazeer (2020), "GLU Variants Improve Transformer", equations 5 and 6.
"""

from collections.abc import Callable

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class GatedFeedForward(nn.Module):
    """The same small network for every token: FFN(x) = (activation(x W_1) ⊙ x V) W_2; with SiLU it is SwiGLU.

    Parameters:
        W_1: a linear layer from d_model to d_ff; after the activation, its output is the gate.
        V: a linear layer from d_model to d_ff, whose output the gate scales.
        W_2: a linear layer from d_ff to d_model.
    """

    def __init__(
        self, d_model: int, d_ff: int, activation: Callable[[Tensor], Tensor] = F.silu, *, bias: bool = False
    ) -> None:
        """Create three layers; `d_ff` is usually 2/3 of that with two layers, for as many weights (section 2).

        Args:
            d_model: the length of a token's vector.
            d_ff: the width of the hidden layer.
            activation: the gate's activation: SiLU for SwiGLU, GELU for GEGLU, ReLU for ReGLU.
            bias: whether the layers have a bias; the paper's do not.
        """
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff, bias=bias)
        self.V = nn.Linear(d_model, d_ff, bias=bias)
        self.W_2 = nn.Linear(d_ff, d_model, bias=bias)
        self.activation = activation

    def forward(self, x: Float[Tensor, "... d_model"]) -> Float[Tensor, "... d_model"]:
        """Transform each token's vector by itself; nothing passes between tokens here."""
        out: Tensor = self.W_2(self.activation(self.W_1(x)) * self.V(x))
        return out
