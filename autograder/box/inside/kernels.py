"""A bar below Python: torch's kernels for forbidden functions are taken out while an answer is called.

What `course_lib.checking.trap` watches is Python's and can be got around from Python: by TorchScript, or by a
thread that was started before. Here the dispatcher itself has no softmax left to run. That holds for the whole
process, which is fine in a box and would not be in a notebook.
"""

from __future__ import annotations

import contextlib
import ctypes
import warnings
from collections.abc import Callable, Collection, Iterator
from typing import Any

import torch
import torch.func

from course_lib.checking.trap import RuleBroken

_SOFTMAX = ("softmax", "softmin", "Softmax", "Softmin")
_FUSED = ("scaled_dot_product_attention",)
_MULTI_HEAD = ("multi_head_attention_forward", "MultiheadAttention")

_KERNELS: dict[str, tuple[str, ...]] = {
    "_softmax": _SOFTMAX,
    "_masked_softmax": _SOFTMAX,
    "_log_softmax": ("log_softmax", "LogSoftmax"),
    "_scaled_dot_product_flash_attention_for_cpu": _FUSED,
    "_scaled_dot_product_attention_math": _FUSED,
    "_native_multi_head_attention": _MULTI_HEAD,
    "_transformer_encoder_layer_fwd": _MULTI_HEAD,
}
"""The kernels in which forbidden functions end on a CPU, and the names that forbid each."""

_FUNCTIONS: dict[str, Any] = {
    "jacobian": torch.autograd.functional.jacobian,
    "jacfwd": torch.func.jacfwd,
    "jacrev": torch.func.jacrev,
}
"""Forbidden functions that are Python's, by the names that forbid them."""

_COMPOSITE = "_scaled_dot_product_attention_math"  # made of other operations, so autograd takes it apart by itself


@contextlib.contextmanager
def barred(forbidden: Collection[str]) -> Iterator[list[str]]:
    """Take out the kernels of these functions; the list receives the forbidden names that were called anyway.

    Args:
        forbidden: names of an exercise; those that end in none of the kernels are passed over.
    """
    used: list[str] = []
    if not _has_kernels(forbidden):
        yield used
        return
    library = torch.library.Library("aten", "IMPL")
    try:
        _close(library.impl, forbidden, used)
        yield used
    finally:
        library._destroy()


def bar_for_good(forbidden: Collection[str]) -> None:
    """Take out these kernels for the rest of this process's life; call it before any student's code has run.

    What `torch.library` registers can be found again and taken back, by whoever looks for it. So this goes beneath
    it, to an object that the garbage collector does not know, and gives that away for ever.
    """
    library = torch._C._dispatch_library("IMPL", "aten", "", __file__, 0)

    def register(kernel: str, refusal: Callable[..., None], key: str) -> None:
        library.impl(kernel, key, refusal, False)  # type: ignore[call-arg]  # as torch's own `Library.impl` does

    _close(register, forbidden, [])
    for name in _FUNCTIONS.keys() & set(forbidden):
        _FUNCTIONS[
            name
        ].__code__ = _gone.__code__  # so that every reference to it leads here, even one kept by torch itself
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))


def can_be_barred(forbidden: Collection[str]) -> bool:
    """Whether torch can be without any of these functions."""
    return _has_kernels(forbidden) or any(name in _FUNCTIONS for name in forbidden)


def _has_kernels(forbidden: Collection[str]) -> bool:
    return any(name in names for names in _KERNELS.values() for name in forbidden)


def _gone(*args: object, **kwargs: object) -> None:
    raise RuntimeError("this function may not be used here")


def _close(
    register: Callable[[str, Callable[..., None], str], Any], forbidden: Collection[str], used: list[str]
) -> None:
    """Put a refusal in place of the kernels of these functions."""
    with warnings.catch_warnings():  # torch warns of every replacement
        warnings.simplefilter("ignore")
        for kernel, names in _KERNELS.items():
            for name in [name for name in names if name in forbidden][:1]:
                for key in ("CPU", "AutogradCPU") if kernel == _COMPOSITE else ("CPU",):
                    register(kernel, _refusal(name, used), key)


def _refusal(name: str, used: list[str]) -> Callable[..., None]:
    def refuse(*args: object, **kwargs: object) -> None:
        used.append(name)
        raise RuleBroken(f"{name} may not be used here")

    return refuse
