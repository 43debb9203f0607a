"""Lesson 05, encoder_decoder.shift_right: Shifted right."""

import itertools
from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import hints, integer, slips
from course_lib.exercises.encoder_decoder.shared import GERMAN
from course_lib.judging.exercise import Case, Exercise
from course_lib.masking import padding_mask
from course_lib.objectives import losses
from course_lib.text.tokenization import END_ID, PADDING_ID, START_ID


def _shift_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: <s> die Katze tanzte <e>", (GERMAN,))
    batch, tokens = integer(generator, 3, 6), integer(generator, 6, 9)
    for name, longest in (("a batch with padding", 0), ("a batch whose last sentence is the longest", -1)):
        yield Case(name, (_targets(generator, batch, tokens, longest),))
    yield Case("transposed in memory", (_targets(generator, 3, 7).T.contiguous().T,))
    yield Case("<s> and <e> alone", (torch.tensor([[START_ID, END_ID]]),))


def _targets(generator: Generator, batch: int, tokens: int, longest: int = 0) -> Tensor:
    """Sentences from <s> to <e>, one of them as long as possible, with padding after the others."""
    drawn = torch.randint(4, 30, (batch, tokens), generator=generator)
    drawn[:, 0] = START_ID
    ends = torch.randint(2, max(3, tokens - 1), (batch,), generator=generator)
    ends[longest] = tokens - 1
    drawn[torch.arange(batch), ends] = END_ID
    return drawn.masked_fill(~padding_mask(ends + 1, tokens), PADDING_ID)


def _shifted(target: Tensor) -> tuple[Tensor, Tensor]:
    whole = target
    read = whole[:, :-1]
    targets = whole[:, 1:]
    return read, targets


_READ, _TARGETS = "whole[:, :-1]", "whole[:, 1:]"


def _shifted_by_pairs(target: Tensor) -> tuple[Tensor, Tensor]:
    pairs = torch.tensor([list(itertools.pairwise(sentence)) for sentence in target.tolist()])
    return pairs[..., 0], pairs[..., 1]


def _shifted_by_unfold(target: Tensor) -> tuple[Tensor, Tensor]:
    read, targets = target.unfold(1, 2, 1).unbind(-1)
    return read.contiguous(), targets.contiguous()


EXERCISE = Exercise(
    id="encoder_decoder.shift_right",
    title="Shifted right",
    statement=(
        "shift_right(target int64 [batch, tokens]) -> (read [batch, tokens - 1], targets [batch, tokens - 1]): what "
        "the decoder reads at each position, and the token that it should predict there."
    ),
    points=1,
    minutes=5,
    difficulty=1,
    importance=5,
    section="Shifted right",
    source="S2, masked training; S4, outputs shifted right",
    reference=losses.shift_right,
    cases=_shift_cases,
    correct=(_shifted, _shifted_by_pairs, _shifted_by_unfold),
    hints=hints(
        idea=(
            "Take two slices: one without the last column, the other without the first. Ignore padding: the loss "
            "skips positions where the target is padding, so the end token of a shorter sentence can stay in what the "
            "decoder reads."
        )
    ),
    misconceptions=(
        *slips(
            _shifted,
            swapped=(
                "Your answer returns the two results in the wrong order. First return what the decoder reads "
                "(everything but the last token), then the targets.",
                ("return read, targets", "return targets, read"),
            ),
            not_shifted=(
                "Your answer returns the whole target twice, so the decoder only has to repeat the token that it just "
                "read. Leave out the last token of what the decoder reads, and the first token of the targets.",
                (_READ, "whole"),
                (_TARGETS, "whole"),
            ),
            one_word_too_many_read=(
                "Your answer lets the decoder read the whole target. Leave out the last token: the decoder has "
                "nothing to predict after it.",
                (_READ, "whole"),
            ),
            two_apart=(
                "Your answer skips a token: it predicts the token after the next one. Leave out only one token in "
                "each result.",
                (_READ, "whole[:, :-2]"),
                (_TARGETS, "whole[:, 2:]"),
            ),
            started_twice=(
                "Your answer puts a second <s> in front, so the decoder must predict the first <s>. The target "
                "already starts with <s>: don't add one.",
                (_READ, f"torch.cat([torch.full_like(whole[:, :1], START_ID), {_READ}], dim=1)"),
                (_TARGETS, "whole"),
            ),
            end_taken_away=(
                "In shorter sentences, your answer removes <e> from what the decoder reads. Keep it: the loss skips "
                "the padding that comes after it.",
                (_READ, f"{_READ}.masked_fill({_READ} == END_ID, PADDING_ID)"),
            ),
            end_not_expected=(
                "Your answer puts padding where <e> is expected, so a model would never learn to stop. Keep <e> in "
                "the targets.",
                (_TARGETS, f"{_TARGETS}.masked_fill({_TARGETS} == END_ID, PADDING_ID)"),
            ),
            padding_replaced=(
                "Your answer replaces padding in the targets with -100, the id that torch ignores by default. Keep "
                "the padding id: both results are slices of the target.",
                (_TARGETS, f"{_TARGETS}.masked_fill({_TARGETS} == PADDING_ID, -100)"),
            ),
            cut_to_the_first_sentence=(
                "Your answer cuts all sentences to the length of the first one. Others can be longer: leave out only "
                "one column of each result.",
                ("whole = target", "whole = target[:, : int((target[0] != PADDING_ID).sum())]"),
            ),
            along_the_batch=(
                "Your answer leaves out a sentence, not a token: it cuts along the batch. Cut along the second "
                "dimension, the tokens: target[:, :-1].",
                (_READ, "whole[:-1]"),
                (_TARGETS, "whole[1:]"),
            ),
        ),
        *slips(
            _shifted,
            paired=False,
            reads_what_it_answers=(
                "Your answer leaves out the first token of both results, so the decoder reads the very token that it "
                "should predict. Let the decoder start with <s>, and leave out the last token.",
                (_READ, _TARGETS),
            ),
            answers_what_it_reads=(
                "Your answer leaves out the last token of both results, so the decoder must predict what it just "
                "read. Start the targets after <s>.",
                (_TARGETS, _READ),
            ),
            rolled=(
                "Your answer rolls the tokens, so <s> comes back at the end as a target. Cut off one token instead of "
                "rolling: both results are one token shorter than the target.",
                (_READ, "whole"),
                (_TARGETS, "whole.roll(-1, dims=1)"),
            ),
            rolled_to_the_right=(
                "Your answer rolls the tokens to the right, so the decoder first reads the target's last token. The "
                "target already starts with <s>: read it without its last token, and predict it without <s>.",
                (_READ, "whole.roll(1, dims=1)"),
                (_TARGETS, "whole"),
            ),
        ),
    ),
)
