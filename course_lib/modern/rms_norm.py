"""RMSNorm: a layer norm without the mean, and without the shift.

Zhang and Sennrich (2019), "Root Mean Square Layer Normalization", equation 4. Models use torch's `nn.RMSNorm`, which
computes this in one kernel.
"""

from jaxtyping import Float
from torch import Tensor


def rms_norm(
    x: Float[Tensor, "... d_model"], gamma: Float[Tensor, " d_model"], epsilon: float = 1e-6
) -> Float[Tensor, "... d_model"]:
    """Return each token's vector divided by the root of its mean square, then scaled by the learned gamma.

        gamma x / √(mean(x²) + ε)

    The mean is over the token's own d_model numbers. It is taken in single precision even if x is in half, where
    squares soon overflow.
    """
    wide = x.float() if x.element_size() < 4 else x
    mean_square = wide.square().mean(dim=-1, keepdim=True)
    return (wide / (mean_square + epsilon).sqrt()).to(x.dtype) * gamma
