"""Lesson 05, encoder_decoder.adam_update: A step of Adam."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy
import torch
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, integer, kinds
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import Case, Exercise, Hint, Misconception
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


_slip = partial(Edited, _adam)
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


CORRECT = (_adam, _adam_in_place, _adam_in_numpy)


EXERCISE = Exercise(
    id="encoder_decoder.adam_update",
    name="adam_update",
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
    correct=CORRECT,
    forbidden=(ADAM,),
    steps=("corrected_mean", "corrected_square"),
    hints=(
        Hint(
            "idea",
            "Write five lines, one per formula. Give the corrected values new names, because the next step starts "
            "from the uncorrected ones.",
        ),
        Hint(
            "outline",
            "Compute the new mean: nine tenths of the old one plus a tenth of the gradient.\n"
            "Compute the new mean square: 0.98 of the old one plus 0.02 of the squared gradient.\n"
            "Correct both: divide by 1 minus their beta to the power of the step.\n"
            "Update the weight: subtract rate times corrected mean, over the root of the corrected square plus "
            "epsilon. Epsilon goes outside the root.\n"
            "Return weight, mean and square, the last two uncorrected.",
            answers=(
                "corrected_values_kept",
                "not_corrected",
                "epsilon_in_the_root",
                "corrected_by_one_beta",
                "returned_in_another_order",
                "shares_swapped",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "not_corrected",
            "Your answer leaves out the correction, but in the first steps mean and square are still close to their "
            "initial zeros. Divide them by 1 - β^step before you use them.",
            _slip((_BY, "1, 1")),
        ),
        Misconception(
            "corrected_by_the_step_before",
            "Your answer corrects with step + 1, as if steps started at 0. They start at 1: use 1 - β^step.",
            _slip((_BY, "1 - b1 ** (step + 1), 1 - b2 ** (step + 1)")),
        ),
        Misconception(
            "corrected_by_one_step_less",
            "Your answer corrects with step - 1, which divides by 0 in the first step. Steps start at 1: use 1 - "
            "β^step.",
            _slip((_BY, "1 - b1 ** (step - 1), 1 - b2 ** (step - 1)")),
        ),
        Misconception(
            "corrected_as_in_the_first_step",
            "Your answer always corrects by 1 - β, which is right only in the first step. Add the exponent: 1 - β ** "
            "step.",
            _slip((_BY, "1 - b1, 1 - b2")),
        ),
        Misconception(
            "correction_multiplied",
            "Your answer multiplies by 1 - β^step. Divide by it, to make the means of the first steps larger.",
            _slip((_BY, "1 / (1 - b1**step), 1 / (1 - b2**step)")),
        ),
        Misconception(
            "corrected_values_kept",
            "Your answer returns the corrected mean and square. Use them in this step only: return the uncorrected "
            "ones, which the next step starts from.",
            _slip((_STATE, "new_mean / by_mean, new_square / by_square")),
        ),
        Misconception(
            "corrected_square_kept",
            "Your answer returns the corrected square. Use it in this step only: return the uncorrected one, which "
            "the next step starts from.",
            _slip((_STATE, "new_mean, new_square / by_square")),
        ),
        Misconception(
            "torchs_settings",
            "Your answer uses 0.999 for the squares, torch's default. Use 0.98, as in the transformer paper.",
            _slip(("BETAS", "0.9, 0.999")),
        ),
        Misconception(
            "torchs_settings_and_epsilon",
            "Your answer uses torch's defaults, 0.999 for the squares and 1e-8. Use 0.98 and 1e-9, as in the "
            "transformer paper.",
            _slip(("BETAS", "0.9, 0.999"), ("EPSILON", "1e-8")),
        ),
        Misconception(
            "torchs_epsilon",
            "Your answer adds 1e-8, torch's default, which matters for small gradients. Use 1e-9, as in the "
            "transformer paper.",
            _slip(("EPSILON", "1e-8")),
        ),
        Misconception(
            "betas_swapped",
            "Your answer swaps the two settings. Use 0.9 for the mean and 0.98 for the squares.",
            _slip(("b1, b2 = BETAS", "b2, b1 = BETAS")),
        ),
        Misconception(
            "shares_swapped",
            "Your answer takes most of the new mean from this gradient. Keep β of the old mean and add 1 - β of the "
            "new value.",
            _slip(
                ("b1 * mean + (1 - b1)", "(1 - b1) * mean + b1"), ("b2 * square + (1 - b2)", "(1 - b2) * square + b2")
            ),
        ),
        Misconception(
            "added_in_full",
            "Your answer adds the whole gradient to the running mean (and its whole square). Add only a share: (1 - "
            "β) times it.",
            _slip(("(1 - b1) * ", ""), ("(1 - b2) * ", "")),
        ),
        Misconception(
            "mean_alone_corrected",
            "Your answer corrects the mean but not the square. Divide the square by 1 - 0.98^step before you take its "
            "root.",
            _slip((_BY, "1 - b1**step, 1")),
        ),
        Misconception(
            "square_alone_corrected",
            "Your answer corrects the square but not the mean. Divide the mean by 1 - 0.9^step too.",
            _slip((_BY, "1, 1 - b2**step")),
        ),
        Misconception(
            "corrected_by_one_beta",
            "Your answer corrects both by 1 - 0.9^step. Divide the square by its own: 1 - 0.98^step.",
            _slip((_BY, "1 - b1**step, 1 - b1**step")),
        ),
        Misconception(
            "no_root",
            "Your answer divides by the mean square itself. Divide by its root, so that the size of the gradients "
            "doesn't change the size of a step.",
            _slip((".sqrt()", "")),
        ),
        Misconception(
            "epsilon_in_the_root",
            "Your answer adds 1e-9 under the root, which matters for small gradients. Add it to the root: √square + "
            "1e-9.",
            _slip((".sqrt()", ""), ("(root + EPSILON)", "(root + EPSILON).sqrt()")),
        ),
        Misconception(
            "no_epsilon",
            "Your answer leaves out 1e-9, or adds it where it has no effect. For small gradients it matters: add it "
            "to the root, before you divide (√square + 1e-9).",
            _slip((" + EPSILON", "")),
        ),
        Misconception(
            "epsilon_before_the_correction",
            "Your answer adds 1e-9 to the root of the uncorrected square, which matters for small gradients. Correct "
            "the square first, take its root, and then add.",
            _slip(
                ("(new_square / by_square)", "new_square"), ("(root + EPSILON)", "(root + EPSILON) * by_square**0.5")
            ),
        ),
        Misconception(
            "returned_in_another_order",
            "Your answer returns square before mean. Return weight, mean, square.",
            _slip((_STATE, "new_square, new_mean")),
        ),
        Misconception(
            "update_returned",
            "Your answer returns the step. Subtract it from the old weight and return that: weight - rate · ...",
            _slip(("weight - down", "-down")),
        ),
        Misconception(
            "uphill",
            "Your answer adds the step, so it goes uphill. Subtract it: the gradient points to where the loss grows.",
            _slip(("weight - down", "weight + down")),
        ),
        Misconception("rate_left_out", "Your answer ignores `rate`. Multiply the step by it.", _slip(("rate * ", ""))),
        Misconception(
            "not_squared",
            "Your answer never squares the gradient. `square` is the running mean of gradient².",
            _slip(("gradient**2", "gradient")),
        ),
        Misconception(
            "gradient_as_the_step",
            "Your answer steps along this gradient alone. Step along the corrected running mean of the gradients.",
            _slip(("(new_mean / by_mean)", "gradient")),
        ),
        Misconception(
            "one_root_for_all",
            "Your answer divides all entries by one number, the root of the mean of the squares. Divide each entry by "
            "its own root.",
            _slip((".sqrt()", ".mean().sqrt()")),
        ),
        Misconception(
            "old_means_used",
            "Your answer returns the new mean and square, but steps with the old ones. Step with the new ones.",
            _slip(("(new_square / by_square)", "(square / by_square)"), ("(new_mean / by_mean)", "(mean / by_mean)")),
        ),
    ),
)
