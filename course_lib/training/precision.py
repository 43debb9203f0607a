"""Numeric precision: half is enough for most of a model, and much faster where a device has it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

import torch

from course_lib.ground.validation import check_one_of

Precision = Literal["auto", "fp32", "bf16", "fp16"]
"""Of the arithmetic: single, or half in one of its two forms; "auto" is what `precision_for` chooses."""


def precision_for(device: torch.device | str) -> Precision:
    """The fastest precision that trains as well as single precision on this device.

    bf16 has the range of single precision and needs no care: for GPUs since Ampere, and processors with AMX. Older
    GPUs multiply fp16, whose small range calls for a scaled loss. Others: fp32; on processors that multiply bf16
    without AMX, converting to it and back takes about as long as it saves.
    """
    device = torch.device(device)
    if device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "fp16"
    if device.type == "cpu":
        known: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()  # since torch 2.9
        return "bf16" if known.get("amx_bf16") else "fp32"
    return "fp32"


def autocast(device: torch.device, precision: Precision) -> AbstractContextManager[Any]:
    """Within it, torch multiplies in this precision what can stand it.

    Raises:
        ValueError: there is no such precision.
    """
    check_one_of(Precision, precision=precision)
    if precision == "auto":
        precision = precision_for(device)
    if precision == "fp32":
        return nullcontext()
    return torch.autocast(device.type, torch.bfloat16 if precision == "bf16" else torch.float16)
