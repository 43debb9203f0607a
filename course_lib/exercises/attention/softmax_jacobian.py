"""Lesson 01, attention.softmax_jacobian: The derivative of softmax."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib import attention
from course_lib.exercises.common import and_turned_around, edits_of, hints, integer, kinds, mistake, sizes, slips
from course_lib.exercises.worked_examples import A
from course_lib.judging.exercise import Case, Exercise
from course_lib.judging.ready_made import JACOBIAN


def _jacobian_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{A.name}, in double precision", (A.steps.scaled.double(),))
    (words,) = sizes(generator, 1)
    yield Case("one row of scores", (torch.randn(words, generator=generator, dtype=torch.float64),))
    for kind in kinds(generator):
        queries, keys = kind.sizes(2)
        yield Case(kind.name, (kind.normal(queries, keys),))
    saturated = torch.randn(words, generator=generator, dtype=torch.float64)
    saturated[integer(generator, 0, words)] += 8
    yield Case("one score far above the rest", (saturated,))


def _jacobian(scores: Tensor) -> Tensor:
    alpha = torch.softmax(scores, dim=-1)
    own = alpha
    product = alpha.unsqueeze(-1) * alpha.unsqueeze(-2)
    jacobian = torch.diag_embed(own) - product
    return jacobian


_slip = edits_of(_jacobian)
_ALPHA, _PRODUCT = "torch.softmax(scores, dim=-1)", "alpha.unsqueeze(-1) * alpha.unsqueeze(-2)"


def _jacobian_by_loop(scores: Tensor) -> Tensor:
    alpha = scores.softmax(dim=-1)
    jacobian = torch.zeros(*alpha.shape, alpha.shape[-1], dtype=alpha.dtype)
    for i in range(alpha.shape[-1]):
        for j in range(alpha.shape[-1]):
            jacobian[..., i, j] = alpha[..., i] * (float(i == j) - alpha[..., j])
    return jacobian


def _jacobian_by_autograd(scores: Tensor) -> Tensor:
    scores = scores.clone().requires_grad_()
    alpha = torch.softmax(scores, dim=-1)
    rows = [torch.autograd.grad(alpha[..., i].sum(), scores, retain_graph=True)[0] for i in range(alpha.shape[-1])]
    return torch.stack(rows, dim=-2)


EXERCISE = Exercise(
    id="attention.softmax_jacobian",
    title="The derivative of softmax",
    statement=(
        "softmax_jacobian(scores [..., keys]) -> [..., keys, keys]: entry (i, j) is the derivative of weight i with "
        "respect to score j, alpha_i (δ_ij - alpha_j), for any leading dimensions."
    ),
    points=2,
    minutes=12,
    difficulty=4,
    importance=3,
    section="The gradient of softmax",
    source="S2, large values and the gradients of the softmax",
    reference=attention.softmax_jacobian,
    cases=and_turned_around(_jacobian_cases),
    correct=(_jacobian, _jacobian_by_loop, _jacobian_by_autograd),
    steps=("alpha",),
    hints=hints(
        idea=(
            "The weights of a row must sum to 1, so each score affects all of them, and the derivative is a matrix. "
            "Its diagonal says how a weight reacts to its own score; the other entries say how it reacts to other "
            "scores."
        ),
        shapes=(
            "J is diag(alpha) minus the outer product of alpha with itself. `torch.diag_embed` turns `[..., keys]` "
            "into `[..., keys, keys]`. A column `[..., keys, 1]` times a row `[..., 1, keys]` is the outer product.",
            ("inner_product", "diagonal_left_out", "own_weight_squared", "identity_not_weighted"),
        ),
    ),
    misconceptions=(
        *slips(
            _jacobian,
            only_the_diagonal=(
                "Your answer returns only the diagonal, [..., keys]. Each score affects all weights, so return the "
                "whole matrix: [..., keys, keys].",
                ("return jacobian", "return jacobian.diagonal(dim1=-2, dim2=-1)"),
            ),
            zero_off_the_diagonal=(
                "Your answer is 0 off the diagonal, as for a sigmoid. The weights sum to 1, so raising one score "
                "lowers the other weights: put -alpha_i alpha_j there.",
                ("return jacobian", "return torch.diag_embed(jacobian.diagonal(dim1=-2, dim2=-1))"),
            ),
            diagonal_left_out=(
                "Your answer lacks the first term: add alpha_i on the diagonal.",
                ("own = alpha", "own = torch.zeros_like(alpha)"),
            ),
        ),
        *mistake(
            "Your answer lacks the second term. Subtract alpha_i alpha_j from every entry.",
            second_term_left_out=_slip((" - product", "")),
            alone=True,  # without the first term as well, nothing is left: zeros, which are no answer at all
        ),
        *slips(
            _jacobian,
            wrong_sign=(
                "Your answer has the opposite sign. Raising a score raises its own weight, so the diagonal is "
                "positive: alpha_i (δ_ij - alpha_j).",
                ("return jacobian", "return -jacobian"),
            ),
            plus_instead_of_minus=(
                "Your answer adds alpha_i alpha_j. Subtract that product: raising one score takes weight away from "
                "the other keys.",
                ("- product", "+ product"),
            ),
            identity_not_weighted=(
                "Your answer is δ_ij - alpha_i alpha_j, with 1 - alpha_i² on the diagonal. Multiply δ_ij by alpha_i "
                "as well: alpha_i (δ_ij - alpha_j).",
                ("own = alpha", "own = torch.ones_like(alpha)"),
            ),
            delta_always_one=(
                "Your answer is alpha_i (1 - alpha_j) everywhere. The 1 is δ_ij, so it belongs on the diagonal only: "
                "elsewhere the entry is -alpha_i alpha_j.",
                ("torch.diag_embed(own)", "own.unsqueeze(-1)"),
            ),
            own_weight_squared=(
                "Your answer is alpha_i (δ_ij - alpha_i), with the row's index in both factors. The second factor "
                "belongs to score j, the one that you differentiate with respect to: use alpha_j.",
                (_PRODUCT, "alpha.square().unsqueeze(-1)"),
            ),
            inner_product=(
                "Your answer subtracts the same number everywhere, the sum of the squared weights, because it "
                "multiplies a row by a column. Multiply a column by a row to get a matrix: alpha.unsqueeze(-1) * "
                "alpha.unsqueeze(-2).",
                (_PRODUCT, "alpha.square().sum(dim=-1)[..., None, None]"),
            ),
            of_log_softmax=(
                "Your answer is δ_ij - alpha_j, the derivative of the log weights. Multiply row i by alpha_i.",
                ("own = alpha", "own = torch.ones_like(alpha)"),
                (_PRODUCT, "alpha.unsqueeze(-2)"),
            ),
            scores_instead_of_weights=(
                "Your answer puts the scores into the formula. Use alpha, their softmax.",
                (_ALPHA, "scores"),
            ),
            softmax_over_the_first_dimension=(
                "Your answer takes the softmax over the first dimension, which is the dimension of the keys only for "
                "a single row. Use dim=-1.",
                (_ALPHA, "torch.softmax(scores, dim=0)"),
            ),
            softmax_twice=(
                "Your answer takes the softmax twice. alpha is the softmax of the scores: take it once.",
                (_ALPHA, "torch.softmax(torch.softmax(scores, dim=-1), dim=-1)"),
            ),
        ),
    ),
    forbidden=(JACOBIAN,),
)
