"""A bar below Python: torch's kernels for forbidden functions are taken out while an answer is called.

What `course_lib.checking.trap` watches is Python's and can be got around from Python: by TorchScript, or by a
thread that was started before. Here the dispatcher itself has no softmax left to run. That holds for the whole
process, which is fine in a box and would not be in a notebook.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Collection, Iterator

import torch

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

_COMPOSITE = "_scaled_dot_product_attention_math"  # made of other operations, so autograd takes it apart by itself


@contextlib.contextmanager
def barred(forbidden: Collection[str]) -> Iterator[list[str]]:
    """Take out the kernels of these functions; the list receives the forbidden names that were called anyway.

    Args:
        forbidden: names of an exercise; those that end in none of the kernels are passed over.
    """
    used: list[str] = []
    closed = {kernel: name for kernel, names in _KERNELS.items() for name in names if name in forbidden}
    if not closed:
        yield used
        return
    library = torch.library.Library("aten", "IMPL")
    try:
        with warnings.catch_warnings():  # torch warns of every replacement
            warnings.simplefilter("ignore")
            for kernel, name in closed.items():
                for key in ("CPU", "AutogradCPU") if kernel == _COMPOSITE else ("CPU",):
                    library.impl(kernel, _refusal(name, used), key)
        yield used
    finally:
        library._destroy()


def _refusal(name: str, used: list[str]) -> Callable[..., None]:
    def refuse(*args: object, **kwargs: object) -> None:
        used.append(name)
        raise RuleBroken(f"{name} may not be used here")

    return refuse
