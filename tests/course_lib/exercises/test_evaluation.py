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


def _f1_as_a_mean(predicted: Tensor, expected: Tensor, mask: Tensor, label: int) -> tuple[float, float, float]:
    right = ((predicted == label) & (expected == label) & mask).sum().item()
    precision = right / max(1, ((predicted == label) & mask).sum().item())
    recall = right / max(1, ((expected == label) & mask).sum().item())
    return precision, recall, (precision + recall) * 0.5


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


def _set_of_ngrams(hypothesis: Words, references: Sequence[Words], n: int) -> tuple[int, int]:
    said = {" ".join(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1)}
    known = {" ".join(words[i : i + n]) for words in references for i in range(len(words) - n + 1)}
    return len(said & known), len(said)


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


def _summed_references(hypothesis: Words, references: Sequence[Words], n: int) -> tuple[int, int]:
    known: Counter[tuple[str, ...]] = Counter()
    for words in references:
        known.update(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
    said = Counter(tuple(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1))
    return sum((said & known).values()), sum(said.values())


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


def _longest_common_subsequence(hypothesis: Words, reference: Words) -> Tensor:
    """Insertions and deletions only."""
    table = torch.arange(len(hypothesis) + 1).unsqueeze(1) + torch.arange(len(reference) + 1)
    for i, word in enumerate(hypothesis, 1):
        for j, right in enumerate(reference, 1):
            if word == right:
                table[i, j] = table[i - 1, j - 1]
            else:
                table[i, j] = 1 + min(table[i - 1, j], table[i, j - 1])
    return table


def _zeros_at_the_borders(hypothesis: Words, reference: Words) -> Tensor:
    table = torch.zeros(len(hypothesis) + 1, len(reference) + 1, dtype=torch.long)
    for i in range(len(hypothesis)):
        for j in range(len(reference)):
            change = int(hypothesis[i] != reference[j])
            table[i + 1, j + 1] = min(table[i, j + 1] + 1, table[i + 1, j] + 1, table[i, j] + change)
    return table


@pytest.mark.parametrize(
    ("exercise_id", "answer", "expected"),
    [
        ("evaluation.precision_recall_f1", _f1_as_a_mean, "arithmetic_mean"),
        ("evaluation.precision_recall_f1", _with_an_epsilon, "nan_for_nothing"),
        (
            "evaluation.sequence_accuracy",
            lambda predicted, expected, mask: ((predicted == expected) * mask).sum().item() / mask.sum().item(),
            "token_accuracy",
        ),
        (
            "evaluation.sequence_accuracy",
            lambda predicted, expected, mask: sum(map(torch.equal, predicted, expected)) / len(mask),
            "padding_must_match",
        ),
        ("evaluation.precision_recall_f1", _masked_by_a_product, "padding_is_zero"),
        ("evaluation.clipped_ngrams", _set_of_ngrams, "different_ngrams"),
        (
            "evaluation.brevity_penalty",
            lambda c, r: 0.0 if c == 0 else math.exp(1 - r / c) if c > r else 1.0,
            "cases_swapped",
        ),
        ("evaluation.brevity_penalty", lambda c, r: max(1.0, math.exp(1 - r / c)) if c else 0.0, "cases_swapped"),
        ("evaluation.corpus_bleu", _bleu(lambda some: math.prod(some) ** 1 / len(some)), "divided_after_the_power"),
        ("evaluation.clipped_ngrams", _summed_references, "references_added"),
        ("evaluation.brevity_penalty", lambda c, r: 1.0 if c > r else c / r, "plain_ratio"),
        ("evaluation.brevity_penalty", lambda c, r: math.exp(1 - r / c) if c else 0.0, "rewards_length"),
        ("evaluation.corpus_bleu", _bleu(_weights_of_a_quarter), "always_the_fourth_root"),
        ("evaluation.corpus_bleu", _bleu(lambda some: sum(some) / len(some)), "arithmetic_mean"),
        (
            "evaluation.corpus_or_sentence",
            lambda matched, total: (
                sum(map(lambda a, b: a / b if b else 0.0, matched, total)) / len(total),
                sum(matched) / max(1, sum(total)),
            ),
            "swapped",
        ),
        ("evaluation.edit_table", _longest_common_subsequence, "substitution_costs_two"),
        ("evaluation.edit_table", _zeros_at_the_borders, "borders_of_zeros"),
        (
            "evaluation.word_error_rate",
            lambda hypotheses, references, distance: (
                sum(distance(h, r) / len(r) for h, r in zip(hypotheses, references, strict=True)) / len(hypotheses)
            ),
            "mean_of_rates",
        ),
        (
            "evaluation.word_error_rate",
            lambda hypotheses, references, distance: (
                sum(map(distance, hypotheses, references)) / sum(map(len, hypotheses))
            ),
            "over_hypothesis_words",
        ),
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


@pytest.mark.parametrize(
    ("exercise_id", "name", "points"),
    [
        ("evaluation.precision_recall_f1", "nan_for_nothing", 2),
        ("evaluation.clipped_ngrams", "first_reference_only", 3),
        ("evaluation.brevity_penalty", "one_for_nothing", 1),
        ("evaluation.corpus_bleu", "zeros_left_out", 3),
        ("evaluation.corpus_bleu", "first_of_two", 3),
        ("evaluation.pairwise_accuracy", "tolerance_excluded", 2),
        ("evaluation.seen_before", "sentences_left_out", 3),
        ("evaluation.corpus_or_sentence", "passed_over", 1),
    ],
)
def test_what_is_right_but_for_the_edge_earns_its_part(exercise_id: str, name: str, points: int) -> None:
    assert verdict(exercise_id, mistake(exercise_id, name)).points == points


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
