"""Lesson 09, bert.expected_counts: Predict first: how many?."""

from collections.abc import Iterator

import torch
from torch import Generator

from course_lib.exercises.common import hints, integer, predicted, slips
from course_lib.judging.exercise import Case, Exercise
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


_SHARES, _COUNT, _COUNTS = "0.8, 0.1, 0.1", "chosen * share", "counts = "


EXERCISE = Exercise(
    id="bert.expected_counts",
    title="Predict first: how many?",
    statement=(
        "expected_counts(tokens) -> a tuple of three floats: of that many tokens, how many on average become [MASK], "
        "how many become another token, and how many the model must predict although they are unchanged."
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
    hints=hints(
        idea=(
            "First work out how many tokens are chosen. Then split up the chosen tokens: 0.15 times 0.8, and so on. "
            "An average need not be a whole number."
        )
    ),
    misconceptions=slips(
        _counts_in_steps,
        one_chosen_at_least=(
            "Your answer always chooses at least one token. For short sentences, the average may be below one.",
            (_COUNTS, f"chosen = max(chosen, 1.0)\n    {_COUNTS}"),
        ),
        words_for_masks=(
            "Your answer swaps the first two numbers. 80% of the chosen tokens become [MASK].",
            (_SHARES, "0.1, 0.8, 0.1"),
        ),
        shares_of_all_words=(
            "Your answer takes shares of all tokens. Only 15% of them are chosen, and the 80%, 10% and 10% are shares "
            "of the chosen tokens.",
            ("0.15", "1.0"),
        ),
        all_become_mask=(
            "Your answer turns all chosen tokens into [MASK]. Only 80% become [MASK]; 10% become another token, and "
            "10% stay.",
            (_SHARES, "1.0, 0.0, 0.0"),
        ),
        all_the_chosen_first=(
            "Your first number counts all chosen tokens. Only 80% of them become [MASK].",
            (_SHARES, "1.0, 0.1, 0.1"),
        ),
        none_stays=(
            "Your answer leaves no chosen token unchanged. Of the chosen tokens, 10% become another token, and 10% "
            "stay as they are.",
            (_SHARES, "0.8, 0.2, 0.0"),
        ),
        all_the_unchanged=(
            "Your third number includes tokens that were not chosen. Count only the 10% of the chosen tokens that "
            "stay: the model doesn't predict the others.",
            (_SHARES, "0.8, 0.1, 0.865 / 0.15"),
        ),
        tenths_of_all=(
            "Your second and third numbers are 10% of all tokens. Each is 10% of the chosen 15%.",
            (_SHARES, "0.8, 0.1 / 0.15, 0.1 / 0.15"),
        ),
        fractions=("Your answer gives shares. Multiply them by the number of tokens.", ("tokens * ", "")),
        rounded=(
            "Your answer rounds to whole numbers. An average need not be whole: don't round.",
            (_COUNT, "float(round(chosen * share))"),
        ),
        cut_down=(
            "Your answer rounds down to whole numbers. An average need not be whole: don't round.",
            (_COUNT, "float(int(chosen * share + 1e-9))"),
        ),
        chosen_cut_down=(
            "Your answer rounds down the number of chosen tokens. The result is an average: don't round.",
            (_COUNTS, f"chosen = int(chosen + 1e-9)\n    {_COUNTS}"),
        ),
        special_taken_off=(
            "Your answer subtracts two tokens, for [CLS] and [SEP]. None of these tokens is special: count them all.",
            ("tokens *", "(tokens - 2) *"),
        ),
        order_reversed=(
            "Your answer is in reverse order. The order is [MASK], another token, unchanged.",
            ("return counts", "return counts[::-1]"),
        ),
    ),
)
