"""Lesson 02, masking.masked_weights: Masked weights."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib import masking
from course_lib.checking.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.checking.ready_made import MASKED_SOFTMAX
from course_lib.exercises.common import Kind, and_turned_around, integer, sizes
from course_lib.exercises.masking.shared import (
    BARE_EXP,
    BROADCAST,
    FORBIDDEN_FAR_ABOVE,
    KEYS_AS_ROWS,
    LARGE,
    LESSON,
    NOTHING,
    WITHHELD,
    WRONG_WAY_ROUND,
    Step,
    as_is,
    divided_by_sum,
    fill_forbidden,
    fill_with_lowest,
    inverted,
    only_with,
    over_keys,
    over_the_matrix,
    own_causal,
    scores_and_masks,
    shared_masks,
    small_fills,
    sum_never_zero,
    turned,
    wrong_dimensions,
    wrong_masks,
)


def _masked_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    yield from scores_and_masks(generator, hidden)
    yield from shared_masks(generator)
    queries, keys = integer(generator, 2, 5), integer(generator, 5, 8)
    far = 4000.0 + 100 * integer(generator, 0, 10)
    double = Kind("", generator, dtype=torch.float64)
    mask = double.mask(queries, keys)
    mask[-1] = True
    below = double.normal(queries, keys) - far
    yield Case("all scores far below zero", (below, mask), part=LARGE)
    mask = double.mask(queries, keys)
    mask[:, 0], mask[:, 1], mask[:, 2] = True, False, True
    above = double.normal(queries, keys) + far * ~mask
    yield Case("forbidden scores far above the allowed ones", (above, mask), part=LARGE)
    queries, keys = sizes(generator, 2)
    mask = torch.rand(2, queries, keys, generator=generator) < 0.5
    mask[:, 0], mask[:, 1] = False, True
    scaled = torch.randn(2, queries, keys, generator=generator)
    name = "one query may attend to nothing, the next to everything"
    yield Case(name, (scaled, mask), gradients=(0,), part=NOTHING)


def _weights(
    scaled: Tensor,
    mask: Tensor,
    *,
    scores: Step = as_is,
    rows: Step = as_is,
    masked: Step = fill_with_lowest,
    softmax: Step = over_keys,
    after: Step = torch.mul,
) -> Tensor:
    """Masked weights as the lesson's hint has them, with a setting for each step where one can slip."""
    used = rows(mask, scaled)
    return after(softmax(masked(scores(scaled, mask), used), used), used)


def _rows_of_any(alpha: Tensor, mask: Tensor) -> Tensor:
    return alpha * mask.any(-1, keepdim=True)


def _not_low_enough(scaled: Tensor, mask: Tensor) -> Tensor:
    return fill_forbidden(scaled, mask, -1e3)


def _minus_infinity_added(scaled: Tensor, mask: Tensor) -> Tensor:
    return scaled + mask.to(scaled.dtype).log()


_EVEN_IN_A_ROW = (
    "In a row without any allowed key your answer gives the same weight to every key, though all are forbidden. Set "
    "such rows to 0; multiplying the weights by the mask at the end does it."
)


_NOT_LOW_ENOUGH = (
    "Your answer fills forbidden scores with a number that is not low enough: where the allowed ones lie below "
    "it, the forbidden keys take the weight. Fill with -inf, or torch.finfo(scaled.dtype).min."
)


def _masked_by_loop(scaled: Tensor, mask: Tensor) -> Tensor:
    rows = zip(scaled.reshape(-1, scaled.shape[-1]), mask.expand_as(scaled).flatten(0, -2), strict=True)
    alpha = [torch.zeros_like(row).masked_scatter(allowed, row[allowed].softmax(0)) for row, allowed in rows]
    return torch.stack(alpha).reshape(scaled.shape)


def _masked_in_place(scaled: Tensor, mask: Tensor) -> Tensor:
    masked = scaled.clone()
    forbidden = ~mask.expand(scaled.shape)
    masked[forbidden] = torch.finfo(scaled.dtype).min
    return F.softmax(masked, dim=-1).masked_fill(forbidden, 0)


def _masked_by_where(scaled: Tensor, mask: Tensor) -> Tensor:
    alpha = torch.softmax(torch.where(mask, scaled, -1e9), dim=-1)
    return torch.where(mask.any(dim=-1, keepdim=True), alpha, 0.0)


