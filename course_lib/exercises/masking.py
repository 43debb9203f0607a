"""The exercises of lesson 02: masks, three ways of using them, and two attentions that need them.

Built like those of `course_lib/exercises/attention.py`; read that file first.

Masks are drawn so that every row and every column allows something, and single rows that allow nothing have a
case (and points) of their own: how an answer fills what is forbidden then shows only there. So have scores far from
0, and masks that broadcast.

Most mistakes are settings of one function that computes the answer step by step, so that two of them combine.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor, nn

from course_lib import masking
from course_lib.checking.exercise import CORE, Case, Exercise, Misconception, Pair
from course_lib.exercises.common import FUSED_ATTENTION, SOFTMAX, Kind, integer, kinds, sizes
from course_lib.exercises.correct import masking as correct
from course_lib.exercises.worked_examples import B

LESSON = "02_masking"
WITHHELD = ("course_lib.attention", "course_lib.masking")


BROADCAST, LARGE, NOTHING = "one mask for a batch", "large scores", "fully masked rows"
"""Parts of their own: what an answer that is right everywhere else may fail."""

Step = Callable[[Tensor, Tensor], Tensor]
"""A step of a computation: what it works on, and the mask (or for a mask the scores)."""


def _only(function: Callable[..., Any], **settings: Any) -> Callable[..., Any]:
    """A function with these settings, for a mistake that is not tried together with others (no `partial`)."""
    return lambda *args, **kwargs: function(*args, **kwargs, **settings)


def _scores_and_masks(generator: Generator, hidden: bool) -> Iterator[Case]:
    """Scaled scores with their mask: the worked example's, and random ones, as many queries as keys and not."""
    if not hidden:
        yield Case(B.name, (B.steps.scaled, B.mask))
    for number, kind in enumerate(kinds(generator)):
        shape = kind.sizes(1) * 2 if number % 2 else kind.sizes(2)
        name = f"{kind.name}, {'as many' if shape[0] == shape[1] else 'other than'} queries as keys"
        yield Case(name, (kind.normal(*shape), kind.mask(*shape)))


def _shared_masks(generator: Generator) -> Iterator[Case]:
    """Masks that broadcast: one for all sentences, and one row for all queries of a sentence."""
    batch, queries, keys = sizes(generator, 3)
    kind = Kind(BROADCAST, generator, (batch,))
    yield Case(kind.name, (kind.normal(queries, keys), Kind("", generator).mask(queries, keys)), part=BROADCAST)
    batch, queries, keys = sizes(generator, 3)
    kind = Kind("one row of the mask for all queries", generator, (batch, 2), torch.float64)
    row = _padding(generator, batch, keys)[:, None, None]
    yield Case(kind.name, (kind.normal(queries, keys), row), part=BROADCAST)


def _fill(scaled: Tensor, mask: Tensor, value: float = -math.inf) -> Tensor:
    """Scores with `value` wherever `mask` is False."""
    return scaled.masked_fill(~mask, value)


def _lowest(scaled: Tensor, mask: Tensor) -> Tensor:
    return _fill(scaled, mask, torch.finfo(scaled.dtype).min)


def _as_is(value: Tensor, other: Tensor) -> Tensor:
    return value


def _inverted(mask: Tensor, scaled: Tensor) -> Tensor:
    return ~mask


def _turned(mask: Tensor, scaled: Tensor) -> Tensor:
    return mask.mT


def _own_causal(mask: Tensor, scaled: Tensor) -> Tensor:
    return torch.ones(scaled.shape[-2:], dtype=torch.bool).tril()


def _over(dim: int) -> Step:
    return lambda masked, mask: torch.softmax(masked, dim=dim)


_over_keys = _over(-1)


def _over_the_matrix(masked: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(masked.flatten(-2), dim=-1).reshape(masked.shape)


def _divided_by_sum(kept: Tensor, mask: Tensor) -> Tensor:
    return kept / kept.sum(dim=-1, keepdim=True)


_ZERO_TIMES_INFINITY = (
    "Your answer is NaN everywhere. Does it multiply a mask by -inf? 0 times infinity is NaN, so that what is "
    "allowed becomes NaN, too. Fill instead: scaled.masked_fill(~mask, -math.inf)."
)
_WRONG_WAY_ROUND = (
    "Your answer uses the mask the wrong way round: it masks where attention is allowed. True means `may attend`: fill "
    "where the mask is False, ~mask."
)
_KEYS_AS_ROWS = (
    "Your answer uses the mask transposed, as slide S3 indexes it, [key, query]. Here its rows are queries, as those "
    "of the scores: use it as it comes."
)


# masking.causal_mask ---------------------------------------------------------------------------------------


def _causal_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    lengths = sizes(generator, 3) if hidden else [4, 1, *sizes(generator, 2)]
    for length in lengths:
        yield Case(f"{B.name}: 4 words" if (length, hidden) == (4, False) else f"length {length}", (length,))
    longer = integer(generator, 10, 30)
    yield Case(f"length {longer}", (longer,))


def _triangle(length: int, *, part: Callable[[Tensor], Tensor] = torch.tril, dtype: torch.dtype = torch.bool) -> Tensor:
    """A part of a square of True, as numbers of some dtype."""
    return part(torch.ones(length, length, dtype=torch.bool)).to(dtype)


def _past_or_first(ones: Tensor) -> Tensor:
    past = ones.tril(diagonal=-1)
    past[0, 0] = True
    return past


CAUSAL_MASK = Exercise(
    id="masking.causal_mask",
    lesson=LESSON,
    name="causal_mask",
    title="Causal mask",
    statement=(
        "causal_mask(length) -> bool [length, length]: True where query i (row) may attend to key j (column), which "
        "is at itself and at everything before it."
    ),
    points=1,
    minutes=4,
    section="The causal mask",
    source="S2, masked self-attention; S0 and S4, why a model must not look ahead",
    reference=masking.causal_mask,
    cases=_causal_cases,
    correct=correct.CAUSAL_MASK,
    misconceptions=(
        Misconception(
            "itself_forbidden",
            "Your mask forbids each word to attend to itself, and the first word to attend to anything. The diagonal "
            "is allowed: query i attends to keys 0 to i.",
            partial(_triangle, part=partial(torch.tril, diagonal=-1)),
        ),
        Misconception(
            "one_word_ahead",
            "Your mask also allows the next word, which is the very one to be predicted. Query i attends to keys 0 "
            "to i only.",
            partial(_triangle, part=partial(torch.tril, diagonal=1)),
        ),
        Misconception(
            "keys_as_rows",
            "Your mask is the transpose, upper-triangular: it allows the future and forbids the past. Slide S3 "
            "indexes [key, query]; here rows are queries, so the allowed part is the lower triangle.",
            partial(_triangle, part=torch.triu),
        ),
        Misconception(
            "inverted",
            "Your mask is True where attention is forbidden, as in nn.MultiheadAttention. In this course True means "
            "`may attend`: invert it with ~.",
            partial(_triangle, part=partial(torch.triu, diagonal=1)),
        ),
        Misconception(
            "zeros_and_ones",
            "The entries of your mask are the numbers 0.0 and 1.0. A mask is boolean: create it with "
            "dtype=torch.bool, or end with .bool().",
            partial(_triangle, dtype=torch.float32),
        ),
        Misconception(
            "integers",
            "The entries of your mask are the integers 0 and 1. A mask is boolean: create it with "
            "dtype=torch.bool, or end with .bool().",
            partial(_triangle, dtype=torch.long),
        ),
        Misconception(
            "additive",
            "Your mask holds 0 and -inf, to be added to the scores. Here a mask is boolean, True where a query may "
            "attend.",
            lambda length: torch.full((length, length), -math.inf).triu(diagonal=1),
        ),
        Misconception(
            "everything_allowed",
            "Your mask allows everything, the future included. Keep the lower triangle only.",
            partial(_triangle, part=torch.clone),
        ),
        Misconception(
            "first_word_sees_itself",
            "Your mask forbids each word to attend to itself, the first word alone excepted. The whole diagonal is "
            "allowed: query i attends to keys 0 to i.",
            partial(_triangle, part=_past_or_first),
        ),
        Misconception(
            "two_words",
            "Your mask allows each word itself and the one before it. All that came before is allowed: the whole lower "
            "triangle.",
            partial(_triangle, part=lambda ones: ones.tril().triu(diagonal=-1)),
        ),
        Misconception(
            "only_itself",
            "Your mask allows each word to attend to itself only. What came before it is allowed as well: the whole "
            "lower triangle.",
            partial(_triangle, part=lambda ones: ones.tril().triu()),
        ),
    ),
    listed_pairs=(
        Pair("keys_as_rows", "one_word_ahead", partial(_triangle, part=partial(torch.triu, diagonal=-1))),
        Pair("inverted", "one_word_ahead", partial(_triangle, part=partial(torch.triu, diagonal=2))),
    ),
    withheld=WITHHELD,
)


# masking.masked_weights ------------------------------------------------------------------------------------


def _masked_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    yield from _scores_and_masks(generator, hidden)
    yield from _shared_masks(generator)
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
    scores: Step = _as_is,
    rows: Step = _as_is,
    masked: Step = _lowest,
    softmax: Step = _over_keys,
    after: Step = torch.mul,
) -> Tensor:
    """Masked weights as the lesson's hint has them, with a setting for each step where one can slip."""
    used = rows(mask, scaled)
    return after(softmax(masked(scores(scaled, mask), used), used), used)


