"""A sliding window: a token attends to the last few tokens only, so that each token costs no more in a long text.

Beltagy et al. (2020), "Longformer", section 3.1; Jiang et al. (2023), "Mistral 7B", section 2. Through many blocks,
information from tokens further back still arrives: each block reaches one window further.
"""

from jaxtyping import Bool, Int
from torch import Tensor


def sliding_window_mask(
    queries: Int[Tensor, "... queries"], keys: Int[Tensor, "... keys"], window: int
) -> Bool[Tensor, "... queries keys"]:
    """Return where a query may attend: to its own token and the `window` - 1 before it.

    Args:
        queries: the position of each query's token, counted from 0.
        keys: the position of each key's token.
        window: how many tokens, at least 1.
    """
    distance = queries.unsqueeze(-1) - keys.unsqueeze(-2)
    return (distance >= 0) & (distance < window)
