"""Computes the share of a GPU's arithmetic that a training uses: model FLOP utilization."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from course_lib.models import GPT, Transformer
from course_lib.text.batches import AnyBatch
from course_lib.training.loop import Loss

PEAKS = {
    "B200": 2250e12,
    "H200": 989e12,
    "H100": 989e12,
    "A100": 312e12,
    "L40S": 362e12,
    "L4": 121e12,
    "A10": 125e12,
    "RTX 4090": 165e12,
    "V100": 125e12,
    "T4": 65e12,
}
"""Peak dense operations per second in half precision, from the vendor's data sheets, by part of the device's name."""


def peak_flops(device: torch.device | str) -> float | None:
    """Return the device's peak in floating-point operations per second; None if unknown."""
    device = torch.device(device)
    if device.type != "cuda":
        return None
    name = torch.cuda.get_device_name(device)
    return next((peak for part, peak in PEAKS.items() if part in name), None)


def flops_per_token(model: GPT | Transformer, loss: Loss[Any, Any], batch: AnyBatch) -> float:
    """Return the floating-point operations per token of one forward and backward pass, as counted by torch.

    They are counted on a copy of the model with shapes but no values ("meta"), where torch can count every product.
    Padding is computed too: it counts as work, but not as tokens.
    """
    with torch.device("meta"):
        twin = GPT(model.config) if isinstance(model, GPT) else Transformer(model.config)
    with FlopCounterMode(display=False) as counter:
        loss(twin, batch.to("meta")).backward()
    return float(counter.get_total_flops()) / batch.tokens


def utilisation(flops: float, tokens_per_second: float, device: torch.device | str) -> float | None:
    """Return the share of the device's peak, from 0 to 1; None if the peak is unknown."""
    peak = peak_flops(device)
    return None if peak is None else flops * tokens_per_second / peak
