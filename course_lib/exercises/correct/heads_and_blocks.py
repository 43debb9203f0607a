"""Right answers to the exercises of lesson 04 (`course_lib/exercises/heads_and_blocks.py`)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
import torch
import torch.nn.functional as F
from torch import Tensor, nn

Function = Callable[[Tensor], Tensor]
Three = tuple[Tensor, Tensor, Tensor]

# heads_and_blocks.project


def _project_by_einsum(x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> Three:
    q = torch.einsum("...wd,de->...we", x, W_q)
    k, v = (torch.einsum("...wd,de->...we", memory, W) for W in (W_k, W_v))
    return q, k, v


def _project_by_linear(x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> Three:
    return F.linear(x, W_q.T), F.linear(memory, W_k.T), F.linear(memory, W_v.T)


def _project_keys_and_values_at_once(x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> Three:
    both = memory @ torch.cat([W_k, W_v], dim=1)
    k, v = both.split([W_k.shape[1], W_v.shape[1]], dim=-1)
    return torch.matmul(x, W_q), k, v


def _project_in_double(x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> Three:
    q, k, v = ((y.double() @ W.double()).to(y.dtype) for y, W in ((x, W_q), (memory, W_k), (memory, W_v)))
    return q, k, v


def _project_in_numpy(x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> Three:
    pairs = ((x, W_q), (memory, W_k), (memory, W_v))
    q, k, v = (torch.from_numpy(y.numpy() @ W.numpy()) for y, W in pairs)
    return q, k, v


def _project_word_by_word(x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> Three:
    def each(y: Tensor, W: Tensor) -> Tensor:
        words = [W.T @ word for word in y.reshape(-1, y.shape[-1])]
        return torch.stack(words).reshape(*y.shape[:-1], W.shape[1])

    return each(x, W_q), each(memory, W_k), each(memory, W_v)


def _project_as_the_slide(x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> Three:
    return (W_q.T @ x.mT).mT, (W_k.T @ memory.mT).mT, (W_v.T @ memory.mT).mT


def _project_by_broadcasting(x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> Three:
    q, k, v = ((y.unsqueeze(-1) * W).sum(dim=-2) for y, W in ((x, W_q), (memory, W_k), (memory, W_v)))
    return q, k, v


PROJECT = (
    _project_by_einsum,
    _project_by_linear,
    _project_keys_and_values_at_once,
    _project_in_double,
    _project_in_numpy,
    _project_word_by_word,
    _project_as_the_slide,
    _project_by_broadcasting,
)


# heads_and_blocks.split_heads


def _split_by_loop(x: Tensor, heads: int) -> Tensor:
    d_head = x.shape[-1] // heads
    return torch.stack([x[:, :, head * d_head : (head + 1) * d_head] for head in range(heads)], dim=1)


def _split_in_place(x: Tensor, heads: int) -> Tensor:
    batch, words, d_model = x.shape
    out = torch.empty(batch, heads, words, d_model // heads, dtype=x.dtype)
    for head, piece in enumerate(x.split(d_model // heads, dim=-1)):
        out[:, head] = piece
    return out


def _split_by_unfolding(x: Tensor, heads: int) -> Tensor:
    d_head = x.size(2) // heads
    return x.unfold(2, d_head, d_head).permute(0, 2, 1, 3)


def _split_in_numpy(x: Tensor, heads: int) -> Tensor:
    batch, words, d_model = x.shape
    return torch.from_numpy(x.numpy().reshape(batch, words, heads, d_model // heads).swapaxes(1, 2))


SPLIT_HEADS = (
    _split_by_loop,
    _split_in_place,
    _split_by_unfolding,
    _split_in_numpy,
    lambda x, heads: torch.stack(x.chunk(heads, dim=-1), dim=1),
    lambda x, heads: x.unflatten(-1, (heads, -1)).transpose(1, 2),
    lambda x, heads: x.reshape(x.shape[0], x.shape[1], heads, -1).permute(0, 2, 1, 3).contiguous(),
    lambda x, heads: torch.einsum("bwhd->bhwd", x.view(*x.shape[:2], heads, x.shape[2] // heads)),
    lambda x, heads: torch.func.vmap(lambda sentence: sentence.unflatten(1, (heads, -1)).movedim(1, 0))(x),
)


# heads_and_blocks.multi_head_attention

Maybe = Tensor | None


def _heads_by_loop(
    x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, heads: int, mask: Maybe
) -> Tensor:
    d_head = x.shape[-1] // heads
    pieces = []
    for head in range(heads):
        own = slice(head * d_head, (head + 1) * d_head)
        q, k, v = x @ W_q[:, own], memory @ W_k[:, own], memory @ W_v[:, own]
        scaled = q @ k.transpose(-2, -1) / math.sqrt(d_head)
        if mask is not None:
            scaled = scaled.masked_fill(~mask, -math.inf)
        pieces.append(torch.softmax(scaled, dim=-1) @ v)
    return torch.cat(pieces, dim=-1) @ W_o


def _heads_summed(
    x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, heads: int, mask: Maybe
) -> Tensor:
    """The concatenation times W_o is a sum over the heads, each with its own rows of W_o."""
    out = torch.zeros_like(x)
    for Q, K, V, O in zip(  # noqa: E741
        *(W.chunk(heads, dim=1) for W in (W_q, W_k, W_v)), W_o.chunk(heads, dim=0), strict=True
    ):
        scaled = (x @ Q) @ (memory @ K).mT * Q.shape[1] ** -0.5
        bias = 0.0 if mask is None else torch.where(mask, 0.0, -1e9).to(x.dtype)
        out = out + torch.softmax(scaled + bias, dim=-1) @ (memory @ V) @ O
    return out


def _heads_by_einsum(
    x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, heads: int, mask: Maybe
) -> Tensor:
    q, k, v = (
        torch.einsum("bwd,dhe->bhwe", y, W.view(len(W), heads, -1)) for y, W in ((x, W_q), (memory, W_k), (memory, W_v))
    )
    scaled = torch.einsum("bhqe,bhke->bhqk", q, k) / q.size(-1) ** 0.5
    if mask is not None:
        scaled = scaled.masked_fill(mask[:, None] == 0, float("-inf"))
    joined = torch.einsum("bhqk,bhke->bqhe", scaled.softmax(-1), v).flatten(2)
    return joined @ W_o


def _heads_in_the_batch(
    x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, heads: int, mask: Maybe
) -> Tensor:
    def folded(y: Tensor) -> Tensor:
        return torch.cat(y.chunk(heads, dim=-1))  # [heads · batch, words, d_head]

    q, k, v = folded(x @ W_q), folded(memory @ W_k), folded(memory @ W_v)
    scaled = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.shape[-1])
    if mask is not None:
        scaled = scaled.masked_fill(~mask.repeat(heads, 1, 1), -1e9)
    out = torch.bmm(F.softmax(scaled, dim=-1), v)
    return torch.cat(out.chunk(heads), dim=-1) @ W_o


def _heads_by_the_fused_kernel(
    x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, heads: int, mask: Maybe
) -> Tensor:
    q, k, v = (y.unflatten(-1, (heads, -1)).transpose(1, 2) for y in (x @ W_q, memory @ W_k, memory @ W_v))
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=None if mask is None else mask.unsqueeze(1))
    return out.transpose(1, 2).reshape(x.shape) @ W_o


def _heads_in_double(
    x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, heads: int, mask: Maybe
) -> Tensor:
    found = _heads_by_einsum(
        x.double(), memory.double(), W_q.double(), W_k.double(), W_v.double(), W_o.double(), heads, mask
    )
    return found.to(x.dtype)


def _heads_multiplied(
    x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, heads: int, mask: Maybe
) -> Tensor:
    batch, queries, d_model = x.shape
    shape = (batch, -1, heads, d_model // heads)
    q = (x @ W_q).reshape(shape).permute(0, 2, 1, 3)
    k = (memory @ W_k).reshape(shape).permute(0, 2, 3, 1)
    v = (memory @ W_v).reshape(shape).permute(0, 2, 1, 3)
    scaled = q @ k / math.sqrt(d_model // heads)
    kept = torch.exp(scaled - scaled.amax(-1, keepdim=True)) * (1.0 if mask is None else mask[:, None].to(x.dtype))
    alpha = kept / kept.sum(-1, keepdim=True)
    return (alpha @ v).permute(0, 2, 1, 3).reshape(batch, queries, d_model) @ W_o


def _heads_by_vmap(
    x: Tensor, memory: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, heads: int, mask: Maybe
) -> Tensor:
    bias = x.new_zeros(()) if mask is None else torch.where(mask, 0.0, -math.inf).to(x.dtype)

    def one_head(Q: Tensor, K: Tensor, V: Tensor) -> Tensor:
        return torch.softmax((x @ Q) @ (memory @ K).mT / math.sqrt(Q.shape[1]) + bias, dim=-1) @ (memory @ V)

    pieces = (W.unflatten(1, (heads, -1)).movedim(1, 0) for W in (W_q, W_k, W_v))
    return torch.func.vmap(one_head)(*pieces).movedim(0, 2).flatten(2) @ W_o


MULTI_HEAD_ATTENTION = (
    _heads_by_loop,
    _heads_summed,
    _heads_by_einsum,
    _heads_in_the_batch,
    _heads_by_the_fused_kernel,
    _heads_in_double,
    _heads_multiplied,
    _heads_by_vmap,
)


# heads_and_blocks.layer_norm


def _norm_by_loop(x: Tensor, gamma: Tensor, beta: Tensor, epsilon: float) -> Tensor:
    rows = []
    for word in x.reshape(-1, x.shape[-1]):
        mean = word.sum() / len(word)
        variance = ((word - mean) ** 2).sum() / len(word)
        rows.append((word - mean) / torch.sqrt(variance + epsilon) * gamma + beta)
    return torch.stack(rows).reshape(x.shape)


def _norm_in_place(x: Tensor, gamma: Tensor, beta: Tensor, epsilon: float) -> Tensor:
    out = x.clone()
    out -= x.mean(dim=-1, keepdim=True)
    out *= torch.rsqrt(x.var(dim=-1, unbiased=False, keepdim=True) + epsilon)
    return out * gamma + beta


def _norm_by_squares(x: Tensor, gamma: Tensor, beta: Tensor, epsilon: float) -> Tensor:
    mean = x.double().mean(-1, keepdim=True)
    variance = x.double().square().mean(-1, keepdim=True) - mean**2
    return (gamma * (x - mean) / (variance + epsilon).sqrt() + beta).to(x.dtype)


def _norm_by_var_mean(x: Tensor, gamma: Tensor, beta: Tensor, epsilon: float) -> Tensor:
    variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return torch.addcmul(beta, gamma, (x - mean) / torch.sqrt(variance + epsilon))


def _norm_by_batch_norm(x: Tensor, gamma: Tensor, beta: Tensor, epsilon: float) -> Tensor:
    words = x.reshape(-1, x.shape[-1])
    standardised = F.batch_norm(words.T, None, None, training=True, eps=epsilon).T  # a word is a "channel"
    return gamma * standardised.reshape(x.shape) + beta


def _norm_by_vmap(x: Tensor, gamma: Tensor, beta: Tensor, epsilon: float) -> Tensor:
    def one_word(word: Tensor) -> Tensor:
        centred = word - word.mean()
        return gamma * centred / torch.sqrt(centred @ centred / word.numel() + epsilon) + beta

    return torch.func.vmap(one_word)(x.reshape(-1, x.shape[-1])).reshape(x.shape)


def _norm_by_matrix(x: Tensor, gamma: Tensor, beta: Tensor, epsilon: float) -> Tensor:
    d_model = x.shape[-1]
    centring = torch.eye(d_model, dtype=x.dtype) - 1 / d_model
    centred = x @ centring
    length = torch.linalg.vector_norm(centred, dim=-1, keepdim=True)
    return gamma * centred / torch.sqrt(length.square() / d_model + epsilon) + beta


LAYER_NORM = (
    _norm_by_loop,
    _norm_in_place,
    _norm_by_squares,
    _norm_by_var_mean,
    _norm_by_batch_norm,
    _norm_by_vmap,
    lambda x, gamma, beta, epsilon: (
        (x - x.mean(-1, keepdim=True)) * (x.var(-1, correction=0, keepdim=True) + epsilon).rsqrt() * gamma + beta
    ),
)


# heads_and_blocks.dropout


def _dropout_by_loop(x: Tensor, kept: Tensor, share: float, training: bool) -> Tensor:
    if not training:
        return x.clone()
    numbers = [a / (1 - share) if stays else 0.0 for a, stays in zip(x.flatten().tolist(), kept.flatten(), strict=True)]
    return torch.tensor(numbers, dtype=x.dtype).reshape(x.shape)


def _dropout_in_place(x: Tensor, kept: Tensor, share: float, training: bool) -> Tensor:
    out = x.clone()
    if training:
        out[~kept] = 0
        out /= 1 - share
    return out


def _dropout_in_numpy(x: Tensor, kept: Tensor, share: float, training: bool) -> Tensor:
    if not training:
        return x
    return torch.from_numpy(numpy.where(kept.numpy(), x.numpy() / x.numpy().dtype.type(1 - share), 0))


def _dropout_as_one_factor(x: Tensor, kept: Tensor, share: float, training: bool) -> Tensor:
    factor = kept.to(x.dtype) / (1.0 - share) if training else torch.ones_like(x)
    return factor * x


DROPOUT = (
    _dropout_by_loop,
    _dropout_in_place,
    _dropout_in_numpy,
    _dropout_as_one_factor,
    lambda x, kept, share, training: torch.where(kept, x / (1 - share), 0.0) if training else x,
    lambda x, kept, share, training: x * kept * (1 / (1 - share)) if training else x,
    lambda x, kept, share, training: x * (kept / (1 - share)) if training else x,
    lambda x, kept, share, training: x.masked_fill(~kept, 0).div(1 - share) if training else x,
    lambda x, kept, share, training: torch.zeros_like(x).masked_scatter(kept, x[kept] / (1 - share)) if training else x,
)


# heads_and_blocks.add_and_norm


def _joined_by_cases(x: Tensor, sublayer: Function, norm: Function, dropout: Function, norm_first: bool) -> Tensor:
    if norm_first:
        return x + dropout(sublayer(norm(x)))
    return norm(x + dropout(sublayer(x)))


def _joined_step_by_step(x: Tensor, sublayer: Function, norm: Function, dropout: Function, norm_first: bool) -> Tensor:
    y = norm(x) if norm_first else x
    y = sublayer(y)
    y = dropout(y)
    y = torch.add(x, y)
    if not norm_first:
        y = norm(y)
    return y


def _joined_in_place(x: Tensor, sublayer: Function, norm: Function, dropout: Function, norm_first: bool) -> Tensor:
    out = x.clone()
    out += dropout(sublayer(norm(x) if norm_first else x))
    return out if norm_first else norm(out)


def _joined_by_stages(x: Tensor, sublayer: Function, norm: Function, dropout: Function, norm_first: bool) -> Tensor:
    def nothing(y: Tensor) -> Tensor:
        return y

    before, after = (norm, nothing) if norm_first else (nothing, norm)
    return after(torch.stack([x, dropout(sublayer(before(x)))]).sum(dim=0))


def _joined_in_a_loop(x: Tensor, sublayer: Function, norm: Function, dropout: Function, norm_first: bool) -> Tensor:
    y = x
    for function in [norm, sublayer, dropout] if norm_first else [sublayer, dropout]:
        y = function(y)
    return x + y if norm_first else norm(x + y)


class _Joining:
    """As a student may lay it out who thinks in objects."""

    def __init__(self, *functions: Function) -> None:
        self.sublayer, self.norm, self.dropout = functions

    def added(self, y: Tensor) -> Tensor:
        return self.dropout(self.sublayer(y))


def _joined_by_an_object(x: Tensor, sublayer: Function, norm: Function, dropout: Function, norm_first: bool) -> Tensor:
    joining = _Joining(sublayer, norm, dropout)
    return x + joining.added(norm(x)) if norm_first else norm(joining.added(x) + x)


ADD_AND_NORM = (
    _joined_by_cases,
    _joined_step_by_step,
    _joined_in_place,
    _joined_by_stages,
    _joined_in_a_loop,
    _joined_by_an_object,
)


# heads_and_blocks.feed_forward


def _feed_forward(forward: Callable[[Tensor, nn.Linear, nn.Linear], Tensor]) -> type[nn.Module]:
    """The lesson's class with this forward."""

    class FeedForward(nn.Module):
        def __init__(self, d_model: int, d_hidden: int) -> None:
            super().__init__()
            self.W_1 = nn.Linear(d_model, d_hidden)
            self.W_2 = nn.Linear(d_hidden, d_model)

        def forward(self, x: Tensor) -> Tensor:
            return forward(x, self.W_1, self.W_2)

    return FeedForward


