"""Lesson 01, attention.weights: Attention weights."""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib import attention
from course_lib.exercises.common import and_turned_around, hints, integer, kinds, sizes, slips
from course_lib.exercises.worked_examples import A
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.judging.ready_made import SOFTMAX


def _weights_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(A.name, (A.steps.scaled,), entrywise=True)
    for kind in kinds(generator):
        queries, keys = kind.sizes(2)
        yield Case(kind.name, (kind.normal(queries, keys),), entrywise=True, gradients=() if kind.leading else (0,))
    (words,) = sizes(generator, 1)
    yield Case("as many queries as keys", (torch.randn(words, words, generator=generator),), entrywise=True)
    queries, keys = sizes(generator, 2)
    small = torch.randn(queries, keys, generator=generator)
    large = 150.0 + 10 * integer(generator, 0, 11)
    yield Case("scores in the hundreds", (small + large,), part="large scores")
    yield Case("scores far below zero", (small - large,), part="large scores")
    yield Case(
        "a row in the hundreds above a row far below zero",
        (torch.stack([small[0] + large, small[1] - large]),),
        part="large scores",
    )
    wide = torch.randn(queries, integer(generator, 8, 11), generator=generator)
    query = torch.arange(queries)
    wide[query, query + 1] += 1500.0
    yield Case("in each row one score far above the rest", (wide,), part="large scores")
    yield Case("in each row one score far below the rest", (-wide,), part="large scores")


def _weights(scaled: Tensor) -> Tensor:
    largest = scaled.amax(dim=-1, keepdim=True)
    exps = torch.exp(scaled - largest)
    total = exps.sum(dim=-1, keepdim=True)
    return exps / total


_slips = partial(slips, _weights)
_LARGEST, _SUM = "scaled.amax(dim=-1, keepdim=True)", "exps.sum(dim=-1, keepdim=True)"


def _weights_by_loop(scaled: Tensor) -> Tensor:
    exps = [torch.exp(row - max(row)) for row in scaled.reshape(-1, scaled.shape[-1])]
    return torch.stack([row / sum(row) for row in exps]).reshape(scaled.shape)


