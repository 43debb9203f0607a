"""Helpers for several exercises of lesson 07 use."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import SMALLEST, Kind, sizes
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import Misconception

SENTENCES = torch.tensor([[0, 1, 2, 3, 4], [2, 3, 1, 2, 3]])
"""*I saw the dog running*, and *the dog saw the dog*."""


def batched_kinds(generator: Generator) -> Iterator[Kind]:
    """Batches of sequences: as they come, the smallest, in double precision, and transposed in memory."""
    batches = sizes(generator, 3)
    yield Kind("a batch of sequences", generator, (batches[0],))
    yield Kind(SMALLEST, generator, (1,), ones=True)
    yield Kind("double precision", generator, (batches[1],), dtype=torch.float64)
    yield Kind("transposed in memory", generator, (batches[2],), transposed=True)


def random_ids(generator: Generator, vocab_size: int, *shape: int) -> Tensor:
    return torch.randint(vocab_size, shape, generator=generator)


def other_questions(given: str, logits: str, slip: Callable[..., Edited], where: str = "") -> tuple[Misconception, ...]:
    """Not all the questions of the batch, or other answers to them.

    `given` is what is asked, log_probs or lm_logits, and `logits` the same in words; `slip` edits an answer that
    flattens it, `given.flatten(0, 1)`, and the targets, `targets.flatten()`.
    """
    asked, wanted = f"{given}.flatten(0, 1)", "targets.flatten()"
    return (
        Misconception(
            "targets_in_another_order",
            f"Your answer flattens the targets and {given} in different orders: one text by text, the other position "
            "by position. Flatten both the same way: targets.flatten().",
            slip((wanted, "targets.T.flatten()")),
        ),
        Misconception(
            f"{given.removeprefix('lm_')}_in_another_order",
            f"Your answer flattens {given} and the targets in different orders: one position by position, the other "
            f"text by text. Flatten both the same way: {given}.flatten(0, 1).",
            slip((asked, f"{given}.transpose(0, 1).flatten(0, 1)")),
        ),
        Misconception(
            "only_the_last_word",
            f"Your answer counts only the last token of each text{where}. Take the mean over all tokens of the batch.",
            slip((asked, f"{given}[:, -1]"), (wanted, "targets[:, -1]")),
        ),
        Misconception(
            "only_the_first_text",
            f"Your answer counts only the first text{where}. Take the mean over all tokens of the batch.",
            slip((asked, f"{given}[0]"), (wanted, "targets[0]")),
        ),
        Misconception(
            "shifted_again",
            f"Your answer shifts a second time. The targets are already shifted: each belongs to the {logits} at the "
            "same position.",
            slip((asked, f"{given}[:, :-1].flatten(0, 1)"), (wanted, "targets[:, 1:].flatten()")),
        ),
        Misconception(
            "word_0_left_out",
            "Your answer skips the positions whose target is token 0, as if it were padding. In this lesson it is a "
            "token like any other.",
            slip((asked, f"{given}[targets != 0]"), (wanted, "targets[targets != 0]")),
        ),
    )