def _fed_by_einsum(x: Tensor, W_1: nn.Linear, W_2: nn.Linear) -> Tensor:
    hidden = torch.einsum("...d,hd->...h", x, W_1.weight) + W_1.bias
    return torch.einsum("...h,dh->...d", hidden * (hidden > 0), W_2.weight) + W_2.bias


def _fed_word_by_word(x: Tensor, W_1: nn.Linear, W_2: nn.Linear) -> Tensor:
    words = [W_2(nn.ReLU()(W_1(word))) for word in x.reshape(-1, x.shape[-1])]
    return torch.stack(words).reshape(x.shape)


def _fed_in_double(x: Tensor, W_1: nn.Linear, W_2: nn.Linear) -> Tensor:
    hidden = F.relu(F.linear(x.double(), W_1.weight.double(), W_1.bias.double()))
    return F.linear(hidden, W_2.weight.double(), W_2.bias.double()).to(x.dtype)


def _fed_in_place(x: Tensor, W_1: nn.Linear, W_2: nn.Linear) -> Tensor:
    hidden = W_1(x)
    hidden = hidden.clone()
    hidden[hidden < 0] = 0
    out: Tensor = W_2(hidden)
    return out


class _FeedForwardInSequence(nn.Module):
    """As slide S3 lays it out, with the layers under their names."""

    def __init__(self, d_model: int, d_hidden: int) -> None:
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_hidden)
        self.activation = nn.ReLU()
        self.W_2 = nn.Linear(d_hidden, d_model)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.children():
            x = layer(x)
        return x


