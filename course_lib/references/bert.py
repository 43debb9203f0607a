"""Small balanced sets of labels, and a linear layer on frozen features, to measure what pre-training is worth."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

EPSILON = 1e-5
"""Added to a feature's variance, as in layer norm, so that a constant feature is not divided by 0."""


def few_labels(labels: Int[Tensor, " texts"], order: Int[Tensor, " texts"], count: int) -> Int[Tensor, " count"]:
    """Pick the first texts of each class in a given order, equally many of each class.

    With the same order a smaller set is part of a larger one, so a curve over set sizes compares only sizes.

    Args:
        labels: the labels of all texts that may be trained on.
        order: their positions, shuffled.
        count: the number of texts to pick: a multiple of the number of classes, each of which has enough.

    Returns:
        Positions in `labels`, in the order of `order`.
    """
    of_class = labels[order].unsqueeze(1) == labels.unique()
    so_far = of_class.cumsum(dim=0)
    each = count // of_class.shape[1]
    chosen = (of_class & (so_far <= each)).any(dim=1)
    return order[chosen]


def linear_probe(
    features: Float[Tensor, "texts d_model"],
    labels: Int[Tensor, " texts"],
    new_features: Float[Tensor, "new d_model"],
    classes: int,
    rate: float,
    decay: float,
    steps: int,
) -> Float[Tensor, "new classes"]:
    """Train a linear layer on frozen features by gradient descent from 0, and score new texts with it.

    Features are standardized by the training texts' mean and variance; the bias does not decay. The gradient of the
    mean cross-entropy in the logits is (softmax - one-hot) / texts.

    Alain and Bengio (2016), "Understanding intermediate layers using linear classifier probes".

    Args:
        features: the features of the training texts.
        labels: their classes.
        new_features: the features of the texts to score.
        classes: the number of classes.
        rate: the learning rate.
        decay: the weight decay: each step subtracts this share of W, times the rate.
        steps: the number of steps, each on all training texts.
    """
    mean, variance = features.mean(dim=0), features.var(dim=0, correction=0)
    x, new = ((each - mean) / (variance + EPSILON).sqrt() for each in (features, new_features))
    W, b = x.new_zeros(classes, x.shape[1]), x.new_zeros(classes)
    right = F.one_hot(labels, classes)
    for _ in range(steps):
        wrong = (torch.softmax(x @ W.T + b, dim=-1) - right) / len(x)
        W = W - rate * (wrong.T @ x + decay * W)
        b = b - rate * wrong.sum(dim=0)
    return new @ W.T + b
