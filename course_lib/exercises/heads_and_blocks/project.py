"""Lesson 04, heads_and_blocks.project: Queries, keys, values."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib import multihead
from course_lib.exercises.common import Kind, and_turned_around, hints, kinds, slips
from course_lib.exercises.worked_examples import A
from course_lib.judging.exercise import Case, Exercise


def _project_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        matrices = [[[1.0, 2.0], [0.0, 1.0]], [[1.0, 0.0], [-1.0, 2.0]], [[0.0, 1.0], [3.0, 1.0]]]
        yield Case(f"{A.name}: die, Katze ask the, cat, danced", (A.q, A.k, *map(torch.tensor, matrices)))
    for kind in kinds(generator):
        queries, keys, d_model = kind.sizes(3)
        d_key, d_value = kind.d_head(), kind.d_head() + (not kind.ones)
        matrices_of = [Kind("", generator, dtype=kind.dtype, transposed=kind.transposed) for _ in range(3)]
        W = [matrix.normal(d_model, width) for matrix, width in zip(matrices_of, (d_key, d_key, d_value), strict=True)]
        x, memory = kind.normal(queries, d_model), kind.normal(keys, d_model)
        gradients = () if kind.leading else (0, 2)  # of what q is made of: only that of the first result is taken
        yield Case(f"{kind.name}, cross-attention", (x, memory, *W), gradients=gradients)
        x = kind.normal(queries, d_model)
        yield Case(f"{kind.name}, self-attention", (x, x, *W))


ThreeTensors = tuple[Tensor, Tensor, Tensor]


def _projected(x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> ThreeTensors:
    q = x @ W_q
    k = memory @ W_k
    v = memory @ W_v
    return q, k, v


def _project_by_einsum(x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> ThreeTensors:
    q = torch.einsum("...wd,de->...we", x, W_q)
    k, v = (torch.einsum("...wd,de->...we", memory, W) for W in (W_k, W_v))
    return q, k, v


def _project_keys_and_values_at_once(x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> ThreeTensors:
    both = memory @ torch.cat([W_k, W_v], dim=1)
    k, v = both.split([W_k.shape[1], W_v.shape[1]], dim=-1)
    return torch.matmul(x, W_q), k, v


EXERCISE = Exercise(
    id="heads_and_blocks.project",
    title="Queries, keys, values",
    statement=(
        "project(x [..., queries, d_model], memory [..., keys, d_model], W_q [d_model, d_key], W_k [d_model, d_key], "
        "W_v [d_model, d_value]) -> (q, k, v): queries from x, keys and values from memory, each as x W."
    ),
    points=1,
    minutes=8,
    difficulty=1,
    importance=4,
    section="Learned projections",
    source="S3, projections K, Q, V; S2 and S4, cross-attention; Vaswani et al. (2017), section 3.2.2",
    reference=multihead.project,
    cases=and_turned_around(_project_cases),
    correct=(_projected, _project_by_einsum, _project_keys_and_values_at_once),
    hints=hints(
        idea=(
            "The queries come from `x`, and the keys and values come from `memory`. Each of the three is a single "
            "matrix product, with nothing transposed, because tokens are rows."
        ),
        shapes=(
            "A row of length `d_model` times a matrix `[d_model, d_key]` gives a row of length `d_key`; leading "
            "dimensions stay the same. Each token of `x` gets a query, and each token of `memory` gets a key and a "
            "value.",
            ("transposed", "values_from_x", "keys_from_x", "memory_ignored"),
        ),
    ),
    misconceptions=slips(
        _projected,
        transposed=(
            "Your answer multiplies by the transposed matrices, x Wᵀ, as nn.Linear does with its weight. Multiply by "
            "W itself: x @ W_q.",
            ("W_q\n", "W_q.mT\n"),
            ("W_k\n", "W_k.mT\n"),
            ("W_v\n", "W_v.mT\n"),
        ),
        x_and_memory_exchanged=(
            "Your answer computes queries from memory, and keys and values from x. Compute the queries from x, and "
            "the keys and values from memory.",
            ("q = x", "q = memory"),
            ("k = memory", "k = x"),
            ("v = memory", "v = x"),
        ),
        memory_ignored=(
            "Your answer computes queries, keys and values from x. In cross-attention, keys and values come from "
            "memory.",
            ("k = memory", "k = x"),
            ("v = memory", "v = x"),
        ),
        values_from_x=(
            "Your answer computes the values from x. Compute both keys and values from memory.",
            ("v = memory", "v = x"),
        ),
        keys_from_x=(
            "Your answer computes the keys from x. Only the queries come from x: compute both keys and values from "
            "memory.",
            ("k = memory", "k = x"),
        ),
        keys_as_values=(
            "Your answer uses W_k for the values too. Use their own matrix: memory @ W_v.",
            ("@ W_v", "@ W_k"),
        ),
        values_not_projected=(
            "Your answer uses the tokens of memory as values. Project them: memory @ W_v.",
            (" @ W_v", ""),
        ),
        values_of_the_keys=(
            "Your answer computes the values from the keys, k @ W_v, which only works if d_key equals d_model. "
            "Compute them from the tokens: memory @ W_v.",
            ("memory @ W_v", "k @ W_v"),
        ),
        W_q_and_W_k_exchanged=(
            "Your answer uses W_k for the queries and W_q for the keys. Swap them.",
            ("@ W_q", "@ W_k"),
            ("@ W_k", "@ W_q"),
        ),
        w_q_for_the_keys=(
            "Your answer uses W_q for the keys too. Use their own matrix: memory @ W_k.",
            ("@ W_k", "@ W_q"),
        ),
        other_order=("Your answer returns k, q, v. Return q, k, v.", ("q, k, v", "k, q, v")),
        values_before_keys=("Your answer returns the values before the keys. Return q, k, v.", ("q, k, v", "q, v, k")),
    ),
)
