"""Lesson 04, heads_and_blocks.layer_norm: Layer norm."""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, edits_of, hints, kinds, mistake, sizes, slips
from course_lib.exercises.heads_and_blocks.shared import FOUR_NUMBERS_A_WORD, gradients_cut
from course_lib.exercises.worked_examples import B
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.judging.ready_made import NORMALISATION
from course_lib.references import heads_and_blocks


def _norm_case(
    name: str, x: Tensor, generator: Generator, epsilon: float = 1e-5, graded: bool = True, part: str = CORE
) -> Case:
    weight, bias = torch.randn(2, x.shape[-1], generator=generator, dtype=x.dtype)
    construct = {"d_model": x.shape[-1], "epsilon": epsilon}
    weights = {"weight": weight, "bias": bias}
    gradients = (0,) if graded else ()
    return Case(
        name, (x,), construct=construct, weights=weights, gradients=gradients, weight_gradients=graded, part=part
    )


def _layer_norm_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        weights = {"weight": torch.tensor([1.0, 2.0, 1.0, 0.5]), "bias": torch.tensor([0.0, 0.0, 1.0, -1.0])}
        name = f"{B.name} with four numbers a token"
        yield Case(name, (FOUR_NUMBERS_A_WORD,), construct={"d_model": 4, "epsilon": 1e-5}, weights=weights)
    for kind in kinds(generator):
        (tokens,) = kind.sizes(1)
        if tokens == 2:
            tokens = 3  # of two, both become 1 or -1: standardizing over them gives gradients of noise
        x = 1 + 2 * kind.normal(tokens, kind.d_head())
        # Double precision is so exact that even 1e-5 shows, and a single number has no variance at all.
        part = "epsilon" if kind.dtype == torch.float64 or kind.ones else CORE
        yield _norm_case(kind.name, x, generator, graded=not kind.leading, part=part)
    yield _norm_case("a single vector", torch.randn(6, generator=generator), generator, graded=False)
    for name, spread, epsilon in (
        ("tokens whose numbers are all equal", 0.0, 1e-5),
        ("tokens whose numbers hardly differ", 0.05, 0.01),
        ("a large epsilon", 1.0, 0.5),
    ):
        (tokens,) = sizes(generator, 1)
        d_model = 8  # so that the mean of equal numbers is exact, however computed; over √epsilon no rounding is small
        level = torch.randint(-1, 2, (tokens, 1), generator=generator).float()
        x = level + spread * torch.randn(tokens, d_model, generator=generator)
        # Where all are equal √variance has no gradient, and taking it on the way gives NaN.
        yield _norm_case(name, x, generator, epsilon, not spread, "epsilon")


class _Normed(heads_and_blocks.LayerNorm):
    def forward(self, x: Tensor) -> Tensor:
        dim, epsilon = -1, self.epsilon
        mean = x.mean(dim, keepdim=True)
        squares = (x - x.mean(dim, keepdim=True)).square()
        variance = squares.mean(dim, keepdim=True)
        spread = (variance + epsilon).sqrt()
        centred = x - mean
        return self.weight * centred / spread + self.bias


_slip = edits_of(_Normed)
_slips = partial(slips, _Normed)
_DIM, _ADDED, _ROOT = "dim, epsilon = -1", "(variance + epsilon)", "(variance + epsilon).sqrt()"
_LEARNED = "self.weight * centred / spread + self.bias"
_OUTSIDE = "Your answer adds epsilon to the standard deviation. Add it to the variance: √(variance + epsilon)."


class _NormByLoop(heads_and_blocks.LayerNorm):
    def forward(self, x: Tensor) -> Tensor:
        tokens = x.reshape(-1, x.shape[-1])
        rows = [(y - y.mean()) / torch.sqrt(y.var(correction=0) + self.epsilon) for y in tokens]
        return torch.stack(rows).reshape(x.shape) * self.weight + self.bias


class _NormBySquares(heads_and_blocks.LayerNorm):
    def forward(self, x: Tensor) -> Tensor:
        mean = x.double().mean(-1, keepdim=True)
        variance = x.double().square().mean(-1, keepdim=True) - mean**2
        return (self.weight * (x - mean) / (variance + self.epsilon).sqrt() + self.bias).to(x.dtype)


