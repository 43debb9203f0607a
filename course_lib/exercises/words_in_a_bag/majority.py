"""Lesson 00, words_in_a_bag.majority: The majority baseline."""

from collections import Counter
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib import bags
from course_lib.exercises.common import hints, integer, slips
from course_lib.judging.exercise import Case, Exercise


def _majority_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: two classes", (torch.tensor([1, 0, 1, 1, 0]), torch.tensor([0, 1, 0, 0, 1, 0, 0])))
    for classes in (2, 3, 5):
        yield Case(f"{classes} classes, with different majorities in training and test", _labels(generator, classes))
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


def _majority_by_counting(training_labels: Tensor, test_labels: Tensor) -> Tensor:
    ((label, _),) = Counter(training_labels.tolist()).most_common(1)
    return torch.tensor(sum(other == label for other in test_labels.tolist()) / len(test_labels))


EXERCISE = Exercise(
    id="words_in_a_bag.majority",
    title="The majority baseline",
    statement=(
        "majority_accuracy(training_labels int [training], test_labels int [test]) -> []: the test accuracy of always "
        "predicting the most frequent training label."
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
    hints=hints(
        idea=(
            "`torch.bincount` counts how often each of 0, 1, 2, ... occurs among the labels. Always predict the index "
            "of the largest count. Use only the training labels to find that index."
        )
    ),
    misconceptions=slips(
        bags.majority_accuracy,
        majority_of_the_test=(
            "Your answer predicts the test set's most frequent label. That is peeking: you don't know the test labels "
            "beforehand. Use the most frequent training label.",
            ("bincount(training_labels)", "bincount(test_labels)"),
        ),
        majority_of_both=(
            "Your answer counts training and test labels together. That is peeking: you don't know the test labels "
            "beforehand. Count the training labels only.",
            ("bincount(training_labels)", "bincount(torch.cat([training_labels, test_labels]))"),
        ),
        share_in_training=(
            "Your answer measures the accuracy on the training labels. Measure the accuracy on the test labels, as "
            "for any other model.",
            ("(test_labels ==", "(training_labels =="),
        ),
        median_label=(
            "Your answer uses the median of the labels. Labels are names and have no middle: count each one with "
            "torch.bincount, and take the argmax of the counts.",
            ("torch.bincount(training_labels).argmax()", "training_labels.median()"),
        ),
        largest_label=(
            "Your answer uses the largest label, not the most frequent one. Count with torch.bincount first, then "
            "take the argmax of the counts.",
            ("torch.bincount(training_labels).argmax()", "training_labels.max()"),
        ),
        first_label=(
            "Your answer uses the first label, not the most frequent one. (A Counter of tensors counts each tensor "
            "once, because no two are the same object: give it labels.tolist().)",
            ("torch.bincount(training_labels).argmax()", "training_labels[0]"),
        ),
        place_among_the_labels=(
            "Your answer uses an index into the list of distinct labels, not the label itself. The two differ when a "
            "label is missing: torch.unique also returns the labels, so take the label at that index.",
            ("torch.bincount(training_labels).argmax()", "training_labels.unique(return_counts=True)[1].argmax()"),
        ),
        count_for_the_label=(
            "Your answer uses the largest count as if it were the label. Take the argmax of the counts.",
            ("argmax", "max"),
        ),
        counted_from_one=(
            "Your answer uses the label after the most frequent one. torch.bincount counts label 0 at index 0: don't "
            "add anything to the argmax.",
            ("argmax()", "argmax() + 1"),
        ),
        least_frequent=(
            "Your answer predicts the least frequent label. Predict the most frequent label.",
            ("argmax", "argmin"),
        ),
        the_label_itself=(
            "Your answer is the most frequent label. Return how often that label is right on the test set, a share "
            "between 0 and 1.",
            ("test_labels ==", ""),
            (".float().mean()", ""),
        ),
        number_of_right_ones=(
            "Your answer is the number of correct predictions. Divide that number by the number of test labels.",
            (".mean()", ".sum()"),
        ),
        divided_by_training=(
            "Your answer divides by the number of training labels. Divide by the number of test labels.",
            (".float().mean()", ".sum() / len(training_labels)"),
        ),
        error_rate=(
            "Your answer is the share of wrong predictions. Return the share of correct predictions.",
            ("==", "!="),
        ),
        python_number=(
            "Your answer is a Python float. Return a tensor of shape [], without .item() or float(...).",
            (".mean()", ".mean().item()"),
        ),
    ),
)