FEED_FORWARD = (
    _feed_forward(_fed_by_einsum),
    _feed_forward(_fed_word_by_word),
    _feed_forward(_fed_in_double),
    _feed_forward(_fed_in_place),
    _FeedForwardInSequence,
    _feed_forward(lambda x, W_1, W_2: W_2(torch.clamp(W_1(x), min=0))),
    _feed_forward(lambda x, W_1, W_2: W_2(torch.maximum(W_1(x), torch.zeros(())))),
    _feed_forward(lambda x, W_1, W_2: torch.relu(x @ W_1.weight.T + W_1.bias) @ W_2.weight.T + W_2.bias),
)


# heads_and_blocks.encoder_block


class _Block(nn.Module):
    """The lesson's constructor."""

    def __init__(self, d_model: int, heads: int, d_hidden: int, dropout: float = 0.0, norm_first: bool = False) -> None:
        super().__init__()
        self.norm_first = norm_first
        self.attention = nn.MultiheadAttention(d_model, heads, batch_first=True)
        self.norm_1 = nn.LayerNorm(d_model)
        self.W_1 = nn.Linear(d_model, d_hidden)
        self.W_2 = nn.Linear(d_hidden, d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)


class _BlockLineByLine(_Block):
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        if self.norm_first:
            y = self.norm_1(x)
            y, _ = self.attention(y, y, y, key_padding_mask=~mask)
            x = x + self.dropout(y)
            x = x + self.dropout(self.W_2(torch.relu(self.W_1(self.norm_2(x)))))
        else:
            y, _ = self.attention(x, x, x, key_padding_mask=~mask)
            x = self.norm_1(x + self.dropout(y))
            x = self.norm_2(x + self.dropout(self.W_2(torch.relu(self.W_1(x)))))
        return x


