"""Helpers for several exercises of lesson 12 use."""

from collections.abc import Callable
from typing import Any

from course_lib.judging.exercise import Misconception

DOUBLE = "double precision"
"""The part that an answer misses which computes in single precision, as published models do."""


def no_gradient(answer: Callable[..., Any], of: str) -> Misconception:
    """A right answer that has left torch on its way."""
    return Misconception(
        "no_gradient",
        f"Your values are right, but no gradient reaches {of}, so the model cannot learn: the computation leaves "
        "torch (.detach(), .data, numpy, no_grad). Use torch operations throughout.",
        answer,
        alone=True,
    )
