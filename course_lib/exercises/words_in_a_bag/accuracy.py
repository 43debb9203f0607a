"""Lesson 00, words_in_a_bag.accuracy: How often the model is right."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib import bags
from course_lib.exercises.common import and_turned_around, hints, integer, slips
from course_lib.judging.exercise import Case, Exercise


def _accuracy_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        logits = torch.tensor([[1.2, -0.3], [0.1, 0.4], [-2.0, -1.0], [0.9, 0.8]])
        yield Case("worked example: three of four", (logits, torch.tensor([0, 1, 0, 0])))
    for classes in (3, 5):
        examples = integer(generator, 11, 20)
        logits = torch.randn(examples, classes, generator=generator)
        labels = torch.where(
            torch.rand(examples, generator=generator) < 0.6,
            logits.argmax(dim=-1),
            torch.randint(classes, (examples,), generator=generator),
        )
        labels[0], labels[1] = logits[0].argmax(), logits[1].argmin()
        yield Case(f"{classes} classes", (logits, labels))
    yield Case("a single example", (torch.randn(1, 2, generator=generator), torch.tensor([0])))
    square = torch.randn(4, 4, generator=generator)
    labels = square.argmax(dim=-1)
    labels[0] = square[0].argmin()
    yield Case("as many examples as classes", (square, labels))
    logits = torch.randn(7, 3, generator=generator) - 4
    labels = logits.argmax(dim=-1)
    labels[2] = logits[2].argmin()
    yield Case("all numbers below 0", (logits, labels))
    rows = [torch.arange(5), *(torch.randperm(5, generator=generator) for _ in range(integer(generator, 3, 6)))]
    whole = torch.stack(rows).double()
    yield Case("whole numbers in double precision, all right", (whole, whole.argmax(dim=-1)))


def _accuracy_by_loop(logits: Tensor, labels: Tensor) -> Tensor:
    right = sum(int(row.argmax()) == int(label) for row, label in zip(logits, labels, strict=True))
    return torch.tensor(right / len(labels))


EXERCISE = Exercise(
    id="words_in_a_bag.accuracy",
    name="accuracy",
    title="How often the model is right",
    statement=(
        "accuracy(logits [examples, classes], labels int [examples]) -> []: the share of examples whose largest logit "
        "belongs to the right class, a float32 tensor from 0 to 1."
    ),
    points=1,
    minutes=6,
    difficulty=1,
    importance=3,
    section="How good is it?",
    source="S1, evaluating a classifier",
    reference=bags.logits_accuracy,
    cases=and_turned_around(_accuracy_cases),
    correct=(
        _accuracy_by_loop,
        lambda logits, labels: torch.eq(logits.topk(1).indices.squeeze(-1), labels).float().mean(),
        lambda logits, labels: (logits.gather(1, labels[:, None])[:, 0] == logits.amax(1)).float().mean(),
    ),
    hints=hints(
        idea=(
            "Comparing two tensors with `==` gives booleans. Convert the booleans to floats, which are zeros and "
            "ones: their mean is the share of matches."
        )
    ),
    misconceptions=slips(
        bags.logits_accuracy,
        number_of_right_ones=(
            "Your answer is the number of correct predictions. Divide by the number of examples: take the mean, "
            "counting right answers as 1 and wrong answers as 0.",
            (".mean()", ".sum()"),
        ),
        number_of_right_ones_as_an_integer=(
            "Your answer is the number of correct predictions, as an integer. Convert the booleans to floats, and "
            "take their mean.",
            (".float().mean()", ".sum()"),
        ),
        percent=("Your answer is a percentage. Return a share between 0 and 1.", ("return ", "return 100 * ")),
        divided_by_the_classes=(
            "Your answer divides by the number of classes. Divide by the number of examples, len(labels).",
            (".float().mean()", ".sum() / logits.shape[-1]"),
        ),
        divided_without_remainder=(
            "Your answer is 0 unless every example is right, as with //, all() or torch.equal. Divide with /, or take "
            "the mean.",
            (".float().mean()", ".all().float()"),
        ),
        not_averaged=("Your answer still has one entry per example. Take the mean over the examples.", (".mean()", "")),
        error_rate=(
            "Your answer is the share of wrong predictions. Return the share of correct predictions.",
            ("==", "!="),
        ),
        values_compared=(
            "Your answer compares the largest logit with the label. Compare the index of the largest logit instead: "
            "use argmax, or the indices that max returns.",
            ("argmax", "amax"),
        ),
        smallest=(
            "Your answer picks the class with the smallest logit. Pick the largest logit: argmax.",
            ("argmax", "argmin"),
        ),
        over_the_examples=(
            "Your answer takes the argmax over the examples (dim=0). Take the argmax over the classes, once per "
            "example: dim=-1.",
            ("dim=-1", "dim=0"),
        ),
        one_argmax_for_all=(
            "Your answer takes one argmax of the whole table, as argmax() without a dimension does. Take one argmax "
            "per example, over the classes: argmax(dim=-1).",
            ("dim=-1", ""),
        ),
        all_with_all=(
            "Your answer compares every prediction with every label: keepdim makes the predictions a column, "
            "[examples, 1]. Leave out keepdim.",
            ("dim=-1", "dim=-1, keepdim=True"),
        ),
        counted_from_one=(
            "Your answer numbers the classes from 1. Labels and argmax both count from 0: compare them directly.",
            ("==", "+ 1 =="),
        ),
        two_classes_only=(
            "Your answer only checks whether class 1 has a larger logit than class 0. There may be more than two "
            "classes: take the argmax of each row.",
            ("logits.argmax(dim=-1)", "(logits[:, 1] > logits[:, 0]).long()"),
        ),
        python_number=(
            "Your answer is a Python float. Return a tensor of shape [], without .item() or float(...).",
            (".mean()", ".mean().item()"),
        ),
        double_precision=(
            "Your answer is in double precision, float64. Convert your answer to float32 with .float().",
            (".float()", ".double()"),
        ),
    ),
)
