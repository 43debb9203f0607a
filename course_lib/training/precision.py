"""Numeric precision: half is enough for most of a model, and much faster on devices that support it."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

import torch

from course_lib.ground.validation import check_one_of

Precision = Literal["auto", "fp32", "bf16", "fp16"]
"""The precision of the arithmetic: single, or one of two forms of half; "auto" is what `precision_for` chooses."""


def precision_for(device: torch.device | str) -> Precision:
    """Return the fastest precision that trains as well as single precision on this device.

    bf16, on GPUs since Ampere and processors with AMX: it has the range of single precision and needs no care. fp16, on
    older GPUs: its small range requires a scaled loss. fp32 on all others; on processors that multiply bf16 without
    AMX, the conversions take about as long as they save.
    """
    device = torch.device(device)
    if device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "fp16"
    if device.type == "cpu":
        known: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()  # since torch 2.9
        return "bf16" if known.get("amx_bf16") else "fp32"
    return "fp32"


def autocast(device: torch.device, precision: Precision) -> AbstractContextManager[Any]:
    """Let torch compute in this precision, within this block, where accuracy allows.

    Raises:
        ValueError: there is no such precision.
    """
    check_one_of(Precision, precision=precision)
    if precision == "auto":
        precision = precision_for(device)
    if precision == "fp32":
        return nullcontext()
    return torch.autocast(device.type, torch.bfloat16 if precision == "bf16" else torch.float16)
