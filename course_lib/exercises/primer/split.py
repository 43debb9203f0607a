"""Primer, primer.split: Keep some for the test."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import Kind, and_turned_around, edits_of, hints, integer, mistake, sizes, slips
from course_lib.exercises.primer.shared import random_labels
from course_lib.judging.exercise import Case, Exercise
from course_lib.references import primer

Sides = tuple[Tensor, Tensor, Tensor, Tensor]


def _split_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        x = torch.tensor([[0.0], [10.0], [20.0], [30.0], [40.0]])
        yield Case("worked example", (x, torch.tensor([0, 1, 2, 3, 4]), torch.tensor([3, 0, 4, 1, 2]), 2))
    for name, tested, dtype in (
        ("a few for the test", 2, torch.float32),
        ("a single one for the test", 1, torch.float32),
        ("more than one half, in double precision", 5, torch.float64),
    ):
        examples = tested + integer(generator, 4, 7) if tested < 5 else 8
        yield _drawn(name, Kind(name, generator, dtype=dtype), examples, sizes(generator, 1)[0], tested)
    yield _drawn("one of each", Kind("", generator), 2, 1, 1)


def _drawn(name: str, kind: Kind, examples: int, features: int, tested: int) -> Case:
    """An order that is neither its own inverse nor leaves things where they are, where there is one."""
    generator = kind.generator
    order = torch.randperm(examples, generator=generator)
    while examples > 2 and (torch.equal(order.argsort(), order) or not 0 < order[-1] < examples - 1):
        order = torch.randperm(examples, generator=generator)
    x = kind.normal(examples, features)
    labels = random_labels(generator, 3, examples) + 3 * torch.arange(examples)
    return Case(name, (x, labels, order if examples > 2 else torch.tensor([1, 0]), tested))


def _shuffled(x: Tensor, labels: Tensor, order: Tensor, tested: int) -> Sides:
    x, labels = x[order], labels[order]
    cut = len(x) - tested
    training = x[:cut], labels[:cut]
    test = x[cut:], labels[cut:]
    return *training, *test


_slip = edits_of(_shuffled)
_ORDERED = "x[order], labels[order]"


def _by_lists(x: Tensor, labels: Tensor, order: Tensor, tested: int) -> Sides:
    rows = [(x[i], labels[i]) for i in order.tolist()]
    training, test = rows[: len(rows) - tested], rows[len(rows) - tested :]
    (a, b), (c, d) = (zip(*side, strict=True) for side in (training, test))
    return torch.stack(a), torch.stack(b), torch.stack(c), torch.stack(d)


def _by_torch(x: Tensor, labels: Tensor, order: Tensor, tested: int) -> Sides:
    kept = [len(order) - tested, tested]
    (a, c), (b, d) = x.index_select(0, order).split(kept), labels.gather(0, order).split(kept)
    return a, b, c, d


EXERCISE = Exercise(
    id="primer.split",
    title="Keep some for the test",
    statement=(
        "split(x [examples, features], labels int [examples], order int [examples], tested int) -> (x_training, "
        "labels_training, x_test, labels_test): the examples in the given order; the last `tested` are the test set."
    ),
    points=1,
    minutes=5,
    difficulty=1,
    importance=4,
    section="A split keeps you honest",
    source="Goodfellow et al. (2016), Deep Learning, section 5.3",
    reference=primer.split,
    cases=and_turned_around(_split_cases),
    correct=(_shuffled, _by_lists, _by_torch),
    hints=hints(
        idea=(
            "`order` is a shuffled list of indices. Index both `x` and the labels with `order`, so that each example "
            "keeps its label. Then cut `x` and the labels at the same position."
        ),
        shapes=(
            "`[examples, features]` becomes `[examples - tested, features]` and `[tested, features]`. The labels "
            "become `[examples - tested]` and `[tested]`.",
            ("test_first", "test_in_training", "sides_swapped"),
        ),
    ),
    misconceptions=(
        *slips(
            _shuffled,
            not_shuffled=(
                "Your answer leaves the examples in their original order. Index the examples and the labels with "
                "`order`: if the data is sorted, the two sets contain different classes.",
                (_ORDERED, "x, labels"),
            ),
            labels_not_shuffled=(
                "Your answer shuffles the examples but not the labels, so examples get the wrong labels. Index both "
                "with `order`.",
                (_ORDERED, "x[order], labels"),
            ),
            examples_not_shuffled=(
                "Your answer shuffles the labels but not the examples, so examples get the wrong labels. Index both "
                "with `order`.",
                (_ORDERED, "x, labels[order]"),
            ),
            test_in_training=(
                "Your answer trains on everything, including the test set, so the test says nothing about new "
                "examples. Keep the last `tested` examples out of training.",
                ("x[:cut], labels[:cut]", "x, labels"),
            ),
            sides_swapped=(
                "Your answer returns the test set first. Return the training set first.",
                ("*training, *test", "*test, *training"),
            ),
            examples_then_labels=(
                "Your answer returns both sets of examples and then both sets of labels. Keep each set together: "
                "x_training, labels_training, x_test, labels_test.",
                ("*training, *test", "training[0], test[0], training[1], test[1]"),
            ),
            order_inverted=(
                "Your answer moves example i to position order[i]. Do the opposite: put example order[i] at position "
                "i, as x[order] does.",
                (_ORDERED, "x[order.argsort()], labels[order.argsort()]"),
            ),
            test_first=(
                "Your answer tests on the first examples of the order. Test on the last `tested` examples.",
                lambda x, labels, order, tested: (
                    *(x[order[tested:]], labels[order[tested:]]),
                    *(x[order[:tested]], labels[order[:tested]]),
                ),
            ),
            shuffled_after_the_cut=(
                "Your answer cuts before it shuffles, so the last examples are always the test set. Shuffle first, "
                "then cut.",
                lambda x, labels, order, tested: (
                    *(x[order[order < len(x) - tested]], labels[order[order < len(x) - tested]]),
                    *(x[order[order >= len(x) - tested]], labels[order[order >= len(x) - tested]]),
                ),
            ),
        ),
        *mistake(
            "Your answer trains on `tested` examples and tests on the rest. Do the opposite: `tested` is the size of "
            "the test set.",
            tested_for_training=_slip(("len(x) - tested", "tested"), paired=False),
        ),
    ),
)
