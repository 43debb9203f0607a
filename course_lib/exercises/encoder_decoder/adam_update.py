"""Lesson 05, encoder_decoder.adam_update: A step of Adam."""

from collections.abc import Iterator

import numpy
import torch
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, hints, integer, kinds, slips
from course_lib.judging.exercise import Case, Exercise
from course_lib.judging.ready_made import ADAM
from course_lib.references import encoder_decoder
from course_lib.references.encoder_decoder import BETAS, EPSILON


def _adam_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        weight, gradient = torch.tensor([1.0, 1.0, 1.0]), torch.tensor([0.001, -0.1, 10.0])
        yield Case("worked example: the first step", (weight, gradient, torch.zeros(3), torch.zeros(3), 1, 0.5))
    for kind, step in zip(kinds(generator), (1, 2, 3, 10, 500), strict=True):
        rows, columns = kind.sizes(2)
        gradient, mean = kind.normal(rows, columns), 0.5 * kind.normal(rows, columns)
        square = 0.2 + mean.square() + 0.3 * kind.normal(rows, columns).abs()
        weight, rate = kind.normal(rows, columns), 0.1 * integer(generator, 3, 9)
        yield Case(f"{kind.name}, step {step}", (weight, gradient, mean, square, step, rate))
    yield Case("a single number", (*torch.tensor([0.5, -2.0, 0.1, 0.3]), 2, 0.25))
    small = 1e-6 * (1 + torch.rand(5, generator=generator))
    yield Case("very small gradients", (torch.ones(5), small, torch.zeros(5), torch.zeros(5), 1, 0.5))


State = tuple[Tensor, Tensor, Tensor]


def _adam(weight: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, step: int, rate: float) -> State:
    b1, b2 = BETAS
    new_mean = b1 * mean + (1 - b1) * gradient
    new_square = b2 * square + (1 - b2) * gradient**2
    by_mean, by_square = 1 - b1**step, 1 - b2**step
    root = (new_square / by_square).sqrt()
    down = rate * (new_mean / by_mean) / (root + EPSILON)
    return weight - down, new_mean, new_square


_BY = "1 - b1**step, 1 - b2**step"
_STATE = "new_mean, new_square"


def _adam_in_place(weight: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, step: int, rate: float) -> State:
    weight, mean, square = weight.clone(), mean.clone(), square.clone()
    mean.mul_(0.9).add_(gradient, alpha=1 - 0.9)
    square.mul_(0.98).addcmul_(gradient, gradient, value=1 - 0.98)
    denominator = (square / (1 - 0.98**step)).sqrt_().add_(1e-9)
    weight.addcdiv_(mean, denominator, value=-rate / (1 - 0.9**step))
    return weight, mean, square


def _adam_in_numpy(weight: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, step: int, rate: float) -> State:
    w, g, m, s = (tensor.double().numpy() for tensor in (weight, gradient, mean, square))
    m = 0.9 * m + 0.1 * g
    s = 0.98 * s + 0.02 * g * g
    w = w - rate * m / (1 - 0.9**step) / (numpy.sqrt(s / (1 - 0.98**step)) + 1e-9)
    new, first, second = (torch.as_tensor(array).to(weight.dtype) for array in (w, m, s))
    return new, first, second


