"""Numpy's arrays among the values that cross and are compared: a tensor that remembers that it is an array.

What compares, shows and sends values knows tensors. So the arrays of a case, and those that an answer returns, are kept
as tensors of this kind, and become arrays again where a function of the course's or the answer's is given them.
"""

from __future__ import annotations

from typing import Any

import numpy
import torch
from torch import Tensor


class Array(Tensor):
    """An array's numbers, in their order in memory. Computing with them gives plain tensors."""

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def of(cls, tensor: Tensor) -> Array:
        """The array with the numbers of a tensor, which it shares."""
        return tensor.as_subclass(cls)

    def tensor(self) -> Tensor:
        """Its numbers as a plain tensor, which shares them."""
        return self.as_subclass(Tensor)


_DTYPES = frozenset(
    map(numpy.dtype, ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"))
)
"""What an array may hold: what tensors hold, too, in the byte order of this machine."""


def can_be_kept(array: numpy.ndarray[Any, Any]) -> bool:
    """Return whether an array can be kept: a plain one, of numbers or truth values."""
    return type(array) is numpy.ndarray and array.dtype in _DTYPES


def array_name(array: numpy.ndarray[Any, Any]) -> str:
    """Name an array that cannot be kept: "numpy.matrix", "numpy.ndarray of complex128"."""
    if type(array) is not numpy.ndarray:
        return f"{type(array).__module__}.{type(array).__qualname__}"
    return f"numpy.ndarray of {array.dtype}"


def keep_arrays(value: Any) -> Any:
    """A value with a copy of each array as an `Array`; one that cannot be kept stays what it is."""
    if isinstance(value, numpy.ndarray):
        return Array.of(torch.from_numpy(value.copy(order="K"))) if can_be_kept(value) else value
    return _inside(value, keep_arrays)


def give_arrays(value: Any) -> Any:
    """A value with a numpy array for each `Array`, as a function is given it; the arrays are copies."""
    if isinstance(value, Array):
        return value.tensor().detach().numpy().copy(order="K")
    return _inside(value, give_arrays)


def numpy_generator(generator: torch.Generator) -> numpy.random.Generator:
    """A generator of numpy's for the cases of an exercise; it depends on all that the one of torch's does.

    Args:
        generator: from which its 256 bits of seed are drawn.
    """
    return numpy.random.default_rng(torch.randint(2**32, (8,), generator=generator).tolist())


def _inside(value: Any, change: Any) -> Any:
    """A value whose parts are changed."""
    kind = type(value)
    if kind is list or kind is tuple:
        return kind(change(item) for item in value)
    if kind is dict:
        return {key: change(item) for key, item in value.items()}
    return value
