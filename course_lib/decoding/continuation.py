"""A batch of texts that a model goes on writing: one interface to every model, with a key-value cache or without.

Decoding (greedy, beam, sampling) needs to know no more about a model than this: it has `begin`, which gives such texts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_lib.ground.text_state import TextState


@dataclass(frozen=True)
class Next:
    """What a model says about the next token of each text.

    Attributes:
        logits: a score for each token of the vocabulary.
    """

    logits: Float[Tensor, "batch vocab_size"]


class DecodingState(TextState, ABC):
    """Texts being written: `start` reads what is given, `read` each token that was chosen.

    Attributes:
        given: what stands before the first new token: the prompts, or <s>; on the texts' device.
        given_mask: True at its tokens, False at padding; None where there is none.
        end_ids: the ids that end a text; none where texts have no end.
        padding_id: what comes after a text that has ended.
    """

    given: Int[Tensor, "batch given"]
    given_mask: Bool[Tensor, "batch given"] | None = None
    end_ids: tuple[int, ...]
    padding_id: int

    @property
    def device(self) -> torch.device:
        """Where they are."""
        return self.given.device

    @abstractmethod
    def start(self) -> Next:
        """Read what is given; what the model says about the first token to write."""

    @abstractmethod
    def read(self, tokens: Int[Tensor, " batch"]) -> Next:
        """Read one more token of each text; what the model says about the token after it."""

    def close(self) -> None:
        """Nothing more will be read."""

    def has_ended(self, tokens: Int[Tensor, " rows"]) -> Bool[Tensor, " rows"]:
        """Which of these tokens end their text."""
        ended = torch.zeros_like(tokens, dtype=torch.bool)
        for end in self.end_ids:
            ended |= tokens == end
        return ended


def continuation(
    model: nn.Module, inputs: Int[Tensor, "batch tokens"], max_new_tokens: int, **how: Any
) -> DecodingState:
    """The texts that `model` writes for `inputs`: a source for `Transformer`, a prompt for `GPT`.

    Args:
        model: in evaluation mode; any that has `begin`, with these arguments.
        inputs: ids on the model's device, padded.
        max_new_tokens: the most tokens to write.
        how: what else its `begin` takes; of every model `cached`, whether to keep keys and values. Without, all tokens
            are read again at every step, which gives the same.

    Raises:
        TypeError: the model cannot write; the inputs are not ids.
        ValueError: no room for as many tokens, or inputs that the model refuses.
    """
    begin = getattr(model, "begin", None)
    if begin is None:
        raise TypeError(f"cannot write with a {type(model).__name__}: it has no begin, as GPT and Transformer have")
    begun: DecodingState = begin(inputs, max_new_tokens, **how)
    return begun
