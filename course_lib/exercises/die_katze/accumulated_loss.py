"""Lesson 11, die_katze.accumulated_loss: One large batch out of small ones."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, edits_of, hints, integer, mistake, slips
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.references import die_katze

_EMPTY = "a batch without targets"


def _loss_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(
            "worked example: 90 tokens and 10", (torch.tensor([2.0, 4.0]), torch.tensor([90, 10])), gradients=(0,)
        )
    for name, dtype in (
        ("four batches", torch.float32),
        ("others", torch.float32),
        ("double precision", torch.float64),
    ):
        count = integer(generator, 3, 8)
        means = torch.rand(count, generator=generator, dtype=dtype) * 5 + 1
        targets = torch.randint(3, 400, (count,), generator=generator)
        yield Case(name, (means, targets), gradients=(0,))
    yield Case("a single batch", (torch.tensor([1.5]), torch.tensor([7])))
    means = torch.rand(3, generator=generator) * 5 + 1
    yield Case("a single token", (means, torch.tensor([1, 2, integer(generator, 3, 9)])), gradients=(0,))
    means = torch.rand(4, generator=generator) * 5 + 1
    targets = torch.randint(3, 400, (4,), generator=generator)
    position = integer(generator, 0, 4)
    means[position], targets[position] = torch.nan, 0
    yield Case("one batch has nothing to predict", (means, targets), gradients=(0,), part=_EMPTY)


def _weighed(means: Tensor, targets: Tensor) -> Tensor:
    known = torch.where(targets > 0, means, 0.0)
    weights = targets.to(means.dtype)
    return (known * weights).sum() / weights.sum()


_slip = edits_of(_weighed)


def _by_loop(means: Tensor, targets: Tensor) -> Tensor:
    total = torch.zeros((), dtype=means.dtype)
    tokens = 0
    for mean, count in zip(means, targets.tolist(), strict=True):
        if count:
            total = total + mean * count
            tokens += count
    return total / tokens


EXERCISE = Exercise(
    id="die_katze.accumulated_loss",
    title="One large batch out of small ones",
    statement=(
        "accumulated_loss(means float [batches], targets int64 [batches]) -> []: the mean loss over all targets of "
        "all batches, from each batch's mean and its number of targets. Batches without targets don't count."
    ),
    minutes=10,
    difficulty=3,
    importance=5,
    section="More than fits",
    source="Vaswani et al. (2017), section 5.1",
    reference=die_katze.accumulated_loss,
    cases=and_turned_around(_loss_cases),
    parts={CORE: 2, _EMPTY: 1},
    correct=(_weighed, _by_loop, lambda means, targets: (means * targets).nansum() / targets.sum()),
    steps=("weights",),
    hints=hints(
        idea=(
            "Think of one large batch with all the tokens in it: every token counts the same. So weight each batch's "
            "mean by its number of tokens.",
            ("mean_of_means", "sum_of_means", "upside_down"),
        ),
        shapes=(
            "`means` and `targets` are both `[batches]`; the result is one number, and gradients flow through it. The "
            "mean of an empty batch is NaN, and NaN times 0 is still NaN. `torch.where` can leave it out.",
            ("nan_times_nothing",),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer is NaN if a batch has no targets: its mean is NaN, and NaN times 0 is still NaN. Leave it "
            "out before you multiply.",
            nan_times_nothing=_slip(("torch.where(targets > 0, means, 0.0)", "means")),
            alone=True,
        ),
        *slips(
            _weighed,
            mean_of_means=(
                "Your answer is the mean of the batch means, so a token in a small batch counts more than one in a "
                "large batch. Weight each mean by its number of targets.",
                lambda means, targets: means.mean(),
            ),
            sum_of_means=(
                "Your answer adds up the batch means. Weight each by its share of all targets, and you get the "
                "loss and the gradients of one large batch.",
                lambda means, targets: means.nansum(),
            ),
            not_divided=(
                "Your answer is the sum over all targets, so the gradients grow with the batch. Divide by the number "
                "of targets.",
                (" / weights.sum()", ""),
            ),
            over_batches=(
                "Your answer divides the sum over all targets by the number of batches. Divide by the number of "
                "targets.",
                ("weights.sum()", "len(means)"),
            ),
            over_the_largest=(
                "Your answer divides by the number of targets in the largest batch. Divide by the number in all "
                "batches.",
                ("weights.sum()", "weights.max()"),
            ),
            upside_down=(
                "Your answer gives small batches more weight. Weight each mean by its number of targets.",
                ("targets.to", "(1 / targets.clamp(min=1)).to"),
            ),
            squared=(
                "Your answer weights each mean by the square of its number of targets. Multiply by that number once.",
                ("targets.to", "targets.square().to"),
            ),
            largest_batch=(
                "Your answer is the loss of the largest batch. Average over all batches, weighted by their numbers "
                "of targets.",
                lambda means, targets: means[targets.argmax()],
            ),
            last_batch=(
                "Your answer is the loss of the last batch. Average over all batches, weighted by their numbers of "
                "targets.",
                lambda means, targets: means[-1],
            ),
        ),
    ),
)
