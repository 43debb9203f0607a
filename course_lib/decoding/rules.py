"""What a text obeys whoever chooses its words: words that have been said count less, and where it stops."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

ScoreChange = Callable[[Int[Tensor, "rows words"], Float[Tensor, "rows vocabulary"]], Float[Tensor, "rows vocabulary"]]
"""Other scores of the next word, from the words written so far and the model's scores."""

Stop = Callable[[Int[Tensor, "rows words"]], Bool[Tensor, " rows"]]
"""Whether each text ends with the last of the words written so far."""


def _as_they_are(_words: Tensor, scores: Tensor) -> Tensor:
    return scores


def _nowhere(words: Tensor) -> Tensor:
    return words.new_zeros(len(words), dtype=torch.bool)


@dataclass(frozen=True)
class Rules:
    """What is done to every step's scores, and where a text stops besides at its end.

    Attributes:
        change: of the scores; by default they stay.
        stop: by default nowhere.
    """

    change: ScoreChange = _as_they_are
    stop: Stop = _nowhere


NO_RULES = Rules()
"""The model's scores as they are, and an end only at the end."""


# --- Repetition ------------------------------------------------------------------------------------------------


def penalise_repetition(
    scores: Float[Tensor, "... vocabulary"], seen: Bool[Tensor, "... vocabulary"], penalty: float
) -> Float[Tensor, "... vocabulary"]:
    """Scores with those of the words that have been seen divided by `penalty`, or multiplied where they are negative.

    Keskar et al. (2019), "CTRL", section 4.1, with a penalty of about 1.2. The paper divides them all; a negative score
    would rise by that, so that it is multiplied, as in the `transformers` library. 1 changes nothing.

    Raises:
        ValueError: `penalty` is not above 0.
    """
    require_penalty(penalty)
    return torch.where(seen, torch.where(scores < 0, scores * penalty, scores / penalty), scores)


def require_penalty(penalty: float) -> None:
    """Refuse a penalty that turns scores around.

    Raises:
        ValueError: it is not above 0.
    """
    if not 0 < penalty < math.inf:
        raise ValueError(f"repetition_penalty must be above 0, not {penalty}; 1 changes nothing")


def repetition_rule(
    read: Int[Tensor, "batch words"], mask: Bool[Tensor, "batch words"] | None, penalty: float
) -> ScoreChange:
    """Penalise the words of the text that was read before, and those written since; padding is no word.

    Args:
        read: before the first new word: prompts.
        mask: True at words, False at padding; None where there is none.
        penalty: above 0; above 1, what has been said is said less.
    """
    counts = torch.ones_like(read) if mask is None else mask.long()

    def change(words: Tensor, scores: Tensor) -> Tensor:
        copies = len(scores) // len(read)  # in beam search
        said = torch.cat([read.repeat_interleave(copies, dim=0), words], dim=1)
        counted = torch.cat([counts.repeat_interleave(copies, dim=0), torch.ones_like(words)], dim=1)
        seen = torch.zeros_like(scores, dtype=torch.long).scatter_add_(1, said, counted) > 0
        return penalise_repetition(scores.float(), seen, penalty)

    return change


# --- Stopping --------------------------------------------------------------------------------------------------


class Tokenizer(Protocol):
    """What turns ids into text: ours, or one of the `transformers` library."""

    def decode(self, ids: list[int], /) -> str:
        """The text of these ids."""


def stop_rule(stop: str | Sequence[str | Sequence[int]], tokenizer: Tokenizer | None = None) -> Stop:
    """Stop after any of these, which stays part of the text.

    Args:
        stop: texts, found in what has been written, or ids, which it must end with.
        tokenizer: needed for texts.

    Raises:
        TypeError: something is neither text nor ids.
        ValueError: one of them is empty, or there is a text but no tokenizer.
    """
    each = [stop] if isinstance(stop, str) else list(stop)
    texts = [one for one in each if isinstance(one, str)]
    sequences = [_ids(one) for one in each if not isinstance(one, str)]
    if not all(each):
        raise ValueError("stop must not have an empty text, or no ids: nothing would be written")
    if texts and tokenizer is None:
        raise ValueError(f"to stop at the text {texts[0]!r}, give the tokenizer as well, or its ids in place of it")

    def stopped(words: Tensor) -> Tensor:
        found = _nowhere(words)
        for ids in sequences:
            end = words[:, -len(ids) :]
            if end.shape[1] == len(ids):
                found |= (end == torch.tensor(ids, device=words.device)).all(dim=1)
        if texts and tokenizer is not None:
            written = [tokenizer.decode(row) for row in words.tolist()]
            found |= torch.tensor([any(text in row for text in texts) for row in written], device=words.device)
        return found

    return stopped


def _ids(one: Sequence[int]) -> list[int]:
    if not isinstance(one, Sequence) or not all(type(word) is int for word in one):
        raise TypeError(f"stop must be a list of texts and of lists of ids, but it has {one!r}")
    return list(one)
