"""Rules for every way of decoding: penalties for repetition, banned n-grams, stopping."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from course_lib.decoding.generation_config import Tokenizer

Processor = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Returns new scores of the next token, [rows, vocab_size], from texts and the mask of their tokens, [rows, tokens]."""

Stop = Callable[[Int[Tensor, "rows tokens"]], Bool[Tensor, " rows"]]
"""Returns whether each text ends with its last token, from the tokens written so far."""


@dataclass(frozen=True)
class Rules:
    """Changes to every step's scores, and where a text stops before its end token.

    Attributes:
        read: the tokens before the first new one: prompts, or <s>.
        mask: True at tokens of `read`, False at padding; None if there is no padding.
        processors: functions that change the scores, one after another.
        stop: says which texts stop before their end token; None for none.
    """

    read: Int[Tensor, "batch tokens"]
    mask: Bool[Tensor, "batch tokens"] | None = None
    processors: Sequence[Processor] = ()
    stop: Stop | None = None

    def change(
        self, tokens: Int[Tensor, "rows tokens"], scores: Float[Tensor, "rows vocab_size"]
    ) -> Float[Tensor, "rows vocab_size"]:
        """Return the scores of the next token, from the tokens written so far and the model's own scores."""
        if not self.processors:
            return scores
        copies = len(scores) // len(self.read)  # in beam search
        known = torch.ones_like(self.read, dtype=torch.bool) if self.mask is None else self.mask
        text = torch.cat([self.read.repeat_interleave(copies, dim=0), tokens], dim=1)
        at_tokens = torch.cat(
            [known.repeat_interleave(copies, dim=0), torch.ones_like(tokens, dtype=torch.bool)], dim=1
        )
        for process in self.processors:
            scores = process(text, at_tokens, scores)
        return scores

    def stops(self, tokens: Int[Tensor, "rows tokens"]) -> Bool[Tensor, " rows"]:
        """Return which texts end with the last of the tokens written so far."""
        return tokens.new_zeros(len(tokens), dtype=torch.bool) if self.stop is None else self.stop(tokens)


# --- Repetition ------------------------------------------------------------------------------------------------


def repetition_penalty(penalty: float) -> Processor:
    """Divide the scores of the text's tokens by `penalty`, or multiply negative ones; padding does not count.

    Keskar et al. (2019), "CTRL", section 4.1, with a penalty of about 1.2. The paper divides all scores, which would
    raise negative ones, so these are multiplied, as in the `transformers` library. A penalty of 1 changes nothing.
    """

    def process(text: Tensor, at_tokens: Tensor, scores: Tensor) -> Tensor:
        seen = torch.zeros_like(scores, dtype=torch.long).scatter_add_(1, text, at_tokens.long()) > 0
        scores = scores.float()
        return torch.where(seen, torch.where(scores < 0, scores * penalty, scores / penalty), scores)

    return process


def no_repeated_ngram(size: int) -> Processor:
    """Forbid runs of `size` tokens that the text already has: Paulus et al. (2017), "A Deep Reinforced Model", 2.5."""

    def process(text: Tensor, at_tokens: Tensor, scores: Tensor) -> Tensor:
        if text.shape[1] < size:
            return scores
        ngrams = text.unfold(1, size, 1)
        known = at_tokens.unfold(1, size, 1).all(dim=2)
        begun = text[:, text.shape[1] - size + 1 :].unsqueeze(1)
        again = known & (ngrams[:, :, :-1] == begun).all(dim=2)
        banned = torch.zeros_like(scores, dtype=torch.long).scatter_add_(1, ngrams[:, :, -1], again.long()) > 0
        return scores.masked_fill(banned, -math.inf)

    return process


def no_end_before(length: int, end_ids: Sequence[int]) -> Processor:
    """Forbid the end of a text that has fewer tokens than this, the prompt included."""

    def process(text: Tensor, at_tokens: Tensor, scores: Tensor) -> Tensor:
        if text.shape[1] >= length:
            return scores
        return scores.index_fill(1, torch.tensor(list(end_ids), device=scores.device), -math.inf)

    return process


# --- Stopping --------------------------------------------------------------------------------------------------


def stop_rule(stop_strings: str | Sequence[str | Sequence[int]], tokenizer: Tokenizer | None = None) -> Stop:
    """Return a rule that stops a text after any of these, which stays part of the text.

    Args:
        stop_strings: texts to find in what was written, or lists of ids that it must end with.
        tokenizer: needed for texts.

    Raises:
        TypeError: something is neither text nor ids.
        ValueError: a text or list is empty, or there is a text but no tokenizer.
    """
    each = [stop_strings] if isinstance(stop_strings, str) else list(stop_strings)
    texts = [item for item in each if isinstance(item, str)]
    sequences = [_ids(item) for item in each if not isinstance(item, str)]
    if not all(each):
        raise ValueError("stop_strings must not have an empty text, or no ids: nothing would be written")
    if texts and tokenizer is None:
        raise ValueError(f"to stop at the text {texts[0]!r}, give the tokenizer as well, or give its ids instead")

    def stopped(tokens: Tensor) -> Tensor:
        found = tokens.new_zeros(len(tokens), dtype=torch.bool)
        for ids in sequences:
            end = tokens[:, -len(ids) :]
            if end.shape[1] == len(ids):
                found |= (end == torch.tensor(ids, device=tokens.device)).all(dim=1)
        if texts and tokenizer is not None:
            written = [tokenizer.decode(row) for row in tokens.tolist()]
            found |= torch.tensor([any(text in row for text in texts) for row in written], device=tokens.device)
        return found

    return stopped


def _ids(item: Sequence[int]) -> list[int]:
    if not isinstance(item, Sequence) or not all(type(token) is int for token in item):
        raise TypeError(f"stop_strings must be a list of texts and of lists of ids, but it has {item!r}")
    return list(item)
