"""What several exercises of lesson 02 use."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor

from course_lib import masking
from course_lib.checking.exercise import Case, Misconception
from course_lib.exercises.common import LITTLE_LEFT, Kind, integer, kinds, sizes
from course_lib.exercises.worked_examples import B

LESSON = "02_masking"


WITHHELD = ("course_lib.attention", "course_lib.masking")


BROADCAST, LARGE, NOTHING = "one mask for a batch", "large scores", "fully masked rows"
"""Parts of their own: what an answer that is right everywhere else may fail."""


Step = Callable[[Tensor, Tensor], Tensor]
"""A step of a computation: what it works on, and the mask (or for a mask the scores)."""


def only_with(function: Callable[..., Any], **settings: Any) -> Callable[..., Any]:
    """A function with these settings, for a mistake that is not tried together with others (no `partial`)."""
    return lambda *args, **kwargs: function(*args, **kwargs, **settings)


def batch_sizes(generator: Generator, hidden: bool) -> list[int]:
    """How many sequences, and how long: larger where hidden, for masks are few while they are small."""
    return [integer(generator, 4, 9), integer(generator, 9, 20)] if hidden else sizes(generator, 2)


def scores_and_masks(generator: Generator, hidden: bool) -> Iterator[Case]:
    """Scaled scores with their mask: the worked example's, and random ones, with as many queries as keys or not."""
    if not hidden:
        yield Case(B.name, (B.steps.scaled, B.mask))
    for number, kind in enumerate(kinds(generator)):
        shape = kind.sizes(1) * 2 if number % 2 else kind.sizes(2)
        name = f"{kind.name}, {'as many' if shape[0] == shape[1] else 'not as many'} queries as keys"
        yield Case(name, (kind.normal(*shape), kind.mask(*shape)))


def shared_masks(generator: Generator) -> Iterator[Case]:
    """Masks that broadcast: one for all sentences, and one row for all queries of a sentence."""
    batch, queries, keys = sizes(generator, 3)
    kind = Kind(BROADCAST, generator, (batch,))
    yield Case(kind.name, (kind.normal(queries, keys), Kind("", generator).mask(queries, keys)), part=BROADCAST)
    batch, queries, keys = sizes(generator, 3)
    kind = Kind("one row of the mask for all queries", generator, (batch, 2), torch.float64)
    row = random_padding(generator, batch, keys)[:, None, None]
    yield Case(kind.name, (kind.normal(queries, keys), row), part=BROADCAST)


def fill_forbidden(scaled: Tensor, mask: Tensor, value: float = -math.inf) -> Tensor:
    """Scores with `value` wherever `mask` is False."""
    return scaled.masked_fill(~mask, value)


def fill_with_lowest(scaled: Tensor, mask: Tensor) -> Tensor:
    return fill_forbidden(scaled, mask, torch.finfo(scaled.dtype).min)


def as_is(value: Tensor, other: Tensor) -> Tensor:
    return value


def inverted(mask: Tensor, scaled: Tensor) -> Tensor:
    return ~mask


def turned(mask: Tensor, scaled: Tensor) -> Tensor:
    return mask.mT


def own_causal(mask: Tensor, scaled: Tensor) -> Tensor:
    return torch.ones(scaled.shape[-2:], dtype=torch.bool).tril()


def step_over(dim: int) -> Step:
    return lambda masked, mask: torch.softmax(masked, dim=dim)


over_keys = step_over(-1)