class _BlockWithHelpers(_Block):
    def attend(self, y: Tensor, mask: Tensor) -> Tensor:
        out: Tensor = self.attention(y, y, y, attn_mask=self.forbidden(mask), need_weights=False)[0]
        return out

    def forbidden(self, mask: Tensor) -> Tensor:
        heads = self.attention.num_heads
        return ~mask[:, None, None, :].expand(-1, heads, mask.shape[1], -1).flatten(0, 1)

    def feed_forward(self, y: Tensor) -> Tensor:
        out: Tensor = self.W_2(F.relu(self.W_1(y)))
        return out

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        before_1, after_1 = (self.norm_1, nn.Identity()) if self.norm_first else (nn.Identity(), self.norm_1)
        before_2, after_2 = (self.norm_2, nn.Identity()) if self.norm_first else (nn.Identity(), self.norm_2)
        x = after_1(x + self.dropout(self.attend(before_1(x), mask)))
        out: Tensor = after_2(x + self.dropout(self.feed_forward(before_2(x))))
        return out


class _BlockSentenceBySentence(_Block):
    """Each sentence without its padding as keys; the queries of padding are kept."""

    def attend(self, y: Tensor, mask: Tensor) -> Tensor:
        rows: list[Any] = [
            self.attention(sentence, sentence[allowed], sentence[allowed])[0]
            for sentence, allowed in zip(y, mask, strict=True)
        ]
        return torch.stack(rows)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        for norm, layer in ((self.norm_1, self.attend), (self.norm_2, self.feed)):
            y = self.dropout(layer(norm(x) if self.norm_first else x, mask))
            x = x + y if self.norm_first else norm(x + y)
        return x

    def feed(self, y: Tensor, mask: Tensor) -> Tensor:
        hidden: Tensor = self.W_1(y)
        out: Tensor = self.W_2(hidden.clamp(min=0))
        return out