EXERCISE = Exercise(
    id="attention.weights",
    title="Attention weights",
    statement=(
        "attention_weights(scaled [..., queries, keys]) -> [..., queries, keys]: the softmax of each row, so that a "
        "query's weights sum to 1 over the keys; written with exp, and correct for scores in the hundreds and for rows "
        "whose scores are far apart."
    ),
    minutes=12,
    difficulty=3,
    importance=5,
    section="Weights",
    source="S2, Attention: Working Example; S3, normalized attention weights",
    reference=attention.attention_weights,
    cases=and_turned_around(_weights_cases),
    parts={CORE: 2, "large scores": 1},
    correct=(
        _weights,
        _weights_by_loop,
        lambda scaled: torch.exp(scaled - torch.logsumexp(scaled, dim=-1, keepdim=True)),
    ),
    hints=hints(
        idea=(
            "Subtracting the same number from all scores of a row doesn't change its softmax. Subtract the row's "
            "largest score: then every exponent is at most 0, and nothing can overflow."
        ),
        shapes=(
            "A sum or maximum over the keys has shape `[..., queries]`, which broadcasting aligns with the wrong "
            "dimension. With `keepdim=True`, its shape is `[..., queries, 1]`: one number for each row.",
            ("safe_sum_without_keepdim", "maximum_without_keepdim", "normalised_over_queries", "sum_over_queries"),
        ),
        outline=(
            "Find the largest score of each row: take the maximum over the last dimension, keeping the dimension.\n"
            "Subtract that score from the row and take `exp`.\n"
            "Sum each row, keeping the dimension.\n"
            "Divide."
        ),
    ),
    misconceptions=(
        *_slips(
            large_scores_overflow=(
                "Your answer works for small scores. But exp overflows for large scores and underflows for very low "
                "ones, so you get NaN. Subtract each row's largest score before exp: the weights stay the same.",
                ("scaled - largest", "scaled"),
            ),
            one_maximum_for_all_rows=(
                "Your answer subtracts one maximum from all rows. If the scores of a row are far below that maximum, "
                "every exp in it is 0, and its weights are NaN. Subtract each row's own largest score (dim=-1, "
                "keepdim=True).",
                (_LARGEST, "scaled.max()"),
            ),
            nan_to_zero=(
                "Your answer replaces NaN with 0 afterward, so a row of large scores ends up with no weights. Prevent "
                "the NaN: subtract each row's largest score before exp.",
                ("scaled - largest", "scaled"),
                ("return exps / total", "return torch.nan_to_num(exps / total)"),
            ),
            overflows_far_above=(
                "Your answer is NaN where one score is far above the rest of its row, because its exp overflows. "
                "Subtract the row's largest score before exp: then no exp is larger than 1.",
                (_LARGEST, "scaled[..., :1]"),
            ),
            largest_never_below_zero=(
                "Your answer is NaN where all scores of a row are far below 0: it subtracts 0 there, as if your "
                "search for the maximum started at 0. Subtract the row's largest score, which amax returns.",
                (_LARGEST, f"{_LARGEST}.clamp(min=0)"),
            ),
            one_sum_for_everything=(
                "Your answer divides by the sum of the whole tensor. Divide every row by its own sum (dim=-1, "
                "keepdim=True).",
                (_SUM, "exps.sum()"),
            ),
            safe_sum_without_keepdim=(
                "Your answer divides each column by the sum of a row: without keepdim, the row sums line up with the "
                "columns. Keep the dimension: sum(dim=-1, keepdim=True).",
                (_SUM, "exps.sum(dim=-1)"),
            ),
            too_little_subtracted=(
                "Your answer subtracts less than each row's largest score (its mean or minimum, for example), so a "
                "score far above that number still overflows. Subtract the largest score: then no exp is larger than "
                "1.",
                (_LARGEST, "scaled.mean(dim=-1, keepdim=True)"),
            ),
            maximum_without_keepdim=(
                "Your answer subtracts a row's maximum from each column: without keepdim=True, the maxima, [queries], "
                "line up with the keys. Keep the dimension.",
                (_LARGEST, "scaled.amax(dim=-1)"),
            ),
            small_number_added_1e_8=(
                "Your answer adds a small number to the sum, so the weights don't quite sum to 1. Leave that number "
                "out: once you subtract the row's largest score, the sum is at least 1.",
                (_SUM, f"{_SUM} + 1e-8"),
            ),
            normalised_over_queries=(
                "Your answer's columns sum to 1: it normalizes over the queries (dim=-2). Normalize over the keys, "
                "dim=-1, so that every row sums to 1.",
                lambda scaled: torch.softmax(scaled, dim=-2),
            ),
            normalised_over_the_second_dimension=(
                "Your answer normalizes over dim=1, which is the dimension of the keys only for a single sequence. "
                "Use the last dimension: dim=-1.",
                lambda scaled: torch.softmax(scaled, dim=1),
            ),
        ),
        *_slips(
            paired=False,
            sum_over_queries=(
                "Your answer divides by the sums of the columns (dim=-2). Sum over the keys, dim=-1, as you do for "
                "the maximum.",
                (_SUM, "exps.sum(dim=-2, keepdim=True)"),
            ),
            not_normalised=(
                "Your answer is exp of the scores. Divide each row by its sum, so that a query's weights sum to 1.",
                ("scaled - largest", "scaled"),
                (" / total", ""),
            ),
            no_exp=(
                "Your answer leaves out exp, so weights can be negative or above 1. Take exp before you divide.",
                lambda scaled: scaled / scaled.sum(dim=-1, keepdim=True),
            ),
            sigmoid=(
                "Your answer applies a sigmoid to each score, so rows don't sum to 1. Take a softmax, which divides "
                "exp of each score by the sum of exp over its row.",
                torch.sigmoid,
            ),
        ),
    ),
    forbidden=(SOFTMAX,),
)
