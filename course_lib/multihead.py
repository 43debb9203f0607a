"""Multi-head attention: several attentions side by side, each on its own learned projections.

    head_i = attention(x W_q_i, memory W_k_i, memory W_v_i)
    out    = concat(head_1, ..., head_h) W_o

Vaswani et al. (2017), section 3.2.2; slides S1 to S4. Attention itself has nothing to learn: every
parameter here belongs to one of the four projections.

`MultiHeadAttention` has W_q, W_k and W_v in one layer, so that one multiplication makes q, k and v. `CrossAttention`,
which makes q from other tokens than k and v, has a separate W_q.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from course_lib.attention import attention, weighted_values
from course_lib.ground.text_state import TextState
from course_lib.ground.validation import check_boolean, check_divisible
from course_lib.masking import causal_mask


def split_heads(x: Float[Tensor, "batch tokens d_model"], heads: int) -> Float[Tensor, "batch heads tokens d_head"]:
    """Cut each token's vector into `heads` pieces of d_head = d_model / heads, and put the heads before the tokens."""
    batch, tokens, d_model = x.shape
    return x.view(batch, tokens, heads, d_model // heads).transpose(1, 2)


def join_heads(x: Float[Tensor, "batch heads tokens d_head"]) -> Float[Tensor, "batch tokens d_model"]:
    """Join each token's pieces one after the other: the inverse of `split_heads`."""
    return x.transpose(1, 2).flatten(2)


def project(
    x: Float[Tensor, "... queries d_model"],
    memory: Float[Tensor, "... keys d_model"],
    W_q: Float[Tensor, "d_model d_key"],
    W_k: Float[Tensor, "d_model d_key"],
    W_v: Float[Tensor, "d_model d_value"],
) -> tuple[Float[Tensor, "... queries d_key"], Float[Tensor, "... keys d_key"], Float[Tensor, "... keys d_value"]]:
    """Project `x` to queries, and `memory` to keys and values: q = x W_q, k = memory W_k, v = memory W_v.

    In self-attention `memory` is `x`; in cross-attention (S2, S4) it is the source, and `x` the target. Slide S3 has
    tokens as columns, and writes the matrices on their left: K w_i, Q w_j, V w_i.
    """
    return x @ W_q, memory @ W_k, memory @ W_v


@dataclass(frozen=True)
class KeysAndValues:
    """Keys and values, projected and cut into heads.

    Attributes:
        keys: one for each token of the memory.
        values: likewise.
    """

    keys: Float[Tensor, "batch heads keys d_head"]
    values: Float[Tensor, "batch heads keys d_head"]


Rotate = Callable[[Float[Tensor, "batch heads tokens d_head"]], Float[Tensor, "batch heads tokens d_head"]]
"""Turns each query, or each key, by its token's position."""


class LayerKVCache(TextState):
    """The keys and values of the tokens read so far, so that each token is projected once.

    All memory is allocated at the start; a step writes one column and gets a view of the filled ones.

    Attributes:
        batch: the number of texts.
        length: the number of filled columns, padding included.
        capacity: the number of columns.
        keys, values: all columns, filled or not, [batch, heads, capacity, d_head].
    """

    of_tokens = ("keys", "values")

    def __init__(
        self,
        batch: int,
        heads: int,
        capacity: int,
        d_head: int,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        self.batch = batch
        self.length = 0
        self.capacity = capacity
        self.keys = torch.empty(batch, heads, capacity, d_head, device=device, dtype=dtype)
        self.values = torch.empty_like(self.keys)

    def append(
        self, k: Float[Tensor, "batch heads tokens d_head"], v: Float[Tensor, "batch heads tokens d_head"]
    ) -> KeysAndValues:
        """Add the next tokens' keys and values; return all so far, as views.

        Raises:
            ValueError: there is no room for them; nothing is written.
        """
        tokens = k.shape[2]
        start, end = self.length, self.length + tokens
        if end > self.capacity:
            raise ValueError(f"the cache has room for {self.capacity} tokens, not {end}: make it larger at the start")
        self.keys.narrow(2, start, tokens).copy_(k)
        self.values.narrow(2, start, tokens).copy_(v)
        self.length = end
        return KeysAndValues(self.keys.narrow(2, 0, end), self.values.narrow(2, 0, end))


@dataclass(frozen=True)
class MultiHeadOutput:
    """The output of multi-head attention.

    Attributes:
        out: the new vector of each query.
        alpha: each head's attention weights; None unless asked for, since the fused kernel never stores them.
    """

    out: Float[Tensor, "batch queries d_model"]
    alpha: Float[Tensor, "batch heads queries keys"] | None = None


class MultiHeadAttention(nn.Module):
    """Self-attention with several heads; given `memory`, cross-attention, for which `CrossAttention` computes less.

    Parameters:
        W_qkv: one linear layer from d_model to 3 · heads · d_head: the rows of its weight are those of W_q, then of
            W_k, then of W_v. Head i owns the i-th d_head rows of each.
        W_o: a linear layer from heads · d_head to d_model; head i owns the i-th d_head columns of its weight.
    """

    def __init__(
        self, d_model: int, heads: int, dropout: float = 0.0, *, bias: bool = True, d_head: int | None = None
    ) -> None:
        """Create the four projections.

        Args:
            d_model: the length of a token's vector.
            heads: the number of heads, which divide `d_model` among them.
            dropout: the probability of dropping an attention weight in training: 0 in the paper, 0.1 in GPT-2 and BERT.
            bias: whether each layer has a bias.
            d_head: the length of a query, a key and a value in each head; None for d_model / heads.

        Raises:
            ValueError: `d_model` cannot be divided by `heads`.
        """
        super().__init__()
        if d_head is None:
            check_divisible(d_model, heads)
        self.d_model = d_model
        self.heads = heads
        self.d_head = d_model // heads if d_head is None else d_head
        self.dropout = dropout
        self._make_projections(bias)
        self.W_o = nn.Linear(heads * self.d_head, d_model, bias=bias)

    def _make_projections(self, bias: bool) -> None:
        self.W_qkv = nn.Linear(self.d_model, 3 * self.heads * self.d_head, bias=bias)

    def projections(self) -> tuple[Tensor, ...]:
        """Return the weights of W_q, W_k and W_v, each [heads · d_head, d_model]."""
        return self.W_qkv.weight.chunk(3)

    def forward(
        self,
        x: Float[Tensor, "batch queries d_model"],
        memory: Float[Tensor, "batch keys d_model"] | KeysAndValues | None = None,
        mask: Bool[Tensor, "..."] | None = None,
        *,
        is_causal: bool = False,
        kv_cache: LayerKVCache | None = None,
        rotate: Rotate | None = None,
        need_weights: bool = False,
    ) -> MultiHeadOutput:
        """Attend from every token of `x`.

        Args:
            x: where the queries come from.
            memory: where the keys *and* the values come from, or the keys and values themselves, if they were made in
                advance; None for self-attention, where it is `x`.
            mask: True where a query may attend; [queries, keys] for all, [batch, queries, keys] for all
                heads, or [batch, heads, queries, keys]. Each dimension may also be 1.
            is_causal: replaces a causal `mask`; only for equal numbers of queries and keys.
            kv_cache: for self-attention, holds the tokens before `x`; those of `x` are added, and queries attend to all
                of them.
            rotate: turns queries and keys by the positions of the tokens of `x`; None if positions were added to the
                embeddings.
            need_weights: take the explicit path and return alpha too; `out` is the same.

        Raises:
            TypeError: `mask` is not boolean.
            ValueError: `is_causal` is combined with a mask or with unequal numbers of queries and keys, or the cache is
                full.
        """
        q, pairs = self._project(x, memory)
        if rotate is not None:
            q, pairs = rotate(q), KeysAndValues(rotate(pairs.keys), pairs.values)
        if kv_cache is not None:
            pairs = kv_cache.append(pairs.keys, pairs.values)
        k, v = pairs.keys, pairs.values
        if is_causal and (mask is not None or q.shape[2] != k.shape[2]):  # torch would align its mask at the top left
            raise ValueError("is_causal is for as many keys as queries, without a mask: pass a causal mask instead")
        if mask is not None:
            check_boolean(mask)  # torch would add a mask of numbers
            mask = _for_every_head(mask)
        if need_weights:
            out, alpha = self._attend_visibly(q, k, v, mask, is_causal)
        else:
            dropout, alpha = self.dropout if self.training else 0.0, None
            grouped = q.shape[1] != k.shape[1]
            out = F.scaled_dot_product_attention(q, k, v, mask, dropout, is_causal, enable_gqa=grouped)
        return MultiHeadOutput(self.W_o(out.transpose(1, 2).flatten(2)), alpha)

    def keys_and_values(self, memory: Float[Tensor, "batch keys d_model"]) -> KeysAndValues:
        """Return the memory's keys and values: a decoder makes them once and uses them at every step."""
        return self._project(memory, None)[1]

    def _project(
        self, x: Float[Tensor, "batch queries d_model"], memory: Tensor | KeysAndValues | None
    ) -> tuple[Float[Tensor, "batch heads queries d_head"], KeysAndValues]:
        batch, queries, _ = x.shape
        q, k, v = self.W_qkv(x).view(batch, queries, 3, self.heads, self.d_head).permute(2, 0, 3, 1, 4).unbind()
        if memory is None:
            return q, KeysAndValues(k, v)
        return q, memory if isinstance(memory, KeysAndValues) else self.keys_and_values(memory)

    def _attend_visibly(
        self,
        q: Float[Tensor, "batch heads queries d_head"],
        k: Float[Tensor, "batch heads keys d_head"],
        v: Float[Tensor, "batch heads keys d_head"],
        mask: Bool[Tensor, "..."] | None,
        is_causal: bool,
    ) -> tuple[Float[Tensor, "batch heads queries d_head"], Float[Tensor, "batch heads queries keys"]]:
        """Take the explicit path; return the heads' outputs, and alpha before dropout."""
        if is_causal:
            mask = causal_mask(q.shape[2], device=q.device)
        alpha = attention(q, k, v, mask).alpha
        return weighted_values(F.dropout(alpha, self.dropout, self.training), v), alpha


class CrossAttention(MultiHeadAttention):
    """Attention to other tokens, the memory: `MultiHeadAttention` with one layer for `x` and one for the memory.

    Parameters:
        W_q: a linear layer from d_model to heads · d_head, for the queries.
        W_kv: a linear layer from d_model to 2 · heads · d_head, for the memory: the rows of W_k, then those of W_v.
        W_o: as in `MultiHeadAttention`.
    """

    def _make_projections(self, bias: bool) -> None:
        width = self.heads * self.d_head
        self.W_q = nn.Linear(self.d_model, width, bias=bias)
        self.W_kv = nn.Linear(self.d_model, 2 * width, bias=bias)

    def projections(self) -> tuple[Tensor, ...]:
        """Return the weights of W_q, W_k and W_v, each [heads · d_head, d_model]."""
        return (self.W_q.weight, *self.W_kv.weight.chunk(2))

    def keys_and_values(self, memory: Float[Tensor, "batch keys d_model"]) -> KeysAndValues:
        """Return the memory's keys and values: a decoder makes them once and uses them at every step."""
        batch, keys, _ = memory.shape
        k, v = self.W_kv(memory).view(batch, keys, 2, self.heads, self.d_head).permute(2, 0, 3, 1, 4).unbind()
        return KeysAndValues(k, v)

    def _project(
        self, x: Float[Tensor, "batch queries d_model"], memory: Tensor | KeysAndValues | None
    ) -> tuple[Float[Tensor, "batch heads queries d_head"], KeysAndValues]:
        memory = x if memory is None else memory
        pairs = memory if isinstance(memory, KeysAndValues) else self.keys_and_values(memory)
        return split_heads(self.W_q(x), self.heads), pairs


def _for_every_head(mask: Bool[Tensor, "..."] | None) -> Bool[Tensor, "..."] | None:
    """Give a mask of [batch, queries, keys] a dimension for heads, so that it holds for all of them."""
    return mask.unsqueeze(1) if mask is not None and mask.dim() == 3 else mask
