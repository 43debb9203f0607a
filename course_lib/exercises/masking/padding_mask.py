"""Lesson 02, masking.padding_mask: Padding mask."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib import masking
from course_lib.exercises.common import ANOTHER_DEVICE, elsewhere, hints, integer, made_on_the_cpu, sizes, slips
from course_lib.exercises.masking.shared import wrong_dtypes
from course_lib.exercises.worked_examples import B
from course_lib.judging.exercise import CORE, Case, Exercise


def _batch_sizes(generator: Generator, hidden: bool) -> list[int]:
    """Draw the number and length of sequences: larger if hidden, for small masks are few."""
    return [integer(generator, 4, 9), integer(generator, 9, 20)] if hidden else sizes(generator, 2)


def _padding_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{B.name} and a sentence of 3 tokens", (torch.tensor([4, 3]), 4))
    for name in ("a batch", "another batch"):
        batch, longest = _batch_sizes(generator, hidden)
        yield Case(name, (torch.randint(1, longest, (batch,), generator=generator), longest))
    batch, longest = _batch_sizes(generator, hidden)
    lengths = torch.randint(1, longest, (batch,), generator=generator)
    yield Case("no sentence as long as max_length", (lengths, longest + 3))
    if hidden:
        yield Case("as many sentences as positions", (1 + torch.randperm(7, generator=generator), 7))
    else:
        yield Case("as many sentences as positions", (torch.tensor([2, 4, 1, 3]).roll(integer(generator, 0, 4)), 4))
    yield Case(
        "an empty sequence and a full one", (torch.tensor([0, longest if hidden else 4]), longest if hidden else 4)
    )
    yield Case("a single sequence of one token", (torch.tensor([1]), 1))
    yield elsewhere(Case("a batch", (lengths, longest + 3)))


def _compared(lengths: Tensor, max_length: int) -> Tensor:
    positions = torch.arange(max_length, device=lengths.device)
    column = lengths.unsqueeze(-1)
    mask = positions < column
    return mask


_WORDS = "positions < column"


def _padding_by_loop(lengths: Tensor, max_length: int) -> Tensor:
    rows = [[position < length for position in range(max_length)] for length in lengths.tolist()]
    return torch.tensor(rows, device=lengths.device)


def _padding_by_padding(lengths: Tensor, max_length: int) -> Tensor:
    tokens = [F.pad(lengths.new_ones(int(length)), (0, max_length - int(length))) for length in lengths]
    return torch.stack(tokens) > 0


EXERCISE = Exercise(
    id="masking.padding_mask",
    title="Padding mask",
    statement=(
        "padding_mask(lengths int64 [batch], max_length) -> bool [batch, max_length]: True at the first lengths[b] "
        "positions of row b, its tokens, and False at the padding after them; on the device of lengths."
    ),
    minutes=8,
    difficulty=2,
    importance=5,
    section="Padding",
    source="S4, a mask for each sequence, depending on its length",
    reference=masking.padding_mask,
    cases=_padding_cases,
    parts={CORE: 1, ANOTHER_DEVICE: 1},
    correct=(_compared, _padding_by_loop, _padding_by_padding),
    hints=hints(
        idea=(
            "A position holds a token if its index is less than the sentence's length. Compare all positions with all "
            "lengths at once by broadcasting."
        ),
        shapes=(
            "Make the positions a row, `[max_length]`, and the lengths a column, `[batch, 1]`. Comparing them gives "
            "booleans of shape `[batch, max_length]`.",
            (
                "batch_as_columns",
                "lengths_beside_the_positions",
                "as_wide_as_the_longest",
                "zeros_and_ones",
                "longest_for_all",
            ),
        ),
    ),
    misconceptions=(
        *slips(
            _compared,
            inverted=(
                "Your mask is True at the padding, like nn.MultiheadAttention's key_padding_mask. Here, True means "
                "`may attend`: make it True at the tokens.",
                (_WORDS, "positions >= column"),
            ),
            one_too_many=(
                "Your mask allows one position too many in each row. Positions start at 0, so tokens are at positions "
                "below the length: use < instead of <=.",
                (_WORDS, "positions <= column"),
            ),
            one_too_few=(
                "Your mask forbids the last token of each row. Allow positions 0 to length - 1.",
                (_WORDS, "positions < column - 1"),
            ),
            padding_in_front=(
                "Your mask puts the padding before the tokens. Put the tokens first.",
                (_WORDS, "positions >= max_length - column"),
            ),
            batch_as_columns=(
                "Your mask is transposed, [max_length, batch]. Give each sequence a row: [batch, max_length].",
                ("return mask", "return mask.mT"),
            ),
            lengths_beside_the_positions=(
                "Your answer compares position 0 with the first length, position 1 with the second, and so on. "
                "Compare every position with every length: make the lengths a column, lengths.unsqueeze(-1).",
                ("lengths.unsqueeze(-1)", "lengths"),
            ),
            as_wide_as_the_longest=(
                "Your mask is only as wide as the longest sequence of the batch. Give it max_length columns, even if "
                "no sequence is that long.",
                ("arange(max_length,", "arange(int(lengths.max()),"),
            ),
        ),
        *wrong_dtypes(_compared),
        made_on_the_cpu(_compared, "lengths.device"),
        *slips(
            _compared,
            inverted_and_one_off=(
                "Your mask is True after the tokens, and starts one position late: position > length. Make it True at "
                "the tokens: position < length.",
                (_WORDS, "positions > column"),
            ),
            last_word_alone=(
                "Your mask is True only at the last token of each row. Allow every token: every position below the "
                "length.",
                (_WORDS, "positions == column - 1"),
            ),
            full_rows_emptied=(
                "Your mask is right, except that rows of max_length tokens are empty. Do you slice up to -0, or use % "
                "max_length? Compare each position with the length.",
                (_WORDS, "positions < column % max_length"),
            ),
            longest_for_all=(
                "Your mask uses the longest sequence's length in every row. Use each row's own length.",
                (_WORDS, "(positions < lengths.max()).expand(len(lengths), -1)"),
            ),
        ),
    ),
)