def _not_low_enough(scaled: Tensor, mask: Tensor) -> Tensor:
    return _fill(scaled, mask, -1e3)


def _times_minus_infinity(scaled: Tensor, mask: Tensor) -> Tensor:
    return scaled + ~mask * -math.inf


def _minus_infinity_added(scaled: Tensor, mask: Tensor) -> Tensor:
    return scaled + mask.to(scaled.dtype).log()


def _inverted_fill(value: float = -math.inf) -> Step:
    return lambda scaled, mask: _fill(scaled, ~mask, value)


def _exp_times_mask(shifted: Tensor, mask: Tensor) -> Tensor:
    """exp(shifted) times the mask, divided by each row's sum."""
    return _divided_by_sum(torch.exp(shifted) * mask, mask)


def _sum_never_zero(kept: Tensor, mask: Tensor) -> Tensor:
    total = kept.sum(dim=-1, keepdim=True)
    return kept / total.masked_fill(total == 0, 1.0)


_NAN_IN_A_ROW = (
    "A row without any allowed key ends in NaN in your answer, which then spreads through the whole model: set such "
    "rows to 0."
)
_EVEN_IN_A_ROW = (
    "In a row without any allowed key your answer gives the same weight to every key, though all are forbidden. Set "
    "such rows to 0; multiplying the weights by the mask at the end does it."
)
_FORBIDDEN_FAR_ABOVE = (
    "Where a forbidden score lies far above the allowed ones of its row, your answer leaves these no weight: beside it "
    "their exponentials are 0. Fill the forbidden scores with -inf (or the lowest number) before the softmax."
)
_NOT_LOW_ENOUGH = (
    "Your answer fills forbidden scores with a number that is not low enough: where the allowed ones lie below "
    "it, the forbidden keys take the weight. Fill with -inf, or torch.finfo(scaled.dtype).min."
)
_BARE_EXP = (
    "Your answer takes exp of the scores as they are: that is infinite for large ones and 0 for very low ones. "
    "Subtract each row's largest allowed score first; or fill with -inf and let torch.softmax do it."
)

MASKED_WEIGHTS = Exercise(
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
    cases=_masked_cases,
    parts={CORE: 1, BROADCAST: 1, LARGE: 1, NOTHING: 1},
    correct=correct.MASKED_WEIGHTS,
    misconceptions=(
        Misconception(
            "nan_where_nothing_is_allowed",
            _NAN_IN_A_ROW,
            partial(_weights, masked=_fill, after=_as_is),
        ),
        Misconception(
            "uniform_where_nothing_is_allowed",
            _EVEN_IN_A_ROW,
            partial(_weights, masked=_lowest, after=_as_is),
        ),
        Misconception(
            "nan_by_addition_where_nothing_is_allowed",
            _NAN_IN_A_ROW,
            _only(_weights, masked=_minus_infinity_added, after=_as_is),
        ),
        Misconception(
            "uniform_by_addition_where_nothing_is_allowed",
            _EVEN_IN_A_ROW,
            _only(_weights, masked=lambda scaled, mask: scaled - 1e9 * ~mask, after=_as_is),
        ),
        Misconception(
            "nan_repaired_afterwards",
            "The weights are right, but in a row without any allowed key their gradient is NaN: there was a NaN on the "
            "way, and repairing it afterwards does not mend the gradient. Fill with torch.finfo(scaled.dtype).min "
            "(masked_fill, nothing added), and multiply the weights by the mask.",
            _only(_weights, masked=_minus_infinity_added, after=lambda alpha, mask: alpha.nan_to_num(nan=0.0)),
            alone=True,
        ),
        Misconception(
            "filled_not_low_enough",
            _NOT_LOW_ENOUGH,
            _only(_weights, masked=_not_low_enough, after=_as_is),
        ),
        Misconception(
            "filled_not_low_enough_times_mask",
            _NOT_LOW_ENOUGH,
            _only(_weights, masked=_not_low_enough, after=torch.mul),
        ),
        Misconception(
            "scores_times_mask",
            "Your answer sets forbidden scores to 0 (multiplying by the mask does that), but exp(0) is 1, so that "
            "forbidden keys still get weight. Fill them with -inf before the softmax.",
            partial(_weights, masked=torch.mul, after=_as_is),
        ),
        Misconception(
            "scores_times_mask_then_zeroed",
            "Your answer sets forbidden scores to 0, but exp(0) is 1, so that they take a share of their row; making "
            "their weights 0 afterwards does not give it back. Fill them with -inf before the softmax.",
            partial(_weights, masked=torch.mul, after=torch.mul),
        ),
        Misconception(
            "masked_after_softmax",
            "Your answer masks after the softmax, so that the rows no longer sum to 1: the forbidden keys have "
            "already taken their share. Mask the scores, before the softmax.",
            partial(_weights, masked=_as_is, after=torch.mul),
        ),
        Misconception(
            "forbidden_score_far_above",
            _FORBIDDEN_FAR_ABOVE,
            _only(_weights, masked=_as_is, after=lambda alpha, mask: _sum_never_zero(alpha * mask, mask)),
        ),
        Misconception(
            "forbidden_score_far_above_nan",
            f"{_FORBIDDEN_FAR_ABOVE} A row whose weights are all 0 then ends in 0 / 0, NaN.",
            _only(_weights, masked=_as_is, after=lambda alpha, mask: _divided_by_sum(alpha * mask, mask)),
        ),
        Misconception(
            "added_not_enough",
            "Your answer lowers the forbidden scores by some number, but a score far above the others stays above "
            "them, and takes the weight. Fill with -inf, masked_fill(~mask, -math.inf), rather than adding.",
            _only(_weights, masked=lambda scaled, mask: scaled - 1e3 * ~mask, after=_as_is),
        ),
        Misconception("exp_overflows", _BARE_EXP, _exp_times_mask),
        Misconception(
            "exp_overflows_sum_never_zero", _BARE_EXP, lambda scaled, mask: _sum_never_zero(scaled.exp() * mask, mask)
        ),
        Misconception(
            "mask_ignored",
            "Your answer is the softmax of all the scores, as if nothing were masked. If you do fill the scores, use "
            "what comes back: masked_fill, without an underscore, returns a new tensor and leaves the old one as it "
            "is.",
            partial(_weights, masked=_as_is, after=_as_is),
        ),
        Misconception(
            "mask_added",
            "Your answer adds the mask to the scores, as 0 and 1. That only nudges them: fill them with -inf where "
            "the mask is False.",
            _only(_weights, masked=torch.add, after=_as_is),
        ),
        Misconception("inverted", _WRONG_WAY_ROUND, partial(_weights, masked=_inverted_fill(), after=_as_is)),
        Misconception(
            "inverted_with_a_large_number",
            _WRONG_WAY_ROUND,
            partial(_weights, masked=_inverted_fill(-1e9), after=_as_is),
        ),
        Misconception(
            "inverted_fill_times_mask",
            "Your answer fills the scores of the allowed keys, where the mask is True. Fill where it is False: ~mask. "
            "(Multiplying the weights by the mask as it is is right.)",
            partial(_weights, masked=_inverted_fill(-1e9), after=torch.mul),
        ),
        Misconception("inverted_throughout", _WRONG_WAY_ROUND, _only(_weights, rows=_inverted)),
        Misconception("keys_as_rows", _KEYS_AS_ROWS, partial(_weights, rows=_turned)),
        Misconception(
            "always_causal",
            "Your answer uses a causal mask, whatever mask it is given. Use the argument: it may allow anything.",
            _only(_weights, rows=_own_causal),
        ),
        Misconception(
            "softmax_over_queries",
            "Your answer takes the softmax over the queries (dim=-2). Take it over the keys, dim=-1, so that each row "
            "sums to 1.",
            partial(_weights, softmax=_over(-2)),
        ),
        Misconception(
            "softmax_over_the_second_dimension",
            "Your answer takes the softmax over dim=1, which is the keys only for a single sequence. Take the last "
            "dimension, dim=-1.",
            partial(_weights, softmax=_over(1)),
        ),
        Misconception(
            "softmax_over_the_matrix",
            "Your answer takes one softmax over a whole matrix. Each query has its own: softmax along the keys, "
            "dim=-1, so that each row sums to 1.",
            _only(_weights, softmax=_over_the_matrix),
        ),
        Misconception(
            "scaled_again",
            "Your answer divides the scores by the root of their last size. They come scaled already, and that size is "
            "the number of keys: use them as they are.",
            _only(_weights, scores=lambda scaled, mask: scaled / math.sqrt(scaled.shape[-1])),
        ),
        Misconception(
            "softmax_left_out",
            "Your answer is the masked scores. Their softmax over the keys is still to be taken.",
            _fill,
        ),
        Misconception(
            "filled_with_plus_infinity",
            "Your answer fills forbidden scores with +inf, which draws all the weight there, and ends in NaN. Fill "
            "with -inf, because exp(-inf) is 0.",
            lambda scaled, mask: torch.softmax(_fill(scaled, mask, math.inf), dim=-1),
        ),
        Misconception(
            "zero_times_infinity",
            _ZERO_TIMES_INFINITY,
            lambda scaled, mask: torch.softmax(_times_minus_infinity(scaled, mask), dim=-1),
        ),
        Misconception(
            "weights_of_the_allowed_alone",
            "Your answer picks the allowed scores into one row, scaled[mask], and takes their softmax. The result "
            "has the shape of `scaled`, and each row its own softmax: fill the others with -inf.",
            lambda scaled, mask: torch.softmax(scaled[mask.expand(scaled.shape)], dim=-1),
        ),
    ),
    withheld=WITHHELD,
)


