"""Lesson 12, since_2017.orthogonalised: A step of equal size in every direction."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, edits_of, hints, integer, mistake, slips
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.judging.ready_made import ORTHOGONALISATION
from course_lib.references import since_2017

_MUON = (3.4445, -4.775, 2.0315)


def _matrix_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    def normal(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=dtype)

    if not hidden:
        yield Case("worked example: one step", (torch.tensor([[3.0, 0.0], [0.0, 4.0]]), (1.5, -0.5, 0.0), 1))
    rows, columns = integer(generator, 3, 5), integer(generator, 7, 9)
    yield Case("more columns than rows", (normal(rows, columns), _MUON, 5))
    yield Case("no steps", (normal(rows, columns), _MUON, 0))
    yield Case("a square, three steps", (normal(6, 6), _MUON, 3))
    yield Case("other coefficients", (normal(4, 7), (1.9, -1.3, 0.4), 2))
    yield Case("large numbers", (1000 * normal(rows, columns), _MUON, 5))
    yield Case("small numbers", (normal(rows, columns) / 1000, _MUON, 5))
    yield Case("double precision, transposed in memory", (normal(columns, rows, dtype=torch.float64).T, _MUON, 5))
    yield Case("every size is 1", (normal(1, 1) + 3.0, _MUON, 2))
    yield Case("more rows than columns", (normal(columns, rows), _MUON, 5), part="tall matrices")
    yield Case("one column", (normal(rows, 1), (1.5, -0.5, 0.0), 3), part="tall matrices")


def _newton_schulz(gradient: Tensor, coefficients: tuple[float, float, float], steps: int) -> Tensor:
    a, b, c = coefficients
    size = gradient.norm()
    x: Tensor = gradient / size
    for _ in range(steps):
        square = x @ x.T
        change = b * square + c * square @ square
        x = a * x + change @ x
    return x


_slip = edits_of(_newton_schulz)
_SQUARE, _STEP, _SIZE = "x @ x.T", "a * x + change @ x", "gradient.norm()"


def _on_the_narrow_side(gradient: Tensor, coefficients: tuple[float, float, float], steps: int) -> Tensor:
    """The squares of the smaller of the two sizes, whichever it is."""
    a, b, c = coefficients
    tall = gradient.shape[0] > gradient.shape[1]
    x: Tensor = (gradient.T if tall else gradient) / gradient.square().sum().sqrt()
    for _ in range(steps):
        square = x @ x.T
        x = a * x + b * square @ x + c * square @ (square @ x)
    return x.T if tall else x


def _by_singular_values(gradient: Tensor, coefficients: tuple[float, float, float], steps: int) -> Tensor:
    """The same polynomial of each singular value by itself."""
    a, b, c = coefficients
    exact = gradient.double()
    values, vectors = torch.linalg.eigh(exact @ exact.T)
    sizes = values.clamp(min=0).sqrt() / exact.norm()
    factor = torch.ones_like(sizes)
    for _ in range(steps):
        factor = factor * (a + b * sizes**2 + c * sizes**4)
        sizes = sizes * (a + b * sizes**2 + c * sizes**4)
    found: Tensor = (vectors @ (factor.unsqueeze(-1) * (vectors.T @ exact)) / exact.norm()).to(gradient.dtype)
    return found


EXERCISE = Exercise(
    id="since_2017.orthogonalised",
    title="A step of equal size in every direction",
    statement=(
        "orthogonalised(gradient [rows, columns], coefficients (a, b, c), steps) -> [rows, columns]: the gradient "
        "divided by its Frobenius norm, then `steps` times X <- a X + b (X X^T) X + c (X X^T)^2 X."
    ),
    minutes=15,
    difficulty=3,
    importance=3,
    section="A step in every direction",
    source="Jordan et al. (2024), Muon; Bernstein and Newhouse (2024), section 2",
    reference=since_2017.orthogonalised,
    cases=and_turned_around(_matrix_cases),
    parts={CORE: 2, "tall matrices": 1},
    correct=(_newton_schulz, _on_the_narrow_side, _by_singular_values),
    steps=("x",),
    hints=hints(
        idea=(
            "The loop needs only matrix products. Divide the matrix by its norm once, before the loop, then update it "
            "in each round."
        ),
        shapes=(
            "X keeps the gradient's shape. X times its transpose is `[rows, rows]`; multiply X by it from the left. "
            "Its square is a matrix product as well.",
            ("numbers_squared", "transpose_first", "tall_not_turned_back"),
        ),
    ),
    misconceptions=(
        *slips(
            _newton_schulz,
            not_normalised=(
                "Your answer does not divide the gradient by its norm. Do that first, or the iteration diverges for "
                "large matrices.",
                (_SIZE, "1"),
            ),
            normalised_in_every_step=(
                "Your answer divides by the norm in every step. Divide once, before the loop.",
                ("square = ", "x = x / x.norm()\n        square = "),
            ),
            largest_number=(
                "Your answer divides by the gradient's largest absolute value. Divide by its Frobenius norm: the "
                "square root of the sum of all squares.",
                (_SIZE, "gradient.abs().max()"),
            ),
            mean_square=(
                "Your answer divides by the square root of the mean square. The Frobenius norm uses the sum.",
                (_SIZE, "gradient.square().mean().sqrt()"),
            ),
            row_by_row=(
                "Your answer divides each row by its own norm. Divide everything by the norm of the whole matrix.",
                (_SIZE, "gradient.norm(dim=1, keepdim=True)"),
            ),
            numbers_squared=(
                "Your answer squares element by element. (X X^T)^2 is a matrix product: @.",
                ("square @ square", "square**2"),
            ),
        ),
        *mistake(
            "Your answer leaves out a term or a coefficient. X becomes a X + b (X X^T) X + c (X X^T)^2 X.",
            third_term_missing=_slip((" + c * square @ square", "")),
            second_term_missing=_slip(("b * square + ", "")),
            first_term_missing=_slip(("a * x + ", "")),
            x_added=_slip(("a * x +", "x +")),
        ),
        *slips(
            _newton_schulz,
            paired=False,
            transpose_first=(
                "Your answer multiplies by X^T X from the left, which fits only square matrices. Use X X^T.",
                (_SQUARE, "x.T @ x"),
            ),
            not_transposed=("Your answer multiplies X by itself. Use X X^T.", (_SQUARE, "x @ x")),
            from_the_gradient=(
                "Your answer uses the original gradient in every step. Each step continues from the last X.",
                (_STEP, "a * gradient / size + change @ x"),
            ),
        ),
        *slips(
            _newton_schulz,
            one_step=(
                "Your answer takes only one step. Update X in each round of the loop, `steps` times.",
                ("range(steps)", "range(min(steps, 1))"),
            ),
            always_five=("Your answer always takes five steps. Take `steps`.", ("range(steps)", "range(5)")),
            size_given_back=(
                "Your answer multiplies by the norm at the end. Leave that out: the learning rate sets the size of "
                "the step.",
                ("return x", "return x * size"),
            ),
        ),
        *mistake(
            "Your answer transposes a tall matrix and returns it that way. Transpose it back at the end.",
            tall_not_turned_back=_slip(("return x", "return x.T if gradient.shape[0] > gradient.shape[1] else x")),
            alone=True,
        ),
    ),
    forbidden=(ORTHOGONALISATION,),
)
