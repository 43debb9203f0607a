"""Right answers to the exercises of lesson 00 (`course_lib/exercises/words_in_a_bag.py`)."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy
import torch
import torch.nn.functional as F
from torch import Tensor, nn

# words_in_a_bag.look_up


def _look_up_by_loop(table: Tensor, ids: Tensor) -> Tensor:
    rows = torch.stack([table[int(i)] for i in ids.flatten()])
    return rows.reshape(*ids.shape, table.shape[1])


LOOK_UP = (
    _look_up_by_loop,
    lambda table, ids: F.embedding(ids, table),
    lambda table, ids: F.one_hot(ids, len(table)).to(table.dtype) @ table,
    lambda table, ids: torch.index_select(table, 0, ids.flatten()).view(*ids.shape, -1),
    lambda table, ids: table.T[:, ids].movedim(0, -1),
    lambda table, ids: torch.einsum("...v,vd->...d", F.one_hot(ids, table.size(0)).to(table.dtype), table),
    lambda table, ids: table.gather(0, ids.reshape(-1, 1).expand(-1, table.shape[1])).unflatten(0, ids.shape),
    lambda table, ids: torch.from_numpy(table.numpy()[ids.numpy()]),
    lambda table, ids: nn.Embedding.from_pretrained(table, freeze=False)(ids),
    lambda table, ids: torch.vmap(lambda i: table[i])(ids.flatten()).reshape(*ids.shape, table.shape[-1]),
)


# words_in_a_bag.cosine


def _cosines_by_loop(table: Tensor, i: int) -> Tensor:
    found = []
    for word in table:
        lengths = torch.sqrt((word**2).sum()) * torch.sqrt((table[i] ** 2).sum())
        found.append(torch.dot(word, table[i]) / lengths)
    return torch.stack(found)


def _cosines_in_numpy(table: Tensor, i: int) -> Tensor:
    words = table.numpy()
    lengths = numpy.linalg.norm(words, axis=1)
    return torch.from_numpy(words @ words[i] / (lengths * lengths[i]))


def _cosines_with_lists(table: Tensor, i: int) -> Tensor:
    words = table.tolist()
    found = [
        sum(a * b for a, b in zip(word, words[i], strict=True)) / (math.hypot(*word) * math.hypot(*words[i]))
        for word in words
    ]
    return torch.tensor(found, dtype=table.dtype)


COSINE = (
    _cosines_by_loop,
    _cosines_in_numpy,
    _cosines_with_lists,
    lambda table, i: F.normalize(table, dim=-1) @ F.normalize(table[i], dim=0),
    lambda table, i: (F.normalize(table) @ F.normalize(table).T)[i],
    lambda table, i: (table * table[i]).sum(-1) / torch.linalg.vector_norm(table, dim=-1) / table[i].norm(),
    lambda table, i: (
        torch.einsum("vd,d->v", table, table[i]) * (table.square().sum(1) * table[i].dot(table[i])).rsqrt()
    ),
    lambda table, i: torch.vmap(lambda word: word @ table[i] / (word @ word * (table[i] @ table[i])).sqrt())(table),
)


# words_in_a_bag.mean_pooling


def _mean_by_loop(x: Tensor, mask: Tensor) -> Tensor:
    means = [
        sentence[allowed].mean(dim=0) if allowed.any() else torch.zeros_like(sentence[0])
        for sentence, allowed in zip(x, mask, strict=True)
    ]
    return torch.stack(means)


def _mean_in_place(x: Tensor, mask: Tensor) -> Tensor:
    words = x.clone()
    words[~mask] = 0
    return words.sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)


def _mean_by_weights(x: Tensor, mask: Tensor) -> Tensor:
    weights = mask.to(x.dtype) / mask.sum(dim=-1, keepdim=True).clamp(min=1).to(x.dtype)
    return torch.einsum("bw,bwd->bd", weights, x)


def _mean_by_nan(x: Tensor, mask: Tensor) -> Tensor:
    return torch.nan_to_num(x.masked_fill(~mask.unsqueeze(-1), torch.nan).nanmean(dim=1))


def _mean_in_double(x: Tensor, mask: Tensor) -> Tensor:
    number = mask.sum(dim=1).double()
    total = torch.where(mask[..., None], x.double(), 0.0).sum(dim=1)
    return (total / torch.where(number == 0, 1.0, number)[:, None]).to(x.dtype)


MEAN_POOLING = (
    _mean_by_loop,
    _mean_in_place,
    _mean_by_weights,
    _mean_by_nan,
    _mean_in_double,
    lambda x, mask: (x * mask[:, :, None]).sum(1) / (mask.sum(1)[:, None] + 1e-9),
    lambda x, mask: (x.mT @ mask.to(x.dtype).unsqueeze(-1)).squeeze(-1) / mask.sum(-1, keepdim=True).clamp(min=1),
    lambda x, mask: torch.nan_to_num(x.masked_fill(~mask.unsqueeze(-1), 0).sum(1) / mask.sum(1, keepdim=True)),
)


# words_in_a_bag.same_vector


def _same_shares(first: str, second: str) -> bool:
    def shares(text: str) -> dict[str, Fraction]:
        words = text.split()
        return {word: Fraction(words.count(word), len(words)) for word in words}

    return shares(first) == shares(second)


def _same_by_repeating(first: str, second: str) -> bool:
    ours, theirs = first.split(), second.split()
    return sorted(ours * len(theirs)) == sorted(theirs * len(ours))


def _same_by_random_embeddings(first: str, second: str) -> bool:
    words = sorted(set(first.split()) | set(second.split()))
    table = torch.randn(len(words), 16, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    means = [table[[words.index(word) for word in text.split()]].mean(0) for text in (first, second)]
    return torch.allclose(means[0], means[1])


def _same_by_dividing_out(first: str, second: str) -> bool:
    def smallest(text: str) -> dict[str, int]:
        counts = Counter(text.split())
        divisor = math.gcd(*counts.values())
        return {word: times // divisor for word, times in counts.items()}

    return smallest(first) == smallest(second)


SAME_VECTOR = (
    _same_shares,
    _same_by_repeating,
    _same_by_random_embeddings,
    _same_by_dividing_out,
)


# words_in_a_bag.bag_of_embeddings


class _BagWithLoops(nn.Module):
    def __init__(self, vocabulary: int, d_model: int, classes: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, d_model)
        self.output = nn.Linear(d_model, classes)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        sentences = zip(ids, mask, strict=True)
        return torch.stack([self.output(self.embedding(words[allowed]).mean(0)) for words, allowed in sentences])


class _BagOfLogits(_BagWithLoops):
    """The mean of every word's logits: a linear layer and a mean may change places."""

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        logits: Tensor = self.output(self.embedding(ids))
        return (logits * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)


