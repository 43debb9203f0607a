"""Texts being written by `GPT` and `Transformer`, with a key-value cache, without one, or in compiled steps.

Decoding knows only the interface, `DecodingState`; a model's `begin` chooses the class.

In compiled steps, torch compiles a step once for its shapes, and a GPU launches it as one CUDA graph. So every step, in
later calls too, must have the same shapes and find its tensors where they were in the step before: a `StaticKVCache`
has fixed shapes, and a model's last one is kept for its next texts of the same size. Prompts and sources are padded on
the right to one of a few widths. The tokens written are the same as without any of this.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_lib.configurations import GPTConfig
from course_lib.decoding.state import DecodingState
from course_lib.ground.validation import check_ids, check_special_ids
from course_lib.kv_cache import KVCache, StaticKVCache
from course_lib.masking import at_last_token

if TYPE_CHECKING:
    from course_lib.models import GPT, Encoded, Transformer


class TranslationState(DecodingState):
    """Translations that an encoder-decoder writes, with a key-value cache or by reading all their tokens again."""

    of_source = ("_encoded",)
    of_tokens = ("_tokens", "_cache")

    def __init__(self, model: Transformer, source: Tensor, max_new_tokens: int, use_cache: bool) -> None:
        check_ids(source, model.config.source_vocab_size, "source", wait=True)
        self._model = model
        self._encoded = self._encode(source)
        self._cache: KVCache | None = model.kv_cache(self._encoded, max_new_tokens) if use_cache else None
        self.batch = len(source)
        self.prompt = torch.full_like(source[:, :1], model.config.start_id)
        self.end_ids, self.padding_id = (model.config.end_id,), model.config.padding_id
        self._tokens = torch.empty(self.batch, 0, dtype=torch.long, device=self.device)

    def _encode(self, source: Int[Tensor, "batch source"]) -> Encoded:
        return self._model.encode(source)

    def prefill(self) -> Tensor:
        """Read <s>."""
        return self._read(self.prompt)

    def step(self, tokens: Int[Tensor, " batch"]) -> Tensor:
        """Read one more token of each translation."""
        return self._read(tokens.unsqueeze(1))

    def _read(self, target: Int[Tensor, "batch 1"]) -> Tensor:
        if self._cache is None:
            target = self._tokens = torch.cat([self._tokens, target], dim=1)
        states = self._model.target_states(target, self._encoded, self._cache)
        return next_token(self._model, states)


class _PromptState(DecodingState):
    """A language model's texts: their prompts, and where there is padding."""

    def __init__(self, model: GPT, prompt: Tensor, max_new_tokens: int, mask: Tensor | None) -> None:
        check_ids(prompt, model.config.vocab_size, "the prompt", wait=True)
        self._model = model
        self.batch, self.prompt = len(prompt), prompt
        self.end_ids = model.config.end_ids
        padding_id = model.config.padding_id
        self.padding_id = next(iter(self.end_ids), 0) if padding_id is None else padding_id
        self._tokens = prompt
        self._mask = find_padding(prompt, model.config) if mask is None else _where_there_is_padding(mask)
        self.prompt_mask = self._mask

    def _append(self, tokens: Int[Tensor, " batch"]) -> None:
        self._tokens = torch.cat([self._tokens, tokens.unsqueeze(1)], dim=1)
        if self._mask is not None:
            self._mask = torch.cat([self._mask, self._mask.new_ones(self.batch, 1)], dim=1)

    def _read_last(self, count: int) -> Tensor:
        mask = None if self._mask is None else self._mask[:, -count:]
        states = self._model.states(self._tokens[:, -count:], mask)
        return next_token(self._model, states, mask)


class GenerationState(_PromptState):
    """Texts within the context, written with a key-value cache or by reading all their tokens again."""

    of_tokens = ("_tokens", "_mask", "_cache")

    def __init__(self, model: GPT, prompt: Tensor, max_new_tokens: int, use_cache: bool, mask: Tensor | None) -> None:
        super().__init__(model, prompt, max_new_tokens, mask)
        capacity = prompt.shape[-1] + max_new_tokens - 1  # nobody reads the last token
        if capacity > model.config.context_length:
            raise ValueError(
                f"a prompt of {prompt.shape[-1]} tokens leaves no room for {max_new_tokens} more in the context of "
                f"{model.config.context_length}; model.generate goes on past it with past_context=True"
            )
        self._cache: KVCache | None = model.kv_cache(self.batch, self._room(capacity)) if use_cache else None

    def prefill(self) -> Tensor:
        """Read the prompts."""
        states = self._model.states(self._tokens, self._mask, self._cache)
        return next_token(self._model, states, self._mask)  # padding may come after the prompt

    def _room(self, capacity: int) -> int:
        """Return the number of tokens that the cache has room for."""
        return capacity

    def step(self, tokens: Int[Tensor, " batch"]) -> Tensor:
        """Read one more token of each text."""
        if self._cache is None:
            self._append(tokens)
            return self._read_last(self._tokens.shape[1])
        states = self._model.states(tokens.unsqueeze(1), None, self._cache)
        return next_token(self._model, states)


