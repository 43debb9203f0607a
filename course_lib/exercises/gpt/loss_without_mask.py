"""Lesson 07, gpt.loss_without_mask: Predict: the loss without a mask."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, kinds, predicted
from course_lib.exercises.gpt.shared import LESSON, WITHHELD
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


CORRECT = (
    _prediction_in_place,
    lambda honest: F.pad(honest[..., -1:], (honest.shape[-1] - 1, 0)),
    lambda honest: torch.where(torch.arange(honest.shape[-1]) == honest.shape[-1] - 1, honest, 0.0),
)


EXERCISE = Exercise(
    id="gpt.loss_without_mask",
    lesson=LESSON,
    name="loss_without_mask",
    title="Predict: the loss without a mask",
    statement=(
        "loss_without_mask(honest [..., tokens]) -> [..., tokens]: the lowest loss that a model can reach at each "
        "position without a mask, from that of an honest one; both read the same tokens and have the same targets."
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
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "Write inputs and targets below each other, shifted by one. At which positions is the target "
            "somewhere in the input?",
        ),
    ),
    misconceptions=(
        Misconception(
            "zero_everywhere",
            "Your prediction is right except at the last position. Its target is the token after the last input: it is "
            "not there to be copied, and the model must guess as honestly as the other.",
            torch.zeros_like,
        ),
        Misconception(
            "zero_at_a_single_word",
            "Your prediction is right except for a text of one token. Its only position is also the last one, and its "
            "target is not in the input.",
            lambda honest: _only([-1], honest) if honest.shape[-1] > 1 else torch.zeros_like(honest),
        ),
        Misconception(
            "nothing_changes",
            "Your prediction is that the mask makes no difference. But without it position t sees the token at t + 1, "
            "and that token is its target.",
            lambda honest: honest.clone(),
        ),
        Misconception(
            "as_good_as_the_last",
            "Your prediction is that every position is now as good as the last, which sees all tokens in any case. "
            "They see more than that: the next token is their target itself, and nothing is left to guess.",
            lambda honest: honest[..., -1:].expand_as(honest),
        ),
        Misconception(
            "as_good_as_the_best",
            "Your prediction is that every position is now as good as the best. Look at what each of them sees: where "
            "the target itself is in the input, nothing is left to guess, and elsewhere nothing is gained.",
            lambda honest: honest.amin(dim=-1, keepdim=True).expand_as(honest),
        ),
        Misconception(
            "mean_everywhere",
            "Your prediction gives every position the mean of the honest losses. But the positions do not share what "
            "they know. Ask about each one whether its target is in the input, ready to be copied.",
            lambda honest: honest.mean(dim=-1, keepdim=True).expand_as(honest),
        ),
        Misconception(
            "one_place_further",
            "Your prediction is that each position is now as good as the next, since it knows one token more. But that "
            "token is the answer itself: copying it costs nothing.",
            lambda honest: torch.cat([honest[..., 1:], honest[..., -1:]], dim=-1),
        ),
        Misconception(
            "zero_but_the_first",
            "Your prediction keeps the loss of the first position. Its target, the second token, is in the input "
            "too. The one position whose target is missing is the last.",
            lambda honest: _only([0], honest),
        ),
        Misconception(
            "zero_but_the_ends",
            "Your prediction keeps the loss of the first position as well as that of the last. The target of the "
            "first, the second token, is in the input as well.",
            lambda honest: _only([0, -1], honest),
        ),
        Misconception(
            "zero_but_the_last_two",
            "Your prediction keeps the loss of the last two positions. The target of the last but one is the last "
            "token of the input: it can be copied.",
            lambda honest: _only(slice(-2, None), honest),
        ),
        Misconception(
            "only_the_last_is_zero",
            "Your prediction is the other way round: the last position is the only one that cannot copy, because the "
            "token after the last input is not in the input.",
            lambda honest: _only(slice(0, -1), honest),
        ),
        Misconception(
            "last_text_kept",
            "Your prediction is right for one text. In a batch it keeps the losses of the last text, at all its "
            "positions: positions are the last dimension, losses[..., -1].",
            lambda honest: torch.cat([torch.zeros_like(honest[:-1]), honest[-1:]]),
        ),
        Misconception(
            "last_as_the_mean",
            "Your prediction gives the last position the mean of the honest losses. Without the mask it sees no more "
            "than with it: it must guess as honestly as the other, with the same loss.",
            _last(lambda honest: honest.mean(dim=-1)),
        ),
        Misconception(
            "last_as_the_first",
            "Your prediction gives the last position the loss of the honest first one. With or without a mask, it has "
            "read all the tokens before: its loss is the honest one at its own position.",
            _last(lambda honest: honest[..., 0]),
        ),
        Misconception(
            "half",
            "Your prediction halves the loss. There is nothing gradual about it: where the target is in the "
            "input, it can be copied, and the loss goes to 0.",
            lambda honest: honest / 2,
        ),
    ),
    withheld=WITHHELD,
)
