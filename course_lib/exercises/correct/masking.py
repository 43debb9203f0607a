"""Right answers to the exercises of lesson 02 (`course_lib/exercises/masking.py`)."""

from __future__ import annotations

import math

import numpy
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.exercises.common import pooling

# masking.causal_mask


def _causal_by_loop(length: int) -> Tensor:
    return torch.tensor([[key <= query for key in range(length)] for query in range(length)])


def _causal_in_place(length: int) -> Tensor:
    mask = torch.zeros(length, length, dtype=torch.bool)
    for query in range(length):
        mask[query, : query + 1] = True
    return mask


def _causal_by_indices(length: int) -> Tensor:
    mask = torch.zeros((length, length), dtype=torch.uint8)
    rows, columns = torch.tril_indices(length, length)
    mask[rows, columns] = 1
    return mask.to(torch.bool)


CAUSAL_MASK = (
    _causal_by_loop,
    _causal_in_place,
    _causal_by_indices,
    lambda length: torch.arange(length).unsqueeze(1) >= torch.arange(length),
    lambda length: torch.from_numpy(numpy.tri(length, dtype=bool)),
    lambda length: ~torch.triu(torch.ones(length, length), diagonal=1).bool(),
    lambda length: torch.cumsum(torch.eye(length), dim=1).T == 1,
    lambda length: torch.func.vmap(lambda query: torch.arange(length) <= query)(torch.arange(length)),
    lambda length: nn.Transformer.generate_square_subsequent_mask(length) == 0,
)


# masking.masked_weights


def _masked_by_loop(scaled: Tensor, mask: Tensor) -> Tensor:
    rows = zip(scaled.reshape(-1, scaled.shape[-1]), mask.expand_as(scaled).flatten(0, -2), strict=True)
    alpha = [torch.zeros_like(row).masked_scatter(allowed, row[allowed].softmax(0)) for row, allowed in rows]
    return torch.stack(alpha).reshape(scaled.shape)


def _masked_by_where(scaled: Tensor, mask: Tensor) -> Tensor:
    alpha = torch.softmax(torch.where(mask, scaled, -1e9), dim=-1)
    return torch.where(mask.any(dim=-1, keepdim=True), alpha, 0.0)


def _masked_by_exp(scaled: Tensor, mask: Tensor) -> Tensor:
    largest = scaled.masked_fill(~mask, torch.finfo(scaled.dtype).min).amax(dim=-1, keepdim=True)
    exps = torch.exp((scaled - largest).clamp(max=0.0)) * mask
    return exps / (exps.sum(dim=-1, keepdim=True) + ~mask.any(dim=-1, keepdim=True))


def _masked_in_place(scaled: Tensor, mask: Tensor) -> Tensor:
    masked = scaled.clone()
    forbidden = ~mask.expand(scaled.shape)
    masked[forbidden] = torch.finfo(scaled.dtype).min
    return F.softmax(masked, dim=-1).masked_fill(forbidden, 0)


def _masked_by_logarithms(scaled: Tensor, mask: Tensor) -> Tensor:
    masked = scaled.masked_fill(mask.logical_not(), -1e9)
    return (masked - masked.logsumexp(dim=-1, keepdim=True)).exp() * mask


def _masked_in_double(scaled: Tensor, mask: Tensor) -> Tensor:
    exps = torch.exp(scaled.double() - torch.where(mask, scaled.double(), -1e9).amax(dim=-1, keepdim=True).detach())
    kept = torch.where(mask, exps, 0.0)
    return (kept / kept.sum(dim=-1, keepdim=True).clamp_min(1e-300)).to(scaled.dtype)


MASKED_WEIGHTS = (
    _masked_by_loop,
    _masked_by_where,
    _masked_by_exp,
    _masked_in_place,
    _masked_by_logarithms,
    lambda scaled, mask: torch.softmax(scaled.masked_fill(~mask, -math.inf), dim=-1).nan_to_num(nan=0.0),
    lambda scaled, mask: torch.softmax(scaled + (~mask).float() * -1e9, dim=-1) * mask,
    lambda scaled, mask: (scaled.masked_fill(~mask, -1e4)).softmax(-1).masked_fill(~mask, 0.0),
)


# masking.multiplicative_weights


def _multiplicative_in_numpy(scaled: Tensor, mask: Tensor) -> Tensor:
    scores, allowed = scaled.numpy(), mask.numpy()
    largest = numpy.where(allowed, scores, -numpy.inf).max(axis=-1, keepdims=True)
    kept = numpy.exp(numpy.minimum(scores - largest, 0)) * allowed
    return torch.from_numpy(kept / kept.sum(axis=-1, keepdims=True))