class SlidingGenerationState(_PromptState):
    """Texts of any length: each token is predicted from the last `context_length` tokens.

    Until the context is full, a text is written like any other. After that, each token that drops out changes the
    context and positions of all others, so no key or value can be kept: each step reads all tokens.
    """

    of_tokens = ("_tokens", "_mask", "_within")

    def __init__(self, model: GPT, prompt: Tensor, max_new_tokens: int, use_cache: bool, mask: Tensor | None) -> None:
        super().__init__(model, prompt, max_new_tokens, mask)
        if self._mask is not None:
            self._tokens, self._mask = _padding_first(prompt, self._mask)
        self._context = model.config.context_length
        room = self._context - prompt.shape[1] + 1
        every = torch.ones_like(prompt, dtype=torch.bool) if self._mask is None else self._mask
        keeps = use_cache and room >= 1
        self._within = GenerationState(model, self._tokens, min(room, max_new_tokens), True, every) if keeps else None

    def prefill(self) -> Tensor:
        """Read the last tokens of the prompts."""
        return self._read_last(self._context) if self._within is None else self._within.prefill()

    def step(self, tokens: Int[Tensor, " batch"]) -> Tensor:
        """Read one more token of each text."""
        self._append(tokens)
        if self._tokens.shape[1] > self._context:
            self._within = None
        return self._read_last(self._context) if self._within is None else self._within.step(tokens)


def find_padding(prompt: Int[Tensor, "batch tokens"], config: GPTConfig) -> Bool[Tensor, "batch tokens"] | None:
    """Return a mask, True at the prompts' tokens; None if there is no padding among them.

    GPT-2 has no padding token, so prompts of different lengths are filled up with the end-of-text token. At the start
    or end of a prompt it counts as padding, unless every prompt has equally many.

    Raises:
        ValueError: a prompt has no tokens.
    """
    if config.padding_id is not None:
        return _where_there_is_padding(prompt != config.padding_id)
    if not config.end_ids:
        return None
    filled = torch.isin(prompt, torch.tensor(config.end_ids, device=prompt.device))
    before, after = filled.cumprod(dim=1), filled.flip(1).cumprod(dim=1).flip(1)
    mask = (before + after) == 0
    return None if bool((mask == mask[:1]).all()) else _where_there_is_padding(mask)


def _where_there_is_padding(mask: Bool[Tensor, "batch tokens"]) -> Bool[Tensor, "batch tokens"] | None:
    """Return the mask, or None if it hides nothing."""
    if bool(mask.all()):
        return None
    if not mask.any(dim=1).all():
        raise ValueError("a prompt has no tokens: one of the inputs is all padding")
    return mask


def _padding_first(tokens: Int[Tensor, "batch tokens"], mask: Bool[Tensor, "batch tokens"]) -> tuple[Tensor, Tensor]:
    """Move the tokens of every text to the end of its row, so that the last columns are the last tokens."""
    order = mask.long().argsort(dim=1, stable=True)
    return tokens.gather(1, order), mask.gather(1, order)


def next_token(
    model: Transformer | GPT,
    states: Float[Tensor, "batch tokens d_model"],
    mask: Bool[Tensor, "batch tokens"] | None = None,
) -> Tensor:
    """Return the logits of the token after the last one."""
    return model.logits(at_last_token(states, mask))


def with_end_ids(state: DecodingState, end_ids: tuple[int, ...] | None, vocab_size: int) -> DecodingState:
    """Make the texts end with these ids, if any are given; return the same state.

    Raises:
        ValueError: an id is not in the vocabulary.
    """
    for end in end_ids or ():
        check_special_ids(vocab_size, eos_token_id=end)
    if end_ids is not None:
        state.end_ids = end_ids
    return state