# masking.multiplicative_weights ----------------------------------------------------------------------------


def _multiplicative_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    yield from _scores_and_masks(generator, hidden)
    yield from _shared_masks(generator)
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


def _largest_allowed(scaled: Tensor, mask: Tensor) -> Tensor:
    return _fill(scaled, mask).amax(dim=-1, keepdim=True)


def _by_exp(
    scaled: Tensor,
    mask: Tensor,
    *,
    rows: Step = _as_is,
    shifted: Step = lambda scaled, mask: _fill(scaled - _largest_allowed(scaled, mask), mask),
    divided: Step = _divided_by_sum,
    keeps: Step = torch.mul,
) -> Tensor:
    """Weights by slide S3's formula, with a setting for each step where one can slip."""
    used = rows(mask, scaled)
    return divided(keeps(torch.exp(shifted(scaled, used)), used), used)


def _over_columns(kept: Tensor, mask: Tensor) -> Tensor:
    return kept / kept.sum(dim=-2, keepdim=True)


def _without_keepdim(kept: Tensor, mask: Tensor) -> Tensor:
    """The sums of the rows laid beside the columns."""
    return kept / kept.sum(dim=-1)


def _sum_of_all(powers: Tensor, mask: Tensor) -> Tensor:
    return powers * mask / powers.sum(dim=-1, keepdim=True)


def _from_row_maximum(scaled: Tensor, mask: Tensor) -> Tensor:
    return scaled - scaled.amax(dim=-1, keepdim=True)


def _from_maximum_with_zeros(scaled: Tensor, mask: Tensor) -> Tensor:
    return scaled - (scaled * mask).amax(dim=-1, keepdim=True)


_ONE_MAXIMUM = (
    "Your answer subtracts one maximum from all rows: a row far below it becomes all 0, and its weights NaN. "
    "Subtract each row's own largest allowed score (dim=-1, keepdim=True)."
)
_MAXIMUM_WITH_ZEROS = (
    "The number that your answer subtracts from a row is never below 0, as if forbidden keys had the score 0. Where "
    "all allowed scores are far below 0 it is too large, and the row becomes NaN. Fill forbidden scores with -inf, "
    "then take the largest."
)
_OVER_COLUMNS = (
    "Your answer divides by the sums of the columns (dim=-2). Divide each row by its own sum over the keys, "
    "dim=-1: slide S3 sums over its first index because that is the key there."
)
_NOT_DIVIDED = "Your answer is exponentials times the mask. Divide each row by its sum."
_ROW_SUMS_AS_COLUMNS = (
    "Your answer divides each column by the sum of a row: without keepdim the sums of the rows are laid beside "
    "the columns. Keep the dimension in the sum: sum(dim=-1, keepdim=True)."
)
_FORBIDDEN_MULTIPLIED = (
    "Your answer gives weight to the forbidden keys and none to the allowed ones. True means `may attend`: "
    "multiply by the mask as it is."
)