def _multiplicative_by_loop(scaled: Tensor, mask: Tensor) -> Tensor:
    alpha = torch.zeros_like(scaled).reshape(-1, scaled.shape[-1])
    rows = zip(scaled.reshape(alpha.shape), mask.expand_as(scaled).reshape(alpha.shape), strict=True)
    for number, (row, allowed) in enumerate(rows):
        kept = torch.exp(row[allowed] - row[allowed].max())
        alpha[number, allowed] = kept / kept.sum()
    return alpha.reshape(scaled.shape)


def _multiplicative_in_double(scaled: Tensor, mask: Tensor) -> Tensor:
    filled = scaled.double().masked_fill(~mask, -math.inf)
    kept = torch.exp(filled - filled.amax(dim=-1, keepdim=True))
    return (kept / kept.sum(dim=-1, keepdim=True)).to(scaled.dtype)


def _multiplicative_shifted(scaled: Tensor, mask: Tensor) -> Tensor:
    filled = scaled.masked_fill(~mask, -math.inf)
    kept = torch.exp(filled - filled.amax(dim=-1, keepdim=True)) * mask
    return kept / kept.sum(dim=-1, keepdim=True)


@torch.no_grad()
def _multiplicative_in_place(scaled: Tensor, mask: Tensor) -> Tensor:
    alpha = scaled.clone()
    alpha[mask.expand(scaled.shape) == 0] = -1e9
    alpha.sub_(alpha.max(dim=-1, keepdim=True)[0]).exp_().mul_(mask.float())
    return alpha.div_(alpha.sum(dim=-1, keepdim=True))


def _multiplicative_by_einsum(scaled: Tensor, mask: Tensor) -> Tensor:
    filled = torch.where(mask, scaled, torch.tensor(-1e9))
    exps, kept = torch.exp(filled - filled.amax(dim=-1, keepdim=True)), mask.expand_as(scaled).to(scaled.dtype)
    total = torch.einsum("...k,...k->...", exps, kept)
    return torch.einsum("...k,...k,...->...k", exps, kept, total.reciprocal())


def _multiplicative_by_vmap(scaled: Tensor, mask: Tensor) -> Tensor:
    def one_row(row: Tensor, allowed: Tensor) -> Tensor:
        largest = torch.where(allowed == 1, row, -math.inf).max()
        kept = torch.exp(torch.clamp(row - largest, max=0)) * allowed
        return kept / kept.sum()

    allowed = mask.expand(scaled.shape).flatten(0, -2).to(scaled.dtype)
    rows = torch.func.vmap(one_row)(scaled.reshape(-1, scaled.shape[-1]), allowed)
    return rows.reshape(scaled.shape)


MULTIPLICATIVE_WEIGHTS = (
    _multiplicative_in_numpy,
    _multiplicative_by_loop,
    _multiplicative_in_double,
    _multiplicative_shifted,
    _multiplicative_in_place,
    _multiplicative_by_einsum,
    _multiplicative_by_vmap,
    lambda scaled, mask: torch.exp(
        torch.where(mask, scaled, -1e9) - scaled.masked_fill(~mask, -math.inf).logsumexp(dim=-1, keepdim=True)
    ),
)


# masking.masked_self_attention


def _self_attention_by_loop(x: Tensor, mask: Tensor) -> Tensor:
    if x.ndim > 2:
        masks = mask.expand(*x.shape[:-1], x.shape[-2])
        return torch.stack([_self_attention_by_loop(*sequence) for sequence in zip(x, masks, strict=True)])
    rows = []
    for word, allowed in zip(x, mask, strict=True):
        visible = x[allowed]
        rows.append(torch.softmax(visible @ word / math.sqrt(len(word)), dim=0) @ visible)
    return torch.stack(rows)


def _self_attention_by_einsum(x: Tensor, mask: Tensor) -> Tensor:
    scores = torch.einsum("...nd,...md->...nm", x, x).masked_fill(mask == 0, -1e9)
    return torch.einsum("...nm,...md->...nd", F.softmax(scores / x.shape[-1] ** 0.5, dim=-1), x)


def _self_attention_multiplied(x: Tensor, mask: Tensor) -> Tensor:
    scaled = (x @ x.mT / math.sqrt(x.shape[-1])).double()
    lowered = scaled.masked_fill(~mask, -1e9) - scaled.masked_fill(~mask, -1e9).amax(dim=-1, keepdim=True)
    kept = torch.exp(lowered) * mask
    return (kept / kept.sum(dim=-1, keepdim=True) @ x.double()).to(x.dtype)


