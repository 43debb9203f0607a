"""Lesson 01, attention.scaled_dot_product: Scaled dot-product attention."""

import math
from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib import attention
from course_lib.exercises.attention.shared import all_alike, wrong_divisors, wrong_transposes
from course_lib.exercises.common import and_turned_around, hints, kinds, slips
from course_lib.exercises.worked_examples import A
from course_lib.judging.exercise import Case, Exercise
from course_lib.judging.ready_made import FUSED_ATTENTION


def _attention_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(A.name, (A.q, A.k, A.v))
    for kind in kinds(generator):
        queries, keys, d_value = kind.sizes(3)
        d_head = kind.d_head()
        if not kind.leading:
            d_value += d_head  # values may be longer than queries and keys
        q, k, v = kind.normal(queries, d_head), kind.normal(keys, d_head), kind.normal(keys, d_value)
        # of a single key the weight is 1 whatever its score, and rounding is all there is of a gradient
        yield Case(kind.name, (q, k, v), gradients=() if kind.ones else (0, 1, 2))
    kind = all_alike(generator)
    (n,) = kind.leading
    yield Case(kind.name, (kind.normal(n, n), kind.normal(n, n), kind.normal(n, n)), gradients=(0, 1, 2))


def _attended(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    d_head = q.shape[-1]
    scores = q @ k.mT
    scaled = scores / math.sqrt(d_head)
    alpha = torch.softmax(scaled, dim=-1)
    out = alpha @ v
    return out


_slips = partial(slips, _attended)

_SOFTMAX = "torch.softmax(scaled, dim=-1)"


def _attention_by_loop(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    if q.ndim > 2:
        return torch.stack([_attention_by_loop(*sequence) for sequence in zip(q, k, v, strict=True)])
    rows = []
    for query in q:
        exps = [torch.exp(torch.dot(query, key) / math.sqrt(len(query))) for key in k]
        rows.append(torch.stack([e / sum(exps) * value for e, value in zip(exps, v, strict=True)]).sum(dim=0))
    return torch.stack(rows)


def _attention_in_chunks_of_keys(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    total, result = torch.zeros((), dtype=q.dtype), torch.zeros((), dtype=v.dtype)
    for keys, values in zip(k.split(2, dim=-2), v.split(2, dim=-2), strict=True):
        exps = torch.exp(q @ keys.transpose(-1, -2) / math.sqrt(q.shape[-1]))
        total, result = total + exps.sum(dim=-1, keepdim=True), result + exps @ values
    return result / total


EXERCISE = Exercise(
    id="attention.scaled_dot_product",
    title="Scaled dot-product attention",
    statement=(
        "scaled_dot_product_attention(q [..., queries, d_head], k [..., keys, d_head], v [..., keys, d_value]) -> "
        "[..., queries, d_value]: softmax(q kᵀ / √d_head) v, for any leading dimensions and with gradients."
    ),
    points=4,
    minutes=15,
    difficulty=3,
    importance=5,
    section="Scaled dot-product attention",
    source="Vaswani et al. (2017), section 3.2.1; S2, Scaled Dot-Product",
    reference=attention.scaled_dot_product_attention,
    cases=and_turned_around(_attention_cases),
    correct=(_attended, _attention_by_loop, _attention_in_chunks_of_keys),
    steps=("scores", "scaled", "alpha"),
    hints=hints(
        idea=(
            "Combine four steps that you already wrote: compare queries with keys, scale, take the softmax over the "
            "keys, and average the values. `d_head` is the number of components of a query."
        ),
        shapes=(
            "Scores and weights have shape `[..., queries, keys]`: there is one row per query, and each row of "
            "weights sums to 1. `d_head` is the size of the last dimension of `q`; the dimension before it counts the "
            "queries. You need the values only at the end.",
            ("softmax_over_queries", "root_of_d_value", "divided_by_number_of_keys", "root_of_number_of_keys"),
        ),
        outline=(
            "Compute the scores: queries times keys, with the last two dimensions of `k` swapped.\n"
            "Divide by the square root of the size of `q`'s last dimension.\n"
            "Take the softmax over the last dimension, the keys.\n"
            "Multiply the weights by the values.",
            (
                "scaled_after_softmax",
                "divided_by_d_head",
                "divided_by_twice_d_head",
                "multiplied",
                "all_dimensions_reversed",
                "reshaped_not_transposed",
            ),
        ),
    ),
    misconceptions=(
        *wrong_divisors(_attended),
        *_slips(
            unscaled_softmax=(
                "Your answer takes the softmax of the unscaled scores. Divide the scores by √d_head first.",
                (" / math.sqrt(d_head)", ""),
            ),
            multiplied=(
                "Your answer multiplies the scores by √d_head. Divide the scores by √d_head, so that the softmax "
                "doesn't saturate.",
                ("scores / ", "scores * "),
            ),
            no_softmax=(
                "Your answer weights the values by the scores. Take the softmax of the scores over the keys first.",
                (_SOFTMAX, "scaled"),
            ),
            softmax_over_queries=(
                "Your answer takes the softmax over the queries (dim=-2). Take the softmax over the keys: dim=-1.",
                ("dim=-1", "dim=-2"),
            ),
            keys_as_values=(
                "Your answer averages the keys. Average the values, v: the keys only help compute the weights.",
                ("@ v", "@ k"),
            ),
            values_as_keys=(
                "Your answer compares the queries with the values. Compare the queries with the keys: q @ k.mT.",
                ("k.mT", "v.mT"),
            ),
            keys_ask=(
                "Your answer multiplies k by q transposed. Each row belongs to a query: q @ k.transpose(-2, -1).",
                ("q @ k.mT", "k @ q.mT"),
            ),
            transposed=(
                "Your answer is transposed, [..., d_value, queries]. Each row belongs to a query: return weights @ v.",
                ("return out", "return out.mT"),
            ),
            weights_detached=(
                "The gradient stops at your weights. Look for .detach(), .data, numpy or no_grad.",
                ("dim=-1)", "dim=-1).detach()"),
            ),
            no_gradients=(
                "No gradient reaches q, k or v. Look for .detach(), .data, numpy, torch.tensor(...) or no_grad.",
                ("return out", "return out.detach()"),
            ),
            weights_returned=(
                "Your answer returns the weights. Multiply the weights by the values: weights @ v.",
                (" @ v", ""),
            ),
        ),
        *_slips(
            paired=False,
            root_of_d_value=(
                "Your answer divides the scores by the square root of the dimension of the values. Scores are dot "
                "products of queries and keys: divide by the square root of their dimension, q.shape[-1].",
                ("q.shape[-1]", "v.shape[-1]"),
            ),
            scaled_after_softmax=(
                "Your answer divides by √d_head after the softmax. Divide the scores before the softmax.",
                (" / math.sqrt(d_head)", ""),
                ("alpha @ v", "alpha / math.sqrt(d_head) @ v"),
            ),
            softmax_over_the_first_dimension=(
                "Your answer takes the softmax over the first dimension. Take the softmax over the keys, the last "
                "dimension: dim=-1.",
                ("dim=-1", "dim=0"),
            ),
            softmax_over_the_second_dimension=(
                "Your answer takes the softmax over dim=1, which isn't always the dimension of the keys. Use the last "
                "dimension: dim=-1.",
                ("dim=-1", "dim=1"),
            ),
            softmax_twice=(
                "Your answer takes the softmax twice, which flattens the weights. Take it once.",
                (_SOFTMAX, "torch.softmax(torch.softmax(scaled, dim=-1), dim=-1)"),
            ),
            log_softmax=(
                "Your answer weights the values by logarithms, like those from log_softmax. Use torch.softmax.",
                ("torch.softmax", "torch.log_softmax"),
            ),
        ),
        *wrong_transposes(_attended),
    ),
    forbidden=(FUSED_ATTENTION,),
)
