"""Everything that decoding can do behind one call: what `model.generate(...)` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch

import torch
from jaxtyping import Bool, Int
from torch import Generator, Tensor, nn

from course_lib.decoding.beam import BeamSearch, EarlyStopping, LengthFormula, search
from course_lib.decoding.compiled import CompiledTranslation, CompiledWriting
from course_lib.decoding.continuation import Continuation, continuation, prompt_continuation, prompt_mask
from course_lib.decoding.generates import Streamer
from course_lib.decoding.greedy import Choice, Listener, decoding, most_probable, write_on
from course_lib.decoding.rules import Rules, Tokenizer, repetition_rule, require_penalty, stop_rule
from course_lib.decoding.sampling import Draw
from course_lib.ground.refusals import require_at_least, require_ids
from course_lib.models import GPT, Transformer


@dataclass(frozen=True)
class Settings:
    """How to write, as `Generates.generate` is told, which says what each of them means."""

    max_new_tokens: int
    do_sample: bool | None = None
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    generator: Generator | None = None
    num_beams: int = 1
    length_penalty: float = 1.0
    length_formula: LengthFormula = "length"
    early_stopping: EarlyStopping = False
    repetition_penalty: float = 1.0
    stop: str | Sequence[str | Sequence[int]] = ()
    tokenizer: Tokenizer | None = None
    past_context: bool = False
    use_cache: bool = True
    compiled: bool = False

    def __post_init__(self) -> None:
        require_at_least(1, max_new_tokens=self.max_new_tokens, num_beams=self.num_beams)
        require_penalty(self.repetition_penalty)
        if self.do_sample is False and self.shapes_draws:
            raise ValueError("temperature, top_k, top_p and min_p are for sampling: leave them or do_sample=False out")
        if self.num_beams > 1 and self.samples:
            raise ValueError("beam search draws nothing at random: give num_beams or settings of sampling, not both")
        if self.compiled and (self.past_context or not self.use_cache):
            raise ValueError("compiled=True keeps all keys and values: leave use_cache and past_context out")

    @property
    def shapes_draws(self) -> bool:
        """Whether any setting of sampling is given."""
        return any(setting is not None for setting in (self.temperature, self.top_k, self.top_p, self.min_p))

    @property
    def samples(self) -> bool:
        """Whether words are drawn at random."""
        return self.shapes_draws if self.do_sample is None else self.do_sample

    def choice(self) -> Choice:
        """Which word to write."""
        if not self.samples:
            return most_probable
        temperature = 1.0 if self.temperature is None else self.temperature
        return Draw(temperature, self.top_k, self.top_p, self.min_p, self.generator)

    def rules(self, read: Int[Tensor, "batch words"], mask: Bool[Tensor, "batch words"] | None) -> Rules:
        """What every text obeys, after these words."""
        rules = Rules(stop=stop_rule(self.stop, self.tokenizer)) if self.stop else Rules()
        if self.repetition_penalty == 1.0:
            return rules
        return Rules(repetition_rule(read, mask, self.repetition_penalty), rules.stop)

    def beam_search(self) -> BeamSearch:
        """How wide to search, and how sentences are compared."""
        return BeamSearch(self.num_beams, self.length_penalty, self.length_formula, self.early_stopping)


def generate(
    model: nn.Module,
    input_ids: Int[Tensor, "batch words"],
    attention_mask: Tensor | None,
    settings: Settings,
    streamer: Streamer | None = None,
) -> Int[Tensor, "batch written"]:
    """What `Generates.generate` says."""
    if streamer is not None and settings.num_beams > 1:
        raise ValueError("beam search may still change its words, so that there is nothing for a streamer yet")
    with decoding(model):
        opened = _open(model, input_ids, attention_mask, settings)
        rules, longest = settings.rules(opened.read, opened.mask), settings.max_new_tokens
        if settings.num_beams > 1:
            words = search(opened.text, settings.beam_search(), longest, rules).words[:, 0]
        else:
            words = write_on(opened.text, settings.choice(), longest, rules, _listener(streamer, opened.read))
        opened.text.close()
        written = torch.cat([opened.read, words], dim=1)
    if streamer is not None:
        streamer.end()
    return written.clone()  # outside of inference mode, so that one may train with it


def _listener(streamer: Streamer | None, read: Int[Tensor, "batch words"]) -> Listener | None:
    """Gives the streamer each step's words, after those that were read."""
    if streamer is None:
        return None
    streamer.put(read.cpu())
    return streamer.put


# --- What the models begin with --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Opened:
    """Texts that can be written.

    Attributes:
        text: to go on with.
        read: what stands before the first new word: the prompts, or <s>.
        mask: True at the words of `read`; None where all are.
    """

    text: Continuation
    read: Int[Tensor, "batch words"]
    mask: Bool[Tensor, "batch words"] | None = None


@singledispatch
def _open(model: nn.Module, input_ids: Tensor, attention_mask: Tensor | None, settings: Settings) -> _Opened:
    raise TypeError(f"only GPT and Transformer generate, not a {type(model).__name__}; try decoding.greedy.write")


@_open.register
def _open_prompts(model: GPT, input_ids: Tensor, attention_mask: Tensor | None, settings: Settings) -> _Opened:
    config = model.config
    require_ids(input_ids, config.vocabulary, "input_ids", wait=True)
    mask = _as_boolean(attention_mask, input_ids)
    new_words = settings.max_new_tokens
    if settings.compiled:
        text: Continuation = CompiledWriting(model, input_ids, new_words, mask)
    else:
        cached, past_context = settings.use_cache, settings.past_context
        text = prompt_continuation(model, input_ids, new_words, cached=cached, mask=mask, past_context=past_context)
    return _Opened(text, input_ids, prompt_mask(input_ids, config) if mask is None else mask)


@_open.register
def _open_sources(model: Transformer, input_ids: Tensor, attention_mask: Tensor | None, settings: Settings) -> _Opened:
    """The mask becomes padding, which is what the encoder looks at."""
    config = model.config
    require_ids(input_ids, config.source_vocabulary, "input_ids", wait=True)
    mask = _as_boolean(attention_mask, input_ids)
    source = input_ids
    if mask is not None:
        if bool((mask & (input_ids == config.padding_id)).any()):
            raise ValueError(f"attention_mask must be 0 wherever input_ids is padding, {config.padding_id}")
        source = input_ids.masked_fill(~mask, config.padding_id)
    new_words = settings.max_new_tokens
    if settings.compiled:
        text: Continuation = CompiledTranslation(model, source, new_words)
    else:
        text = continuation(model, source, new_words, cached=settings.use_cache)
    return _Opened(text, torch.full_like(source[:, :1], config.start_id))


def _as_boolean(attention_mask: Tensor | None, ids: Tensor) -> Bool[Tensor, "batch words"] | None:
    """The mask, which tokenizers give as 1 and 0."""
    if attention_mask is None:
        return None
    if not isinstance(attention_mask, Tensor) or attention_mask.dtype not in (torch.bool, torch.int64, torch.int32):
        found = getattr(attention_mask, "dtype", type(attention_mask).__name__)
        raise TypeError(f"attention_mask must be 1 (or True) at words and 0 (or False) at padding, not {found}")
    if attention_mask.shape != ids.shape:
        raise ValueError(f"attention_mask must be {list(ids.shape)} as input_ids are, not {list(attention_mask.shape)}")
    mask = attention_mask.bool()
    if not torch.equal(mask.to(attention_mask.dtype), attention_mask):
        raise ValueError("attention_mask must be 1 at words and 0 at padding, and has other numbers")
    return mask