class _BlockByHand(_Block):
    """Multi-head attention from the weights, without calling the module."""

    def attend(self, y: Tensor, mask: Tensor) -> Tensor:
        q, k, v = (
            part.unflatten(-1, (self.attention.num_heads, -1)).transpose(1, 2)
            for part in F.linear(y, self.attention.in_proj_weight, self.attention.in_proj_bias).chunk(3, dim=-1)
        )
        scaled = q @ k.mT / math.sqrt(q.shape[-1])
        alpha = torch.softmax(scaled.masked_fill(~mask[:, None, None], -math.inf), dim=-1)
        out: Tensor = self.attention.out_proj((alpha @ v).transpose(1, 2).flatten(2))
        return out

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        def normal(y: Tensor, norm: nn.LayerNorm) -> Tensor:
            return F.layer_norm(y, norm.normalized_shape, norm.weight, norm.bias, norm.eps)

        first = self.norm_first
        attended = x + self.dropout(self.attend(normal(x, self.norm_1) if first else x, mask))
        x = attended if first else normal(attended, self.norm_1)
        hidden = torch.relu(self.W_1(normal(x, self.norm_2) if first else x))
        fed: Tensor = x + self.dropout(self.W_2(hidden))
        return fed if first else normal(fed, self.norm_2)


