"""Lesson 02, masking.masked_weights: Masked weights."""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib import masking
from course_lib.exercises.common import Kind, and_turned_around, hints, integer, mistake, sizes, slips
from course_lib.exercises.masking.shared import (
    BROADCAST,
    FORBIDDEN_FAR_ABOVE,
    KEYS_AS_ROWS,
    LARGE,
    MASKED,
    NOTHING,
    WRONG_WAY_ROUND,
    masked_too_late,
    scores_and_masks,
    shared_masks,
    small_fills,
    wrong_dimensions,
    wrong_masks,
)
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.judging.ready_made import MASKED_SOFTMAX


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


def _weights(scaled: Tensor, mask: Tensor) -> Tensor:
    masked = scaled.masked_fill(~mask, torch.finfo(scaled.dtype).min)
    alpha = torch.softmax(masked, dim=-1)
    return alpha * mask


_slips = partial(slips, _weights)
_UNCHANGED, _BEFORE = (MASKED, "scaled"), "    masked = "
_NOTHING_AFTER, _TIMES_ANY = ("return alpha * mask", "return alpha"), ("* mask", "* mask.any(-1, keepdim=True)")
_NOT_SO_LOW = (MASKED, "scaled.masked_fill(~mask, -1e3)")
_KEPT, _DIVIDED = "kept = alpha * mask\n    total = kept.sum(dim=-1, keepdim=True)\n", "    return kept / total"
_SAFELY_DIVIDED = ("return alpha * mask", f"{_KEPT}{_DIVIDED}.masked_fill(total == 0, 1)")

_EVEN_IN_A_ROW = (
    "In a row without any allowed key, your answer gives every key the same weight. Set such rows to 0: multiply the "
    "weights by the mask at the end."
)
_NOT_LOW_ENOUGH = (
    "Your answer fills forbidden scores with a number that isn't low enough: if the allowed scores are even lower, "
    "forbidden keys take the weight. Fill with -inf or torch.finfo(scaled.dtype).min."
)


def _masked_by_loop(scaled: Tensor, mask: Tensor) -> Tensor:
    rows = zip(scaled.reshape(-1, scaled.shape[-1]), mask.expand_as(scaled).flatten(0, -2), strict=True)
    alpha = [torch.zeros_like(row).masked_scatter(allowed, row[allowed].softmax(0)) for row, allowed in rows]
    return torch.stack(alpha).reshape(scaled.shape)


def _masked_by_exp(scaled: Tensor, mask: Tensor) -> Tensor:
    largest = scaled.masked_fill(~mask, torch.finfo(scaled.dtype).min).amax(dim=-1, keepdim=True)
    exps = torch.exp((scaled - largest).clamp(max=0.0)) * mask
    return exps / (exps.sum(dim=-1, keepdim=True) + ~mask.any(dim=-1, keepdim=True))


