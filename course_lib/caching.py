"""What a model has read so far, kept so that each word is read once: a key-value cache for every block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from course_lib.blocks import BlockConfig
from course_lib.ground.text_state import TextState
from course_lib.multihead import KeysAndValues, KeyValueCache


@dataclass
class TextCache(TextState):
    """The caches of a model's blocks, and where among the words there is padding.

    Attributes:
        blocks: each block's keys and values of the words read so far.
        batch: how many texts there are.
        capacity: how many words there is room for, padding included.
        memory: each block's keys and values of the source, for cross-attention; empty without a source.
        mask: True at words and at columns that are still free, False at padding; None while there is none.
    """

    blocks: tuple[KeyValueCache, ...]
    batch: int
    capacity: int
    memory: tuple[KeysAndValues, ...] = ()
    mask: Bool[Tensor, "batch capacity"] | None = None

    of_source: ClassVar = ("memory",)
    of_words: ClassVar = ("blocks", "mask")

    @classmethod
    def empty(
        cls,
        config: BlockConfig,
        layers: int,
        batch: int,
        capacity: int,
        like: Tensor,
        memory: tuple[KeysAndValues, ...] = (),
    ) -> TextCache:
        """Room for `capacity` words of `batch` texts in each of `layers` blocks, with the device and dtype of `like`.

        Raises:
            ValueError: there is not even room for one word.
        """
        if capacity < 1:
            raise ValueError(f"a cache needs room for at least one word, not for {capacity}")
        d_head = config.d_model // config.heads
        blocks = (KeyValueCache(batch, config.heads, capacity, d_head, like.device, like.dtype) for _ in range(layers))
        return cls(tuple(blocks), batch, capacity, memory)

    @property
    def length(self) -> int:
        """How many words have been read, padding included."""
        return self.blocks[0].length if self.blocks else 0

    def require_room(self, batch: int, words: int) -> None:
        """Refuse words that do not fit, before any block has taken them.

        Raises:
            ValueError: there are too many of them, or a different number of texts.
        """
        if batch != self.batch:
            raise ValueError(f"the cache holds {self.batch} texts, but {batch} go on")
        if self.length + words > self.capacity:
            raise ValueError(f"the cache has room for {self.capacity} words, not {self.length + words}")

    def see(self, mask: Bool[Tensor, "batch words"] | None, ids: Int[Tensor, "batch words"]) -> Tensor | None:
        """Where the words up to the last of `ids` are not padding, [batch, keys]; None if none is."""
        if mask is None and self.mask is None:
            return None
        if self.mask is None:
            self.mask = torch.ones(self.batch, self.capacity, dtype=torch.bool, device=ids.device)
        end = self.length + ids.shape[1]
        if mask is not None:
            self.mask[:, self.length : end] = mask
        return self.mask[:, :end]
