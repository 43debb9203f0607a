"""Helpers for several exercises of lesson 05 use."""

from collections.abc import Callable, Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import Kind
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import Misconception, Value
from course_lib.judging.given import Given
from course_lib.text.tokenization import END_ID, START_ID

GERMAN = torch.tensor([[START_ID, 4, 5, 6, END_ID]])
"""`<s>` die Katze tanzte `<e>`, as ids."""


def layouts(generator: Generator) -> Iterator[Kind]:
    """Single precision without leading dimensions."""
    yield Kind("a few tokens", generator)
    yield Kind("other tokens", generator)
    yield Kind("transposed in memory", generator, transposed=True)


def drawn(generator: Generator, size: float, kind: str, dtype: torch.dtype = torch.float32, **construct: int) -> Given:
    """A module of this kind with random weights, of about this size."""
    weights = Given(kind, construct).module().state_dict()
    return Given(
        kind,
        construct,
        {name: size * torch.randn(weight.shape, generator=generator, dtype=dtype) for name, weight in weights.items()},
    )


MEOWED = {
    "The": {"The": 0.2, "gray": 0.01, "blue": 0.001, "fluffy": 0.0005, "wet": 0.0005},
    "gray": {"black": 0.2, "gray": 0.12, "blue": 0.001, "fluffy": 0.0005, "wet": 0.0005},
    "fluffy": {"fluffy": 0.2, "gray": 0.01, "blue": 0.001, "bald": 0.0005, "wet": 0.0005},
    "cat": {"dog": 0.2, "cat": 0.19, "blue": 0.001, "fluffy": 0.0005, "wet": 0.0005},
    "meowed": {"meowed": 0.3, "purred": 0.2, "hissed": 0.1, "fluffy": 0.001, "wet": 0.001},
    "very": {"very": 0.2, "lots": 0.1, "softly": 0.1, "fluffy": 0.0005, "wet": 0.0005},
    "loudly": {"loudly": 0.2, "softly": 0.001, "quiet": 0.001, "fluffy": 0.001, "wet": 0.0005},
    "EOS": {"EOS": 0.3, "and": 0.1, "blue": 0.001, "fluffy": 0.0005, "wet": 0.0005},
}
"""S1's table: at each place of *The gray fluffy cat meowed very loudly EOS* the tokens that it lists."""


def meowed_table() -> tuple[Tensor, Tensor]:
    """The slide's table as probabilities, with the ids of the right tokens; its last column is all other tokens."""
    tokens = ["padding", *sorted({token for listed in MEOWED.values() for token in listed})]
    p = torch.zeros(len(MEOWED), len(tokens) + 1)
    for row, listed in zip(p, MEOWED.values(), strict=True):
        for token, probability in listed.items():
            row[tokens.index(token)] = probability
    p = p.clamp_min(1e-4)
    p[:, -1] = 1 - p[:, :-1].sum(dim=1)
    return p, torch.tensor([tokens.index(token) for token in MEOWED])


def padding_left_out(answer: Callable[..., Value]) -> Misconception:
    return Misconception(
        "padding_left_out",
        "Your answer skips tokens whose target is 0, as if they were padding. Here, count all tokens.",
        answer,
    )


def log_of_softmax(right: Callable[..., Value]) -> Misconception:
    """The softmax and its logarithm one after the other, for an answer that takes `log_softmax` once."""
    return Misconception(
        "log_of_softmax",
        "Your answer takes the logarithm of a softmax, which is minus infinity where the softmax rounds to 0. Use "
        "log_softmax instead.",
        Edited(right, ("log_softmax(dim=-1)", "softmax(dim=-1).log()"), paired=False),
    )
