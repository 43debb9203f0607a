"""Lesson 09, bert.linear_probe: A linear layer on frozen features."""

from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib.exercises.common import Kind, and_turned_around, edits_of, hints, integer, mistake, sizes, slips
from course_lib.judging.exercise import Case, Exercise
from course_lib.references import bert


def _probe_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        features = torch.tensor([[1.0, -2.0], [3.0, 0.0], [2.0, 4.0], [6.0, 1.0]])
        labels, new = torch.tensor([0, 0, 1, 1]), torch.tensor([[0.0, 1.0], [5.0, 2.0]])
        yield Case("worked example: four texts, two steps", (features, labels, new, 2, 0.5, 0.1, 2))
        one = torch.tensor([[0.5]])
        yield Case("one text with one feature", (one, torch.tensor([1]), one + 1, 2, 0.5, 0.1, 3))
    for name, dtype in (("some steps", torch.float32), ("double precision", torch.float64)):
        kind = Kind(name, generator, dtype=dtype)
        texts, new_texts, d_model = (4 + size for size in sizes(generator, 3))
        classes, steps = integer(generator, 3, 5), integer(generator, 4, 8)
        scale = 0.3 + kind.normal(d_model).abs()
        features, new = (scale * kind.normal(n, d_model) + 2 * scale for n in (texts, new_texts))
        labels = torch.randint(classes - 1, (texts,), generator=generator)  # no text has the last class
        yield Case(name, (features, labels, 1.5 * new - 1, classes, 0.4, 0.3, steps))
    features, new = torch.randn(6, 3, generator=generator), torch.randn(4, 3, generator=generator)
    features[:, 1], new[:, 1] = 0.25, 0.25
    yield Case("a feature that never changes", (features, torch.tensor([0, 1, 1, 0, 1, 1]), new, 2, 0.5, 0.1, 3))


def _probe_by_formula(
    features: Tensor, labels: Tensor, new_features: Tensor, classes: int, rate: float, decay: float, steps: int
) -> Tensor:
    mean, variance = features.mean(dim=0), features.var(dim=0, unbiased=False)
    scale = (variance + 1e-5).sqrt()
    x = (features - mean) / scale
    new = (new_features - mean) / scale
    W, b = torch.zeros(classes, x.shape[1], dtype=x.dtype), torch.zeros(classes, dtype=x.dtype)
    right = F.one_hot(labels, classes).to(x.dtype)
    for _ in range(steps):
        logits = x @ W.T + b
        wrong = (logits.softmax(dim=-1) - right) / len(x)
        of_W, of_b = wrong.T @ x, wrong.sum(dim=0)
        W = W - rate * (of_W + decay * W)
        b = b - rate * of_b
    return new @ W.T + b


_slip = edits_of(_probe_by_formula)
_SCALE, _X, _NEW = "(variance + 1e-5).sqrt()", "x = (features - mean) / scale", "new = (new_features - mean) / scale"
_W, _B, _RETURN = "W - rate * (of_W + decay * W)", "b - rate * of_b", "return new @ W.T + b"


