"""The exercises of lesson 02: masks, three ways of using them, and two attentions that need them.

Built like those of `course_lib/exercises/attention.py`; read that file first.

Masks are drawn so that every row and every column allows something, and single rows that allow nothing have a
case (and points) of their own: how an answer fills what is forbidden then shows only there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib import masking
from course_lib.checking.exercise import CORE, Case, Exercise, Misconception
from course_lib.exercises.common import FUSED_ATTENTION, SOFTMAX, Kind, integer, kinds, pooling, sizes
from course_lib.exercises.correct import masking as correct
from course_lib.exercises.worked_examples import B

LESSON = "02_masking"
WITHHELD = ("course_lib.attention", "course_lib.masking")


def _single_kinds(generator: Generator) -> Iterator[Kind]:
    """Every kind but double precision, where a harmless 1e-8 added to a denominator would show."""
    return (kind for kind in kinds(generator) if kind.dtype == torch.float32)


def _scores_and_masks(generator: Generator, hidden: bool) -> Iterator[Case]:
    """Scaled scores with their mask: the worked example's, and random ones, as many queries as keys and not."""
    if not hidden:
        yield Case(B.name, (B.steps.scaled, B.mask))
    for kind in _single_kinds(generator):
        for shape in ((kind.sizes(1) * 2), kind.sizes(2)):
            name = f"{kind.name}, {'as many' if shape[0] == shape[1] else 'other than'} queries as keys"
            yield Case(name, (kind.normal(*shape), kind.mask(*shape)))


def _fill(scaled: Tensor, mask: Tensor, value: float = -math.inf) -> Tensor:
    """Scores with `value` wherever `mask` is False."""
    return scaled.masked_fill(~mask, value)


# masking.causal_mask ---------------------------------------------------------------------------------------


def _causal_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    lengths = sizes(generator, 3) if hidden else [4, 1, *sizes(generator, 2)]
    for length in lengths:
        yield Case(f"{B.name}: 4 words" if (length, hidden) == (4, False) else f"length {length}", (length,))
    longer = integer(generator, 10, 30)
    yield Case(f"length {longer}", (longer,))


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
            lambda length: torch.ones(length, length, dtype=torch.bool).tril(diagonal=-1),
        ),
        Misconception(
            "one_word_ahead",
            "Your mask also allows the next word, which is the very one to be predicted. Query i attends to keys 0 "
            "to i only.",
            lambda length: torch.ones(length, length, dtype=torch.bool).tril(diagonal=1),
        ),
        Misconception(
            "keys_as_rows",
            "Your mask is the transpose, upper-triangular: it allows the future and forbids the past. Slide S3 "
            "indexes [key, query]; here rows are queries, so the allowed part is the lower triangle.",
            lambda length: torch.ones(length, length, dtype=torch.bool).triu(),
        ),
        Misconception(
            "inverted",
            "Your mask is True where attention is forbidden, as in nn.MultiheadAttention. In this course True means "
            "`may attend`: invert it with ~.",
            lambda length: torch.ones(length, length, dtype=torch.bool).triu(diagonal=1),
        ),
        Misconception(
            "zeros_and_ones",
            "The entries are right, but they are the numbers 0.0 and 1.0. A mask is boolean: create it with "
            "dtype=torch.bool, or end with .bool().",
            lambda length: torch.ones(length, length).tril(),
        ),
        Misconception(
            "integers",
            "The entries are right, but they are the integers 0 and 1. A mask is boolean: create it with "
            "dtype=torch.bool, or end with .bool().",
            lambda length: torch.ones(length, length, dtype=torch.long).tril(),
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
            lambda length: torch.ones(length, length, dtype=torch.bool),
        ),
        Misconception(
            "only_itself",
            "Your mask allows each word to attend to itself only. What came before it is allowed as well: the whole "
            "lower triangle.",
            lambda length: torch.eye(length, dtype=torch.bool),
        ),
    ),
    withheld=WITHHELD,
)


# masking.masked_weights ------------------------------------------------------------------------------------


def _masked_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    yield from _scores_and_masks(generator, hidden)
    queries, keys = sizes(generator, 2)
    below = Kind("scores far below zero", generator)
    yield Case(below.name, (below.normal(queries, keys) - 500, below.mask(queries, keys)))
    queries, keys = sizes(generator, 2)
    mask = torch.rand(2, queries, keys, generator=generator) < 0.5
    mask[:, 0], mask[:, 1] = False, True
    scaled = torch.randn(2, queries, keys, generator=generator)
    yield Case("one query may attend to nothing, the next to everything", (scaled, mask), part="fully masked rows")