MULTIPLICATIVE_WEIGHTS = Exercise(
    id="masking.multiplicative_weights",
    lesson=LESSON,
    name="multiplicative_weights",
    title="Weights by multiplication",
    statement=(
        "multiplicative_weights(scaled [..., queries, keys], mask bool, same shape or broadcasts to it) -> [..., "
        "queries, keys]: exp(scaled) times the mask, divided by each row's sum; written with exp, and right for "
        "scores in the hundreds too, those of forbidden keys included."
    ),
    points=3,
    minutes=15,
    section="Multiplying the exponentials",
    source="S3, the causal mask as a factor",
    reference=masking.multiplicative_weights,
    cases=_multiplicative_cases,
    parts={CORE: 1, BROADCAST: 1, LARGE: 1},
    correct=correct.MULTIPLICATIVE_WEIGHTS,
    misconceptions=(
        Misconception(
            "large_scores_overflow",
            "Your answer takes exp of the scores as they are: exp of a large score is infinite and of a very low one "
            "0, and where scores lie in the hundreds the row ends in NaN. Subtract each row's largest allowed score "
            "before exp: the weights stay the same.",
            partial(_by_exp, shifted=_as_is),
        ),
        Misconception(
            "overflow_repaired",
            "Your answer turns NaN into numbers afterwards, but where exp has become infinite, or 0 in a whole row, "
            "the weights are lost. Subtract each row's largest allowed score before exp.",
            lambda scaled, mask: _exp_times_mask(scaled, mask).nan_to_num(),
        ),
        Misconception(
            "forbidden_score_far_above",
            "Your answer is right unless a forbidden score is far above its row's allowed ones: then exp leaves only "
            "0 or infinity, and the row becomes NaN. Fill forbidden scores with -inf, subtract the row's largest from "
            "the filled scores, and take exp of these.",
            lambda scaled, mask: _exp_times_mask(_from_row_maximum(scaled, mask), mask),
        ),
        Misconception(
            "one_maximum_for_all_rows",
            _ONE_MAXIMUM,
            lambda scaled, mask: _exp_times_mask(scaled - scaled.max(), mask),
        ),
        Misconception(
            "one_allowed_maximum_for_all_rows",
            _ONE_MAXIMUM,
            partial(_by_exp, shifted=lambda scaled, mask: _fill(scaled, mask) - _fill(scaled, mask).max()),
        ),
        Misconception(
            "maximum_over_queries",
            "Your answer subtracts the largest score of each column (dim=-2), a different number from each key of a "
            "row: that changes the weights. Subtract one number from a whole row: amax(dim=-1, keepdim=True).",
            partial(_by_exp, shifted=lambda scaled, mask: scaled - scaled.amax(dim=-2, keepdim=True)),
        ),
        Misconception(
            "scores_times_mask",
            "Your answer multiplies the scores by the mask, but exp(0) is 1, so that forbidden keys still get weight. "
            "Multiply exp of the scores.",
            lambda scaled, mask: torch.softmax(scaled * mask, dim=-1),
        ),
        Misconception(
            "normalised_before_masking",
            "Your answer divides by the sum over all keys, the forbidden ones included: the rows no longer sum to 1. "
            "Multiply by the mask first, then divide by the sum of what is left.",
            partial(_by_exp, shifted=_from_row_maximum, keeps=_as_is, divided=_sum_of_all),
        ),
        Misconception(
            "sum_without_keepdim",
            _ROW_SUMS_AS_COLUMNS,
            partial(_by_exp, shifted=_as_is, divided=_without_keepdim),
        ),
        Misconception("safe_sum_without_keepdim", _ROW_SUMS_AS_COLUMNS, _only(_by_exp, divided=_without_keepdim)),
        Misconception("not_normalised", _NOT_DIVIDED, partial(_by_exp, shifted=_as_is, divided=_as_is)),
        Misconception("safe_not_normalised", _NOT_DIVIDED, _only(_by_exp, divided=_as_is)),
        Misconception(
            "divided_by_number_of_keys",
            "Your answer divides by the number of allowed keys. Divide each row by the sum of its exponentials, so "
            "that its weights sum to 1.",
            partial(_by_exp, divided=lambda kept, mask: kept / mask.sum(dim=-1, keepdim=True)),
        ),
        Misconception(
            "mask_ignored",
            "Your answer is the softmax of all the scores, as if nothing were masked. Multiply exp of the scores by "
            "the mask before dividing.",
            partial(_by_exp, shifted=_from_row_maximum, keeps=_as_is, divided=_divided_by_sum),
        ),
        Misconception("inverted", _FORBIDDEN_MULTIPLIED, lambda scaled, mask: _exp_times_mask(scaled, ~mask)),
        Misconception(
            "inverted_sum_never_zero",
            _FORBIDDEN_MULTIPLIED,
            lambda scaled, mask: _sum_never_zero(scaled.exp() * ~mask, mask),
        ),
        Misconception("keys_as_rows", _KEYS_AS_ROWS, partial(_by_exp, rows=_turned)),
        Misconception(
            "normalised_over_queries", _OVER_COLUMNS, partial(_by_exp, shifted=_as_is, divided=_over_columns)
        ),
        Misconception("safe_normalised_over_queries", _OVER_COLUMNS, _only(_by_exp, divided=_over_columns)),
        Misconception(
            "no_exp",
            "Your answer multiplies the scores by the mask and divides by their sum, without exp. Take exp first, so "
            "that every weight is positive.",
            lambda scaled, mask: scaled * mask / (scaled * mask).sum(dim=-1, keepdim=True),
        ),
        Misconception(
            "powers_of_two",
            "Your answer takes powers of 2. The softmax takes those of e: torch.exp.",
            partial(
                _by_exp,
                shifted=lambda scaled, mask: _fill(scaled - _largest_allowed(scaled, mask), mask) * math.log(2),
            ),
        ),
        Misconception(
            "maximum_of_scores_times_mask",
            _MAXIMUM_WITH_ZEROS,
            lambda scaled, mask: _exp_times_mask(_from_maximum_with_zeros(scaled, mask), mask),
        ),
        Misconception(
            "maximum_of_scores_times_mask_clamped",
            _MAXIMUM_WITH_ZEROS,
            lambda scaled, mask: _exp_times_mask(_from_maximum_with_zeros(scaled, mask).clamp(max=0.0), mask),
        ),
    ),
    withheld=WITHHELD,
    forbidden=SOFTMAX,
)


# masking.masked_self_attention -----------------------------------------------------------------------------


def _self_attention_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(B.name, (B.q, B.mask))
    for kind in kinds(generator):
        (words,) = kind.sizes(1)
        x = kind.normal(words, kind.d_head()) * 0.7
        yield Case(kind.name, (x, kind.mask(words, words)), gradients=(0,))
    batch, words = sizes(generator, 2)
    kind = Kind(BROADCAST, generator, (batch,))
    x = kind.normal(words, kind.d_head()) * 0.7
    yield Case(kind.name, (x, Kind("", generator).mask(words, words)), part=BROADCAST)
    name = "one row of the mask for all queries"
    yield Case(name, (x, _padding(generator, batch, words).unsqueeze(1)), part=BROADCAST)
    kind = Kind("long vectors, with scores in the thousands", generator, dtype=torch.float64)
    words = integer(generator, 5, 8)
    mask = kind.mask(words, words)
    mask[0, 0], mask[0, 1] = False, True
    yield Case(kind.name, (kind.normal(words, kind.d_head()) * 20.0, mask), part=LARGE)


def _root(x: Tensor) -> float:
    return math.sqrt(x.shape[-1])


def _self_attention(
    x: Tensor,
    mask: Tensor,
    *,
    scaled: Step = lambda scores, x: scores / _root(x),
    rows: Step = _as_is,
    masked: Step = _lowest,
    softmax: Step = _over_keys,
    after: Step = _as_is,
    averaged: Step = torch.matmul,
) -> Tensor:
    """Masked self-attention in the lesson's five steps, with a setting for each where one can slip."""
    scores = scaled(x @ x.mT, x)
    used = rows(mask, scores)
    return averaged(after(softmax(masked(scores, used), used), used), x)