def over_the_matrix(masked: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(masked.flatten(-2), dim=-1).reshape(masked.shape)


def divided_by_sum(kept: Tensor, mask: Tensor) -> Tensor:
    return kept / kept.sum(dim=-1, keepdim=True)


WRONG_WAY_ROUND = (
    "Your answer uses the mask the wrong way round: it masks where attention is allowed. True means `may attend`: fill "
    "where the mask is False, ~mask."
)


KEYS_AS_ROWS = (
    "Your answer uses the mask transposed, as slide S3 indexes it, [key, query]. Here its rows are queries, like "
    "those of the scores: use it as it comes."
)


def inverted_fill(value: float = -math.inf) -> Step:
    return lambda scaled, mask: fill_forbidden(scaled, ~mask, value)


def exp_times_mask(shifted: Tensor, mask: Tensor) -> Tensor:
    """exp(shifted) times the mask, divided by each row's sum."""
    return divided_by_sum(torch.exp(shifted) * mask, mask)


def sum_never_zero(kept: Tensor, mask: Tensor) -> Tensor:
    total = kept.sum(dim=-1, keepdim=True)
    return kept / total.masked_fill(total == 0, 1.0)


FORBIDDEN_FAR_ABOVE = (
    "Where a forbidden score lies far above the allowed ones of its row, your answer leaves these no weight: next to "
    "it, their exponentials are 0. Fill the forbidden scores with -inf (or the lowest number) before the softmax."
)


BARE_EXP = (
    "Your answer takes exp of the scores as they are: that is infinite for large ones, and 0 for very low ones. "
    "Subtract each row's largest allowed score first; or fill with -inf and let torch.softmax do it."
)


def root_of_last(x: Tensor) -> float:
    return math.sqrt(x.shape[-1])


def random_padding(generator: Generator, batch: int, length: int) -> Tensor:
    """A padding mask whose first row has some padding, and whose second has none."""
    lengths = torch.randint(1, length, (batch,), generator=generator)
    lengths[1] = length
    return masking.padding_mask(lengths, length)


def wrong_masks(answer: Callable[..., Any]) -> tuple[Misconception, ...]:
    """The mask the wrong way round, with a bare exp, or times -inf; `answer` takes the steps `masked` and `softmax`."""
    return (
        Misconception("inverted", WRONG_WAY_ROUND, partial(answer, masked=inverted_fill())),
        Misconception("inverted_with_a_large_number", WRONG_WAY_ROUND, partial(answer, masked=inverted_fill(-1e9))),
        Misconception("exp_overflows", BARE_EXP, only_with(answer, masked=as_is, softmax=exp_times_mask)),
        Misconception(
            "zero_times_infinity",
            "Your answer is NaN everywhere. Does it multiply a mask by -inf? 0 times infinity is NaN, so even what is "
            "allowed becomes NaN. Fill instead: scaled.masked_fill(~mask, -math.inf).",
            only_with(answer, masked=lambda scaled, mask: scaled + ~mask * -math.inf),
        ),
    )


def small_fills(answer: Callable[..., Any], suffix: str = "", **settings: Any) -> tuple[Misconception, ...]:
    """Forbidden scores of -10 or -20, which leave a little weight; `answer` takes the step `masked`."""
    return tuple(
        Misconception(f"filled_with_{name}{suffix}", LITTLE_LEFT, only_with(answer, masked=filled, **settings))
        for name, value in (("ten", -10.0), ("twenty", -20.0))
        for filled in [partial(fill_forbidden, value=value)]
    )


def inverted_and_repaired(answer: Callable[..., Any]) -> Misconception:
    """The mask the wrong way round, with a 0 where no key is left; `answer` takes the steps `masked` and `after`."""
    repaired: Step = lambda alpha, mask: torch.nan_to_num(alpha)  # noqa: E731
    return Misconception(
        "inverted_and_repaired", WRONG_WAY_ROUND, only_with(answer, masked=inverted_fill(), after=repaired)
    )


def wrong_dimensions(answer: Callable[..., Any]) -> tuple[Misconception, ...]:
    """The softmax over the queries, or over dim=1; `answer` takes the step `softmax`."""
    return (
        Misconception(
            "softmax_over_queries",
            "Your answer takes the softmax over the queries (dim=-2). Take it over the keys, dim=-1, so that each row "
            "sums to 1.",
            partial(answer, softmax=step_over(-2)),
        ),
        Misconception(
            "softmax_over_the_second_dimension",
            "Your answer takes the softmax over dim=1, which is the keys only for a single sequence. Take the last "
            "dimension, dim=-1.",
            partial(answer, softmax=step_over(1)),
        ),
    )


def wrong_divisors(answer: Callable[..., Any]) -> tuple[Misconception, ...]:
    """Scores divided by d_model, or by the root of the number of tokens; `answer` takes the step `scaled`."""
    return (
        Misconception(
            "divided_by_d_model",
            "All in all, your answer divides the scores by d_model, like the formula on slide S1. The paper's formula "
            "takes the root: divide by √d_model.",
            partial(answer, scaled=lambda scores, x: scores / x.shape[-1]),
        ),
        Misconception(
            "root_of_number_of_words",
            "Your answer divides the scores by the root of the number of tokens. Divide by √d_model, the root of "
            "x.shape[-1].",
            partial(answer, scaled=lambda scores, x: scores / math.sqrt(x.shape[-2])),
        ),
    )


def wrong_dtypes(answer: Callable[..., Any]) -> tuple[Misconception, ...]:
    """A mask of numbers; `answer` takes its `dtype`."""
    return (
        Misconception(
            "zeros_and_ones",
            "The entries of your mask are the numbers 0.0 and 1.0. A mask is boolean: make it with dtype=torch.bool, "
            "a comparison or &, or end with .bool().",
            partial(answer, dtype=torch.float32),
        ),
        Misconception(
            "integers",
            "The entries of your mask are the integers 0 and 1. A mask is boolean: make it with dtype=torch.bool, "
            "a comparison or &, or end with .bool().",
            partial(answer, dtype=torch.long),
        ),
    )
