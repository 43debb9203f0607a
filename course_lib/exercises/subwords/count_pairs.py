"""Lesson 08, subwords.count_pairs: Counting pairs."""

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping

from torch import Generator

from course_lib.exercises.common import hints, slips
from course_lib.exercises.subwords.shared import FEW_LETTERS, GERMAN, PLAY, random_source, random_words
from course_lib.judging.exercise import Case, Exercise, Pair
from course_lib.text import subwords
from course_lib.text.subwords import Merge, Pieces


def _count_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: play, playing, played", (PLAY,))
        yield Case("a word with three equal neighbors", ({("▁", "a", "a", "a", "b"): 2, ("b", "a"): 1},))
        yield Case("the same pair twice", ({tuple("▁banana"): 2, tuple("▁ban"): 1},))
        yield Case("words with merged tokens", ({("▁play", "ing"): 2, ("▁play", "e", "d"): 1, ("▁s", "ing"): 4},))
        yield Case("no words", ({},))
        yield Case("a word of one token", ({("▁a",): 5, ("▁", "a", "t"): 1},))
        return
    rng = random_source(generator)
    yield Case("German words", (random_words(rng, GERMAN.split(), 5),))
    yield Case("few letters", (random_words(rng, FEW_LETTERS, 6),))
    merged = {subwords.join(word, ("a", "b")): times for word, times in random_words(rng, FEW_LETTERS, 7).items()}
    yield Case("few letters, some merged", (merged,))


def _in_one_row(words: Mapping[Pieces, int], repeated: bool = True) -> dict[Merge, int]:
    """As if the words stood in one row without a gap, each as often as it occurs or once."""
    row = [token for tokens, times in words.items() for token in tokens * (times if repeated else 1)]
    return dict(Counter(itertools.pairwise(row)))


def _count_pair_by_pair(words: dict[Pieces, int]) -> dict[Merge, int]:
    counts: dict[Merge, int] = {}
    for tokens, times in words.items():
        for pair in itertools.pairwise(tokens):
            counts[pair] = counts.get(pair, 0) + times
    return counts


_PAIRS, _OLD, _COUNTED = "itertools.pairwise(tokens)", "counts.get(pair, 0) + times", "counts[pair] ="


def _count_with_a_counter(words: dict[Pieces, int]) -> dict[Merge, int]:
    counts: Counter[Merge] = Counter()
    for tokens, times in words.items():
        counts.update({pair: n * times for pair, n in Counter(itertools.pairwise(tokens)).items()})
    return counts


EXERCISE = Exercise(
    id="subwords.count_pairs",
    title="Counting pairs",
    statement=(
        "count_pairs(words: dict from tokens, a tuple of str, to the word's count) -> dict from pairs (left, right) to "
        "how often these two tokens are neighbors in the text."
    ),
    points=3,
    minutes=12,
    difficulty=2,
    importance=4,
    section="Which tokens are neighbors?",
    source="Sennrich et al. (2016), section 3.2, algorithm 1; S4",
    reference=subwords.count_pairs,
    cases=_count_cases,
    correct=(
        _count_pair_by_pair,
        _count_with_a_counter,
        lambda words: {
            pair: sum(times * list(itertools.pairwise(tokens)).count(pair) for tokens, times in words.items())
            for pair in {pair for tokens in words for pair in itertools.pairwise(tokens)}
        },
    ),
    hints=hints(
        idea=(
            "Each word appears once, with its count, so each of its pairs counts as often as the word does. `zip` all "
            "tokens with all but the first: that pairs each token with the next one."
        ),
        outline=(
            "Start with an empty `Counter`.\n"
            "For each word, go through its pairs of neighbors.\n"
            "Add the word's count to each pair. Add it twice if the pair occurs twice in the word.",
            ("every_word_once", "once_in_a_word", "last_word_only", "without_overlaps", "begun_at_0", "turned_round"),
        ),
    ),
    misconceptions=slips(
        _count_pair_by_pair,
        every_word_once=(
            "Your answer counts each word once. A word that occurs three times in the text adds its pairs three "
            "times: add the word's count, not 1.",
            ("+ times", "+ 1"),
        ),
        once_in_a_word=(
            "Your answer counts a pair only once per word. In `b a b a` the pair (b, a) occurs twice: count every "
            "position.",
            (_PAIRS, f"dict.fromkeys({_PAIRS})"),
        ),
        last_word_only=(
            "Your answer keeps only the last word's count for each pair, because it overwrites the earlier ones. Add "
            "to the count with `+=`.",
            (_OLD, "times"),
        ),
        without_overlaps=(
            "Your answer counts `a a a` as one pair (a, a). Every pair of neighbors counts, so there are two. "
            "Overlaps matter only later, when you merge.",
            (_PAIRS, f"[pair for _, run in itertools.groupby({_PAIRS}) for pair in list(run)[::2]]"),
        ),
        order_forgotten=(
            "Your answer counts (a, b) and (b, a) as the same pair. Keep the left token on the left.",
            (_COUNTED, f"pair = tuple(sorted(pair))\n            {_COUNTED}"),
        ),
        joined_strings=(
            "Your answer uses merged strings such as `ay` as keys, so nobody can tell where one token ends and the "
            "next begins. Use the pair itself, the tuple (left, right).",
            (_COUNTED, f"pair = ''.join(pair)\n            {_COUNTED}"),
        ),
        last_pair_forgotten=(
            "Your answer misses the last pair of each word. A word of n tokens has n - 1 pairs; the last one begins "
            "at n - 2: range(len(tokens) - 1).",
            (_PAIRS, f"list({_PAIRS})[:-1]"),
        ),
        first_pair_forgotten=(
            "Your answer misses the first pair of each word, ▁ and the token after it. The marker is also a token: "
            "start at 0.",
            (_PAIRS, f"list({_PAIRS})[1:]"),
        ),
        every_other_pair=(
            "Your answer moves on by two tokens, so it counts only every other pair: in `a b c`, it counts only (a, "
            "b). Move on by one.",
            (_PAIRS, f"list({_PAIRS})[::2]"),
        ),
        turned_round=(
            "Your answer puts the right token first. A pair is (left, right), in the order of the word.",
            (_COUNTED, f"pair = pair[::-1]\n            {_COUNTED}"),
        ),
        characters_of_the_word=(
            "Your answer joins a word's tokens and counts pairs of characters. Count pairs of tokens: ▁play and ing "
            "are neighbors, but the letters inside them are not.",
            (_PAIRS, "itertools.pairwise(''.join(tokens))"),
        ),
        begun_at_0=(
            "Your answer sets a pair to 0 where it first occurs, so it loses that word's count. Start with the word's "
            "count.",
            (_OLD, "counts[pair] + times if pair in counts else 0"),
        ),
        across_words=(
            "Your answer also pairs the last token of one word with the first token of the next. Stay within each "
            "word.",
            _in_one_row,
        ),
    ),
    listed_pairs=(Pair("every_word_once", "across_words", lambda words: _in_one_row(words, repeated=False)),),
)