MASKED_SELF_ATTENTION = Exercise(
    id="masking.masked_self_attention",
    lesson=LESSON,
    name="masked_self_attention",
    title="Masked self-attention",
    statement=(
        "masked_self_attention(x [..., words, d_model], mask bool [..., words, words] or broadcasts to it) -> [..., "
        "words, d_model]: scaled dot-product attention with q = k = v = x under the mask, scores in the thousands "
        "included, with gradients."
    ),
    points=3,
    minutes=10,
    section="Masked self-attention",
    source="S2, the second working example; S4, the cheating problem",
    reference=masking.masked_self_attention,
    cases=_self_attention_cases,
    parts={CORE: 1, BROADCAST: 1, LARGE: 1},
    correct=correct.MASKED_SELF_ATTENTION,
    misconceptions=(
        Misconception(
            "divided_by_number_of_keys",
            "Your answer divides the scores by the number of words. So do the numbers printed on slide S2, which "
            "don't follow the formula beside them: divide by √d_model.",
            partial(_self_attention, scaled=lambda scores, x: scores / x.shape[-2]),
        ),
        Misconception(
            "unscaled_scores_masked",
            "Your answer masks the unscaled scores, as the line `masked = scores.masked_fill(...)` on slide S2 does; "
            "its printed output follows from that. Mask the scaled ones, the scores divided by √d_model.",
            partial(_self_attention, scaled=_as_is),
        ),
        Misconception(
            "divided_by_d_model",
            "In your answer the scores are divided by d_model in all, as by the formula on slide S1. The paper's "
            "formula takes the root: divide by √d_model.",
            partial(_self_attention, scaled=lambda scores, x: scores / x.shape[-1]),
        ),
        Misconception(
            "half_of_d_model_for_the_root",
            "Your answer divides the scores by d_model and by 2: `/ d ** 1 / 2` is (/ d) / 2, since ** binds first. "
            "Divide by the root, d ** 0.5 or math.sqrt(d).",
            _only(_self_attention, scaled=lambda scores, x: scores / x.shape[-1] / 2),
        ),
        Misconception(
            "multiplied_by_the_root",
            "Your answer multiplies the scores by √d_model. Divide them by it.",
            _only(_self_attention, scaled=lambda scores, x: scores * _root(x)),
        ),
        Misconception(
            "root_of_two",
            "Your answer divides the scores by √2, which is √d_model in the worked example only. d_model is "
            "x.shape[-1].",
            _only(_self_attention, scaled=lambda scores, x: scores / math.sqrt(2)),
        ),
        Misconception(
            "root_of_number_of_words",
            "Your answer divides the scores by the root of the number of words. Divide by √d_model, the root of "
            "x.shape[-1].",
            partial(_self_attention, scaled=lambda scores, x: scores / math.sqrt(x.shape[-2])),
        ),
        Misconception(
            "root_of_first_dimension",
            "Your answer divides by the root of len(x), the number of words, or of sequences in a batch. d_model is "
            "the last dimension, x.shape[-1].",
            _only(_self_attention, scaled=lambda scores, x: scores / math.sqrt(len(x))),
        ),
        Misconception(
            "root_of_second_dimension",
            "Your answer divides by the root of x.shape[1], which is d_model only for a single sequence. d_model is "
            "x.shape[-1].",
            _only(_self_attention, scaled=lambda scores, x: scores / math.sqrt(x.shape[1])),
        ),
        Misconception(
            "scaled_after_softmax",
            "Your answer divides the weights by √d_model, after the softmax. Divide the scores, before it.",
            _only(_self_attention, scaled=_as_is, averaged=lambda alpha, x: alpha @ x / _root(x)),
        ),
        Misconception(
            "scores_times_mask",
            "Your answer sets forbidden scores to 0 (multiplying by the mask does that), but exp(0) is 1, so that "
            "forbidden words still take a share. Fill them with -inf before the softmax.",
            partial(_self_attention, masked=torch.mul),
        ),
        Misconception(
            "masked_after_softmax",
            "Your answer masks after the softmax, so that the weights no longer sum to 1. Mask the scores, before "
            "the softmax.",
            partial(_self_attention, masked=_as_is, after=torch.mul),
        ),
        Misconception(
            "mask_ignored",
            "Your answer attends to every word, as if nothing were masked. If you do fill the scores, use what comes "
            "back: masked_fill, without an underscore, returns a new tensor and leaves the old one as it is.",
            partial(_self_attention, masked=_as_is, after=_as_is),
        ),
        Misconception(
            "mask_added",
            "Your answer adds the mask to the scores, as 0 and 1. That only nudges them: fill them with -inf where "
            "the mask is False.",
            _only(_self_attention, masked=torch.add),
        ),
        Misconception(
            "added_not_enough",
            "Your answer lowers the forbidden scores by some number, but a score far above the others stays above "
            "them, and takes the weight. Fill with -inf, masked_fill(~mask, -math.inf), rather than adding.",
            _only(_self_attention, masked=lambda scaled, mask: scaled - 1e3 * ~mask),
        ),
        Misconception("exp_overflows", _BARE_EXP, _only(_self_attention, masked=_as_is, softmax=_exp_times_mask)),
        Misconception(
            "forbidden_score_far_above",
            f"{_FORBIDDEN_FAR_ABOVE} A row whose weights are all 0 then ends in 0 / 0, NaN.",
            _only(_self_attention, masked=_as_is, after=lambda alpha, mask: _divided_by_sum(alpha * mask, mask)),
        ),
        Misconception(
            "always_causal",
            "Your answer makes a causal mask of its own and ignores the one it is given. Use the argument: the mask "
            "may be any.",
            _only(_self_attention, rows=_own_causal),
        ),
        Misconception(
            "causal_too",
            "Your answer makes a causal mask of its own besides the one that it is given. Use `mask` as it is; it "
            "may allow anything.",
            _only(
                _self_attention,
                rows=lambda mask, scores: mask & _own_causal(mask, scores),
                masked=_fill,
                after=lambda alpha, mask: alpha.nan_to_num(),
            ),
        ),
        Misconception("inverted", _WRONG_WAY_ROUND, partial(_self_attention, masked=_inverted_fill())),
        Misconception(
            "inverted_with_a_large_number",
            _WRONG_WAY_ROUND,
            partial(_self_attention, masked=_inverted_fill(-1e9)),
        ),
        Misconception(
            "inverted_fill_times_mask",
            "Your answer fills the scores of the allowed words, where the mask is True. Fill where it is False: ~mask. "
            "(Multiplying the weights by the mask as it is is right.)",
            _only(_self_attention, masked=_inverted_fill(-1e9), after=torch.mul),
        ),
        Misconception("inverted_throughout", _WRONG_WAY_ROUND, _only(_self_attention, rows=_inverted, after=torch.mul)),
        Misconception("keys_as_rows", _KEYS_AS_ROWS, partial(_self_attention, rows=_turned)),
        Misconception(
            "softmax_over_queries",
            "Your answer takes the softmax over the queries (dim=-2). Take it over the keys, dim=-1, so that each "
            "word's weights sum to 1.",
            partial(_self_attention, rows=_as_is, softmax=_over(-2)),
        ),
        Misconception(
            "softmax_over_the_second_dimension",
            "Your answer takes the softmax over dim=1, which is the keys only for a single sequence. Take the last "
            "dimension, dim=-1.",
            _only(_self_attention, rows=_as_is, softmax=_over(1)),
        ),
        Misconception(
            "softmax_over_the_matrix",
            "Your answer takes one softmax over a whole matrix. Each query has its own: softmax along the keys, "
            "dim=-1, so that each word's weights sum to 1.",
            _only(_self_attention, softmax=_over_the_matrix),
        ),
        Misconception(
            "weights_transposed",
            "Your answer averages with the weights transposed: alpha's rows are queries, and each word's output is its "
            "row times x. Write alpha @ x.",
            partial(_self_attention, rows=_as_is, softmax=_over_keys, averaged=lambda alpha, x: alpha.mT @ x),
        ),
        Misconception(
            "view_for_transpose",
            "Your answer turns x with view or reshape, which keeps the numbers in their order and mixes the words up. "
            "Transpose it: x.transpose(-2, -1).",
            _only(_self_attention, scaled=lambda scores, x: x @ x.reshape(*x.shape[:-2], *x.shape[:-3:-1]) / _root(x)),
        ),
        Misconception(
            "softmax_left_out",
            "Your answer weighs the words by their scores themselves. Take the softmax of the masked scores first.",
            _only(_self_attention, masked=torch.mul, softmax=_as_is),
        ),
        Misconception(
            "weights_returned",
            "Your answer is the weights. Average the words with them: alpha @ x.",
            _only(_self_attention, averaged=_as_is),
        ),
        Misconception(
            "weights_detached",
            "In your answer the gradient stops at the weights: they are detached from the graph (.detach(), .data, "
            "numpy or no_grad), and only the values could learn.",
            partial(_self_attention, after=lambda alpha, mask: alpha.detach()),
        ),
        Misconception(
            "values_detached",
            "In your answer the gradient reaches x through the weights only: the values are detached from the graph "
            "(x.detach(), x.data). Use x itself in all three parts.",
            _only(_self_attention, averaged=lambda alpha, x: alpha @ x.detach()),
        ),
        Misconception(
            "keys_detached",
            "In your answer a part of the gradient is missing: x is detached in the scores (x.detach(), x.data), as "
            "query or as key. Use x itself in all three parts.",
            _only(_self_attention, scaled=lambda scores, x: x @ x.detach().mT / _root(x)),
        ),
        Misconception(
            "no_gradients",
            "No gradient reaches x: your computation leaves torch somewhere (.detach(), .data, numpy, "
            "torch.tensor(...) or no_grad). Use torch operations from x to the end.",
            _only(_self_attention, averaged=lambda alpha, x: (alpha @ x).detach()),
        ),
        Misconception(
            "zero_times_infinity",
            _ZERO_TIMES_INFINITY,
            lambda x, mask: torch.softmax(_times_minus_infinity(x @ x.mT, mask), dim=-1) @ x,
        ),
    ),
    withheld=WITHHELD,
    forbidden=FUSED_ATTENTION,
)


# masking.padding_mask --------------------------------------------------------------------------------------


def _padding_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{B.name} beside a sentence of 3 words", (torch.tensor([4, 3]), 4))
    for name in ("a batch", "another batch"):
        batch, longest = sizes(generator, 2)
        yield Case(name, (torch.randint(1, longest, (batch,), generator=generator), longest))
    batch, longest = sizes(generator, 2)
    lengths = torch.randint(1, longest, (batch,), generator=generator)
    yield Case("nobody as long as max_length", (lengths, longest + 3))
    yield Case("as many sentences as positions", (torch.tensor([2, 4, 1, 3]).roll(integer(generator, 0, 4)), 4))
    yield Case("an empty sequence and a full one", (torch.tensor([0, longest]), longest))
    yield Case("a single sequence", (torch.tensor([longest - 1]), longest))