def _self_attention_by_bmm(x: Tensor, mask: Tensor) -> Tensor:
    flat = x.reshape(-1, *x.shape[-2:])
    words = x.shape[-2]
    bias = torch.zeros(*x.shape[:-1], words, dtype=x.dtype).masked_fill(~mask, -math.inf).reshape(-1, words, words)
    scaled = torch.baddbmm(bias, flat, flat.mT, alpha=1 / math.sqrt(x.shape[-1]))
    return torch.bmm(scaled.softmax(dim=-1), flat).reshape(x.shape)


def _self_attention_by_vmap(x: Tensor, mask: Tensor) -> Tensor:
    if x.ndim > 2:
        return torch.func.vmap(_self_attention_by_vmap)(x, mask.expand(*x.shape[:-1], x.shape[-2]))

    def one_word(word: Tensor, allowed: Tensor) -> Tensor:
        scaled = torch.mv(x, word) / math.sqrt(len(word))
        return torch.softmax(torch.where(allowed, scaled, -1e9), dim=0) @ x

    return torch.func.vmap(one_word)(x, mask)


def _self_attention_in_place(x: Tensor, mask: Tensor) -> Tensor:
    scaled = x @ x.transpose(-2, -1)
    scaled /= x.shape[-1] ** 0.5
    scaled[~mask.broadcast_to(scaled.shape)] = -math.inf
    return torch.softmax(scaled, dim=-1) @ x


def _self_attention_by_broadcasting(x: Tensor, mask: Tensor) -> Tensor:
    scaled = (x.unsqueeze(-2) * x.unsqueeze(-3)).sum(dim=-1) * x.shape[-1] ** -0.5
    alpha = torch.softmax(scaled + torch.where(mask, 0.0, -1e9).to(x.dtype), dim=-1)
    return (alpha.unsqueeze(-1) * x.unsqueeze(-3)).sum(dim=-2)


def _self_attention_renormalised(x: Tensor, mask: Tensor) -> Tensor:
    forbidden = torch.where(mask, 0.0, -1e30)
    alpha = nn.Softmax(dim=-1)(x @ x.mT / math.sqrt(x.shape[-1]) + forbidden.to(x.dtype)) * mask.to(x.dtype)
    return F.normalize(alpha, p=1, dim=-1) @ x


MASKED_SELF_ATTENTION = (
    _self_attention_by_loop,
    _self_attention_by_einsum,
    _self_attention_multiplied,
    _self_attention_by_bmm,
    _self_attention_by_vmap,
    _self_attention_in_place,
    _self_attention_by_broadcasting,
    _self_attention_renormalised,
)


# masking.padding_mask


def _padding_by_loop(lengths: Tensor, max_length: int) -> Tensor:
    return torch.tensor([[position < length for position in range(max_length)] for length in lengths.tolist()])


def _padding_in_place(lengths: Tensor, max_length: int) -> Tensor:
    mask = torch.zeros(len(lengths), max_length, dtype=torch.bool)
    for row, length in zip(mask, lengths, strict=True):
        row[:length] = True
    return mask


def _padding_by_padding(lengths: Tensor, max_length: int) -> Tensor:
    words = [F.pad(torch.ones(int(length)), (0, max_length - int(length))) for length in lengths]
    return torch.stack(words) > 0


PADDING_MASK = (
    _padding_by_loop,
    _padding_in_place,
    _padding_by_padding,
    lambda lengths, max_length: torch.arange(max_length).expand(len(lengths), -1) < lengths[:, None],
    lambda lengths, max_length: torch.from_numpy(numpy.arange(max_length)[None, :] < lengths.numpy()[:, None]),
    lambda lengths, max_length: torch.ones(max_length + 1, max_length).tril(diagonal=-1).bool()[lengths],
    lambda lengths, max_length: torch.ones(len(lengths), max_length).cumsum(dim=1) <= lengths.view(-1, 1),
    lambda lengths, max_length: torch.func.vmap(lambda length: torch.arange(max_length) < length)(lengths),
)


# masking.combined_mask


def _combined_by_loop(causal: Tensor, padding: Tensor) -> Tensor:
    return torch.stack([torch.stack([row & words for row in causal]) for words in padding])


def _combined_in_place(causal: Tensor, padding: Tensor) -> Tensor:
    both = causal.repeat(len(padding), 1, 1)
    both.masked_fill_(~padding[:, None, :], False)
    return both


