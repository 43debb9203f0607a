"""Lesson 10, evaluation.precision_recall_f1: Precision, recall and F1."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import edits_of, hints, integer, mistake
from course_lib.exercises.evaluation.shared import HEADLINES, in_percent
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.judging.ready_made import METRICS
from course_lib.references import evaluation


def _tags(generator: Generator, shape: tuple[int, ...]) -> tuple[Tensor, Tensor, Tensor]:
    """Predicted tags, a third of them wrong, and expected ones; a mask that leaves out some of both kinds."""
    expected = torch.randint(4, shape, generator=generator)
    wrong = torch.rand(shape, generator=generator) < 0.35
    predicted = torch.where(wrong, torch.randint(4, shape, generator=generator), expected)
    return predicted, expected, torch.rand(shape, generator=generator) < 0.7


def _found(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> tuple[int, int, int]:
    """Count how often a label is right, predicted and expected."""
    said, true = (predicted == label) & mask, (expected == label) & mask
    return int((said & true).sum()), int(said.sum()), int(true.sum())


def _zeros(generator: Generator, shape: tuple[int, int]) -> tuple[Tensor, Tensor, Tensor]:
    """Tags, some of them 0, rightly and wrongly, but none at padding: an answer that makes padding 0 is found out."""
    predicted, expected, mask = _tags(generator, shape)
    mask[-1, -3:] = torch.tensor([True, True, False])
    predicted[-1, -3:], expected[-1, -3:] = torch.tensor([0, 1, 2]), torch.tensor([0, 0, 3])
    return predicted.masked_fill(~mask, 2), expected.masked_fill(~mask, 3), mask


def _tag_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: places in three headlines", (*HEADLINES, 2))
    few, many = integer(generator, 5, 8), integer(generator, 12, 18)
    for name, shape in (
        ("sentences of words", (few, many)),
        ("more sentences", (many, few)),
        ("one label for each sentence", (4 * many,)),
        ("transposed in memory", (few, many)),
    ):
        while True:
            drawn = _tags(generator, shape)
            right, said, true = _found(*drawn, 1)
            if 0 < right < said != true > right:
                break
        if name == "transposed in memory":
            drawn = tuple(tensor.t().contiguous().t() for tensor in drawn)  # type: ignore[assignment]
        yield Case(name, (*drawn, 1))
    yield Case("a single position", (torch.tensor(1), torch.tensor(1), torch.tensor(True), 1))
    yield Case("label 0, with padding", (*_zeros(generator, (many, few)), 0))
    predicted, expected, mask = _tags(generator, (few, many))
    once, twice = expected.clone(), expected.clone()
    once[0, 0], twice[0, :2], mask[0, :2] = 7, 7, True
    yield Case("a label predicted once and expected twice", (once, twice, mask, 7))
    yield Case("a label predicted twice and expected once", (twice, once, mask, 7))
    guessed, there, words = predicted.clone(), expected.clone(), mask.clone()
    guessed[0, :4], there[0, 3:8], words[0, :8] = 8, 8, True
    yield Case("a label that is rarely found", (guessed, there, words, 8))
    for name, answer in (
        ("a label that is never predicted", (predicted % 3, expected, mask, 3)),
        ("a label that never occurs", (predicted, expected % 3, mask, 3)),
        ("a label that is never predicted and never occurs", (predicted, expected, mask, 5)),
        ("a label that is always missed", (predicted, (predicted + 1) % 4, mask, 2)),
    ):
        yield Case(name, answer, part="0 / 0")


Scores = tuple[float, float, float]


def _scores_from_counts(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> Scores:
    said, true = (predicted == label) & mask, (expected == label) & mask
    found, guessed, there = int((said & true).sum()), int(said.sum()), int(true.sum())
    precision = found / guessed if guessed else 0.0
    recall = found / there if there else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return precision, recall, f1


_slip = edits_of(_scores_from_counts)
_FIRST, _F1, _RETURN = "said, true = ", "2 * precision * recall / (precision + recall)", "return precision, recall, f1"
_RATIOS_OF_ONE = (("guessed else 0.0", "guessed else 1.0"), ("there else 0.0", "there else 1.0"))


def _scores_by_loop(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> Scores:
    right = said = true = 0
    places = zip(predicted.flatten().tolist(), expected.flatten().tolist(), mask.flatten().tolist(), strict=True)
    for guess, gold, counts in places:
        if counts:
            right += guess == gold == label
            said += guess == label
            true += gold == label
    precision = right / said if said else 0.0
    recall = right / true if true else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if right else 0.0


def _scores_in_single_precision(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> Scores:
    said, true = (predicted == label)[mask].float(), (expected == label)[mask].float()
    right = (said * true).sum()
    precision, recall = right / said.sum().clamp_min(1), right / true.sum().clamp_min(1)
    return precision.item(), recall.item(), torch.nan_to_num(2 * precision * recall / (precision + recall)).item()


EXERCISE = Exercise(
    id="evaluation.precision_recall_f1",
    name="label_scores",
    title="Precision, recall and F1",
    statement=(
        "label_scores(predicted, expected, mask bool, all [...], label int) -> (precision, recall, f1), three floats: "
        "the scores of that label where the mask is True; 0 / 0 gives 0."
    ),
    minutes=12,
    difficulty=2,
    importance=5,
    section="Precision and recall",
    source="S1, evaluating sequence prediction",
    reference=evaluation.precision_recall_f1,
    cases=_tag_cases,
    parts={CORE: 2, "0 / 0": 1},
    correct=(_scores_from_counts, _scores_by_loop, _scores_in_single_precision),
    hints=hints(
        idea=(
            "You need three counts: how often the label is predicted, how often it is expected, and how often it is "
            "both. A label that is never predicted is never right either, so you may replace a denominator of 0 with 1."
        ),
        outline=(
            "Keep only the positions where the mask is True, in both tensors.\n"
            "Count how often the label is predicted, how often it is expected, and how often it is both, as plain "
            "ints.\n"
            "For precision, divide the third count by the first; for recall, divide it by the second.\n"
            "F1 is twice the third count, divided by the sum of the first two.",
            ("swapped", "arithmetic_mean", "factor_two_forgotten", "over_all_words", "nan_for_nothing"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer does not return 0 for 0 / 0, which happens if the label is never predicted, expected or "
            "found.",
            nan_for_nothing=_slip(
                ("guessed else 0.0", "guessed else float('nan')"),
                ("there else 0.0", "there else float('nan')"),
                ("recall else 0.0", "recall else float('nan')"),
                paired=False,
            ),
            one_for_nothing=_slip(*_RATIOS_OF_ONE, ("recall else 0.0", "recall else 1.0"), paired=False),
            ratios_of_one_for_nothing=_slip(*_RATIOS_OF_ONE, paired=False),
        ),
        *mistake(
            "Your answer has precision and recall swapped. Precision divides by how often the label is predicted, "
            "recall by how often it is expected.",
            swapped=_slip((_RETURN, "return recall, precision, f1")),
        ),
        *mistake(
            "Your answer counts padding. Use the mask for all three counts: both, predicted and expected.",
            mask_ignored=_slip((_FIRST, f"mask = torch.ones_like(mask)\n    {_FIRST}")),
            mask_not_for_the_hits=_slip(("said & true", "(predicted == label) & (expected == label)")),
            mask_for_what_is_expected_alone=_slip(("(predicted == label) & mask", "predicted == label")),
            mask_inverted=_slip((_FIRST, f"mask = ~mask\n    {_FIRST}")),
            padding_is_zero=_slip(
                ("(predicted == label) & mask", "predicted * mask == label"),
                ("(expected == label) & mask", "expected * mask == label"),
            ),
        ),
        *mistake(
            "Your answer also counts words that have other labels. Count only words that have `label` in both tensors.",
            agreement_on_other_labels=_slip(("said & true", "(said == true) & mask")),
            hits_of_all_labels=_slip(("said & true", "(predicted == expected) & mask"), paired=False),
        ),
        *mistake(
            "Your answer divides by the number of all words. Divide by how often the label is predicted (precision) "
            "or expected (recall).",
            over_all_words=_slip(
                ("found / guessed", "found / int(mask.sum())"), ("found / there", "found / int(mask.sum())")
            ),
        ),
        *mistake(
            "Your F1 is not the harmonic mean of precision and recall. Use 2 · precision · recall / (precision + "
            "recall).",
            arithmetic_mean=_slip((_F1, "(precision + recall) / 2")),
            factor_two_forgotten=_slip(("2 * precision", "precision")),
            smaller_of_the_two=_slip((_F1, "min(precision, recall)")),
            over_the_union=_slip((_F1, "found / (guessed + there - found)")),
        ),
        in_percent("shares from 0 to 1", _slip((_RETURN, "return 100 * precision, 100 * recall, 100 * f1"))),
    ),
    forbidden=(METRICS,),
)
