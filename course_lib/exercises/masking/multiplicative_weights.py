"""Lesson 02, masking.multiplicative_weights: Weights by multiplication."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib import masking
from course_lib.exercises.common import Kind, and_turned_around, integer
from course_lib.exercises.masking.shared import (
    BROADCAST,
    KEYS_AS_ROWS,
    LARGE,
    LESSON,
    WITHHELD,
    scores_and_masks,
    shared_masks,
)
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.judging.ready_made import SOFTMAX


def _multiplicative_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    yield from scores_and_masks(generator, hidden)
    yield from shared_masks(generator)
    queries, keys = integer(generator, 2, 5), integer(generator, 5, 8)
    drawn = Kind("", generator)
    small, mask = drawn.normal(queries, keys), drawn.mask(queries, keys)
    mask[:, 0], mask[:, 1], mask[:, 2] = True, False, True
    large = 150.0 + 10 * integer(generator, 0, 11)
    yield Case("scores in the hundreds", (small + large, mask), part=LARGE)
    yield Case("scores far below zero", (small - large, mask), part=LARGE)
    level = torch.full((queries, 1), large)
    level[0] = -large
    yield Case("one row far below the others", (small + level, mask), part=LARGE)
    far = 750 + large
    yield Case("only forbidden scores are in the hundreds", (small + far * ~mask, mask), part=LARGE)
    wide = small.clone()
    wide[:, 0] += far
    yield Case("an allowed score far above the rest of its row", (wide, mask), part=LARGE)


def _by_exp(scaled: Tensor, mask: Tensor) -> Tensor:
    filled = scaled.masked_fill(~mask, -math.inf)
    shifted = filled - filled.amax(dim=-1, keepdim=True)
    kept = torch.exp(shifted) * mask
    return kept / kept.sum(dim=-1, keepdim=True)


_slip = partial(Edited, _by_exp)

_slip_alone = partial(Edited, _by_exp, paired=False)
"""One that is not tried together with others."""

_SHIFTED, _WEIGHTS = "filled - filled.amax(dim=-1, keepdim=True)", "kept / kept.sum(dim=-1, keepdim=True)"
_NOT_SHIFTED = (_SHIFTED, "scaled")
_BELOW_MAXIMUM_WITH_ZEROS = "(scaled - (scaled * mask).amax(dim=-1, keepdim=True))"


_SAFELY_DIVIDED = (
    f"return {_WEIGHTS}",
    "total = kept.sum(dim=-1, keepdim=True)\n    return kept / total.masked_fill(total == 0, 1)",
)


def _with_any_maximum(name: str, message: str, divided: str) -> tuple[Misconception, ...]:
    """Divided in a wrong way, with nothing subtracted before exp and with the right number."""
    return (
        Misconception(name, message, _slip(_NOT_SHIFTED, (_WEIGHTS, divided))),
        Misconception(f"safe_{name}", message, _slip_alone((_WEIGHTS, divided))),
    )


_ONE_MAXIMUM = (
    "Your answer subtracts one maximum from all rows: a row far below it becomes all 0, and its weights NaN. "
    "Subtract each row's own largest allowed score (dim=-1, keepdim=True)."
)


_MAXIMUM_WITH_ZEROS = (
    "The number that your answer subtracts from a row is never below 0, as if forbidden keys had a score of 0. Where "
    "all allowed scores are far below 0, it is too large, and the row becomes NaN. Fill forbidden scores with -inf, "
    "then take the largest."
)


_FORBIDDEN_MULTIPLIED = (
    "Your answer gives weight to the forbidden keys and none to the allowed ones. True means `may attend`: "
    "multiply by the mask as it is."
)


def _multiplicative_by_loop(scaled: Tensor, mask: Tensor) -> Tensor:
    alpha = torch.zeros_like(scaled).reshape(-1, scaled.shape[-1])
    rows = zip(scaled.reshape(alpha.shape), mask.expand_as(scaled).reshape(alpha.shape), strict=True)
    for number, (row, allowed) in enumerate(rows):
        kept = torch.exp(row[allowed] - row[allowed].max())
        alpha[number, allowed] = kept / kept.sum()
    return alpha.reshape(scaled.shape)


@torch.no_grad()
def _multiplicative_in_place(scaled: Tensor, mask: Tensor) -> Tensor:
    alpha = scaled.clone()
    alpha[mask.expand(scaled.shape) == 0] = -1e9
    alpha.sub_(alpha.max(dim=-1, keepdim=True)[0]).exp_().mul_(mask.float())
    return alpha.div_(alpha.sum(dim=-1, keepdim=True))


CORRECT = (_by_exp, _multiplicative_by_loop, _multiplicative_in_place)


EXERCISE = Exercise(
    id="masking.multiplicative_weights",
    lesson=LESSON,
    name="multiplicative_weights",
    title="Weights by multiplication",
    statement=(
        "multiplicative_weights(scaled [..., queries, keys], mask bool, same shape or broadcasts to it) -> [..., "
        "queries, keys]: exp(scaled) times the mask, divided by each row's sum; written with exp, and right even for "
        "scores in the hundreds, including those of forbidden keys."
    ),
    points=3,
    minutes=15,
    difficulty=3,
    importance=3,
    section="Multiplying the exponentials",
    source="S3, the causal mask as a factor",
    reference=masking.multiplicative_weights,
    cases=and_turned_around(_multiplicative_cases),
    parts={CORE: 1, BROADCAST: 1, LARGE: 1},
    correct=CORRECT,
    steps=("largest", "shifted", "unnormalised", "total"),
    hints=(
        Hint(
            "idea",
            "Only what is allowed may decide what is subtracted: take the largest allowed score of each row. A "
            "forbidden score may lie far above it, and its exponential must not overflow before the mask removes it.",
        ),
        Hint(
            "outline",
            "A copy of the scores, with the lowest finite number at the forbidden positions.\n"
            "The largest entry of each row of that copy, with the dimension kept.\n"
            "Subtract it from the scores, let no difference be above 0 with `clamp`, and take `exp`.\n"
            "Multiply by the mask.\n"
            "Divide by the sums of the rows, with the dimension kept; a sum of 0 may be replaced by 1.",
            answers=(
                "overflow_repaired",
                "maximum_of_scores_times_mask_clamped",
                "normalised_before_masking",
                "sum_without_keepdim",
                "safe_sum_without_keepdim",
                "maximum_over_queries",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "large_scores_overflow",
            "Your answer takes exp of the scores as they are: exp of a large score is infinite, and of a very low one "
            "0; where scores lie in the hundreds, the row ends in NaN. Subtract each row's largest allowed score "
            "before exp: the weights stay the same.",
            _slip(_NOT_SHIFTED),
        ),
        Misconception(
            "overflow_repaired",
            "Your answer turns NaN into numbers afterwards, but where exp has become infinite, or 0 in a whole row, "
            "the weights are lost. Subtract each row's largest allowed score before exp.",
            _slip_alone(_NOT_SHIFTED, (_WEIGHTS, f"({_WEIGHTS}).nan_to_num()")),
        ),
        Misconception(
            "forbidden_score_far_above",
            "Your answer is right unless a forbidden score is far above its row's allowed ones: then exp leaves only "
            "0 or infinity, and the row becomes NaN. Fill forbidden scores with -inf, subtract the row's largest from "
            "the filled scores, and take exp of those.",
            _slip_alone((_SHIFTED, "scaled - scaled.amax(dim=-1, keepdim=True)")),
        ),
        Misconception("one_maximum_for_all_rows", _ONE_MAXIMUM, _slip_alone((_SHIFTED, "scaled - scaled.max()"))),
        Misconception("one_allowed_maximum_for_all_rows", _ONE_MAXIMUM, _slip((_SHIFTED, "filled - filled.max()"))),
        Misconception(
            "maximum_over_queries",
            "Your answer subtracts the largest score of each column (dim=-2), a different number from each key of a "
            "row: that changes the weights. Subtract one number from a whole row: amax(dim=-1, keepdim=True).",
            _slip((_SHIFTED, "scaled - scaled.amax(dim=-2, keepdim=True)")),
        ),
        Misconception(
            "scores_times_mask",
            "Your answer multiplies the scores by the mask, but exp(0) is 1, so forbidden keys still get weight. "
            "Multiply exp of the scores instead.",
            lambda scaled, mask: torch.softmax(scaled * mask, dim=-1),
        ),
        Misconception(
            "normalised_before_masking",
            "Your answer divides by the sum over all keys, including the forbidden ones: the rows no longer sum to 1. "
            "Multiply by the mask first, then divide by the sum of what is left.",
            _slip(
                (_SHIFTED, "scaled - scaled.amax(dim=-1, keepdim=True)"),
                (" * mask", ""),
                (_WEIGHTS, "kept * mask / kept.sum(dim=-1, keepdim=True)"),
            ),
        ),
        *_with_any_maximum(
            "sum_without_keepdim",
            "Your answer divides each column by the sum of a row: without keepdim the sums of the rows are laid beside "
            "the columns. Keep the dimension in the sum: sum(dim=-1, keepdim=True).",
            "kept / kept.sum(dim=-1)",
        ),
        *_with_any_maximum(
            "not_normalised", "Your answer gives exponentials times the mask. Divide each row by its sum.", "kept"
        ),
        *_with_any_maximum(
            "normalised_over_queries",
            "Your answer divides by the sums of the columns (dim=-2). Divide each row by its own sum over the keys, "
            "dim=-1: slide S3 sums over its first index because that is the key there.",
            "kept / kept.sum(dim=-2, keepdim=True)",
        ),
        Misconception(
            "divided_by_number_of_keys",
            "Your answer divides by the number of allowed keys. Divide each row by the sum of its exponentials, so "
            "that its weights sum to 1.",
            _slip((_WEIGHTS, "kept / mask.sum(dim=-1, keepdim=True)")),
        ),
        Misconception("inverted", _FORBIDDEN_MULTIPLIED, _slip_alone(_NOT_SHIFTED, ("* mask", "* ~mask"))),
        Misconception(
            "inverted_sum_never_zero",
            _FORBIDDEN_MULTIPLIED,
            _slip_alone(_NOT_SHIFTED, ("* mask", "* ~mask"), _SAFELY_DIVIDED),
        ),
        Misconception("keys_as_rows", KEYS_AS_ROWS, _slip(("    filled", "    mask = mask.mT\n    filled"))),
        Misconception(
            "powers_of_two",
            "Your answer takes powers of 2. The softmax takes those of e: torch.exp.",
            _slip(("torch.exp(", "torch.exp2(")),
        ),
        Misconception(
            "maximum_of_scores_times_mask", _MAXIMUM_WITH_ZEROS, _slip_alone((_SHIFTED, _BELOW_MAXIMUM_WITH_ZEROS))
        ),
        Misconception(
            "maximum_of_scores_times_mask_clamped",
            _MAXIMUM_WITH_ZEROS,
            _slip_alone((_SHIFTED, f"{_BELOW_MAXIMUM_WITH_ZEROS}.clamp(max=0)")),
        ),
    ),
    withheld=WITHHELD,
    forbidden=(SOFTMAX,),
)
