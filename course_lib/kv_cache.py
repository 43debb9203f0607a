"""Key-value caches: what every block of a model has read, so that each token is read once.

There are two caches with the same contents. `KVCache` shows its blocks only the filled columns, which takes the least
computation. `StaticKVCache` shows them all columns and a mask, so every step has the same shapes: it can be compiled
once and replayed (on a GPU, as a CUDA graph), and never waits for the device.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from course_lib.blocks import BlockConfig
from course_lib.ground.text_state import TextState
from course_lib.multihead import KeysAndValues, LayerKVCache


@dataclass(frozen=True)
class PositionsAndMask:
    """The positions of the tokens that a causal model reads next, and what they may attend to.

    Attributes:
        start: the number of tokens before these, padding included.
        position_ids: each token's position, if padding or documents make it differ from start, start + 1, ...
        key_position_ids: likewise, the position of each token that may be attended to.
        mask: where a token may attend; None for everywhere, or if `is_causal`.
        is_causal: a flag in place of the mask; right only if no tokens came before, since torch aligns its own mask at
            the top left.
    """

    start: int
    position_ids: Int[Tensor, "batch tokens"] | None = None
    key_position_ids: Int[Tensor, "batch keys"] | None = None
    mask: Bool[Tensor, "..."] | None = None
    is_causal: bool = False

    @classmethod
    def after(
        cls, start: int, tokens: int, mask: Bool[Tensor, "batch keys"] | None, device: torch.device
    ) -> PositionsAndMask:
        """Return the positions and mask of `tokens` tokens after `start` others; `mask` is False at padding."""
        if mask is None and tokens == 1:
            return cls(start)
        if mask is None and start == 0:
            return cls(start, is_causal=True)
        causal = torch.ones(tokens, start + tokens, dtype=torch.bool, device=device).tril(start)
        if mask is None:
            return cls(start, mask=causal)
        keys = _position_ids(mask)
        return cls(start, keys[:, start:], keys, causal & mask.unsqueeze(1))

    @classmethod
    def packed(cls, documents: Int[Tensor, "batch tokens"]) -> PositionsAndMask:
        """Return the positions and mask of rows of several texts: none attends to another, and each begins at 0."""
        from course_lib.modern.documents import document_mask, document_positions

        position_ids = document_positions(documents)
        return cls(0, position_ids, position_ids, document_mask(position_ids))

    def of_queries_and_keys(
        self, tokens: int, device: torch.device
    ) -> tuple[Int[Tensor, "... tokens"], Int[Tensor, "... keys"]]:
        """Return the position of each token and of each key, computed where it is not stored."""
        if self.position_ids is None or self.key_position_ids is None:
            keys = torch.arange(self.start + tokens, device=device)
            return keys[self.start :], keys
        return self.position_ids, self.key_position_ids


def _position_ids(mask: Bool[Tensor, "batch keys"]) -> Int[Tensor, "batch keys"]:
    """Count tokens from 0; padding has the position of the token before it, or 0."""
    return (mask.cumsum(dim=1) - 1).clamp(min=0)


@dataclass
class KVCache(TextState):
    """The caches of a model's blocks, and where among the tokens there is padding.

    Attributes:
        blocks: each block's keys and values of the tokens read so far.
        batch: the number of texts.
        capacity: the number of tokens that fit, padding included.
        memory: each block's keys and values of the source, for cross-attention; empty without a source.
        mask: True at tokens and at columns that are still free, False at padding; None while there is no padding.
    """

    blocks: tuple[LayerKVCache, ...]
    batch: int
    capacity: int
    memory: tuple[KeysAndValues, ...] = ()
    mask: Bool[Tensor, "batch capacity"] | None = None

    of_source: ClassVar = ("memory",)
    of_tokens: ClassVar = ("blocks", "mask")

    @classmethod
    def empty(
        cls,
        config: BlockConfig,
        layers: int,
        batch: int,
        capacity: int,
        like: Tensor,
        memory: tuple[KeysAndValues, ...] = (),
    ) -> KVCache:
        """Return a cache for `capacity` tokens of `batch` texts in each block, with the device and dtype of `like`.

        Raises:
            ValueError: `capacity` is below 1.
        """
        if capacity < 1:
            raise ValueError(f"a cache needs room for at least one token, not for {capacity}")
        blocks = (
            LayerKVCache(batch, config.kv_heads, capacity, config.head_dim, like.device, like.dtype)
            for _ in range(layers)
        )
        return cls(tuple(blocks), batch, capacity, memory)

    @property
    def length(self) -> int:
        """The number of tokens read, padding included."""
        return self.blocks[0].length if self.blocks else 0

    def advance(self, mask: Bool[Tensor, "batch tokens"] | None, ids: Int[Tensor, "batch tokens"]) -> PositionsAndMask:
        """Return the positions and mask of `ids`, which follow the tokens already read; record their padding.

        Raises:
            ValueError: there are too many tokens, or another number of texts; raised before any block reads them.
        """
        batch, tokens = ids.shape
        if batch != self.batch:
            raise ValueError(f"the cache holds {self.batch} texts, but {batch} go on")
        if self.length + tokens > self.capacity:
            raise ValueError(f"the cache has room for {self.capacity} tokens, not {self.length + tokens}")
        return PositionsAndMask.after(self.length, tokens, self._padding_mask(mask, ids), ids.device)

    def _padding_mask(
        self, mask: Bool[Tensor, "batch tokens"] | None, ids: Int[Tensor, "batch tokens"]
    ) -> Tensor | None:
        """Return a mask of all tokens up to the last of `ids`; None if none is padding."""
        if mask is None and self.mask is None:
            return None
        if self.mask is None:
            self.mask = torch.ones(self.batch, self.capacity, dtype=torch.bool, device=ids.device)
        end = self.length + ids.shape[1]
        if mask is not None:
            self.mask[:, self.length : end] = mask
        return self.mask[:, :end]

    def forget(self, columns: int) -> None:
        """Drop the last columns, such as padding after a prompt; the next tokens are written there."""
        for block in self.blocks:
            block.length -= columns

    def static(self, kept: StaticKVCache | None = None) -> StaticKVCache:
        """Return a static cache with the same texts; this cache must not be used any more.

        Args:
            kept: the static cache of finished texts. If it has the same shapes, it takes over these texts, so that its
                tensors stay where they are in memory.
        """
        filled = torch.full((1,), self.length, device=self.blocks[0].keys.device)
        tokens = torch.ones(self.batch, self.capacity, dtype=torch.bool, device=filled.device)
        mask = tokens if self.mask is None else self.mask
        mask[:, self.length :] = False  # the columns that are still free
        blocks = tuple(StaticLayerKVCache(block, filled) for block in self.blocks)
        new = StaticKVCache(blocks, self.batch, self.capacity, self.memory, mask, filled)
        if kept is not None and kept.takes(new):
            return kept
        if filled.is_cuda:  # a CUDA graph reads and writes the same place in every replay
            for tensor in new.tensors():
                torch._dynamo.mark_static_address(tensor, guard=False)
        return new


@dataclass
class StaticKVCache(KVCache):
    """A key-value cache of fixed shapes: its blocks show all their columns, and `mask` is False at free ones.

    Attributes:
        filled: the number of filled columns, [1], on the device; the caller ensures that there is room.
    """

    filled: Int[Tensor, " 1"] = field(default_factory=partial(torch.zeros, 1, dtype=torch.long))

    @property
    def length(self) -> int:
        """The number of tokens read, padding included; reading it makes the program wait for the device."""
        return int(self.filled)

    def tensors(self) -> list[Tensor]:
        """Return all its tensors."""
        assert self.mask is not None
        pairs: tuple[LayerKVCache | KeysAndValues, ...] = (*self.blocks, *self.memory)
        return [self.filled, self.mask, *(tensor for pair in pairs for tensor in (pair.keys, pair.values))]

    def takes(self, other: StaticKVCache) -> bool:
        """Copy the other cache into this one if the shapes match; return whether they do."""
        pairs = list(zip(self.tensors(), other.tensors(), strict=True))
        same = all((mine.shape, mine.dtype, mine.device) == (new.shape, new.dtype, new.device) for mine, new in pairs)
        if same:
            for mine, new in pairs:
                mine.copy_(new)
        return same

    def select(self, rows: Int[Tensor, " batch"]) -> None:
        """Let text i continue text `rows[i]`, in the same place in memory."""
        assert self.mask is not None
        self.mask.copy_(self.mask[rows])
        for block in self.blocks:
            block.select(rows)

    def advance(self, mask: Bool[Tensor, "batch tokens"] | None, ids: Int[Tensor, "batch tokens"]) -> PositionsAndMask:
        """Return the positions and mask of `ids`, which follow the tokens already read, without checking for room."""
        tokens = ids.shape[1]
        columns = self.filled + torch.arange(tokens, device=ids.device)
        self.filled.add_(tokens)
        assert self.mask is not None
        self.mask.index_fill_(1, columns, True) if mask is None else self.mask.index_copy_(1, columns, mask)
        before = torch.arange(self.capacity, device=ids.device) <= columns.unsqueeze(1)
        keys = _position_ids(self.mask)
        return PositionsAndMask(
            self.capacity - tokens, keys.index_select(1, columns), keys, before & self.mask.unsqueeze(1)
        )


class StaticLayerKVCache(LayerKVCache):
    """A block's keys and values; every step sees all columns."""

    def __init__(self, block: LayerKVCache, filled: Int[Tensor, " 1"]) -> None:
        """Take over a cache's columns; `filled` counts those in use, including those of the tokens being read."""
        self.batch, self.capacity, self.keys, self.values = block.batch, block.capacity, block.keys, block.values
        self.length = 0
        self._filled = filled
        for held in (self.keys, self.values):
            held[:, :, block.length :] = 0  # memory may have held NaN, which a weight of 0 does not remove

    def append(
        self, k: Float[Tensor, "batch heads tokens d_head"], v: Float[Tensor, "batch heads tokens d_head"]
    ) -> KeysAndValues:
        """Add the newest tokens' keys and values; return all columns, including those without tokens."""
        tokens = k.shape[2]
        columns = self._filled - tokens + torch.arange(tokens, device=k.device)
        self.keys.index_copy_(2, columns, k)
        self.values.index_copy_(2, columns, v)
        return KeysAndValues(self.keys, self.values)

    def select(self, rows: Int[Tensor, " batch"]) -> None:
        """Let text i continue text `rows[i]`, in the same place in memory."""
        self.keys.copy_(self.keys[rows])
        self.values.copy_(self.values[rows])
