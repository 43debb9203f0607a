"""What several exercises of lesson 03 use."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor

LESSON = "03_positions"


WITHHELD = ("course_lib.positions",)


def random_order(generator: Generator, words: int) -> Tensor:
    """A random order of three words or more that is not its own inverse."""
    while True:
        order = torch.randperm(words, generator=generator)
        if not torch.equal(order[order], torch.arange(words)):
            return order


def places_of(order: Tensor) -> Tensor:
    return torch.arange(len(order))


def sinusoidal_by_loop(length: int, d_model: int) -> Tensor:
    encoding = torch.zeros(length, d_model)
    for pos in range(length):
        for i in range(d_model // 2):
            angle = pos / 10_000 ** (2 * i / d_model)
            encoding[pos, 2 * i] = math.sin(angle)
            encoding[pos, 2 * i + 1] = math.cos(angle)
    return encoding
