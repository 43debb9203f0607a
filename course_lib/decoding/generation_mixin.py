"""Models that write, called as the `transformers` library calls its own."""

from __future__ import annotations

from typing import Any, cast

from jaxtyping import Bool, Int
from torch import Tensor, nn

from course_lib.decoding.generation_config import GenerationConfig, Streamer


class GenerationMixin:
    """Adds `generate` to a model: greedy decoding, beam search and sampling, with the field's names of the settings."""

    def generate(
        self,
        input_ids: Int[Tensor, "batch tokens"],
        attention_mask: Int[Tensor, "batch tokens"] | Bool[Tensor, "batch tokens"] | None = None,
        *,
        streamer: Streamer | None = None,
        **settings: Any,
    ) -> Int[Tensor, "texts written"]:
        """Write on: a translation of each source, or what follows each prompt.

        Dropout is off; the model's mode is restored.

        Args:
            input_ids: on the model's device: sources, or prompts. Those of different lengths are padded: prompts on
                either side, sources after their tokens.
            attention_mask: 1 or True at tokens, 0 or False at padding. Without it, padding is what has the id of
                padding; and where GPT-2 has none, the end-of-text token around prompts of different lengths.
            streamer: is given the tokens while they are written; not with beams.
            settings: those of `GenerationConfig`, as `max_new_tokens` and `temperature`.

        Returns:
            What that library returns: the prompts, or <s>, and the tokens written, with padding after each end.

        Raises:
            ModuleNotFoundError: a lesson has its students write the decoding.
            TypeError: there is no such setting; ids or a mask of another kind.
            ValueError: a setting out of its range, settings that exclude each other, or inputs that the model refuses.
        """
        # Only when called: lesson 06 withholds what this needs, and has models all the same.
        try:
            from course_lib.decoding.generation import generate
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "generate is not available here: this lesson has you write the decoding yourself, so the library's is "
                f"withheld ({error.name})",
                name=error.name,
            ) from None
        return generate(cast(nn.Module, self), input_ids, attention_mask, GenerationConfig(**settings), streamer)
