"""Several texts in one row, without padding between them: where a token may attend, and its position.

    documents   0 0 0 1 1 2 2 2 2 -1 -1     the number of each token's text; padding at the row's end has its own
    positions   0 1 2 0 1 0 1 2 3  0  1

Attention is causal within each text, so that a text's vectors are what they would be if it stood alone. Krell et al.
(2021), "Efficient Sequence Packing without Cross-contamination".
"""

import torch
from jaxtyping import Bool, Int
from torch import Tensor


def document_positions(documents: Int[Tensor, "batch tokens"]) -> Int[Tensor, "batch tokens"]:
    """Return each token's position in its own text, counted from 0; a text begins where the number changes."""
    column = torch.arange(documents.shape[1], device=documents.device)
    begins = documents.diff(dim=1, prepend=documents[:, :1]) != 0
    return column - (column * begins).cummax(dim=1).values


def document_mask(positions: Int[Tensor, "batch tokens"]) -> Bool[Tensor, "batch tokens tokens"]:
    """Return where a token may attend, given positions: to itself, and to the tokens before it in its own text."""
    begin = torch.arange(positions.shape[1], device=positions.device) - positions  # of each token's text
    return (begin.unsqueeze(2) == begin.unsqueeze(1)).tril()