class _BagOfCounts(_BagWithLoops):
    """The shares of the words, times the table."""

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        counts = (F.one_hot(ids, self.embedding.num_embeddings) * mask.unsqueeze(-1)).sum(1)
        counts = counts.to(self.embedding.weight.dtype)
        logits: Tensor = self.output(counts / counts.sum(1, keepdim=True) @ self.embedding.weight)
        return logits


class _BagWithMatrices(_BagWithLoops):
    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        shares = mask.to(self.embedding.weight.dtype) / mask.sum(dim=1, keepdim=True)
        pooled = torch.bmm(shares.unsqueeze(1), self.embedding.weight[ids]).squeeze(1)
        return pooled @ self.output.weight.T + self.output.bias


class _BagByFunctions(_BagWithLoops):
    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        x = F.embedding(ids, self.embedding.weight).masked_fill(~mask.unsqueeze(-1), 0.0)
        pooled = x.sum(-2) / mask.sum(-1).clamp(min=1).unsqueeze(-1)
        return F.linear(pooled, self.output.weight, self.output.bias)


class _BagByEmbeddingBag(_BagWithLoops):
    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        weights = mask.to(self.embedding.weight.dtype) / mask.sum(dim=1, keepdim=True)
        pooled = F.embedding_bag(ids, self.embedding.weight, mode="sum", per_sample_weights=weights)
        logits: Tensor = self.output(pooled)
        return logits


