"""Lesson 07, gpt.fine_tuning_loss: The loss of fine-tuning."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.exercises.common import alike, and_turned_around, integer
from course_lib.exercises.gpt.shared import SENTENCES, batched_kinds, other_questions, random_ids
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import Case, Exercise, Hint, Misconception
from course_lib.references import gpt


def _fine_tuning_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        class_logits = torch.tensor([[1.0, -1.0], [0.5, 2.0]])
        lm_logits = 2 * torch.cos(torch.arange(40.0)).reshape(2, 4, 5)
        yield Case(
            "worked example: I saw the dog running, weight 0.5",
            (class_logits, torch.tensor([0, 1]), lm_logits, SENTENCES[:, 1:], 0.5),
            gradients=(0, 2),
        )
    for kind in batched_kinds(generator):
        (batch,) = kind.leading
        tokens, vocab_size = (1, 2) if kind.ones else (integer(generator, 8, 11), integer(generator, 12, 19))
        classes = integer(generator, 2, 5)
        targets = random_ids(generator, vocab_size, batch, tokens)
        targets[-1, 0] = 0
        yield Case(
            kind.name,
            (
                2 * torch.randn(batch, classes, generator=generator, dtype=kind.dtype),
                random_ids(generator, classes, batch),
                2 * kind.normal(tokens, vocab_size),
                targets,
                integer(generator, 2, 8) / 10 + (1.05 if kind.transposed else 0.05),
            ),
            gradients=(0, 2),
        )
    yield Case(
        "weight 0",
        (
            torch.randn(3, 2, generator=generator),
            random_ids(generator, 2, 3),
            torch.randn(3, 4, 6, generator=generator),
            random_ids(generator, 6, 3, 4),
            0.0,
        ),
    )


def _fine_tuning_in_two_parts(
    class_logits: Tensor, labels: Tensor, lm_logits: Tensor, targets: Tensor, weight: float
) -> Tensor:
    task = F.cross_entropy(class_logits, labels)
    lm = F.cross_entropy(lm_logits.flatten(0, 1), targets.flatten())
    return task + weight * lm


_slip = partial(Edited, _fine_tuning_in_two_parts)
_LABELS, _TARGETS, _SUM = "(class_logits, labels)", "targets.flatten())", "task + weight * lm"
_FLAT = "lm_logits.flatten(0, 1)"


def _fine_tuning_by_loop(
    class_logits: Tensor, labels: Tensor, lm_logits: Tensor, targets: Tensor, weight: float
) -> Tensor:
    classes = [-F.log_softmax(row, dim=0)[label] for row, label in zip(class_logits, labels, strict=True)]
    tokens = [
        -F.log_softmax(lm_logits[text, position], dim=0)[targets[text, position]]
        for text in range(targets.shape[0])
        for position in range(targets.shape[1])
    ]
    return torch.stack(classes).mean() + weight * torch.stack(tokens).mean()


def _fine_tuning_by_logsumexp(
    class_logits: Tensor, labels: Tensor, lm_logits: Tensor, targets: Tensor, weight: float
) -> Tensor:
    def loss(logits: Tensor, right: Tensor) -> Tensor:
        return (logits.logsumexp(dim=-1) - logits.gather(-1, right.unsqueeze(-1)).squeeze(-1)).mean()

    return loss(class_logits, labels) + weight * loss(lm_logits, targets)


CORRECT = (_fine_tuning_in_two_parts, _fine_tuning_by_loop, _fine_tuning_by_logsumexp)


EXERCISE = Exercise(
    id="gpt.fine_tuning_loss",
    name="fine_tuning_loss",
    title="The loss of fine-tuning",
    statement=(
        "fine_tuning_loss(class_logits [batch, classes], labels int64 [batch], lm_logits [batch, tokens, vocab_size], "
        "targets int64 [batch, tokens], weight) -> a single number: the mean cross-entropy of the labels, plus weight "
        "times that of the next tokens."
    ),
    points=2,
    minutes=8,
    difficulty=2,
    importance=3,
    section="Fine-tuning",
    source="S2, GPT-1; Radford et al. (2018), section 3.2",
    reference=gpt.fine_tuning_loss,
    cases=and_turned_around(_fine_tuning_cases),
    correct=CORRECT,
    steps=("class_loss", "token_loss"),
    hints=(
        Hint(
            "idea",
            "Take two mean cross-entropies and weight only the second. Flatten its logits and targets as in section "
            "3, in the same order.",
        ),
    ),
    misconceptions=(
        Misconception(
            "no_auxiliary_loss",
            "Your answer has only the labels' loss. GPT-1 adds weight times the language-modeling loss.",
            _slip((_SUM, "task")),
        ),
        *alike(
            "Your answer applies weight to the wrong terms. Multiply only the language-modeling loss by it.",
            not_weighted=_slip((_SUM, "task + lm")),
            weight_on_the_labels=_slip((_SUM, "weight * task + lm")),
            both_weighted=_slip((_SUM, "weight * (task + lm)")),
        ),
        Misconception(
            "weight_of_the_paper",
            "Your answer always weights language modeling by 0.5, as GPT-1 did. Use `weight`.",
            _slip((_SUM, "task + 0.5 * lm")),
        ),
        *alike(
            "Your answer changes the weight: it caps it at 1, or rounds it down. Use it as it is.",
            weight_at_most_1=_slip((_SUM, "task + min(weight, 1.0) * lm")),
            weight_cut_to_an_integer=_slip((_SUM, "task + int(weight) * lm")),
        ),
        *alike(
            "Your answer passes logits to NLLLoss, which needs log-probabilities. Take the log-softmax first, or use "
            "F.cross_entropy, which includes it.",
            logits_as_log_probabilities=_slip(("lm = F.cross_entropy", "lm = F.nll_loss")),
            class_logits_as_log_probabilities=_slip(("task = F.cross_entropy", "task = F.nll_loss")),
        ),
        *alike(
            "Your answer takes a softmax before cross_entropy. Pass the logits: cross_entropy takes the softmax "
            "itself.",
            softmax_of_the_words=_slip(("lm_logits.flatten", "lm_logits.softmax(dim=-1).flatten")),
            softmax_of_the_classes=_slip((_LABELS, "(class_logits.softmax(dim=-1), labels)")),
        ),
        *alike(
            "Your answer makes the two weights sum to 1. In GPT-1's equation 5 the task loss has weight 1: task + "
            "weight · lm.",
            mixture=_slip((_SUM, "(1 - weight) * task + weight * lm")),
            weighted_mean=_slip((_SUM, f"({_SUM}) / (1 + weight)")),
        ),
        Misconception(
            "subtracted",
            "Your answer subtracts the language-modeling loss, so training would make the language model worse. Add "
            "it.",
            _slip((_SUM, "task - weight * lm")),
        ),
        *alike(
            "Your answer sums the loss over tokens. Take the mean over all tokens of the batch.",
            words_summed=_slip((_TARGETS, f"{_TARGETS} * targets.numel()")),
            words_summed_over_each_text=_slip((_TARGETS, f"{_TARGETS} * targets.shape[-1]")),
        ),
        Misconception(
            "labels_summed",
            "Your answer sums the labels' loss over the batch. Take the mean.",
            _slip((_LABELS, f"{_LABELS} * len(labels)")),
        ),
        Misconception(
            "reshaped_not_transposed",
            "Your answer reshapes lm_logits to [batch, vocab_size, tokens], which mixes the logits of different "
            "tokens. Flatten to [batch * tokens, vocab_size], or swap the dimensions with transpose(1, 2).",
            _slip((f"{_FLAT}, {_TARGETS}", "lm_logits.reshape(len(targets), -1, targets.shape[-1]), targets)")),
        ),
        # The targets or lm_logits in another order, the last tokens or the first text only, shifted again, no token 0.
        *other_questions("lm_logits", "logits", partial(_slip, paired=False), "in the language-modelling loss"),
        *alike(
            "No gradient reaches one of the two kinds of logits (.detach(), .item(), no_grad), so the model never "
            "learns from that loss. Use torch operations throughout.",
            language_model_detached=_slip(("    return", "    lm = lm.detach()\n    return")),
            labels_not_learned=_slip(("    return", "    task = task.detach()\n    return")),
        ),
    ),
)
