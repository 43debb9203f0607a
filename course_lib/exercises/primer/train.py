"""Primer, primer.train: A training loop."""

from collections.abc import Iterator
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib.exercises.common import Kind, and_turned_around, hints, integer, sizes, slips
from course_lib.exercises.primer.shared import BAGS, random_labels
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise, Misconception
from course_lib.references import primer

DOUBLE = "double precision"

Trained = tuple[Tensor, Tensor, Tensor]


def _train_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        weight, bias = torch.tensor([[0.3, -0.2, 0.1], [0.0, 0.4, -0.1]]), torch.tensor([0.1, -0.1])
        inputs = (weight, bias, BAGS, torch.tensor([1, 0, 1, 0]), 0.1, 3)
        yield Case("worked example: four sentences, applause or not", inputs)
    for name, dtype, steps in (
        ("ten steps", torch.float32, 10),
        ("a single step", torch.float32, 1),
        ("double precision", torch.float64, 5),
    ):
        kind = Kind(name, generator, dtype=dtype)
        examples, features, classes = sizes(generator, 3)
        x, labels = kind.normal(examples + 2, features), random_labels(generator, classes, examples + 2)
        weight, bias, rate = kind.normal(classes, features), kind.normal(classes), 0.05 * integer(generator, 1, 5)
        yield Case(name, (weight, bias, x, labels, rate, steps), part=DOUBLE if dtype == torch.float64 else CORE)
    single = torch.tensor([[0.5], [-0.5]]), torch.tensor([0.1, 0.0]), torch.tensor([[1.5]]), torch.tensor([1])
    yield Case("a single example with one feature", (*single, 0.2, 2))


def _trained(weight: Tensor, bias: Tensor, x: Tensor, labels: Tensor, rate: float, steps: int) -> Trained:
    model = nn.Linear(x.shape[1], len(bias), dtype=x.dtype)
    model.load_state_dict({"weight": weight, "bias": bias})
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(model(x), labels)
        model.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return model.weight.detach(), model.bias.detach(), torch.stack(losses)


_slips = partial(slips, _trained)
_lone = partial(Edited, _trained, paired=False)
_OPTIMIZER = "torch.optim.Adam(model.parameters(), lr=rate)"


def _two_parameters(weight: Tensor, bias: Tensor, x: Tensor, labels: Tensor, rate: float, steps: int) -> Trained:
    parameters = [weight.clone().requires_grad_(), bias.clone().requires_grad_()]
    optimizer = torch.optim.Adam(parameters, lr=rate)
    losses = torch.zeros(steps, dtype=weight.dtype)
    for i in range(steps):
        optimizer.zero_grad()
        log_probabilities = torch.log_softmax(F.linear(x, *parameters), dim=-1)
        loss = -log_probabilities[torch.arange(len(labels)), labels].mean()
        loss.backward()
        optimizer.step()
        losses[i] = loss.detach()
    return parameters[0].detach(), parameters[1].detach(), losses


def _adam_by_hand(weight: Tensor, bias: Tensor, x: Tensor, labels: Tensor, rate: float, steps: int) -> Trained:
    both, losses = [weight.double(), bias.double()], []
    mean, square = [torch.zeros_like(w) for w in both], [torch.zeros_like(w) for w in both]
    for t in range(1, steps + 1):
        p = torch.softmax(x.double() @ both[0].T + both[1], dim=-1)
        losses.append(-p[torch.arange(len(x)), labels].log().mean())
        wrong = (p - F.one_hot(labels, p.shape[-1])) / len(x)
        for i, slope in enumerate((wrong.T @ x.double(), wrong.sum(dim=0))):
            mean[i] = 0.9 * mean[i] + 0.1 * slope
            square[i] = 0.999 * square[i] + 0.001 * slope**2
            both[i] = both[i] - rate * mean[i] / (1 - 0.9**t) / ((square[i] / (1 - 0.999**t)).sqrt() + 1e-8)
    return both[0].to(x.dtype), both[1].to(x.dtype), torch.stack(losses).to(x.dtype)


