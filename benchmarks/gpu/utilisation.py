"""What share of a GPU's arithmetic a training uses: model FLOP utilization."""

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
"""Dense products per second in half precision, by a part of the device's name: the vendor's data sheets."""


def peak_flops(device: torch.device | str) -> float | None:
    """The device's peak, in floating-point operations a second; None where it is not known."""
    device = torch.device(device)
    if device.type != "cuda":
        return None
    name = torch.cuda.get_device_name(device)
    return next((peak for part, peak in PEAKS.items() if part in name), None)


def flops_per_token(model: GPT | Transformer, loss: Loss[Any, Any], batch: AnyBatch) -> float:
    """Floating-point operations of one forward and backward pass, counted by torch, for each token of the batch.

    Counted on a twin of the model that has shapes and no values ("meta"), where every product is one that torch
    knows how to count. Padding is computed as well: it is counted as work, not as tokens.
    """
    with torch.device("meta"):
        twin = GPT(model.config) if isinstance(model, GPT) else Transformer(model.config)
    with FlopCounterMode(display=False) as counter:
        loss(twin, batch.to("meta")).backward()
    return float(counter.get_total_flops()) / batch.tokens


def utilisation(flops: float, tokens_per_second: float, device: torch.device | str) -> float | None:
    """The share of the device's peak, from 0 to 1; None where the peak is not known."""
    peak = peak_flops(device)
    return None if peak is None else flops * tokens_per_second / peak