COMBINED_MASK = (
    _combined_by_loop,
    _combined_in_place,
    lambda causal, padding: torch.logical_and(causal[None], padding[:, None, :]),
    lambda causal, padding: ~(~causal | ~padding.unsqueeze(1)),
    lambda causal, padding: torch.einsum("qk,bk->bqk", causal.float(), padding.float()).bool(),
    lambda causal, padding: torch.from_numpy(causal.numpy()[None, :, :] & padding.numpy()[:, None, :]),
    lambda causal, padding: torch.func.vmap(lambda words: causal * words)(padding),
    lambda causal, padding: torch.where(padding.unsqueeze(1), causal, False),
    lambda causal, padding: torch.minimum(causal.int(), padding.int().unsqueeze(1)) == 1,
)


# masking.attention_pooling


@pooling
def _pooling_by_loop(x: Tensor, mask: Tensor, query: Tensor) -> Tensor:
    rows = []
    for sequence, allowed in zip(x, mask, strict=True):
        words = sequence[allowed]
        scaled = words @ query / math.sqrt(len(query))
        exps = torch.exp(scaled - scaled.max())
        rows.append((exps.unsqueeze(-1) * words).sum(dim=0) / exps.sum())
    return torch.stack(rows)


@pooling
def _pooling_by_einsum(x: Tensor, mask: Tensor, query: Tensor) -> Tensor:
    scaled = torch.einsum("bwd,d->bw", x, query) / query.numel() ** 0.5
    return torch.einsum("bw,bwd->bd", F.softmax(scaled.masked_fill(mask == 0, -1e9), dim=1), x)


@pooling
def _pooling_by_bmm(x: Tensor, mask: Tensor, query: Tensor) -> Tensor:
    queries = query.expand(len(x), 1, -1)
    bias = torch.zeros_like(mask, dtype=x.dtype).masked_fill(~mask, -math.inf).unsqueeze(1)
    alpha = torch.softmax(torch.bmm(queries, x.transpose(1, 2)) / math.sqrt(x.shape[2]) + bias, dim=2)
    return torch.bmm(alpha, x).squeeze(1)


@pooling
def _pooling_multiplied(x: Tensor, mask: Tensor, query: Tensor) -> Tensor:
    scaled = F.linear(x, query.unsqueeze(0) / math.sqrt(x.shape[-1])).squeeze(-1)
    kept = torch.exp((scaled - scaled.masked_fill(~mask, -math.inf).amax(dim=1, keepdim=True)).clamp(max=0)) * mask
    return torch.matmul(kept.unsqueeze(1), x).squeeze(1) / kept.sum(dim=1, keepdim=True)


@pooling
def _pooling_by_vmap(x: Tensor, mask: Tensor, query: Tensor) -> Tensor:
    def one_sentence(words: Tensor, allowed: Tensor) -> Tensor:
        scaled = torch.mv(words, query) / math.sqrt(len(query))
        return torch.softmax(torch.where(allowed, scaled, -1e9), dim=0) @ words

    return torch.func.vmap(one_sentence)(x, mask)


@pooling
def _pooling_in_double(x: Tensor, mask: Tensor, query: Tensor) -> Tensor:
    scaled = (x.double() * query.double()).sum(dim=-1) * x.shape[-1] ** -0.5
    alpha = torch.softmax(scaled.masked_fill(~mask, -math.inf), dim=-1)
    return (alpha.unsqueeze(-1) * x.double()).sum(dim=1).to(x.dtype)


@pooling
def _pooling_in_place(x: Tensor, mask: Tensor, query: Tensor) -> Tensor:
    scaled = torch.matmul(x, query)
    scaled.div_(x.size(-1) ** 0.5)[~mask] = -1e9
    weighted = torch.softmax(scaled, dim=1).unsqueeze(-1) * x
    return torch.cumsum(weighted, dim=1).select(1, -1)


class _PoolingWithHelpers(nn.Module):
    """As a student may lay it out: the scale as a buffer that is not saved, the scores in a method of their own."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.randn(d_model))
        self.scale: Tensor
        self.register_buffer("scale", torch.tensor(1 / math.sqrt(d_model)), persistent=False)

    def scores(self, x: Tensor) -> Tensor:
        return x.matmul(self.query).mul(self.scale)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        alpha = self.scores(x).masked_fill(mask.logical_not(), float("-inf")).softmax(dim=1)
        return alpha.unsqueeze(1).matmul(x)[:, 0]


ATTENTION_POOLING = (
    _pooling_by_loop,
    _pooling_by_einsum,
    _pooling_by_bmm,
    _pooling_multiplied,
    _pooling_by_vmap,
    _pooling_in_double,
    _pooling_in_place,
    _PoolingWithHelpers,
)