MASKED_WEIGHTS = Exercise(
    id="masking.masked_weights",
    lesson=LESSON,
    name="masked_weights",
    title="Masked weights",
    statement=(
        "masked_weights(scaled [..., queries, keys], mask bool [..., queries, keys]) -> [..., queries, keys]: the "
        "softmax over the keys that each query may attend to, 0 at the others; a row that allows no key is all 0."
    ),
    points=4,
    minutes=15,
    section="Filling with −∞",
    source="S2, masked self-attention; S4, filling with minus infinity",
    reference=masking.masked_weights,
    cases=_masked_cases,
    parts={CORE: 3, "fully masked rows": 1},
    correct=correct.MASKED_WEIGHTS,
    misconceptions=(
        Misconception(
            "nan_where_nothing_is_allowed",
            "Your answer is right as long as a query may attend to something. A row without any allowed key ends in "
            "NaN, which then spreads through the whole model: set such rows to 0.",
            lambda scaled, mask: torch.softmax(_fill(scaled, mask), dim=-1),
        ),
        Misconception(
            "uniform_where_nothing_is_allowed",
            "Your answer is right as long as a query may attend to something. In a row without any allowed key all "
            "scores get the same large negative number, and the forbidden keys equal weights: set such rows to 0.",
            lambda scaled, mask: torch.softmax(_fill(scaled, mask, -1e9), dim=-1),
        ),
        Misconception(
            "filled_not_low_enough",
            "Your answer fills forbidden scores with a number that is not low enough: where the allowed ones lie below "
            "it, the forbidden keys take the weight. Fill with -inf, or torch.finfo(scaled.dtype).min.",
            lambda scaled, mask: torch.softmax(_fill(scaled, mask, -100.0), dim=-1),
        ),
        Misconception(
            "filled_not_low_enough_times_mask",
            "Your answer fills forbidden scores with a number that is not low enough: where the allowed ones lie below "
            "it, the forbidden keys take the weight. Fill with -inf, or torch.finfo(scaled.dtype).min.",
            lambda scaled, mask: torch.softmax(_fill(scaled, mask, -100.0), dim=-1) * mask,
        ),
        Misconception(
            "scores_times_mask",
            "Your answer sets forbidden scores to 0 (multiplying by the mask does that), but exp(0) is 1, so that "
            "forbidden keys still get weight. Fill them with -inf before the softmax.",
            lambda scaled, mask: torch.softmax(scaled * mask, dim=-1),
        ),
        Misconception(
            "masked_after_softmax",
            "Your answer masks after the softmax, so that the rows no longer sum to 1: the forbidden keys have "
            "already taken their share. Mask the scores, before the softmax.",
            lambda scaled, mask: torch.softmax(scaled, dim=-1) * mask,
        ),
        Misconception(
            "mask_ignored",
            "Your answer is the softmax of all the scores, as if nothing were masked. Fill the scores with -inf where "
            "the mask is False, and use the result: masked_fill without an underscore returns a new tensor.",
            lambda scaled, mask: torch.softmax(scaled, dim=-1),
        ),
        Misconception(
            "mask_added",
            "Your answer adds the mask to the scores, as 0 and 1. That only nudges them: fill them with -inf where "
            "the mask is False.",
            lambda scaled, mask: torch.softmax(scaled + mask, dim=-1),
        ),
        Misconception(
            "inverted",
            "Your answer gives weight to the forbidden keys and none to the allowed ones. True means `may attend`: "
            "fill where the mask is False, ~mask.",
            lambda scaled, mask: torch.softmax(_fill(scaled, ~mask), dim=-1),
        ),
        Misconception(
            "inverted_with_a_large_number",
            "Your answer gives weight to the forbidden keys and none to the allowed ones. True means `may attend`: "
            "fill where the mask is False, ~mask.",
            lambda scaled, mask: torch.softmax(_fill(scaled, ~mask, -1e9), dim=-1),
        ),
        Misconception(
            "keys_as_rows",
            "Your answer uses the mask transposed, as slide S3 indexes it, [key, query]. Here its rows are queries, "
            "as those of the scores: use it as it comes.",
            lambda scaled, mask: torch.softmax(_fill(scaled, mask.mT), dim=-1),
        ),
        Misconception(
            "softmax_over_queries",
            "Your answer masks well, but takes the softmax over the queries (dim=-2). Take it over the keys, dim=-1, "
            "so that each row sums to 1.",
            lambda scaled, mask: torch.softmax(_fill(scaled, mask), dim=-2),
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
            "Your answer is NaN everywhere. Does it multiply a mask by -inf? 0 times infinity is NaN, so that what is "
            "allowed becomes NaN, too. Fill instead: scaled.masked_fill(~mask, -math.inf).",
            lambda scaled, mask: torch.softmax(scaled + ~mask * -math.inf, dim=-1),
        ),
        Misconception(
            "softmax_over_the_second_dimension",
            "Your answer takes the softmax over dim=1, which is the keys only for a single sequence. Take the last "
            "dimension, dim=-1.",
            lambda scaled, mask: torch.softmax(_fill(scaled, mask), dim=1).nan_to_num(),
        ),
        Misconception(
            "weights_of_the_allowed_alone",
            "Your answer picks the allowed scores into one row, scaled[mask], and takes their softmax. The result "
            "has the shape of `scaled`, and each row its own softmax: fill the others with -inf.",
            lambda scaled, mask: torch.softmax(scaled[mask], dim=-1),
        ),
    ),
    withheld=WITHHELD,
)


