"""Slips in a student's own handwriting get the right message, and honest ways to a number are let through."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor

from course_lib import exercises
from course_lib.judging.rules import Code
from tests.course_lib.exercises.judging import mistake, named, verdict

Words = Sequence[str]


class TestTheSlides:
    def test_the_cat_babbles(self) -> None:
        """Papineni et al. (2002), section 2.1: without clipping, 7 of 7."""
        answer = mistake("evaluation.clipped_ngrams", "not_clipped")
        assert answer(["the"] * 7, ["the cat is on the chair".split()], 1) == (7, 7)


def _masked_by_a_product(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> tuple[float, float, float]:
    p, e = predicted * mask, expected * mask
    right, said, true = ((p == label) & (e == label)).sum(), (p == label).sum(), (e == label).sum()
    precision, recall = (right / said.clamp(min=1)).item(), (right / true.clamp(min=1)).item()
    return precision, recall, (2 * right / (said + true).clamp(min=1)).item()


def _with_an_epsilon(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> tuple[float, float, float]:
    p, e = predicted[mask], expected[mask]
    hits = ((p == label) * (e == label)).sum()
    precision, recall = hits / (p == label).sum(), hits / (e == label).sum()
    f1 = 2 * precision * recall / (precision + recall)
    return float(precision), float(recall), float(f1)


def _found_in_the_text(hypothesis: Words, references: Sequence[Words], n: int) -> tuple[int, int]:
    said = Counter(" ".join(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1))
    texts = [" ".join(words) for words in references]
    return sum(min(said[gram], max(text.count(gram) for text in texts)) for gram in said), said.total()


def _keys_without_spaces(hypothesis: Words, references: Sequence[Words], n: int) -> tuple[int, int]:
    said, *known = (
        Counter("".join(words[i : i + n]) for i in range(len(words) - n + 1)) for words in (hypothesis, *references)
    )
    return sum(min(said[gram], max(counts[gram] for counts in known)) for gram in said), said.total()


def _last_words(predicted: Tensor, expected: Tensor, mask: Tensor) -> float:
    rows, last = torch.arange(len(mask)), mask.sum(dim=1) - 1
    return (predicted == expected)[rows, last].float().mean().item()


def _bleu(mean: Callable[[list[float]], float]) -> Callable[..., float]:
    """BLEU with another mean of the precisions."""

    def corpus_bleu(
        counts: Sequence[Sequence[tuple[int, int]]],
        lengths: Sequence[tuple[int, Sequence[int]]],
        penalty: Callable[[int, int], float],
    ) -> float:
        sums = torch.tensor(counts).sum(dim=0).tolist()
        right = sum(sorted(several, key=lambda one: (abs(one - said), one))[0] for said, several in lengths)
        return mean([m / t if t else 0.0 for m, t in sums]) * penalty(sum(said for said, _ in lengths), right)

    return corpus_bleu


def _weights_of_a_quarter(precisions: list[float]) -> float:
    return math.exp(sum(0.25 * math.log(precision) for precision in precisions)) if all(precisions) else 0.0


@pytest.mark.parametrize(
    ("exercise_id", "answer", "expected"),
    [
        ("evaluation.precision_recall_f1", _with_an_epsilon, "nan_for_nothing"),
        ("evaluation.precision_recall_f1", _masked_by_a_product, "padding_is_zero"),
        ("evaluation.corpus_bleu", _bleu(_weights_of_a_quarter), "always_the_fourth_root"),
    ],
)
def test_slips_are_named(exercise_id: str, answer: Callable[..., object], expected: str) -> None:
    assert named(exercise_id, answer) == expected


@pytest.mark.parametrize(
    ("exercise_id", "answer"),
    [
        ("evaluation.clipped_ngrams", _found_in_the_text),
        ("evaluation.clipped_ngrams", _keys_without_spaces),
        ("evaluation.sequence_accuracy", _last_words),
        (
            "evaluation.sequence_accuracy",
            lambda predicted, expected, mask: (predicted == expected)[:, 0].float().mean().item(),
        ),
    ],
)
def test_slips_without_a_name_are_rejected_and_get_no_other(exercise_id: str, answer: Callable[..., object]) -> None:
    assert named(exercise_id, answer) is None


def test_a_division_by_zero_costs_only_its_part() -> None:
    def penalty(hypothesis_length: int, reference_length: int) -> float:
        return min(1.0, math.exp(1 - reference_length / hypothesis_length))

    found = verdict("evaluation.brevity_penalty", penalty)
    assert found.points == 1
    assert found.misconception is None


def test_a_tensor_in_place_of_a_number_is_told_so() -> None:
    found = verdict(
        "evaluation.sequence_accuracy",
        lambda predicted, expected, mask: ((predicted == expected) | ~mask).all(-1).float().mean(),
    )
    assert found.misconception is None
    assert "its .item() is a plain number" in found.cases[0].message


@pytest.mark.parametrize(
    ("exercise_id", "own", "value", "name"),
    [
        (
            "clipped_ngrams",
            "from nltk.translate.bleu_score import modified_precision as p",
            "p(x)",
            "modified_precision",
        ),
        ("corpus_bleu", "import sacrebleu.metrics as m", "m.BLEU()", "sacrebleu"),
        ("corpus_bleu", "from course_lib.evaluation import metrics", "metrics.bleu(x)", "course_lib.evaluation"),
        ("word_error_rate", "import jiwer", "jiwer.compute(x)", "jiwer"),
    ],
)
def test_a_library_is_no_answer(exercise_id: str, own: str, value: str, name: str) -> None:
    exercise = exercises.find(f"evaluation.{exercise_id}")
    rule = Code([own, f"def {exercise.name}(*x):\n    return {value}"]).broken_rule(
        exercise.name, exercise.forbidden_names
    )
    assert rule is not None
    assert rule.name == name
