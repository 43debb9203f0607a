"""Lesson 07, gpt.loss_without_mask: Predict: the loss without a mask."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, hints, kinds, predicted, slips
from course_lib.judging.exercise import Case, Exercise
from course_lib.references import gpt


def _prediction_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: I saw the dog", (torch.tensor([2.5, 2.0, 1.5, 1.0]),))
    for kind in kinds(generator):
        (tokens,) = kind.sizes(1)
        yield Case(kind.name, (kind.normal(tokens).abs() + 0.5,))
    yield Case("a single token", (torch.rand(1, generator=generator) + 0.5,))


def _prediction_in_place(honest: Tensor) -> Tensor:
    losses = honest.clone()
    losses[..., :-1] = 0
    return losses


EXERCISE = Exercise(
    id="gpt.loss_without_mask",
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
    hints=hints(
        idea=(
            "Write the inputs above the targets, which are shifted by one. For which positions is the target "
            "somewhere in the input?"
        )
    ),
    misconceptions=slips(
        _prediction_in_place,
        paired=False,
        zero_everywhere=(
            "Your prediction is right except at the last position. The target there is the token after the last "
            "input, so the model cannot copy it and must guess like an honest one.",
            ("[..., :-1]", "[...]"),
        ),
        zero_at_a_single_word=(
            "Your prediction is right except for a text of one token. Its only position is also its last, so the "
            "target is not in the input.",
            ("[..., :-1]", "[..., : max(1, honest.shape[-1] - 1)]"),
        ),
        nothing_changes=(
            "You predict that the mask makes no difference. Without it, position t sees the token at t + 1, which is "
            "its target.",
            ("losses[..., :-1] = 0", "pass"),
        ),
        as_good_as_the_last=(
            "You predict that every position is now as good as the last, which always sees all tokens. But every "
            "earlier position also sees its own target, so it doesn't have to guess.",
            ("return losses", "return honest[..., -1:].expand_as(honest)"),
        ),
        as_good_as_the_best=(
            "You predict that every position is now as good as the best. Check which positions have their target in "
            "the input: those don't have to guess, and the others don't improve.",
            ("return losses", "return honest.amin(dim=-1, keepdim=True).expand_as(honest)"),
        ),
        mean_everywhere=(
            "You predict the mean of the honest losses everywhere. Positions don't share losses: for each one, ask "
            "whether it can copy its target from the input.",
            ("return losses", "return honest.mean(dim=-1, keepdim=True).expand_as(honest)"),
        ),
        one_place_further=(
            "You predict that each position is now as good as the next, since it sees one more token. That token is "
            "its target, which it can copy.",
            ("return losses", "return torch.cat([honest[..., 1:], honest[..., -1:]], dim=-1)"),
        ),
        zero_but_the_first=(
            "You predict a loss only at the first position. Its target, the second token, is in the input. Only the "
            "target of the last position is missing.",
            ("[..., :-1]", "[..., 1:]"),
        ),
        zero_but_the_ends=(
            "You predict a loss at the first and the last position. The target of the first position, the second "
            "token, is in the input, so its loss is 0.",
            ("[..., :-1]", "[..., 1:-1]"),
        ),
        zero_but_the_last_two=(
            "You predict a loss at the last two positions. The first of these has the last input token as its target: "
            "the model can copy it.",
            ("[..., :-1]", "[..., :-2]"),
        ),
        only_the_last_is_zero=(
            "You predict the reverse. Only the last position cannot copy its target, because that token is not in the "
            "input.",
            ("[..., :-1]", "[..., -1:]"),
        ),
        last_text_kept=(
            "Your prediction is right for a single text, but in a batch it keeps all losses of the last text. "
            "Positions are the last dimension: losses[..., -1].",
            ("[..., :-1]", "[:-1]"),
        ),
        last_as_the_mean=(
            "At the last position, you predict the mean of the honest losses. That position sees the same tokens with "
            "and without the mask, so it keeps its own honest loss.",
            ("return losses", "losses[..., -1] = honest.mean(dim=-1)\n    return losses"),
        ),
        last_as_the_first=(
            "At the last position, you predict the honest loss of the first position. With or without a mask, the "
            "last position sees all tokens before its target: it keeps its own honest loss.",
            ("return losses", "losses[..., -1] = honest[..., 0]\n    return losses"),
        ),
        half=(
            "You predict that the loss halves. Where the target is in the input, the model can copy it, and the loss "
            "falls to 0.",
            ("return losses", "return honest / 2"),
        ),
    ),
)