EXERCISE = Exercise(
    id="primer.train",
    title="A training loop",
    statement=(
        "train(weight [classes, features], bias [classes], x [examples, features], labels int [examples], rate, steps) "
        "-> (weight, bias, losses [steps]): a linear layer after `steps` steps of Adam on the mean cross-entropy of "
        "all examples, and the loss before each step, all in the dtype of x."
    ),
    parts={CORE: 2, DOUBLE: 1},
    minutes=12,
    difficulty=3,
    importance=5,
    section="The training loop",
    source="Kingma and Ba (2015), Adam, algorithm 1",
    reference=primer.train,
    cases=and_turned_around(_train_cases),
    correct=(_trained, _two_parameters, _adam_by_hand),
    hints=hints(
        idea=(
            "Your loop does the same things as the loop above, in the same order: loss, zero, backward, step. Copy "
            "weight and bias so that the arguments don't change, and make one optimizer for the copies before the loop."
        ),
        shapes=(
            "The logits are `x` times the transposed weight, plus the bias: `[examples, classes]`. Each loss is a "
            "single number. Detached and stacked, the losses have shape `[steps]`.",
            ("losses_as_numbers", "losses_summed"),
        ),
        outline=(
            "Make parameters from copies of weight and bias, and make one Adam optimizer for both, with `lr=rate`.\n"
            "At each step, compute the logits of all examples and their cross-entropy with the labels.\n"
            "Set the gradients to zero, call `backward()`, and take a step.\n"
            "Keep the detached loss from before the step.\n"
            "At the end, return both parameters, detached, and the stacked losses.",
            ("gradients_add_up", "loss_after_the_step", "new_optimizer_at_every_step", "bias_not_trained"),
        ),
    ),
    misconceptions=(
        *_slips(
            gradients_add_up=(
                "Your answer never sets the gradients to zero, so each step adds its gradients to those of all "
                "earlier steps. Call optimizer.zero_grad() before backward().",
                ("model.zero_grad()", "pass"),
            ),
            plain_descent=(
                "Your answer uses plain gradient descent (SGD). Use Adam, which adapts the step size for each weight.",
                (_OPTIMIZER, "torch.optim.SGD(model.parameters(), lr=rate)"),
            ),
            rate_left_out=(
                "Your answer uses Adam's default learning rate, 0.001. Pass lr=rate.",
                ("(), lr=rate)", "())"),
            ),
            softmax_twice=(
                "Your answer passes probabilities to the cross-entropy. Pass the logits: the cross-entropy applies "
                "the softmax itself.",
                ("model(x)", "model(x).softmax(dim=-1)"),
            ),
            loss_after_the_step=(
                "Your answer records each loss after its step. Keep the loss from before the step, the one "
                "that you call backward() on.",
                ("loss.detach()", "F.cross_entropy(model(x), labels).detach()"),
            ),
        ),
        *_slips(
            paired=False,
            no_step=(
                "Your weights never change. backward() only computes gradients; optimizer.step() changes the weights "
                "that you gave the optimizer.",
                ("optimizer.step()", "pass"),
            ),
            new_optimizer_at_every_step=(
                "Your answer makes a new optimizer at every step, so Adam forgets all earlier steps. Make a single "
                "optimizer before the loop.",
                ("optimizer.step()", f"{_OPTIMIZER}.step()"),
            ),
            losses_summed=(
                "Your answer sums the loss over the examples. Take the mean, which is the default of F.cross_entropy.",
                ("labels)", 'labels, reduction="sum")'),
            ),
            losses_as_numbers=(
                "Your answer returns the losses as a list. Append each loss.detach(), and turn the list "
                "into one tensor at the end, with torch.stack.",
                ("torch.stack(losses)", "[float(loss) for loss in losses]"),
            ),
            one_step=(
                "Your answer returns after one step: is the return inside the loop? Put the return after the loop.",
                ("range(steps)", "range(1)"),
            ),
            uphill=(
                "Your answer increases the loss at every step. Minimize the cross-entropy itself, without a minus "
                "sign.",
                ("lr=rate)", "lr=rate, maximize=True)"),
            ),
        ),
        *(
            Misconception(
                f"{left}_not_trained",
                f"Your answer never changes the {left}. Give the optimizer both weight and bias.",
                _lone(("Adam(model.parameters()", f"Adam([model.{told}]")),
            )
            for left, told in (("bias", "weight"), ("weight", "bias"))
        ),
    ),
)
