"""Lesson 05, encoder_decoder.training_loop: A training loop."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib.checking.exercise import CORE, Case, Exercise, Hint, Misconception, Value
from course_lib.exercises.common import Kind, alike, and_turned_around, as_it_is, integer, sizes
from course_lib.exercises.encoder_decoder.shared import LESSON, WITHHELD, padding_left_out
from course_lib.exercises.worked_examples import B
from course_lib.references import encoder_decoder
from course_lib.text.tokenization import PADDING_ID

DOUBLE = "double precision"


Batch = tuple[Tensor, Tensor]


def _loop_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        x, expected = B.q, torch.tensor([0, 1, 2, 3])
        inputs = (torch.zeros(2, 4), torch.zeros(4), [(x, expected)] * 3, 0.5, 1.0)
        yield Case("worked example: from <s> die Katze tanzte to the next tokens", inputs)
    single = Kind("", generator)
    for name, clip in (("clipped", 0.4), ("never clipped", 100.0), ("clipped now and then", 1.0)):
        yield Case(name, (*_loop_weights(single), 0.1 * integer(generator, 3, 8), clip))
    one = (torch.tensor([[1.5]]), torch.tensor([1]))
    yield Case("one step, of one token with one number", (torch.zeros(1, 2), torch.zeros(2), [one], 0.5, 100.0))
    # Never clipped: clip_grad_norm_ divides by the norm and a millionth more, which would show where it shortens.
    double = Kind("", generator, dtype=torch.float64)
    yield Case("double precision, never clipped", (*_loop_weights(double), 0.5, 100.0), part=DOUBLE)


def _loop_weights(kind: Kind) -> tuple[Tensor, Tensor, list[Batch]]:
    """W, b and four batches of different sizes."""
    d_model, vocabulary = sizes(kind.generator, 2)
    vocabulary += 3
    batches = []
    for tokens in sizes(kind.generator, 4):
        scale = 0.3 + 2 * float(torch.rand((), generator=kind.generator))
        x = scale * kind.normal(tokens + 1, d_model)
        batches.append((x, torch.randint(vocabulary, (tokens + 1,), generator=kind.generator)))
    return kind.normal(d_model, vocabulary), kind.normal(vocabulary), batches


Clip = Callable[[list[Tensor], float], list[Tensor]]


def _norm(gradients: list[Tensor]) -> float:
    return float(torch.stack([gradient.norm() for gradient in gradients]).norm())


def _shorter(clip: float, norm: float) -> float:
    return min(1.0, clip / norm) if norm else 1.0


def _together(
    gradients: list[Tensor],
    clip: float,
    *,
    norm: Callable[[list[Tensor]], float] = _norm,
    factor: Callable[[float, float], float] = _shorter,
) -> list[Tensor]:
    """All of them by one factor, of `clip` and the norm; or by another norm or factor."""
    by = factor(clip, norm(gradients))
    return [gradient * by for gradient in gradients]


def _each(gradients: list[Tensor], clip: float) -> list[Tensor]:
    return [_together([gradient], clip)[0] for gradient in gradients]


def _by_norm(norm: Callable[[list[Tensor]], float]) -> Clip:
    return partial(_together, norm=norm)


def _looped(
    W: Tensor,
    b: Tensor,
    batches: Sequence[Batch],
    rate: float,
    clip: float,
    *,
    clipped: Clip = _together,
    limit: Callable[[float, float], float] = lambda clip, rate: clip,
    reduction: str = "mean",
    carried: tuple[bool, bool] = (False, False),
    carried_raw: bool = False,
    trains_b: bool = True,
    reads_b: bool = True,
    scores: Callable[[Tensor], Tensor] = as_it_is,
    measure: Callable[..., Tensor] = F.cross_entropy,
    sign: float = 1.0,
    reported: Callable[..., Tensor] = lambda loss, x, expected, W, b: loss,
    form: Callable[[list[Tensor]], Value] = torch.stack,
) -> tuple[Tensor, Tensor, Value]:
    """Training with changes.

    Args:
        clipped: how gradients are clipped.
        limit: to which norm, of `clip` and the rate.
        reduction: of the loss over the tokens.
        carried: whether W's and b's gradient of a step stays and is added to the next.
        carried_raw: whether it stays as it was before it was clipped.
        trains_b, reads_b: whether b is changed, and is part of the logits.
        scores: what the loss uses as logits.
        measure: the loss.
        sign: of the step.
        reported: what is returned as a step's loss, from that, its batch, and the weights after it.
        form: what is made of all of them.
    """
    found = []
    before = [torch.zeros_like(W), torch.zeros_like(b)]
    for x, expected in batches:
        W, b = W.detach().requires_grad_(), b.detach().requires_grad_()
        loss = measure(scores(x @ W + (b if reads_b else 0 * b)), expected, reduction=reduction)
        gradients = list(torch.autograd.grad(loss, (W, b)))
        gradients = [new + old if stays else new for new, old, stays in zip(gradients, before, carried, strict=True)]
        shortened = clipped(gradients, limit(clip, rate))
        before = gradients if carried_raw else shortened
        step = sign * rate
        W, b = W - step * shortened[0], b - step * shortened[1] if trains_b else b
        found.append(reported(loss.detach(), x, expected, W.detach(), b.detach()))
    return W.detach(), b.detach(), form(found)


Batches = Sequence[tuple[Tensor, Tensor]]


Trained = tuple[Tensor, Tensor, Tensor]


def _trained_by_backward(W: Tensor, b: Tensor, batches: Batches, rate: float, clip: float) -> Trained:
    W, b = W.clone().requires_grad_(), b.clone().requires_grad_()
    losses = []
    for x, expected in batches:
        W.grad = b.grad = None
        loss = F.nll_loss(torch.log_softmax(x @ W + b, dim=-1), expected)
        loss.backward()
        of_W, of_b = (torch.zeros_like(weight) if weight.grad is None else weight.grad for weight in (W, b))
        norm = torch.sqrt((of_W**2).sum() + (of_b**2).sum())
        factor = torch.clamp(clip / norm, max=1)
        with torch.no_grad():
            W -= rate * factor * of_W
            b -= rate * factor * of_b
        losses.append(loss.item())
    return W.detach(), b.detach(), torch.tensor(losses, dtype=W.dtype)


def _trained_by_torch(W: Tensor, b: Tensor, batches: Batches, rate: float, clip: float) -> Trained:
    parameters = [nn.Parameter(W.clone()), nn.Parameter(b.clone())]
    optimiser = torch.optim.SGD(parameters, lr=rate)
    losses = torch.zeros(len(batches), dtype=W.dtype)
    for i, (x, expected) in enumerate(batches):
        optimiser.zero_grad()
        loss = F.cross_entropy(x @ parameters[0] + parameters[1], expected)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, clip)
        optimiser.step()
        losses[i] = loss.detach()
    return parameters[0].detach(), parameters[1].detach(), losses


def _trained_by_the_formula(W: Tensor, b: Tensor, batches: Batches, rate: float, clip: float) -> Trained:
    """∂L / ∂logits = (p - one_hot) / tokens."""
    losses = []
    for x, expected in batches:
        p = torch.softmax(x @ W + b, dim=-1)
        losses.append(-p[torch.arange(len(x)), expected].log().mean())
        wrong = (p - F.one_hot(expected, p.shape[-1])) / len(x)
        of_W, of_b = x.T @ wrong, wrong.sum(dim=0)
        norm = math.hypot(float(of_W.norm()), float(of_b.norm()))
        factor = clip / norm if norm > clip else 1.0
        W, b = W - rate * factor * of_W, b - rate * factor * of_b
    return W, b, torch.stack(losses)


def _trained_in_double(W: Tensor, b: Tensor, batches: Batches, rate: float, clip: float) -> Trained:
    found = _trained_by_the_formula(W.double(), b.double(), [(x.double(), e) for x, e in batches], rate, clip)
    return found[0].to(W.dtype), found[1].to(W.dtype), found[2].to(W.dtype)


CORRECT = (
    _trained_by_backward,
    _trained_by_torch,
    _trained_by_the_formula,
    _trained_in_double,
)


EXERCISE = Exercise(
    id="encoder_decoder.training_loop",
    lesson=LESSON,
    name="training_loop",
    title="A training loop",
    statement=(
        "training_loop(W [d_model, vocabulary], b [vocabulary], batches, rate, clip) -> (W, b, losses [steps]): for "
        "each batch (x [tokens, d_model], expected [tokens]) the mean NLL of x W + b, its gradients, clipped together "
        "to the norm `clip`, and a step of gradient descent; all three in the dtype of W."
    ),
    points=4,
    parts={CORE: 3, DOUBLE: 1},
    minutes=20,
    section="One step after the other",
    source="S3, a better training wrapper; Pascanu et al. (2013), algorithm 1",
    reference=encoder_decoder.training_loop,
    cases=and_turned_around(_loop_cases),
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "Each step is the same five things: fresh gradients, the loss, the gradients by torch, clipping, a step "
            "downhill. Work on copies that require gradients, so that the caller's weights stay as they are.",
        ),
        Hint(
            "shapes",
            "The norm that is clipped is one number for both gradients together: the root of the sum of all their "
            "squares. If it is above `clip`, both are multiplied by `clip` over the norm, so that their direction "
            "stays. Losses are scalars, stacked into `[steps]`.",
            answers=(
                "each_clipped_by_itself",
                "norm_of_W",
                "norms_added",
                "norm_without_root",
                "only_W_clipped",
                "values_clipped",
            ),
        ),
        Hint(
            "outline",
            "Copy `W` and `b`, and let the copies require gradients.\n"
            "For each batch: the mean cross-entropy of the logits, and both gradients. Gradients add up in `.grad` "
            "unless they are reset.\n"
            "The norm of both together, and the factor, which is at most 1.\n"
            "Without recording gradients, subtract rate times factor times gradient.\n"
            "Keep the loss, detached, as it was before the step; stack the losses at the end.",
            answers=(
                "gradients_accumulate",
                "gradients_accumulate_unclipped",
                "gradient_of_b_accumulates",
                "losses_as_a_list",
                "losses_as_numbers",
                "loss_afterwards",
            ),
        ),
    ),
    misconceptions=(
        *alike(
            "Your answer never resets the gradients, so each step also goes along those of all steps before it. Set "
            "them to None (or zero) before each backward().",
            gradients_accumulate=partial(_looped, carried=(True, True)),
            gradients_accumulate_unclipped=lambda *inputs: _looped(*inputs, carried=(True, True), carried_raw=True),
        ),
        Misconception(
            "gradient_of_b_accumulates",
            "Your answer resets W's gradient but not b's, so b also steps along the gradients of all steps before. "
            "Set both to None (or zero) before each backward().",
            lambda *inputs: _looped(*inputs, carried=(False, True)),
        ),
        Misconception(
            "not_clipped",
            "Your answer does not clip, or clips where it has no effect: before backward(), or after the step has "
            "been taken. Shorten the gradients between backward() and the step.",
            partial(_looped, clipped=lambda gradients, clip: gradients),
        ),
        Misconception(
            "each_clipped_by_itself",
            "Your answer clips W's gradient and b's separately, which changes the direction of the step. Their norm "
            "is taken together: √(‖∂W‖² + ‖∂b‖²).",
            partial(_looped, clipped=_each),
        ),
        Misconception(
            "only_W_clipped",
            "Your answer clips W's gradient but leaves b's as it is. Both are shortened by the same factor, which "
            "follows from their joint norm: √(‖∂W‖² + ‖∂b‖²).",
            partial(_looped, clipped=lambda gradients, clip: [*_each(gradients[:1], clip), *gradients[1:]]),
        ),
        Misconception(
            "norm_of_W",
            "Your answer clips both gradients by the norm of W's alone. b's belongs to it: √(‖∂W‖² + ‖∂b‖²).",
            lambda *inputs: _looped(*inputs, clipped=_by_norm(lambda gradients: float(gradients[0].norm()))),
        ),
        Misconception(
            "norms_added",
            "Your answer adds the norms of W's gradient and b's. Add their squares, and take the root of the sum.",
            partial(_looped, clipped=_by_norm(lambda gradients: sum(float(gradient.norm()) for gradient in gradients))),
        ),
        Misconception(
            "absolute_values_added",
            "Your answer clips by the sum of absolute values. The norm is the root of the sum of squares.",
            partial(
                _looped, clipped=_by_norm(lambda gradients: sum(float(gradient.abs().sum()) for gradient in gradients))
            ),
        ),
        Misconception(
            "norm_without_root",
            "Your answer clips by the sum of squares. The norm is the root of it.",
            partial(_looped, clipped=_by_norm(lambda gradients: _norm(gradients) ** 2)),
        ),
        Misconception(
            "step_clipped",
            "Your answer clips the step, rate · gradient. Clip the gradients, and then multiply by the rate.",
            partial(_looped, limit=lambda clip, rate: clip / rate),
        ),
        Misconception(
            "values_clipped",
            "Your answer clips every single number to ±clip. Clip by the norm: where it is above `clip`, all numbers "
            "are multiplied by the same factor.",
            partial(_looped, clipped=lambda gradients, clip: [gradient.clamp(-clip, clip) for gradient in gradients]),
        ),
        Misconception(
            "always_scaled",
            "Your answer scales the gradients to the norm `clip` even where they are shorter. Clipping only shortens: "
            "the factor is at most 1.",
            partial(_looped, clipped=partial(_together, factor=lambda clip, norm: clip / norm)),
        ),
        Misconception(
            "lengthened",
            "Your answer lengthens short gradients and leaves long ones as they are: its factor is at least 1. It "
            "should be at most 1: min, not max.",
            partial(_looped, clipped=partial(_together, factor=lambda clip, norm: max(1.0, clip / norm))),
        ),
        Misconception(
            "uphill",
            "Your answer goes uphill: it adds the gradients. Subtract them.",
            partial(_looped, sign=-1.0),
        ),
        Misconception(
            "loss_afterwards",
            "Your losses are those after each step. A training loop reports the loss whose gradients it took, before "
            "the step.",
            partial(_looped, reported=lambda loss, x, expected, W, b: F.cross_entropy(x @ W + b, expected)),
        ),
        Misconception(
            "losses_summed",
            "The losses that you return are sums over the tokens of a batch. Return the means, which the gradients are "
            "taken of.",
            partial(_looped, reported=lambda loss, x, expected, W, b: loss * len(x)),
        ),
        Misconception(
            "losses_as_a_list",
            "Your losses are a list of tensors. Return one tensor: torch.stack(losses) makes it.",
            partial(_looped, form=list),
        ),
        Misconception(
            "losses_as_numbers",
            "Your losses are a list of Python numbers. Return one tensor: collect loss.detach(), not loss.item(), and "
            "torch.stack them.",
            partial(_looped, form=lambda losses: [float(loss) for loss in losses]),
        ),
        Misconception(
            "losses_in_single_precision",
            "Your losses are float32 whatever came in: that is what torch.tensor(...) and torch.zeros(...) make of "
            "Python numbers. Collect loss.detach() and torch.stack them, or give the dtype, W.dtype.",
            lambda *inputs: _looped(*inputs, form=lambda losses: torch.stack(losses).float()),
        ),
        Misconception(
            "summed",
            "Your answer sums the loss over the tokens of a batch, so that larger batches take larger steps. Take the "
            "mean.",
            partial(_looped, reduction="sum"),
        ),
        Misconception(
            "bias_not_trained",
            "Your answer never changes b. It learns like W.",
            lambda *inputs: _looped(*inputs, trains_b=False),
        ),
        Misconception(
            "bias_left_out",
            "Your answer leaves b out of the logits. They are x @ W + b.",
            partial(_looped, reads_b=False),
        ),
        Misconception(
            "softmaxed_twice",
            "Your answer hands F.cross_entropy probabilities. It takes scores, x W + b: the softmax is part of it.",
            partial(_looped, scores=lambda scores: scores.softmax(dim=-1)),
        ),
        Misconception(
            "no_log_softmax",
            "Your loss treats the logits as log-probabilities, as nll_loss does. Take log_softmax of them first, or "
            "cross_entropy, which contains it.",
            lambda *inputs: _looped(*inputs, measure=F.nll_loss),
        ),
        padding_left_out(partial(_looped, measure=partial(F.cross_entropy, ignore_index=PADDING_ID))),
        Misconception(
            "first_batch_only",
            "Your answer takes a single step: does it return from within the loop? Take one for each batch.",
            lambda W, b, batches, rate, clip: _looped(W, b, batches[:1], rate, clip),
        ),
        Misconception(
            "nothing_learned",
            "Your losses are those of W and b as they came: what was learned in one step is not used in the next, or "
            "the weights never change. Go on from the new ones.",
            lambda W, b, batches, rate, clip: _looped(W, b, batches, 0.0, clip),
        ),
    ),
    withheld=WITHHELD,
)
