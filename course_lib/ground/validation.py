"""Checks of arguments; each raises an error that says what to pass instead.

Sizes and probabilities are checked when a configuration is created, ids and masks before anything is computed.
"""

import math
from collections.abc import Iterable
from typing import Any, get_args

import torch
from jaxtyping import Bool, Int
from torch import Tensor


def check_at_least(least: int, **counts: int) -> None:
    """Refuse counts that are too small or not whole numbers.

    Raises:
        TypeError, ValueError: the message names the first.
    """
    for name, count in counts.items():
        if not isinstance(count, int) or isinstance(count, bool):
            raise TypeError(f"{name} must be a whole number (an int), not {count!r}")
        if count < least:
            raise ValueError(f"{name} must be at least {least}, not {count}")


def check_not_negative(**numbers: float) -> None:
    """Refuse numbers that are below 0, infinite or NaN.

    Raises:
        ValueError: the message names the first.
    """
    for name, number in numbers.items():
        if not 0 <= number < math.inf:
            raise ValueError(f"{name} must be at least 0 and finite, not {number}")


def check_one_of(choices: Any, **given: object) -> None:
    """Refuse a value that is not one of the choices of a `Literal`.

    Raises:
        ValueError: the message names the first, and the choices.
    """
    for name, choice in given.items():
        if choice not in get_args(choices):
            raise ValueError(f"{name} must be one of {', '.join(map(str, get_args(choices)))}, not {choice!r}")


def check_texts(texts: Iterable[str]) -> None:
    """Refuse one string instead of several, which would be taken for texts of one letter each.

    Raises:
        TypeError: `texts` is a string.
    """
    if isinstance(texts, str):
        raise TypeError("give a list of texts, not one string: put it in a list")


def check_unicode(text: str) -> None:
    """Refuse a text that cannot be written to a file, since it has half a character, left by wrong decoding or JSON.

    Raises:
        ValueError: the message says which and where.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the text has half a character, {text[error.start]!r}, at position {error.start}; "
            "text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace') repairs or replaces it"
        ) from None


def check_device(device: torch.device | str) -> torch.device:
    """Refuse a GPU that torch does not find, and anything that is not a device.

    Raises:
        ValueError: the message says which devices there are.
    """
    try:
        device = torch.device(device)
    except RuntimeError:
        raise ValueError(f"there is no device {device!r}; choose 'cpu', 'cuda' or 'mps'") from None
    if device.type == "mps" and not torch.backends.mps.is_available():
        raise ValueError("torch finds no Apple GPU here, so there is no mps; choose 'cpu'")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ValueError(f"torch finds {torch.cuda.device_count()} GPUs here, so there is no {device}; choose 'cpu'")
    return device


def check_special_ids(vocab_size: int, **ids: int | None) -> None:
    """Refuse the id of a special token outside the vocabulary; None means that there is no such token.

    Raises:
        ValueError: the message names the first.
    """
    for name, token in ids.items():
        if token is not None and not 0 <= token < vocab_size:
            raise ValueError(f"{name} must be from 0 to {vocab_size - 1}, the vocabulary's last, not {token}")


def check_probability(**probabilities: float) -> None:
    """Refuse probabilities, such as of dropout, that are below 0, or 1 and above.

    Raises:
        ValueError: the message names the first.
    """
    for name, p in probabilities.items():
        if not 0 <= p < 1:
            raise ValueError(f"{name} must be at least 0 and below 1, not {p}")


def check_divisible(d_model: int, heads: int) -> None:
    """Refuse a number of heads that does not divide `d_model`.

    Raises:
        TypeError: `d_model` is not a whole number.
        ValueError: `heads` does not divide `d_model`, or is not positive.
    """
    check_at_least(1, d_model=d_model)
    if heads < 1 or d_model % heads:
        raise ValueError(f"d_model must be a multiple of the number of heads, not {d_model} for {heads} heads")


def check_boolean(mask: Tensor, true: str = "may attend") -> None:
    """Refuse a mask of numbers.

    Args:
        mask: of any shape.
        true: what True means in the mask.

    Raises:
        TypeError: it is not boolean.
    """
    if mask.dtype != torch.bool:
        additive = ", or mask == 0 for an additive mask (0 and -inf)" if mask.is_floating_point() else ""
        raise TypeError(f"mask must be boolean (True = {true}), not {mask.dtype}; write mask.bool(){additive}")


def check_floating(**tensors: Tensor) -> None:
    """Refuse integer tensors where weights are learned or averaged.

    Raises:
        TypeError: the message names the first.
    """
    for name, tensor in tensors.items():
        if not tensor.is_floating_point():
            raise TypeError(f"{name} must be floating-point numbers, not {tensor.dtype}; write {name}.float()")


def check_ids(ids: Int[Tensor, "batch tokens"], vocab_size: int, name: str, *, wait: bool = False) -> None:
    """Refuse anything but a batch of ids below `vocab_size`, before anything is computed with it.

    Args:
        ids: of tokens.
        vocab_size: how many tokens there are.
        name: the name of the ids in the message.
        wait: check the values on any device. Otherwise they are checked only on the CPU: for other devices, every call
            would make the program wait.

    Raises:
        TypeError: they are not whole numbers.
        ValueError: they have another shape, there are none, or one is outside the vocabulary.
    """
    check_batch(ids, name)
    if ids.is_meta or torch.compiler.is_compiling() or not (wait or ids.device.type == "cpu"):
        return
    try:
        least, most = torch.stack(ids.aminmax()).tolist()  # waits for the device once, not twice
    except RuntimeError:  # within torch.func.vmap there are no values to check
        return
    if least < 0 or most >= vocab_size:
        wrong = least if least < 0 else most
        raise ValueError(f"{name} must be from 0 to {vocab_size - 1}, the vocabulary's last, but there is a {wrong}")


def check_batch(ids: Int[Tensor, "batch tokens"], name: str) -> None:
    """Refuse anything that cannot be a batch of ids, without checking the values.

    Raises:
        TypeError: they are not a tensor, or not whole numbers.
        ValueError: they have another shape, or there are none.
    """
    if not isinstance(ids, Tensor):
        raise TypeError(f"{name} must be a tensor [batch, tokens], not a {type(ids).__name__}; write torch.tensor(ids)")
    if ids.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"{name} must be whole numbers (torch.long), not {ids.dtype}")
    if ids.dim() != 2:
        raise ValueError(f"{name} must be [batch, tokens], not {list(ids.shape)}")
    if not ids.numel():
        raise ValueError(f"{name} has no tokens: {list(ids.shape)}")


def check_mask(mask: Bool[Tensor, "batch tokens"] | None, ids: Int[Tensor, "batch tokens"]) -> None:
    """Refuse a padding mask that is not boolean, or has another shape than the ids.

    Raises:
        TypeError: it is not boolean.
        ValueError: it has another shape.
    """
    if mask is None:
        return
    check_boolean(mask, "a token, False = padding")
    if mask.shape != ids.shape:
        raise ValueError(f"mask must be {list(ids.shape)} as ids are, not {list(mask.shape)}")
