"""Lesson 01, attention.dot_product_variance: The variance of dot products."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy
import torch
from torch import Generator, Tensor

from course_lib import attention
from course_lib.checking.exercise import Case, Exercise, Hint, Misconception
from course_lib.exercises.attention.shared import LESSON, WITHHELD
from course_lib.exercises.common import as_it_is, integer, unbatched_kinds
from course_lib.exercises.worked_examples import A


def _variance_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{A.name}: its keys with themselves", (A.k, A.k))
    for kind in unbatched_kinds(generator):
        if not kind.transposed:  # which has the sizes of the one before it
            samples, d_head = kind.sizes(2)
            samples = max(samples, 2)  # a single number has no variance
        yield Case(kind.name, (kind.normal(samples, d_head) + 0.5, kind.normal(samples, d_head) + 0.5))
    many, d_head = 100 + integer(generator, 0, 100), integer(generator, 8, 16)
    q, k = torch.randn(2, many, d_head, generator=generator)
    yield Case("many samples of variance 1", (q, k))


def _variance(
    q: Tensor,
    k: Tensor,
    *,
    dots: Callable[[Tensor, Tensor], Tensor] = lambda q, k: (q * k).sum(dim=-1),
    correction: int = 1,
    spread: Callable[[Tensor, int], Tensor] = lambda dots, correction: dots.var(correction=correction),
    then: Callable[[Tensor], Tensor] = as_it_is,
) -> Tensor:
    """The variance, with the mistakes that are set."""
    return then(spread(dots(q, k), correction))


def _variance_in_numpy(q: Tensor, k: Tensor) -> Tensor:
    return torch.tensor(numpy.var((q.numpy() * k.numpy()).sum(axis=1), ddof=1), dtype=q.dtype)


def _variance_in_place(q: Tensor, k: Tensor) -> Tensor:
    dots = q.clone().mul_(k).sum(dim=1)
    dots -= dots.mean()
    return torch.dot(dots, dots) / (len(dots) - 1)


@torch.no_grad()
def _variance_in_double(q: Tensor, k: Tensor) -> Tensor:
    dots = (q.double() * k.double()).sum(dim=-1)
    mean_of_squares, square_of_mean = (dots**2).mean(), dots.mean() ** 2
    return ((mean_of_squares - square_of_mean) * len(dots) / (len(dots) - 1)).to(q.dtype)


CORRECT = (
    _variance_in_numpy,
    _variance_in_place,
    _variance_in_double,
    lambda q, k: torch.diagonal(q @ k.T).std() ** 2,
)


EXERCISE = Exercise(
    id="attention.dot_product_variance",
    lesson=LESSON,
    name="dot_product_variance",
    title="The variance of dot products",
    statement=(
        "dot_product_variance(q [samples, d_head], k [samples, d_head]) -> a tensor of shape []: the unbiased "
        "sample variance of the dot products of row s of q with row s of k, over the samples s."
    ),
    points=2,
    minutes=8,
    section="The variance of a dot product",
    source="S2, the motivation for scaling",
    reference=attention.dot_product_variance,
    cases=_variance_cases,
    correct=CORRECT,
    steps=("products",),
    hints=(
        Hint(
            "idea",
            "You want pairs, not all combinations: a matrix product would give every query with every key. Multiply "
            "element by element and sum over the components.",
        ),
        Hint(
            "outline",
            "Multiply `q` and `k` entry by entry, `[samples, d_head]`.\n"
            "Sum over the components: one dot product for each sample, `[samples]`.\n"
            "The variance of these numbers, which torch takes without bias by itself.",
            answers=(
                "biased",
                "standard_deviation",
                "mean_of_products",
                "variance_of_each_sample",
                "mean_not_subtracted",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "biased",
            "Your answer divides by the number of samples, which comes out too small on average. The unbiased "
            "variance divides by the number of samples - 1, as torch.var does by itself (numpy.var does not).",
            partial(_variance, correction=0),
        ),
        Misconception(
            "standard_deviation",
            "Your answer takes a root at the end, which makes a standard deviation. The variance is its square.",
            partial(_variance, then=torch.sqrt),
        ),
        Misconception(
            "mean_not_subtracted",
            "Your answer squares the dot products as they are. Subtract their mean before squaring: that it is 0 in "
            "theory doesn't make it 0 in a sample.",
            partial(_variance, spread=lambda dots, correction: dots.pow(2).mean()),
        ),
        Misconception(
            "mean_not_subtracted_unbiased",
            "Your answer squares the dot products as they are. Subtract their mean before squaring: that it is 0 in "
            "theory doesn't make it 0 in a sample.",
            lambda q, k: (q * k).sum(dim=-1).pow(2).sum() / (len(q) - 1),
        ),
        Misconception(
            "not_divided",
            "Your answer adds up the squared differences. Divide their sum by the number of samples - 1.",
            lambda q, k: (q * k).sum(dim=-1).var(correction=0) * len(q),
        ),
        Misconception(
            "products_not_summed",
            "Your answer takes single products of components. Sum them over d_head first: one dot product per sample.",
            partial(_variance, dots=torch.mul),
        ),
        Misconception(
            "variance_of_each_component",
            "Your answer has one variance for each component, [d_head]. Sum the products over d_head first, then "
            "take the variance of these sums.",
            lambda q, k: (q * k).var(dim=0),
        ),
        Misconception(
            "sum_of_variances",
            "Your answer adds up the variances of the components, as if they were uncorrelated; in a sample they "
            "never quite are. Take the variance of the dot products themselves.",
            lambda q, k: (q * k).var(dim=0).sum(),
        ),
        Misconception(
            "every_pair",
            "Your answer takes every row of q with every row of k. Take row s with row s only: (q * k).sum(dim=-1).",
            partial(_variance, dots=lambda q, k: q @ k.T),
        ),
        Misconception(
            "summed_over_samples",
            "Your answer sums over the samples where a dot product sums over the components: dim=-1, not dim=0.",
            partial(_variance, dots=lambda q, k: (q * k).sum(dim=0)),
        ),
        Misconception(
            "already_scaled",
            "Your answer divides the dot products by √d_head. Measure them unscaled: how fast they grow is what "
            "scaling is for.",
            partial(_variance, dots=lambda q, k: (q * k).sum(dim=-1) / math.sqrt(q.shape[-1])),
        ),
        Misconception(
            "mean_of_products",
            "Your answer takes the mean of the products where a dot product takes their sum, or divides by d_head: the "
            "variance comes out too small by d_head².",
            partial(_variance, dots=lambda q, k: (q * k).mean(dim=-1)),
        ),
        Misconception(
            "queries_with_queries",
            "Your answer multiplies the queries with themselves. Take the dot product of row s of q with row s of k.",
            partial(_variance, dots=lambda q, k: (q * q).sum(dim=-1)),
        ),
        Misconception(
            "variance_of_each_sample",
            "Your answer has one variance for each sample, [samples]. Sum the products over d_head first, then take "
            "the variance of these sums over the samples.",
            lambda q, k: (q * k).var(dim=-1),
        ),
        Misconception(
            "theory_instead_of_measurement",
            "Your answer is d_head, the variance that theory predicts for components of variance 1. Measure it on the "
            "samples that you are given.",
            lambda q, k: torch.tensor(float(q.shape[-1]), dtype=q.dtype),
        ),
        Misconception(
            "mean_of_the_dot_products",
            "Your answer is a mean. The question is how widely the dot products spread: their variance.",
            partial(_variance, spread=lambda dots, correction: dots.mean()),
        ),
    ),
    withheld=WITHHELD,
)
