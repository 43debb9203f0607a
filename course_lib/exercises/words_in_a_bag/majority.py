"""Lesson 00, words_in_a_bag.majority: The majority baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib import bags
from course_lib.exercises.common import integer
from course_lib.exercises.words_in_a_bag.shared import LESSON, WITHHELD
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import Case, Exercise, Hint, Misconception


def _majority_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: two classes", (torch.tensor([1, 0, 1, 1, 0]), torch.tensor([0, 1, 0, 0, 1, 0, 0])))
    for classes in (2, 3, 5):
        yield Case(f"{classes} classes, others in the test than in training", _labels(generator, classes))
    common = integer(generator, 5, 900 if hidden else 9)
    yield Case(
        "labels with gaps, and a class that training never saw",
        (
            torch.tensor([3, common, 1, common, 3, common]),
            torch.tensor([common] * 2 + [2] * 3 + [4] * integer(generator, 5, 9) + [3] * 4 + [1]),
        ),
    )
    yield Case("a single label each", (torch.tensor([common]), torch.tensor([common])))
    more = integer(generator, 9, 15)
    yield Case(
        "more labels in training than in the test, most of them at the end",
        (torch.tensor([0, 1, 0, *[common] * more]), torch.tensor([common, 0, 1, 0])),
    )
    others = integer(generator, 1, 4) if hidden else 2  # as many labels as in the worked example
    yield Case(
        "a majority that never occurs in the test",
        (torch.tensor([0, common, 1, common, common]), torch.tensor([1, *[1, 0, 1] * others])),
    )


def _labels(generator: Generator, classes: int) -> tuple[Tensor, Tensor]:
    """Labels of training and of the test, each of them a different number of times in the test.

    With three classes or more, training's most frequent one is neither the median nor nearest to the mean, and both
    sides taken together have another most frequent one.
    """
    drawn = torch.randperm(classes, generator=generator).tolist()
    common = next(label for label in drawn if classes == 2 or label != classes // 2)
    least, *between = [label for label in drawn if label != common]
    training, test = [common] * 5 + [least] * 3, [common] * 2 + [least] * (3 if classes == 2 else classes + 3)
    for times, label in enumerate(between, 3):
        training += [label] * 4
        test += [label] * times
    first, second = (
        torch.tensor(labels)[torch.randperm(len(labels), generator=generator)] for labels in (training, test)
    )
    return first, second


_slip = partial(Edited, bags.majority_accuracy)


def _majority_by_counting(training_labels: Tensor, test_labels: Tensor) -> Tensor:
    ((label, _),) = Counter(training_labels.tolist()).most_common(1)
    return torch.tensor(sum(other == label for other in test_labels.tolist()) / len(test_labels))


EXERCISE = Exercise(
    id="words_in_a_bag.majority",
    lesson=LESSON,
    name="majority_accuracy",
    title="The majority baseline",
    statement=(
        "majority_accuracy(training_labels int [training], test_labels int [test]) -> []: the accuracy on the test of "
        "always answering with the most frequent label of training."
    ),
    points=2,
    minutes=8,
    difficulty=1,
    importance=4,
    section="How good is it?",
    source="S1, evaluating a classifier",
    reference=bags.majority_accuracy,
    cases=_majority_cases,
    correct=(
        _majority_by_counting,
        lambda training_labels, test_labels: (test_labels == training_labels.mode().values).float().mean(),
        lambda training_labels, test_labels: (
            (test_labels == F.one_hot(training_labels).sum(0).argmax()).sum() / len(test_labels)
        ),
    ),
    hints=(
        Hint(
            "idea",
            "`torch.bincount` counts how often 0, 1, 2, ... occur among labels. The label that you always answer with "
            "is the index of the largest count, and only the training labels may decide it.",
        ),
    ),
    misconceptions=(
        Misconception(
            "majority_of_the_test",
            "Your answer takes the most frequent label of the test. That would be peeking: the test's labels are "
            "not known beforehand. Take the most frequent one of training.",
            _slip(("bincount(training_labels)", "bincount(test_labels)")),
        ),
        Misconception(
            "majority_of_both",
            "Your answer takes the most frequent label of training and test together. That is peeking as well: the "
            "test's labels are not known beforehand. Count in training alone.",
            _slip(("bincount(training_labels)", "bincount(torch.cat([training_labels, test_labels]))")),
        ),
        Misconception(
            "share_in_training",
            "Your answer measures the accuracy on the training labels. Measure the baseline where every model is "
            "measured: on the test labels.",
            _slip(("(test_labels ==", "(training_labels ==")),
        ),
        Misconception(
            "median_label",
            "Your answer takes the median of the labels. Labels are names, and have no middle: count how often each "
            "occurs, with torch.bincount, and take the argmax of the counts.",
            _slip(("torch.bincount(training_labels).argmax()", "training_labels.median()")),
        ),
        Misconception(
            "largest_label",
            "Your answer takes the largest label, not the most frequent one. Count first, with torch.bincount, then "
            "take the argmax of the counts.",
            _slip(("torch.bincount(training_labels).argmax()", "training_labels.max()")),
        ),
        Misconception(
            "first_label",
            "Your answer takes the first label, not the most frequent one. (A Counter of tensors counts each of them "
            "once, because no two are the same object: give it a list, labels.tolist().)",
            _slip(("torch.bincount(training_labels).argmax()", "training_labels[0]")),
        ),
        Misconception(
            "place_among_the_labels",
            "Your answer mistakes a position among the labels that occur for the label itself. The two differ where a "
            "label is missing: torch.unique returns the labels as well, so take the one at that position.",
            _slip(
                ("torch.bincount(training_labels).argmax()", "training_labels.unique(return_counts=True)[1].argmax()")
            ),
        ),
        Misconception(
            "count_for_the_label",
            "Your answer mistakes how often the most frequent label occurs, the max of the counts, for the label "
            "itself. Take their argmax.",
            _slip(("argmax", "max")),
        ),
        Misconception(
            "counted_from_one",
            "Your answer takes the label after the most frequent one. Position 0 of torch.bincount counts the label 0, "
            "and so on: add nothing to the argmax.",
            _slip(("argmax()", "argmax() + 1")),
        ),
        Misconception(
            "least_frequent",
            "Your answer takes the least frequent label. The baseline answers with the most frequent one.",
            _slip(("argmax", "argmin")),
        ),
        Misconception(
            "the_label_itself",
            "Your answer is the most frequent label. Return how often it is right in the test, a share from 0 to 1.",
            _slip(("test_labels ==", ""), (".float().mean()", "")),
        ),
        Misconception(
            "number_of_right_ones",
            "Your answer is a number of labels. Divide by how many there are.",
            _slip((".mean()", ".sum()")),
        ),
        Misconception(
            "divided_by_training",
            "Your answer divides by the number of training labels. The right answers are counted in the test: divide "
            "by the number of test labels.",
            _slip((".float().mean()", ".sum() / len(training_labels)")),
        ),
        Misconception(
            "error_rate",
            "Your answer counts the wrong ones. Return how often the majority's label is right.",
            _slip(("==", "!=")),
        ),
        Misconception(
            "python_number",
            "Your answer is a Python float. Return a tensor of shape [], without .item() or float(...).",
            _slip((".mean()", ".mean().item()")),
        ),
    ),
    withheld=WITHHELD,
)