def _wide(lengths: Tensor, max_length: int) -> int:
    return max_length


def _columns_of(
    lengths: Tensor,
    max_length: int,
    *,
    width: Callable[[Tensor, int], int] = _wide,
    words: Callable[[Tensor, Tensor, int], Tensor] = lambda position, lengths, wide: position < lengths,
    returned: Callable[[Tensor], Tensor] = lambda mask: mask,
    dtype: torch.dtype = torch.bool,
) -> Tensor:
    """The padding mask by comparing positions with lengths, with a setting for each place where one can slip."""
    wide = width(lengths, max_length)
    return returned(words(torch.arange(wide), lengths.unsqueeze(-1), wide)).to(dtype)


PADDING_MASK = Exercise(
    id="masking.padding_mask",
    lesson=LESSON,
    name="padding_mask",
    title="Padding mask",
    statement=(
        "padding_mask(lengths int64 [batch], max_length) -> bool [batch, max_length]: True at the first lengths[b] "
        "positions of row b, the words, and False at the padding behind them."
    ),
    points=2,
    minutes=8,
    section="Padding",
    source="S4, a mask for each sequence, depending on its length",
    reference=masking.padding_mask,
    cases=_padding_cases,
    correct=correct.PADDING_MASK,
    misconceptions=(
        Misconception(
            "inverted",
            "Your mask is True at the padding, as in nn.MultiheadAttention's key_padding_mask. In this course True "
            "means `may attend`: True at the words.",
            partial(_columns_of, words=lambda position, lengths, wide: position >= lengths),
        ),
        Misconception(
            "one_too_many",
            "Your mask allows one position too many in each row. Positions are counted from 0, so the words of a row "
            "are those below its length: < rather than <=.",
            partial(_columns_of, words=lambda position, lengths, wide: position <= lengths),
        ),
        Misconception(
            "one_too_few",
            "Your mask forbids the last word of each row. The words are at positions 0 to length - 1, all included.",
            partial(_columns_of, words=lambda position, lengths, wide: position < lengths - 1),
        ),
        Misconception(
            "padding_in_front",
            "Your mask puts the padding in front of the words. Here the words come first and the padding is behind "
            "them.",
            partial(_columns_of, words=lambda position, lengths, wide: position >= wide - lengths),
        ),
        Misconception(
            "batch_as_columns",
            "Your mask is transposed, [max_length, batch]. One row for each sequence: [batch, max_length].",
            partial(_columns_of, returned=lambda mask: mask.mT),
        ),
        Misconception(
            "lengths_beside_the_positions",
            "Your answer compares position 0 with the first length, position 1 with the second, and so on. Every "
            "position meets every length: make the lengths a column, lengths.unsqueeze(-1).",
            lambda lengths, max_length: torch.arange(max_length) < lengths,
        ),
        Misconception(
            "as_wide_as_the_longest",
            "Your mask is only as wide as the longest sequence of the batch. It has max_length columns, even where "
            "no sequence is that long.",
            partial(_columns_of, width=lambda lengths, max_length: int(lengths.max())),
        ),
        Misconception(
            "zeros_and_ones",
            "The entries of your mask are the numbers 0.0 and 1.0. A mask is boolean: end with .bool(), or "
            "keep the result of the comparison.",
            partial(_columns_of, dtype=torch.float32),
        ),
        Misconception(
            "integers",
            "The entries of your mask are the integers 0 and 1. A mask is boolean: end with .bool(), or keep "
            "the result of the comparison.",
            partial(_columns_of, dtype=torch.long),
        ),
        Misconception(
            "first_length_for_all",
            "Your mask uses the first sequence's length in every row. Each row has a length of its own.",
            lambda lengths, max_length: (torch.arange(max_length) < lengths[0]).expand(len(lengths), -1),
        ),
        Misconception(
            "queries_as_well",
            "Your mask is [batch, max_length, max_length]. A padding mask speaks of the keys alone, one row for each "
            "sequence; the queries come in when it is combined with the causal mask.",
            partial(_columns_of, returned=lambda mask: mask.unsqueeze(1).expand(-1, mask.shape[1], -1)),
        ),
        Misconception(
            "inverted_and_one_off",
            "Your mask is True behind the words, and misses the first place there: position > length. True belongs to "
            "the words, where the position is below the length: <.",
            partial(_columns_of, words=lambda position, lengths, wide: position > lengths),
        ),
        Misconception(
            "last_word_alone",
            "Your mask is True at the last word of each row only. All words count: every position below the length.",
            partial(_columns_of, words=lambda position, lengths, wide: position == lengths - 1),
        ),
        Misconception(
            "full_rows_emptied",
            "Your mask is right but for sequences of max_length words, whose rows are empty. Does a slice end at -0, "
            "or a length go through % max_length? Compare each position with the length.",
            partial(_columns_of, words=lambda position, lengths, wide: position < lengths % wide),
        ),
        Misconception(
            "longest_for_all",
            "Your mask uses the longest sequence's length in every row. Each row has a length of its own.",
            partial(
                _columns_of, words=lambda position, lengths, wide: (position < lengths.max()).expand(len(lengths), -1)
            ),
        ),
    ),
    withheld=WITHHELD,
)


# masking.combined_mask -------------------------------------------------------------------------------------


def _combined_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{B.name} beside a sentence of 3 words", (B.mask, torch.tensor([[True] * 4, [True] * 3 + [False]])))
    batch, length = sizes(generator, 2)
    yield Case("a batch", (masking.causal_mask(length), _padding(generator, batch, length)))
    batch, length = sizes(generator, 2)
    yield Case(
        "padding in front of the words", (masking.causal_mask(length), _padding(generator, batch, length).flip(1))
    )
    queries, further, batch = sizes(generator, 3)
    later = torch.ones(queries, queries + further, dtype=torch.bool).tril(diagonal=further)
    yield Case("fewer queries than keys", (later, _padding(generator, batch, queries + further)))
    yield Case("a batch of one", (masking.causal_mask(length), _padding(generator, 2, length)[:1]))


def _both(
    causal: Tensor,
    padding: Tensor,
    *,
    future: Callable[[Tensor], Tensor] = lambda causal: causal,
    keys: Callable[[Tensor], Tensor] = lambda padding: padding.unsqueeze(-2),
    together: Callable[[Tensor, Tensor], Tensor] = operator.and_,
    returned: Callable[[Tensor], Tensor] = lambda mask: mask,
    dtype: torch.dtype = torch.bool,
) -> Tensor:
    """Both masks at once, with a setting for each place where one can slip."""
    return returned(together(future(causal), keys(padding))).to(dtype)


def _padding(generator: Generator, batch: int, length: int) -> Tensor:
    """A padding mask whose first row has some padding, and whose second has none."""
    lengths = torch.randint(1, length, (batch,), generator=generator)
    lengths[1] = length
    return masking.padding_mask(lengths, length)


