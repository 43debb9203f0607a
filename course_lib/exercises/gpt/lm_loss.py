"""Lesson 07, gpt.lm_loss: The loss of a batch."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, integer, sizes
from course_lib.exercises.gpt.shared import (
    LESSON,
    SENTENCES,
    WITHHELD,
    batched_kinds,
    other_questions,
    random_ids,
)
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise, Hint, Misconception
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
        tokens, vocab_size = (1, 2) if kind.ones else (integer(generator, 11, 14), integer(generator, 15, 19))
        targets = random_ids(generator, vocab_size, kind.leading[0], tokens)
        targets[-1, 0] = 0
        logits = (1 if kind.ones else 3) * kind.normal(tokens, vocab_size)  # of two tokens neither may be certain
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


def _loss_by_gathering(log_probs: Tensor, targets: Tensor) -> Tensor:
    rows, asked = log_probs.flatten(0, 1), targets.flatten()
    picked = rows.gather(-1, asked.unsqueeze(-1)).squeeze(-1)
    loss = -picked.mean()
    return loss


_slip = partial(Edited, _loss_by_gathering)
_PICKED, _RETURN = "rows.gather(-1, asked.unsqueeze(-1)).squeeze(-1)", "return loss"


def _given(log_probs: str) -> Edited:
    """The loss of something else than the log-probabilities."""
    return _slip(("rows, asked = ", f"log_probs = {log_probs}\n    rows, asked = "))


def _loss_by_loop(log_probs: Tensor, targets: Tensor) -> Tensor:
    losses = [
        -log_probs[text, position, targets[text, position]]
        for text in range(targets.shape[0])
        for position in range(targets.shape[1])
    ]
    return torch.stack(losses).mean()


CORRECT = (
    _loss_by_gathering,
    _loss_by_loop,
    lambda log_probs, targets: F.nll_loss(log_probs.transpose(1, 2), targets),
)


EXERCISE = Exercise(
    id="gpt.lm_loss",
    lesson=LESSON,
    name="lm_loss",
    title="The loss of a batch",
    statement=(
        "lm_loss(log_probs [batch, tokens, vocab_size], targets int64 [batch, tokens]) -> a single number, a tensor "
        "without dimensions, from which a gradient comes back to log_probs: the mean over all tokens of the batch of "
        "minus the log-probability of the target."
    ),
    points=3,
    minutes=12,
    difficulty=2,
    importance=5,
    section="One loss for a whole batch",
    source="S0, batching with NLLLoss",
    reference=gpt.lm_loss,
    cases=and_turned_around(_loss_cases),
    parts={CORE: 2, ZEROS: 1},
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "Pick the number of the target at each position. Multiplying by a one-hot vector instead would make 0 "
            "times minus infinity, which to a computer is not 0 but NaN.",
        ),
        Hint(
            "shapes",
            "`NLLLoss` wants `[positions, vocab_size]` and `[positions]`, so the batch and the tokens are merged into "
            "one dimension, in both tensors in the same order. Merging dimensions moves nothing; do not transpose.",
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
            "Your answer gives NLLLoss [batch, vocab_size, tokens] by reshaping, which tears the rows of numbers "
            "apart. Reshape to [batch * tokens, vocab_size] instead, or swap the two dimensions with transpose(1, 2).",
            _slip(
                ("log_probs.flatten(0, 1)", "log_probs.reshape(len(targets), -1, targets.shape[1]).mT.flatten(0, 1)")
            ),
        ),
        Misconception(
            "transposed_and_reshaped",
            "Your answer swaps dimensions and then reshapes to [..., vocab_size], which tears the rows of numbers "
            "apart. Flatten log_probs as they are, flatten(0, 1), or swap dimensions without a reshape.",
            _given("log_probs.transpose(1, 2).reshape(log_probs.shape)"),
        ),
        # The targets or log_probs in another order, the last tokens or the first text only, shifted again, no token 0.
        *other_questions("log_probs", "log-probabilities", _slip),
        Misconception(
            "sign_forgotten",
            "Your answer is negative. A log-probability is at most 0: put a minus in front, so that the loss is not.",
            _slip(("-picked", "picked")),
        ),
        Misconception(
            "summed",
            "Your answer is the sum over all tokens. Take the mean, so that the loss does not depend on the size of "
            "the batch.",
            _slip((".mean()", ".sum()")),
        ),
        Misconception(
            "summed_over_words",
            "Your answer sums over the tokens of a text and takes the mean over texts only. Take the mean over all "
            "tokens of the batch.",
            _slip((".mean()", ".view_as(targets).sum(dim=-1).mean()")),
        ),
        Misconception(
            "summed_over_texts",
            "Your answer takes the mean over the tokens of each text, but the sum over texts. Take the mean over all "
            "tokens of the batch.",
            _slip((".mean()", ".view_as(targets).mean(dim=-1).sum()")),
        ),
        Misconception(
            "not_averaged",
            "Your answer is one loss for each token. Take their mean: a single number.",
            _slip((".mean()", ".view_as(targets)")),
        ),
        Misconception(
            "probabilities",
            "Your answer takes exp of the log-probabilities before it picks those of the targets. NLLLoss wants the "
            "logarithms as they come: it only picks, averages and changes the sign.",
            _given("log_probs.exp()"),
        ),
        Misconception(
            "softmax_of_probabilities",
            "Your answer gives cross_entropy probabilities, which takes the log-softmax of them as if they were "
            "scores. Leave exp out: log_probs are what NLLLoss wants, as they come.",
            _given("log_probs.exp().log_softmax(dim=-1)"),
        ),
        Misconception(
            "logarithm_twice",
            "Your answer takes the logarithm once more, which is NaN for negative numbers. log_probs are logarithms "
            "already.",
            _given("log_probs.log()"),
        ),
        Misconception(
            "detached",
            "No gradient comes back from your loss to log_probs (.detach(), .data, torch.tensor(...), numpy, no_grad), "
            "so that no model could learn from it. Stay within torch's functions all the way.",
            _given("log_probs.detach()"),
        ),
        Misconception(
            "perplexity",
            "Your answer is exp of the loss, the perplexity. Return the loss itself.",
            _slip((_RETURN, "return loss.exp()")),
        ),
        Misconception(
            "mean_over_the_vocabulary",
            "Your answer takes the mean of all log-probabilities, including those of wrong tokens. Only the target's "
            "counts at each position.",
            _slip((_PICKED, "rows")),
        ),
        Misconception(
            "best_word",
            "Your answer uses the most probable token at each position, whatever the target is. A loss needs the "
            "targets: pick the log-probability of the right token.",
            _slip((_PICKED, "rows.amax(dim=-1)")),
        ),
        Misconception(
            "zero_times_infinity",
            "Your answer is right unless some token has probability 0, whose logarithm is -inf: 0 times that is NaN. "
            "Pick the target's number (NLLLoss, gather) instead of multiplying by a one-hot vector.",
            _slip((_PICKED, "(F.one_hot(asked, rows.shape[-1]) * rows).sum(dim=-1)")),
            alone=True,
        ),
        Misconception(
            "places_with_zeros_left_out",
            "Your answer is right unless some token has probability 0: it skips the whole position where there is one. "
            "Its target counts like any other: pick that number, and leave the rest of the row alone.",
            _slip(
                (
                    "picked = ",
                    "finite = rows.isfinite().all(dim=-1)\n"
                    "    rows, asked = rows[finite], asked[finite]\n    picked = ",
                )
            ),
            alone=True,
        ),
    ),
    withheld=WITHHELD,
)
