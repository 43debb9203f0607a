# %% right | a Counter and a list
from collections import Counter


def few_labels(labels, order, count):
    per_class = count // len(set(labels.tolist()))
    seen, kept = Counter(), []
    for p in order.tolist():
        seen[int(labels[p])] += 1
        if seen[int(labels[p])] <= per_class:
            kept.append(p)
    return torch.tensor(kept, dtype=torch.long)


# %% right | numpy, a rank within each class
import numpy


def few_labels(labels, order, count):
    y, o = labels.numpy(), order.numpy()
    walk = y[o]
    rank = numpy.zeros(len(o), dtype=int)
    for c in numpy.unique(y):
        rank[walk == c] = numpy.arange((walk == c).sum())
    return torch.from_numpy(o[rank < count // len(numpy.unique(y))].copy())


# %% wrong | two classes are assumed
def few_labels(labels, order, count):
    shuffled = labels[order]
    zeros, ones = order[shuffled == 0][: count // 2], order[shuffled == 1][: count // 2]
    picked = set(zeros.tolist()) | set(ones.tolist())
    return torch.tensor([p for p in order.tolist() if p in picked], dtype=torch.long)


# %% wrong | stops before the smaller class is full
def few_labels(labels, order, count):
    counts = {c: 0 for c in labels.unique().tolist()}
    out = []
    for p in order.tolist():
        if max(counts.values()) == count // len(counts):
            break
        counts[labels[p].item()] += 1
        out.append(p)
    return torch.tensor(out, dtype=torch.long)


# %% wrong | classes concatenated | class_after_class
def few_labels(labels, order, count):
    n = count // labels.unique().numel()
    parts = []
    for c in labels.unique():
        idx = order[labels[order] == c]
        parts.append(idx[:n])
    return torch.cat(parts)


# %% wrong | no balance | first_of_all
def few_labels(labels, order, count):
    return order[:count]


# %% wrong | returns the labels
def few_labels(labels, order, count):
    n = count // len(labels.unique())
    walk = labels[order]
    keep = torch.zeros(len(order), dtype=torch.bool)
    for c in labels.unique():
        keep[(walk == c).nonzero().flatten()[:n]] = True
    return walk[keep]
