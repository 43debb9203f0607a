"""Lesson 07, gpt.lm_loss: The loss of a batch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib.checking.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.exercises.common import and_turned_around, as_it_is, integer, sizes
from course_lib.exercises.gpt.shared import (
    LESSON,
    SENTENCES,
    WITHHELD,
    Questions,
    batched_kinds,
    other_questions,
    random_ids,
)
from course_lib.references import gpt


def _log_probs(logits: Tensor) -> Tensor:
    """Log-probabilities laid out in memory as the logits are."""
    return logits - logits.logsumexp(dim=-1, keepdim=True)


ZEROS = "tokens of probability 0"


def _example_log_probs() -> Tensor:
    """Made-up log-probabilities of the five tokens that may follow each token that is read, [2, 4, 5]."""
    return torch.log_softmax(2 * torch.cos(torch.arange(40.0)).reshape(2, 4, 5), dim=-1)


def _loss_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    """Gradients only where the vocabulary is large: there those of cross_entropy and NLLLoss are nearly the same.

    Tokens of probability 0 stand at every other position only: dropping those is a different mistake from 0 * -inf.
    """
    if not hidden:
        yield Case("worked example: I saw the dog running", (_example_log_probs(), SENTENCES[:, 1:]))
    for kind in batched_kinds(generator):
        tokens, vocabulary = (1, 2) if kind.ones else (integer(generator, 11, 14), integer(generator, 15, 19))
        targets = random_ids(generator, vocabulary, kind.leading[0], tokens)
        targets[-1, 0] = 0
        logits = (1 if kind.ones else 3) * kind.normal(tokens, vocabulary)  # of two tokens neither may be certain
        yield Case(kind.name, (_log_probs(logits), targets))
    batch, tokens = sizes(generator, 2)
    logits = torch.randn(batch, tokens, 12, generator=generator)
    logits[:, ::2, ::3] = -math.inf
    possible = torch.tensor([token for token in range(12) if token % 3])
    targets = possible[random_ids(generator, len(possible), batch, tokens)]
    yield Case(ZEROS, (_log_probs(logits), targets), part=ZEROS)
    logits = torch.rand(2, 1, 100_000, generator=generator) / 2
    logits[..., integer(generator, 0, 100_000)] = 0.7  # only one token is the most probable
    targets = random_ids(generator, 100_000, 2, 1)
    yield Case("a large vocabulary, and the gradient", (_log_probs(logits), targets), gradients=(0,))


def _picked(log_probs: Tensor, targets: Tensor) -> Tensor:
    """The log-probability of each target, [batch, tokens]."""
    return log_probs.gather(-1, targets.unsqueeze(-1)).squeeze(-1)


def _in_other_classes(log_probs: Tensor, targets: Tensor) -> Tensor:
    return -F.nll_loss(log_probs.reshape(len(log_probs), -1, targets.shape[1]), targets, reduction="none")


def _torn(log_probs: Tensor) -> Tensor:
    return log_probs.transpose(1, 2).reshape(log_probs.shape)


def _loss(
    log_probs: Tensor,
    targets: Tensor,
    *,
    given: Callable[[Tensor], Tensor] = as_it_is,
    questions: Questions = lambda given, targets: (given, targets),
    pick: Callable[[Tensor, Tensor], Tensor] = _picked,
    join: Callable[[Tensor], Tensor] = torch.mean,
    finish: Callable[[Tensor], Tensor] = torch.neg,
) -> Tensor:
    """The loss step by step: of other numbers, of other questions, picked, joined or finished differently."""
    return finish(join(pick(*questions(given(log_probs), targets))))


def _loss_by_loop(log_probs: Tensor, targets: Tensor) -> Tensor:
    losses = [
        -log_probs[text, place, targets[text, place]]
        for text in range(targets.shape[0])
        for place in range(targets.shape[1])
    ]
    return torch.stack(losses).mean()


def _loss_in_double(log_probs: Tensor, targets: Tensor) -> Tensor:
    picked = torch.take_along_dim(log_probs.double(), targets[..., None], dim=2)
    return (-picked.sum() / picked.numel()).to(log_probs.dtype)


def _loss_by_text(log_probs: Tensor, targets: Tensor) -> Tensor:
    criterion = nn.NLLLoss(reduction="sum")
    total = torch.zeros((), dtype=log_probs.dtype)
    for one, right in zip(log_probs, targets, strict=True):
        total = total + criterion(one, right)
    return total / targets.numel()


def _loss_by_vmap(log_probs: Tensor, targets: Tensor) -> Tensor:
    rows = log_probs.reshape(-1, log_probs.shape[-1])
    picked: Tensor = torch.func.vmap(lambda row, token: row.gather(0, token[None])[0])(rows, targets.reshape(-1))
    return -picked.mean()


CORRECT = (
    _loss_by_loop,
    _loss_by_text,
    _loss_in_double,
    _loss_by_vmap,
    lambda log_probs, targets: nn.NLLLoss()(log_probs.reshape(-1, log_probs.shape[-1]), targets.reshape(-1)),
    lambda log_probs, targets: F.nll_loss(log_probs.transpose(1, 2), targets),
    lambda log_probs, targets: F.cross_entropy(log_probs.flatten(0, 1), targets.flatten()),
    lambda log_probs, targets: -log_probs.gather(-1, targets.unsqueeze(-1)).mean(),
    lambda log_probs, targets: -log_probs.flatten(0, 1)[torch.arange(targets.numel()), targets.flatten()].mean(),
    lambda log_probs, targets: -log_probs[F.one_hot(targets, log_probs.shape[-1]).bool()].mean(),
)


EXERCISE = Exercise(
    id="gpt.lm_loss",
    lesson=LESSON,
    name="lm_loss",
    title="The loss of a batch",
    statement=(
        "lm_loss(log_probs [batch, tokens, vocabulary], targets int64 [batch, tokens]) -> a single number, a tensor "
        "without dimensions, from which a gradient comes back to log_probs: the mean over all tokens of the batch of "
        "minus the log-probability of the target."
    ),
    points=3,
    minutes=12,
    section="One loss for a whole batch",
    source="S0, batching with NLLLoss",
    reference=gpt.lm_loss,
    cases=and_turned_around(_loss_cases),
    parts={CORE: 2, ZEROS: 1},
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "Pick the number of the target at each place. Multiplying by a one-hot vector instead would make 0 times "
            "minus infinity, which to a computer is not 0 but NaN.",
        ),
        Hint(
            "shapes",
            "`NLLLoss` wants `[places, vocabulary]` and `[places]`, so the batch and the tokens are merged into one "
            "dimension, in both tensors in the same order. Merging dimensions moves nothing; do not transpose.",
            answers=(
                "reshaped_not_transposed",
                "transposed_and_reshaped",
                "targets_in_another_order",
                "log_probs_in_another_order",
                "summed_over_words",
                "not_averaged",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "reshaped_not_transposed",
            "Your answer gives NLLLoss [batch, vocabulary, tokens] by reshaping, which tears the rows of numbers "
            "apart. Reshape to [batch * tokens, vocabulary] instead, or swap the two dimensions with transpose(1, 2).",
            partial(_loss, pick=_in_other_classes),
        ),
        Misconception(
            "transposed_and_reshaped",
            "Your answer swaps dimensions and then reshapes to [..., vocabulary], which tears the rows of numbers "
            "apart. Flatten log_probs as they are, flatten(0, 1), or swap dimensions without a reshape.",
            partial(_loss, given=_torn),
        ),
        # The targets or log_probs in another order, the last tokens or the first text only, shifted again, no token 0.
        *other_questions("log_probs", "log-probabilities", lambda questions: partial(_loss, questions=questions)),
        Misconception(
            "sign_forgotten",
            "Your answer is negative. A log-probability is at most 0: put a minus in front, so that the loss is not.",
            partial(_loss, finish=as_it_is),
        ),
        Misconception(
            "summed",
            "Your answer is the sum over all tokens. Take the mean, so that the loss does not depend on the size of "
            "the batch.",
            partial(_loss, join=torch.sum),
        ),
        Misconception(
            "summed_over_words",
            "Your answer sums over the tokens of a text and takes the mean over texts only. Take the mean over all "
            "tokens of the batch.",
            partial(_loss, join=lambda numbers: numbers.sum(dim=-1).mean()),
        ),
        Misconception(
            "summed_over_texts",
            "Your answer takes the mean over the tokens of each text, but the sum over texts. Take the mean over all "
            "tokens of the batch.",
            partial(_loss, join=lambda numbers: numbers.mean(dim=-1).sum()),
        ),
        Misconception(
            "not_averaged",
            "Your answer is one loss for each token. Take their mean: a single number.",
            partial(_loss, join=as_it_is),
        ),
        Misconception(
            "probabilities",
            "Your answer takes exp of the log-probabilities before it picks those of the targets. NLLLoss wants the "
            "logarithms as they come: it only picks, averages and changes the sign.",
            partial(_loss, given=torch.exp),
        ),
        Misconception(
            "softmax_of_probabilities",
            "Your answer gives cross_entropy probabilities, which takes the log-softmax of them as if they were "
            "scores. Leave exp out: log_probs are what NLLLoss wants, as they come.",
            partial(_loss, given=lambda log_probs: torch.log_softmax(log_probs.exp(), dim=-1)),
        ),
        Misconception(
            "logarithm_twice",
            "Your answer takes the logarithm once more, which is NaN for negative numbers. log_probs are logarithms "
            "already.",
            partial(_loss, given=torch.log),
        ),
        Misconception(
            "detached",
            "No gradient comes back from your loss to log_probs (.detach(), .data, torch.tensor(...), numpy, no_grad), "
            "so that no model could learn from it. Stay within torch's functions all the way.",
            partial(_loss, given=torch.detach),
        ),
        Misconception(
            "perplexity",
            "Your answer is exp of the loss, the perplexity. Return the loss itself.",
            partial(_loss, finish=lambda mean: torch.exp(-mean)),
        ),
        Misconception(
            "mean_over_the_vocabulary",
            "Your answer takes the mean of all log-probabilities, including those of wrong tokens. Only the target's "
            "counts at each position.",
            partial(_loss, pick=lambda log_probs, targets: log_probs),
        ),
        Misconception(
            "best_word",
            "Your answer uses the most probable token at each position, whatever the target is. A loss needs the "
            "targets: pick the log-probability of the right token.",
            partial(_loss, pick=lambda log_probs, targets: log_probs.amax(dim=-1)),
        ),
        Misconception(
            "zero_times_infinity",
            "Your answer is right unless some token has probability 0, whose logarithm is -inf: 0 times that is NaN. "
            "Pick the target's number (NLLLoss, gather) instead of multiplying by a one-hot vector.",
            partial(
                _loss,
                pick=lambda log_probs, targets: (F.one_hot(targets, log_probs.shape[-1]) * log_probs).sum(dim=-1),
            ),
            alone=True,
        ),
        Misconception(
            "places_with_zeros_left_out",
            "Your answer is right unless some token has probability 0: it skips the whole position where there is one. "
            "Its target counts like any other: pick that number, and leave the rest of the row alone.",
            partial(
                _loss,
                questions=lambda log_probs, targets: (
                    log_probs[log_probs.isfinite().all(dim=-1)],
                    targets[log_probs.isfinite().all(dim=-1)],
                ),
            ),
            alone=True,
        ),
    ),
    withheld=WITHHELD,
)
