"""Right answers to the exercises of lesson 01 (`course_lib/exercises/attention.py`)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy
import torch
import torch.nn.functional as F
from torch import Tensor

# attention.contextual_embedding


def _context_by_loop(embeddings: Tensor, position: int) -> Tensor:
    total, result = torch.tensor(0.0, dtype=embeddings.dtype), torch.zeros_like(embeddings[0])
    for word in embeddings:
        weight = torch.exp(torch.dot(word, embeddings[position]))
        total = total + weight
        result = result + weight * word
    return result / total


def _context_in_numpy(embeddings: Tensor, position: int) -> Tensor:
    words = embeddings.numpy()
    exps = numpy.exp(words @ words[position])
    return torch.from_numpy((exps[:, None] * words).sum(axis=0) / exps.sum())


def _context_in_place(embeddings: Tensor, position: int) -> Tensor:
    weights = torch.mv(embeddings, embeddings[position])
    weights.sub_(weights.max()).exp_()
    weights /= weights.sum()
    weighted = embeddings.clone()
    weighted.mul_(weights.unsqueeze(1))
    return weighted.sum(dim=0)


def _context_by_vmap(embeddings: Tensor, position: int) -> Tensor:
    scores = torch.func.vmap(torch.dot, in_dims=(0, None))(embeddings, embeddings[position])
    return torch.func.vmap(torch.mul)(torch.softmax(scores, dim=0), embeddings).sum(dim=0)


@torch.no_grad()
def _context_with_lists(embeddings: Tensor, position: int) -> Tensor:
    words = embeddings.tolist()
    exps = [math.exp(sum(a * b for a, b in zip(word, words[position], strict=True))) for word in words]
    columns = zip(*words, strict=True)
    mean = [sum(e * x for e, x in zip(exps, column, strict=True)) / sum(exps) for column in columns]
    return torch.tensor(mean, dtype=embeddings.dtype)


CONTEXTUAL_EMBEDDING = (
    _context_by_loop,
    _context_in_numpy,
    _context_in_place,
    _context_by_vmap,
    _context_with_lists,
    lambda embeddings, position: (torch.softmax(embeddings @ embeddings.T, dim=1) @ embeddings)[position],
    lambda embeddings, position: torch.einsum(
        "j,jd->d", F.softmax(torch.einsum("jd,d->j", embeddings, embeddings[position]), dim=0), embeddings
    ),
    lambda embeddings, position: (
        ((embeddings * embeddings[position]).sum(1, keepdim=True).double().softmax(0) * embeddings.double())
        .sum(0)
        .to(embeddings.dtype)
    ),
)


# attention.scores


def _scores_by_loop(q: Tensor, k: Tensor) -> Tensor:
    rows = [[(q[..., i, :] * k[..., j, :]).sum(-1) for j in range(k.shape[-2])] for i in range(q.shape[-2])]
    return torch.stack([torch.stack(row, dim=-1) for row in rows], dim=-2)


def _scores_by_bmm(q: Tensor, k: Tensor) -> Tensor:
    flat = torch.bmm(q.reshape(-1, *q.shape[-2:]), k.reshape(-1, *k.shape[-2:]).transpose(1, 2))
    return flat.reshape(*q.shape[:-1], k.shape[-2])


def _scores_in_place(q: Tensor, k: Tensor) -> Tensor:
    scores = torch.zeros(*q.shape[:-1], k.shape[-2], dtype=q.dtype)
    for component in range(q.shape[-1]):
        scores += q[..., :, component, None] * k[..., None, :, component]
    return scores


def _scores_by_vmap(q: Tensor, k: Tensor) -> Tensor:
    if q.ndim > 2:
        return torch.func.vmap(_scores_by_vmap)(q, k)
    return torch.func.vmap(lambda query: torch.mv(k, query))(q)


SCORES = (
    _scores_by_loop,
    _scores_by_bmm,
    _scores_in_place,
    _scores_by_vmap,
    lambda q, k: torch.einsum("...nd,...md->...nm", q, k),
    lambda q, k: (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(dim=-1),
    lambda q, k: torch.from_numpy(q.numpy() @ k.numpy().swapaxes(-1, -2)),
    lambda q, k: torch.matmul(k, q.mT).mT,
    lambda q, k: (q.double() @ k.double().transpose(-2, -1)).to(q.dtype),
)


# attention.scale


def _scale_by_loop(scores: Tensor, d_head: int) -> Tensor:
    scaled = torch.empty_like(scores)
    for index in numpy.ndindex(*scores.shape):
        scaled[index] = scores[index] / d_head**0.5
    return scaled


@torch.no_grad()
def _scale_as_a_module(scores: Tensor, d_head: int) -> Tensor:
    layer = torch.nn.Linear(1, 1, bias=False).to(scores.dtype)
    layer.weight.fill_(1 / math.sqrt(d_head))
    scaled: Tensor = layer(scores.unsqueeze(-1))
    return scaled.squeeze(-1)


SCALE = (
    _scale_by_loop,
    _scale_as_a_module,
    lambda scores, d_head: scores * d_head**-0.5,
    lambda scores, d_head: scores / torch.sqrt(torch.tensor(d_head)),
    lambda scores, d_head: torch.from_numpy(scores.numpy() / math.sqrt(d_head)),
    lambda scores, d_head: scores.clone().div_(d_head**0.5),
    lambda scores, d_head: (scores.double() / math.sqrt(d_head)).to(scores.dtype),
    lambda scores, d_head: torch.einsum("...,->...", scores, torch.tensor(1 / math.sqrt(d_head), dtype=scores.dtype)),
    lambda scores, d_head: torch.func.vmap(lambda row: row / math.sqrt(d_head))(scores),
)


# attention.weights


def _weights_in_place(scaled: Tensor) -> Tensor:
    alpha = scaled.clone()
    alpha -= alpha.amax(dim=-1, keepdim=True)
    alpha.exp_()
    alpha /= alpha.sum(dim=-1, keepdim=True)
    return alpha


def _weights_by_loop(scaled: Tensor) -> Tensor:
    exps = [torch.exp(row - max(row)) for row in scaled.reshape(-1, scaled.shape[-1])]
    return torch.stack([row / sum(row) for row in exps]).reshape(scaled.shape)


def _weights_in_numpy(scaled: Tensor) -> Tensor:
    numbers = scaled.numpy()
    exps = numpy.exp(numbers - numbers.max(axis=-1, keepdims=True))
    return torch.from_numpy(exps / exps.sum(axis=-1, keepdims=True))


def _weights_by_vmap(scaled: Tensor) -> Tensor:
    def one_row(row: Tensor) -> Tensor:
        exps = torch.exp(row - row.max())
        return exps / exps.sum()

    return torch.func.vmap(one_row)(scaled.reshape(-1, scaled.shape[-1])).reshape(scaled.shape)


def _weights_by_einsum(scaled: Tensor) -> Tensor:
    exps = torch.exp(scaled - scaled.max(dim=-1, keepdim=True).values)
    shares: Tensor = torch.einsum("...k,...->...k", exps, torch.einsum("...k->...", exps).reciprocal())
    return shares


@torch.no_grad()
def _weights_in_double(scaled: Tensor) -> Tensor:
    shifted = scaled.double() - scaled.double().amax(dim=-1, keepdim=True)
    return (torch.exp(shifted) / torch.exp(shifted).sum(dim=-1, keepdim=True)).to(scaled.dtype)


WEIGHTS = (
    _weights_in_place,
    _weights_by_loop,
    _weights_in_numpy,
    _weights_by_vmap,
    _weights_by_einsum,
    _weights_in_double,
    lambda scaled: torch.exp(scaled - torch.logsumexp(scaled, dim=-1, keepdim=True)),
    lambda scaled: 1 / torch.exp(scaled.unsqueeze(-2) - scaled.unsqueeze(-1)).sum(dim=-1),
)


# attention.output


def _output_by_loop(alpha: Tensor, v: Tensor) -> Tensor:
    rows = []
    for query in range(alpha.shape[-2]):
        row = torch.zeros_like(v[..., 0, :])
        for key in range(v.shape[-2]):
            row += alpha[..., query, key, None] * v[..., key, :]
        rows.append(row)
    return torch.stack(rows, dim=-2)


def _output_by_bmm(alpha: Tensor, v: Tensor) -> Tensor:
    flat = torch.bmm(alpha.flatten(0, -3), v.flatten(0, -3)) if alpha.ndim > 2 else torch.mm(alpha, v)
    return flat.reshape(*alpha.shape[:-1], v.shape[-1])


def _output_by_vmap(alpha: Tensor, v: Tensor) -> Tensor:
    if alpha.ndim > 2:
        return torch.func.vmap(_output_by_vmap)(alpha, v)
    one_query: Callable[[Tensor], Tensor] = torch.func.vmap(lambda weights: (weights.unsqueeze(-1) * v).sum(dim=0))
    return one_query(alpha)


OUTPUT = (
    _output_by_loop,
    _output_by_bmm,
    _output_by_vmap,
    lambda alpha, v: torch.einsum("...nm,...md->...nd", alpha, v),
    lambda alpha, v: (alpha.unsqueeze(-1) * v.unsqueeze(-3)).sum(dim=-2),
    lambda alpha, v: torch.from_numpy(numpy.matmul(alpha.numpy(), v.numpy())),
    lambda alpha, v: (alpha.double() @ v.double()).to(v.dtype),
    lambda alpha, v: (v.transpose(-2, -1) @ alpha.transpose(-2, -1)).transpose(-2, -1),
)


# attention.scaled_dot_product


def _attention_by_loop(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    if q.ndim > 2:
        return torch.stack([_attention_by_loop(*sequence) for sequence in zip(q, k, v, strict=True)])
    rows = []
    for query in q:
        exps = [torch.exp(torch.dot(query, key) / math.sqrt(len(query))) for key in k]
        rows.append(torch.stack([e / sum(exps) * value for e, value in zip(exps, v, strict=True)]).sum(dim=0))
    return torch.stack(rows)


def _attention_by_einsum(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = torch.einsum("...nd,...md->...nm", q, k) / q.shape[-1] ** 0.5
    return torch.einsum("...nm,...md->...nd", F.softmax(scores, dim=-1), v)


def _attention_by_bmm(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    flat_q, flat_k, flat_v = (t.reshape(-1, *t.shape[-2:]) for t in (q, k, v))
    start = torch.zeros(len(flat_q), q.shape[-2], k.shape[-2], dtype=q.dtype)
    scaled = torch.baddbmm(start, flat_q, flat_k.mT, alpha=1 / math.sqrt(q.shape[-1]))
    return torch.bmm(torch.nn.Softmax(dim=2)(scaled), flat_v).reshape(*q.shape[:-1], v.shape[-1])


def _attention_in_double(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    exps = torch.exp((q / math.sqrt(q.shape[-1])).double() @ k.double().mT)
    return (exps @ v.double() / exps.sum(dim=-1, keepdim=True)).to(v.dtype)


def _attention_by_vmap(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    if q.ndim > 2:
        return torch.func.vmap(_attention_by_vmap)(q, k, v)
    return torch.func.vmap(lambda query: torch.softmax(k @ query / math.sqrt(k.shape[-1]), dim=0) @ v)(q)


def _attention_in_place(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    q = q.clone()
    q.div_(q.shape[-1] ** 0.25)
    scaled = q @ (k / k.shape[-1] ** 0.25).mT
    scaled -= scaled.amax(dim=-1, keepdim=True).detach()
    return torch.exp(scaled - scaled.logsumexp(dim=-1, keepdim=True)) @ v


def _attention_by_broadcasting(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(dim=-1)
    alpha = torch.softmax(scores.mul(q.size(-1) ** -0.5), dim=-1)
    return (alpha.unsqueeze(-1) * v.unsqueeze(-3)).sum(dim=-2)


def _attention_in_chunks_of_keys(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    total, result = torch.zeros((), dtype=q.dtype), torch.zeros((), dtype=v.dtype)
    for keys, values in zip(k.split(2, dim=-2), v.split(2, dim=-2), strict=True):
        exps = torch.exp(q @ keys.transpose(-1, -2) / math.sqrt(q.shape[-1]))
        total, result = total + exps.sum(dim=-1, keepdim=True), result + exps @ values
    return result / total


SCALED_DOT_PRODUCT = (
    _attention_by_loop,
    _attention_by_einsum,
    _attention_by_bmm,
    _attention_in_double,
    _attention_by_vmap,
    _attention_in_place,
    _attention_by_broadcasting,
    _attention_in_chunks_of_keys,
)


# attention.dot_product_variance


def _variance_by_loop(q: Tensor, k: Tensor) -> Tensor:
    dots = [torch.dot(a, b) for a, b in zip(q, k, strict=True)]
    mean = sum(dots) / len(dots)
    return torch.stack([(dot - mean) ** 2 for dot in dots]).sum() / (len(dots) - 1)


def _variance_in_numpy(q: Tensor, k: Tensor) -> Tensor:
    return torch.tensor(numpy.var((q.numpy() * k.numpy()).sum(axis=1), ddof=1), dtype=q.dtype)


def _variance_in_place(q: Tensor, k: Tensor) -> Tensor:
    dots = q.clone().mul_(k).sum(dim=1)
    dots -= dots.mean()
    return torch.dot(dots, dots) / (len(dots) - 1)


def _variance_by_vmap(q: Tensor, k: Tensor) -> Tensor:
    return torch.func.vmap(torch.dot)(q, k).var(unbiased=True)


@torch.no_grad()
def _variance_in_double(q: Tensor, k: Tensor) -> Tensor:
    dots = (q.double() * k.double()).sum(dim=-1)
    mean_of_squares, square_of_mean = (dots**2).mean(), dots.mean() ** 2
    return ((mean_of_squares - square_of_mean) * len(dots) / (len(dots) - 1)).to(q.dtype)


DOT_PRODUCT_VARIANCE = (
    _variance_by_loop,
    _variance_in_numpy,
    _variance_in_place,
    _variance_by_vmap,
    _variance_in_double,
    lambda q, k: torch.var(torch.einsum("sd,sd->s", q, k)),
    lambda q, k: torch.diagonal(q @ k.T).std() ** 2,
    lambda q, k: torch.cov((q.unsqueeze(1) @ k.unsqueeze(2)).flatten()),
)


# attention.softmax_jacobian


def _jacobian_by_loop(scores: Tensor) -> Tensor:
    alpha = scores.softmax(dim=-1)
    jacobian = torch.zeros(*alpha.shape, alpha.shape[-1], dtype=alpha.dtype)
    for i in range(alpha.shape[-1]):
        for j in range(alpha.shape[-1]):
            jacobian[..., i, j] = alpha[..., i] * (float(i == j) - alpha[..., j])
    return jacobian


def _jacobian_by_where(scores: Tensor) -> Tensor:
    exps = torch.exp(scores)
    alpha = exps / exps.sum(dim=-1, keepdim=True)
    square = torch.einsum("...i,...j->...ij", alpha, alpha)
    diagonal = torch.eye(alpha.shape[-1], dtype=torch.bool)
    return torch.where(diagonal, alpha.unsqueeze(-1) - square, -square)


def _jacobian_in_place(scores: Tensor) -> Tensor:
    alpha = torch.softmax(scores, dim=-1)
    jacobian = -alpha.unsqueeze(-1) @ alpha.unsqueeze(-2)
    jacobian.diagonal(dim1=-2, dim2=-1).add_(alpha)
    return jacobian


def _jacobian_in_numpy(scores: Tensor) -> Tensor:
    exps = numpy.exp(scores.numpy())
    alpha = exps / exps.sum(axis=-1, keepdims=True)
    identity = numpy.eye(alpha.shape[-1], dtype=alpha.dtype)
    return torch.from_numpy(alpha[..., None] * (identity - alpha[..., None, :]))


def _jacobian_by_vmap(scores: Tensor) -> Tensor:
    def one_row(row: Tensor) -> Tensor:
        alpha = torch.softmax(row, dim=0)
        return torch.diag(alpha) - torch.outer(alpha, alpha)

    rows = torch.func.vmap(one_row)(scores.reshape(-1, scores.shape[-1]))
    return rows.reshape(*scores.shape, scores.shape[-1])


def _jacobian_by_autograd(scores: Tensor) -> Tensor:
    scores = scores.clone().requires_grad_()
    alpha = torch.softmax(scores, dim=-1)
    rows = [torch.autograd.grad(alpha[..., i].sum(), scores, retain_graph=True)[0] for i in range(alpha.shape[-1])]
    return torch.stack(rows, dim=-2)


@torch.no_grad()
def _jacobian_in_double(scores: Tensor) -> Tensor:
    alpha = torch.softmax(scores.double(), dim=-1)
    return (torch.diag_embed(alpha) - alpha.unsqueeze(-1) * alpha.unsqueeze(-2)).to(scores.dtype)


SOFTMAX_JACOBIAN = (
    _jacobian_by_loop,
    _jacobian_by_where,
    _jacobian_in_place,
    _jacobian_in_numpy,
    _jacobian_by_vmap,
    _jacobian_by_autograd,
    _jacobian_in_double,
    lambda scores: (
        torch.softmax(scores, -1)[..., :, None]
        * (torch.eye(scores.shape[-1], dtype=scores.dtype) - torch.softmax(scores, -1)[..., None, :])
    ),
)
