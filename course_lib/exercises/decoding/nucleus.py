"""Lesson 06, decoding.nucleus: Nucleus."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy
import torch
from torch import Generator, Tensor

from course_lib.checking.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.exercises.common import alike, and_turned_around, integer
from course_lib.exercises.decoding.shared import (
    BEHIND,
    BEHIND_DIE_KATZE,
    DIVISIONS,
    LESSON,
    WITHHELD,
    KeepRule,
    distributions,
    is_largest,
    leave_sorted,
    restricted_by,
)
from course_lib.references import decoding


def _gathered(restricted: Tensor, probabilities: Tensor, _stay: Tensor) -> Tensor:
    ordered, places = restricted.sort(dim=-1, descending=True).values, probabilities.argsort(dim=-1, descending=True)
    return ordered.gather(-1, places)


EDGE = "p reached exactly, or not quite"
"""The part of `nucleus` where the mass may be exactly p, or miss 1 by rounding."""


def _nucleus_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{BEHIND}, p = 0.75", (BEHIND_DIE_KATZE, 0.75))
    for name, probabilities in distributions(generator, 6):
        yield Case(name, (probabilities, _clear_of(probabilities, generator)))
    flat = torch.softmax(0.3 * torch.randn(9, generator=generator), dim=-1)
    yield Case("nearly equal tokens", (flat, _clear_of(flat, generator)))
    sharp = torch.softmax(torch.randn(2, 7, generator=generator), dim=-1) * 0.2
    sharp[0, 4] += 0.8
    sharp[1, 2] += 0.8
    yield Case("one token has more than p", (sharp, 0.6))
    nearly = torch.softmax(torch.randn(2, 6, generator=generator), dim=-1) * (1 - 2**-20)
    yield Case("p = 1, which the sum may miss by rounding", (nearly, 1.0), part=EDGE)
    exact = torch.tensor([0.5, 0.25, 0.125, 0.09375, 0.03125])  # no sum of these is rounded
    exact = torch.stack([exact[torch.randperm(5, generator=generator)] for _ in range(2)])
    yield Case("two tokens sum to p exactly", (exact, 0.75), part=EDGE)


def _clear_of(probabilities: Tensor, generator: Generator) -> float:
    """A mass that no sum of the most probable tokens is near, so that rounding decides nothing."""
    sums = probabilities.sort(dim=-1, descending=True).values.cumsum(dim=-1)
    while True:
        p = integer(generator, 45, 93) / 100
        if float((sums - p).abs().min()) > 0.004:
            return p


def _nucleus_of(
    probabilities: Tensor,
    p: float,
    *,
    descending: bool = True,
    crossing: bool = True,
    reached: bool = True,
    dim: int = -1,
) -> Tensor:
    """True at the tokens of the nucleus.

    Args:
        descending: from the most probable token on.
        crossing: whether the token that crosses p belongs to them.
        reached: whether p is enough, or must be exceeded.
        dim: of the tokens.
    """
    ordered, places = probabilities.sort(dim=dim, descending=descending)
    mass = ordered.cumsum(dim=dim)
    mass = mass - ordered if crossing else mass
    return torch.zeros_like(mass, dtype=torch.bool).scatter(dim, places, mass < p if reached else mass <= p)


def _count(probabilities: Tensor, p: float) -> Tensor:
    return _nucleus_of(probabilities, p).sum(dim=-1, keepdim=True)


def _so_many(probabilities: Tensor, count: Tensor | float) -> Tensor:
    return probabilities.argsort(dim=-1, descending=True).argsort(dim=-1) < count


def _and_the_best(keep: KeepRule) -> KeepRule:
    return lambda probabilities, p: keep(probabilities, p) | is_largest(probabilities)


def _first_so_many(probabilities: Tensor, p: float) -> Tensor:
    return torch.arange(probabilities.shape[-1]) < _count(probabilities, p)


def _to_the_first_true(probabilities: Tensor, p: float) -> Tensor:
    """Up to the token that argmax finds to cross p; where none does, that is the first."""
    ordered = probabilities.sort(dim=-1, descending=True).values
    return _so_many(probabilities, (ordered.cumsum(dim=-1) >= p).int().argmax(dim=-1, keepdim=True) + 1)


def _share(rounded: Callable[[float], int]) -> KeepRule:
    """A share p of all tokens, the most probable ones."""
    return lambda probabilities, p: _so_many(probabilities, max(1, rounded(p * probabilities.shape[-1])))


def _nucleated(
    probabilities: Tensor, p: float, *, keep: KeepRule = _nucleus_of, **rest: Callable[..., Tensor]
) -> Tensor:
    """The nucleus with something done differently."""
    return restricted_by(probabilities, p, keep=keep, **rest)


def _nucleus_by_scatter(probabilities: Tensor, p: float) -> Tensor:
    values, places = probabilities.sort(dim=-1, descending=True)
    values = values.masked_fill(values.cumsum(-1) - values >= p, 0.0)
    return torch.zeros_like(probabilities).scatter(-1, places, values / values.sum(-1, keepdim=True))


def _nucleus_by_loop(probabilities: Tensor, p: float) -> Tensor:
    kept = torch.zeros_like(probabilities).reshape(-1, probabilities.shape[-1])
    for row, out in zip(probabilities.reshape(-1, probabilities.shape[-1]), kept, strict=True):
        total = 0.0
        for token in row.argsort(descending=True).tolist():
            out[token] = row[token]
            total += row[token].item()
            if total >= p:
                break
        out /= out.sum()
    return kept.reshape(probabilities.shape)


def _nucleus_by_counting(probabilities: Tensor, p: float) -> Tensor:
    ordered = probabilities.sort(dim=-1, descending=True).values
    count = (ordered.cumsum(-1) < p).sum(-1, keepdim=True) + 1
    kept = probabilities * (probabilities.argsort(-1, descending=True).argsort(-1) < count)
    return kept / kept.sum(-1, keepdim=True)


def _nucleus_in_numpy(probabilities: Tensor, p: float) -> Tensor:
    rows = probabilities.numpy()
    order = numpy.argsort(-rows, axis=-1)
    ordered = numpy.take_along_axis(rows, order, axis=-1)
    ordered = numpy.where(ordered.cumsum(axis=-1) - ordered < p, ordered, 0)
    kept = numpy.zeros_like(rows)
    numpy.put_along_axis(kept, order, ordered / ordered.sum(axis=-1, keepdims=True), axis=-1)
    return torch.from_numpy(kept)


CORRECT = (
    _nucleus_by_scatter,
    _nucleus_by_loop,
    _nucleus_by_counting,
    _nucleus_in_numpy,
)


EXERCISE = Exercise(
    id="decoding.nucleus",
    lesson=LESSON,
    name="nucleus",
    title="Nucleus",
    statement=(
        "nucleus(probabilities [..., vocabulary], p) -> [..., vocabulary]: 0 except for the fewest most probable "
        "tokens whose probabilities sum to at least p, and those divided by their sum."
    ),
    points=3,
    minutes=18,
    section="The nucleus",
    source="Holtzman et al. (2020)",
    reference=decoding.nucleus,
    cases=and_turned_around(_nucleus_cases),
    parts={CORE: 2, EDGE: 1},
    correct=CORRECT,
    steps=("before",),
    hints=(
        Hint(
            "idea",
            "Sort the tokens, best first. A token belongs to the nucleus if the mass before it is still below p: so "
            "the first always belongs, and the token that reaches p is the last one in.",
        ),
        Hint(
            "shapes",
            "Sorting gives values and places, both `[..., vocabulary]`. The mass before each token is the cumulative "
            "sum minus the token's own share. `scatter` brings what is kept back to the order of the vocabulary.",
            answers=(
                "sorted_order",
                "gathered",
                "one_sum_for_all_rows",
                "along_the_first_dimension",
                "not_sorted",
                "first_in_the_vocabulary",
            ),
        ),
        Hint(
            "outline",
            "Sort each row, largest first, and keep the places.\n"
            "The mass before each token: cumulative sum minus the token itself.\n"
            "Set to 0 every token before which there is p or more; where p is 1, none.\n"
            "Divide by the sum of the row, with the dimension kept.\n"
            "Put the values back where they came from.",
            answers=(
                "stops_below_p",
                "stops_below_p_but_keeps_one",
                "one_too_many",
                "one_too_many_at_p",
                "none_reaches_1",
                "divided_by_p",
            ),
        ),
    ),
    misconceptions=(
        *alike(
            "Your answer leaves out the token with which the sum reaches p. It belongs to the nucleus: look at the "
            "sum of the tokens *before* each.",
            stops_below_p=partial(_nucleated, keep=partial(_nucleus_of, crossing=False)),
            stops_below_p_but_keeps_one=partial(_nucleated, keep=_and_the_best(partial(_nucleus_of, crossing=False))),
        ),
        Misconception(
            "one_too_many",
            "Your answer keeps one token more than the nucleus: the sum has reached p before it.",
            partial(_nucleated, keep=lambda probabilities, p: _so_many(probabilities, _count(probabilities, p) + 1)),
        ),
        Misconception(
            "one_too_many_at_p",
            "Where tokens sum to exactly p, your answer keeps one more. These are enough, because the sum need only be "
            "at least p: a token stays if the sum before it is < p, not <=.",
            partial(_nucleated, keep=partial(_nucleus_of, reached=False)),
        ),
        Misconception(
            "none_reaches_1",
            "With p = 1 your answer keeps only the best token. All tokens stay, even if their sum, by rounding, is "
            "less than 1. (Where no sum reaches p, argmax of nothing but False is 0.)",
            partial(_nucleated, keep=_to_the_first_true),
        ),
        Misconception(
            "not_sorted",
            "Your answer adds the probabilities up in the order of the vocabulary. Begin with the most probable token: "
            "sort first.",
            partial(_nucleated, keep=lambda probabilities, p: probabilities.cumsum(dim=-1) - probabilities < p),
        ),
        Misconception(
            "least_probable_first",
            "Your answer begins with the least probable tokens. Sort in descending order.",
            partial(_nucleated, keep=partial(_nucleus_of, descending=False)),
        ),
        Misconception(
            "sorted_order",
            "Your answer is sorted: token 0 gets the probability of the most probable token, whichever that was. Put "
            "each back where its token stands: scatter, or argsort once more.",
            partial(_nucleated, laid_out=leave_sorted),
        ),
        Misconception(
            "gathered",
            "Your answer does not put the numbers back in their places: gather (or indexing with the places) applies "
            "the order of sorting once more. scatter undoes it.",
            partial(_nucleated, laid_out=_gathered),
        ),
        Misconception(
            "first_in_the_vocabulary",
            "Your answer keeps the right number of tokens, but the first ones of the vocabulary: what you know in "
            "sorted order must go back to the order of the vocabulary, by scatter, before it meets the probabilities.",
            partial(_nucleated, keep=_first_so_many),
        ),
        Misconception(
            "threshold",
            "Your answer keeps the tokens that have a probability of p by themselves. Add the probabilities up, from "
            "the most probable on, until the sum is p.",
            partial(_nucleated, keep=lambda probabilities, p: probabilities >= p),
        ),
        Misconception(
            "threshold_of_the_rest",
            "Your answer keeps the tokens that have a probability of 1 - p by themselves. Add the probabilities up, "
            "from the most probable on, until the sum is p.",
            partial(_nucleated, keep=_and_the_best(lambda probabilities, p: probabilities >= 1 - p)),
        ),
        Misconception(
            "share_of_the_best",
            "Your answer keeps the tokens that are at least p times as probable as the best one, which is another "
            "method (min-p). Add the probabilities up, from the most probable on, until the sum is p.",
            partial(
                _nucleated,
                keep=lambda probabilities, p: probabilities >= p * probabilities.amax(dim=-1, keepdim=True),
            ),
        ),
        *alike(
            "Your answer keeps a share p of all tokens, however probable they are. It is their mass that counts: add "
            "the probabilities up until the sum is p.",
            share_of_the_vocabulary=partial(_nucleated, keep=_share(round)),
            share_rounded_up=partial(_nucleated, keep=_share(math.ceil)),
        ),
        *(Misconception(name, told, partial(_nucleated, divided=divided)) for name, told, divided in DIVISIONS),
        Misconception(
            "divided_by_p",
            "Your answer divides by p. The tokens that stay may have more than that: divide by their sum.",
            lambda probabilities, p: probabilities * _nucleus_of(probabilities, p) / p,
        ),
        Misconception(
            "one_number_for_all_rows",
            "Your answer keeps the same number of tokens in every row: as many as the nucleus of the first row has. "
            "Each row has its own number.",
            partial(
                _nucleated,
                keep=lambda probabilities, p: _so_many(probabilities, int(_count(probabilities, p).flatten()[0])),
            ),
        ),
        Misconception(
            "along_the_first_dimension",
            "Your answer sorts and sums along the first dimension, which is the batch where there is one. The "
            "vocabulary is the last: dim=-1 everywhere.",
            partial(_nucleated, keep=partial(_nucleus_of, dim=0), divided=DIVISIONS[-1][2]),
            alone=True,
        ),
    ),
    withheld=WITHHELD,
)