# --- In compiled steps -----------------------------------------------------------------------------------------

SIZES_APART = 64
"""Widths and cache sizes are multiples of this many tokens, since torch compiles again for each size."""


_kept: WeakKeyDictionary[nn.Module, StaticKVCache] = WeakKeyDictionary()
"""The cache of each model's last texts, unless it is in use."""


@cache
def _compiled(function: Callable[..., Any], device_type: str, *, replayed: bool = False) -> Callable[..., Any]:
    """Return the function, compiled by torch for each shape; on a GPU it may be replayed as a CUDA graph."""
    mode = "reduce-overhead" if replayed and device_type == "cuda" else None
    return torch.compile(function, dynamic=False, mode=mode)


def _size(tokens: int) -> int:
    """Round up to a multiple of `SIZES_APART`."""
    return math.ceil(tokens / SIZES_APART) * SIZES_APART


def _widened(rows: Tensor, width: int, value: int | bool) -> Tensor:
    return F.pad(rows, (0, width - rows.shape[1]), value=value)


class _CompiledSteps(DecodingState):
    """Texts that continue in compiled steps after the prefill."""

    _model: GPT | Transformer
    _cache: KVCache | None

    def step(self, tokens: Int[Tensor, " batch"]) -> Tensor:
        assert self._cache is not None
        if not isinstance(self._cache, StaticKVCache):
            self._cache = self._cache.static(_kept.pop(self._model, None))
        torch.compiler.cudagraph_mark_step_begin()  # the logits of the step before are not needed any more
        return self._step(tokens.contiguous().unsqueeze(1), self._cache)  # other strides would be compiled again

    def _step(self, tokens: Int[Tensor, "batch 1"], kv_cache: StaticKVCache) -> Float[Tensor, "batch vocab_size"]:
        raise NotImplementedError

    def close(self) -> None:
        if isinstance(self._cache, StaticKVCache):
            _kept[self._model] = self._cache


class CompiledTranslationState(_CompiledSteps, TranslationState):
    """Translations that an encoder-decoder writes in compiled steps."""

    _model: Transformer

    def __init__(self, model: Transformer, source: Int[Tensor, "batch source"], max_new_tokens: int) -> None:
        super().__init__(model, source, _size(max_new_tokens), use_cache=True)

    def _encode(self, source: Int[Tensor, "batch source"]) -> Encoded:
        source = _widened(source, _size(source.shape[1]), self._model.config.padding_id)
        encoded: Encoded = _compiled(type(self._model).encode, source.device.type)(self._model, source)
        return encoded

    def _step(self, tokens: Int[Tensor, "batch 1"], kv_cache: StaticKVCache) -> Float[Tensor, "batch vocab_size"]:
        step = _compiled(type(self._model).decode, tokens.device.type, replayed=True)
        logits: Tensor = step(self._model, tokens, self._encoded, kv_cache)
        return logits[:, -1]


class CompiledGenerationState(_CompiledSteps, GenerationState):
    """A language model's texts within its context, written in compiled steps."""

    _model: GPT

    def __init__(
        self,
        model: GPT,
        prompt: Int[Tensor, "batch tokens"],
        max_new_tokens: int,
        mask: Bool[Tensor, "batch tokens"] | None,
    ) -> None:
        super().__init__(model, prompt, max_new_tokens, use_cache=True, mask=mask)

    def _room(self, capacity: int) -> int:
        return min(_size(capacity), self._model.config.context_length)

    def prefill(self) -> Tensor:
        """Read the prompts, padded on the right, then drop the padding from the cache."""
        assert self._cache is not None
        read = self._tokens.shape[1]
        width = min(_size(read), self._cache.capacity)
        tokens = _widened(self._tokens, width, self.padding_id)
        mask = None if self._mask is None else _widened(self._mask, width, False)
        states = _compiled(type(self._model).states, self.device.type)(self._model, tokens, mask, self._cache)
        self._cache.forget(width - read)
        return next_token(self._model, states[:, :read], self._mask)

    def _step(self, tokens: Int[Tensor, "batch 1"], kv_cache: StaticKVCache) -> Float[Tensor, "batch vocab_size"]:
        step = _compiled(type(self._model).forward, tokens.device.type, replayed=True)
        logits: Tensor = step(self._model, tokens, None, kv_cache)
        return logits[:, -1]
