"""Lesson 09, bert.expected_counts: Predict first: how many?."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator

from course_lib.exercises.bert.shared import LESSON, WITHHELD
from course_lib.exercises.common import integer, predicted
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import Case, Exercise, Hint, Misconception
from course_lib.objectives import pretraining


def _count_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: 1000 tokens", (1000,))
        yield Case("a short sentence: 6 tokens", (6,))
    few, some = (900, 9000) if hidden else (90, 900)
    for name, most in (("hardly any tokens", 6), ("few tokens", few), ("some tokens", some), ("many tokens", 90_000)):
        yield Case(name, (integer(generator, most // 3, most),))


def _counts_in_steps(tokens: int) -> tuple[float, ...]:
    chosen = tokens * 0.15
    counts = tuple(chosen * share for share in (0.8, 0.1, 0.1))
    return counts


_slip = partial(Edited, _counts_in_steps)
_SHARES, _COUNT, _COUNTS = "0.8, 0.1, 0.1", "chosen * share", "counts = "


EXERCISE = Exercise(
    id="bert.expected_counts",
    lesson=LESSON,
    name="expected_counts",
    title="Predict first: how many?",
    statement=(
        "expected_counts(tokens) -> a tuple of three floats: of that many tokens, how many on average become [MASK], "
        "how many become another token, and how many are asked for although they are unchanged."
    ),
    points=1,
    minutes=4,
    difficulty=1,
    importance=4,
    section="Masking tokens",
    source="Devlin et al. (2019), section 3.1 and appendix A.1",
    reference=pretraining.expected_counts,
    cases=predicted(_count_cases),
    correct=(
        _counts_in_steps,
        lambda tokens: (0.12 * tokens, 0.015 * tokens, 0.015 * tokens),
        lambda tokens: tuple((0.15 * tokens * torch.tensor([0.8, 0.1, 0.1], dtype=torch.float64)).tolist()),
    ),
    hints=(
        Hint(
            "idea",
            "First the share of tokens that are chosen at all, then the shares among those: 0.15 times 0.8, and so on. "
            "An average need not be whole.",
        ),
    ),
    misconceptions=(
        Misconception(
            "one_chosen_at_least",
            "Your answer chooses at least one token. The average over many short sentences may well be below one.",
            _slip((_COUNTS, f"chosen = max(chosen, 1.0)\n    {_COUNTS}")),
        ),
        Misconception(
            "words_for_masks",
            "Your answer has as many other tokens as there should be [MASK]. 80 % of the chosen tokens become [MASK].",
            _slip((_SHARES, "0.1, 0.8, 0.1")),
        ),
        Misconception(
            "shares_of_all_words",
            "Your numbers are shares of all the tokens. Only 15 % of them are chosen, and 80, 10 and 10 % are shares "
            "of the chosen ones.",
            _slip(("0.15", "1.0")),
        ),
        Misconception(
            "all_become_mask",
            "In your answer all the chosen tokens become [MASK]. Only 80 % of them do; 10 % become another token, and "
            "10 % stay.",
            _slip((_SHARES, "1.0, 0.0, 0.0")),
        ),
        Misconception(
            "all_the_chosen_first",
            "Your first number counts all the chosen tokens. Only 80 % of these become [MASK].",
            _slip((_SHARES, "1.0, 0.1, 0.1")),
        ),
        Misconception(
            "none_stays",
            "In your answer all the chosen tokens that do not become [MASK] become another token. 10 % of the chosen "
            "ones do, and 10 % stay as they are.",
            _slip((_SHARES, "0.8, 0.2, 0.0")),
        ),
        Misconception(
            "all_the_unchanged",
            "Your third number also counts the tokens that were not chosen. Only the 10 % of the chosen ones that stay "
            "are asked for; nothing is asked at the others.",
            _slip((_SHARES, "0.8, 0.1, 0.865 / 0.15")),
        ),
        Misconception(
            "tenths_of_all",
            "Your second and third numbers are 10 % of all the tokens. They are 10 % of the 15 % that were chosen.",
            _slip((_SHARES, "0.8, 0.1 / 0.15, 0.1 / 0.15")),
        ),
        Misconception(
            "fractions",
            "Your answer gives fractions of the tokens. Multiply them by the number of tokens.",
            _slip(("tokens * ", "")),
        ),
        Misconception(
            "rounded",
            "Your numbers are rounded to whole ones. An average need not be a whole number: leave it as it is.",
            _slip((_COUNT, "float(round(chosen * share))")),
        ),
        Misconception(
            "cut_down",
            "Your numbers are cut down to whole ones. An average need not be a whole number: leave it as it is.",
            _slip((_COUNT, "float(int(chosen * share + 1e-9))")),
        ),
        Misconception(
            "chosen_cut_down",
            "Your answer cuts the number of chosen tokens down to a whole one. It is an average: leave it as it is.",
            _slip((_COUNTS, f"chosen = int(chosen + 1e-9)\n    {_COUNTS}")),
        ),
        Misconception(
            "special_taken_off",
            "Your answer subtracts two tokens, for [CLS] and [SEP]. None of these tokens is special: count them all.",
            _slip(("tokens *", "(tokens - 2) *")),
        ),
        Misconception(
            "order_reversed",
            "Your numbers are in reverse order. The order is: as [MASK], as another token, unchanged.",
            _slip(("return counts", "return counts[::-1]")),
        ),
    ),
    withheld=WITHHELD,
)
