"""A batch of texts that a model goes on writing: one interface to every model, with a key-value cache or without.

`Transformer` writes a translation of its input, `GPT` continues it. Decoding (greedy, beam, sampling) needs to
know no more about a model than this.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import singledispatch

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_lib.ground.modules import is_compiled
from course_lib.ground.refusals import require_at_least, require_ids
from course_lib.ground.text_state import TextState
from course_lib.masking import at_last_word
from course_lib.models import GPT, States, Transformer


@dataclass(frozen=True)
class Next:
    """What a model says about the next word of each text.

    Attributes:
        logits: a score for each word of the vocabulary.
        self_alpha: for each block, how the last word attends to those read so far; empty unless asked for.
        cross_alpha: for each block, how it attends to the source; empty for a model without one.
    """

    logits: Float[Tensor, "batch vocabulary"]
    self_alpha: tuple[Float[Tensor, "batch heads keys"], ...] = ()
    cross_alpha: tuple[Float[Tensor, "batch heads source"], ...] = ()


class Continuation(TextState, ABC):
    """Texts being written: `start` reads what is given, `read` each word that was chosen.

    Attributes:
        device: where they are.
        end_id: the id that ends a text; None where texts have no end.
        padding_id: what comes after a text that has ended.
        first: the ids that the first text begins with, before anything is written.
    """

    device: torch.device
    end_id: int | None
    padding_id: int
    first: tuple[int, ...]

    @abstractmethod
    def start(self) -> Next:
        """Read what is given; what the model says about the first word to write."""

    @abstractmethod
    def read(self, words: Int[Tensor, " batch"]) -> Next:
        """Read one more word of each text; what the model says about the word after it."""


@singledispatch
def continuation(
    model: nn.Module, inputs: Int[Tensor, "batch words"], new_words: int, *, cached: bool = True, weights: bool = False
) -> Continuation:
    """The texts that `model` writes for `inputs`: a source for `Transformer`, a prompt for `GPT`.

    Args:
        model: in evaluation mode.
        inputs: ids on the model's device, padded.
        new_words: the most words to write.
        cached: keep keys and values; else every word is read again at every step, which gives the same.
        weights: return attention weights too.

    Raises:
        TypeError: nothing is known of such a model; the inputs are not ids.
        ValueError: no room for as many words, or inputs that the model refuses.
    """
    raise TypeError(
        f"cannot write with a {type(model).__name__}; register it with course_lib.decoding.continuation.continuation"
    )


class _Translation(Continuation):
    """The target of an encoder-decoder, which goes on with a key-value cache, or by reading all its words again."""

    of_source = ("_encoded",)
    of_words = ("_words", "_cache")

    def __init__(self, model: Transformer, source: Tensor, new_words: int, cached: bool, weights: bool) -> None:
        require_at_least(1, max_length=new_words)
        require_ids(source, model.config.source_vocabulary, "source", wait=True)
        self._model, self._weights = model, weights
        self._encoded = model.encode(source)
        self._cache = model.cache(self._encoded, _capacity(model, new_words)) if cached else None
        self.batch, self.device = len(source), source.device
        self.end_id, self.padding_id = model.config.end_id, model.config.padding_id
        self.first = (model.config.start_id,)
        self._words = torch.empty(self.batch, 0, dtype=torch.long, device=self.device)

    def start(self) -> Next:
        return self._read(torch.full((self.batch, 1), self._model.config.start_id, device=self.device))

    def read(self, words: Int[Tensor, " batch"]) -> Next:
        if self._cache is not None and _in_compiled_steps(self._model, self._weights):
            self._cache = self._cache.static()
            return Next(self._model(self._encoded, words.unsqueeze(1), self._cache)[:, -1])
        return self._read(words.unsqueeze(1))

    def _read(self, target: Int[Tensor, "batch 1"]) -> Next:
        if self._cache is None:
            target = self._words = torch.cat([self._words, target], dim=1)
        states = self._model.target_states(target, self._encoded, self._cache, need_weights=self._weights)
        return _next(self._model, states)


@continuation.register
def _translation(
    model: Transformer, inputs: Tensor, new_words: int, *, cached: bool = True, weights: bool = False
) -> Continuation:
    return _Translation(model, inputs, new_words, cached, weights)


class _Writing(Continuation):
    """A language model's text after its prompt, which goes on in either of these ways."""

    of_words = ("_words", "_mask", "_cache")

    def __init__(self, model: GPT, prompt: Tensor, new_words: int, cached: bool, weights: bool) -> None:
        require_at_least(1, max_length=new_words)
        require_ids(prompt, model.config.vocabulary, "the prompt", wait=True)
        self._model, self._weights = model, weights
        self.batch, self.device = len(prompt), prompt.device
        self.end_id = model.config.end_id
        self.padding_id = model.config.padding_id if model.config.padding_id is not None else self.end_id or 0
        self.first = tuple(prompt[0].tolist())
        self._words = prompt
        self._mask = _words(prompt, model.config.padding_id, model.config.end_id)
        capacity = prompt.shape[-1] + new_words - 1  # nobody reads the last word
        if capacity > model.config.context:
            raise ValueError(
                f"a prompt of {prompt.shape[-1]} words leaves no room for {new_words} more "
                f"in the context of {model.config.context}"
            )
        capacity = min(_capacity(model, capacity), model.config.context)
        self._cache = model.cache(self.batch, capacity) if cached else None

    def start(self) -> Next:
        states = self._model.states(self._words, self._mask, self._cache, need_weights=self._weights)
        return _next(self._model, states, self._mask)  # padding may come after the prompt

    def read(self, words: Int[Tensor, " batch"]) -> Next:
        ids, mask = words.unsqueeze(1), None
        if self._cache is not None and _in_compiled_steps(self._model, self._weights):
            self._cache = self._cache.static()
            return Next(self._model(ids, cache=self._cache)[:, -1])
        if self._cache is None:
            ids = self._words = torch.cat([self._words, ids], dim=1)
            if self._mask is not None:
                mask = self._mask = torch.cat([self._mask, self._mask.new_ones(self.batch, 1)], dim=1)
        return _next(self._model, self._model.states(ids, mask, self._cache, need_weights=self._weights))