def _probe_by_torch(
    features: Tensor, labels: Tensor, new_features: Tensor, classes: int, rate: float, decay: float, steps: int
) -> Tensor:
    standard = nn.BatchNorm1d(features.shape[1], affine=False, momentum=1.0, dtype=features.dtype).eval()
    standard.running_mean, standard.running_var = features.mean(0), features.var(0, correction=0)
    layer = nn.Linear(features.shape[1], classes, dtype=features.dtype)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    groups: list[dict[str, Any]] = [{"params": [layer.weight], "weight_decay": decay}, {"params": [layer.bias]}]
    optimizer = torch.optim.SGD(groups, lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        F.cross_entropy(layer(standard(features)), labels).backward()
        optimizer.step()
    scores: Tensor = layer(standard(new_features)).detach()
    return scores


def _probe_by_autograd(
    features: Tensor, labels: Tensor, new_features: Tensor, classes: int, rate: float, decay: float, steps: int
) -> Tensor:
    centred = features - features.mean(0)
    scale = torch.rsqrt(centred.square().mean(0) + 1e-5)
    x = torch.cat([centred * scale, features.new_ones(len(features), 1)], dim=1)
    both = x.new_zeros(x.shape[1], classes, requires_grad=True)
    for _ in range(steps):
        loss = F.cross_entropy(x @ both, labels) + decay / 2 * both[:-1].square().sum()
        both = (both - rate * torch.autograd.grad(loss, both)[0]).detach().requires_grad_()
    return ((new_features - features.mean(0)) * scale @ both[:-1] + both[-1]).detach()


EXERCISE = Exercise(
    id="bert.linear_probe",
    title="A linear layer on frozen features",
    statement=(
        "linear_probe(features [texts, d_model], labels [texts], new_features [new, d_model], classes, rate, decay, "
        "steps) -> [new, classes]: scores of the new texts, from a linear layer trained from 0 on standardized "
        "features."
    ),
    points=4,
    minutes=20,
    difficulty=4,
    importance=5,
    section="What is it worth on real reviews?",
    source="S1, feature-based use; Alain and Bengio (2016)",
    reference=bert.linear_probe,
    cases=and_turned_around(_probe_cases),
    correct=(_probe_by_formula, _probe_by_torch, _probe_by_autograd),
    steps=("mean", "variance", "W", "b"),
    hints=hints(
        idea=(
            "You don't know the new texts yet: compute the mean and the variance over the training texts, and use "
            "them for all texts. Then write a training loop as in lesson 05, with all texts in every step."
        ),
        shapes=(
            "The mean and the variance are `[d_model]`, one number for each feature. W is `[classes, d_model]` and b "
            "is `[classes]`. Both start at zero, and only W decays.",
            ("each_text_by_itself", "bias_decays", "variance_by_n_minus_1"),
        ),
        outline=(
            "Compute the mean and the variance of each feature over the training texts.\n"
            "Use these to standardize the training texts and the new texts.\n"
            "Set W and b to zero.\n"
            "In each step, compute the logits, the mean cross-entropy and new gradients, and update both parameters.\n"
            "Return the new texts' scores, before the softmax."
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer uses the new texts' mean and variance. Use those of the training texts: W was trained on "
            "that scale, and the test must not influence the training.",
            statistics_of_the_new_texts=_slip(
                (_NEW, "new = (new_features - new_features.mean(0)) / (new_features.var(0, False) + 1e-5).sqrt()")
            ),
            statistics_of_both=_slip(
                ("features.mean(dim=0)", "torch.cat([features, new_features]).mean(dim=0)"),
                ("features.var(", "torch.cat([features, new_features]).var("),
                paired=False,
            ),
        ),
        *mistake(
            "Your answer does not standardize all texts. For training texts and new texts alike, subtract each "
            "feature's mean, and divide by the square root of its variance.",
            new_texts_as_they_are=_slip((_NEW, "new = new_features")),
            not_standardized=_slip((_X, "x = features"), (_NEW, "new = new_features")),
            not_centred=_slip((_X, "x = features / scale"), (_NEW, "new = new_features / scale")),
        ),
        *mistake(
            "Your answer divides by the wrong number. Divide by sqrt(variance + 1e-5), with `correction=0`.",
            root_forgotten=_slip((_SCALE, "variance + 1e-5")),
            variance_by_n_minus_1=_slip(("unbiased=False", "unbiased=len(features) > 1")),
            nothing_added=_slip((_SCALE, "variance.sqrt()")),
        ),
        *mistake(
            "Your answer doesn't update the bias correctly. Update it like W, but without decay.",
            bias_decays=_slip((_B, "b - rate * (of_b + decay * b)")),
            bias_forgotten=_slip((_B, "b")),
        ),
        *mistake(
            "Your answer applies the wrong decay to W. Each step subtracts `rate * decay * W`: add `decay * W` to the "
            "gradient, or decay / 2 times the sum of squares to the loss.",
            no_decay=_slip((_W, "W - rate * of_W")),
            twice_the_decay=_slip((_W, "W - rate * (of_W + 2 * decay * W)")),
            decay_without_the_rate=_slip((_W, "W - rate * of_W - decay * W")),
        ),
        *mistake(
            "Your answer does not return scores. Return the scores of all classes, without softmax or argmax.",
            probabilities=_slip((_RETURN, "return (new @ W.T + b).softmax(dim=-1)")),
            classes_chosen=_slip((_RETURN, "return (new @ W.T + b).argmax(dim=-1)")),
        ),
        *slips(
            _probe_by_formula,
            each_text_by_itself=(
                "Your answer standardizes each text, like layer norm. Standardize each feature over the texts.",
                (_X, "x = F.layer_norm(features, features.shape[1:])"),
                (_NEW, "new = F.layer_norm(new_features, features.shape[1:])"),
            ),
            summed_over_the_texts=(
                "Your answer sums the loss, so a step grows with the number of texts. Take the mean over the texts.",
                (" / len(x)", " / 1.0"),
            ),
            gradients_pile_up=(
                "Your answer adds up the gradients of all steps, as backward() does. Clear them in each step.",
                ("for _ in range(steps):", "of_W, of_b = 0.0 * W, 0.0 * b\n    for _ in range(steps):"),
                ("of_W, of_b = wrong.T @ x, wrong.sum(dim=0)", "of_W, of_b = of_W + wrong.T @ x, of_b + wrong.sum(0)"),
            ),
            uphill=(
                "Your answer adds the gradients, which raises the loss. Subtract them.",
                (_W, "W + rate * of_W - rate * decay * W"),
                (_B, "b + rate * of_b"),
            ),
            one_step_too_few=(
                "Your answer takes one step too few. Take exactly `steps` steps.",
                ("range(steps)", "range(1, steps)"),
            ),
        ),
    ),
)
