"""A batch of texts that a model goes on writing: one interface to every model, with a key-value cache or without.

`Transformer` writes a translation of its input, `GPT` continues it. Decoding (greedy, beam, sampling) needs to
know no more about a model than this.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import singledispatch

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_lib.ground.refusals import require_at_least, require_ids
from course_lib.ground.text_state import TextState
from course_lib.masking import at_last_word
from course_lib.models import GPT, Encoded, GPTConfig, States, Transformer


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
        end_ids: the ids that end a text; none where texts have no end.
        padding_id: what comes after a text that has ended.
        first: the ids that the first text begins with, before anything is written.
    """

    device: torch.device
    end_ids: tuple[int, ...]
    padding_id: int
    first: tuple[int, ...]

    @abstractmethod
    def start(self) -> Next:
        """Read what is given; what the model says about the first word to write."""

    @abstractmethod
    def read(self, words: Int[Tensor, " batch"]) -> Next:
        """Read one more word of each text; what the model says about the word after it."""

    def close(self) -> None:
        """Nothing more will be read."""

    def has_ended(self, words: Int[Tensor, " rows"]) -> Bool[Tensor, " rows"]:
        """Which of these words end their text."""
        ended = torch.zeros_like(words, dtype=torch.bool)
        for end in self.end_ids:
            ended |= words == end
        return ended


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


class Translation(Continuation):
    """The target of an encoder-decoder, which goes on with a key-value cache, or by reading all its words again."""

    of_source = ("_encoded",)
    of_words = ("_words", "_cache")

    def __init__(self, model: Transformer, source: Tensor, new_words: int, cached: bool, weights: bool) -> None:
        require_at_least(1, max_length=new_words)
        require_ids(source, model.config.source_vocabulary, "source", wait=True)
        self._model, self._weights = model, weights
        self._encoded = self._encode(source)
        self._cache = model.cache(self._encoded, new_words) if cached else None
        self.batch, self.device = len(source), source.device
        self.end_ids, self.padding_id = (model.config.end_id,), model.config.padding_id
        self.first = (model.config.start_id,)
        self._words = torch.empty(self.batch, 0, dtype=torch.long, device=self.device)

    def _encode(self, source: Int[Tensor, "batch source"]) -> Encoded:
        return self._model.encode(source)

    def start(self) -> Next:
        """Read <s>."""
        return self._read(torch.full((self.batch, 1), self._model.config.start_id, device=self.device))

    def read(self, words: Int[Tensor, " batch"]) -> Next:
        """Read one more word of each translation."""
        return self._read(words.unsqueeze(1))

    def _read(self, target: Int[Tensor, "batch 1"]) -> Next:
        if self._cache is None:
            target = self._words = torch.cat([self._words, target], dim=1)
        states = self._model.target_states(target, self._encoded, self._cache, need_weights=self._weights)
        return next_word(self._model, states)


@continuation.register
def _translation(
    model: Transformer, inputs: Tensor, new_words: int, *, cached: bool = True, weights: bool = False
) -> Continuation:
    return Translation(model, inputs, new_words, cached, weights)


class _Text(Continuation):
    """A language model's text: its prompt, and where in it there is padding."""

    def __init__(self, model: GPT, prompt: Tensor, new_words: int, mask: Tensor | None, weights: bool) -> None:
        require_at_least(1, max_length=new_words)
        require_ids(prompt, model.config.vocabulary, "the prompt", wait=True)
        self._model, self._weights = model, weights
        self.batch, self.device = len(prompt), prompt.device
        self.end_ids = model.config.end_ids
        own = model.config.padding_id
        self.padding_id = next(iter(self.end_ids), 0) if own is None else own
        self.first = tuple(prompt[0].tolist())
        self._words = prompt
        self._mask = prompt_mask(prompt, model.config) if mask is None else _where_there_is_padding(mask)

    def _append(self, words: Int[Tensor, " batch"]) -> None:
        self._words = torch.cat([self._words, words.unsqueeze(1)], dim=1)
        if self._mask is not None:
            self._mask = torch.cat([self._mask, self._mask.new_ones(self.batch, 1)], dim=1)

    def _read_last(self, count: int) -> Next:
        mask = None if self._mask is None else self._mask[:, -count:]
        states = self._model.states(self._words[:, -count:], mask, need_weights=self._weights)
        return next_word(self._model, states, mask)


