"""Lesson 05, encoder_decoder.label_smoothing: Label smoothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.checking.exercise import CORE, Case, Exercise, Hint, Misconception, Pair
from course_lib.exercises.common import and_turned_around, as_it_is, integer
from course_lib.exercises.encoder_decoder.shared import LESSON, WITHHELD, Change, layouts, log_p_of, padding_left_out
from course_lib.references import encoder_decoder
from course_lib.text.tokenization import PADDING_ID

FAR_APART = "logits far apart"
"""So far that exp overflows, and that the softmax has zeros."""


def _smoothing_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        p = torch.tensor([[0.6, 0.25, 0.1, 0.04, 0.01]])
        yield Case("worked example: I went to class and took ... notes", (p.log(), torch.tensor([0]), 0.1))
    for kind, smoothing in zip(layouts(generator), (0.1, 0.2, 0.3), strict=True):
        tokens, vocabulary = integer(generator, 6, 9), integer(generator, 3, 6)
        expected = torch.randint(vocabulary, (tokens,), generator=generator)
        yield Case(kind.name, (2 * kind.normal(tokens, vocabulary), expected, smoothing), gradients=(0,))
    tokens, vocabulary = 3, integer(generator, 20, 30)
    logits = 5 * torch.randn(tokens, vocabulary, generator=generator)
    expected = torch.randint(vocabulary, (tokens,), generator=generator)
    yield Case("a larger vocabulary", (logits, expected, 0.15), gradients=(0,))
    yield Case("no smoothing at all", (logits, expected, 0.0), gradients=(0,))
    # With these sizes even a target in single precision is exact.
    double = 2 * torch.randn(7, 5, generator=generator, dtype=torch.float64)
    expected = torch.randint(5, (7,), generator=generator)
    yield Case("double precision", (double, expected, 0.25), gradients=(0,))
    expected = torch.randperm(4, generator=generator)
    logits = 120.0 * torch.eye(4)[expected] + torch.randn(4, 4, generator=generator)
    yield Case("a model that is very sure of itself", (logits, expected, 0.1), gradients=(0,), part=FAR_APART)


def _others(smoothing: float, logits: Tensor) -> float:
    return smoothing / (logits.shape[-1] - 1)


def _log_softmax(logits: Tensor) -> Tensor:
    return logits.log_softmax(dim=-1)


def _smoothed(
    logits: Tensor,
    expected: Tensor,
    smoothing: float,
    *,
    right: Callable[[float, Tensor], float] = lambda smoothing, logits: 1 - smoothing,
    other: Callable[[float, Tensor], float] = _others,
    log_p: Callable[[Tensor], Tensor] = _log_softmax,
    passed_over: bool = False,
    padding_column: bool = True,
    reduce: Callable[[Tensor], Tensor] = lambda terms: terms.sum(dim=-1).mean(),
    sign: float = -1.0,
) -> Tensor:
    """The mean cross-entropy with changes.

    Args:
        right, other: what the target has at the right token and at each other, of smoothing and logits.
        log_p: what is made of the logits.
        passed_over: whether id 0 is skipped where it is expected.
        padding_column: whether it gets some of the mass.
        reduce: what is made of the products, [tokens, vocabulary].
        sign: of the result.
    """
    target = torch.full_like(logits, other(smoothing, logits))
    if not padding_column:
        target[:, PADDING_ID] = 0
    target = target.scatter(-1, expected.unsqueeze(-1), right(smoothing, logits))
    terms = target * log_p(logits)
    return sign * reduce(terms[expected != PADDING_ID] if passed_over else terms)


def _target(logits: Tensor, expected: Tensor, smoothing: float) -> Tensor:
    """The smoothed target, [tokens, vocabulary]."""
    return torch.full_like(logits, _others(smoothing, logits)).scatter(-1, expected.unsqueeze(-1), 1 - smoothing)


def _smoothed_prediction(logits: Tensor, expected: Tensor, smoothing: float) -> Tensor:
    p = log_p_of(logits.softmax(dim=-1), expected)
    return -((1 - smoothing) * p + _others(smoothing, logits) * (1 - p)).log().mean()


def _others_together(logits: Tensor, expected: Tensor, smoothing: float) -> Tensor:
    right = log_p_of(_log_softmax(logits), expected)
    return -((1 - smoothing) * right + smoothing * torch.log1p(-right.exp())).mean()


def _by_parts(log_p: Tensor, expected: Tensor, smoothing: float, *, keep: Change = as_it_is) -> Tensor:
    """The right token's part and that of the others, as in the lesson's hint."""
    right = log_p_of(log_p, expected)
    others = keep(log_p.sum(dim=-1) - right)
    return -((1 - smoothing) * right + _others(smoothing, log_p) * others).mean()


def _every_token_in_every_row(logits: Tensor, expected: Tensor, smoothing: float) -> Tensor:
    target = torch.full_like(logits, _others(smoothing, logits))
    target[:, expected] = 1 - smoothing
    return -(target * _log_softmax(logits)).sum(dim=-1).mean()


def _smoothed_by_loop(logits: Tensor, expected: Tensor, smoothing: float) -> Tensor:
    losses = []
    for row, right in zip(torch.log_softmax(logits, dim=-1), expected.tolist(), strict=True):
        others = torch.cat([row[:right], row[right + 1 :]])
        losses.append(-(1 - smoothing) * row[right] - smoothing * others.mean())
    return torch.stack(losses).mean()


def _smoothed_by_torch(logits: Tensor, expected: Tensor, smoothing: float) -> Tensor:
    size = logits.shape[-1]
    return F.cross_entropy(logits, expected, label_smoothing=smoothing * size / (size - 1))


def _smoothed_with_a_target(logits: Tensor, expected: Tensor, smoothing: float) -> Tensor:
    target = torch.full_like(logits, smoothing / (logits.size(-1) - 1))
    target[torch.arange(len(expected)), expected] = 1 - smoothing
    return F.cross_entropy(logits, target)


def _smoothed_by_parts(logits: Tensor, expected: Tensor, smoothing: float) -> Tensor:
    log_p = logits.log_softmax(-1)
    right = log_p.gather(1, expected.unsqueeze(1)).squeeze(1)
    others = (log_p.sum(dim=1) - right) / (logits.shape[1] - 1)
    return -((1 - smoothing) * right + smoothing * others).mean()


def _smoothed_in_double(logits: Tensor, expected: Tensor, smoothing: float) -> Tensor:
    one_hot = F.one_hot(expected, logits.shape[-1]).double()
    target = one_hot * (1 - smoothing) + (1 - one_hot) * smoothing / (logits.shape[-1] - 1)
    wide = logits.double()
    return torch.einsum("wv,wv->w", target, wide.logsumexp(-1, keepdim=True) - wide).mean().to(logits.dtype)


CORRECT = (
    _smoothed_by_loop,
    _smoothed_by_torch,
    _smoothed_with_a_target,
    _smoothed_by_parts,
    _smoothed_in_double,
)


EXERCISE = Exercise(
    id="encoder_decoder.label_smoothing",
    lesson=LESSON,
    name="label_smoothing",
    title="Label smoothing",
    statement=(
        "label_smoothing(logits [tokens, vocabulary], expected int64 [tokens], smoothing) -> scalar: the mean "
        "cross-entropy, in nats, with the target 1 - smoothing at the right token and the rest shared equally by all "
        "*other* tokens (S4), with gradients."
    ),
    points=3,
    parts={CORE: 2, FAR_APART: 1},
    minutes=15,
    section="Label smoothing",
    source="S4, label smoothing; Vaswani et al. (2017), section 5.4",
    reference=encoder_decoder.label_smoothing,
    cases=and_turned_around(_smoothing_cases),
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "The loss is a cross-entropy with a softer target: the right token gets 1 - ε, and the others share ε "
            "equally. Nobody needs to build that target: two sums of log-probabilities are enough.",
        ),
        Hint(
            "shapes",
            "Log-probabilities are `[tokens, vocabulary]`. The right tokens' entries, picked with `gather`, are "
            "`[tokens]`; those of all others are the sum over the vocabulary minus them, `[tokens]` too. Each other "
            "token gets ε over `vocabulary - 1`.",
            answers=(
                "torchs_variant",
                "shared_by_too_many",
                "right_counted_among_the_others",
                "padding_gets_none",
                "divided_by_the_number_of_words",
                "not_shared_out",
            ),
        ),
        Hint(
            "outline",
            "A log-softmax over the vocabulary.\n"
            "Pick the right tokens' entries.\n"
            "The others' sum is the sum of all minus those.\n"
            "1 - ε times the first plus each other token's share times the second.\n"
            "The mean over the tokens, with a minus.",
            answers=(
                "mean_over_the_vocabulary",
                "not_negated",
                "summed",
                "softmax_by_hand",
                "log_of_softmax",
                "softmax_over_the_words",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "torchs_variant",
            "Your answer is the other variant, torch's label_smoothing=: the mass goes to all tokens, including the "
            "right one. S4 gives it only to the others: each of them gets smoothing / (V - 1), and the right one "
            "exactly 1 - smoothing.",
            partial(
                _smoothed,
                right=lambda smoothing, logits: 1 - smoothing + smoothing / logits.shape[-1],
                other=lambda smoothing, logits: smoothing / logits.shape[-1],
            ),
        ),
        Misconception(
            "torchs_variant_converted_the_wrong_way",
            "Your answer is torch's label_smoothing= with smoothing · (V - 1) / V. To give the right token exactly "
            "1 - smoothing it takes the inverse, smoothing · V / (V - 1).",
            lambda logits, expected, smoothing: F.cross_entropy(
                logits, expected, label_smoothing=smoothing * (logits.shape[-1] - 1) / logits.shape[-1]
            ),
        ),
        Misconception(
            "shared_by_too_many",
            "Your answer divides the smoothing by V, the number of all tokens, but only V - 1 tokens get a share: the "
            "target does not sum to 1. Divide by V - 1.",
            partial(_smoothed, other=lambda smoothing, logits: smoothing / logits.shape[-1]),
        ),
        Misconception(
            "padding_gets_none",
            "Your answer gives the padding's column nothing and divides the smoothing by V - 2, as some "
            "implementations do. Here all of the other tokens share it, whatever their id: divide by V - 1.",
            partial(
                _smoothed, other=lambda smoothing, logits: smoothing / (logits.shape[-1] - 2), padding_column=False
            ),
        ),
        Misconception(
            "divided_by_the_number_of_words",
            "Your answer uses the number of rows, shape[0], as the size of the vocabulary. The vocabulary is the last "
            "dimension: logits.shape[-1].",
            partial(_smoothed, other=lambda smoothing, logits: smoothing / max(len(logits) - 1, 1)),
        ),
        Misconception(
            "right_counted_among_the_others",
            "Your answer counts the right token among the others: on top of its 1 - smoothing it gets a share of the "
            "smoothing, and the target sums to more than 1. Take it out of the others' sum.",
            partial(_smoothed, right=lambda smoothing, logits: 1 - smoothing + _others(smoothing, logits)),
        ),
        Misconception(
            "not_negated",
            "Your answer has the wrong sign: cross-entropy is minus the sum.",
            partial(_smoothed, sign=1.0),
        ),
        Misconception(
            "nothing_taken_away",
            "Your answer gives the others their share but leaves 1 at the right token: the target sums to more than 1. "
            "Take the smoothing away there.",
            partial(_smoothed, right=lambda smoothing, logits: 1.0),
        ),
        Misconception(
            "not_shared_out",
            "Your answer takes the smoothing away from the right token and gives it to nobody. Share it among the "
            "other tokens.",
            lambda logits, expected, smoothing: (1 - smoothing) * F.cross_entropy(logits, expected),
        ),
        Misconception(
            "whole_for_each",
            "Your answer gives the whole smoothing to each of the other tokens. They share it: divide by V - 1.",
            partial(_smoothed, other=lambda smoothing, logits: smoothing),
        ),
        Misconception(
            "swapped",
            "Your answer leaves only the smoothing at the right token and shares out all the rest. It is the other way "
            "round: 1 - smoothing stays.",
            partial(
                _smoothed,
                right=lambda smoothing, logits: smoothing,
                other=lambda smoothing, logits: _others(1 - smoothing, logits),
            ),
        ),
        Misconception(
            "not_smoothed",
            "Your answer is the plain negative log-likelihood: `smoothing` plays no part.",
            partial(_smoothed, right=lambda smoothing, logits: 1.0, other=lambda smoothing, logits: 0.0),
        ),
        Misconception(
            "always_a_tenth",
            "Your answer smooths by 0.1, as the paper does, whatever `smoothing` is. Use the argument.",
            lambda logits, expected, smoothing: _smoothed(logits, expected, 0.1),
        ),
        Misconception(
            "prediction_smoothed",
            "Your answer smooths the model's probabilities, not the target. Leave the prediction as it is: what "
            "changes is what it is compared with.",
            _smoothed_prediction,
        ),
        Misconception(
            "others_together",
            "Your answer takes the logarithm of the others' total probability, 1 - p. Each of them has a term of its "
            "own: sum their logarithms, not their probabilities.",
            _others_together,
        ),
        Misconception(
            "every_word_in_every_row",
            "Your answer marks all the right tokens in every row, as q[:, expected] does. Each row has one right "
            "token: use scatter, or q[torch.arange(tokens), expected].",
            _every_token_in_every_row,
        ),
        Misconception(
            "softmax_over_the_words",
            "Your answer takes log_softmax over the tokens, dim=0. Probabilities are over the vocabulary: dim=-1.",
            partial(_smoothed, log_p=lambda logits: logits.log_softmax(dim=0)),
        ),
        Misconception(
            "logits_unnormalised",
            "Your answer multiplies the target by the logits. Cross-entropy takes log-probabilities: log_softmax of "
            "the logits first.",
            partial(_smoothed, log_p=as_it_is),
        ),
        Misconception(
            "softmaxed_twice",
            "Your answer takes the softmax twice: cross_entropy and log_softmax already contain one. Hand them the "
            "logits as they are.",
            partial(_smoothed, log_p=lambda logits: logits.softmax(dim=-1).log_softmax(dim=-1)),
        ),
        Misconception(
            "no_logarithms",
            "Your answer multiplies the target by the probabilities themselves. Take their logarithms: log_softmax.",
            partial(_smoothed, log_p=lambda logits: logits.softmax(dim=-1)),
        ),
        Misconception(
            "softmax_by_hand",
            "Your answer takes exp of the logits as they are, which overflows where they are large. log_softmax "
            "subtracts the largest first: use it.",
            lambda logits, expected, smoothing: _by_parts(
                logits - logits.exp().sum(dim=-1, keepdim=True).log(), expected, smoothing
            ),
        ),
        Misconception(
            "log_of_softmax",
            "Your answer takes the logarithm of a softmax, in which very small probabilities are rounded to 0, so that "
            "the loss becomes infinite. log_softmax takes both in one: use it.",
            lambda logits, expected, smoothing: _by_parts(logits.softmax(dim=-1).log(), expected, smoothing),
        ),
        padding_left_out(partial(_smoothed, passed_over=True)),
        Misconception(
            "summed",
            "Your answer is the sum over the tokens. Take the mean over them.",
            partial(_smoothed, reduce=torch.sum),
        ),
        Misconception(
            "mean_over_the_vocabulary",
            "Your answer takes the mean over the vocabulary as well. Sum over the vocabulary, and take the mean only "
            "over the tokens.",
            partial(_smoothed, reduce=torch.mean),
        ),
        Misconception(
            "no_gradients",
            "The value is right, but no gradient reaches the logits: the computation leaves torch somewhere (.item(), "
            ".detach(), numpy or torch.tensor(...)). Nothing could be learned from it.",
            lambda logits, expected, smoothing: _smoothed(logits, expected, smoothing).detach(),
            alone=True,
        ),
        Misconception(
            "others_detached",
            "The value is right, but no gradient flows through the other tokens' part: it is detached somewhere "
            "(.detach(), .item() or no_grad). Leave that out.",
            lambda logits, expected, smoothing: _by_parts(_log_softmax(logits), expected, smoothing, keep=torch.detach),
            alone=True,
        ),
        Misconception(
            "kl_divergence",
            "Your answer is the Kullback-Leibler divergence: it lacks the entropy of the smoothed target. The loss "
            "wanted here is the cross-entropy, -Σ q ln p.",
            lambda logits, expected, smoothing: F.kl_div(
                _log_softmax(logits), _target(logits, expected, smoothing), reduction="batchmean"
            ),
        ),
        Misconception(
            "wrong_way_round",
            "Your answer is the cross-entropy the wrong way round, -Σ p ln q: the prediction weights the target's "
            "logarithms. The target is the weight, and the logarithm is the prediction's: -Σ q ln p.",
            lambda logits, expected, smoothing: (
                -(logits.softmax(dim=-1) * _target(logits, expected, smoothing).clamp_min(1e-12).log()).sum(-1).mean()
            ),
        ),
    ),
    listed_pairs=(
        Pair(
            "kl_divergence",
            "mean_over_the_vocabulary",
            lambda logits, expected, smoothing: (
                F.kl_div(_log_softmax(logits), _target(logits, expected, smoothing), reduction="batchmean")
                / logits.shape[-1]
            ),
        ),
    ),
    withheld=WITHHELD,
)
