"""Lesson 09, bert.few_labels: A fair handful of labels."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import hints, integer, slips
from course_lib.judging.exercise import Case, Exercise
from course_lib.references import bert


def _few_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        labels, order = torch.tensor([1, 1, 0, 1, 0, 1]), torch.tensor([3, 0, 5, 4, 1, 2])
        yield Case("worked example: four of six texts", (labels, order, 4))
        yield Case("the first two of them", (labels, order, 2))
        yield Case("a single text", (torch.tensor([2]), torch.tensor([0]), 1))
        yield Case("no text at all", (labels, order, 0))
    for name, classes in (("two classes", [0, 1]), ("classes 2, 5 and 9", [9, 2, 5]), ("four classes", [3, 0, 1, 2])):
        each = integer(generator, 3, 6)
        # Each class has enough, and the first has many more than the others.
        counts = [4 * each, *(each + 2 for _ in classes[1:])]
        labels = torch.repeat_interleave(torch.tensor(classes), torch.tensor(counts))
        labels = labels[torch.randperm(len(labels), generator=generator)]
        order = torch.randperm(len(labels), generator=generator)
        yield Case(name, (labels, order, each * len(classes)))


def _few_by_counting(labels: Tensor, order: Tensor, count: int) -> Tensor:
    classes = labels.unique().tolist()
    each = count // len(classes)
    taken = dict.fromkeys(classes, 0)
    chosen = []
    for position in order.tolist():
        label = int(labels[position])
        if taken[label] < each:
            chosen.append(position)
            taken[label] += 1
    return torch.tensor(chosen, dtype=torch.int64)


def _few_class_by_class(labels: Tensor, order: Tensor, count: int) -> Tensor:
    classes = labels.unique()
    ranks = [(labels[order] == label).nonzero().flatten()[: count // len(classes)] for label in classes]
    return order[torch.cat(ranks).sort().values]


def _few_by_filtering(labels: Tensor, order: Tensor, count: int) -> Tensor:
    quota = {label: count // len(set(labels.tolist())) for label in set(labels.tolist())}
    kept = [False] * len(order)
    for rank, label in enumerate(labels[order].tolist()):
        kept[rank] = quota[label] > 0
        quota[label] -= 1
    return order[torch.tensor(kept)]


_ENOUGH, _LABEL, _RETURN = "if taken[label] < each:", "int(labels[position])", "torch.tensor(chosen, dtype=torch.int64)"
_LOOP = "for position in order.tolist():"

EXERCISE = Exercise(
    id="bert.few_labels",
    title="A fair handful of labels",
    statement=(
        "few_labels(labels [texts], order [texts], count) -> [count]: the first positions of each class in `order`, "
        "the same number for each class, in the order of `order`."
    ),
    points=2,
    minutes=10,
    difficulty=2,
    importance=4,
    section="What is it worth on real reviews?",
    source="Devlin et al. (2019), section 5.3, on real labels",
    reference=bert.few_labels,
    cases=_few_cases,
    correct=(_few_by_counting, _few_class_by_class, _few_by_filtering),
    steps=("so_far",),
    hints=hints(
        idea="Walk along `order` once. Take a text if its class has not yet reached its share.",
        shapes=(
            "`order` holds positions: `labels[order]` are the labels in the order of your walk. Each class gets "
            "`count` divided by the number of distinct labels.",
            ("labels_in_their_own_order", "ranks_returned", "count_of_each"),
        ),
    ),
    misconceptions=slips(
        _few_by_counting,
        first_of_all=(
            "Your answer takes the first `count` texts of any class. Take the same number from each class; otherwise, "
            "a small set may have hardly any texts of a rare class.",
            (_ENOUGH, "if len(chosen) < count:"),
        ),
        count_of_each=(
            "Your answer takes `count` texts from each class. Divide `count` by the number of classes.",
            ("count // len(classes)", "count"),
        ),
        one_too_many=(
            "Your answer takes one text too many from each class: compare with `<`, and count a text when you take it.",
            (_ENOUGH, "if taken[label] <= each:"),
        ),
        sorted=(
            "Your texts are right, but sorted by position. Return them in the order of your walk along `order`.",
            (_RETURN, "torch.tensor(sorted(chosen), dtype=torch.int64)"),
        ),
        order_ignored=(
            "Your answer walks along the texts as they are stored, so every draw is the same. Walk along `order`.",
            (_LOOP, "for position in range(len(labels)):"),
        ),
        from_the_end=(
            "Your answer takes the last texts of each class in `order`. Take the first ones, so that smaller sets are "
            "subsets of larger ones.",
            (_LOOP, "for position in order.tolist()[::-1]:"),
            (_RETURN, f"{_RETURN}.flip(0)"),
        ),
        ranks_returned=(
            "Your answer returns indices into `order`. Return positions in `labels`: look them up with `order[...]`.",
            (_LOOP, "for rank, position in enumerate(order.tolist()):"),
            ("chosen.append(position)", "chosen.append(rank)"),
        ),
        labels_in_their_own_order=(
            "Your answer looks up a text's label by its index in `order`. `order` holds positions: the label of "
            "position p is `labels[p]`.",
            (_LOOP, "for rank, position in enumerate(order.tolist()):"),
            (_LABEL, "int(labels[rank])"),
        ),
        class_after_class=(
            "Your texts are right, but grouped by class. Return them in the order of your walk along `order`.",
            lambda labels, order, count: torch.cat(
                [order[labels[order] == label][: count // len(labels.unique())] for label in labels.unique()]
            ),
        ),
        in_proportion=(
            "Your answer takes texts from each class in proportion to its size. Take the same number from each class, "
            "so that a constant answer does equally well for every `count`.",
            lambda labels, order, count: order[
                sum(
                    (
                        ((labels[order] == label).cumsum(0) <= round(count * float((labels == label).double().mean())))
                        & (labels[order] == label)
                        for label in labels.unique()
                    ),
                    start=torch.zeros(len(order), dtype=torch.bool),
                )
            ],
        ),
    ),
)
