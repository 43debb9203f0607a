"""Models that write, called as the `transformers` library calls its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn

if TYPE_CHECKING:
    from course_lib.decoding.rules import Tokenizer


class Streamer(Protocol):
    """Whoever wants the words while they are written, such as the `transformers` library's `TextStreamer`."""

    def put(self, value: Tensor) -> Any:
        """Take what was read, [batch, words], then each step's words, [batch], on the CPU."""

    def end(self) -> Any:
        """Nothing more will come."""


class Generates:
    """Adds `generate` to a model: greedy decoding, beam search and sampling, with the field's names of the settings."""

    def generate(
        self,
        input_ids: Int[Tensor, "batch words"],
        attention_mask: Int[Tensor, "batch words"] | Bool[Tensor, "batch words"] | None = None,
        *,
        max_new_tokens: int,
        do_sample: bool | None = None,
        temperature: float | None = None,
        top_k: int | None = None,
        top_p: float | None = None,
        min_p: float | None = None,
        generator: torch.Generator | None = None,
        num_beams: int = 1,
        length_penalty: float = 1.0,
        length_formula: Literal["length", "wu"] = "length",
        early_stopping: bool | Literal["never"] = False,
        repetition_penalty: float = 1.0,
        stop: str | Sequence[str | Sequence[int]] = (),
        tokenizer: Tokenizer | None = None,
        streamer: Streamer | None = None,
        past_context: bool = False,
        use_cache: bool = True,
        compiled: bool = False,
    ) -> Int[Tensor, "batch written"]:
        """Write on: a translation of each source, or what follows each prompt.

        Without further settings it is greedy decoding. Any of `temperature`, `top_k`, `top_p` and `min_p` makes it
        sampling, and more beams than one beam search. Nothing else is assumed, nor read from a published
        `generation_config.json`. Dropout is off; the model's mode is restored.

        Args:
            input_ids: on the model's device: sources, or prompts. Those of different lengths are padded: prompts on
                either side, sources after their words.
            attention_mask: 1 or True at words, 0 or False at padding. Without it, padding is what has the id of
                padding; and where GPT-2 has none, the end of a text around prompts of different lengths.
            max_new_tokens: the most words to write, the end included; what is not finished by then stays cut off.
            do_sample: whether to draw words at random, with no other setting too.
            temperature: above 0; below 1 the probable becomes more probable, above 1 less.
            top_k: draw from the k most probable only; None for all.
            top_p: draw from the nucleus of this mass only; None for all.
            min_p: draw from words at least this share as probable as the most probable; None for all.
            generator: of the draws, on the model's device; None for torch's own.
            num_beams: how many texts beam search keeps; the best is returned.
            length_penalty: the exponent of what beam search divides a log-probability by, at least 0.
            length_formula: "length" for length^penalty, as in that library; "wu" for ((5 + length) / 6)^penalty.
            early_stopping: as for `course_lib.decoding.beam.beam_search`.
            repetition_penalty: above 1, words of the prompt and of the text so far are written less.
            stop: texts, or lists of ids, that end a text besides its own end; they stay part of it.
            tokenizer: what turns ids into text; needed where `stop` has texts.
            streamer: is given the words while they are written; not with beams.
            past_context: go on past a GPT's context, each word predicted from the last `context` words. From there
                they are all read again at every step, as without a cache.
            use_cache: keep keys and values; without them, the same words in more time.
            compiled: have torch compile the steps, and a GPU launch each as one CUDA graph: the same words, several
                times as fast on a GPU. The first call of a size (texts, and words to the next 64) takes up to minutes.

        Returns:
            What that library returns: the prompts, or <s>, and the words written, with padding after each end.

        Raises:
            ModuleNotFoundError: a lesson has its students write the decoding.
            TypeError: ids or a mask of another kind.
            ValueError: a setting out of its range, settings that exclude each other, or inputs that the model refuses.
        """
        # Only when called: decoding comes after the models, since it has to know them.
        try:
            from course_lib.decoding.generation import Settings, generate
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "generate is not here: this lesson has you write the decoding yourself, so that the library's is "
                f"withheld ({error.name})",
                name=error.name,
            ) from None
        settings = Settings(
            max_new_tokens=max_new_tokens,
            do_sample=do_sample,
            temperature=temperature,
            top_k=top_k,
            top_p=top_p,
            min_p=min_p,
            generator=generator,
            num_beams=num_beams,
            length_penalty=length_penalty,
            length_formula=length_formula,
            early_stopping=early_stopping,
            repetition_penalty=repetition_penalty,
            stop=stop,
            tokenizer=tokenizer,
            past_context=past_context,
            use_cache=use_cache,
            compiled=compiled,
        )
        return generate(cast(nn.Module, self), input_ids, attention_mask, settings, streamer)
