"""Lesson 01, attention.scores: Scores."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib import attention
from course_lib.exercises.attention.shared import all_alike, wrong_transposes
from course_lib.exercises.common import and_turned_around, edits_of, hints, kinds, mistake, slips
from course_lib.exercises.worked_examples import A
from course_lib.judging.exercise import Case, Exercise


def _scores_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(A.name, (A.q, A.k))
    for kind in kinds(generator):
        queries, keys, d_head = kind.sizes(3)
        q, k = kind.normal(queries, d_head), kind.normal(keys, d_head)
        yield Case(kind.name, (q, k), gradients=() if kind.leading else (0, 1))
    kind = all_alike(generator)
    (n,) = kind.leading
    yield Case(kind.name, (kind.normal(n, n), kind.normal(n, n)))


def _scored(q: Tensor, k: Tensor) -> Tensor:
    scores = q @ k.mT
    return scores


_slip = edits_of(_scored)


def _scores_by_loop(q: Tensor, k: Tensor) -> Tensor:
    rows = [[(q[..., i, :] * k[..., j, :]).sum(-1) for j in range(k.shape[-2])] for i in range(q.shape[-2])]
    return torch.stack([torch.stack(row, dim=-1) for row in rows], dim=-2)


EXERCISE = Exercise(
    id="attention.scores",
    title="Scores",
    statement=(
        "dot_product_scores(q [..., queries, d_head], k [..., keys, d_head]) -> [..., queries, keys]: the dot "
        "product of every query with every key, for any leading dimensions."
    ),
    points=1,
    minutes=8,
    difficulty=1,
    importance=5,
    section="Scores",
    source="S2, Attention: Working Example",
    reference=attention.dot_product_scores,
    cases=and_turned_around(_scores_cases),
    correct=(_scored, _scores_by_loop, lambda q, k: torch.einsum("...nd,...md->...nm", q, k)),
    hints=hints(
        idea=(
            "Entry (i, j) is the dot product of query i with key j, so the scores are a matrix product, with the keys "
            "as columns. Don't use `k.T`: it reverses all dimensions, which is right only for a single matrix."
        ),
        shapes=(
            "`[..., queries, d_head]` times `[..., d_head, keys]` gives `[..., queries, keys]`. So swap the last two "
            "dimensions of `k`, and keep the leading dimensions.",
            ("keys_as_rows", "reshaped_not_transposed", "not_transposed", "across_the_batch"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer is the transpose, [..., keys, queries]. Each row belongs to a query: multiply q by k "
            "transposed, not k by q transposed.",
            keys_as_rows=_slip(("q @ k.mT", "k @ q.mT")),
        ),
        *wrong_transposes(_scored),
        *slips(
            _scored,
            not_transposed=(
                "Your answer multiplies q by k itself, which works only if there are exactly as many keys as "
                "components. Transpose k's last two dimensions: q @ k.transpose(-2, -1).",
                ("k.mT", "k"),
            ),
            first_dimensions_swapped=(
                "Your answer swaps dimensions 0 and 1 of k, which are the last two dimensions only for a single "
                "sequence. Count from the end: k.transpose(-2, -1).",
                ("k.mT", "k.transpose(0, 1)"),
            ),
            scaled_too_early=(
                "Your answer divides by √d_head. Scaling is the next step: here, return the dot products themselves.",
                ("    return", "    scores = scores / q.shape[-1] ** 0.5\n    return"),
            ),
            softmax_too_early=(
                "Your answer takes a softmax. The softmax comes later: here, return the dot products themselves.",
                (" scores\n", " torch.softmax(scores, dim=-1)\n"),
            ),
            cosine_similarity=(
                "Your answer is the cosine similarity, which scales queries and keys to length 1. Use the dot "
                "product, which takes the lengths into account.",
                (
                    "    scores =",
                    "    q, k = (rows / rows.norm(dim=-1, keepdim=True) for rows in (q, k))\n    scores =",
                ),
            ),
            distance=(
                "Your answer is the Euclidean distance between queries and keys. Use the dot product, which is large "
                "for similar vectors.",
                lambda q, k: (q.unsqueeze(-2) - k.unsqueeze(-3)).pow(2).sum(-1).sqrt(),
            ),
            queries_with_queries=(
                "Your answer compares the queries with each other, [..., queries, queries]. Compare the queries with "
                "the keys.",
                ("q @ k.mT", "q @ q.mT"),
            ),
            one_key_for_each_query=(
                "Your answer compares each query only with the key at the same position. Compare every query with "
                "every key: [..., queries, keys].",
                lambda q, k: (q * k).sum(dim=-1),
            ),
            across_the_batch=(
                "Your answer also compares queries with the keys of other sequences in the batch. Use q @ "
                "k.transpose(-2, -1), which keeps sequences apart.",
                lambda q, k: torch.tensordot(q, k, dims=([-1], [-1])),
            ),
        ),
    ),
)
