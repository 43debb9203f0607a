"""Compiled decoding: torch compiles a step once for its shapes, and a GPU launches it as one CUDA graph.

So every step must have the same shapes, and find its tensors where they were in the step before, in the next call too:
a `StaticTextCache` has one shape, and a model's last one is kept for its next texts of the same size. What is read at
first, prompts or sources, is padded on the right to one of few widths. The words are the same as without any of this.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_lib.caching import StaticTextCache, TextCache
from course_lib.decoding.continuation import Continuation, Next, Translation, Writing, next_word
from course_lib.models import GPT, Encoded, States, Transformer

SIZES_APART = 64
"""How far apart widths and caches are in size, in words: torch compiles anew for each."""


_kept: WeakKeyDictionary[nn.Module, StaticTextCache] = WeakKeyDictionary()
"""The cache of each model's last texts, unless others are being written in it."""


@cache
def _compiled(function: Callable[..., Any], device_type: str, *, replayed: bool = False) -> Callable[..., Any]:
    """A function that torch compiles for each shape; on a GPU it may be replayed as a CUDA graph."""
    mode = "reduce-overhead" if replayed and device_type == "cuda" else None
    return torch.compile(function, dynamic=False, mode=mode)


def _size(words: int) -> int:
    """The next of the few sizes."""
    return math.ceil(words / SIZES_APART) * SIZES_APART


def _widened(rows: Tensor, width: int, value: int | bool) -> Tensor:
    return F.pad(rows, (0, width - rows.shape[1]), value=value)


class _InCompiledSteps(Continuation):
    """Texts that go on in compiled steps, from where they start."""

    _model: GPT | Transformer
    _cache: TextCache | None

    def read(self, words: Int[Tensor, " batch"]) -> Next:
        assert self._cache is not None
        if not isinstance(self._cache, StaticTextCache):
            self._cache = self._cache.static(_kept.pop(self._model, None))
        torch.compiler.cudagraph_mark_step_begin()  # the logits of the step before are not needed any more
        return Next(self._step(words.contiguous().unsqueeze(1), self._cache))  # strides count as a shape

    def _step(self, words: Int[Tensor, "batch 1"], cache: StaticTextCache) -> Float[Tensor, "batch vocabulary"]:
        raise NotImplementedError

    def close(self) -> None:
        if isinstance(self._cache, StaticTextCache):
            _kept[self._model] = self._cache


class CompiledTranslation(_InCompiledSteps, Translation):
    """The target of an encoder-decoder."""

    _model: Transformer

    def __init__(self, model: Transformer, source: Int[Tensor, "batch source"], new_words: int) -> None:
        super().__init__(model, source, _size(new_words), cached=True, weights=False)

    def _encode(self, source: Int[Tensor, "batch source"]) -> Encoded:
        source = _widened(source, _size(source.shape[1]), self._model.config.padding_id)
        encoded: Encoded = _compiled(Transformer.encode, source.device.type)(self._model, source)
        return encoded

    def _step(self, words: Int[Tensor, "batch 1"], cache: StaticTextCache) -> Float[Tensor, "batch vocabulary"]:
        step = _compiled(Transformer.decode, words.device.type, replayed=True)
        logits: Tensor = step(self._model, words, self._encoded, cache)
        return logits[:, -1]


class CompiledWriting(_InCompiledSteps, Writing):
    """A language model's text, within its context."""

    _model: GPT

    def __init__(
        self, model: GPT, prompt: Int[Tensor, "batch words"], new_words: int, mask: Bool[Tensor, "batch words"] | None
    ) -> None:
        super().__init__(model, prompt, new_words, cached=True, weights=False, mask=mask)

    def _room(self, capacity: int) -> int:
        return min(_size(capacity), self._model.config.context)

    def start(self) -> Next:
        """Read the prompts with padding after them, which is forgotten at once."""
        assert self._cache is not None
        read = self._words.shape[1]
        width = min(_size(read), self._cache.capacity)
        words = _widened(self._words, width, self.padding_id)
        mask = None if self._mask is None else _widened(self._mask, width, False)
        states = _compiled(GPT.states, self.device.type)(self._model, words, mask, self._cache).states
        self._cache.forget(width - read)
        return next_word(self._model, States(states[:, :read]), self._mask)

    def _step(self, words: Int[Tensor, "batch 1"], cache: StaticTextCache) -> Float[Tensor, "batch vocabulary"]:
        step = _compiled(GPT.forward, words.device.type, replayed=True)
        logits: Tensor = step(self._model, words, None, cache)
        return logits[:, -1]