EXERCISE = Exercise(
    id="masking.masked_weights",
    title="Masked weights",
    statement=(
        "masked_weights(scaled [..., queries, keys], mask bool, same shape or broadcasts to it) -> [..., queries, "
        "keys]: the softmax over the keys that each query may attend to, and 0 at the other keys; a row that allows no "
        "key is all 0; for scores between -5000 and 5000; with gradients, which are 0 and not NaN in such rows."
    ),
    minutes=15,
    difficulty=3,
    importance=5,
    section="Filling with −∞",
    source="S2, masked self-attention; S4, filling with minus infinity",
    reference=masking.masked_weights,
    cases=and_turned_around(_masked_cases),
    parts={CORE: 1, BROADCAST: 1, LARGE: 1, NOTHING: 1},
    correct=(_weights, _masked_by_loop, _masked_by_exp),
    steps=("masked",),
    hints=hints(
        idea=(
            "Before the softmax, give forbidden keys a score so low that their weight is 0. Use the most negative "
            "finite number of the dtype. Minus infinity turns a row that allows nothing into `nan`."
        ),
        shapes=(
            "`masked_fill` takes a condition of any shape that broadcasts to the scores, and fills where the "
            "condition is True. Our mask is True where you must not fill, so invert it. The softmax runs over the "
            "keys, the last dimension.",
            ("inverted", "inverted_throughout", "keys_as_rows", "softmax_over_queries"),
        ),
        outline=(
            "Get the lowest finite number of the scores' dtype from `torch.finfo`.\n"
            "Fill a copy of the scores with that number where the mask is False.\n"
            "Take the softmax over the keys. A row that allows nothing comes out uniform.\n"
            "Multiply by the mask: that row becomes 0, and the others don't change.",
            (
                "nan_where_nothing_is_allowed",
                "nan_repaired_afterwards",
                "zero_times_infinity",
                "exp_overflows",
                "uniform_where_nothing_is_allowed",
                "uniform_by_addition_where_nothing_is_allowed",
            ),
        ),
    ),
    misconceptions=(
        *_slips(
            nan_where_nothing_is_allowed=(
                "Your answer is NaN in a row without any allowed key. NaN spreads, so set such rows to 0.",
                (MASKED, "scaled.masked_fill(~mask, -torch.inf)"),
                _NOTHING_AFTER,
            ),
            uniform_where_nothing_is_allowed=(_EVEN_IN_A_ROW, _NOTHING_AFTER),
            keys_as_rows=(KEYS_AS_ROWS, (_BEFORE, f"    mask = mask.mT\n{_BEFORE}")),
        ),
        *_slips(
            paired=False,
            uniform_by_addition_where_nothing_is_allowed=(
                _EVEN_IN_A_ROW,
                (MASKED, "scaled - 1e9 * ~mask"),
                _NOTHING_AFTER,
            ),
            filled_not_low_enough=(_NOT_LOW_ENOUGH, _NOT_SO_LOW, _NOTHING_AFTER),
            filled_not_low_enough_times_mask=(_NOT_LOW_ENOUGH, _NOT_SO_LOW),
            forbidden_score_far_above=(FORBIDDEN_FAR_ABOVE, _UNCHANGED, _SAFELY_DIVIDED),
            forbidden_score_far_above_nan=(
                f"{FORBIDDEN_FAR_ABOVE} Otherwise 0 / 0 makes such a row NaN.",
                _UNCHANGED,
                ("return alpha * mask", f"{_KEPT}{_DIVIDED}"),
            ),
            forbidden_score_far_above_repaired=(
                f"{FORBIDDEN_FAR_ABOVE} Replacing the NaN of 0 / 0 with 0 doesn't fix the gradient.",
                _UNCHANGED,
                ("return alpha * mask", f"{_KEPT}    return (kept / total).nan_to_num()"),
            ),
            inverted_throughout=(WRONG_WAY_ROUND, (_BEFORE, f"    mask = ~mask\n{_BEFORE}")),
            always_causal=(
                "Your answer always uses a causal mask. Use the mask that you are given: it can be any mask.",
                (_BEFORE, f"    mask = torch.ones(scaled.shape[-2:], dtype=torch.bool).tril()\n{_BEFORE}"),
            ),
            scaled_again=(
                "Your answer scales the scores again. They are already scaled: use them directly.",
                (_BEFORE, f"    scaled = scaled / scaled.shape[-1] ** 0.5\n{_BEFORE}"),
            ),
        ),
        *mistake(
            "Your weights are right, but the gradient of a row without any allowed key is NaN: replacing a NaN "
            "afterward doesn't repair its gradient. Use masked_fill with torch.finfo(scaled.dtype).min, and multiply "
            "the weights by the mask.",
            nan_repaired_afterwards=Edited(
                _weights, (MASKED, "scaled + mask.log()"), ("alpha * mask", "alpha.nan_to_num()"), paired=False
            ),
            alone=True,
        ),
        *masked_too_late(_weights, "forbidden keys", unmasked=_NOTHING_AFTER),
        *small_fills(_weights, "", _NOTHING_AFTER),
        *small_fills(_weights, "_times_mask"),
        *small_fills(_weights, "_times_any", _TIMES_ANY),
        *wrong_masks(_weights, _NOTHING_AFTER),
        *wrong_dimensions(_weights),
    ),
    forbidden=(MASKED_SOFTMAX,),
)
