"""Lesson 08, subwords.most_frequent_pair: Choosing a pair."""

from collections.abc import Iterator

from torch import Generator

from course_lib.exercises.common import hints, slips
from course_lib.exercises.subwords.shared import (
    FEW_LETTERS,
    GERMAN,
    PLAY,
    ids_of,
    pair_counts,
    random_source,
    random_words,
)
from course_lib.judging.exercise import Case, Exercise
from course_lib.text import subwords
from course_lib.text.subwords import Merge


def _choice_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: the first pair of play, playing, played", (pair_counts(PLAY), ids_of(PLAY)))
        ids = {"a": 4, "b": 5, "c": 6, "▁": 7, "ab": 8, "ca": 9}
        yield Case("one pair is ahead", ({("b", "a"): 2, ("▁", "c"): 7, ("a", "b"): 3}, ids))
        yield Case("equally frequent, another left token", ({("c", "a"): 4, ("▁", "a"): 1, ("b", "▁"): 4}, ids))
        yield Case("equally frequent, the same left token", ({("b", "ab"): 3, ("b", "c"): 3, ("a", "b"): 2}, ids))
        yield Case("three with the same left token", ({("b", "c"): 3, ("b", "ab"): 3, ("b", "a"): 3}, ids))
        yield Case("a merged token among them", ({("ab", "c"): 5, ("ca", "a"): 5, ("b", "ca"): 5, ("a", "a"): 2}, ids))
        yield Case("a token beside itself", ({("▁", "a"): 6, ("b", "b"): 6, ("c", "ab"): 1}, ids))
        yield Case("small on the right does not help", ({("c", "▁"): 4, ("▁", "a"): 4, ("ab", "a"): 3}, ids))
        yield Case("the smallest of all ids on the left", ({("ca", "b"): 4, ("▁", "ca"): 1, ("a", "ca"): 4}, ids))
        ids = {"abca": 1000, "d": 120, "▁c": 1002, "b": 7, "▁": 125, "a": 1001}
        once = {("d", "abca"): 1, ("d", "▁c"): 1, ("▁", "b"): 1, ("a", "b"): 1, ("d", "a"): 1}
        yield Case("each pair once, and ids in no order", (once, ids))
        yield Case("one more, with large ids", ({("a", "▁c"): 3, ("b", "d"): 2, ("▁c", "abca"): 3}, ids))
        return
    rng = random_source(generator)
    for number in range(1, 4):
        words = random_words(rng, FEW_LETTERS, 6)
        ids = ids_of(words)
        for pair in (("a", "b"), ("c", "ab")):
            words = {subwords.join(word, pair): times for word, times in words.items()}
            ids.setdefault("".join(pair), len(ids))
        pairs = list(subwords.count_pairs(words))
        rng.shuffle(pairs)
        yield Case(f"many ties, {number}", ({pair: rng.randint(1, 2) for pair in pairs}, ids))
    words = random_words(rng, GERMAN.split(), 6)
    yield Case("German words", (pair_counts(words), ids_of(words)))


def _choose_by_a_key(counts: dict[Merge, int], ids: dict[str, int]) -> Merge:
    def key(pair: Merge) -> tuple[int, ...]:
        left, right = ids[pair[0]], ids[pair[1]]
        return -counts[pair], left, right

    return min(counts, key=key)


_TIE, _IDS, _COUNT, _CHOSEN = ", left, right", "ids[pair[0]], ids[pair[1]]", "-counts[pair]", "min(counts, key=key)"


def _choose_in_steps(counts: dict[Merge, int], ids: dict[str, int]) -> Merge:
    most = max(counts.values())
    pairs = [pair for pair, times in counts.items() if times == most]
    left = min((pair[0] for pair in pairs), key=lambda token: ids[token])
    return left, min((pair[1] for pair in pairs if pair[0] == left), key=lambda token: ids[token])


EXERCISE = Exercise(
    id="subwords.most_frequent_pair",
    title="Choosing a pair",
    statement=(
        "most_frequent_pair(counts: dict from pairs to numbers, ids: dict from tokens to ids) -> the most frequent "
        "pair. In a tie, the smallest left id decides, then the smallest right id."
    ),
    points=1,
    minutes=8,
    difficulty=2,
    importance=4,
    section="Ties",
    source="Sennrich et al. (2016), section 3.2; the tie rule of the tokenizers library",
    reference=subwords.most_frequent_pair,
    cases=_choice_cases,
    correct=(
        _choose_by_a_key,
        _choose_in_steps,
        lambda counts, ids: max(
            sorted(counts, key=lambda pair: (ids[pair[0]], ids[pair[1]])), key=lambda pair: counts[pair]
        ),
    ),
    hints=hints(
        idea=(
            "Python compares tuples from left to right: the first number decides, and the next one only in a tie. To "
            "get the largest count and the smallest ids with one `min`, negate the count."
        )
    ),
    misconceptions=slips(
        _choose_by_a_key,
        first_of_several=(
            "Your answer breaks ties by the order of `counts`, which depends on the text. Take the pair with the "
            "smallest left id and, if several have it, the smallest right id.",
            (_TIE, ","),
        ),
        alphabetical=(
            "Your answer breaks ties alphabetically. Compare ids, not letters: a merged token is newer than every "
            "character, so its id is larger.",
            (_IDS, "pair"),
        ),
        largest_ids=(
            "Your answer breaks ties by the largest ids. Take the smallest ids.",
            (_IDS, "-ids[pair[0]], -ids[pair[1]]"),
        ),
        right_piece_first=(
            "Your answer breaks ties by the right token's id first. Compare the left tokens' ids first, and the right "
            "tokens' ids only if those are equal.",
            (_TIE, ", right, left"),
        ),
        ids_as_text=(
            "Your answer compares ids as strings, where '10' comes before '9'. Compare them as numbers.",
            (_IDS, "str(ids[pair[0]]), str(ids[pair[1]])"),
        ),
        right_piece_ignored=(
            "Your answer takes the first pair in `counts` if several have the same left token. Take the pair whose "
            "right token has the smallest id.",
            (_TIE, ", left"),
        ),
        largest_right_piece=(
            "Your answer takes the right token with the largest id if several pairs have the same left token. Take "
            "the one with the smallest id.",
            (_TIE, ", left, -right"),
        ),
        least_frequent=(
            "Your answer returns the least frequent pair. `min` takes the smallest key: negate the count.",
            (_COUNT, "counts[pair]"),
        ),
        counts_ignored=(
            "Your answer returns the pair with the smallest ids, however rare it is. Compare counts first, and ids "
            "only for ties.",
            (_COUNT, "0"),
        ),
        with_its_count=(
            "Your answer returns the pair and its count. Return only the pair.",
            (_CHOSEN, f"{_CHOSEN}, counts[{_CHOSEN}]"),
        ),
        joined=(
            "Your answer merges the pair into one string. Return the pair (left, right), a tuple: merging is the next "
            "step.",
            (_CHOSEN, f"''.join({_CHOSEN})"),
        ),
    ),
)
