"""Lesson 07, gpt.training_windows: Training windows."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import edits_of, hints, integer, mistake, slips
from course_lib.exercises.gpt.shared import SENTENCES, random_ids
from course_lib.judging.exercise import Case, Exercise
from course_lib.references import gpt


def _window_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: I saw the dog running", (SENTENCES[0], torch.tensor([0, 1]), 3))
    tokens, context_length, batch = integer(generator, 30, 60), integer(generator, 3, 9), integer(generator, 4, 7)
    for name in ("several windows", "other windows"):
        starts = torch.randint(0, tokens - context_length, (batch,), generator=generator)
        yield Case(name, (random_ids(generator, 50, tokens), starts, context_length))
    tokens, context_length = integer(generator, 12, 20), integer(generator, 3, 6)
    stream = random_ids(generator, 50, tokens)
    yield Case("one window, from the middle", (stream, torch.tensor([integer(generator, 2, 5)]), context_length))
    yield Case("the last window that fits", (stream, torch.tensor([3, tokens - context_length - 1]), context_length))
    yield Case("one window of one token, and one token after it", (stream[:2], torch.tensor([0]), 1))


def _by_places(stream: Tensor, starts: Tensor, context_length: int) -> tuple[Tensor, Tensor]:
    """Cut windows by position; beyond its end, the stream begins anew."""
    positions = starts.unsqueeze(1) + torch.arange(context_length)
    inputs, targets = (stream[at % len(stream)] for at in (positions, positions + 1))
    return inputs, targets


_slip = edits_of(_by_places)
_AT, _STARTS, _COUNT, _RETURN = (
    "(positions, positions + 1)",
    "starts.unsqueeze",
    "(context_length)",
    "return inputs, targets",
)


def _by_slices(stream: Tensor, starts: Tensor, context_length: int) -> tuple[Tensor, Tensor]:
    inputs = [stream[start : start + context_length] for start in starts.tolist()]
    return torch.stack(inputs), torch.stack(
        [stream[start + 1 : start + context_length + 1] for start in starts.tolist()]
    )


def _by_unfolding(stream: Tensor, starts: Tensor, context_length: int) -> tuple[Tensor, Tensor]:
    windows = stream.unfold(0, context_length + 1, 1)[starts]
    return windows[:, :-1], windows[:, 1:]


EXERCISE = Exercise(
    id="gpt.training_windows",
    title="Training windows",
    statement=(
        "training_windows(stream int64 [tokens], starts int64 [batch], context_length int) -> (inputs, targets), a "
        "tuple of two int64 [batch, context_length]: what the model reads, and at each position the token that comes "
        "next. Every start leaves room for context_length + 1 tokens."
    ),
    points=2,
    minutes=8,
    difficulty=2,
    importance=5,
    section="Every word is a question",
    source="S0, training transformer language models",
    reference=gpt.training_windows,
    cases=_window_cases,
    correct=(_by_places, _by_slices, _by_unfolding),
    hints=hints(
        idea=(
            "Take windows that are one token longer than the context: they contain both the inputs and the targets. "
            "To index all positions at once, add a column of starts to a row of offsets 0, 1, 2, ..."
        )
    ),
    misconceptions=(
        *slips(
            _by_places,
            swapped=(
                "Your answer swaps inputs and targets. Return two tensors: first the tokens to read, then the "
                "tokens to predict.",
                ("inputs, targets =", "targets, inputs ="),
            ),
            not_shifted=(
                "Your targets equal your inputs, so the model would learn to repeat what it reads. The target at each "
                "position is the next token of the stream.",
                (_AT, "(positions, positions)"),
            ),
            not_shifted_without_the_first=(
                "Your targets equal your inputs, and both begin one token after the start. Begin the inputs at the "
                "start itself.",
                (_AT, "(positions + 1, positions + 1)"),
            ),
            the_word_before=(
                "Your targets are the previous tokens. The target at each position is the next token of the stream.",
                (_AT, "(positions, positions - 1)"),
            ),
            shifted_by_two=(
                "Your targets are two tokens ahead of the inputs. The target of each token is the next token.",
                (_AT, "(positions, positions + 2)"),
            ),
            begun_late=(
                "Your windows begin one token late. A window's first input is the token at its start.",
                (_AT, "(positions + 1, positions + 2)"),
            ),
            one_word_short=(
                "Your windows have context_length - 1 tokens: you cut context_length tokens, and the shift removes "
                "one. Cut context_length + 1.",
                (_COUNT, "(context_length - 1)"),
            ),
            starts_ignored=(
                "Your windows ignore `starts` and follow each other from the beginning of the stream. Begin each "
                "window at its own start.",
                (_STARTS, "(torch.arange(len(starts)) * context_length).unsqueeze"),
            ),
            starts_count_windows=(
                "Your answer multiplies the starts by context_length, as if they counted windows. A start is the "
                "position of a token: a window may begin at any token.",
                (_STARTS, "(starts * context_length).unsqueeze"),
            ),
            first_start_only=(
                "Your windows are all copies of the first. Cut one window for each start.",
                (_STARTS, "starts[:1].expand(len(starts)).unsqueeze"),
            ),
            one_window=(
                "Your answer has only the first window. Return one window for each start: [batch, context_length].",
                (_STARTS, "starts[:1].unsqueeze"),
            ),
            transposed=(
                "Your answer is transposed, [context_length, batch]. Windows are rows: [batch, context_length].",
                (_RETURN, "return inputs.T, targets.T"),
            ),
            one_line=(
                "Your answer joins all windows into one row. Return one row for each window: [batch, context_length].",
                (_RETURN, "return inputs.flatten(), targets.flatten()"),
            ),
            squeezed=(
                "Your answer loses a dimension if there is only one window or one token: squeeze() removes every "
                "dimension of size 1. Don't call it.",
                (_RETURN, "return inputs.squeeze(), targets.squeeze()"),
            ),
        ),
        *mistake(
            "Your inputs and targets both have context_length + 1 tokens. Leave the last token out of the inputs, and "
            "the first out of the targets.",
            one_word_long=_slip((_COUNT, "(context_length + 1)"), (_AT, "(positions, positions)"), paired=False),
        ),
        *mistake(
            "Your targets are the inputs rolled by one, so the last target of each window is the first token of the "
            "same window. Take the next token of the stream.",
            rolled_round=_slip((_RETURN, "return inputs, inputs.roll(-1, dims=-1)"), paired=False),
        ),
    ),
)