COMBINED_MASK = Exercise(
    id="masking.combined_mask",
    lesson=LESSON,
    name="combined_mask",
    title="Both at once",
    statement=(
        "combined_mask(causal bool [queries, keys], padding bool [batch, keys]) -> bool [batch, queries, keys]: True "
        "where a key is neither in the query's future nor padding."
    ),
    points=2,
    minutes=8,
    section="Padding",
    source="S4, masks for a batch; S2, masked self-attention",
    reference=masking.combined_mask,
    cases=_combined_cases,
    correct=correct.COMBINED_MASK,
    misconceptions=(
        Misconception(
            "either_is_enough",
            "Your mask allows a key that satisfies either rule. It must satisfy both: & rather than |.",
            partial(_both, together=operator.or_),
        ),
        Misconception(
            "padding_of_the_queries",
            "Your mask applies the padding to the queries (rows). It says which keys may be attended to, so it "
            "belongs to the columns: padding.unsqueeze(-2), or padding[:, None, :].",
            partial(_both, keys=lambda padding: padding.unsqueeze(-1)),
        ),
        Misconception(
            "padding_of_both",
            "Your mask applies the padding to the queries as well as to the keys, which leaves the rows of padding "
            "without any key. Forbid only the keys: what a padding query returns is never used.",
            partial(_both, keys=lambda padding: padding.unsqueeze(-2) & padding.unsqueeze(-1)),
        ),
        Misconception(
            "only_causal",
            "Your mask follows the causal rule only, and still allows padding. Forbid that too.",
            partial(_both, together=lambda causal, keys: causal.expand(len(keys), *causal.shape)),
        ),
        Misconception(
            "only_padding",
            "Your mask forbids padding only, and still allows the future. Apply the causal rule too.",
            partial(_both, together=lambda causal, keys: keys.expand(-1, len(causal), -1)),
        ),
        Misconception(
            "padding_allowed",
            "Your mask allows the padding and forbids the words. `padding` is True at the words, as every mask in this "
            "course is where one may attend: leave out the ~.",
            partial(_both, keys=lambda padding: ~padding.unsqueeze(-2)),
        ),
        Misconception(
            "batch_in_the_middle",
            "Your mask is [queries, batch, keys]. The batch comes first: put the new dimension into padding, not into "
            "causal.",
            partial(_both, returned=lambda mask: mask.transpose(0, 1)),
        ),
        Misconception(
            "first_sequence_for_all",
            "Your mask uses the first sequence's padding for the whole batch. Each sequence has a row of its own.",
            partial(_both, keys=lambda padding: padding[:1].expand_as(padding).unsqueeze(-2)),
        ),
        Misconception(
            "inverted",
            "Your mask is True where attention is forbidden. In this course True means `may attend`, in both masks "
            "that come in and in the one that goes out.",
            partial(_both, together=lambda causal, keys: ~(causal & keys)),
        ),
        Misconception(
            "zeros_and_ones",
            "The entries of your mask are the numbers 0.0 and 1.0. Combine booleans with &, or end with .bool().",
            partial(_both, dtype=torch.float32),
        ),
        Misconception(
            "integers",
            "The entries of your mask are the integers 0 and 1. Combine booleans with &, or end with .bool().",
            partial(_both, dtype=torch.long),
        ),
        Misconception(
            "exactly_one",
            "Your mask allows a key that satisfies one of the two rules and not the other (^). It must satisfy both: "
            "&.",
            partial(_both, together=operator.xor),
        ),
        Misconception(
            "causal_turned",
            "Your mask uses the causal one transposed, [key, query] as on slide S3: it allows the future. Its rows are "
            "queries already: use it as it comes.",
            partial(_both, future=lambda causal: causal.mT),
        ),
        Misconception(
            "both_inverted",
            "Your answer inverts both masks before it combines them. True means `may attend` in each of them: combine "
            "them as they are.",
            _only(_both, future=torch.logical_not, keys=lambda padding: ~padding.unsqueeze(-2)),
        ),
        Misconception(
            "heads_as_well",
            "Your mask has a dimension of size 1 for heads, [batch, 1, queries, keys]. Here it is [batch, queries, "
            "keys].",
            partial(_both, returned=lambda mask: mask.unsqueeze(1)),
        ),
    ),
    withheld=WITHHELD,
)


# masking.attention_pooling ---------------------------------------------------------------------------------


ONE, ANYWHERE = "a batch of one", "padding anywhere"


def _pooling_case(kind: Kind, mask: Tensor, part: str = CORE) -> Case:
    """A case of this kind for a mask [batch, words].

    Large scores are exact in single precision, whatever the order of summation: whole numbers, divided by 4.
    """
    d_model = 16 if part == LARGE else kind.d_head()
    x = kind.normal(mask.shape[1], d_model)
    query = torch.randn(d_model, generator=kind.generator, dtype=kind.dtype)
    return Case(
        kind.name,
        ((x * 500).round() if part == LARGE else x, mask),
        construct={"d_model": d_model},
        weights={"query": (query * 3).round() if part == LARGE else query},
        gradients=(0,) if part == CORE else (),
        weight_gradients=part == CORE,
        part=part,
    )


def _pooling_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(
            f"{B.name} beside its own first 3 words",
            (torch.stack([B.q, B.q]), masking.padding_mask(torch.tensor([4, 3]), 4)),
            construct={"d_model": 2},
            weights={"query": torch.tensor([0.5, -0.5])},
            weight_gradients=True,
        )
    for name, dtype in (
        ("a batch", torch.float32),
        ("double precision", torch.float64),
        ("transposed in memory", torch.float32),
    ):
        batch, words = integer(generator, 3, 5), integer(generator, 5, 8)
        kind = Kind(name, generator, (batch,), dtype, transposed=name.startswith("transposed"))
        yield _pooling_case(kind, _padding(generator, batch, words))
    batch, words = integer(generator, 3, 5), integer(generator, 5, 8)
    kind = Kind("long vectors, with scores in the thousands", generator, (batch,))
    yield _pooling_case(kind, _padding(generator, batch, words), part=LARGE)
    yield _pooling_case(Kind(ONE, generator, (1,)), _padding(generator, 2, words)[:1], part=ONE)
    kind = Kind("padding in front of the words and between them", generator, (batch,))
    front = torch.rand(batch, words, generator=generator) < 0.5
    front[:, 0], front[:, 2] = False, True
    yield _pooling_case(kind, front, part=ANYWHERE)


class _Pooling(nn.Module):
    """Attention pooling step by step, with a setting for each step where one can slip."""

    def __init__(
        self,
        d_model: int,
        *,
        scores: Callable[[Tensor, Tensor], Tensor] = torch.matmul,
        scaled: Step = lambda scores, x: scores / _root(x),
        masked: Step = _lowest,
        softmax: Step = _over_keys,
        after: Step = _as_is,
        averaged: Step = lambda alpha, x: (alpha.unsqueeze(-1) * x).sum(dim=1),
    ) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.zeros(d_model))
        self.scores, self.scaled, self.masked = scores, scaled, masked
        self.softmax, self.after, self.averaged = softmax, after, averaged

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        scaled = self.scaled(self.scores(x, self.query), x)
        alpha = self.softmax(self.masked(scaled, mask), mask)
        return self.averaged(self.after(alpha, mask), x)


def _largest_components(alpha: Tensor, x: Tensor) -> Tensor:
    return x.masked_fill((alpha == 0).unsqueeze(-1), -math.inf).amax(dim=1)


def _mean_of_weighted(alpha: Tensor, x: Tensor) -> Tensor:
    return (alpha.unsqueeze(-1) * x).mean(dim=1)


