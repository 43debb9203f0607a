"""Lesson 08, subwords.count_pairs: Counting neighbours."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import combinations, groupby, pairwise
from typing import Any

from torch import Generator

from course_lib.checking.exercise import Case, Exercise, Hint, Misconception, Pair
from course_lib.exercises.subwords.shared import (
    FEW_LETTERS,
    GERMAN,
    LESSON,
    PLAY,
    WITHHELD,
    random_source,
    random_words,
)
from course_lib.text import subwords
from course_lib.text.subwords import Merge, Pieces


def _count_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: play, playing, played", (PLAY,))
        yield Case("a word with three equal neighbours", ({("▁", "a", "a", "a", "b"): 2, ("b", "a"): 1},))
        yield Case("the same pair in two places", ({tuple("▁banana"): 2, tuple("▁ban"): 1},))
        yield Case("words with joined pieces", ({("▁play", "ing"): 2, ("▁play", "e", "d"): 1, ("▁s", "ing"): 4},))
        yield Case("no words", ({},))
        yield Case("a word of one piece", ({("▁a",): 5, ("▁", "a", "t"): 1},))
        return
    rng = random_source(generator)
    yield Case("German words", (random_words(rng, GERMAN.split(), 5),))
    yield Case("few letters", (random_words(rng, FEW_LETTERS, 6),))
    joined = {subwords.join(word, ("a", "b")): times for word, times in random_words(rng, FEW_LETTERS, 7).items()}
    yield Case("few letters, some joined", (joined,))


def _pairs_of(pieces: Pieces) -> list[Merge]:
    return list(pairwise(pieces))


def _added(before: int | None, times: int) -> int:
    return times if before is None else before + times


def _counted(
    words: Mapping[Pieces, int],
    *,
    pairs: Callable[[Pieces], Iterable[Merge]] = _pairs_of,
    weighed: bool = True,
    add: Callable[[int | None, int], int] = _added,
    key: Callable[[Merge], Any] = tuple,
) -> dict[Any, int]:
    """`count_pairs` with one thing, or several, done differently."""
    counts: dict[Any, int] = {}
    for pieces, times in words.items():
        for pair in pairs(pieces):
            counts[key(pair)] = add(counts.get(key(pair)), times if weighed else 1)
    return counts


def _in_one_row(words: Mapping[Pieces, int], repeated: bool = True) -> dict[Merge, int]:
    """As if the words stood in one row without a gap, each as often as it occurs or once."""
    row = [piece for pieces, times in words.items() for piece in pieces * (times if repeated else 1)]
    return dict(Counter(pairwise(row)))


def _each_in_a_row(words: Mapping[Pieces, int]) -> dict[Merge, int]:
    """As if each word stood in a row of its own, as often as it occurs."""
    counts: Counter[Merge] = Counter()
    for pieces, times in words.items():
        counts.update(pairwise(pieces * times))
    return dict(counts)


def _count_in_a_defaultdict(words: dict[Pieces, int]) -> dict[Merge, int]:
    counts: defaultdict[Merge, int] = defaultdict(int)
    for pieces in words:
        for pair in zip(pieces[:-1], pieces[1:], strict=True):
            counts[pair] += words[pieces]
    return counts


def _count_with_a_counter(words: dict[Pieces, int]) -> dict[Merge, int]:
    counts: Counter[Merge] = Counter()
    for pieces, times in words.items():
        counts.update({pair: n * times for pair, n in Counter(pairwise(pieces)).items()})
    return counts


CORRECT = (
    _count_in_a_defaultdict,
    _count_with_a_counter,
    lambda words: Counter(pair for pieces, times in words.items() for _ in range(times) for pair in pairwise(pieces)),
    lambda words: {
        pair: sum(times * list(pairwise(pieces)).count(pair) for pieces, times in words.items())
        for pair in {pair for pieces in words for pair in pairwise(pieces)}
    },
)


EXERCISE = Exercise(
    id="subwords.count_pairs",
    lesson=LESSON,
    name="count_pairs",
    title="Counting neighbours",
    statement=(
        "count_pairs(words: dict from pieces, a tuple of str, to how often the word occurs) -> dict from pairs (left, "
        "right) to how often these two pieces are neighbours in the text."
    ),
    points=3,
    minutes=12,
    section="Which two stand together?",
    source="Sennrich et al. (2016), section 3.2, algorithm 1; S4",
    reference=subwords.count_pairs,
    cases=_count_cases,
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "Each word is there once, with how often it occurs: so each of its pairs counts as often as the word "
            "does. `zip` of the pieces and the pieces without the first gives each piece together with the next.",
        ),
        Hint(
            "outline",
            "Start with an empty `Counter`.\n"
            "For each word, go through its pairs of neighbours.\n"
            "Add to each pair how often the word occurs; a pair that stands twice in the word is added twice.",
            answers=(
                "every_word_once",
                "once_in_a_word",
                "last_word_only",
                "without_overlaps",
                "begun_at_0",
                "turned_round",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "every_word_once",
            "Your answer counts each word once. A word that occurs three times in the text contributes its pairs "
            "three times: add the word's number, not 1.",
            partial(_counted, weighed=False),
        ),
        Misconception(
            "once_in_a_word",
            "Your answer counts a pair only once in each word. In `b a b a` the pair (b, a) occurs twice: count every "
            "place.",
            partial(_counted, pairs=lambda pieces: dict.fromkeys(_pairs_of(pieces))),
        ),
        Misconception(
            "last_word_only",
            "For each pair your answer has only the last word's number: what was counted before is overwritten. Add "
            "to it, `+=`.",
            partial(_counted, add=lambda before, times: times),
        ),
        Misconception(
            "without_overlaps",
            "Your answer counts `a a a` as one pair (a, a). Here every pair of neighbours counts, so it has two of "
            "them: that they overlap matters only when they are joined.",
            partial(
                _counted,
                pairs=lambda pieces: [pair for _, run in groupby(_pairs_of(pieces)) for pair in list(run)[::2]],
            ),
        ),
        Misconception(
            "across_words",
            "Your answer also counts the last piece of one word and the first of the next one. Words do not touch each "
            "other: stay within a word.",
            _in_one_row,
        ),
        Misconception(
            "across_the_same_word",
            "Your answer writes down a word as often as it occurs, and so also counts its last piece and the first of "
            "its next copy. Words do not touch each other: add the word's number for each pair within it.",
            _each_in_a_row,
        ),
        Misconception(
            "order_forgotten",
            "Your answer counts (a, b) and (b, a) as the same pair. Keep the left piece on the left.",
            partial(_counted, key=lambda pair: tuple(sorted(pair))),
        ),
        Misconception(
            "not_only_neighbours",
            "Your answer counts any two pieces of a word. Count only those that stand side by side.",
            partial(_counted, pairs=lambda pieces: combinations(pieces, 2)),
        ),
        Misconception(
            "joined_strings",
            "Your answer has the joined strings as keys, such as `ay`. Then nobody knows where the pieces met: use "
            "the pair (left, right) itself, a tuple.",
            partial(_counted, key="".join),
        ),
        Misconception(
            "single_pieces",
            "Your answer counts single pieces. Count two that stand side by side: zip(pieces, pieces[1:]).",
            lambda words: dict(Counter(piece for pieces, times in words.items() for piece in pieces * times)),
        ),
        Misconception(
            "last_pair_forgotten",
            "Your answer forgets the last pair of each word. A word of n pieces has n - 1 pairs, the last of them at "
            "n - 2: range(len(pieces) - 1).",
            partial(_counted, pairs=lambda pieces: _pairs_of(pieces)[:-1]),
        ),
        Misconception(
            "first_pair_forgotten",
            "Your answer forgets the first pair of each word, that of ▁ and the piece after it. The mark is a piece "
            "like the others: begin at 0.",
            partial(_counted, pairs=lambda pieces: _pairs_of(pieces)[1:]),
        ),
        Misconception(
            "every_other_pair",
            "Your answer goes on by two pieces, so it counts only every other pair: for `a b c` only (a, b). Every "
            "pair of neighbours counts: go on by one.",
            partial(_counted, pairs=lambda pieces: _pairs_of(pieces)[::2]),
        ),
        Misconception(
            "turned_round",
            "Your answer has the right piece first. A pair is (left, right), in the order in which the two stand.",
            partial(_counted, key=lambda pair: pair[::-1]),
        ),
        Misconception(
            "characters_of_the_word",
            "Your answer joins a word's pieces and counts its characters. A piece may be longer than one: ▁play and "
            "ing are neighbours, but the letters within them are not.",
            partial(_counted, pairs=lambda pieces: _pairs_of(tuple("".join(pieces)))),
        ),
        Misconception(
            "begun_at_0",
            "Your answer counts a pair with 0 where it first occurs, and so loses that word's count. Begin with the "
            "word's count.",
            partial(_counted, add=lambda before, times: 0 if before is None else before + times),
        ),
    ),
    listed_pairs=(Pair("every_word_once", "across_words", lambda words: _in_one_row(words, repeated=False)),),
    withheld=WITHHELD,
)
