"""Lesson 05, encoder_decoder.training_loop: A training loop."""

from collections.abc import Iterator, Sequence

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib.exercises.common import Kind, and_turned_around, edits_of, hints, integer, mistake, sizes, slips
from course_lib.exercises.encoder_decoder.shared import padding_left_out
from course_lib.exercises.worked_examples import B
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.references import encoder_decoder

DOUBLE = "double precision"

Batches = Sequence[tuple[Tensor, Tensor]]
Trained = tuple[Tensor, Tensor, Tensor]


def _loop_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        inputs = (torch.zeros(2, 4), torch.zeros(4), [(B.q, torch.arange(4))] * 3, 0.5, 1.0)
        yield Case("worked example: from <s> die Katze tanzte to the next tokens", inputs)
    for name, clip in (("clipped", 0.4), ("never clipped", 100.0), ("sometimes clipped", 1.0)):
        yield Case(name, (*_loop_weights(generator), 0.1 * integer(generator, 3, 8), clip))
    one = (torch.tensor([[1.5]]), torch.tensor([1]))
    yield Case("one step, of one token with one number", (torch.zeros(1, 2), torch.zeros(2), [one], 0.5, 100.0))
    # Never clipped: clip_grad_norm_ divides by the norm and a millionth more, which would show where it shortens.
    in_double = (*_loop_weights(generator, torch.float64), 0.5, 100.0)
    yield Case("double precision, never clipped", in_double, part=DOUBLE)


def _loop_weights(generator: Generator, dtype: torch.dtype = torch.float32) -> tuple[Tensor, Tensor, Batches]:
    """W, b and four batches of different sizes."""
    kind, (d_model, few), batches = Kind("", generator, dtype=dtype), sizes(generator, 2), []
    for tokens in sizes(generator, 4):
        scale = 0.3 + 2 * float(torch.rand((), generator=generator))
        targets = torch.randint(few + 3, (tokens + 1,), generator=generator)
        batches.append((scale * kind.normal(tokens + 1, d_model), targets))
    return kind.normal(d_model, few + 3), kind.normal(few + 3), batches


def _trained(W: Tensor, b: Tensor, batches: Batches, rate: float, clip: float) -> Trained:
    W, b = W.clone().requires_grad_(), b.clone().requires_grad_()
    losses = []
    for x, targets in batches:
        W.grad, b.grad = torch.zeros_like(W), torch.zeros_like(b)
        loss = F.cross_entropy(x @ W + b, targets)
        loss.backward()
        norm = torch.cat([W.grad.flatten(), b.grad]).norm()
        factor = min(1.0, clip / float(norm))
        of_W, of_b = factor * W.grad, factor * b.grad
        with torch.no_grad():
            W -= rate * of_W
            b -= rate * of_b
        losses.append(loss.detach())
    return W.detach(), b.detach(), torch.stack(losses)


_slip = edits_of(_trained)
_RESET = "W.grad, b.grad = torch.zeros_like(W), torch.zeros_like(b)"
_CLIPPED = "factor * W.grad, factor * b.grad"
_NORM = "torch.cat([W.grad.flatten(), b.grad]).norm()"


def _trained_by_torch(W: Tensor, b: Tensor, batches: Batches, rate: float, clip: float) -> Trained:
    parameters = [nn.Parameter(W.clone()), nn.Parameter(b.clone())]
    optimizer, losses = torch.optim.SGD(parameters, lr=rate), torch.zeros(len(batches), dtype=W.dtype)
    for i, (x, targets) in enumerate(batches):
        optimizer.zero_grad()
        loss = F.cross_entropy(x @ parameters[0] + parameters[1], targets)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, clip)
        optimizer.step()
        losses[i] = loss.detach()
    return parameters[0].detach(), parameters[1].detach(), losses


def _trained_in_double(W: Tensor, b: Tensor, batches: Batches, rate: float, clip: float) -> Trained:
    """By the formula, ∂L / ∂logits = (p - one_hot) / tokens, with b as one more row of W."""
    both, losses = torch.cat([W, b.unsqueeze(0)]).double(), []
    for x, targets in batches:
        x1 = F.pad(x.double(), (0, 1), value=1.0)
        p = torch.softmax(x1 @ both, dim=-1)
        losses.append(F.nll_loss(p.log(), targets))
        gradient = x1.T @ (p - F.one_hot(targets, p.shape[-1])) / len(x)
        both = both - rate * min(1.0, clip / float(gradient.norm())) * gradient
    return both[:-1].to(W.dtype), both[-1].to(W.dtype), torch.stack(losses).to(W.dtype)


