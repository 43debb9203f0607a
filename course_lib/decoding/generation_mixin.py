"""Adds `generate` to models, called as in the `transformers` library."""

from typing import Any, cast

from jaxtyping import Bool, Int
from torch import Tensor, nn

from course_lib.decoding.generation_config import GenerationConfig, Streamer


class GenerationMixin:
    """Adds `generate` to a model: greedy decoding, beam search and sampling, with the usual names of the settings."""

    def generate(
        self,
        input_ids: Int[Tensor, "batch tokens"],
        attention_mask: Int[Tensor, "batch tokens"] | Bool[Tensor, "batch tokens"] | None = None,
        *,
        streamer: Streamer | None = None,
        **settings: Any,
    ) -> Int[Tensor, "texts written"]:
        """Write a translation of each source, or a continuation of each prompt.

        Dropout is switched off meanwhile.

        Args:
            input_ids: sources or prompts, on the model's device. If their lengths differ, they are padded: prompts on
                either side, sources after their tokens.
            attention_mask: 1 or True at tokens, 0 or False at padding. Without it, padding is recognized by its id; for
                GPT-2, which has none, by the end-of-text tokens around prompts of different lengths.
            streamer: takes the tokens as they are written; not with beams.
            settings: those of `GenerationConfig`, such as `max_new_tokens` and `temperature`.

        Returns:
            What that library returns: the prompts, or <s>, then the tokens written, with padding after each end.

        Raises:
            ModuleNotFoundError: the lesson withholds decoding, since its students write it.
            TypeError: there is no such setting, or the ids or the mask are of another kind.
            ValueError: a setting is out of range, settings exclude each other, or the model refuses the inputs.
        """
        # Imported only when called: lesson 06 withholds this module, but has models.
        try:
            from course_lib.decoding.generation import generate
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "generate is not available here: this lesson has you write the decoding yourself, so the library's is "
                f"withheld ({error.name})",
                name=error.name,
            ) from None
        return generate(cast(nn.Module, self), input_ids, attention_mask, GenerationConfig(**settings), streamer)