# masking.multiplicative_weights ----------------------------------------------------------------------------


def _multiplicative_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    yield from _scores_and_masks(generator, hidden)
    queries, keys = sizes(generator, 2)
    drawn = Kind("", generator)
    small, mask = drawn.normal(queries, keys), drawn.mask(queries, keys)
    mask[:, 0], mask[:, 1] = True, False
    large = 150.0 + 10 * integer(generator, 0, 11)
    yield Case("scores in the hundreds", (small + large, mask), part="large scores")
    yield Case("scores far below zero", (small - large, mask), part="large scores")
    level = torch.full((queries, 1), large)
    level[0] = -large
    yield Case("one row far below the others", (small + level, mask), part="large scores")
    far = 750 + large
    yield Case("only forbidden scores are in the hundreds", (small + far * ~mask, mask), part="large scores")
    wide = small.clone()
    wide[:, 0] += far
    yield Case("an allowed score far above the rest of its row", (wide, mask), part="large scores")


def _exp_times_mask(shifted: Tensor, mask: Tensor) -> Tensor:
    """exp(shifted) times the mask, divided by each row's sum."""
    kept = torch.exp(shifted) * mask
    return kept / kept.sum(dim=-1, keepdim=True)


def _unkept(shifted: Tensor, mask: Tensor) -> Tensor:
    """The same with the sums of the rows laid beside the columns."""
    kept = torch.exp(shifted) * mask
    return kept / kept.sum(dim=-1)


