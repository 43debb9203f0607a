"""Grouped-query attention: several query heads share the keys and values of one head, so that a cache holds fewer.

    head_i = attention(x W_q_i, x W_k_g, x W_v_g)   g = ⌊i / group⌋

Ainslie et al. (2023), "GQA", section 2.2. With as many groups as heads this is multi-head attention, with one group
multi-query attention (Shazeer, 2019, "Fast Transformer Decoding"). Queries and keys may be normalized first (QK-norm),
so that no score grows too large: Dehghani et al. (2023), "Scaling Vision Transformers to 22 Billion Parameters",
section 2.
"""

from collections.abc import Callable

from jaxtyping import Bool, Float
from torch import Tensor, nn

from course_lib.multihead import KeysAndValues, MultiHeadAttention


def repeat_groups(x: Float[Tensor, "batch groups keys d_head"], heads: int) -> Float[Tensor, "batch heads keys d_head"]:
    """Repeat each group's keys, or values, for every head that shares them: a b with four heads becomes a a b b."""
    return x.repeat_interleave(heads // x.shape[1], dim=1)


class GroupedQueryAttention(MultiHeadAttention):
    """Self-attention in which `heads` queries share `key_value_heads` keys and values.

    Parameters:
        W_qkv: one linear layer from d_model to (heads + 2 key_value_heads) d_head: the rows of its weight are those of
            W_q, then of W_k, then of W_v.
        W_o: a linear layer from heads · d_head to d_model.
        q_norm, k_norm: the norms of queries and keys, with QK-norm.
    """

    def __init__(
        self,
        d_model: int,
        heads: int,
        key_value_heads: int | None = None,
        dropout: float = 0.0,
        *,
        d_head: int | None = None,
        bias: bool = False,
        qkv_bias: bool | None = None,
        norm: Callable[[int], nn.Module] | None = None,
    ) -> None:
        """Create projections for queries, and for fewer keys and values.

        Args:
            d_model: the length of a token's vector.
            heads: the number of heads for queries.
            key_value_heads: the number of heads for keys and values, a divisor of `heads`; None for as many.
            dropout: the share of attention weights that training drops.
            d_head: the length of a query; None for d_model / heads.
            bias: whether the layers have a bias.
            qkv_bias: whether W_qkv has a bias; None to follow `bias`.
            norm: makes the norm of queries and keys, from d_head; None for no QK-norm.
        """
        self.key_value_heads = heads if key_value_heads is None else key_value_heads
        self.qkv_bias = bias if qkv_bias is None else qkv_bias
        super().__init__(d_model, heads, dropout, bias=bias, d_head=d_head)
        self.q_norm = norm(self.d_head) if norm else nn.Identity()
        self.k_norm = norm(self.d_head) if norm else nn.Identity()

    def _make_projections(self, bias: bool) -> None:
        self.W_qkv = nn.Linear(self.d_model, sum(self._heads) * self.d_head, bias=self.qkv_bias)

    @property
    def _heads(self) -> list[int]:
        """The number of heads for queries, keys and values."""
        return [self.heads, self.key_value_heads, self.key_value_heads]

    def projections(self) -> tuple[Tensor, ...]:
        """Return the weights of W_q, W_k and W_v, each [its heads · d_head, d_model]."""
        weights: tuple[Tensor, ...] = self.W_qkv.weight.split([heads * self.d_head for heads in self._heads])
        return weights

    def _project(
        self, x: Float[Tensor, "batch tokens d_model"], memory: Tensor | KeysAndValues | None
    ) -> tuple[Float[Tensor, "batch heads tokens d_head"], KeysAndValues]:
        every_head = self.W_qkv(x).unflatten(-1, (-1, self.d_head)).transpose(1, 2)
        q, k, v = every_head.split(self._heads, dim=1)
        pairs = KeysAndValues(self.k_norm(k), v)
        if memory is not None:
            pairs = memory if isinstance(memory, KeysAndValues) else self.keys_and_values(memory)
        return self.q_norm(q), pairs

    def _attend_visibly(
        self,
        q: Float[Tensor, "batch heads queries d_head"],
        k: Float[Tensor, "batch groups keys d_head"],
        v: Float[Tensor, "batch groups keys d_head"],
        mask: Bool[Tensor, "..."] | None,
        is_causal: bool,
    ) -> tuple[Float[Tensor, "batch heads queries d_head"], Float[Tensor, "batch heads queries keys"]]:
        k, v = repeat_groups(k, self.heads), repeat_groups(v, self.heads)  # the fused kernel shares them without a copy
        return super()._attend_visibly(q, k, v, mask, is_causal)
