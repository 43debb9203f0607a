"""Lesson 10, evaluation.sequence_accuracy: Whole sentences."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import hints, integer, slips
from course_lib.exercises.evaluation.shared import HEADLINES
from course_lib.judging.exercise import Case, Exercise
from course_lib.references import evaluation


def _sequence_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: three headlines", HEADLINES)
        tags = torch.tensor([[1, 1, 0, 2], [0, 2, 2, 1], [1, 0, 2, 0]])
        first, last = tags.clone(), tags.clone()
        first[0, 0] = last[1, 3] = last[2, 3] = 3
        yield Case("only a first word is wrong", (first, tags, torch.ones_like(tags, dtype=torch.bool)))
        yield Case("only two last words are wrong", (last, tags, torch.ones_like(tags, dtype=torch.bool)))
        yield Case("one sentence of one word", (tags[:1, :1], tags[:1, :1], torch.tensor([[True]])))
        long = torch.arange(40).expand(3, 40) % 5
        slip = long.clone()
        slip[1, 17] = 7  # one word of forty
        yield Case("one word wrong in a long sentence", (slip, long, torch.ones_like(long, dtype=torch.bool)))
        tags = torch.tensor([[1, 0, 2, 2], [1, 2, 0, 0], [0, 0, 1, 2], [2, 1, 0, 1]])
        said = torch.tensor([[1, 2, 2, 0], [2, 1, 0, 0], [1, 0, 1, 2], [2, 1, 3, 1]])
        mask = torch.tensor([[1, 1, 1, 0], [1, 1, 0, 0], [0, 1, 1, 1], [1, 1, 0, 1]], dtype=torch.bool)
        yield Case("words swapped, a 0 missed, padding at the start and in between", (said, tags, mask))
    for name, transposed in (("short sentences", False), ("others", False), ("transposed in memory", True)):
        batch, words = integer(generator, 8, 12), integer(generator, 5, 8)
        lengths = 2 + torch.randint(words - 1, (batch, 1), generator=generator)
        lengths[:3] = words - 1
        mask = torch.arange(words) < lengths
        expected = torch.randint(4, (batch, words), generator=generator)
        predicted = expected.clone()
        wrong = 2 + integer(generator, 0, 2)
        predicted[:wrong, 1] = (expected[:wrong, 1] + 1) % 4  # one word wrong,
        predicted[wrong] = (expected[wrong] + 1) % 4  # all words wrong,
        predicted[wrong + 2, 1:] = (expected[wrong + 2, 1:] + 1) % 4  # all but the first,
        predicted[wrong + 1] = torch.where(mask[wrong + 1], expected[wrong + 1], 9)  # and padding that differs
        if transposed:
            predicted, expected, mask = (tensor.t().contiguous().t() for tensor in (predicted, expected, mask))
        yield Case(name, (predicted, expected, mask))


def _sequences_at_once(predicted: Tensor, expected: Tensor, mask: Tensor) -> float:
    same = predicted == expected
    fine = same | ~mask
    whole = fine.all(dim=1)
    return whole.double().mean().item()


_FINE, _WHOLE, _SHARE = "same | ~mask", "fine.all(dim=1)", "whole.double().mean().item()"


def _sequences_by_loop(predicted: Tensor, expected: Tensor, mask: Tensor) -> float:
    right = 0
    for guess, gold, words in zip(predicted, expected, mask, strict=True):
        right += torch.equal(guess[words], gold[words])
    return right / len(predicted)


def _sequences_refilled(predicted: Tensor, expected: Tensor, mask: Tensor) -> float:
    filled = torch.where(mask, predicted, expected)
    return (filled == expected).all(-1).float().mean().item()


EXERCISE = Exercise(
    id="evaluation.sequence_accuracy",
    title="Whole sentences",
    statement=(
        "sequence_accuracy(predicted [batch, tokens], expected [batch, tokens], mask bool [batch, tokens]) -> float: "
        "the share of sentences in which every word has the right label. Padding does not count."
    ),
    points=2,
    minutes=8,
    difficulty=2,
    importance=3,
    section="Whole sentences",
    source="S1, evaluating sequence prediction",
    reference=evaluation.sequence_accuracy,
    cases=_sequence_cases,
    correct=(_sequences_at_once, _sequences_by_loop, _sequences_refilled),
    steps=("whole",),
    hints=hints(
        idea=(
            "A position is fine if its label is right or if it is padding. A sentence is right if all its positions "
            "are fine."
        )
    ),
    misconceptions=(
        *slips(
            _sequences_at_once,
            paired=False,
            words_taken_to_come_first=(
                "Your answer counts the words in the mask and compares that many positions from the start. Padding "
                "may come first or in between: the mask shows where the words are.",
                ("same = ", "mask = torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True)\n    same = "),
            ),
            token_accuracy=(
                "Your answer is the share of correct words. For each sentence, check whether all of its words are "
                "right, and return the share of such sentences.",
                (_SHARE, "same[mask].double().mean().item()"),
            ),
            one_right_word_is_enough=(
                "Your answer accepts a sentence with only one right word. All of its words must be right: use .all(), "
                "not .any().",
                (_WHOLE, "(same & mask).any(dim=1)"),
            ),
            over_words=(
                "Your answer divides the number of correct sentences by the number of words. Divide by the number of "
                "sentences.",
                (_SHARE, "int(whole.sum()) / int(mask.sum())"),
            ),
            mean_of_accuracies=(
                "Your answer is the mean of the sentences' own accuracies. A sentence with one mistake is wrong, "
                "however long it is.",
                (_WHOLE, "(same & mask).sum(dim=1) / mask.sum(dim=1)"),
            ),
        ),
        *slips(
            _sequences_at_once,
            padding_must_match=(
                "Your answer also requires the right label at padding. A position where the mask is False always "
                "counts as right.",
                (_FINE, "same"),
            ),
            padding_is_wrong=(
                "Your answer treats padding as wrong, so no sentence shorter than the longest can be right. Accept "
                "any label where the mask is False: combine with | ~mask.",
                (_FINE, "same & mask"),
            ),
            most_words_are_enough=(
                "Your answer accepts a sentence with more than half of its words right. All of its words must be "
                "right: use .all().",
                (_WHOLE, "2 * (fine & mask).sum(dim=1) > mask.sum(dim=1)"),
            ),
            mask_inverted=(
                "Your answer checks only the padding. The mask is True at words: combine with | ~mask.",
                (_FINE, "same | mask"),
            ),
            all_or_nothing=(
                "Your answer checks the whole batch at once. Check each sentence separately, .all(dim=1), and return "
                "the share of correct sentences.",
                (_WHOLE, "fine.all().reshape(1)"),
            ),
            first_word_alone=(
                "Your answer checks only the first word of each sentence. Check all of its words: does your loop "
                "return too early?",
                ("whole = ", "fine, mask = fine[:, :1], mask[:, :1]\n    whole = "),
            ),
            over_the_batch=(
                "Your answer checks each position over all sentences (dim=0). Check each sentence over all its "
                "positions, dim=1.",
                (_WHOLE, "fine.all(dim=0)"),
            ),
            count=(
                "Your answer is the number of correct sentences. Divide by the number of all sentences.",
                (_SHARE, "float(whole.sum())"),
            ),
            error_rate=(
                "Your answer is the share of wrong sentences. Return the share of correct sentences.",
                ("whole.double", "(~whole).double"),
            ),
        ),
    ),
)