ATTENTION_POOLING = Exercise(
    id="masking.attention_pooling",
    lesson=LESSON,
    name="AttentionPooling",
    title="Attention pooling",
    statement=(
        "class AttentionPooling(nn.Module): __init__(d_model) makes the parameter `query` [d_model]; forward(x "
        "[batch, words, d_model], mask bool [batch, words]) -> [batch, d_model] is scaled dot-product attention from "
        "that one query to the words, padding masked out wherever it stands, with gradients."
    ),
    points=4,
    minutes=20,
    section="One vector for a whole sentence",
    source="S1, attention in general; S3, mean pooling",
    reference=masking.AttentionPooling,
    cases=_pooling_cases,
    parts={CORE: 1, LARGE: 1, ONE: 1, ANYWHERE: 1},
    correct=correct.ATTENTION_POOLING,
    misconceptions=(
        Misconception(
            "padding_counted",
            "Your answer gives weight to padding, as if there were no mask. Fill the scores with -inf where it is "
            "False, and use what masked_fill returns: without an underscore it leaves the old tensor as it is.",
            partial(_Pooling, masked=_as_is, after=_as_is),
        ),
        Misconception("inverted", _WRONG_WAY_ROUND, partial(_Pooling, masked=_inverted_fill())),
        Misconception("inverted_with_a_large_number", _WRONG_WAY_ROUND, partial(_Pooling, masked=_inverted_fill(-1e9))),
        Misconception(
            "inverted_fill_times_mask",
            "Your answer fills the scores of the words, where the mask is True. Fill where it is False: ~mask. "
            "(Multiplying the weights by the mask as it is is right.)",
            _only(_Pooling, masked=_inverted_fill(-1e9), after=torch.mul),
        ),
        Misconception(
            "inverted_throughout",
            _WRONG_WAY_ROUND,
            _only(_Pooling, masked=_inverted_fill(-1e9), after=lambda alpha, mask: alpha * ~mask),
        ),
        Misconception(
            "mean_pooling",
            "Your answer is the plain mean of the words, and the query plays no part. Weight the words by the softmax "
            "of their scaled dot products with the query.",
            _only(_Pooling, softmax=lambda masked, mask: _divided_by_sum(mask.to(masked.dtype), mask)),
        ),
        Misconception(
            "mean_pooling_with_padding",
            "Your answer is the plain mean over all positions, padding included, as on slide S3. Weight the words by "
            "the softmax of their scaled dot products with the query, with padding masked out.",
            _only(_Pooling, averaged=lambda alpha, x: x.mean(dim=1)),
        ),
        Misconception(
            "not_scaled",
            "Your answer takes the softmax of the unscaled dot products. Divide them by √d_model first.",
            partial(_Pooling, scaled=_as_is),
        ),
        Misconception(
            "divided_by_d_model",
            "In your answer the scores are divided by d_model in all, as by the formula on slide S1. The paper's "
            "formula takes the root: divide by √d_model.",
            partial(_Pooling, scaled=lambda scores, x: scores / x.shape[-1]),
        ),
        Misconception(
            "half_of_d_model_for_the_root",
            "Your answer divides the scores by d_model and by 2: `/ d ** 1 / 2` is (/ d) / 2, since ** binds first. "
            "Divide by the root, d ** 0.5 or math.sqrt(d).",
            _only(_Pooling, scaled=lambda scores, x: scores / x.shape[-1] / 2),
        ),
        Misconception(
            "root_of_number_of_words",
            "Your answer divides the scores by the root of the number of words. Divide by √d_model, the root of "
            "x.shape[-1].",
            partial(_Pooling, scaled=lambda scores, x: scores / math.sqrt(x.shape[1])),
        ),
        Misconception(
            "scores_times_mask",
            "Your answer sets the scores of padding to 0 (multiplying by the mask does that), but exp(0) is 1, so that "
            "padding still gets weight. Fill them with -inf before the softmax.",
            partial(_Pooling, masked=torch.mul, after=_as_is),
        ),
        Misconception(
            "scores_times_mask_then_zeroed",
            "Your answer sets the scores (or the vectors) of padding to 0, but exp(0) is 1, so that padding takes a "
            "share of the weights, which is lost. Fill the scores with -inf before the softmax.",
            _only(_Pooling, masked=torch.mul, after=torch.mul),
        ),
        Misconception(
            "masked_after_softmax",
            "Your answer masks after the softmax, so that the weights of a padded sequence no longer sum to 1. Mask "
            "the scores, before the softmax.",
            partial(_Pooling, masked=_as_is, after=torch.mul),
        ),
        Misconception(
            "exp_overflows",
            _BARE_EXP,
            _only(_Pooling, masked=_as_is, softmax=_exp_times_mask),
        ),
        Misconception(
            "exp_not_divided",
            "Your answer weighs the words by exponentials that nobody has divided by their sum. Divide them by it, or "
            "let torch.softmax do both.",
            _only(_Pooling, softmax=lambda masked, mask: masked.exp()),
        ),
        Misconception(
            "softmax_over_the_batch",
            "Your answer takes the softmax over the batch (dim=0), which mixes different sequences. Take it over the "
            "words, dim=-1 of the scores [batch, words].",
            partial(_Pooling, softmax=_over(0)),
        ),
        Misconception(
            "best_word_alone",
            "Your answer returns the one word with the highest score. Take the average of all words, weighted by the "
            "softmax of their scores.",
            _only(_Pooling, softmax=lambda masked, mask: (masked == masked.amax(dim=1, keepdim=True)).to(masked.dtype)),
        ),
        Misconception(
            "largest_components",
            "Your answer is the maximum over the words, component by component. Take their average, weighted by the "
            "softmax of their scores.",
            _only(_Pooling, averaged=_largest_components),
        ),
        Misconception(
            "weighted_mean",
            "Your answer takes the mean of the weighted words (or divides by their number). The weights sum to 1 "
            "already: add the weighted words up.",
            partial(_Pooling, averaged=_mean_of_weighted),
        ),
        Misconception(
            "weighted_mean_of_words",
            "Your answer divides the sum of the weighted words by the number of words. The weights sum to 1 already: "
            "leave it at the sum.",
            _only(_Pooling, after=lambda alpha, mask: alpha / mask.sum(dim=1, keepdim=True)),
        ),
        Misconception(
            "dimension_kept",
            "Your answer is [batch, 1, d_model]: the dimension of the single query is still there. Remove it with "
            "squeeze(1).",
            partial(_Pooling, averaged=lambda alpha, x: alpha.unsqueeze(1) @ x),
        ),
        Misconception(
            "squeezed",
            "Your answer loses the batch where it is a batch of one: squeeze() without a number removes every "
            "dimension of size 1. Say which one: squeeze(1).",
            partial(_Pooling, averaged=lambda alpha, x: (alpha.unsqueeze(1) @ x).squeeze()),
        ),
        Misconception(
            "weights_returned",
            "Your answer is the weights. Average the words with them: the sum of alpha times x over the words.",
            _only(_Pooling, averaged=_as_is),
        ),
        Misconception(
            "first_words_counted",
            "Your answer takes as many words from the front as the mask allows. The mask says which ones: padding may "
            "stand in front of them or between them.",
            _only(
                _Pooling,
                masked=lambda scaled, mask: _lowest(scaled, masking.padding_mask(mask.sum(dim=1), mask.shape[1])),
            ),
        ),
        Misconception(
            "first_mask_for_all",
            "Your answer uses the first sequence's mask for the whole batch. Each sequence has a row of its own.",
            _only(_Pooling, masked=lambda scaled, mask: _lowest(scaled, mask[:1])),
        ),
        Misconception(
            "query_normalised",
            "Your answer brings the query to length 1 first. Use it as it is: the scale is √d_model alone.",
            _only(_Pooling, scores=lambda x, query: x @ (query / query.norm())),
        ),
        Misconception(
            "query_detached",
            "No gradient reaches `query`: somewhere your answer uses query.data, query.detach() or "
            "torch.tensor(query). Use the parameter itself, or it can never be learned.",
            partial(_Pooling, scores=lambda x, query: x @ query.detach()),
        ),
        Misconception(
            "x_detached_in_scores",
            "In your answer the scores are computed from a detached x (.detach(), .data), so that a part of its "
            "gradient is missing. Use x itself.",
            _only(_Pooling, scores=lambda x, query: x.detach() @ query),
        ),
        Misconception(
            "x_detached_in_average",
            "In your answer the gradient reaches x through the weights only: what is averaged is detached from the "
            "graph (.detach(), .data). Use x itself.",
            _only(_Pooling, averaged=lambda alpha, x: (alpha.unsqueeze(-1) * x.detach()).sum(dim=1)),
        ),
        Misconception(
            "weights_detached",
            "In your answer the gradient stops at the weights: they are detached from the graph (.detach(), .data, "
            ".item(), numpy or no_grad), so that `query` can never be learned.",
            partial(_Pooling, after=lambda alpha, mask: alpha.detach()),
        ),
        Misconception(
            "softmax_left_out",
            "Your answer weighs the words by their scores themselves. Take the softmax of the scores first.",
            _only(_Pooling, masked=lambda scaled, mask: _fill(scaled, mask, 0.0), softmax=_as_is),
        ),
        Misconception(
            "zero_times_infinity",
            _ZERO_TIMES_INFINITY,
            _only(_Pooling, masked=_times_minus_infinity, after=_as_is),
        ),
        Misconception(
            "sum_of_queries_and_words",
            "Your answer adds the query to each word. A score is their dot product: x @ query.",
            _only(_Pooling, scores=lambda x, query: (x + query).sum(dim=-1)),
        ),
    ),
    withheld=WITHHELD,
    forbidden=FUSED_ATTENTION,
)


EXERCISES = (
    CAUSAL_MASK,
    MASKED_WEIGHTS,
    MULTIPLICATIVE_WEIGHTS,
    MASKED_SELF_ATTENTION,
    PADDING_MASK,
    COMBINED_MASK,
    ATTENTION_POOLING,
)
"""In the order of the lesson."""
