"""What every model refuses, with the message that says what to give it instead.

Sizes and shares of a configuration are refused when it is made; ids and masks before anything is computed with them.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Int
from torch import Tensor


def require_at_least(least: int, **sizes: int) -> None:
    """Refuse sizes that are too small.

    Raises:
        ValueError: naming the first.
    """
    for name, size in sizes.items():
        if size < least:
            raise ValueError(f"{name} must be at least {least}, not {size}")


def require_known(vocabulary: int, **ids: int | None) -> None:
    """Refuse the id of a special word that the vocabulary does not have; None stands for no such word.

    Raises:
        ValueError: naming the first.
    """
    for name, word in ids.items():
        if word is not None and not 0 <= word < vocabulary:
            raise ValueError(f"{name} must be from 0 to {vocabulary - 1}, the vocabulary's last, not {word}")


def require_shares(**shares: float) -> None:
    """Refuse shares to drop that leave nothing, or are none.

    Raises:
        ValueError: naming the first.
    """
    for name, share in shares.items():
        if not 0 <= share < 1:
            raise ValueError(f"{name} must be at least 0 and below 1, not {share}")


def require_divisible(d_model: int, heads: int) -> None:
    """Refuse a number of heads that does not divide `d_model`.

    Raises:
        ValueError: it does not, or there are none.
    """
    if heads < 1 or d_model % heads:
        raise ValueError(f"d_model must be a multiple of the number of heads, not {d_model} for {heads} heads")


def require_length(new_words: int) -> None:
    """Refuse to write nothing.

    Raises:
        ValueError: there is not even one word to write.
    """
    if new_words < 1:
        raise ValueError(f"at least one word must be written, not {new_words}")


def require_boolean(mask: Tensor, true: str = "may attend") -> None:
    """Refuse a mask of numbers, for all masks of the library.

    Args:
        mask: of any shape.
        true: what True means in it.

    Raises:
        TypeError: it is not boolean.
    """
    if mask.dtype != torch.bool:
        additive = ", or mask == 0 for an additive mask (0 and -inf)" if mask.is_floating_point() else ""
        raise TypeError(f"mask must be boolean (True = {true}), not {mask.dtype}; write mask.bool(){additive}")


def require_ids(ids: Int[Tensor, "batch words"], vocabulary: int, name: str) -> None:
    """Refuse what is not a batch of ids below `vocabulary`, before anything is computed with it.

    Raises:
        TypeError: they are not whole numbers.
        ValueError: they have another shape, there are none, or one is outside the vocabulary.
    """
    if ids.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"{name} must be whole numbers (torch.long), not {ids.dtype}")
    if ids.dim() != 2:
        raise ValueError(f"{name} must be [batch, words], not {list(ids.shape)}")
    if not ids.numel():
        raise ValueError(f"{name} has no words: {list(ids.shape)}")
    if ids.is_meta or torch.compiler.is_compiling():
        return  # there are no values yet
    least, most = torch.stack(ids.aminmax()).tolist()  # one wait for the device, not two
    if least < 0 or most >= vocabulary:
        wrong = least if least < 0 else most
        raise ValueError(f"{name} must be from 0 to {vocabulary - 1}, the vocabulary's last, but there is a {wrong}")


def require_mask(mask: Bool[Tensor, "batch words"] | None, ids: Int[Tensor, "batch words"]) -> None:
    """Refuse a padding mask that is not boolean, or not of the shape of its words.

    Raises:
        TypeError: it is not boolean.
        ValueError: it has another shape.
    """
    if mask is None:
        return
    require_boolean(mask, "a word, False = padding")
    if mask.shape != ids.shape:
        raise ValueError(f"mask must be {list(ids.shape)} as ids are, not {list(mask.shape)}")
