"""Lesson 01, attention.gradients: Attention, backwards."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib import attention
from course_lib.exercises.attention.shared import LESSON, WITHHELD, all_alike
from course_lib.exercises.common import Kind, and_turned_around, kinds
from course_lib.exercises.worked_examples import A
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import Case, Exercise, Hint, Misconception
from course_lib.judging.ready_made import AUTOGRAD

Gradients = tuple[Tensor, Tensor, Tensor]


def _gradient_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        # A nearly saturated softmax: in single precision rounding is larger than what gets through it.
        inputs = (A.q, A.k, A.v, torch.tensor([[1.0, -2.0], [0.5, 3.0]]))
        yield Case(f"{A.name}, in double precision", tuple(x.double() for x in inputs))
    for kind in kinds(generator):
        queries, keys, d_value = kind.sizes(3)
        yield _case(kind, queries, keys, kind.d_head(), d_value)
    kind = all_alike(generator)
    (n,) = kind.leading
    yield _case(kind, n, n, n, n)


def _case(kind: Kind, queries: int, keys: int, d_head: int, d_value: int) -> Case:
    drawn = (kind.normal(*shape) for shape in ((queries, d_head), (keys, d_head), (keys, d_value), (queries, d_value)))
    return Case(kind.name, tuple(drawn))


def _backwards(q: Tensor, k: Tensor, v: Tensor, of_out: Tensor) -> Gradients:
    root = math.sqrt(q.shape[-1])
    scaled = q @ k.mT / root
    alpha = torch.softmax(scaled, dim=-1)
    of_v = alpha.mT @ of_out
    of_alpha = of_out @ v.mT
    shared = (alpha * of_alpha).sum(dim=-1, keepdim=True)
    of_scaled = alpha * (of_alpha - shared)
    of_scores = of_scaled / root
    of_q = of_scores @ k
    of_k = of_scores.mT @ q
    return of_q, of_k, of_v


_slip = partial(Edited, _backwards)
_lone = partial(Edited, _backwards, paired=False)


def _with_the_jacobian(q: Tensor, k: Tensor, v: Tensor, of_out: Tensor) -> Gradients:
    root = q.shape[-1] ** 0.5
    alpha = torch.softmax(torch.einsum("...id,...jd->...ij", q, k) / root, dim=-1)
    jacobian = torch.diag_embed(alpha) - torch.einsum("...ij,...il->...ijl", alpha, alpha)
    of_alpha = torch.einsum("...id,...jd->...ij", of_out, v)
    of_scores = torch.einsum("...ij,...ijl->...il", of_alpha, jacobian) / root
    of_k = torch.einsum("...ij,...id->...jd", of_scores, q)
    return torch.einsum("...ij,...jd->...id", of_scores, k), of_k, torch.einsum("...ij,...id->...jd", alpha, of_out)


def _query_by_query(q: Tensor, k: Tensor, v: Tensor, of_out: Tensor) -> Gradients:
    of_q, of_k, of_v = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for i in range(q.shape[-2]):
        alpha = torch.softmax((k * q[..., i : i + 1, :]).sum(-1) / math.sqrt(q.shape[-1]), dim=-1).unsqueeze(-1)
        upstream = of_out[..., i : i + 1, :]
        out = (alpha * v).sum(-2, keepdim=True)
        of_score = alpha * ((v - out) * upstream).sum(-1, keepdim=True) / math.sqrt(q.shape[-1])
        of_q[..., i, :] = (of_score * k).sum(-2)
        of_k += of_score * q[..., i : i + 1, :]
        of_v += alpha * upstream
    return of_q, of_k, of_v


EXERCISE = Exercise(
    id="attention.gradients",
    lesson=LESSON,
    name="attention_gradients",
    title="Attention, backwards",
    statement=(
        "attention_gradients(q [..., queries, d_head], k [..., keys, d_head], v [..., keys, d_value], "
        "of_out [..., queries, d_value]) -> (of_q, of_k, of_v), each like q, k, v: from the gradient of a loss with "
        "respect to out = softmax(q kᵀ / √d_head) v, those with respect to q, k and v."
    ),
    points=3,
    minutes=25,
    difficulty=5,
    importance=4,
    section="What reaches the query",
    source="Dao et al. (2022), FlashAttention, appendix B.2",
    reference=attention.attention_gradients,
    cases=and_turned_around(_gradient_cases),
    correct=(_backwards, _with_the_jacobian, _query_by_query),
    steps=("alpha", "of_alpha", "of_scaled"),
    hints=(
        Hint(
            "idea",
            "Walk back through the four steps: out = alpha v, then the softmax, the division, and the scores. In a "
            "product of two matrices, the gradient of one factor is the gradient of the product times the other "
            "factor, transposed, on the side where it belongs.",
        ),
        Hint(
            "shapes",
            "The gradients of alpha, of the scaled scores and of the scores are all `[..., queries, keys]`. From there "
            "the keys lead to `[..., queries, d_head]`, and the queries, with the gradient transposed, to "
            "`[..., keys, d_head]`.",
            answers=("alpha_not_transposed", "scores_not_transposed", "queries_and_keys_swapped"),
        ),
        Hint(
            "outline",
            "Compute alpha once more, as on the way forward.\n"
            "Of `v`: alpha transposed, times the gradient of out. Of alpha: that gradient, times `v` transposed.\n"
            "Through the softmax: in each row subtract the mean of that gradient, weighted by alpha; then multiply by "
            "alpha.\n"
            "Through the division: divide by the same root again.\n"
            "Of `q`: this times the keys. Of `k`: this transposed, times the queries.",
            answers=("weights_alone", "through_a_sigmoid", "no_softmax", "not_weighted", "scaled_once", "over_queries"),
        ),
    ),
    misconceptions=(
        Misconception(
            "scaled_once",
            "Your answer scales in the forward pass only. The scores were divided by √d_head, so their gradient is "
            "divided by it, too.",
            _slip(("of_scaled / root", "of_scaled")),
        ),
        Misconception(
            "unscaled_weights",
            "Your answer takes the softmax of unscaled scores. Divide q kᵀ by √d_head first, as on the way forward.",
            _slip(("q @ k.mT / root", "q @ k.mT")),
        ),
        Misconception(
            "divided_by_d_head",
            "Your answer divides by d_head where its root belongs. Divide by √d_head, in both directions.",
            _slip(("math.sqrt(q.shape[-1])", "q.shape[-1]")),
        ),
        Misconception(
            "weights_alone",
            "Your answer lacks the second term of the softmax's derivative. A score also takes weight from all other "
            "keys: subtract the row's mean of the gradient of alpha, weighted by alpha.",
            _slip((" - shared", "")),
        ),
        Misconception(
            "through_a_sigmoid",
            "Your answer goes back through the softmax as if each weight had a score of its own, alpha (1 - alpha). "
            "All the weights of a row depend on each score: take alpha times (gradient - its mean weighted by alpha).",
            _slip(("alpha * (of_alpha - shared)", "alpha * (1 - alpha) * of_alpha")),
        ),
        Misconception(
            "no_softmax",
            "Your answer passes the gradient of alpha on to the scores unchanged. Between them is the softmax: "
            "multiply by its Jacobian.",
            _slip(("alpha * (of_alpha - shared)", "of_alpha")),
        ),
        Misconception(
            "not_weighted",
            "Your answer subtracts the mean but does not multiply by alpha afterwards. Row i of the Jacobian is "
            "alpha_i (δ_ij - alpha_j): each entry has its own weight as a factor.",
            _slip(("alpha * (of_alpha - shared)", "of_alpha - shared")),
        ),
        Misconception(
            "over_queries",
            "Your answer sums over the queries in the softmax's derivative. Each query has a softmax of its own: sum "
            "over its keys, dim=-1.",
            _slip(("of_alpha).sum(dim=-1", "of_alpha).sum(dim=-2")),
        ),
        Misconception(
            "softmax_over_queries",
            "Your answer takes the softmax over the queries (dim=-2). Take it over the keys, dim=-1.",
            _slip(("softmax(scaled, dim=-1", "softmax(scaled, dim=-2")),
        ),
        Misconception(
            "alpha_not_transposed",
            "Your gradient of v is alpha times the gradient of out. Value j is in every query's output, so its "
            "gradient is column j of alpha: transpose alpha.",
            _slip(("alpha.mT @ of_out", "alpha @ of_out")),
        ),
        Misconception(
            "scores_not_transposed",
            "Your gradient of k does not transpose the gradient of the scores. Key j belongs to column j.",
            _slip(("of_scores.mT @ q", "of_scores @ q")),
        ),
        Misconception(
            "queries_and_keys_swapped",
            "Your answer returns the gradients of k and q in this order. Return those of q, k and v.",
            _lone(("return of_q, of_k", "return of_k, of_q")),
        ),
        Misconception(
            "of_the_sum",
            "Your answer is the gradient of the sum of out: it never uses of_out. Begin with the gradient that comes "
            "in.",
            _lone(("    root = ", "    of_out = torch.ones_like(of_out)\n    root = ")),
        ),
    ),
    withheld=WITHHELD,
    forbidden=(AUTOGRAD,),
)
