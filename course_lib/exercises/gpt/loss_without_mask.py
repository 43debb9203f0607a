"""Lesson 07, gpt.loss_without_mask: Predict: the loss without a mask."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, kinds, predicted
from course_lib.judging.exercise import Case, Exercise, Hint, Misconception
from course_lib.references import gpt


def _prediction_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: I saw the dog", (torch.tensor([2.5, 2.0, 1.5, 1.0]),))
    for kind in kinds(generator):
        (tokens,) = kind.sizes(1)
        yield Case(kind.name, (kind.normal(tokens).abs() + 0.5,))
    yield Case("a single token", (torch.rand(1, generator=generator) + 0.5,))


def _only(positions: slice | list[int], honest: Tensor) -> Tensor:
    """The honest loss at these positions, 0 at the others."""
    kept = torch.zeros_like(honest)
    kept[..., positions] = honest[..., positions]
    return kept


def _last(loss: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """The prediction that is right except at the last position, where the loss is a different one."""

    def predict(honest: Tensor) -> Tensor:
        losses = torch.zeros_like(honest)
        losses[..., -1] = loss(honest)
        return losses

    return predict


def _prediction_in_place(honest: Tensor) -> Tensor:
    losses = honest.clone()
    losses[..., :-1] = 0
    return losses


EXERCISE = Exercise(
    id="gpt.loss_without_mask",
    name="loss_without_mask",
    title="Predict: the loss without a mask",
    statement=(
        "loss_without_mask(honest [..., tokens]) -> [..., tokens]: the lowest loss that a model without a mask can "
        "reach at each position, given the losses of an honest model. Both read the same tokens and have the same "
        "targets."
    ),
    points=1,
    minutes=6,
    difficulty=3,
    importance=3,
    section="What would happen without the mask?",
    source="S0, a small problem with transformer language models",
    reference=gpt.loss_without_mask,
    cases=and_turned_around(predicted(_prediction_cases)),
    # A prediction has nothing to overflow or to differentiate: the mistakes are other predictions.
    correct=(
        _prediction_in_place,
        lambda honest: F.pad(honest[..., -1:], (honest.shape[-1] - 1, 0)),
        lambda honest: torch.where(torch.arange(honest.shape[-1]) == honest.shape[-1] - 1, honest, 0.0),
    ),
    hints=(
        Hint(
            "idea",
            "Write the inputs above the targets, which are shifted by one. For which positions is the target "
            "somewhere in the input?",
        ),
    ),
    misconceptions=(
        Misconception(
            "zero_everywhere",
            "Your prediction is right except at the last position. The target there is the token after the last input, "
            "so the model cannot copy it and must guess like an honest one.",
            torch.zeros_like,
        ),
        Misconception(
            "zero_at_a_single_word",
            "Your prediction is right except for a text of one token. Its only position is also its last, so the "
            "target is not in the input.",
            lambda honest: _only([-1], honest) if honest.shape[-1] > 1 else torch.zeros_like(honest),
        ),
        Misconception(
            "nothing_changes",
            "You predict that the mask makes no difference. Without it, position t sees the token at t + 1, which is "
            "its target.",
            lambda honest: honest.clone(),
        ),
        Misconception(
            "as_good_as_the_last",
            "You predict that every position is now as good as the last, which always sees all tokens. But the earlier "
            "positions even see their own target, so they don't have to guess.",
            lambda honest: honest[..., -1:].expand_as(honest),
        ),
        Misconception(
            "as_good_as_the_best",
            "You predict that every position is now as good as the best. Check which positions have their target in "
            "the input: those don't have to guess, and the others don't improve.",
            lambda honest: honest.amin(dim=-1, keepdim=True).expand_as(honest),
        ),
        Misconception(
            "mean_everywhere",
            "You predict the mean of the honest losses everywhere. Positions don't share losses: for each one, ask "
            "whether it can copy its target from the input.",
            lambda honest: honest.mean(dim=-1, keepdim=True).expand_as(honest),
        ),
        Misconception(
            "one_place_further",
            "You predict that each position is now as good as the next, since it sees one more token. That token is "
            "its target, which it can copy.",
            lambda honest: torch.cat([honest[..., 1:], honest[..., -1:]], dim=-1),
        ),
        Misconception(
            "zero_but_the_first",
            "You predict a loss only at the first position. Its target, the second token, is in the input. Only the "
            "last position's target is missing.",
            lambda honest: _only([0], honest),
        ),
        Misconception(
            "zero_but_the_ends",
            "You predict a loss at the first and the last position. The first position's target, the second token, is "
            "in the input, so its loss is 0.",
            lambda honest: _only([0, -1], honest),
        ),
        Misconception(
            "zero_but_the_last_two",
            "You predict a loss at the last two positions. The first of these has the last input token as its target: "
            "the model can copy it.",
            lambda honest: _only(slice(-2, None), honest),
        ),
        Misconception(
            "only_the_last_is_zero",
            "You predict the reverse. Only the last position cannot copy its target, because that token is not in the "
            "input.",
            lambda honest: _only(slice(0, -1), honest),
        ),
        Misconception(
            "last_text_kept",
            "Your prediction is right for a single text, but in a batch it keeps all losses of the last text. "
            "Positions are the last dimension: losses[..., -1].",
            lambda honest: torch.cat([torch.zeros_like(honest[:-1]), honest[-1:]]),
        ),
        Misconception(
            "last_as_the_mean",
            "You predict the honest model's mean loss at the last position. That position sees the same tokens with "
            "and without the mask, so it keeps its own honest loss.",
            _last(lambda honest: honest.mean(dim=-1)),
        ),
        Misconception(
            "last_as_the_first",
            "You predict the first position's honest loss at the last position. With or without a mask, the last "
            "position sees all tokens before its target: it keeps its own honest loss.",
            _last(lambda honest: honest[..., 0]),
        ),
        Misconception(
            "half",
            "You predict that the loss halves. Where the target is in the input, the model can copy it, and the loss "
            "falls to 0.",
            lambda honest: honest / 2,
        ),
    ),
)
