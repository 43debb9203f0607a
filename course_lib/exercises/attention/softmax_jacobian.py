"""Lesson 01, attention.softmax_jacobian: The derivative of softmax."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib import attention
from course_lib.exercises.attention.shared import LESSON, WITHHELD
from course_lib.exercises.common import and_turned_around, integer, kinds, sizes
from course_lib.exercises.worked_examples import A
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import Case, Exercise, Hint, Misconception
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


_slip = partial(Edited, _jacobian)
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
    lesson=LESSON,
    name="softmax_jacobian",
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
    hints=(
        Hint(
            "idea",
            "All weights share one sum, so a score moves every weight of its row: the derivative is a matrix. On the "
            "diagonal a weight answers to its own score, elsewhere it gives way to another one.",
        ),
        Hint(
            "shapes",
            "J is diag(alpha) minus the outer product of alpha with itself. `torch.diag_embed` takes `[..., keys]` to "
            "`[..., keys, keys]`; a column `[..., keys, 1]` times a row `[..., 1, keys]` makes the outer product.",
            answers=("inner_product", "diagonal_left_out", "own_weight_squared", "identity_not_weighted"),
        ),
    ),
    misconceptions=(
        Misconception(
            "only_the_diagonal",
            "Your answer is only the diagonal, [..., keys]. A score moves all the weights, so the derivative is a "
            "matrix: [..., keys, keys].",
            _slip(("return jacobian", "return jacobian.diagonal(dim1=-2, dim2=-1)")),
        ),
        Misconception(
            "zero_off_the_diagonal",
            "Your answer is 0 off the diagonal, as for a sigmoid. The weights sum to 1, so raising one score lowers "
            "the other weights: -alpha_i alpha_j there.",
            _slip(("return jacobian", "return torch.diag_embed(jacobian.diagonal(dim1=-2, dim2=-1))")),
        ),
        Misconception(
            "diagonal_left_out",
            "Your answer lacks the first term, alpha_i on the diagonal: it is -alpha_i alpha_j everywhere.",
            _slip(("own = alpha", "own = torch.zeros_like(alpha)")),
        ),
        Misconception(
            "second_term_left_out",
            "Your answer lacks the second term: it is alpha_i on the diagonal and 0 elsewhere. Subtract "
            "alpha_i alpha_j from every entry.",
            _slip((" - product", "")),
            alone=True,  # without the first term as well, nothing is left: zeros, which are no answer at all
        ),
        Misconception(
            "wrong_sign",
            "Your answer has the opposite sign. Raising a score raises its own weight, so the diagonal is positive: "
            "alpha_i (δ_ij - alpha_j).",
            _slip(("return jacobian", "return -jacobian")),
        ),
        Misconception(
            "plus_instead_of_minus",
            "Your answer adds alpha_i alpha_j. Subtract it: raising one score takes weight away from the others.",
            _slip(("- product", "+ product")),
        ),
        Misconception(
            "identity_not_weighted",
            "Your answer has 1 - alpha_i² on the diagonal: δ_ij - alpha_i alpha_j. The factor alpha_i multiplies δ_ij "
            "as well: alpha_i (δ_ij - alpha_j).",
            _slip(("own = alpha", "own = torch.ones_like(alpha)")),
        ),
        Misconception(
            "delta_always_one",
            "Your answer is alpha_i (1 - alpha_j) everywhere. The 1 is δ_ij, which is on the diagonal only: off it "
            "the entry is -alpha_i alpha_j.",
            _slip(("torch.diag_embed(own)", "own.unsqueeze(-1)")),
        ),
        Misconception(
            "own_weight_squared",
            "Your answer is alpha_i (δ_ij - alpha_i): both factors have the index of the row. The second one is the "
            "weight of the score with respect to which it is differentiated, alpha_j.",
            _slip((_PRODUCT, "alpha.square().unsqueeze(-1)")),
        ),
        Misconception(
            "inner_product",
            "Your answer subtracts the same number everywhere, the sum of the squared weights: a row times a column. "
            "A column times a row makes a matrix, alpha.unsqueeze(-1) * alpha.unsqueeze(-2).",
            _slip((_PRODUCT, "alpha.square().sum(dim=-1)[..., None, None]")),
        ),
        Misconception(
            "of_log_softmax",
            "Your answer is δ_ij - alpha_j, the derivative of the logarithm of the weights. For the weights "
            "themselves multiply row i by alpha_i.",
            _slip(("own = alpha", "own = torch.ones_like(alpha)"), (_PRODUCT, "alpha.unsqueeze(-2)")),
        ),
        Misconception(
            "scores_instead_of_weights",
            "Your answer puts the scores themselves into the formula. alpha is their softmax.",
            _slip((_ALPHA, "scores")),
        ),
        Misconception(
            "softmax_over_the_first_dimension",
            "Your answer takes the softmax over the first dimension, which is the keys only where there are no "
            "leading ones. Use dim=-1.",
            _slip((_ALPHA, "torch.softmax(scores, dim=0)")),
        ),
        Misconception(
            "softmax_twice",
            "Your answer takes the softmax of the weights once more. The softmax of the scores is already alpha.",
            _slip((_ALPHA, "torch.softmax(torch.softmax(scores, dim=-1), dim=-1)")),
        ),
    ),
    withheld=WITHHELD,
    forbidden=(JACOBIAN,),
)