EXERCISE = Exercise(
    id="heads_and_blocks.layer_norm",
    title="Layer norm",
    statement=(
        "class LayerNorm(nn.Module): __init__(d_model, epsilon) creates the parameters weight and bias, [d_model]; "
        "forward(x [..., d_model]) -> [..., d_model]: each token's vector as weight (x - mean) / √(variance + "
        "epsilon) + bias, where the variance divides by d_model; with gradients."
    ),
    minutes=12,
    difficulty=2,
    importance=5,
    section="Layer norm",
    source="S3, layer normalization; Ba, Kiros and Hinton (2016), section 3",
    reference=heads_and_blocks.LayerNorm,
    cases=and_turned_around(_layer_norm_cases),
    parts={CORE: 2, "epsilon": 1},
    correct=(_Normed, _NormByLoop, _NormBySquares),
    steps=("centred", "variance"),
    hints=hints(
        idea=(
            "Take the mean and variance over the numbers of one token; its neighbors don't matter. For the variance, "
            "divide by `d_model`, not by one less, and put epsilon under the square root."
        ),
        outline=(
            "Take the mean over the last dimension, keeping the dimension.\n"
            "Take the variance in the same way, with `correction=0`.\n"
            "Subtract the mean, and divide by the square root of the variance plus epsilon.\n"
            "Multiply by `self.weight`, then add `self.bias`.",
            ("divided_by_one_less", "epsilon_outside_the_root", "root_left_out", "not_centred"),
        ),
    ),
    misconceptions=(
        *_slips(
            alone=True,
            epsilon_left_out=(
                "Your answer leaves out epsilon, so it divides 0 by 0 if a token's numbers are all equal. Add "
                "epsilon to the variance, under the square root.",
                (_ADDED, "variance"),
            ),
            epsilon_outside_the_root=(_OUTSIDE, (_ROOT, "variance.sqrt() + epsilon")),
            epsilon_added_to_std=(_OUTSIDE, (_ROOT, "x.std(dim, correction=0, keepdim=True) + epsilon")),
            epsilon_fixed=(
                "Your answer always adds torch's default, 1e-5. Use self.epsilon.",
                (_ADDED, "(variance + 1e-5)"),
            ),
            statistics_detached=(
                "Your values are right, but no gradient flows back to x through the mean and variance. Look for "
                ".detach(), .data or no_grad.",
                ("x - mean", "x - mean.detach()"),
                ("/ spread", "/ spread.detach()"),
            ),
            root_without_epsilon_on_the_way=(
                "Your values are right, but the gradient is NaN if a token's numbers are all equal: the square root of "
                "a variance of 0 has no gradient. Add epsilon to the variance, and take the square root of the sum.",
                (_ADDED, "(variance.sqrt().square() + epsilon)"),
            ),
        ),
        *_slips(
            divided_by_one_less=(
                "Your answer divides the variance by d_model - 1, torch's default in var and std. Divide by d_model: "
                "correction=0 (or unbiased=False).",
                ("squares.mean(dim, keepdim=True)", "squares.sum(dim, keepdim=True) / (x.shape[dim] - 1)"),
            ),
            not_divided_by_d_model=(
                "Your answer uses the sum of the squared differences as the variance. Take their mean.",
                ("centred / spread", "centred / centred.norm(dim=-1, keepdim=True).clamp_min(1e-12)"),
            ),
            root_left_out=("Your answer divides by the variance. Divide by √(variance + epsilon).", (".sqrt()", "")),
            not_divided=(
                "Your answer only subtracts the mean. Divide by √(variance + epsilon) too.",
                (" / spread", ""),
            ),
            not_centred=("Your answer doesn't subtract the mean. Subtract each token's mean first.", ("x - mean", "x")),
            root_mean_square=(
                "Your answer divides by the root mean square without subtracting the mean, which is RMSNorm (Zhang "
                "and Sennrich, 2019). Subtract the mean first.",
                ("x - mean", "x"),
                ("(x - x.mean(dim, keepdim=True)).square()", "x.square()"),
            ),
            beta_left_out=("Your answer leaves out the bias. Add it at the end.", (" + self.bias", "")),
            gamma_left_out=(
                "Your answer leaves out the weight. Multiply by it before you add the bias.",
                ("self.weight * ", ""),
            ),
            mean_without_keepdim=(
                "Your answer subtracts a mean from each column, not from each row: without keepdim=True the means, "
                "[tokens], line up with d_model. Keep the dimension.",
                ("mean = x.mean(dim, keepdim=True)", "mean = x.mean(dim)"),
                ("squares.mean(dim, keepdim=True)", "squares.mean(dim)"),
            ),
        ),
        *mistake(
            "Your answer takes the mean and variance over more than one token. Use each token's own numbers: dim=-1, "
            "keepdim=True.",
            over_the_words=_slip((_DIM, "dim, epsilon = -2")),
            over_everything=_slip((_DIM, "dim, epsilon = tuple(range(x.ndim))")),
            over_the_first_dimension=_slip((_DIM, "dim, epsilon = 0")),
            over_the_second_dimension=_slip((_DIM, "dim, epsilon = 1")),
        ),
        gradients_cut(_slip((_LEARNED, f"({_LEARNED}).detach()")), "x, weight or bias"),
    ),
    forbidden=(NORMALISATION,),
)
