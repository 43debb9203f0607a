"""Lesson 12, since_2017.rms_norm: RMSNorm."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, edits_of, hints, kinds, mistake, sizes, slips
from course_lib.exercises.since_2017.shared import no_gradient
from course_lib.exercises.worked_examples import B
from course_lib.judging.exercise import Case, Exercise, Misconception
from course_lib.judging.ready_made import NORMALISATION
from course_lib.modern import rms_norm


def _rms_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(B.name, (B.q, torch.tensor([1.0, 2.0]), 1e-6))
    for kind in kinds(generator):
        tokens, like = kind.sizes(2)
        d_model = kind.d_head() + (not kind.ones and like == tokens)
        x, gamma = 1 + 2 * kind.normal(tokens, d_model), torch.randn(d_model, generator=generator, dtype=kind.dtype)
        yield Case(kind.name, (x, gamma, 1e-6), gradients=() if kind.leading else (0, 1))
    yield Case("a single vector", (*torch.randn(2, 6, generator=generator), 1e-6))
    tokens, d_model = sizes(generator, 2)
    x, gamma = torch.randn(tokens, d_model, generator=generator), torch.randn(d_model, generator=generator)
    yield Case("a large epsilon", (x, gamma, 0.5))
    yield Case("a token of zeros", (x * (torch.arange(tokens) > 0).unsqueeze(-1), gamma, 1e-6), gradients=(0,))


def _norm_in_steps(x: Tensor, gamma: Tensor, epsilon: float) -> Tensor:
    square = x.square().mean(dim=-1, keepdim=True)
    root = (square + epsilon).sqrt()
    return x / root * gamma


_slip = edits_of(_norm_in_steps)
_SQUARE, _ROOT = "x.square()", "(square + epsilon).sqrt()"
_NO_ROOT = (_ROOT, "square + epsilon")


def _norm_by_length(x: Tensor, gamma: Tensor, epsilon: float) -> Tensor:
    length = (x * x).sum(dim=-1, keepdim=True)
    return gamma * x * (length / x.shape[-1] + epsilon) ** -0.5


def _norm_by_token(x: Tensor, gamma: Tensor, epsilon: float) -> Tensor:
    rows = [token / torch.sqrt((token @ token) / len(token) + epsilon) * gamma for token in x.reshape(-1, x.shape[-1])]
    return torch.stack(rows).reshape(x.shape)


EXERCISE = Exercise(
    id="since_2017.rms_norm",
    title="RMSNorm",
    statement=(
        "rms_norm(x [..., d_model], gamma [d_model], epsilon) -> [..., d_model]: gamma x / √(mean(x²) + epsilon) for "
        "each token's vector x. Don't use torch's norms; gradients must flow."
    ),
    points=1,
    minutes=6,
    difficulty=1,
    importance=5,
    section="A norm with less in it",
    source="Zhang and Sennrich (2019), equation 4",
    reference=rms_norm.rms_norm,
    cases=and_turned_around(_rms_cases),
    correct=(_norm_in_steps, _norm_by_length, _norm_by_token),
    steps=("mean_square",),
    hints=hints(
        idea=(
            "Read the name backwards: square every number, take the mean over each token's numbers, take the square "
            "root. Don't subtract anything."
        ),
        shapes=(
            "The mean of the squares is one number for each token: `[..., 1]` with keepdim, so that it divides the "
            "whole vector. `gamma` is `[d_model]` and broadcasts over the last dimension.",
            ("over_the_words", "over_everything", "sum_for_mean"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer multiplies by 1 + gamma, as Gemma's published code does. Multiply by gamma.",
            one_added_to_gamma=_slip(("* gamma", "* (1 + gamma)"), paired=False),
        ),
        *mistake(
            "Your answer subtracts the mean from x, as layer norm does. RMSNorm divides x itself by the square root of "
            "its mean square.",
            layer_norm=_slip(("square = ", "x = x - x.mean(dim=-1, keepdim=True)\n    square = "), paired=False),
        ),
        *mistake(
            "Your answer leaves out epsilon, so a token of zeros is divided by 0. Add epsilon to the mean square, "
            "under the square root.",
            epsilon_left_out=_slip((_ROOT, "square.sqrt()")),
            alone=True,
        ),
        *mistake(
            "Your values are right, but no gradient passes through the square root (.detach(), .data, .item(), "
            "no_grad). It depends on x, so its gradient counts, too.",
            root_detached=_slip(("x / root", "x / root.detach()")),
            alone=True,
        ),
        *(
            Misconception(
                name,
                "Your answer adds epsilon after the square root. Add it under the square root: √(mean(x²) + epsilon).",
                _slip((_ROOT, f"{root} + epsilon")),
                alone=True,
            )
            for name, root in (
                ("epsilon_outside_the_root", "square.sqrt()"),
                ("epsilon_added_to_norm", "torch.where(square > 0, square, 1.0).sqrt() * (square > 0)"),
            )
        ),
        *slips(
            _norm_in_steps,
            mean_subtracted=(
                "Your answer subtracts the mean before it squares, as layer norm does. RMSNorm squares x itself.",
                (_SQUARE, "(x - x.mean(dim=-1, keepdim=True)).square()"),
            ),
            sum_for_mean=(
                "Your answer divides by the square root of the sum of squares. Take their mean, so that the values "
                "stay around 1 whatever d_model is.",
                (".mean", ".sum"),
            ),
            root_left_out=("Your answer divides by the mean square. Take its square root first.", _NO_ROOT),
            over_the_words=(
                "Your answer takes the mean over the tokens (dim=-2). Take it over each token's own numbers, dim=-1.",
                ("dim=-1", "dim=-2"),
            ),
            over_everything=(
                "Your answer takes one mean over all numbers. Each token has its own mean: dim=-1, keepdim=True.",
                ("(dim=-1, keepdim=True)", "()"),
            ),
            gamma_left_out=("Your answer leaves out gamma. Multiply by it.", (" * gamma", "")),
            gamma_added=("Your answer adds gamma. Multiply by it.", ("* gamma", "+ gamma")),
        ),
        no_gradient(_slip(("x / root * gamma", "(x / root * gamma).detach()")), "x or gamma"),
    ),
    forbidden=(NORMALISATION,),
)
