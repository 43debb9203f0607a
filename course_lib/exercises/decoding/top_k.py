"""Lesson 06, decoding.top_k: Top-k."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy
import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.checking.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.exercises.common import and_turned_around, integer
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


def _top_k_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{BEHIND}, k = 3", (BEHIND_DIE_KATZE, 3))
    for name, probabilities in distributions(generator, 6):
        yield Case(name, (probabilities, min(integer(generator, 2, 5), probabilities.shape[-1])))
    probabilities = torch.softmax(torch.randn(2, 7, generator=generator), dim=-1)
    yield Case("k = 1", (probabilities, 1))
    yield Case("k = all of them", (probabilities, 7))
    larger = integer(generator, 8, 60)
    yield Case(f"7 tokens, k = {larger}", (probabilities, larger), part="k beyond the vocabulary")


def _only_k(restricted: Tensor, _probabilities: Tensor, stay: Tensor) -> Tensor:
    most = int(stay.sum(dim=-1).max()) if stay.numel() else 0
    return restricted.sort(dim=-1, descending=True).values[..., :most]


def _among_the_first(probabilities: Tensor, k: float, *, descending: bool = True, dim: int = -1) -> Tensor:
    """True at the k most probable tokens; at the least probable, where the order is turned."""
    ranks = probabilities.argsort(dim=dim, descending=descending).argsort(dim=dim)
    return ranks < k


def _first_of_the_vocabulary(probabilities: Tensor, k: float) -> Tensor:
    return (torch.arange(probabilities.shape[-1]) < k).expand_as(probabilities)


def _above_the_first_rows_least(probabilities: Tensor, k: float) -> Tensor:
    first = probabilities.reshape(-1, probabilities.shape[-1])[0]
    return probabilities >= first[_among_the_first(first, k)].min()


def _of_all_rows(probabilities: Tensor, k: float) -> Tensor:
    return _among_the_first(probabilities.flatten(), k).view(probabilities.shape)


def _topped(
    probabilities: Tensor, k: int, *, keep: KeepRule = _among_the_first, **rest: Callable[..., Tensor]
) -> Tensor:
    """Top-k with something done differently."""
    return restricted_by(probabilities, k, keep=keep, **rest)


def _top_k_by_threshold(probabilities: Tensor, k: int) -> Tensor:
    least = probabilities.topk(min(k, probabilities.shape[-1]), dim=-1).values[..., -1:]
    kept = torch.where(probabilities >= least, probabilities, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)


def _top_k_by_scatter(probabilities: Tensor, k: int) -> Tensor:
    values, places = torch.topk(probabilities, min(k, probabilities.shape[-1]))
    return torch.zeros_like(probabilities).scatter(-1, places, values / values.sum(-1, keepdim=True))


def _top_k_by_loop(probabilities: Tensor, k: int) -> Tensor:
    kept = torch.zeros_like(probabilities).reshape(-1, probabilities.shape[-1])
    for row, out in zip(probabilities.reshape(-1, probabilities.shape[-1]), kept, strict=True):
        for token in sorted(range(len(row)), key=row.tolist().__getitem__, reverse=True)[:k]:
            out[token] = row[token]
        out /= out.sum()
    return kept.reshape(probabilities.shape)


def _top_k_in_numpy(probabilities: Tensor, k: int) -> Tensor:
    kept = probabilities.numpy().copy()
    if k < kept.shape[-1]:
        numpy.put_along_axis(kept, numpy.argsort(kept, axis=-1)[..., :-k], 0.0, axis=-1)
    return torch.from_numpy(kept / kept.sum(axis=-1, keepdims=True))


def _top_k_in_place(probabilities: Tensor, k: int) -> Tensor:
    kept = probabilities.clone()
    order = kept.argsort(dim=-1, descending=True)
    kept.scatter_(-1, order[..., k:], 0.0)
    kept /= kept.sum(dim=-1, keepdim=True)
    return kept


CORRECT = (
    _top_k_by_threshold,
    _top_k_by_scatter,
    _top_k_by_loop,
    _top_k_in_numpy,
    _top_k_in_place,
    lambda probabilities, k: F.normalize(
        probabilities * (probabilities.argsort(-1, descending=True).argsort(-1) < k), p=1.0, dim=-1
    ),
    lambda probabilities, k: torch.softmax(
        probabilities.log().masked_fill(probabilities.argsort(-1, descending=True).argsort(-1) >= k, -math.inf), -1
    ),
    lambda probabilities, k: F.normalize(
        probabilities * ((probabilities[..., None, :] > probabilities[..., None]).sum(-1) < k), p=1.0, dim=-1
    ),
)


EXERCISE = Exercise(
    id="decoding.top_k",
    lesson=LESSON,
    name="top_k",
    title="Top-k",
    statement=(
        "top_k(probabilities [..., vocabulary], k) -> [..., vocabulary]: 0 except for the k most probable tokens, "
        "whose probabilities are divided by their sum; all tokens where k is larger than the vocabulary."
    ),
    points=3,
    minutes=10,
    section="Only the k most probable tokens",
    source="Fan et al. (2018); Holtzman et al. (2020)",
    reference=decoding.top_k,
    cases=and_turned_around(_top_k_cases),
    parts={CORE: 2, "k beyond the vocabulary": 1},
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "The tokens that stay keep their proportions, so divide them by their own sum. `torch.topk` gives the "
            "largest values and where they stood; it does not accept a k above the vocabulary.",
        ),
        Hint(
            "shapes",
            "`topk` along the last dimension gives values and places, both `[..., k]`. Sums of rows need their "
            "dimension kept. With `scatter` the values go back to their places in zeros of the shape of the "
            "probabilities.",
            answers=(
                "sorted_order",
                "only_k_numbers",
                "one_sum_for_all_rows",
                "sum_over_the_first_dimension",
                "along_the_first_dimension",
                "one_limit_for_all_rows",
            ),
        ),
    ),
    misconceptions=(
        *(Misconception(name, told, partial(_topped, divided=divided)) for name, told, divided in DIVISIONS),
        Misconception(
            "least_probable",
            "Your answer keeps the k least probable tokens. Sort in descending order, or use torch.topk.",
            partial(_topped, keep=partial(_among_the_first, descending=False)),
        ),
        Misconception(
            "first_in_the_vocabulary",
            "Your answer keeps the first k tokens of the vocabulary. Keep the k most probable ones, wherever they "
            "stand.",
            partial(_topped, keep=_first_of_the_vocabulary),
        ),
        Misconception(
            "one_too_few",
            "Your answer keeps one token fewer than k. The k-th most probable stays as well: compare with >=, not >.",
            partial(_topped, keep=lambda probabilities, k: _among_the_first(probabilities, k - 1)),
        ),
        Misconception(
            "one_too_many",
            "Your answer keeps one token more than k.",
            partial(_topped, keep=lambda probabilities, k: _among_the_first(probabilities, k + 1)),
        ),
        Misconception(
            "only_the_best",
            "Your answer keeps only the best token, for every k. The smallest of the values that topk returns is the "
            "last: [..., -1:].",
            partial(_topped, keep=lambda probabilities, k: is_largest(probabilities)),
        ),
        Misconception(
            "at_least_one_kth",
            "Your answer keeps the tokens that have a probability of 1 / k or more, however many these are. Keep the k "
            "most probable ones.",
            partial(_topped, keep=lambda probabilities, k: probabilities >= 1 / k),
        ),
        Misconception(
            "all_but_one_at_most",
            "Where k is as large as the vocabulary or larger, your answer loses the least probable token. All stay: "
            "min(k, probabilities.shape[-1]).",
            partial(
                _topped,
                keep=lambda probabilities, k: _among_the_first(probabilities, min(k, probabilities.shape[-1] - 1)),
            ),
        ),
        Misconception(
            "along_the_first_dimension",
            "Your answer takes the most probable ones along the first dimension, which is the batch where there is "
            "one. The vocabulary is the last: dim=-1.",
            partial(_topped, keep=partial(_among_the_first, dim=0)),
        ),
        Misconception(
            "one_limit_for_all_rows",
            "Your answer compares all rows with the smallest probability that stays in the first. Each row has its "
            "own: .values[..., -1:].",
            partial(_topped, keep=_above_the_first_rows_least),
        ),
        Misconception(
            "k_of_all_rows_together",
            "Your answer keeps the k most probable tokens of all rows together. Each row has its own: topk(k, dim=-1), "
            "without flatten.",
            partial(_topped, keep=_of_all_rows),
        ),
        Misconception(
            "sorted_order",
            "Your answer is sorted: token 0 gets the probability of the most probable token, whichever that was. Each "
            "token keeps its place.",
            partial(_topped, laid_out=leave_sorted),
        ),
        Misconception(
            "only_k_numbers",
            "Your answer has only the k kept probabilities. Return one for every token of the vocabulary, with 0 for "
            "the others, so that it is clear which is which.",
            partial(_topped, laid_out=_only_k),
        ),
    ),
    withheld=WITHHELD,
)
