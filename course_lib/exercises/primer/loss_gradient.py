"""Primer, primer.loss_gradient: Which way is up."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, hints, slips, unbatched_kinds
from course_lib.exercises.primer.shared import BAGS
from course_lib.judging.exercise import Case, Exercise
from course_lib.references import primer


def _gradient_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        w, y = torch.tensor([1.0, 0.0, 0.0]), torch.tensor([5.0, 1.0, 3.0, -1.0])
        yield Case("worked example: four sentences and their applause", (w, BAGS, y))
    for kind in unbatched_kinds(generator):
        examples, features = kind.sizes(2)
        yield Case(kind.name, (kind.normal(features), kind.normal(examples, features), kind.normal(examples)))
    square = torch.randn(3, 3, generator=generator), torch.randn(3, generator=generator)
    yield Case("as many examples as features", (torch.randn(3, generator=generator), *square))


def _by_formula(w: Tensor, x: Tensor, y: Tensor) -> Tensor:
    prediction = x @ w
    error = prediction - y
    slopes = 2 * error
    gradient = slopes @ x / len(y)
    return gradient


_GRADIENT = "slopes @ x / len(y)"


def _by_torch(w: Tensor, x: Tensor, y: Tensor) -> Tensor:
    w = w.clone().requires_grad_()
    (found,) = torch.autograd.grad(torch.nn.functional.mse_loss(x @ w, y), w)
    return found


def _one_by_one(w: Tensor, x: Tensor, y: Tensor) -> Tensor:
    total = torch.zeros_like(w)
    for row, target in zip(x, y, strict=True):
        total += 2 * (row.dot(w) - target) * row
    return total / len(y)


EXERCISE = Exercise(
    id="primer.loss_gradient",
    title="Which way is up",
    statement=(
        "loss_gradient(w [features], x [examples, features], y [examples]) -> [features]: the gradient at w of the "
        "mean of (x @ w - y)²."
    ),
    points=2,
    minutes=7,
    difficulty=2,
    importance=5,
    section="A gradient says which way is up",
    source="PyTorch's documentation, Automatic differentiation",
    reference=primer.loss_gradient,
    cases=and_turned_around(_gradient_cases),
    correct=(_by_formula, _by_torch, _one_by_one),
    steps=("prediction", "error"),
    hints=hints(
        idea=(
            "PyTorch computes the gradient for you if you compute the loss from a `w` that it tracks. Make a tracked "
            "copy, compute the loss from it, call `backward()` on the loss, and read the copy's `.grad`."
        ),
        shapes=(
            "The predictions and the errors have shape `[examples]`. The loss is a single number, of shape `[]`. The "
            "gradient has the shape of `w`: `[features]`.",
            ("loss_itself", "of_the_predictions", "summed"),
        ),
        outline=(
            "Copy `w`, and have torch track the copy.\n"
            "Predict, subtract `y`, square, and take the mean.\n"
            "Call `backward()` on the loss.\n"
            "Return the copy's gradient."
        ),
    ),
    misconceptions=slips(
        _by_formula,
        summed=(
            "Your answer is the gradient of the sum of the squares. The loss is their mean: divide by the number of "
            "examples.",
            (_GRADIENT, "slopes @ x"),
        ),
        factor_2_missing=(
            "Your answer is half the gradient. Multiply your answer by 2: the derivative of u² is 2u.",
            ("2 * error", "error"),
        ),
        downhill=(
            "Your answer has the opposite sign, so it points downhill. Return the gradient, which points uphill; "
            "gradient descent subtracts the gradient later.",
            ("prediction - y", "y - prediction"),
        ),
        loss_itself=(
            "Your answer is the loss. Return the gradient of the loss, which backward() puts into w.grad.",
            ("return gradient", "return error.square().mean()"),
        ),
        of_the_predictions=(
            "Your answer is the gradient with respect to the predictions, one number per example. By the chain rule, "
            "multiply each number by its row of x and add up the rows.",
            (_GRADIENT, "slopes / len(y)"),
        ),
        of_the_mean_error=(
            "Your answer is the gradient of the mean error, which doesn't depend on w. Square the errors before you "
            "take the mean.",
            (_GRADIENT, "x.mean(dim=0)"),
        ),
        squared_mean=(
            "Your answer squares the mean of the errors, so positive and negative errors cancel. Square each error "
            "first, then take the mean.",
            (_GRADIENT, "slopes.mean() * x.mean(dim=0)"),
        ),
        absolute_error=(
            "Your answer is the gradient of the mean absolute error. Square the errors instead: the loss is the mean "
            "of the squares.",
            ("2 * error", "error.sign()"),
        ),
        divided_by_the_features=(
            "Your answer divides by the number of features. Divide by the number of examples.",
            (_GRADIENT, "slopes @ x / len(w)"),
        ),
        root_of_the_loss=(
            "Your answer is the gradient of the square root of the mean squared error. Leave out the square root.",
            (_GRADIENT, "error @ x / len(y) / error.square().mean().sqrt()"),
        ),
        targets_left_out=(
            "Your answer leaves out y, so it is the gradient of the mean squared prediction. Subtract y from the "
            "prediction to get the error.",
            ("prediction - y", "prediction"),
        ),
    ),
)