EXERCISE = Exercise(
    id="encoder_decoder.adam_update",
    title="A step of Adam",
    statement=(
        "adam_update(weight, gradient, mean, square, step, rate) -> (weight, mean, square), all [...]: one step of "
        "Adam with bias correction and the paper's settings, 0.9, 0.98 and 1e-9."
    ),
    points=3,
    minutes=12,
    difficulty=3,
    importance=4,
    section="Adam",
    source="Kingma and Ba (2015), algorithm 1; Vaswani et al. (2017), section 5.3; S4, the optimizer",
    reference=encoder_decoder.adam_update,
    cases=and_turned_around(_adam_cases),
    correct=(_adam, _adam_in_place, _adam_in_numpy),
    forbidden=(ADAM,),
    steps=("corrected_mean", "corrected_square"),
    hints=hints(
        idea=(
            "Write five lines, one per formula. Give the corrected values new names, because the next step starts "
            "from the uncorrected ones."
        ),
        outline=(
            "Compute the new mean: nine tenths of the old one plus a tenth of the gradient.\n"
            "Compute the new mean square: 0.98 of the old one plus 0.02 of the squared gradient.\n"
            "Correct both means: divide each of them by 1 minus its own beta to the power of `step`.\n"
            "Update the weight: subtract the rate times the corrected mean, divided by the square root of the "
            "corrected square plus epsilon. Epsilon goes outside the square root.\n"
            "Return weight, mean and square, the last two uncorrected.",
            (
                "corrected_values_kept",
                "not_corrected",
                "epsilon_in_the_root",
                "returned_in_another_order",
                "shares_swapped",
            ),
        ),
    ),
    misconceptions=slips(
        _adam,
        not_corrected=(
            "Your answer leaves out the correction, but in the first steps both means are still close to 0. Divide "
            "them by 1 - β^step first.",
            (_BY, "1, 1"),
        ),
        corrected_by_the_step_before=(
            "Your answer corrects with step + 1, as if steps started at 0. They start at 1: use 1 - β^step.",
            (_BY, "1 - b1 ** (step + 1), 1 - b2 ** (step + 1)"),
        ),
        corrected_as_in_the_first_step=(
            "Your answer always corrects by 1 - β, as in the first step. Add the exponent: 1 - β ** step.",
            (_BY, "1 - b1, 1 - b2"),
        ),
        correction_multiplied=(
            "Your answer multiplies by 1 - β^step. Divide by it, which enlarges the early means.",
            (_BY, "1 / (1 - b1**step), 1 / (1 - b2**step)"),
        ),
        corrected_values_kept=(
            "Your answer returns the corrected mean and square. Return the uncorrected values for the next step.",
            (_STATE, "new_mean / by_mean, new_square / by_square"),
        ),
        corrected_square_kept=(
            "Your answer returns the corrected square. Return the uncorrected square for the next step.",
            (_STATE, "new_mean, new_square / by_square"),
        ),
        torchs_settings=(
            "Your answer uses torch's default of 0.999 for the squares. Use the paper's 0.98.",
            ("BETAS", "0.9, 0.999"),
        ),
        torchs_settings_and_epsilon=(
            "Your answer uses torch's defaults, 0.999 and 1e-8. Use the paper's 0.98 and 1e-9.",
            ("BETAS", "0.9, 0.999"),
            ("EPSILON", "1e-8"),
        ),
        torchs_epsilon=(
            "Your answer uses torch's default epsilon, 1e-8. Use the paper's 1e-9: it matters for small gradients.",
            ("EPSILON", "1e-8"),
        ),
        betas_swapped=(
            "Your answer swaps the two betas. Use 0.9 for the mean and 0.98 for the squares.",
            ("b1, b2 = BETAS", "b2, b1 = BETAS"),
        ),
        shares_swapped=(
            "Your answer swaps β and 1 - β. Multiply the old mean by β and the new value by 1 - β.",
            ("b1 * mean + (1 - b1)", "(1 - b1) * mean + b1"),
            ("b2 * square + (1 - b2)", "(1 - b2) * square + b2"),
        ),
        mean_alone_corrected=(
            "Your answer corrects only the mean. Divide the square by 1 - 0.98^step too, before you take its square "
            "root.",
            (_BY, "1 - b1**step, 1"),
        ),
        square_alone_corrected=(
            "Your answer corrects only the square. Divide the mean by 1 - 0.9^step too.",
            (_BY, "1, 1 - b2**step"),
        ),
        no_root=("Your answer divides by the mean square itself. Divide by its square root.", (".sqrt()", "")),
        epsilon_in_the_root=(
            "Your answer adds 1e-9 under the square root. Add it after the square root instead: √square + 1e-9.",
            (".sqrt()", ""),
            ("(root + EPSILON)", "(root + EPSILON).sqrt()"),
        ),
        no_epsilon=(
            "Your answer leaves out 1e-9, or adds it where it has no effect. Add it to the square root, before you "
            "divide: √square + 1e-9.",
            (" + EPSILON", ""),
        ),
        returned_in_another_order=(
            "Your answer returns `square` before `mean`. Return weight, mean, square.",
            (_STATE, "new_square, new_mean"),
        ),
        update_returned=(
            "Your answer returns only the change in the weight. Return the new weight: weight - rate · ...",
            ("weight - down", "-down"),
        ),
        uphill=("Your answer goes uphill. Subtract the step from the weight.", ("weight - down", "weight + down")),
        rate_left_out=("Your answer ignores `rate`. Multiply the step by it.", ("rate * ", "")),
        not_squared=(
            "Your answer never squares the gradient. `square` is the running mean of gradient².",
            ("gradient**2", "gradient"),
        ),
    ),
)