class _BagWithPaddingIndex(_BagWithLoops):
    """As is usual where 0 is the id of padding: that row is never learned."""

    def __init__(self, vocabulary: int, d_model: int, classes: int) -> None:
        super().__init__(vocabulary, d_model, classes)
        self.embedding = nn.Embedding(vocabulary, d_model, padding_idx=0)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        kept = mask.unsqueeze(-1).float()
        logits: Tensor = self.output((self.embedding(ids) * kept).sum(dim=1) / kept.sum(dim=1))
        return logits


BAG_OF_EMBEDDINGS = (
    _BagWithPaddingIndex,
    _BagWithLoops,
    _BagOfLogits,
    _BagOfCounts,
    _BagWithMatrices,
    _BagByFunctions,
    _BagByEmbeddingBag,
)


# words_in_a_bag.accuracy


def _accuracy_by_loop(logits: Tensor, labels: Tensor) -> Tensor:
    right = sum(int(row.argmax()) == int(label) for row, label in zip(logits, labels, strict=True))
    return torch.tensor(right / len(labels))


ACCURACY = (
    _accuracy_by_loop,
    lambda logits, labels: torch.mean((logits.max(dim=1).indices == labels).to(torch.float32)),
    lambda logits, labels: (logits.softmax(-1).argmax(-1) == labels).sum() / len(labels),
    lambda logits, labels: torch.eq(logits.topk(1).indices.squeeze(-1), labels).float().mean(),
    lambda logits, labels: (logits.gather(1, labels[:, None])[:, 0] == logits.amax(1)).float().mean(),
    lambda logits, labels: torch.tensor(numpy.mean(logits.numpy().argmax(1) == labels.numpy()), dtype=torch.float32),
    lambda logits, labels: 1 - torch.count_nonzero(logits.argmax(1) - labels) / labels.numel(),
)


# words_in_a_bag.majority


def _majority_by_counting(training_labels: Tensor, test_labels: Tensor) -> Tensor:
    ((label, _),) = Counter(training_labels.tolist()).most_common(1)
    return torch.tensor(sum(other == label for other in test_labels.tolist()) / len(test_labels))


def _majority_by_unique(training_labels: Tensor, test_labels: Tensor) -> Tensor:
    labels, counts = training_labels.unique(return_counts=True)
    right: Tensor = test_labels == labels[counts.argmax()]
    return right.float().mean()


def _majority_in_numpy(training_labels: Tensor, test_labels: Tensor) -> Tensor:
    label = numpy.bincount(training_labels.numpy()).argmax()
    return torch.tensor((test_labels.numpy() == label).mean(), dtype=torch.float32)


MAJORITY = (
    _majority_by_counting,
    _majority_by_unique,
    _majority_in_numpy,
    lambda training_labels, test_labels: (test_labels == training_labels.mode().values).float().mean(),
    lambda training_labels, test_labels: (
        (test_labels == F.one_hot(training_labels).sum(0).argmax()).sum() / len(test_labels)
    ),
    lambda training_labels, test_labels: torch.tensor(
        test_labels.tolist().count(max(training_labels.tolist(), key=training_labels.tolist().count)) / len(test_labels)
    ),
)


# words_in_a_bag.parameters


def _parameters_of_layers(vocabulary: int, d_model: int, hidden_dim: int, classes: int) -> int:
    layers = nn.ModuleList([nn.Embedding(vocabulary, d_model), nn.Linear(d_model, classes)])
    return sum(parameter.numel() for parameter in layers.parameters())


def _parameters_of_shapes(vocabulary: int, d_model: int, hidden_dim: int, classes: int) -> int:
    return sum(math.prod(shape) for shape in ((vocabulary, d_model), (classes, d_model), (classes,)))


PARAMETERS = (
    _parameters_of_layers,
    _parameters_of_shapes,
    lambda vocabulary, d_model, hidden_dim, classes: vocabulary * d_model + (d_model + 1) * classes,
    lambda vocabulary, d_model, hidden_dim, classes: d_model * (vocabulary + classes) + classes,
)
