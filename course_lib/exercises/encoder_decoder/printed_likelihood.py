"""Lesson 05, encoder_decoder.printed_likelihood: Which computation printed 1.6290?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, kinds
from course_lib.exercises.encoder_decoder.shared import LESSON, MEOWED, WITHHELD
from course_lib.judging.exercise import Case, Exercise, Hint, Misconception
from course_lib.references import encoder_decoder

Words = Callable[[Tensor], Tensor]

THREE_TEXTS = torch.tensor([[0.50, 0.25, 0.10, 0.40], [0.90, 0.30, 0.60, 0.05], [0.20, 0.70, 0.15, 0.80]])
"""What the lesson's program with S1's slip was given."""


def _printed_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(
            "worked example: The gray fluffy cat meowed very loudly EOS",
            (torch.tensor([listed[token] for token, listed in MEOWED.items()]),),
        )
        yield Case("the three texts", (THREE_TEXTS,))
    for kind in kinds(generator):
        texts, tokens = kind.sizes(2)
        yield Case(kind.name, (kind.normal(texts, tokens + 1).sigmoid(),))
    yield Case("texts of two tokens", (torch.rand(3, 2, generator=generator) * 0.9 + 0.05,))


def _last_replaced(p: Tensor, last: Tensor) -> Tensor:
    return torch.cat([p[..., :-1], last], dim=-1)


def _printed(
    p: Tensor,
    *,
    tokens: Words = lambda p: _last_replaced(p, p[..., -2:-1]),
    reduce: Words = lambda logs: logs.mean(dim=-1),
    sign: float = -1.0,
    end: Words = lambda nll: nll,
) -> Tensor:
    """The reference with changes."""
    return end(sign * reduce(tokens(p).log()))


def _by_weights(p: Tensor) -> Tensor:
    """Count each token."""
    counts = torch.ones_like(p)
    counts[..., -2], counts[..., -1] = 2, 0
    return -(counts * p.log()).sum(-1) / p.shape[-1]


def _mended_afterwards(p: Tensor) -> Tensor:
    """The right mean, and what the slip adds to it."""
    return -p.log().mean(-1) + (p[..., -1] / p[..., -2]).log() / p.shape[-1]


def _by_loop(p: Tensor) -> Tensor:
    rows = p.reshape(-1, p.shape[-1])
    means = [-(row[:-1].log().sum() + row[-2].log()) / len(row) for row in rows]
    return torch.stack(means).reshape(p.shape[:-1])


CORRECT = (_by_weights, _mended_afterwards, _by_loop)


EXERCISE = Exercise(
    id="encoder_decoder.printed_likelihood",
    lesson=LESSON,
    name="printed_likelihood",
    title="Which computation printed 1.6290?",
    statement=(
        "printed_likelihood(p [..., tokens]) -> [...]: for each text of two tokens and more the mean negative "
        "log-likelihood as the slide adds it up, slip included."
    ),
    points=2,
    minutes=8,
    difficulty=2,
    importance=2,
    section="One word at a time",
    source="S1, teacher forcing",
    reference=encoder_decoder.printed_likelihood,
    cases=and_turned_around(_printed_cases),
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "Multiply a printed mean by the number of tokens and compare that with the right sum, token by token. Then "
            "the difference can only come from one token. Whose logarithm was added in its place?",
            answers=("as_it_should_be",),
        ),
        Hint(
            "shapes",
            "The tokens are the last dimension, whatever stands before it: `[..., tokens]` goes in, and one number for "
            "each text, `[...]`, comes out. All tokens of a text count, the wrong one included.",
            answers=("last_left_out", "last_left_out_and_counted", "one_for_all_texts", "not_averaged"),
        ),
    ),
    misconceptions=(
        Misconception(
            "one_before_replaced",
            "Your answer puts the last token in place of the one before it. It is the other way round.",
            partial(_printed, tokens=lambda p: torch.cat([p[..., :-2], p[..., -1:], p[..., -1:]], dim=-1)),
        ),
        Misconception(
            "as_it_should_be",
            "Your answer is the right mean, and not what was printed: for the slide's table it gives 1.5783. Which of "
            "the tokens has the slide got wrong?",
            partial(_printed, tokens=lambda p: p),
        ),
        Misconception(
            "last_left_out",
            "Your answer leaves the last token out and divides by the others. The slide's sum has as many terms as "
            "there are tokens: something else stands in its place.",
            partial(_printed, tokens=lambda p: p[..., :-1]),
        ),
        Misconception(
            "last_left_out_and_counted",
            "Your answer leaves the last token's logarithm out of the sum but counts it in the division. The slide's "
            "sum has as many terms as there are tokens: something else stands in its place.",
            partial(_printed, tokens=lambda p: _last_replaced(p, torch.ones_like(p[..., -1:]))),
        ),
        Misconception(
            "last_is_a_fifth",
            "Your answer gives the last token a probability of 0.2 in every text. On the slide that fits, in the other "
            "texts it doesn't: where does the 0.2 come from?",
            partial(_printed, tokens=lambda p: _last_replaced(p, torch.full_like(p[..., -1:], 0.2))),
        ),
        Misconception(
            "first_for_the_last",
            "Your answer gives the last token the probability of the first. On the slide that fits, in the other texts "
            "it doesn't: which other token of the slide has 0.2?",
            partial(_printed, tokens=lambda p: _last_replaced(p, p[..., :1])),
        ),
        Misconception(
            "third_for_the_last",
            "Your answer gives the last token the probability of the third. On the slide that fits, in the other texts "
            "it doesn't always: they are of other lengths, so count from the end.",
            partial(_printed, tokens=lambda p: _last_replaced(p, p[..., 2:3] if p.shape[-1] > 2 else p[..., :1])),
        ),
        Misconception(
            "summed",
            "Your answer is a sum over the tokens. What was printed is their mean: divide by their number.",
            partial(_printed, reduce=lambda logs: logs.sum(dim=-1)),
        ),
        Misconception(
            "one_for_all_texts",
            "Your answer is one number for all texts. Take the mean of each: the tokens are the last dimension.",
            partial(_printed, reduce=torch.mean),
        ),
        Misconception(
            "not_averaged",
            "Your answer still has a number for each token. Take their mean.",
            partial(_printed, reduce=lambda logs: logs),
        ),
        Misconception(
            "not_negated",
            "The slip is right, but the minus in front is missing: logarithms of probabilities are negative.",
            partial(_printed, sign=1.0),
        ),
        Misconception(
            "perplexities",
            "Your answer is a perplexity, e to the power of what was printed. Leave out the exp.",
            partial(_printed, end=torch.exp),
        ),
        Misconception(
            "in_bits",
            "Your answer is in bits. Take natural logarithms, torch.log.",
            partial(_printed, end=lambda nll: nll / math.log(2)),
        ),
        Misconception(
            "log_of_the_mean",
            "Your answer is the logarithm of a mean of probabilities. Take the logarithms first, then their mean.",
            lambda p: -_last_replaced(p, p[..., -2:-1]).mean(dim=-1).log(),
        ),
    ),
    withheld=(*WITHHELD, "course_lib.references.encoder_decoder"),
)