class _BlockDroppingByFunction(_Block):
    """With torch's function in place of its module."""

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        def dropped(y: Tensor) -> Tensor:
            return F.dropout(y, self.dropout.p, self.training)

        first = self.norm_first
        y = self.norm_1(x) if first else x
        x = x + dropped(self.attention(y, y, y, key_padding_mask=~mask)[0])
        x = x if first else self.norm_1(x)
        x = x + dropped(self.W_2(F.relu(self.W_1(self.norm_2(x) if first else x))))
        return x if first else self.norm_2(x)


class _BlockDroppingByHand(_Block):
    """With the formula of the lesson's own dropout; the feed-forward network's lots are drawn first."""

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        share = self.dropout.p
        kept = {name: torch.rand(x.shape) >= share for name in ("feed-forward network", "attention")}

        def add(x: Tensor, y: Tensor, name: str) -> Tensor:
            return x + (torch.where(kept[name], y, 0.0) / (1 - share) if self.training else y)

        first = self.norm_first
        y = self.norm_1(x) if first else x
        x = add(x, self.attention(y, y, y, key_padding_mask=~mask)[0], "attention")
        x = x if first else self.norm_1(x)
        x = add(x, self.W_2(torch.relu(self.W_1(self.norm_2(x) if first else x))), "feed-forward network")
        return x if first else self.norm_2(x)


