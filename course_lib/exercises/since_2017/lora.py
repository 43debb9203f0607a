"""Lesson 12, since_2017.lora: Learning beside a frozen weight."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, integer, kinds
from course_lib.exercises.since_2017.shared import LESSON, WITHHELD, no_gradient
from course_lib.exercises.worked_examples import B
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import Case, Exercise, Hint, Misconception
from course_lib.references import since_2017


def _lora_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        weight, A = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), torch.tensor([[1.0, -1.0]])
        yield Case(f"{B.name}, rank 1", (B.q, weight, A, torch.tensor([[0.0], [1.0], [2.0]]), 2.0))
    for kind in kinds(generator):
        tokens, rank = kind.sizes(2)
        if kind.dtype == torch.float64:
            rank = 3
        d_in, d_out = kind.d_head(), 1 if kind.ones else integer(generator, 17, 23)
        weight, A, B_ = (
            torch.randn(*shape, generator=generator, dtype=kind.dtype)
            for shape in ((d_out, d_in), (rank, d_in), (d_out, rank))
        )
        yield Case(kind.name, (kind.normal(tokens, d_in), weight, A, B_, 2.0 * integer(generator, 1, 9)))
    A, B_ = torch.randn(2, 4, generator=generator), torch.randn(3, 2, generator=generator)
    yield Case("a single vector", (torch.arange(4.0), torch.ones(3, 4), A, B_, 2.0))
    x, d_out, rank = torch.randn(4, 5, generator=generator), 6, 2
    weight, A, B_ = (torch.randn(*shape, generator=generator) for shape in ((d_out, 5), (rank, 5), (d_out, rank)))
    yield Case("gradients of x, A and B", (x, weight, A, B_, 8.0), gradients=(0, 2, 3))


def _side_by_side(x: Tensor, weight: Tensor, A: Tensor, B: Tensor, alpha: float) -> Tensor:
    own, learned = x @ weight.T, x @ A.T @ B.T
    scale = alpha / len(A)
    out = own + scale * learned
    return out


_slip = partial(Edited, _side_by_side)
_SCALE, _SUM = "alpha / len(A)", "own + scale * learned"


def _by_merging(x: Tensor, weight: Tensor, A: Tensor, B: Tensor, alpha: float) -> Tensor:
    """One matrix for both: right, and the whole of B A is made in every call."""
    return F.linear(x, weight + alpha / A.shape[0] * B @ A)


def _by_rank(x: Tensor, weight: Tensor, A: Tensor, B: Tensor, alpha: float) -> Tensor:
    """One product of a column and a row after the other."""
    out = x @ weight.mT
    for row, column in zip(A, B.unbind(dim=1), strict=True):
        out = out + alpha / len(A) * (x @ row).unsqueeze(-1) * column
    return out


EXERCISE = Exercise(
    id="since_2017.lora",
    lesson=LESSON,
    name="lora",
    title="Learning beside a frozen weight",
    statement=(
        "lora(x [..., d_in], weight [d_out, d_in], A [rank, d_in], B [d_out, rank], alpha) -> [..., d_out]: "
        "W x + (alpha / rank) B A x; with gradients for x, A and B."
    ),
    points=2,
    minutes=10,
    difficulty=2,
    importance=5,
    section="Learning beside a large model",
    source="Hu et al. (2022), section 4.1, equation 3",
    reference=since_2017.lora,
    cases=and_turned_around(_lora_cases),
    correct=(_side_by_side, _by_merging, _by_rank),
    steps=("change",),
    hints=(
        Hint(
            "idea",
            "Two ways lead from x to the result: the old one through the weight, which learns nothing any more, and a "
            "narrow one, down to `rank` numbers and up again. The two are added.",
        ),
        Hint(
            "shapes",
            "Rows of the matrices are outputs, as in `nn.Linear`, so that each is multiplied transposed. The narrow "
            "way is `[..., rank]` in its middle, and the rank stands in the shape of both A and B.",
            answers=("scaled_by_the_rank", "not_divided_by_the_rank"),
        ),
    ),
    misconceptions=(
        no_gradient(_slip(("return out", "return out.detach()")), "x, A or B"),
        Misconception(
            "own_answer_frozen",
            "The values are right, but the old way gives x no gradient, so that nothing below this layer learns what "
            "it should. Freeze the weight, not its product with x.",
            _slip(("x @ weight.T", "(x @ weight.T).detach()")),
            alone=True,
        ),
        Misconception(
            "weight_left_out",
            "Your answer is what was learned alone. It is added to what the weight says: W x.",
            _slip(("own +", "0 * own +")),
        ),
        Misconception(
            "nothing_learned",
            "Your answer is W x alone. Add (alpha / rank) B A x.",
            _slip((_SCALE, "0.0")),
        ),
        Misconception(
            "not_divided_by_the_rank",
            "Your answer multiplies by alpha. Divide it by the rank, so that another rank needs no other rate.",
            _slip((_SCALE, "alpha")),
        ),
        Misconception(
            "scaled_by_the_rank",
            "Your answer multiplies by alpha times the rank. Divide by the rank: alpha / rank.",
            _slip((_SCALE, "alpha * len(A)")),
        ),
        Misconception(
            "alpha_left_out",
            "Your answer does not use alpha: what is learned is added alpha / rank times.",
            _slip((_SCALE, "1.0")),
        ),
        Misconception(
            "one_over_the_rank",
            "Your answer divides by the rank, but does not multiply by alpha.",
            _slip((_SCALE, "1 / len(A)")),
        ),
        *(
            Misconception(
                f"divided_by_{size}",
                f"Your answer divides alpha by {size}, the {sides}. Divide by the rank: how many rows A has, and "
                "columns B.",
                _slip((_SCALE, f"alpha / weight.shape[{dim}]"), paired=False),
            )
            for size, sides, dim in (("d_in", "columns of A", 1), ("d_out", "rows of B", 0))
        ),
        Misconception(
            "weight_scaled",
            "Your answer multiplies everything by alpha / rank. Only what is learned is scaled.",
            _slip((_SUM, "scale * (own + learned)"), paired=False),
        ),
    ),
    withheld=WITHHELD,
)
