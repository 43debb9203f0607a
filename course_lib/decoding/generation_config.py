"""The settings of `model.generate`."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from torch import Generator, Tensor

from course_lib.ground.validation import check_at_least, check_not_negative, check_one_of

LengthFormula = Literal["wu", "length"]
"""The names of the length penalties."""

EarlyStopping = bool | Literal["never"]
"""Whether enough finished sentences end the search, whatever the live ones may still become."""

LogitsProcessor = Callable[[Tensor, Tensor], Tensor]
"""Returns new scores of the next token, from all ids of each text so far and the scores, as in `transformers`."""


class Tokenizer(Protocol):
    """Turns ids into text: a tokenizer of ours, or of the `transformers` library."""

    def decode(self, ids: list[int], /) -> str:
        """Return the text of these ids."""


class Streamer(Protocol):
    """Takes the tokens while they are written, as the `transformers` library's `TextStreamer` does."""

    def put(self, value: Tensor) -> Any:
        """Take the prompts, [batch, tokens], then each step's tokens, [batch], on the CPU."""

    def end(self) -> Any:
        """End the stream: no more tokens will come."""


@dataclass(frozen=True)
class GenerationConfig:
    """The settings of `generate`; without further settings, it decodes greedily.

    Any of `temperature`, `top_k`, `top_p` and `min_p` turns on sampling; more than one beam turns on beam search. There
    are no hidden settings: a published `generation_config.json` is not read. The names are those of the `transformers`
    library.

    Attributes:
        max_new_tokens: the most tokens to write, the end included; a text that is not finished by then stays cut off.
        min_new_tokens: the fewest tokens before an end.
        eos_token_id: the id that ends a text, or several; None for the model's own.
        do_sample: whether to draw tokens at random, even without another sampling setting.
        temperature: above 0; below 1, probable tokens become more probable, above 1 less.
        top_k: draw only from the k most probable tokens.
        top_p: draw only from the nucleus of this probability mass.
        min_p: draw only tokens that are at least this many times as probable as the most probable one.
        generator: draws the tokens, on the model's device; None for torch's own.
        num_beams: the number of texts that beam search keeps.
        num_return_sequences: the number of texts for each input, in consecutive rows: separate draws, or the best
            beams.
        length_penalty: the exponent in the divisor of a log-probability in beam search, at least 0.
        length_formula: "length" for length^penalty, as in `transformers`; "wu" for ((5 + length) / 6)^penalty.
        early_stopping: when to end a search that has `num_beams` finished texts. True: at once. False: when no live
            text would score higher if it ended now. "never": only when none would even if it reached `max_new_tokens`
            with its present log-probability.
        repetition_penalty: above 1, makes tokens of the prompt and of the text so far less probable.
        no_repeat_ngram_size: do not repeat a run of this many tokens, the prompt's included; 0 to allow all.
        logits_processor: functions that further change the scores, in this order; each is called with all ids so far
            and the scores.
        stop_strings: texts, or lists of ids, that also end a text; they stay part of it.
        tokenizer: turns ids into text; needed if `stop_strings` has texts.
        past_context: continue past a GPT's context, predicting each token from the last `context_length` ones. From
            there on, every step reads them all again, as without a cache.
        use_cache: keep keys and values; without them, the same tokens take longer.
        compiled: have torch compile the steps, and a GPU launch each as one CUDA graph: the same tokens, several times
            as fast on a GPU. The first call of each size (number of texts, and tokens rounded up to 64) can take
            minutes.
    """

    max_new_tokens: int
    min_new_tokens: int = 0
    eos_token_id: int | Sequence[int] | None = None
    do_sample: bool | None = None
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    generator: Generator | None = None
    num_beams: int = 1
    num_return_sequences: int = 1
    length_penalty: float = 1.0
    length_formula: LengthFormula = "length"
    early_stopping: EarlyStopping = False
    repetition_penalty: float = 1.0
    no_repeat_ngram_size: int = 0
    logits_processor: LogitsProcessor | Sequence[LogitsProcessor] = ()
    stop_strings: str | Sequence[str | Sequence[int]] = ()
    tokenizer: Tokenizer | None = None
    past_context: bool = False
    use_cache: bool = True
    compiled: bool = False

    def __post_init__(self) -> None:
        check_at_least(1, max_new_tokens=self.max_new_tokens, num_beams=self.num_beams)
        check_at_least(1, num_return_sequences=self.num_return_sequences)
        check_at_least(0, min_new_tokens=self.min_new_tokens, no_repeat_ngram_size=self.no_repeat_ngram_size)
        check_one_of(LengthFormula, length_formula=self.length_formula)
        check_not_negative(length_penalty=self.length_penalty)
        if self.early_stopping not in (False, True, "never"):
            raise ValueError(f"early_stopping must be False, True or 'never', not {self.early_stopping!r}")
        if self.temperature is not None and not 0 < self.temperature < math.inf:
            raise ValueError(f"temperature must be above 0, not {self.temperature}; leave it out for the most probable")
        if self.top_k is not None:
            check_at_least(1, top_k=self.top_k)
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must be above 0 and at most 1, not {self.top_p}")
        if self.min_p is not None and not 0 <= self.min_p <= 1:
            raise ValueError(f"min_p must be at least 0 and at most 1, not {self.min_p}")
        if not 0 < self.repetition_penalty < math.inf:
            raise ValueError(f"repetition_penalty must be above 0, not {self.repetition_penalty}; 1 changes nothing")
        if self.min_new_tokens > self.max_new_tokens:
            raise ValueError(f"min_new_tokens={self.min_new_tokens} is above max_new_tokens={self.max_new_tokens}")
        if self.do_sample is False and self.shapes_draws:
            raise ValueError("temperature, top_k, top_p and min_p are for sampling: omit them, or do_sample=False")
        if self.num_beams > 1 and self.samples:
            raise ValueError("beam search draws nothing at random: give num_beams or sampling settings, not both")
        if self.num_return_sequences > self.num_beams and not self.samples:
            raise ValueError(
                f"there are {self.num_beams} different texts for an input, so num_return_sequences cannot be "
                f"{self.num_return_sequences}: draw them with do_sample=True, or give more num_beams"
            )
        if self.compiled and (self.past_context or not self.use_cache):
            raise ValueError("compiled=True keeps all keys and values: leave use_cache and past_context out")

    @property
    def shapes_draws(self) -> bool:
        """True if any sampling setting is given."""
        return any(setting is not None for setting in (self.temperature, self.top_k, self.top_p, self.min_p))

    @property
    def samples(self) -> bool:
        """True if tokens are drawn at random."""
        return self.shapes_draws if self.do_sample is None else self.do_sample

    @property
    def processors(self) -> list[LogitsProcessor]:
        """The functions in `logits_processor`."""
        given = self.logits_processor
        return list(given) if isinstance(given, Sequence) else [given]
