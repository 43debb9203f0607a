"""Helpers for several exercises of lesson 06 use."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import integer, kinds, slips
from course_lib.judging.exercise import Callback, Misconception
from course_lib.judging.recorded.stand_ins import NextWord, written_ids
from course_lib.references import decoding

START, END = 1, 2
"""The ids of <s> and <e> in the lesson."""


TREE = "worked example: the tree of the lesson"


AFTER_DIE_KATZE = torch.tensor([0.3, 0.24, 0.16, 0.1, 0.07, 0.05, 0.04, 0.02, 0.015, 0.005])
"""The lesson's distribution over ten tokens after *die Katze*."""


TEN_TOKENS = "worked example: the ten tokens of the lesson"


Step = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Lesson:
    """The tree of the lesson."""

    def __call__(self, tokens: Tensor) -> Tensor:
        ids = written_ids(tokens, len(decoding.TANZTE_WORDS))
        return decoding.tree_step(decoding.TANZTE, decoding.TANZTE_WORDS)(torch.tensor(ids))


def step_callback(model: Step) -> Callback:
    return Callback("step", model)


def draw_model(
    generator: Generator,
    vocab_size: int,
    suits: Callable[[NextWord], bool],
    never: int | None = None,
    *,
    spread: float = 2.0,
    offset: float = 0.0,
) -> NextWord:
    """A model that suits; most seeds give one soon."""
    while True:
        model = NextWord(integer(generator, 0, 10**6), vocab_size, never, spread=spread, offset=offset)
        if suits(model):
            return model


def ids_written_into_the_code(right: Callable[..., Tensor]) -> tuple[Misconception, ...]:
    """The ids of <s>, of <e>, and of both, in an answer that begins with `start, end = start_id, end_id`."""
    use = "another vocabulary has other ids."
    start, end = ("start, end = start_id", f"start, end = {START}"), (", end_id\n", f", {END}\n")
    return slips(
        right,
        start_written_into_the_code=(f"Your answer always starts with id 1 (START_ID). Use start_id: {use}", start),
        end_written_into_the_code=(f"Your answer always treats id 2 (END_ID) as <e>. Use end_id: {use}", end),
    )


def distributions(generator: Generator, tokens: int) -> Iterator[tuple[str, Tensor]]:
    """A distribution over about this many tokens, of each kind; no two tokens are equally probable."""
    for position, kind in enumerate(kinds(generator)):
        several = (3,) if kind.transposed else ()
        yield kind.name, torch.softmax(1.5 * kind.normal(*several, 1 if kind.ones else tokens + position), dim=-1)


DIVISION = "kept / kept.sum(dim=-1, keepdim=True)"


def divided_wrongly(right: Callable[..., Tensor]) -> tuple[Misconception, ...]:
    """Mistakes in the probabilities of the tokens that stay, `kept` of them where `stay` is True."""
    return slips(
        right,
        not_normalised=(
            "Your probabilities no longer sum to 1. Divide the probabilities you keep by their sum.",
            (DIVISION, "kept"),
        ),
        softmax_of_zeros=(
            "Your answer sets the dropped tokens to 0, then takes the softmax. But exp(0) is 1, so they come back. "
            "Divide the probabilities you keep by their sum.",
            (DIVISION, "torch.softmax(kept, dim=-1)"),
        ),
        softmax_of_probabilities=(
            "Your answer takes a softmax of probabilities, which makes them nearly equal. Divide them by their sum "
            "instead, which keeps their proportions.",
            (DIVISION, "torch.softmax(kept.masked_fill(~stay, -torch.inf), dim=-1)"),
        ),
        all_equal=(
            "Your answer gives every token that it keeps the same probability. Divide the probabilities by their sum, "
            "which keeps their proportions.",
            (DIVISION, "stay / stay.sum(dim=-1, keepdim=True).to(kept.dtype)"),
        ),
        rest_in_equal_shares=(
            "Your answer splits the dropped probability equally among the tokens that stay. Divide the probabilities "
            "by their sum, which keeps their proportions.",
            (DIVISION, "kept + stay * (1 - kept.sum(dim=-1, keepdim=True)) / stay.sum(dim=-1, keepdim=True)"),
        ),
        one_sum_for_all_rows=(
            "Your answer divides by the sum over all rows. Each row has its own sum: .sum(dim=-1, keepdim=True).",
            (DIVISION, "kept / kept.sum()"),
        ),
        sum_over_the_first_dimension=(
            "Your answer sums over the first dimension, which mixes the texts of a batch. Sum over the vocabulary, "
            "the last dimension: .sum(dim=-1, keepdim=True).",
            (DIVISION, "kept / kept.sum(dim=0, keepdim=True)"),
        ),
    )
