"""Lesson 01, attention.dot_product_variance: The variance of dot products."""

from collections.abc import Iterator

import numpy
import torch
from torch import Generator, Tensor

from course_lib import attention
from course_lib.exercises.common import hints, integer, slips, unbatched_kinds
from course_lib.exercises.worked_examples import A
from course_lib.judging.exercise import Case, Exercise


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


def _variance(q: Tensor, k: Tensor) -> Tensor:
    dots = (q * k).sum(dim=-1)
    squares = (dots - dots.mean()).square()
    variance = squares.sum() / (dots.numel() - 1)
    return variance


_DOTS = "(q * k).sum(dim=-1)"


def _variance_in_numpy(q: Tensor, k: Tensor) -> Tensor:
    return torch.tensor(numpy.var((q.numpy() * k.numpy()).sum(axis=1), ddof=1), dtype=q.dtype)


@torch.no_grad()
def _variance_in_double(q: Tensor, k: Tensor) -> Tensor:
    dots = (q.double() * k.double()).sum(dim=-1)
    mean_of_squares, square_of_mean = (dots**2).mean(), dots.mean() ** 2
    return ((mean_of_squares - square_of_mean) * len(dots) / (len(dots) - 1)).to(q.dtype)


EXERCISE = Exercise(
    id="attention.dot_product_variance",
    title="The variance of dot products",
    statement=(
        "dot_product_variance(q [samples, d_head], k [samples, d_head]) -> a tensor of shape []: the unbiased sample "
        "variance of the dot products of row s of q with row s of k, over all samples s."
    ),
    points=1,
    minutes=8,
    difficulty=2,
    importance=3,
    section="The variance of a dot product",
    source="S2, the motivation for scaling",
    reference=attention.dot_product_variance,
    cases=_variance_cases,
    correct=(_variance, _variance_in_numpy, _variance_in_double),
    steps=("products",),
    hints=hints(
        idea=(
            "Pair each query with its own key only. A matrix product would combine every query with every key, so "
            "multiply elementwise and sum over the components instead."
        ),
        outline=(
            "Multiply `q` and `k` elementwise, which gives `[samples, d_head]`.\n"
            "Sum over the components to get one dot product for each sample, `[samples]`.\n"
            "Take the variance of these numbers. In torch, the variance is unbiased by default.",
            ("biased", "standard_deviation", "mean_of_products"),
        ),
    ),
    misconceptions=(
        *slips(
            _variance,
            biased=(
                "Your answer divides by the number of samples, so it is too small on average. Divide by one less than "
                "the number of samples, as torch.var does by default (numpy.var doesn't).",
                (" - 1)", ")"),
            ),
            standard_deviation=(
                "Your answer is the standard deviation. Return the variance, which is the square of the standard "
                "deviation.",
                ("return variance", "return variance.sqrt()"),
            ),
            products_not_summed=(
                "Your answer takes the variance of the products of individual components. Sum the products over "
                "d_head first, to get one dot product per sample.",
                (_DOTS, "q * k"),
            ),
            every_pair=(
                "Your answer pairs every row of q with every row of k. Pair row s only with row s: (q * "
                "k).sum(dim=-1).",
                (_DOTS, "q @ k.T"),
            ),
            summed_over_samples=(
                "Your answer sums over the samples, dim=0. Sum over the components, dim=-1, to get dot products.",
                (_DOTS, "(q * k).sum(dim=0)"),
            ),
            already_scaled=(
                "Your answer divides the dot products by √d_head. Measure the unscaled dot products: you want to see "
                "how fast they grow.",
                (_DOTS, "(q * k).sum(dim=-1) / q.shape[-1] ** 0.5"),
            ),
            mean_of_products=(
                "Your answer takes the mean of the products instead of their sum, or divides by d_head, so the "
                "variance is too small by a factor of d_head². Sum the products.",
                (_DOTS, "(q * k).mean(dim=-1)"),
            ),
            queries_with_queries=(
                "Your answer multiplies the queries by themselves. Take the dot product of row s of q with row s of k.",
                (_DOTS, "(q * q).sum(dim=-1)"),
            ),
        ),
        *slips(
            _variance,
            paired=False,
            mean_not_subtracted_unbiased=(
                "Your answer squares the dot products without subtracting their mean. Subtract the mean, which is "
                "almost never exactly 0 in a sample.",
                ("dots - dots.mean()", "dots"),
            ),
            not_divided=(
                "Your answer sums the squared differences. Divide the sum by one less than the number of samples.",
                (" / (dots.numel() - 1)", ""),
            ),
            variance_of_each_component=(
                "Your answer has one variance per component, [d_head]. Sum the products over d_head first, then take "
                "the variance of the sums.",
                lambda q, k: (q * k).var(dim=0),
            ),
            sum_of_variances=(
                "Your answer sums the variances of the components, as if they were uncorrelated. In a sample, "
                "components are never quite uncorrelated: take the variance of the dot products.",
                lambda q, k: (q * k).var(dim=0).sum(),
            ),
            theory_instead_of_measurement=(
                "Your answer is d_head, the theoretical variance for components of variance 1. Measure the variance "
                "of the given samples.",
                lambda q, k: torch.tensor(float(q.shape[-1]), dtype=q.dtype),
            ),
        ),
    ),
)
