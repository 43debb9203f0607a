"""Lesson 01, attention.scaled_dot_product: Scaled dot-product attention."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib import attention
from course_lib.checking.exercise import Case, Exercise, Hint, Misconception
from course_lib.checking.ready_made import FUSED_ATTENTION
from course_lib.exercises.attention.shared import (
    LESSON,
    WITHHELD,
    all_alike,
    root_of_d_head,
    turned_keys,
    wrong_divisors,
    wrong_transposes,
)
from course_lib.exercises.common import and_turned_around, as_it_is, kinds
from course_lib.exercises.worked_examples import A


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


Three = tuple[Tensor, Tensor, Tensor]


def _attended(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    of: Callable[[Tensor, Tensor, Tensor], Three] = lambda q, k, v: (q, k, v),
    turned: Callable[[Tensor], Tensor] = turned_keys,
    by: Callable[[Tensor, int], float] = root_of_d_head,
    weigh: Callable[[Tensor], Tensor] = lambda scaled: torch.softmax(scaled, dim=-1),
    then: Callable[[Tensor], Tensor] = as_it_is,
) -> Tensor:
    """Attention with the mistakes that are set: `of` says what asks, what it is compared with, and what is averaged."""
    asking, compared, averaged = of(q, k, v)
    scores = asking @ turned(compared)
    return then(weigh(scores / by(scores, q.shape[-1])) @ averaged)


def _attention_by_loop(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    if q.ndim > 2:
        return torch.stack([_attention_by_loop(*sequence) for sequence in zip(q, k, v, strict=True)])
    rows = []
    for query in q:
        exps = [torch.exp(torch.dot(query, key) / math.sqrt(len(query))) for key in k]
        rows.append(torch.stack([e / sum(exps) * value for e, value in zip(exps, v, strict=True)]).sum(dim=0))
    return torch.stack(rows)


def _attention_by_einsum(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = torch.einsum("...nd,...md->...nm", q, k) / q.shape[-1] ** 0.5
    return torch.einsum("...nm,...md->...nd", F.softmax(scores, dim=-1), v)


def _attention_in_double(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    exps = torch.exp((q / math.sqrt(q.shape[-1])).double() @ k.double().mT)
    return (exps @ v.double() / exps.sum(dim=-1, keepdim=True)).to(v.dtype)


def _attention_in_place(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    q = q.clone()
    q.div_(q.shape[-1] ** 0.25)
    scaled = q @ (k / k.shape[-1] ** 0.25).mT
    scaled -= scaled.amax(dim=-1, keepdim=True).detach()
    return torch.exp(scaled - scaled.logsumexp(dim=-1, keepdim=True)) @ v


def _attention_by_bmm(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    flat_q, flat_k, flat_v = (t.reshape(-1, *t.shape[-2:]) for t in (q, k, v))
    start = torch.zeros(len(flat_q), q.shape[-2], k.shape[-2], dtype=q.dtype)
    scaled = torch.baddbmm(start, flat_q, flat_k.mT, alpha=1 / math.sqrt(q.shape[-1]))
    return torch.bmm(torch.nn.Softmax(dim=2)(scaled), flat_v).reshape(*q.shape[:-1], v.shape[-1])


def _attention_by_vmap(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    if q.ndim > 2:
        return torch.func.vmap(_attention_by_vmap)(q, k, v)
    return torch.func.vmap(lambda query: torch.softmax(k @ query / math.sqrt(k.shape[-1]), dim=0) @ v)(q)


def _attention_by_broadcasting(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(dim=-1)
    alpha = torch.softmax(scores.mul(q.size(-1) ** -0.5), dim=-1)
    return (alpha.unsqueeze(-1) * v.unsqueeze(-3)).sum(dim=-2)


def _attention_in_chunks_of_keys(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    total, result = torch.zeros((), dtype=q.dtype), torch.zeros((), dtype=v.dtype)
    for keys, values in zip(k.split(2, dim=-2), v.split(2, dim=-2), strict=True):
        exps = torch.exp(q @ keys.transpose(-1, -2) / math.sqrt(q.shape[-1]))
        total, result = total + exps.sum(dim=-1, keepdim=True), result + exps @ values
    return result / total


CORRECT = (
    _attention_by_loop,
    _attention_by_einsum,
    _attention_by_bmm,
    _attention_in_double,
    _attention_by_vmap,
    _attention_in_place,
    _attention_by_broadcasting,
    _attention_in_chunks_of_keys,
)


EXERCISE = Exercise(
    id="attention.scaled_dot_product",
    lesson=LESSON,
    name="scaled_dot_product_attention",
    title="Scaled dot-product attention",
    statement=(
        "scaled_dot_product_attention(q [..., queries, d_head], k [..., keys, d_head], v [..., keys, d_value]) -> "
        "[..., queries, d_value]: softmax(q kᵀ / √d_head) v, for any leading dimensions and with gradients."
    ),
    points=4,
    minutes=15,
    section="Scaled dot-product attention",
    source="Vaswani et al. (2017), section 3.2.1; S2, Scaled Dot-Product",
    reference=attention.scaled_dot_product_attention,
    cases=and_turned_around(_attention_cases),
    correct=CORRECT,
    steps=("scores", "scaled", "alpha"),
    hints=(
        Hint(
            "idea",
            "Four steps that you have written before: compare queries with keys, scale, softmax over the keys, "
            "average the values. `d_head` is the number of components of a query.",
        ),
        Hint(
            "shapes",
            "Scores and weights are `[..., queries, keys]`: a row for each query, and it is the row that sums to 1. "
            "`d_head` is the last dimension of `q`; the one before it is the number of queries. The values come in "
            "only at the end.",
            answers=(
                "softmax_over_queries",
                "root_of_d_value",
                "root_of_second_dimension",
                "root_of_first_dimension",
                "divided_by_number_of_keys",
                "root_of_number_of_keys",
            ),
        ),
        Hint(
            "outline",
            "Scores: queries times keys, with the last two dimensions of `k` swapped.\n"
            "Divide by the root of the last dimension of `q`.\n"
            "Softmax over the last dimension, which is the keys.\n"
            "The weights times the values.",
            answers=(
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
        Misconception(
            "unscaled_softmax",
            "Your answer takes the softmax of the unscaled scores, as the line `alpha = softmax(scores)` on slide S2 "
            "does. It should be the softmax of the scaled ones, the scores divided by √d_head.",
            partial(_attended, by=lambda scores, d_head: 1),
        ),
        Misconception(
            "root_of_d_value",
            "Your answer divides the scores by the root of the values' dimension. The scores are made of queries and "
            "keys: divide by the root of theirs, q.shape[-1].",
            lambda q, k, v: _attended(q, k, v, by=lambda scores, d_head: math.sqrt(v.shape[-1])),
        ),
        Misconception(
            "root_of_second_dimension",
            "Your answer divides by the root of q.shape[1], which is d_head only for a single sequence. With leading "
            "dimensions d_head is q.shape[-1].",
            lambda q, k, v: _attended(q, k, v, by=lambda scores, d_head: math.sqrt(q.shape[1])),
        ),
        Misconception(
            "multiplied",
            "Your answer multiplies the scores by √d_head. Divide by it, so that the softmax doesn't saturate.",
            partial(_attended, by=lambda scores, d_head: 1 / math.sqrt(d_head)),
        ),
        Misconception(
            "scaled_after_softmax",
            "Your answer divides by √d_head after the softmax, where it only makes the result smaller. Divide the "
            "scores, before the softmax.",
            lambda q, k, v: torch.softmax(q @ k.mT, dim=-1) / math.sqrt(q.shape[-1]) @ v,
        ),
        Misconception(
            "no_softmax",
            "Your answer weights the values by scores, not by weights that sum to 1. Pass the scores through a "
            "softmax over the keys first.",
            partial(_attended, weigh=as_it_is),
        ),
        Misconception(
            "softmax_over_queries",
            "Your answer takes the softmax over the queries (dim=-2). Take it over the keys, dim=-1: each query "
            "shares out a weight of 1 among the keys.",
            partial(_attended, weigh=partial(torch.softmax, dim=-2)),
        ),
        Misconception(
            "softmax_over_the_first_dimension",
            "Your answer takes the softmax over the first dimension, which in a batch mixes different sequences. "
            "Take it over the keys, the last dimension: dim=-1.",
            lambda q, k, v: _attended(q, k, v, weigh=partial(torch.softmax, dim=0)),
        ),
        Misconception(
            "softmax_over_the_second_dimension",
            "Your answer takes the softmax over dim=1, which is the keys only for a single sequence. With leading "
            "dimensions the keys are elsewhere: use dim=-1.",
            lambda q, k, v: _attended(q, k, v, weigh=partial(torch.softmax, dim=1)),
        ),
        Misconception(
            "root_of_2",
            "Your answer divides the scores by √2, which is right only for the worked example. Take the root of "
            "q.shape[-1].",
            lambda q, k, v: _attended(q, k, v, by=lambda scores, d_head: math.sqrt(2)),
        ),
        Misconception(
            "softmax_twice",
            "Your answer takes the softmax of the softmax, which flattens the weights. They already sum to 1 after "
            "the first.",
            lambda q, k, v: _attended(
                q, k, v, weigh=lambda scaled: torch.softmax(torch.softmax(scaled, dim=-1), dim=-1)
            ),
        ),
        Misconception(
            "log_softmax",
            "Your answer weights the values by logarithms, as log_softmax gives them. Take torch.softmax.",
            lambda q, k, v: _attended(q, k, v, weigh=partial(torch.log_softmax, dim=-1)),
        ),
        Misconception(
            "only_the_largest",
            "Your answer picks the one value with the largest score, and no gradient gets through to the scores. "
            "Every value contributes, as much as the softmax gives it.",
            lambda q, k, v: F.one_hot((q @ k.mT).argmax(dim=-1), k.shape[-2]).to(v.dtype) @ v + 0 * (q @ k.mT).sum(),
        ),
        *wrong_transposes(_attended),
        Misconception(
            "keys_as_values",
            "Your answer averages the keys. The weights come from queries and keys, but what they average is v.",
            partial(_attended, of=lambda q, k, v: (q, k, k)),
        ),
        Misconception(
            "values_as_keys",
            "Your answer compares the queries with the values. Compare them with the keys, q @ k.transpose(-2, -1), "
            "and average the values.",
            partial(_attended, of=lambda q, k, v: (q, v, v)),
        ),
        Misconception(
            "keys_and_values_swapped",
            "Your answer compares the queries with the values and averages the keys. It is the other way round: "
            "compare with k, average v.",
            partial(_attended, of=lambda q, k, v: (q, v, k)),
        ),
        Misconception(
            "queries_as_values",
            "Your answer averages the queries. The weights come from queries and keys, but what they average is v.",
            partial(_attended, of=lambda q, k, v: (q, k, q)),
        ),
        Misconception(
            "keys_ask",
            "Your answer lets the keys ask the queries: k times q transposed. A row belongs to a query: "
            "q @ k.transpose(-2, -1).",
            partial(_attended, of=lambda q, k, v: (k, q, v)),
        ),
        Misconception(
            "transposed",
            "Your answer is transposed, [..., d_value, queries]. A row belongs to a query: weights @ v, as it comes.",
            partial(_attended, then=lambda out: out.mT),
        ),
        Misconception(
            "weights_detached",
            "The gradient stops at your weights: they are detached from the graph (.detach(), .data, numpy or "
            "no_grad), so that queries and keys could never be learned.",
            partial(_attended, weigh=lambda scaled: torch.softmax(scaled, dim=-1).detach()),
        ),
        Misconception(
            "no_gradients",
            "No gradient reaches q, k or v from your answer: the computation leaves torch somewhere (.detach(), .data, "
            "numpy, torch.tensor(...) or no_grad). Use torch operations from q, k and v to the end.",
            partial(_attended, then=Tensor.detach),
        ),
        Misconception(
            "root_of_first_dimension",
            "Your answer divides by the root of len(q), which is the number of queries, or of sequences in a batch. "
            "d_head is the last dimension, q.shape[-1].",
            lambda q, k, v: _attended(q, k, v, by=lambda scores, d_head: math.sqrt(len(q))),
        ),
        Misconception(
            "weights_returned",
            "Your answer returns the weights. Multiply them by the values: weights @ v.",
            partial(_attended, of=lambda q, k, v: (q, k, torch.eye(k.shape[-2], dtype=k.dtype))),
        ),
    ),
    withheld=WITHHELD,
    forbidden=(FUSED_ATTENTION,),
)