ENCODER_BLOCK = (
    _BlockLineByLine,
    _BlockWithHelpers,
    _BlockSentenceBySentence,
    _BlockByHand,
    _BlockDroppingByFunction,
    _BlockDroppingByHand,
)


# heads_and_blocks.count_parameters


def _counted_on_a_module(d_model: int, heads: int, d_hidden: int) -> dict[str, int]:
    def learned(module: nn.Module) -> int:
        return sum(parameter.numel() for parameter in module.parameters())

    with torch.device("meta"):
        layer = nn.TransformerEncoderLayer(d_model, heads, d_hidden)
    return {
        "attention": 0,
        "projections": learned(layer.self_attn),
        "feed_forward": learned(layer.linear1) + learned(layer.linear2),
        "layer_norms": learned(layer.norm1) + learned(layer.norm2),
    }


def _counted_head_by_head(d_model: int, heads: int, d_hidden: int) -> dict[str, int]:
    d_head = d_model // heads
    into_the_heads = sum(3 * (d_model * d_head + d_head) for _ in range(heads))
    out_of_them = sum(d_head * d_model for _ in range(heads)) + d_model
    return {
        "projections": into_the_heads + out_of_them,
        "feed_forward": 2 * d_model * d_hidden + d_hidden + d_model,
        "layer_norms": 4 * d_model,
        "attention": 0,
    }


def _counted_by_a_function(d_model: int, heads: int, d_hidden: int) -> dict[str, int]:
    def linear(inputs: int, outputs: int) -> int:
        return inputs * outputs + outputs

    return {
        "attention": 0,
        "projections": 4 * linear(d_model, d_model),
        "feed_forward": linear(d_model, d_hidden) + linear(d_hidden, d_model),
        "layer_norms": 2 * (d_model + d_model),
    }


def _counted_by_shapes(d_model: int, heads: int, d_hidden: int) -> dict[str, int]:
    shapes: dict[str, list[tuple[int, ...]]] = {
        "attention": [],
        "projections": [(d_model, d_model), (d_model,)] * 4,
        "feed_forward": [(d_model, d_hidden), (d_hidden,), (d_hidden, d_model), (d_model,)],
        "layer_norms": [(d_model,)] * 4,
    }
    return {name: sum(math.prod(shape) for shape in those) for name, those in shapes.items()}


COUNT_PARAMETERS = (
    _counted_on_a_module,
    _counted_head_by_head,
    _counted_by_a_function,
    _counted_by_shapes,
    lambda d_model, heads, d_hidden: dict(
        zip(
            ("attention", "projections", "feed_forward", "layer_norms"),
            (0, 4 * d_model * (d_model + 1), d_hidden * (2 * d_model + 1) + d_model, 4 * d_model),
            strict=True,
        )
    ),
)