class Writing(_Text):
    """A text within the context, which goes on with a key-value cache, or by reading all its words again."""

    of_words = ("_words", "_mask", "_cache")

    def __init__(
        self, model: GPT, prompt: Tensor, new_words: int, cached: bool, weights: bool, mask: Tensor | None
    ) -> None:
        super().__init__(model, prompt, new_words, mask, weights)
        capacity = prompt.shape[-1] + new_words - 1  # nobody reads the last word
        if capacity > model.config.context:
            raise ValueError(
                f"a prompt of {prompt.shape[-1]} words leaves no room for {new_words} more in the context of "
                f"{model.config.context}; model.generate goes on past it with past_context=True"
            )
        self._cache = model.cache(self.batch, self._room(capacity)) if cached else None

    def start(self) -> Next:
        """Read the prompts."""
        states = self._model.states(self._words, self._mask, self._cache, need_weights=self._weights)
        return next_word(self._model, states, self._mask)  # padding may come after the prompt

    def _room(self, capacity: int) -> int:
        """How many words the cache is made for."""
        return capacity

    def read(self, words: Int[Tensor, " batch"]) -> Next:
        """Read one more word of each text."""
        if self._cache is None:
            self._append(words)
            return self._read_last(self._words.shape[1])
        states = self._model.states(words.unsqueeze(1), None, self._cache, need_weights=self._weights)
        return next_word(self._model, states)


class _PastContext(_Text):
    """A text of any length: each word is predicted from the last `context` words.

    While they are all there is, the text goes on as any other. From then on a word that leaves changes what every
    other has seen of it, and its position, so that no key or value can be kept: each step reads them all.
    """

    of_words = ("_words", "_mask", "_within")

    def __init__(
        self, model: GPT, prompt: Tensor, new_words: int, cached: bool, weights: bool, mask: Tensor | None
    ) -> None:
        super().__init__(model, prompt, new_words, mask, weights)
        if self._mask is not None:
            self._words, self._mask = _padding_first(prompt, self._mask)
        self._context = model.config.context
        room = self._context - prompt.shape[1] + 1
        every = torch.ones_like(prompt, dtype=torch.bool) if self._mask is None else self._mask
        keeps = cached and room >= 1
        self._within = Writing(model, self._words, min(room, new_words), True, weights, every) if keeps else None

    def start(self) -> Next:
        return self._read_last(self._context) if self._within is None else self._within.start()

    def read(self, words: Int[Tensor, " batch"]) -> Next:
        self._append(words)
        if self._words.shape[1] > self._context:
            self._within = None
        return self._read_last(self._context) if self._within is None else self._within.read(words)


@continuation.register
def prompt_continuation(
    model: GPT,
    inputs: Tensor,
    new_words: int,
    *,
    cached: bool = True,
    weights: bool = False,
    mask: Bool[Tensor, "batch words"] | None = None,
    past_context: bool = False,
) -> Continuation:
    """The texts that a `GPT` writes, with two more settings than `continuation` has for every model.

    Args:
        model, inputs, new_words, cached, weights: as for `continuation`.
        mask: True at the prompts' words, False at padding; None to find the padding by its id.
        past_context: go on past the context, each word predicted from the last `context` words. From there on they are
            all read again at every step.
    """
    kind = _PastContext if past_context else Writing
    return kind(model, inputs, new_words, cached, weights, mask)


def prompt_mask(prompt: Int[Tensor, "batch words"], config: GPTConfig) -> Bool[Tensor, "batch words"] | None:
    """Where the prompts' words are; None where there is no padding among them.

    GPT-2 has no padding of its own, so prompts of different lengths are filled up with the end of a text. Before or
    after all the words of a prompt it counts as padding, unless every prompt has equally much of it.

    Raises:
        ValueError: a prompt has no words.
    """
    if config.padding_id is not None:
        return _where_there_is_padding(prompt != config.padding_id)
    if not config.end_ids:
        return None
    filled = torch.isin(prompt, torch.tensor(config.end_ids, device=prompt.device))
    before, after = filled.cumprod(dim=1), filled.flip(1).cumprod(dim=1).flip(1)
    mask = (before + after) == 0
    return None if bool((mask == mask[:1]).all()) else _where_there_is_padding(mask)


def _where_there_is_padding(mask: Bool[Tensor, "batch words"]) -> Bool[Tensor, "batch words"] | None:
    """The mask, or None where it hides nothing."""
    if bool(mask.all()):
        return None
    if not mask.any(dim=1).all():
        raise ValueError("a prompt has no words: one of the inputs is all padding")
    return mask


def _padding_first(words: Int[Tensor, "batch words"], mask: Bool[Tensor, "batch words"]) -> tuple[Tensor, Tensor]:
    """The words of every text at the end of its row, so that the last columns are the last words."""
    order = mask.long().argsort(dim=1, stable=True)
    return words.gather(1, order), mask.gather(1, order)


def next_word(model: Transformer | GPT, states: States, mask: Bool[Tensor, "batch words"] | None = None) -> Next:
    """The logits of the word after the last one, with the rows of alpha that belong to it."""
    own = tuple(at_last_word(alpha.transpose(1, 2), mask) for alpha in states.self_alpha)
    cross = tuple(at_last_word(alpha.transpose(1, 2), mask) for alpha in states.cross_alpha)
    return Next(model.logits(at_last_word(states.states, mask)), own, cross)
