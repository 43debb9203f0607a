"""What several exercises of lesson 07 use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import Kind, sizes

LESSON = "07_gpt"


WITHHELD = ("course_lib.models", "course_lib.objectives.losses", "course_lib.from_scratch.language_models")


SENTENCES = torch.tensor([[0, 1, 2, 3, 4], [2, 3, 1, 2, 3]])
"""*I saw the dog running*, and *the dog saw the dog*."""


def batched_kinds(generator: Generator) -> Iterator[Kind]:
    """Batches of sequences: as they come, in double precision, and transposed in memory."""
    batches = sizes(generator, 3)
    yield Kind("a batch of sequences", generator, (batches[0],))
    yield Kind("double precision", generator, (batches[1],), dtype=torch.float64)
    yield Kind("transposed in memory", generator, (batches[2],), transposed=True)


def random_ids(generator: Generator, vocabulary: int, *shape: int) -> Tensor:
    return torch.randint(vocabulary, shape, generator=generator)


def position_by_position(x: Tensor) -> Tensor:
    """As `x`, with the first two dimensions flattened in the other order."""
    return x.transpose(0, 1).reshape(x.shape)


Questions = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


OTHER_QUESTIONS: Mapping[str, Questions] = {
    "only_the_last_word": lambda given, targets: (given[:, -1:], targets[:, -1:]),
    "only_the_first_text": lambda given, targets: (given[:1], targets[:1]),
    "shifted_again": lambda given, targets: (given[:, :-1], targets[:, 1:]),
    "word_0_left_out": lambda given, targets: (given[targets != 0], targets[targets != 0]),
    "targets_in_another_order": lambda given, targets: (given, position_by_position(targets)),
    "log_probs_in_another_order": lambda given, targets: (position_by_position(given), targets),
}
"""Not all the questions of the batch, or other answers to them."""
