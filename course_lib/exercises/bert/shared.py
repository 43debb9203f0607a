"""Helpers for several exercises of lesson 09 use."""

import math
from collections.abc import Callable

import torch
from torch import Generator, Tensor, nn

from course_lib.exercises.common import mistake
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import Misconception

CLS, SEP, PAD, MASK = 101, 102, 0, 103


def linear_layer(
    generator: Generator, name: str, ins: int, outs: int, dtype: torch.dtype = torch.float32
) -> dict[str, Tensor]:
    weight = torch.randn(outs, ins, generator=generator, dtype=dtype) / math.sqrt(ins)
    return {f"{name}.weight": weight, f"{name}.bias": torch.randn(outs, generator=generator, dtype=dtype)}


def classifier(forward: Callable[..., Tensor], dense: bool = False) -> type[nn.Module]:
    """A head with the layer `output`, and with `dense` if it has one; forward(*inputs, *layers) is what it computes."""

    class Classifier(nn.Module):
        def __init__(self, d_model: int, classes: int) -> None:
            super().__init__()
            if dense:
                self.dense = nn.Linear(d_model, d_model)
            self.output = nn.Linear(d_model, classes)

        def forward(self, *inputs: Tensor) -> Tensor:
            return forward(*inputs, *self.children())

    return Classifier


def normalised(slip: Callable[..., Edited]) -> tuple[Misconception, ...]:
    """Something else than the scores returned, by an edit of a head that ends with `return scores`."""
    return (
        *mistake(
            "Your answer returns exp of the scores, without the normalizer. Return the scores: the loss takes the "
            "softmax itself.",
            exponentials=slip(("return scores", "return scores.exp()")),
        ),
        *mistake(
            "Your answer returns probabilities. Return the scores: the loss takes the softmax itself.",
            probabilities=slip(("return scores", "return scores.softmax(dim=-1)")),
        ),
        *mistake(
            "Your answer returns log-probabilities. Return the scores: cross-entropy takes the softmax itself.",
            log_probabilities=slip(("return scores", "return scores.log_softmax(dim=-1)")),
        ),
    )
