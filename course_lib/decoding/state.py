"""The interface between decoding and models: greedy decoding, beam search and sampling know only a `DecodingState`."""

from abc import ABC, abstractmethod
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_lib.ground.text_state import TextState


class DecodingState(TextState, ABC):
    """Texts being decoded: `prefill` reads the prompts, `step` each token that was chosen.

    Attributes:
        prompt: the tokens before the first new one: the prompts, or <s>.
        prompt_mask: True at tokens of the prompt, False at padding; None if there is no padding.
        end_ids: the ids that end a text; empty if texts have no end.
        padding_id: the id that fills up a text that has ended.
    """

    prompt: Int[Tensor, "batch prompt"]
    prompt_mask: Bool[Tensor, "batch prompt"] | None = None
    end_ids: tuple[int, ...]
    padding_id: int

    @property
    def device(self) -> torch.device:
        """The device of the texts."""
        return self.prompt.device

    @abstractmethod
    def prefill(self) -> Float[Tensor, "batch vocab_size"]:
        """Read the prompts; return the logits of the first new token of each text."""

    @abstractmethod
    def step(self, tokens: Int[Tensor, " batch"]) -> Float[Tensor, "batch vocab_size"]:
        """Read one more token of each text; return the logits of the token after it."""

    def close(self) -> None:
        """Finish decoding: there will be no further step."""

    def has_ended(self, tokens: Int[Tensor, "*rows"]) -> Bool[Tensor, "*rows"]:
        """Return which of these tokens end their text."""
        ended = torch.zeros_like(tokens, dtype=torch.bool)
        for end in self.end_ids:
            ended |= tokens == end
        return ended


def begin_decoding(
    model: nn.Module, inputs: Int[Tensor, "batch tokens"], max_new_tokens: int, **options: Any
) -> DecodingState:
    """Return the decoding state of new texts: a translation of each source, or a continuation of each prompt.

    Args:
        model: in evaluation mode; any that has `begin`, with these arguments.
        inputs: ids on the model's device, padded.
        max_new_tokens: the most tokens to write.
        options: for the model's `begin`. Every model takes `use_cache`; if False, every step reads all tokens again.

    Raises:
        TypeError: the model has no `begin`, or the inputs are not ids.
        ValueError: there is no room for that many tokens, or the model refuses the inputs.
    """
    begin = getattr(model, "begin", None)
    if begin is None:
        raise TypeError(f"cannot write with a {type(model).__name__}: it has no begin, as GPT and Transformer have")
    state: DecodingState = begin(inputs, max_new_tokens, **options)
    return state