@continuation.register
def _writing(model: GPT, inputs: Tensor, new_words: int, *, cached: bool = True, weights: bool = False) -> Continuation:
    return _Writing(model, inputs, new_words, cached, weights)


def _words(
    prompt: Int[Tensor, "batch words"], padding_id: int | None, end_id: int | None
) -> Bool[Tensor, "batch words"] | None:
    """Where the prompts' words are; None where there is no padding among them.

    GPT-2 has no padding of its own, so prompts of different lengths are filled up with the end of a text. Before or
    after all the words of a prompt it counts as padding, unless every prompt has equally much of it.
    """
    if padding_id is not None:
        mask = prompt != padding_id
    elif end_id is not None:
        filled = prompt == end_id
        before, after = filled.cumprod(dim=1), filled.flip(1).cumprod(dim=1).flip(1)
        mask = (before + after) == 0
        if bool((mask == mask[:1]).all()):
            return None
    else:
        return None
    if bool(mask.all()):
        return None
    if not mask.any(dim=1).all():
        raise ValueError("a prompt has no words: one of the inputs is all padding")
    return mask


def _in_compiled_steps(model: Transformer | GPT, weights: bool) -> bool:
    """Whether each word is read by a compiled model, with a cache of fixed shape; then a new step begins here."""
    compiled = is_compiled(model) and not weights
    if compiled:
        torch.compiler.cudagraph_mark_step_begin()  # the logits of the step before are not needed any more
    return compiled


def _capacity(model: Transformer | GPT, words: int) -> int:
    """Room for so many words; for a compiled model in few sizes, since it is compiled anew for each."""
    return math.ceil(words / SIZES_APART) * SIZES_APART if is_compiled(model) else words


SIZES_APART = 64
"""How far apart a compiled model's caches are in size, in words."""


def _next(model: Transformer | GPT, states: States, mask: Bool[Tensor, "batch words"] | None = None) -> Next:
    """The logits of the word after the last one, with the rows of alpha that belong to it."""
    own = tuple(at_last_word(alpha.transpose(1, 2), mask) for alpha in states.self_alpha)
    cross = tuple(at_last_word(alpha.transpose(1, 2), mask) for alpha in states.cross_alpha)
    return Next(model.logits(at_last_word(states.states, mask)), own, cross)
