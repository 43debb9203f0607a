"""Primer, primer.walk_downhill: Step by step downhill."""

from collections.abc import Callable, Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import Kind, hints, integer, slips
from course_lib.judging.exercise import Callback, Case, Exercise
from course_lib.judging.recorded.stand_ins import Tanh
from course_lib.references import primer

Gradient = Callable[[Tensor], Tensor]


def _walk_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        bowl = Callback("gradient", Tanh(torch.tensor([[1.0, 0.0], [0.0, 2.0]])))
        yield Case("worked example: three steps", (bowl, torch.tensor([2.0, -1.0]), 0.5, 3))
    for name, dtype, features, steps in (
        ("a longer walk", torch.float32, integer(generator, 3, 6), integer(generator, 5, 9)),
        ("a single step", torch.float32, 2, 1),
        ("a single weight", torch.float32, 1, integer(generator, 3, 5)),
        ("double precision", torch.float64, 3, 4),
    ):
        kind = Kind(name, generator, dtype=dtype)
        slopes = Callback("gradient", Tanh(kind.normal(features, features)))
        yield Case(name, (slopes, kind.normal(features), 0.1 * integer(generator, 2, 8), steps))


def _walked(gradient: Gradient, start: Tensor, rate: float, steps: int) -> Tensor:
    w, path = start, [start]
    for _ in range(steps):
        slope = gradient(w)
        w = w - rate * slope
        path.append(w)
    return torch.stack(path)


_STEP = "w - rate * slope"


def _into_a_table(gradient: Gradient, start: Tensor, rate: float, steps: int) -> Tensor:
    path = start.repeat(steps + 1, 1)
    for i in range(steps):
        path[i + 1] = path[i] - rate * gradient(path[i])
    return path


def _recursively(gradient: Gradient, start: Tensor, rate: float, steps: int) -> Tensor:
    if not steps:
        return start[None]
    rest = _recursively(gradient, start - rate * gradient(start), rate, steps - 1)
    return torch.cat([start[None], rest])


EXERCISE = Exercise(
    id="primer.walk_downhill",
    title="Step by step downhill",
    statement=(
        "walk_downhill(gradient, start [features], rate, steps) -> [steps + 1, features]: the path of gradient "
        "descent, including the start; gradient(w) -> [features] is the gradient at w."
    ),
    points=2,
    minutes=7,
    difficulty=2,
    importance=5,
    section="Gradient descent",
    source="Cauchy (1847), by way of Goodfellow et al. (2016), section 4.3",
    reference=primer.walk_downhill,
    cases=_walk_cases,
    correct=(_walked, _into_a_table, _recursively),
    hints=hints(
        idea=(
            "At your current position, compute the gradient and subtract `rate` times that gradient. Repeat this "
            "`steps` times, and keep every position, including the start."
        ),
        shapes=(
            "A position has shape `[features]`, and so does a gradient. The path has one more position than there are "
            "steps, so its shape is `[steps + 1, features]`. `torch.stack` turns a list of positions into such a "
            "tensor.",
            ("start_missing", "end_missing", "end_only"),
        ),
    ),
    misconceptions=slips(
        _walked,
        uphill=("Your answer adds the gradient, so it walks uphill. Subtract it.", (_STEP, "w + rate * slope")),
        rate_left_out=(
            "Your answer subtracts the whole gradient. Multiply the gradient by the rate first.",
            (_STEP, "w - slope"),
        ),
        gradient_of_the_start=(
            "Your answer computes the gradient once, at the start, and uses it for every step. Compute the gradient "
            "again at each new position.",
            ("gradient(w)", "gradient(start)"),
        ),
        always_from_the_start=(
            "Your answer takes every step from the start. Take each step from where the previous one ended.",
            (_STEP, "start - rate * slope"),
        ),
        start_missing=("Your path begins after the first step. Put the start first.", ("[start]", "[]")),
        end_only=(
            "Your answer is only the final position. Return the whole path, [steps + 1, features].",
            ("torch.stack(path)", "w"),
        ),
        one_step_too_many=(
            "Your path is one step too long. Including the start, it should have steps + 1 positions.",
            ("range(steps)", "range(steps + 1)"),
        ),
        direction_only=(
            "Your answer divides by the length of the gradient, so all steps are equally long. Subtract rate times "
            "the gradient itself: where the ground is flatter, steps should be shorter.",
            (_STEP, "w - rate * slope / slope.norm()"),
        ),
        list=(
            "Your answer is a list of tensors. Turn the list into one tensor with torch.stack.",
            ("torch.stack(path)", "path"),
        ),
        steps_and_not_positions=(
            "Your answer lists the start and then the steps. Return the position where each step ends.",
            ("append(w)", "append(-rate * slope)"),
        ),
        end_missing=(
            "Your path ends one step early. Append each position after you have moved to it, so that the last one is "
            "included.",
            lambda gradient, start, rate, steps: _walked(gradient, start, rate, steps)[:-1],
        ),
        same_tensor_again=(
            "Every position of your path equals the last one: w -= ... changes the same tensor each time. Make a new "
            "tensor with w = w - ..., or append w.clone().",
            lambda gradient, start, rate, steps: _walked(gradient, start, rate, steps)[-1].repeat(steps + 1, 1),
        ),
    ),
)
