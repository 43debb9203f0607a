"""Lesson 01, attention.gradients: Attention, backwards."""

import math
from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib import attention
from course_lib.exercises.attention.shared import all_alike
from course_lib.exercises.common import Kind, and_turned_around, hints, kinds, slips
from course_lib.exercises.worked_examples import A
from course_lib.judging.exercise import Case, Exercise
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


_slips = partial(slips, _backwards)


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
    title="Attention, backwards",
    statement=(
        "attention_gradients(q [..., queries, d_head], k [..., keys, d_head], v [..., keys, d_value], of_out [..., "
        "queries, d_value]) -> (of_q, of_k, of_v), shaped like q, k, v: given of_out, the gradient of a loss with "
        "respect to out = softmax(q kᵀ / √d_head) v, the gradients with respect to q, k and v."
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
    hints=hints(
        idea=(
            "Go back through the four steps: first out = alpha v, then the softmax, the division, and the scores. To "
            "get the gradient of one factor of a matrix product, replace that factor with the gradient of the product, "
            "and transpose the other factor."
        ),
        shapes=(
            "The gradients of alpha, of the scaled scores and of the scores are all `[..., queries, keys]`. Multiply "
            "the gradient of the scores by the keys to get `[..., queries, d_head]`. Transpose that gradient, and "
            "multiply by the queries to get `[..., keys, d_head]`.",
            ("alpha_not_transposed", "scores_not_transposed", "queries_and_keys_swapped"),
        ),
        outline=(
            "Compute alpha as in the forward pass.\n"
            "For `v`, multiply alpha transposed by the gradient of out. For alpha, multiply the gradient of out by "
            "`v` transposed.\n"
            "For the softmax, take alpha's gradient, subtract its alpha-weighted mean from each row, and multiply by "
            "alpha.\n"
            "For the scaling, divide by the same square root again.\n"
            "For `q`, multiply the result by the keys. For `k`, multiply the transposed result by the queries.",
            ("weights_alone", "through_a_sigmoid", "no_softmax", "not_weighted", "scaled_once", "over_queries"),
        ),
    ),
    misconceptions=(
        *_slips(
            scaled_once=(
                "Your answer scales only in the forward pass. Divide the gradient of the scores by √d_head too.",
                ("of_scaled / root", "of_scaled"),
            ),
            unscaled_weights=(
                "Your answer takes the softmax of unscaled scores. Divide q kᵀ by √d_head first, as in the forward "
                "pass.",
                ("q @ k.mT / root", "q @ k.mT"),
            ),
            divided_by_d_head=(
                "Your answer divides by d_head. Divide by the square root, √d_head, forward and backward.",
                ("math.sqrt(q.shape[-1])", "q.shape[-1]"),
            ),
            weights_alone=(
                "Your answer lacks the second term of the softmax's derivative. Raising a score takes weight away "
                "from all other keys: in each row of alpha's gradient, subtract the alpha-weighted mean.",
                (" - shared", ""),
            ),
            through_a_sigmoid=(
                "Your answer treats the softmax like a sigmoid, with the derivative alpha (1 - alpha). But every score "
                "affects all weights of its row: use alpha times (gradient - its alpha-weighted mean).",
                ("alpha * (of_alpha - shared)", "alpha * (1 - alpha) * of_alpha"),
            ),
            no_softmax=(
                "Your answer uses alpha's gradient as the gradient of the scores. The softmax lies between them: "
                "multiply by its Jacobian.",
                ("alpha * (of_alpha - shared)", "of_alpha"),
            ),
            not_weighted=(
                "Your answer subtracts the mean but doesn't multiply by alpha afterward. Row i of the Jacobian is "
                "alpha_i (δ_ij - alpha_j), so each entry has its own weight as a factor.",
                ("alpha * (of_alpha - shared)", "of_alpha - shared"),
            ),
            over_queries=(
                "Your answer sums over the queries in the softmax's derivative. Each query has its own softmax: sum "
                "over its keys, dim=-1.",
                ("of_alpha).sum(dim=-1", "of_alpha).sum(dim=-2"),
            ),
            softmax_over_queries=(
                "Your answer takes the softmax over the queries (dim=-2). Take the softmax over the keys, dim=-1.",
                ("softmax(scaled, dim=-1", "softmax(scaled, dim=-2"),
            ),
            alpha_not_transposed=(
                "Your gradient of v is alpha times the gradient of out, without a transpose. Value j contributes to "
                "every query's output, with the weights in column j: transpose alpha.",
                ("alpha.mT @ of_out", "alpha @ of_out"),
            ),
            scores_not_transposed=(
                "Your gradient of k doesn't transpose the gradient of the scores. Key j belongs to column j: transpose "
                "that gradient.",
                ("of_scores.mT @ q", "of_scores @ q"),
            ),
        ),
        *_slips(
            paired=False,
            queries_and_keys_swapped=(
                "Your answer returns the gradient of k before the gradient of q. Return q's gradient first.",
                ("return of_q, of_k", "return of_k, of_q"),
            ),
            of_the_sum=(
                "Your answer ignores of_out, so it is the gradient of the sum of out. Start from of_out.",
                ("    root = ", "    of_out = torch.ones_like(of_out)\n    root = "),
            ),
        ),
    ),
    forbidden=(AUTOGRAD,),
)