def _masked_by_exp(scaled: Tensor, mask: Tensor) -> Tensor:
    largest = scaled.masked_fill(~mask, torch.finfo(scaled.dtype).min).amax(dim=-1, keepdim=True)
    exps = torch.exp((scaled - largest).clamp(max=0.0)) * mask
    return exps / (exps.sum(dim=-1, keepdim=True) + ~mask.any(dim=-1, keepdim=True))


def _masked_by_logarithms(scaled: Tensor, mask: Tensor) -> Tensor:
    masked = scaled.masked_fill(mask.logical_not(), -1e9)
    return (masked - masked.logsumexp(dim=-1, keepdim=True)).exp() * mask


CORRECT = (
    _masked_by_loop,
    _masked_by_where,
    _masked_by_exp,
    _masked_in_place,
    _masked_by_logarithms,
    lambda scaled, mask: torch.softmax(scaled.masked_fill(~mask, -math.inf), dim=-1).nan_to_num(nan=0.0),
    lambda scaled, mask: torch.softmax(scaled + (~mask).float() * -1e9, dim=-1) * mask,
    lambda scaled, mask: (scaled.masked_fill(~mask, -1e4)).softmax(-1).masked_fill(~mask, 0.0),
)


EXERCISE = Exercise(
    id="masking.masked_weights",
    lesson=LESSON,
    name="masked_weights",
    title="Masked weights",
    statement=(
        "masked_weights(scaled [..., queries, keys], mask bool, same shape or broadcasts to it) -> [..., queries, "
        "keys]: the softmax over the keys that each query may attend to, 0 at the others; a row that allows no key is "
        "all 0; scores between -5000 and 5000; with gradients, those of such rows 0 and not NaN."
    ),
    points=4,
    minutes=15,
    section="Filling with −∞",
    source="S2, masked self-attention; S4, filling with minus infinity",
    reference=masking.masked_weights,
    cases=and_turned_around(_masked_cases),
    parts={CORE: 1, BROADCAST: 1, LARGE: 1, NOTHING: 1},
    correct=CORRECT,
    steps=("masked",),
    hints=(
        Hint(
            "idea",
            "Give forbidden places so low a score that the softmax gives them 0, before the softmax and not after it. "
            "Low enough is the most negative finite number of the dtype; minus infinity turns rows that allow nothing "
            "into `nan`.",
        ),
        Hint(
            "shapes",
            "`masked_fill` takes a condition of any shape that broadcasts to the scores, and fills where it is True: "
            "our mask is True where nothing should be filled. The softmax runs along the keys, the last dimension.",
            answers=(
                "inverted",
                "inverted_throughout",
                "inverted_with_a_large_number",
                "keys_as_rows",
                "softmax_over_queries",
                "softmax_over_the_second_dimension",
            ),
        ),
        Hint(
            "outline",
            "The lowest finite number of the dtype of the scores, from `torch.finfo`.\n"
            "A copy of the scores with it at the places where the mask is False.\n"
            "Softmax over the keys. A row that allows nothing comes out uniform.\n"
            "Multiply by the mask: that row becomes 0, and all others stay as they are.",
            answers=(
                "nan_where_nothing_is_allowed",
                "uniform_where_nothing_is_allowed",
                "uniform_by_addition_where_nothing_is_allowed",
                "nan_repaired_afterwards",
                "zero_times_infinity",
                "exp_overflows",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "nan_where_nothing_is_allowed",
            "A row without any allowed key ends in NaN in your answer, which then spreads through the whole model: set "
            "such rows to 0.",
            partial(_weights, masked=fill_forbidden, after=as_is),
        ),
        Misconception(
            "uniform_where_nothing_is_allowed",
            _EVEN_IN_A_ROW,
            partial(_weights, masked=fill_with_lowest, after=as_is),
        ),
        Misconception(
            "uniform_by_addition_where_nothing_is_allowed",
            _EVEN_IN_A_ROW,
            only_with(_weights, masked=lambda scaled, mask: scaled - 1e9 * ~mask, after=as_is),
        ),
        Misconception(
            "nan_repaired_afterwards",
            "The weights are right, but in a row without any allowed key their gradient is NaN: there was a NaN on the "
            "way, and repairing it afterwards does not mend the gradient. Fill with torch.finfo(scaled.dtype).min "
            "(masked_fill, nothing added), and multiply the weights by the mask.",
            only_with(_weights, masked=_minus_infinity_added, after=lambda alpha, mask: alpha.nan_to_num(nan=0.0)),
            alone=True,
        ),
        Misconception(
            "filled_not_low_enough",
            _NOT_LOW_ENOUGH,
            only_with(_weights, masked=_not_low_enough, after=as_is),
        ),
        *small_fills(_weights, after=as_is),
        *small_fills(_weights, "_times_mask", after=torch.mul),
        *small_fills(_weights, "_times_any", after=_rows_of_any),
        Misconception(
            "filled_not_low_enough_times_mask",
            _NOT_LOW_ENOUGH,
            only_with(_weights, masked=_not_low_enough, after=torch.mul),
        ),
        Misconception(
            "filled_not_low_enough_times_any",
            _NOT_LOW_ENOUGH,
            only_with(_weights, masked=_not_low_enough, after=_rows_of_any),
        ),
        Misconception(
            "scores_times_mask",
            "Your answer sets forbidden scores to 0 (multiplying by the mask does that), but exp(0) is 1, so "
            "forbidden keys still get weight. Fill them with -inf before the softmax.",
            partial(_weights, masked=torch.mul, after=as_is),
        ),
        Misconception(
            "scores_times_mask_then_zeroed",
            "Your answer sets forbidden scores to 0, but exp(0) is 1, so they take a share of their row; making their "
            "weights 0 afterwards does not give it back. Fill them with -inf before the softmax.",
            partial(_weights, masked=torch.mul, after=torch.mul),
        ),
        Misconception(
            "masked_after_softmax",
            "Your answer masks after the softmax, so the rows no longer sum to 1: the forbidden keys have already "
            "taken their share. Mask the scores, before the softmax.",
            partial(_weights, masked=as_is, after=torch.mul),
        ),
        Misconception(
            "forbidden_score_far_above",
            FORBIDDEN_FAR_ABOVE,
            only_with(_weights, masked=as_is, after=lambda alpha, mask: sum_never_zero(alpha * mask, mask)),
        ),
        Misconception(
            "forbidden_score_far_above_nan",
            f"{FORBIDDEN_FAR_ABOVE} A row whose weights are all 0 then ends in 0 / 0, NaN.",
            only_with(_weights, masked=as_is, after=lambda alpha, mask: divided_by_sum(alpha * mask, mask)),
        ),
        Misconception(
            "forbidden_score_far_above_repaired",
            f"{FORBIDDEN_FAR_ABOVE} Turning the NaN of 0 / 0 into 0 hides it, and passes no gradient on.",
            only_with(
                _weights, masked=as_is, after=lambda alpha, mask: torch.nan_to_num(divided_by_sum(alpha * mask, mask))
            ),
        ),
        Misconception(
            "exp_overflows_sum_never_zero", BARE_EXP, lambda scaled, mask: sum_never_zero(scaled.exp() * mask, mask)
        ),
        Misconception(
            "mask_ignored",
            "Your answer is the softmax of all the scores, as if nothing were masked. If you do fill the scores, use "
            "what comes back: masked_fill, without an underscore, returns a new tensor and leaves the old one as it "
            "is.",
            partial(_weights, masked=as_is, after=as_is),
        ),
        *wrong_masks(partial(_weights, after=as_is)),
        Misconception("inverted_throughout", WRONG_WAY_ROUND, only_with(_weights, rows=inverted)),
        Misconception("keys_as_rows", KEYS_AS_ROWS, partial(_weights, rows=turned)),
        Misconception(
            "always_causal",
            "Your answer uses a causal mask, whatever mask it is given. Use the argument: it may allow anything.",
            only_with(_weights, rows=own_causal),
        ),
        *wrong_dimensions(_weights),
        Misconception(
            "softmax_over_the_matrix",
            "Your answer takes one softmax over a whole matrix. Each query has its own: softmax along the keys, "
            "dim=-1, so that each row sums to 1.",
            only_with(_weights, softmax=over_the_matrix),
        ),
        Misconception(
            "scaled_again",
            "Your answer divides the scores by the root of their last size. They are already scaled, and that size is "
            "the number of keys: use them as they are.",
            only_with(_weights, scores=lambda scaled, mask: scaled / math.sqrt(scaled.shape[-1])),
        ),
    ),
    withheld=WITHHELD,
    forbidden=(MASKED_SOFTMAX,),
)
