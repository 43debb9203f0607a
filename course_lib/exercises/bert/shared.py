"""What several exercises of lesson 09 use."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

LESSON = "09_bert"


WITHHELD = ("course_lib.objectives.heads", "course_lib.objectives.pretraining")


CLS, SEP, PAD, MASK = 101, 102, 0, 103


def softmax_note(what: str) -> str:
    return f"Your answer is {what}. Return the scores as they are: the loss takes the softmax itself."


Change = Callable[[Tensor], Tensor]


Layer = Callable[[Tensor, nn.Linear], Tensor]


def linear_layer(
    generator: Generator, name: str, ins: int, outs: int, dtype: torch.dtype = torch.float32
) -> dict[str, Tensor]:
    weight = torch.randn(outs, ins, generator=generator, dtype=dtype) / math.sqrt(ins)
    return {f"{name}.weight": weight, f"{name}.bias": torch.randn(outs, generator=generator, dtype=dtype)}


def applied_to(x: Tensor, layer: nn.Linear) -> Tensor:
    out: Tensor = layer(x)
    return out


def without_bias(x: Tensor, layer: nn.Linear) -> Tensor:
    return F.linear(x, layer.weight)
