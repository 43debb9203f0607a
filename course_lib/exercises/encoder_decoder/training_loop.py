"""Lesson 05, encoder_decoder.training_loop: A training loop."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib.exercises.common import Kind, alike, and_turned_around, integer, sizes, slips
from course_lib.exercises.encoder_decoder.shared import padding_left_out
from course_lib.exercises.worked_examples import B
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.references import encoder_decoder

DOUBLE = "double precision"


Batch = tuple[Tensor, Tensor]


def _loop_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        x, targets = B.q, torch.tensor([0, 1, 2, 3])
        inputs = (torch.zeros(2, 4), torch.zeros(4), [(x, targets)] * 3, 0.5, 1.0)
        yield Case("worked example: from <s> die Katze tanzte to the next tokens", inputs)
    single = Kind("", generator)
    for name, clip in (("clipped", 0.4), ("never clipped", 100.0), ("sometimes clipped", 1.0)):
        yield Case(name, (*_loop_weights(single), 0.1 * integer(generator, 3, 8), clip))
    one = (torch.tensor([[1.5]]), torch.tensor([1]))
    yield Case("one step, of one token with one number", (torch.zeros(1, 2), torch.zeros(2), [one], 0.5, 100.0))
    # Never clipped: clip_grad_norm_ divides by the norm and a millionth more, which would show where it shortens.
    double = Kind("", generator, dtype=torch.float64)
    yield Case("double precision, never clipped", (*_loop_weights(double), 0.5, 100.0), part=DOUBLE)


def _loop_weights(kind: Kind) -> tuple[Tensor, Tensor, list[Batch]]:
    """W, b and four batches of different sizes."""
    d_model, vocab_size = sizes(kind.generator, 2)
    vocab_size += 3
    batches = []
    for tokens in sizes(kind.generator, 4):
        scale = 0.3 + 2 * float(torch.rand((), generator=kind.generator))
        x = scale * kind.normal(tokens + 1, d_model)
        batches.append((x, torch.randint(vocab_size, (tokens + 1,), generator=kind.generator)))
    return kind.normal(d_model, vocab_size), kind.normal(vocab_size), batches


Batches = Sequence[tuple[Tensor, Tensor]]


Trained = tuple[Tensor, Tensor, Tensor]


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


_slip = partial(Edited, _trained)
_slips = partial(slips, _trained)
_RESET = "W.grad, b.grad = torch.zeros_like(W), torch.zeros_like(b)"
_CLIPPED = "factor * W.grad, factor * b.grad"
_NORM = "torch.cat([W.grad.flatten(), b.grad]).norm()"


def _trained_by_torch(W: Tensor, b: Tensor, batches: Batches, rate: float, clip: float) -> Trained:
    parameters = [nn.Parameter(W.clone()), nn.Parameter(b.clone())]
    optimizer = torch.optim.SGD(parameters, lr=rate)
    losses = torch.zeros(len(batches), dtype=W.dtype)
    for i, (x, targets) in enumerate(batches):
        optimizer.zero_grad()
        loss = F.cross_entropy(x @ parameters[0] + parameters[1], targets)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, clip)
        optimizer.step()
        losses[i] = loss.detach()
    return parameters[0].detach(), parameters[1].detach(), losses


def _trained_in_double(W: Tensor, b: Tensor, batches: Batches, rate: float, clip: float) -> Trained:
    """By the formula, ∂L / ∂logits = (p - one_hot) / tokens."""
    dtype, losses = W.dtype, []
    W, b = W.double(), b.double()
    for x, targets in batches:
        p = torch.softmax(x.double() @ W + b, dim=-1)
        losses.append(-p[torch.arange(len(x)), targets].log().mean())
        wrong = (p - F.one_hot(targets, p.shape[-1])) / len(x)
        of_W, of_b = x.double().T @ wrong, wrong.sum(dim=0)
        factor = rate * min(1.0, clip / math.hypot(float(of_W.norm()), float(of_b.norm())))
        W, b = W - factor * of_W, b - factor * of_b
    return W.to(dtype), b.to(dtype), torch.stack(losses).to(dtype)


CORRECT = (_trained, _trained_by_torch, _trained_in_double)


EXERCISE = Exercise(
    id="encoder_decoder.training_loop",
    name="training_loop",
    title="A training loop",
    statement=(
        "training_loop(W [d_model, vocab_size], b [vocab_size], batches, rate, clip) -> (W, b, losses [steps]): for "
        "each batch (x [tokens, d_model], targets [tokens]) the mean NLL of x W + b, its gradients, clipped together "
        "to the norm `clip`, and a step of gradient descent; all three in the dtype of W."
    ),
    points=4,
    parts={CORE: 3, DOUBLE: 1},
    minutes=20,
    difficulty=3,
    importance=5,
    section="One step after the other",
    source="S3, a better training wrapper; Pascanu et al. (2013), algorithm 1",
    reference=encoder_decoder.training_loop,
    cases=and_turned_around(_loop_cases),
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "Each step does the same five things: reset the gradients, compute the loss, get the gradients from "
            "torch, clip them, and step downhill. Work on copies that require gradients, so that the caller's weights "
            "don't change.",
        ),
        Hint(
            "shapes",
            "Clip by one norm for both gradients together: the root of the sum of all their squares. If it is above "
            "`clip`, multiply both by `clip` over the norm, which keeps their direction. Losses are scalars, stacked "
            "into `[steps]`.",
            answers=("each_clipped_by_itself", "norm_without_root", "only_W_clipped", "values_clipped"),
        ),
        Hint(
            "outline",
            "Copy `W` and `b`, and let the copies require gradients.\n"
            "For each batch, compute the mean cross-entropy of the logits, and both gradients. Gradients add up in "
            "`.grad` unless you reset them.\n"
            "Compute the norm of both together, and the factor, which is at most 1.\n"
            "Without recording gradients, subtract the rate times the factor times the gradient.\n"
            "Keep the detached loss from before the step. Stack the losses at the end.",
            answers=(
                "gradients_accumulate",
                "gradients_accumulate_unclipped",
                "losses_as_a_list",
                "losses_as_numbers",
                "loss_afterwards",
            ),
        ),
    ),
    misconceptions=(
        *alike(
            "Your answer never resets the gradients, so each step adds its gradients to all earlier ones. Set them to "
            "None (or zero) before each backward().",
            gradients_accumulate=_slip((_RESET, "pass"), (_CLIPPED, "W.grad.mul_(factor), b.grad.mul_(factor)")),
            gradients_accumulate_unclipped=_slip((_RESET, "pass")),
        ),
        *_slips(
            not_clipped=(
                "Your answer doesn't clip, or clips too early or too late: before backward(), or after the step. Clip "
                "between backward() and the step.",
                (_CLIPPED, "W.grad, b.grad"),
            ),
            each_clipped_by_itself=(
                "Your answer clips each gradient separately. Use their joint norm: √(‖∂W‖² + ‖∂b‖²).",
                (_CLIPPED, "(g * min(1.0, clip / max(float(g.norm()), 1e-30)) for g in (W.grad, b.grad))"),
            ),
            only_W_clipped=(
                "Your answer clips only W's gradient. Multiply both by one factor, from √(‖∂W‖² + ‖∂b‖²).",
                (_NORM, "W.grad.norm()"),
                ("factor * b.grad", "b.grad"),
            ),
            norm_without_root=(
                "Your answer clips by the sum of squares. Take its root to get the norm.",
                (_NORM, "W.grad.square().sum() + b.grad.square().sum()"),
            ),
            values_clipped=(
                "Your answer clips every number to ±clip. Clip the norm: scale all numbers by the same factor.",
                (_CLIPPED, "W.grad.clamp(-clip, clip), b.grad.clamp(-clip, clip)"),
            ),
            always_scaled=(
                "Your answer scales even short gradients to `clip`. Clipping only shortens: the factor is at most 1.",
                ("min(1.0, clip / float(norm))", "clip / float(norm)"),
            ),
            lengthened=(
                "Your answer uses a factor of at least 1, which lengthens gradients. Make it at most 1: min, not max.",
                ("min(1.0", "max(1.0"),
            ),
            uphill=(
                "Your answer adds the gradients, so it goes uphill. Subtract them.",
                ("W -=", "W +="),
                ("b -=", "b +="),
            ),
            loss_afterwards=(
                "Your losses are from after each step. Keep the loss from before the step.",
                ("(loss.detach())", "(F.cross_entropy(x @ W + b, targets).detach())"),
            ),
            losses_as_a_list=(
                "Your losses are a list of tensors. Turn them into one tensor with torch.stack(losses).",
                ("torch.stack(losses)", "losses"),
            ),
            losses_as_numbers=(
                "Your losses are Python numbers. Collect loss.detach() and torch.stack them.",
                ("torch.stack(losses)", "[float(loss) for loss in losses]"),
            ),
            losses_in_single_precision=(
                "Your losses are always float32, the default of torch.tensor(...) and torch.zeros(...). Collect "
                "loss.detach() and torch.stack them, or pass dtype=W.dtype.",
                ("torch.stack(losses)", "torch.stack(losses).float()"),
            ),
            summed=(
                "Your answer sums the loss over a batch's tokens, so larger batches take larger steps. Take the mean.",
                ("targets)", 'targets, reduction="sum")'),
            ),
            bias_not_trained=("Your answer never changes b. Train it like W.", ("b -= rate * of_b", "pass")),
            softmaxed_twice=(
                "Your answer gives F.cross_entropy probabilities. Give it logits: it applies the softmax itself.",
                ("x @ W + b", "(x @ W + b).softmax(dim=-1)"),
            ),
            first_batch_only=(
                "Your answer takes a single step: does it return inside the loop? Take one step per batch.",
                ("in batches", "in batches[:1]"),
            ),
        ),
        padding_left_out(_slip(("targets)", "targets, ignore_index=0)"))),
        Misconception(
            "nothing_learned",
            "Your answer computes every loss with the original W and b. Continue from the updated ones.",
            lambda W, b, batches, rate, clip: _trained(W, b, batches, 0.0, clip),
        ),
    ),
)