MULTIPLICATIVE_WEIGHTS = Exercise(
    id="masking.multiplicative_weights",
    lesson=LESSON,
    name="multiplicative_weights",
    title="Weights by multiplication",
    statement=(
        "multiplicative_weights(scaled [..., queries, keys], mask bool [..., queries, keys]) -> [..., queries, keys]: "
        "exp(scaled) times the mask, divided by each row's sum; written with exp, and right for scores in the "
        "hundreds too, those of forbidden keys included."
    ),
    points=3,
    minutes=15,
    section="Multiplying the exponentials",
    source="S3, the causal mask as a factor",
    reference=masking.multiplicative_weights,
    cases=_multiplicative_cases,
    parts={CORE: 2, "large scores": 1},
    correct=correct.MULTIPLICATIVE_WEIGHTS,
    misconceptions=(
        Misconception(
            "large_scores_overflow",
            "Your answer is right for small scores, but exp of a large score is infinite and of a very low one 0, so "
            "that it ends in NaN. Subtract each row's largest allowed score before exp: the weights stay the same.",
            lambda scaled, mask: _exp_times_mask(scaled, mask),
        ),
        Misconception(
            "forbidden_score_far_above",
            "Your answer is right unless a forbidden score is far above its row's allowed ones: then exp leaves only "
            "0 or infinity, and the row becomes NaN. Fill forbidden scores with -inf first, then subtract the row's "
            "largest.",
            lambda scaled, mask: _exp_times_mask(scaled - scaled.amax(dim=-1, keepdim=True), mask),
        ),
        Misconception(
            "one_maximum_for_all_rows",
            "Your answer subtracts one maximum from all rows: a row far below it becomes all 0, and its weights NaN. "
            "Subtract each row's own largest allowed score (dim=-1, keepdim=True).",
            lambda scaled, mask: _exp_times_mask(scaled - scaled.max(), mask),
        ),
        Misconception(
            "scores_times_mask",
            "Your answer multiplies the scores by the mask, but exp(0) is 1, so that forbidden keys still get weight. "
            "Multiply exp of the scores.",
            lambda scaled, mask: torch.softmax(scaled * mask, dim=-1),
        ),
        Misconception(
            "normalised_before_masking",
            "Your answer divides by the sum over all keys, and multiplies by the mask afterwards: the rows no longer "
            "sum to 1. Multiply first, then divide by the sum of what is left.",
            lambda scaled, mask: torch.softmax(scaled, dim=-1) * mask,
        ),
        Misconception(
            "sum_without_keepdim",
            "Your answer divides each column by the sum of a row: without keepdim the sums of the rows are laid beside "
            "the columns. Keep the dimension: sum(dim=-1, keepdim=True).",
            _unkept,
        ),
        Misconception(
            "safe_sum_without_keepdim",
            "Your answer divides each column by the sum of a row: without keepdim the sums of the rows are laid beside "
            "the columns. Keep the dimension in the sum as well: sum(dim=-1, keepdim=True).",
            lambda scaled, mask: _unkept(scaled - _fill(scaled, mask).amax(dim=-1, keepdim=True), mask),
        ),
        Misconception(
            "not_normalised",
            "Your answer is exp of the scores times the mask. Divide each row by its sum.",
            lambda scaled, mask: torch.exp(scaled) * mask,
        ),
        Misconception(
            "mask_ignored",
            "Your answer is the softmax of all the scores, as if nothing were masked. Multiply exp of the scores by "
            "the mask before dividing.",
            lambda scaled, mask: torch.softmax(scaled, dim=-1),
        ),
        Misconception(
            "inverted",
            "Your answer gives weight to the forbidden keys and none to the allowed ones. True means `may attend`: "
            "multiply by the mask as it is.",
            lambda scaled, mask: _exp_times_mask(scaled, ~mask),
        ),
        Misconception(
            "keys_as_rows",
            "Your answer uses the mask transposed, as slide S3 indexes it, [key, query]. Here its rows are queries, "
            "as those of the scores: use it as it comes.",
            lambda scaled, mask: _exp_times_mask(scaled, mask.mT),
        ),
        Misconception(
            "normalised_over_queries",
            "Your answer divides by the sums of the columns (dim=-2). Divide each row by its own sum over the keys, "
            "dim=-1: slide S3 sums over its first index because that is the key there.",
            lambda scaled, mask: torch.exp(scaled) * mask / (torch.exp(scaled) * mask).sum(dim=-2, keepdim=True),
        ),
        Misconception(
            "no_exp",
            "Your answer multiplies the scores by the mask and divides by their sum, without exp. Take exp first, so "
            "that every weight is positive.",
            lambda scaled, mask: scaled * mask / (scaled * mask).sum(dim=-1, keepdim=True),
        ),
        Misconception(
            "maximum_of_scores_times_mask",
            "Your answer takes the largest of scores times mask, in which forbidden keys count as 0. Where all "
            "allowed scores are far below 0 that is too large, and the row becomes NaN. Fill forbidden scores with "
            "-inf, then take the largest.",
            lambda scaled, mask: _exp_times_mask(scaled - (scaled * mask).amax(dim=-1, keepdim=True), mask),
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


def _attend(scaled: Tensor, mask: Tensor, x: Tensor) -> Tensor:
    """The words averaged under a mask, from scaled scores."""
    return torch.softmax(_fill(scaled, mask), dim=-1) @ x


def _self_scores(x: Tensor) -> Tensor:
    return x @ x.mT


def _self_scaled(x: Tensor) -> Tensor:
    return _self_scores(x) / math.sqrt(x.shape[-1])


MASKED_SELF_ATTENTION = Exercise(
    id="masking.masked_self_attention",
    lesson=LESSON,
    name="masked_self_attention",
    title="Masked self-attention",
    statement=(
        "masked_self_attention(x [..., words, d_model], mask bool [..., words, words]) -> [..., words, d_model]: "
        "scaled dot-product attention with q = k = v = x under the mask, with gradients."
    ),
    points=3,
    minutes=10,
    section="Masked self-attention",
    source="S2, the second working example; S4, the cheating problem",
    reference=masking.masked_self_attention,
    cases=_self_attention_cases,
    correct=correct.MASKED_SELF_ATTENTION,
    misconceptions=(
        Misconception(
            "divided_by_number_of_keys",
            "Your answer divides the scores by the number of words. So do the numbers printed on slide S2, which "
            "don't follow the formula beside them: divide by √d_model.",
            lambda x, mask: _attend(_self_scores(x) / x.shape[-2], mask, x),
        ),
        Misconception(
            "unscaled_scores_masked",
            "Your answer masks the unscaled scores, as the line `masked = scores.masked_fill(...)` on slide S2 does; "
            "its printed output follows from that. Mask the scaled ones, the scores divided by √d_model.",
            lambda x, mask: _attend(_self_scores(x), mask, x),
        ),
        Misconception(
            "divided_by_d_model",
            "Your answer divides the scores by d_model, as the formula on slide S1 does. The paper's formula takes "
            "the root: divide by √d_model.",
            lambda x, mask: _attend(_self_scores(x) / x.shape[-1], mask, x),
        ),
        Misconception(
            "root_of_number_of_words",
            "Your answer divides the scores by the root of the number of words. Divide by √d_model, the root of "
            "x.shape[-1].",
            lambda x, mask: _attend(_self_scores(x) / math.sqrt(x.shape[-2]), mask, x),
        ),
        Misconception(
            "scores_times_mask",
            "Your answer sets forbidden scores to 0 (multiplying by the mask does that), but exp(0) is 1, so that "
            "forbidden words still get weight. Fill them with -inf before the softmax.",
            lambda x, mask: torch.softmax(_self_scaled(x) * mask, dim=-1) @ x,
        ),
        Misconception(
            "masked_after_softmax",
            "Your answer masks after the softmax, so that the weights no longer sum to 1. Mask the scores, before "
            "the softmax.",
            lambda x, mask: torch.softmax(_self_scaled(x), dim=-1) * mask @ x,
        ),
        Misconception(
            "mask_ignored",
            "Your answer attends to every word, as if nothing were masked. Fill the scores with -inf where the mask "
            "is False, and use the result: masked_fill without an underscore returns a new tensor.",
            lambda x, mask: torch.softmax(_self_scaled(x), dim=-1) @ x,
        ),
        Misconception(
            "always_causal",
            "Your answer makes a causal mask of its own and ignores the one it is given. Use the argument: the mask "
            "may be any.",
            lambda x, mask: _attend(_self_scaled(x), torch.ones_like(mask).tril(), x),
        ),
        Misconception(
            "inverted",
            "Your answer attends to the forbidden words and to none of the allowed ones. True means `may attend`: "
            "fill where the mask is False, ~mask.",
            lambda x, mask: _attend(_self_scaled(x), ~mask, x),
        ),
        Misconception(
            "inverted_with_a_large_number",
            "Your answer attends to the forbidden words and to none of the allowed ones. True means `may attend`: "
            "fill where the mask is False, ~mask.",
            lambda x, mask: torch.softmax(_fill(_self_scaled(x), ~mask, -1e9), dim=-1) @ x,
        ),
        Misconception(
            "keys_as_rows",
            "Your answer uses the mask transposed, as slide S3 indexes it, [key, query]. Here its rows are queries: "
            "use it as it comes.",
            lambda x, mask: _attend(_self_scaled(x), mask.mT, x),
        ),
        Misconception(
            "softmax_over_queries",
            "Your answer takes the softmax over the queries (dim=-2). Take it over the keys, dim=-1, so that each "
            "word's weights sum to 1.",
            lambda x, mask: torch.softmax(_fill(_self_scaled(x), mask), dim=-2) @ x,
        ),
        Misconception(
            "weights_detached",
            "The values are right, but the gradient stops at your weights: they are detached from the graph "
            "(.detach(), .data, numpy or no_grad), and only the values could learn.",
            lambda x, mask: torch.softmax(_fill(_self_scaled(x), mask), dim=-1).detach() @ x,
        ),
        Misconception(
            "no_gradients",
            "The values are right, but no gradient reaches x: the computation leaves torch somewhere (.detach(), "
            ".data, numpy, torch.tensor(...) or no_grad). Use torch operations from x to the end.",
            lambda x, mask: _attend(_self_scaled(x), mask, x).detach(),
        ),
        Misconception(
            "zero_times_infinity",
            "Your answer is NaN everywhere. Does it multiply a mask by -inf? 0 times infinity is NaN, so that what is "
            "allowed becomes NaN, too. Fill instead: scaled.masked_fill(~mask, -math.inf).",
            lambda x, mask: torch.softmax(_self_scaled(x) + ~mask * -math.inf, dim=-1) @ x,
        ),
        Misconception(
            "causal_too",
            "Your answer makes a causal mask of its own besides the one that it is given. Use `mask` as it is; it "
            "may allow anything.",
            lambda x, mask: (
                torch.softmax(_fill(_self_scaled(x), mask & torch.ones_like(mask).tril()), dim=-1).nan_to_num() @ x
            ),
        ),
        Misconception(
            "root_of_first_dimension",
            "Your answer divides by the root of len(x), the number of words, or of sequences in a batch. d_model is "
            "the last dimension, x.shape[-1].",
            lambda x, mask: _attend(_self_scores(x) / math.sqrt(len(x)), mask, x),
        ),
        Misconception(
            "root_of_second_dimension",
            "Your answer divides by the root of x.shape[1], which is d_model only for a single sequence. d_model is "
            "x.shape[-1].",
            lambda x, mask: _attend(_self_scores(x) / math.sqrt(x.shape[1]), mask, x),
        ),
        Misconception(
            "scaled_after_softmax",
            "Your answer divides the weights by √d_model, after the softmax. Divide the scores, before it.",
            lambda x, mask: _attend(_self_scores(x), mask, x) / math.sqrt(x.shape[-1]),
        ),
        Misconception(
            "softmax_over_the_second_dimension",
            "Your answer takes the softmax over dim=1, which is the keys only for a single sequence. Take the last "
            "dimension, dim=-1.",
            lambda x, mask: torch.softmax(_fill(_self_scaled(x), mask), dim=1) @ x,
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
            lambda lengths, max_length: torch.arange(max_length) >= lengths.unsqueeze(-1),
        ),
        Misconception(
            "one_too_many",
            "Your mask allows one position too many in each row. Positions are counted from 0, so the words of a row "
            "are those below its length: < rather than <=.",
            lambda lengths, max_length: torch.arange(max_length) <= lengths.unsqueeze(-1),
        ),
        Misconception(
            "one_too_few",
            "Your mask forbids the last word of each row. The words are at positions 0 to length - 1, all included.",
            lambda lengths, max_length: torch.arange(max_length) < lengths.unsqueeze(-1) - 1,
        ),
        Misconception(
            "padding_in_front",
            "Your mask puts the padding in front of the words. Here the words come first and the padding is behind "
            "them.",
            lambda lengths, max_length: torch.arange(max_length) >= max_length - lengths.unsqueeze(-1),
        ),
        Misconception(
            "batch_as_columns",
            "Your mask is transposed, [max_length, batch]. One row for each sequence: [batch, max_length].",
            lambda lengths, max_length: torch.arange(max_length).unsqueeze(-1) < lengths,
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
            lambda lengths, max_length: torch.arange(int(lengths.max())) < lengths.unsqueeze(-1),
        ),
        Misconception(
            "zeros_and_ones",
            "The entries are right, but they are the numbers 0.0 and 1.0. A mask is boolean: end with .bool(), or "
            "keep the result of the comparison.",
            lambda lengths, max_length: masking.padding_mask(lengths, max_length).float(),
        ),
        Misconception(
            "integers",
            "The entries are right, but they are the integers 0 and 1. A mask is boolean: end with .bool(), or keep "
            "the result of the comparison.",
            lambda lengths, max_length: masking.padding_mask(lengths, max_length).long(),
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
            lambda lengths, max_length: (
                masking.padding_mask(lengths, max_length).unsqueeze(1).expand(-1, max_length, -1)
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
            lambda causal, padding: causal | padding.unsqueeze(-2),
        ),
        Misconception(
            "padding_of_the_queries",
            "Your mask applies the padding to the queries (rows). It says which keys may be attended to, so it "
            "belongs to the columns: padding.unsqueeze(-2), or padding[:, None, :].",
            lambda causal, padding: causal & padding.unsqueeze(-1),
        ),
        Misconception(
            "padding_of_both",
            "Your mask applies the padding to the queries as well as to the keys, which leaves the rows of padding "
            "without any key. Forbid only the keys: what a padding query returns is never used.",
            lambda causal, padding: causal & padding.unsqueeze(-2) & padding.unsqueeze(-1),
        ),
        Misconception(
            "only_causal",
            "Your mask follows the causal rule only, and still allows padding. Forbid that too.",
            lambda causal, padding: causal.expand(len(padding), *causal.shape),
        ),
        Misconception(
            "only_padding",
            "Your mask forbids padding only, and still allows the future. Apply the causal rule too.",
            lambda causal, padding: padding.unsqueeze(-2).expand(-1, causal.shape[0], -1),
        ),
        Misconception(
            "padding_allowed",
            "Your mask allows the padding and forbids the words. `padding` is True at the words, as every mask in this "
            "course is where one may attend: leave out the ~.",
            lambda causal, padding: causal & ~padding.unsqueeze(-2),
        ),
        Misconception(
            "batch_in_the_middle",
            "Your mask is [queries, batch, keys]. The batch comes first: put the new dimension into padding, not into "
            "causal.",
            lambda causal, padding: causal.unsqueeze(-2) & padding,
        ),
        Misconception(
            "first_sequence_for_all",
            "Your mask uses the first sequence's padding for the whole batch. Each sequence has a row of its own.",
            lambda causal, padding: (causal & padding[0]).expand(len(padding), *causal.shape),
        ),
        Misconception(
            "inverted",
            "Your mask is True where attention is forbidden. In this course True means `may attend`, in both masks "
            "that come in and in the one that goes out.",
            lambda causal, padding: ~(causal & padding.unsqueeze(-2)),
        ),
        Misconception(
            "zeros_and_ones",
            "The entries are right, but they are the numbers 0.0 and 1.0. Combine booleans with &, or end with "
            ".bool().",
            lambda causal, padding: causal.float() * padding.unsqueeze(-2).float(),
        ),
        Misconception(
            "integers",
            "The entries are right, but they are the integers 0 and 1. Combine booleans with &, or end with .bool().",
            lambda causal, padding: causal.long() * padding.unsqueeze(-2).long(),
        ),
    ),
    withheld=WITHHELD,
)


# masking.attention_pooling ---------------------------------------------------------------------------------


def _pooling_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(
            f"{B.name} beside its own first 3 words",
            (torch.stack([B.q, B.q]), masking.padding_mask(torch.tensor([4, 3]), 4)),
            construct={"d_model": 2},
            weights={"query": torch.tensor([0.5, -0.5])},
            weight_gradients=True,
        )
    for name, transposed in (("a batch", False), ("another batch", False), ("transposed in memory", True)):
        batch, words = integer(generator, 3, 5), integer(generator, 5, 8)
        kind = Kind(name, generator, (batch,), transposed=transposed)
        d_model = kind.d_head()
        yield Case(
            name,
            (kind.normal(words, d_model), _padding(generator, batch, words)),
            construct={"d_model": d_model},
            weights={"query": torch.randn(d_model, generator=generator)},
            gradients=(0,),
            weight_gradients=True,
        )


def _pooling_scaled(x: Tensor, query: Tensor) -> Tensor:
    return x @ query / math.sqrt(x.shape[-1])


def _pooled(scaled: Tensor, mask: Tensor, x: Tensor) -> Tensor:
    """The words averaged under a mask, from scaled scores [batch, words]."""
    return (torch.softmax(_fill(scaled, mask), dim=-1).unsqueeze(-1) * x).sum(dim=1)


ATTENTION_POOLING = Exercise(
    id="masking.attention_pooling",
    lesson=LESSON,
    name="AttentionPooling",
    title="Attention pooling",
    statement=(
        "class AttentionPooling(nn.Module): __init__(d_model) makes the parameter `query` [d_model]; forward(x "
        "[batch, words, d_model], mask bool [batch, words]) -> [batch, d_model] is scaled dot-product attention from "
        "that one query to the words, padding masked out, with gradients."
    ),
    points=4,
    minutes=20,
    section="One vector for a whole sentence",
    source="S1, attention in general; S3, mean pooling",
    reference=masking.AttentionPooling,
    cases=_pooling_cases,
    correct=correct.ATTENTION_POOLING,
    misconceptions=(
        Misconception(
            "padding_counted",
            "Your answer gives weight to padding: the mask is not used. Fill the scores with -inf where it is False.",
            pooling(lambda x, mask, query: _pooled(_pooling_scaled(x, query), torch.ones_like(mask), x)),
        ),
        Misconception(
            "inverted",
            "Your answer gives weight to the padding and none to the words. True means `may attend`: fill where the "
            "mask is False, ~mask.",
            pooling(lambda x, mask, query: _pooled(_pooling_scaled(x, query), ~mask, x)),
        ),
        Misconception(
            "inverted_with_a_large_number",
            "Your answer gives weight to the padding and none to the words. True means `may attend`: fill where the "
            "mask is False, ~mask.",
            pooling(
                lambda x, mask, query: (
                    torch.softmax(_fill(_pooling_scaled(x, query), ~mask, -1e9), dim=-1).unsqueeze(-1) * x
                ).sum(dim=1)
            ),
        ),
        Misconception(
            "mean_pooling",
            "Your answer is the plain mean of the words, and the query plays no part. Weight the words by the softmax "
            "of their scaled dot products with the query.",
            pooling(lambda x, mask, query: (x * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)),
        ),
        Misconception(
            "mean_pooling_with_padding",
            "Your answer is the plain mean over all positions, padding included, as on slide S3. Weight the words by "
            "the softmax of their scaled dot products with the query, with padding masked out.",
            pooling(lambda x, mask, query: x.mean(dim=1)),
        ),
        Misconception(
            "not_scaled",
            "Your answer takes the softmax of the unscaled dot products. Divide them by √d_model first.",
            pooling(lambda x, mask, query: _pooled(x @ query, mask, x)),
        ),
        Misconception(
            "divided_by_d_model",
            "Your answer divides the scores by d_model, as the formula on slide S1 does. The paper's formula takes "
            "the root: divide by √d_model.",
            pooling(lambda x, mask, query: _pooled(x @ query / len(query), mask, x)),
        ),
        Misconception(
            "root_of_number_of_words",
            "Your answer divides the scores by the root of the number of words. Divide by √d_model, the root of "
            "x.shape[-1].",
            pooling(lambda x, mask, query: _pooled(x @ query / math.sqrt(x.shape[1]), mask, x)),
        ),
        Misconception(
            "scores_times_mask",
            "Your answer sets the scores of padding to 0 (multiplying by the mask does that), but exp(0) is 1, so that "
            "padding still gets weight. Fill them with -inf before the softmax.",
            pooling(
                lambda x, mask, query: _pooled(_pooling_scaled(x, query) * mask, torch.ones_like(mask), x),
            ),
        ),
        Misconception(
            "masked_after_softmax",
            "Your answer masks after the softmax, so that the weights of a padded sequence no longer sum to 1. Mask "
            "the scores, before the softmax.",
            pooling(
                lambda x, mask, query: _pooled(_pooling_scaled(x, query), torch.ones_like(mask), x * mask.unsqueeze(-1))
            ),
        ),
        Misconception(
            "softmax_over_the_batch",
            "Your answer takes the softmax over the batch (dim=0), which mixes different sequences. Take it over the "
            "words, dim=-1 of the scores [batch, words].",
            pooling(
                lambda x, mask, query: (
                    torch.softmax(_fill(_pooling_scaled(x, query), mask, -1e9), dim=0).unsqueeze(1) @ x
                ).squeeze(1)
            ),
        ),
        Misconception(
            "weighted_mean",
            "Your answer takes the mean of the weighted words (or divides by their number). The weights sum to 1 "
            "already: add the weighted words up.",
            pooling(lambda x, mask, query: _pooled(_pooling_scaled(x, query), mask, x) / x.shape[1]),
        ),
        Misconception(
            "dimension_kept",
            "Your answer is [batch, 1, d_model]: the dimension of the single query is still there. Remove it with "
            "squeeze(1).",
            pooling(lambda x, mask, query: _pooled(_pooling_scaled(x, query), mask, x).unsqueeze(1)),
        ),
        Misconception(
            "query_detached",
            "The values are right, but no gradient reaches `query`: somewhere you use query.data, query.detach() or "
            "torch.tensor(query). Use the parameter itself, or it can never be learned.",
            pooling(lambda x, mask, query: _pooled(_pooling_scaled(x, query.detach()), mask, x)),
        ),
        Misconception(
            "weights_detached",
            "The values are right, but the gradient stops at your weights: they are detached from the graph "
            "(.detach(), .data, numpy or no_grad), so that `query` can never be learned.",
            pooling(
                lambda x, mask, query: _pooled(_pooling_scaled(x, query).detach(), mask, x),
            ),
        ),
        Misconception(
            "softmax_left_out",
            "Your answer weighs the words by their scores themselves. Take the softmax of the scores first.",
            pooling(lambda x, mask, query: (_fill(_pooling_scaled(x, query), mask, 0.0).unsqueeze(-1) * x).sum(dim=1)),
        ),
        Misconception(
            "zero_times_infinity",
            "Your answer is NaN everywhere. Does it multiply a mask by -inf? 0 times infinity is NaN, so that what is "
            "allowed becomes NaN, too. Fill instead: scores.masked_fill(~mask, -math.inf).",
            pooling(
                lambda x, mask, query: _pooled(_pooling_scaled(x, query) + ~mask * -math.inf, torch.ones_like(mask), x)
            ),
        ),
        Misconception(
            "sum_of_queries_and_words",
            "Your answer adds the query to each word. A score is their dot product: x @ query.",
            pooling(lambda x, mask, query: _pooled((x + query).sum(dim=-1) / math.sqrt(x.shape[-1]), mask, x)),
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
