"""Helpers for several exercises of lesson 10 use."""

from collections.abc import Callable, Sequence

import torch
from torch import Generator

from course_lib.judging.exercise import Misconception

VOCABULARY = ("the", "cat", "dog", "sat", "on")
"""A few words only, so that sentences repeat them and share n-grams."""


split_words = str.split
"""A sentence as a list of its words."""


def random_sentence(generator: Generator, length: int) -> list[str]:
    drawn = torch.randint(len(VOCABULARY), (length,), generator=generator).tolist()
    return [VOCABULARY[index] for index in drawn]


HEADLINES = (
    torch.tensor([[2, 0, 0, 0, 2, 2], [2, 0, 0, 0, 1, 1], [0, 0, 2, 2, 2, 2]]),
    torch.tensor([[1, 1, 0, 0, 2, 2], [2, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0]]),
    torch.tensor([[True] * 6, [True] * 6, [True] * 2 + [False] * 4]),
)
"""Predicted and expected tags of three headlines (0 Other, 1 ORG, 2 LOC), S1's first, and where there are words."""


def in_percent(shares: str, answer: Callable[..., object]) -> Misconception:
    return Misconception("in_percent", f"Your answer is in percent. Return {shares}.", answer)


Words = Sequence[str]
