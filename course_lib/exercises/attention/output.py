"""Lesson 01, attention.output: Weighted values."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib import attention
from course_lib.exercises.attention.shared import LESSON, WITHHELD, all_alike
from course_lib.exercises.common import and_turned_around, kinds
from course_lib.exercises.worked_examples import A
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import Case, Exercise, Hint, Misconception


def _output_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(A.name, (A.steps.alpha, A.v))
    for kind in kinds(generator):
        queries, keys, d_value = kind.sizes(3)
        alpha, v = torch.softmax(kind.normal(queries, keys), dim=-1), kind.normal(keys, d_value)
        yield Case(kind.name, (alpha, v), gradients=() if kind.leading else (0, 1))
    kind = all_alike(generator)
    (n,) = kind.leading
    yield Case(kind.name, (torch.softmax(kind.normal(n, n), dim=-1), kind.normal(n, n)))


def _averaged(alpha: Tensor, v: Tensor) -> Tensor:
    out = alpha @ v
    return out


_slip = partial(Edited, _averaged)


def _output_by_loop(alpha: Tensor, v: Tensor) -> Tensor:
    rows = []
    for query in range(alpha.shape[-2]):
        row = torch.zeros_like(v[..., 0, :])
        for key in range(v.shape[-2]):
            row += alpha[..., query, key, None] * v[..., key, :]
        rows.append(row)
    return torch.stack(rows, dim=-2)


EXERCISE = Exercise(
    id="attention.output",
    lesson=LESSON,
    name="weighted_values",
    title="Weighted values",
    statement=(
        "weighted_values(alpha [..., queries, keys], v [..., keys, d_value]) -> [..., queries, d_value]: for each "
        "query the sum of the values, each times its weight."
    ),
    points=1,
    minutes=5,
    difficulty=1,
    importance=5,
    section="Output",
    source="S2, Attention: Working Example",
    reference=attention.weighted_values,
    cases=and_turned_around(_output_cases),
    correct=(
        _averaged,
        _output_by_loop,
        lambda alpha, v: (v.transpose(-2, -1) @ alpha.transpose(-2, -1)).transpose(-2, -1),
    ),
    hints=(
        Hint(
            "idea",
            "Which dimension is averaged away? The one that `alpha` and `v` share, the keys. A product of two "
            "matrices sums over exactly such a dimension.",
        ),
    ),
    misconceptions=(
        Misconception(
            "plain_mean",
            "Your answer is the plain mean of the values, the same for every query. Weight each value by the query's "
            "alpha.",
            _slip(("alpha @", "torch.full_like(alpha, 1 / alpha.shape[-1]) @")),
        ),
        Misconception(
            "only_the_largest",
            "Your answer picks the one value with the largest weight. Every value contributes, as much as its weight.",
            _slip(("alpha @", "(alpha == alpha.amax(dim=-1, keepdim=True)).to(alpha.dtype) @")),
        ),
        Misconception(
            "softmax_again",
            "Your answer takes the softmax of alpha once more, which flattens the weights. They already sum to 1.",
            _slip(("alpha @", "torch.softmax(alpha, dim=-1) @")),
        ),
        Misconception(
            "divided_by_number_of_keys",
            "Your answer takes the mean over the keys (or divides by their number) where the weighted values should "
            "be summed. The weights already sum to 1: nothing is left to divide by.",
            _slip(("alpha @", "alpha / alpha.shape[-1] @")),
        ),
        Misconception(
            "summed_over_queries",
            "Your answer also sums over the queries, so only one row is left. Each query keeps a row of its own: "
            "[..., queries, d_value].",
            _slip(("return out", "return out.sum(dim=-2)")),
        ),
        Misconception(
            "not_summed",
            "Your answer multiplies each value by its weight, [..., queries, keys, d_value], but doesn't add them up. "
            "Sum over the keys.",
            lambda alpha, v: alpha.unsqueeze(-1) * v.unsqueeze(-3),
        ),
        Misconception(
            "queries_as_columns",
            "Your answer is transposed, [..., d_value, queries]. A row belongs to a query: alpha v.",
            _slip(("return out", "return out.mT")),
        ),
        Misconception(
            "first_query_everywhere",
            "Every row of your answer is the first query's. The expanded matrix on slide S2 has the same slip: row i "
            "is made with row i of alpha.",
            _slip(("alpha @", "alpha[..., :1, :].expand_as(alpha) @")),
        ),
        Misconception(
            "weights_cut_to_two_decimals",
            "Your answer cuts alpha to two decimals before using it, as slide S2 prints it. Keep every digit: "
            "round when you print, never in between.",
            _slip(("alpha @", "torch.trunc(alpha * 100) / 100 @")),
        ),
        Misconception(
            "result_cut_to_two_decimals",
            "Your answer is cut to two decimals, as slide S2 prints it. Keep every digit: round when you print.",
            _slip(("return out", "return torch.trunc(out * 100) / 100")),
        ),
        Misconception(
            "columns_sum_to_1",
            "Your answer divides alpha by the sums of its columns first. Its rows already sum to 1, one row for each "
            "query: use them as they are.",
            _slip(("alpha @", "alpha / alpha.sum(dim=-2, keepdim=True) @")),
        ),
        Misconception(
            "alpha_transposed",
            "Your answer transposes alpha, which fits only where there are as many queries as keys. A row of alpha "
            "belongs to a query: alpha @ v.",
            _slip(("alpha @", "alpha.mT @")),
        ),
        Misconception(
            "values_first",
            "Your answer is v @ alpha. The weights come first: alpha @ v, where alpha's columns meet the rows of v.",
            lambda alpha, v: v @ alpha,
        ),
        Misconception(
            "elementwise",
            "Your answer multiplies alpha and v entry by entry. Multiply each value by its weight and sum over the "
            "keys, which is a matrix product: alpha @ v.",
            lambda alpha, v: alpha * v,
        ),
    ),
    withheld=WITHHELD,
)
