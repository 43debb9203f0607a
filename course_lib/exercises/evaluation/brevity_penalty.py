"""Lesson 10, evaluation.brevity_penalty: Brevity penalty."""

import math
from collections.abc import Iterator

import torch
from torch import Generator

from course_lib.exercises.common import edits_of, hints, integer, mistake, slips
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.judging.ready_made import METRICS
from course_lib.references import evaluation


def _brevity_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    return _whole_corpora(generator) if hidden else _few_words(generator)


def _whole_corpora(generator: Generator) -> Iterator[Case]:
    """So many words that no table of lengths holds the hidden ones."""
    shorter = integer(generator, 10_000, 90_000)
    longer = shorter + integer(generator, 1000, 90_000)
    yield Case("shorter than the reference", (shorter, longer))
    yield Case("a still longer reference", (shorter, 3 * longer))
    yield Case("longer than the reference", (longer, shorter))
    yield Case("a little short", (100 * longer - shorter, 100 * longer))
    words = integer(generator, 10**8, 10**9)
    yield Case("as long as the reference", (words, words))
    yield Case("not a single word", (0, words), part="empty hypothesis")


def _few_words(generator: Generator) -> Iterator[Case]:
    yield Case("worked example: three words for six", (3, 6))
    shorter = integer(generator, 5, 9)
    longer = shorter + integer(generator, 2, 6)
    yield Case("shorter than the reference", (shorter, longer))
    yield Case("a still longer reference", (shorter, longer + 3))
    yield Case("as long as the reference", (longer, longer))
    yield Case("longer than the reference", (longer, shorter))
    yield Case("a single word too few", (longer - 1, longer))
    yield Case("a whole corpus, a little short", (100 * longer - shorter, 100 * longer))
    yield Case("one word for many", (1, longer))
    yield Case("not a single word", (0, longer), part="empty hypothesis")


def _penalty_case_by_case(hypothesis_length: int, reference_length: int) -> float:
    c, r = hypothesis_length, reference_length
    if c == 0:
        return 0.0
    if c >= r:
        return 1.0
    exponent = 1 - r / c
    return math.exp(exponent)


_slip = edits_of(_penalty_case_by_case)
_LENGTHS, _LONG, _EXPONENT, _EXP = "c, r = hypothesis_length", "c >= r", "1 - r / c", "math.exp(exponent)"


def _penalty_caught(hypothesis_length: int, reference_length: int) -> float:
    try:
        return math.exp(min(0, 1 - reference_length / hypothesis_length))
    except ZeroDivisionError:
        return 0.0


EXERCISE = Exercise(
    id="evaluation.brevity_penalty",
    title="Brevity penalty",
    statement=(
        "brevity_penalty(hypothesis_length int, reference_length int) -> float: 1 if the hypothesis is at least as "
        "long as the reference, exp(1 - reference_length / hypothesis_length) if it is shorter, 0 if it has no words."
    ),
    minutes=8,
    difficulty=1,
    importance=3,
    section="The brevity penalty",
    source="Papineni et al. (2002), section 2.2",
    reference=evaluation.brevity_penalty,
    cases=_brevity_cases,
    parts={CORE: 1, "empty hypothesis": 1},
    correct=(
        _penalty_case_by_case,
        _penalty_caught,
        lambda hypothesis_length, reference_length: (
            torch.exp(1 - torch.tensor(reference_length) / hypothesis_length).clamp(max=1.0).item()
        ),
    ),
    hints=hints(
        idea=(
            "Handle a hypothesis without words first, or Python divides by zero. Otherwise take the smaller of 1 and "
            "the exponential: the penalty is never above 1."
        )
    ),
    misconceptions=(
        *mistake(
            "Your answer returns 1 for a hypothesis without words, which is no penalty at all. As c goes to 0, so "
            "does exp(1 - r/c): return 0.",
            one_for_nothing=_slip(("0.0", "1.0")),
            alone=True,
        ),
        *mistake(
            "Your answer is NaN for a hypothesis without words. As c goes to 0, so does exp(1 - r/c): return 0.",
            nan_for_nothing=_slip(("0.0", "math.nan")),
            alone=True,
        ),
        *mistake(
            "Your answer treats a hypothesis without words as if it had one word. Return 0.",
            one_word_at_least=_slip((_LENGTHS, "c, r = max(hypothesis_length, 1)"), paired=False),
            alone=True,
        ),
        *slips(
            _penalty_case_by_case,
            rewards_length=(
                "Your answer rewards a long hypothesis with more than 1. Return 1 if a hypothesis is at least as long "
                "as the reference: precision already penalizes extra words.",
                (_LONG, "False"),
            ),
            lengths_swapped=(
                "Your exponent has the lengths swapped, 1 - c/r. Use 1 - reference_length / hypothesis_length, which "
                "is negative for a short hypothesis.",
                ("r / c", "c / r"),
            ),
            one_forgotten=(
                "Your exponent is missing the 1: exp(-r/c) is below 0.37 even when only one word is missing. "
                "Use 1 - r/c.",
                (_EXPONENT, "-r / c"),
            ),
            not_exponential=(
                "Your answer returns the exponent, which is negative where the hypothesis is shorter. Take exp of it.",
                (_EXP, "exponent"),
            ),
            sign_of_the_exponent=(
                "Your exponent has the wrong sign, so a short hypothesis gets more than 1. Use 1 - r/c, which is "
                "negative.",
                (_EXPONENT, "r / c - 1"),
            ),
            whole_numbers=("Your answer divides with //, which drops the decimals. Use /.", ("r / c", "r // c")),
            brackets=(
                "Your exponent is (1 - r) / c. Divide only r by c: 1 - r / c, without parentheses.",
                (_EXPONENT, "(1 - r) / c"),
            ),
            over_the_reference=(
                "Your exponent divides the missing words by the reference's length, (c - r) / r. Divide by the "
                "hypothesis's length: 1 - r/c is (c - r) / c.",
                (_EXPONENT, "(c - r) / r"),
            ),
        ),
        *slips(
            _penalty_case_by_case,
            paired=False,
            punishes_length=(
                "Your answer penalizes long hypotheses instead of short ones. Return exp(1 - r/c) if the hypothesis "
                "is shorter than the reference, otherwise 1.",
                (_LENGTHS, "r, c = hypothesis_length"),
            ),
            cases_swapped=(
                "Your answer swaps the two cases. Return exp(1 - r/c) if the hypothesis is shorter than the "
                "reference, otherwise 1: use min, not max.",
                (_LONG, "c <= r"),
            ),
            plain_ratio=(
                "Your answer is the ratio of the lengths. For a shorter hypothesis, return exp(1 - r/c).",
                (_EXP, "c / r"),
            ),
            too_long_punished=(
                "Your answer also penalizes long hypotheses. Return 1 if the hypothesis is at least as long as the "
                "reference: precision already penalizes extra words.",
                (_LONG, "False"),
                ("r / c", "max(r / c, c / r)"),
            ),
        ),
    ),
    forbidden=(METRICS,),
)
