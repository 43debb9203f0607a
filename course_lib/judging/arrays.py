"""Numpy's arrays as values: a tensor that remembers that it is an array.

The code that compares, shows and sends values knows only tensors. So the arrays of a case, and those that an answer
returns, are kept as tensors of this kind. They become arrays again when the course's or an answer's function takes
them.
"""

from __future__ import annotations

from typing import Any

import numpy
import torch
from torch import Tensor


class Array(Tensor):
    """An array's numbers, in their order in memory. Computations with them give plain tensors."""

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def of(cls, tensor: Tensor) -> Array:
        """Return an array that shares the numbers of a tensor."""
        return tensor.as_subclass(cls)

    def tensor(self) -> Tensor:
        """Return a plain tensor that shares its numbers."""
        return self.as_subclass(Tensor)


_DTYPES = frozenset(
    map(numpy.dtype, ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"))
)
"""The dtypes that an array may have: those of tensors, in this machine's byte order."""


def can_be_kept(array: numpy.ndarray[Any, Any]) -> bool:
    """Return whether an array can be kept: whether it is a plain one, of numbers or truth values."""
    return type(array) is numpy.ndarray and array.dtype in _DTYPES


def array_name(array: numpy.ndarray[Any, Any]) -> str:
    """Name an array that cannot be kept: "numpy.matrix", "numpy.ndarray of complex128"."""
    if type(array) is not numpy.ndarray:
        return f"{type(array).__module__}.{type(array).__qualname__}"
    return f"numpy.ndarray of {array.dtype}"


def keep_arrays(value: Any) -> Any:
    """Replace each array in a value by a copy as an `Array`; arrays that cannot be kept stay."""
    if isinstance(value, numpy.ndarray):
        return Array.of(torch.from_numpy(value.copy(order="K"))) if can_be_kept(value) else value
    return _inside(value, keep_arrays)


def give_arrays(value: Any) -> Any:
    """Replace each `Array` in a value by a copy as a numpy array, for a function to take."""
    if isinstance(value, Array):
        return value.tensor().detach().numpy().copy(order="K")
    return _inside(value, give_arrays)


def numpy_generator(generator: torch.Generator) -> numpy.random.Generator:
    """Return a numpy generator for the cases of an exercise that depends on the whole seed of torch's.

    Args:
        generator: draws the 256 bits of the seed.
    """
    return numpy.random.default_rng(torch.randint(2**32, (8,), generator=generator).tolist())


def _inside(value: Any, change: Any) -> Any:
    """Apply a change to the parts of a list, tuple or dict; return other values as they are."""
    kind = type(value)
    if kind is list or kind is tuple:
        return kind(change(item) for item in value)
    if kind is dict:
        return {key: change(item) for key, item in value.items()}
    return value
