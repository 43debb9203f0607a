"""Lesson 08, subwords.vocabulary_size: Predict: how many tokens?."""

from collections.abc import Iterator

from torch import Generator

from course_lib.exercises.common import edits_of, hints, integer, mistake, predicted, slips
from course_lib.judging.exercise import Case, Exercise
from course_lib.text import subwords


def _size_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: GPT-2, 256 bytes, 50,000 pairs, 1 special token", (256, 50_000, 1))
        yield Case("no pairs yet", (30, 0, 4))
        yield Case("more pairs than characters", (10, 12, 4))
        yield Case("no special tokens", (20, 7, 0))
    for number in range(1, 4):
        drawn = (integer(generator, 20, 90), integer(generator, 3, 5000), integer(generator, 2, 6))
        yield Case(f"other sizes, {number}", drawn)


def _size_added_up(characters: int, merges: int, special: int) -> int:
    return characters + merges + special


_slip = edits_of(_size_added_up)


def _size_by_growing(characters: int, merges: int, special: int) -> int:
    size = special + characters
    for _ in range(merges):
        size += 1
    return size


EXERCISE = Exercise(
    id="subwords.vocabulary_size",
    title="Predict: how many tokens?",
    statement=(
        "vocabulary_size(characters, merges, special) -> int: the number of tokens, including characters and special "
        "tokens, after `merges` merges that each create a new token."
    ),
    points=1,
    minutes=5,
    difficulty=1,
    importance=3,
    section="How many tokens?",
    source="Radford et al. (2019), section 2.3: 50,257",
    reference=subwords.vocabulary_size,
    cases=predicted(_size_cases),
    correct=(
        _size_added_up,
        _size_by_growing,
        lambda characters, merges, special: len(range(-special, characters + merges)),
    ),
    hints=hints(
        idea=(
            "What does a merge add to the vocabulary, and does it take anything away? You may still need a character "
            "for the next unknown word, even after all its pairs have been merged."
        )
    ),
    misconceptions=(
        *mistake(
            "Your answer counts one special token even if there are none: `special or 1` treats 0 as False.",
            one_special_at_least=_slip(("+ special", "+ (special or 1)"), paired=False),
        ),
        *slips(
            _size_added_up,
            two_become_one=(
                "You expect the vocabulary to shrink, because two tokens become one. But only the words get shorter. "
                "The vocabulary keeps both tokens for other words, so each merge adds one.",
                ("+ merges", "- merges"),
            ),
            replaced=(
                "You expect new tokens to replace old ones. Old tokens stay, because other words may need them: each "
                "merge adds a token.",
                (" + merges", ""),
            ),
            special_forgotten=("Your answer leaves out the special tokens. They also have ids.", (" + special", "")),
            characters_forgotten=(
                "Your answer leaves out the characters. They stay in the vocabulary, so that every word can be "
                "spelled.",
                ("characters + ", ""),
            ),
            two_for_each_pair=(
                "You expect two new tokens for each pair. Both halves are already in the vocabulary: only the merged "
                "token is new.",
                ("+ merges", "+ 2 * merges"),
            ),
            one_too_few=(
                "Your answer is one too small. Every merge adds a token, including the first and the last.",
                ("return ", "return -1 + "),
            ),
        ),
        *mistake(
            "Your answer is one too large. Each merge adds one token and nothing else: the marker is already among "
            "the characters.",
            one_too_many=_slip(("return ", "return 1 + ")),
            alone=True,
        ),
        *mistake(
            "Your answer always counts one special token. GPT-2 has one, but other models have more: add `special`.",
            one_special_token=_slip(("+ special", "+ 1"), paired=False),
        ),
    ),
)
