"""Decoding: from a trained model to a sentence, one word at a time (S2)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Int
from torch import Tensor, nn

from course_lib.models import Transformer
from course_lib.tokenization import END_ID, PADDING_ID, START_ID


@torch.no_grad()
def greedy_decode(
    model: Transformer, source: Int[Tensor, "batch source"], max_length: int = 50
) -> Int[Tensor, "batch words"]:
    """Translate a batch, taking the most probable word at every step.

    From <s> the decoder is asked for a word, which is appended, and asked again, until every sentence has its <e>.
    Dropout is off; the model's mode is restored.

    Args:
        model: the trained transformer.
        source: ids on the model's device, padded.
        max_length: the most words to append, <e> included; what is not finished by then stays cut off.

    Returns:
        The appended words, without <s>, with padding behind each <e>.
    """
    with evaluating(model):
        encoded = model.encode(source)
        words = torch.full((source.shape[0], 1), START_ID, device=source.device)
        finished = torch.zeros(source.shape[0], dtype=torch.bool, device=source.device)
        while words.shape[1] <= max_length and not finished.all():
            logits = model.decode(words, encoded)[:, -1]
            best = logits.argmax(dim=-1).masked_fill(finished, PADDING_ID)
            words = torch.cat([words, best.unsqueeze(-1)], dim=-1)
            finished |= best == END_ID
    return words[:, 1:]


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Switch dropout off, and back to what it was at the end."""
    was_training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was_training)
