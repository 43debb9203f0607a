"""Lesson 12, since_2017.lora_layer: Learning beside a frozen weight."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib.exercises.common import and_turned_around, edits_of, hints, integer, kinds, mistake, slips
from course_lib.exercises.since_2017.shared import no_gradient
from course_lib.exercises.worked_examples import B
from course_lib.judging.exercise import Case, Exercise, Misconception
from course_lib.references import since_2017


def _lora_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    def made(
        name: str, x: Tensor, weight: Tensor, A: Tensor, B_: Tensor, alpha: float, *, gradients: bool = False
    ) -> Case:
        construct = {"weight": weight, "rank": len(A), "alpha": alpha}
        return Case(
            name,
            (x,),
            construct=construct,
            weights={"A": A, "B": B_},
            gradients=(0,) if gradients else (),
            weight_gradients=gradients,
        )

    if not hidden:
        weight, A = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), torch.tensor([[1.0, -1.0]])
        yield made(f"{B.name}, rank 1", B.q, weight, A, torch.tensor([[0.0], [1.0], [2.0]]), 2.0)
    for kind in kinds(generator):
        tokens, rank = kind.sizes(2)
        if kind.dtype == torch.float64:
            rank = 3
        d_in, d_out = kind.d_head(), 1 if kind.ones else integer(generator, 17, 23)
        weight, A, B_ = (
            torch.randn(*shape, generator=generator, dtype=kind.dtype)
            for shape in ((d_out, d_in), (rank, d_in), (d_out, rank))
        )
        yield made(kind.name, kind.normal(tokens, d_in), weight, A, B_, 2.0 * integer(generator, 1, 9))
    A, B_ = torch.randn(2, 4, generator=generator), torch.randn(3, 2, generator=generator)
    yield made("a single vector", torch.arange(4.0), torch.ones(3, 4), A, B_, 2.0)
    x, d_out, rank = torch.randn(4, 5, generator=generator), 6, 2
    weight, A, B_ = (torch.randn(*shape, generator=generator) for shape in ((d_out, 5), (rank, 5), (d_out, rank)))
    yield made("gradients of x, A and B", x, weight, A, B_, 8.0, gradients=True)


class _SideBySide(nn.Module):
    def __init__(self, weight: Tensor, rank: int, alpha: float) -> None:
        super().__init__()
        self.weight = weight
        self.A = nn.Parameter(torch.randn(rank, weight.shape[1]))
        self.B = nn.Parameter(torch.zeros(weight.shape[0], rank))
        self.alpha, self.rank = alpha, rank

    def forward(self, x: Tensor) -> Tensor:
        own, learned = x @ self.weight.T, x @ self.A.T @ self.B.T
        scale = self.alpha / self.rank
        out = own + scale * learned
        return out


_slip = edits_of(_SideBySide)
_SCALE, _SUM = "self.alpha / self.rank", "own + scale * learned"


class _ByMerging(since_2017.LoRA):
    """One matrix for both: right, and the whole of B A is made in every call."""

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight + self.scale * self.B @ self.A)


class _ByRank(since_2017.LoRA):
    """One product of a column and a row after the other."""

    def forward(self, x: Tensor) -> Tensor:
        out = x @ self.weight.mT
        for row, column in zip(self.A, self.B.unbind(dim=1), strict=True):
            out = out + self.scale * (x @ row).unsqueeze(-1) * column
        return out


EXERCISE = Exercise(
    id="since_2017.lora_layer",
    title="Learning beside a frozen weight",
    statement=(
        "class LoRA(nn.Module): __init__(weight [d_out, d_in], rank, alpha) stores the frozen weight, which is not a "
        "parameter, and creates the parameters A [rank, d_in] and B [d_out, rank]; forward(x [..., d_in]) -> [..., "
        "d_out]: W x + (alpha / rank) B A x, with gradients for x, A and B."
    ),
    points=3,
    minutes=15,
    difficulty=3,
    importance=4,
    section="Learning beside a large model",
    source="Hu et al. (2022), section 4.1, equation 3",
    reference=since_2017.LoRA,
    cases=and_turned_around(_lora_cases),
    correct=(_SideBySide, _ByMerging, _ByRank),
    steps=("change",),
    hints=hints(
        idea=(
            "Two paths lead from x to the result: the old one through the frozen weight, and a narrow one, down to "
            "`rank` numbers and up again. Add the two."
        ),
        shapes=(
            "As in `nn.Linear`, each row of a matrix gives one output, so multiply by the transpose of each. The "
            "narrow path has shape `[..., rank]` in the middle. The shape of A or B tells you the rank.",
            ("scaled_by_the_rank", "not_divided_by_the_rank"),
        ),
    ),
    misconceptions=(
        no_gradient(_slip(("return out", "return out.detach()")), "x, A or B"),
        *mistake(
            "Your values are right, but x gets no gradient through the frozen weight, so the layers below don't "
            "learn properly. Freeze the weight, not its product with x.",
            own_answer_frozen=_slip(("x @ self.weight.T", "(x @ self.weight.T).detach()")),
            alone=True,
        ),
        *slips(
            _SideBySide,
            weight_left_out=("Your answer leaves out the frozen weight. Add W x.", ("own +", "0 * own +")),
            nothing_learned=("Your answer is only W x. Add (alpha / rank) B A x.", (_SCALE, "0.0")),
            not_divided_by_the_rank=(
                "Your answer multiplies by alpha. Divide alpha by the rank, so that you can change the rank without "
                "changing the learning rate.",
                (_SCALE, "self.alpha"),
            ),
            scaled_by_the_rank=(
                "Your answer multiplies by alpha times the rank. Divide by the rank: alpha / rank.",
                (_SCALE, "self.alpha * self.rank"),
            ),
            alpha_left_out=("Your answer ignores alpha. Multiply B A x by alpha / rank.", (_SCALE, "1.0")),
            one_over_the_rank=(
                "Your answer divides by the rank but ignores alpha. Multiply B A x by alpha / rank.",
                (_SCALE, "1 / self.rank"),
            ),
        ),
        *(
            Misconception(
                f"divided_by_{size}",
                f"Your answer divides alpha by {size}, the number of {sides}. Divide by the rank: the number of "
                "rows of A, or of columns of B.",
                _slip((_SCALE, f"self.alpha / self.weight.shape[{dim}]"), paired=False),
            )
            for size, sides, dim in (("d_in", "columns of A", 1), ("d_out", "rows of B", 0))
        ),
        *mistake(
            "Your answer scales everything by alpha / rank. Scale only B A x.",
            weight_scaled=_slip((_SUM, "scale * (own + learned)"), paired=False),
        ),
    ),
)