EXERCISE = Exercise(
    id="encoder_decoder.training_loop",
    title="A training loop",
    statement=(
        "training_loop(W [d_model, vocab_size], b [vocab_size], batches, rate, clip) -> (W, b, losses [steps]): for "
        "each batch (x [tokens, d_model], targets [tokens]) the mean NLL of x W + b, its gradients, clipped together "
        "to the norm `clip`, and a step of gradient descent; all three in the dtype of W."
    ),
    parts={CORE: 3, DOUBLE: 1},
    minutes=20,
    difficulty=3,
    importance=5,
    section="One step after the other",
    source="S3, a better training wrapper; Pascanu et al. (2013), algorithm 1",
    reference=encoder_decoder.training_loop,
    cases=and_turned_around(_loop_cases),
    correct=(_trained, _trained_by_torch, _trained_in_double),
    hints=hints(
        idea=(
            "Each step does the same five things: reset the gradients, compute the loss, get the gradients from "
            "torch, clip them, and step downhill. Work on copies, so that the caller's weights don't change."
        ),
        shapes=(
            "Clip both gradients by one norm, the square root of the sum of all their squares. If it is above `clip`, "
            "multiply both by `clip` divided by the norm, which keeps their direction. Stack the losses into "
            "`[steps]`.",
            ("each_clipped_by_itself", "norm_without_root", "only_W_clipped", "values_clipped"),
        ),
        outline=(
            "Copy `W` and `b`, and let the copies require gradients.\n"
            "For each batch, compute the mean cross-entropy of the logits, and both gradients. Gradients add up in "
            "`.grad` unless you reset them.\n"
            "Compute the norm of both gradients together, and from it the factor, which is at most 1.\n"
            "Without recording gradients, subtract the rate times the factor times the gradient.\n"
            "Keep the detached loss from before the step. Stack the losses at the end.",
            ("gradients_accumulate", "gradients_accumulate_unclipped", "losses_as_numbers", "loss_afterwards"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer never resets the gradients, so they add up. Set W.grad and b.grad to None before backward().",
            gradients_accumulate=_slip((_RESET, "pass"), (_CLIPPED, "W.grad.mul_(factor), b.grad.mul_(factor)")),
            gradients_accumulate_unclipped=_slip((_RESET, "pass")),
        ),
        *mistake(
            "Your answer clips the gradients separately, or only W's. Multiply both gradients by one factor, from "
            "their joint norm √(‖∂W‖² + ‖∂b‖²).",
            each_clipped_by_itself=_slip((_CLIPPED, "((clip / g.norm()).clamp(max=1) * g for g in (W.grad, b.grad))")),
            only_W_clipped=_slip((_NORM, "W.grad.norm()"), ("factor * b.grad", "b.grad")),
        ),
        *mistake(
            "Your factor can be above 1, which lengthens gradients. Clipping only shortens them: the factor is min(1, "
            "...).",
            always_scaled=_slip(("min(1.0, clip / float(norm))", "clip / float(norm)")),
            lengthened=_slip(("min(1.0", "max(1.0")),
        ),
        *mistake(
            "Your losses are not a tensor with the dtype of W. Collect each loss.detach(), then call torch.stack on "
            "the list.",
            losses_as_a_list=_slip(("torch.stack(losses)", "losses")),
            losses_as_numbers=_slip(("torch.stack(losses)", "[float(loss) for loss in losses]")),
            losses_in_single_precision=_slip(("torch.stack(losses)", "torch.stack(losses).float()")),
        ),
        *mistake(
            "Your answer doesn't train both W and b. In each step, start from the W and b of the step before.",
            bias_not_trained=_slip(("b -= rate * of_b", "pass")),
            nothing_learned=_slip(("clip / float(norm)", "0.0"), paired=False),
        ),
        *slips(
            _trained,
            not_clipped=(
                "Your answer doesn't clip the gradients between backward() and the step. Clip them exactly there.",
                (_CLIPPED, "W.grad, b.grad"),
            ),
            norm_without_root=(
                "Your answer clips by the squared norm. Take its square root.",
                (".norm()", ".square().sum()"),
            ),
            values_clipped=(
                "Your answer clips every number to ±clip. Clip the norm: scale all numbers by the same factor.",
                (_CLIPPED, "W.grad.clamp(-clip, clip), b.grad.clamp(-clip, clip)"),
            ),
            uphill=("Your answer goes uphill. Subtract the gradients.", ("losses = []", "losses, rate = [], -rate")),
            loss_afterwards=(
                "Your answer computes each loss after its step. Keep the loss from before the step.",
                ("(loss.detach())", "(F.cross_entropy(x @ W + b, targets).detach())"),
            ),
            summed=(
                "Your answer sums the loss over a batch's tokens, so larger batches take larger steps. Take the mean.",
                ("targets)", 'targets, reduction="sum")'),
            ),
            softmaxed_twice=(
                "Your answer passes probabilities to F.cross_entropy. Pass logits: the loss includes the softmax.",
                ("x @ W + b", "(x @ W + b).softmax(dim=-1)"),
            ),
            first_batch_only=(
                "Your answer takes a single step: does it return inside the loop? Take one step for each batch.",
                ("in batches", "in batches[:1]"),
            ),
        ),
        padding_left_out(_slip(("targets)", "targets, ignore_index=0)"))),
    ),
)
