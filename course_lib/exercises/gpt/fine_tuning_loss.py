"""Lesson 07, gpt.fine_tuning_loss: The loss of fine-tuning."""

from collections.abc import Iterator
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, hints, integer, mistake, slips
from course_lib.exercises.gpt.shared import SENTENCES, batched_kinds, random_ids
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import Case, Exercise
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


def _transposed(class_logits: Tensor, labels: Tensor, lm_logits: Tensor, targets: Tensor, weight: float) -> Tensor:
    return F.cross_entropy(class_logits, labels) + weight * F.cross_entropy(lm_logits.transpose(1, 2), targets)


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


_slip = partial(Edited, gpt.fine_tuning_loss)
_LABELS, _TARGETS, _FLAT = "(class_logits, labels)", "targets.flatten()", "lm_logits.flatten(0, 1)"
_SUM, _RETURN = "class_loss + weight * token_loss", "    return"


EXERCISE = Exercise(
    id="gpt.fine_tuning_loss",
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
    correct=(_transposed, _fine_tuning_by_loop, _fine_tuning_by_logsumexp),
    steps=("class_loss", "token_loss"),
    hints=hints(
        idea=(
            "Take two mean cross-entropies and multiply only the second by the weight. For the second, flatten the "
            "logits and the targets in the same order, as in section 3."
        )
    ),
    misconceptions=(
        *mistake(
            "Your answer uses weight in the wrong place, or not at all. Use task + weight · lm.",
            not_weighted=_slip((_SUM, "class_loss + token_loss")),
            weight_on_the_labels=_slip((_SUM, "weight * class_loss + token_loss")),
            both_weighted=_slip((_SUM, "weight * (class_loss + token_loss)")),
        ),
        *slips(
            gpt.fine_tuning_loss,
            no_auxiliary_loss=(
                "Your answer has only the task loss. Add weight times the language-modeling loss, as GPT-1 does.",
                (_SUM, "class_loss"),
            ),
            weight_of_the_paper=(
                "Your answer always weights language modeling by 0.5, as GPT-1 did. Use `weight`.",
                (_SUM, "class_loss + 0.5 * token_loss"),
            ),
            subtracted=(
                "Your answer subtracts the language-modeling loss, so training makes the model worse at it. Add it.",
                (_SUM, "class_loss - weight * token_loss"),
            ),
            labels_summed=(
                "Your answer sums the task loss over the batch. Take the mean.",
                (_LABELS, f"{_LABELS} * len(labels)"),
            ),
            reshaped_not_transposed=(
                "Your answer reshapes lm_logits to [batch, vocab_size, tokens], which mixes the logits of different "
                "tokens. Flatten to [batch * tokens, vocab_size], or swap the dimensions with transpose(1, 2).",
                (f"{_FLAT}, {_TARGETS}", "lm_logits.reshape(len(targets), -1, targets.shape[-1]), targets"),
            ),
        ),
        *slips(
            gpt.fine_tuning_loss,
            paired=False,
            shifted_again=(
                "Your answer shifts the targets a second time. Compare each with the logits at its own position.",
                (_FLAT, "lm_logits[:, :-1].flatten(0, 1)"),
                (_TARGETS, "targets[:, 1:].flatten()"),
            ),
            word_0_left_out=(
                "Your answer skips targets with token 0, as if it were padding. Here, token 0 is an ordinary token.",
                (_FLAT, "lm_logits[targets != 0]"),
                (_TARGETS, "targets[targets != 0]"),
            ),
        ),
        *mistake(
            "Your answer flattens lm_logits and the targets in different orders. Flatten both text by text.",
            targets_in_another_order=_slip((_TARGETS, "targets.T.flatten()"), paired=False),
            logits_in_another_order=_slip((_FLAT, "lm_logits.transpose(0, 1).flatten(0, 1)"), paired=False),
        ),
        *mistake(
            "Your language-modeling loss leaves out some tokens. Take the mean over all tokens of the batch.",
            only_the_last_word=_slip((_FLAT, "lm_logits[:, -1]"), (_TARGETS, "targets[:, -1]"), paired=False),
            only_the_first_text=_slip((_FLAT, "lm_logits[0]"), (_TARGETS, "targets[0]"), paired=False),
        ),
        *mistake(
            "Your answer caps the weight at 1, or rounds it down. Use the weight as it is.",
            weight_at_most_1=_slip((_SUM, "class_loss + min(weight, 1.0) * token_loss")),
            weight_cut_to_an_integer=_slip((_SUM, "class_loss + int(weight) * token_loss")),
        ),
        *mistake(
            "Your answer passes logits to NLLLoss, which needs log-probabilities. Use F.cross_entropy instead.",
            logits_as_log_probabilities=_slip(("token_loss = F.cross_entropy", "token_loss = F.nll_loss")),
            class_logits_as_log_probabilities=_slip(("class_loss = F.cross_entropy", "class_loss = F.nll_loss")),
        ),
        *mistake(
            "Your answer takes a softmax before cross_entropy, which takes one itself. Pass the logits.",
            softmax_of_the_words=_slip(("lm_logits.flatten", "lm_logits.softmax(dim=-1).flatten")),
            softmax_of_the_classes=_slip((_LABELS, "(class_logits.softmax(dim=-1), labels)")),
        ),
        *mistake(
            "Your answer makes the two weights sum to 1. Give the task loss a weight of 1: task + weight · lm.",
            mixture=_slip((_SUM, "(1 - weight) * class_loss + weight * token_loss")),
            weighted_mean=_slip((_SUM, f"({_SUM}) / (1 + weight)")),
        ),
        *mistake(
            "Your answer sums the loss over tokens. Take the mean over all tokens of the batch.",
            words_summed=_slip((f"{_TARGETS})", f"{_TARGETS}) * targets.numel()")),
            words_summed_over_each_text=_slip((f"{_TARGETS})", f"{_TARGETS}) * targets.shape[-1]")),
        ),
        *mistake(
            "No gradient reaches one of the two kinds of logits (.detach(), .item(), no_grad), so the model never "
            "learns from that loss. Use torch operations throughout.",
            language_model_detached=_slip((_RETURN, "    token_loss = token_loss.detach()\n    return")),
            labels_not_learned=_slip((_RETURN, "    class_loss = class_loss.detach()\n    return")),
        ),
    ),
)
