"""The exercises of lesson 08: byte-pair encoding learned and used, and WordPiece's way to cut a word.

Built like those of `course_lib/exercises/attention.py`; read that file first. Their values are Python's own: strings,
tuples, lists and dicts.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Generator

from course_lib import subwords, wordpiece
from course_lib.checking.exercise import CORE, Callback, Case, Exercise, Misconception
from course_lib.exercises.common import integer, predicted
from course_lib.exercises.correct import subwords as correct
from course_lib.subwords import MARK, Merge, Pieces
from course_lib.tokenization import SPECIAL

LESSON = "08_subwords"
WITHHELD = ("course_lib.fast_subwords", "course_lib.subwords", "course_lib.wordpiece")
TOKENIZERS = ("tokenizers", "Tokenizer", "BpeTrainer", "WordPieceTrainer")
"""The library that has all this ready."""

PLAY = {tuple("▁play"): 3, tuple("▁playing"): 2, tuple("▁played"): 1}
"""The words of S4, as often as here: the worked example."""

_GERMAN = "gesundheit gesundheits forschung forscher institut institute amt rat haus heit ung katze katzen tanz tanzte"
_FEW_LETTERS = ("a", "b", "ab", "ba", "aa", "aab", "abab", "aaa", "bab", "cab", "abc", "cabc", "bca", "aaaa")


def _rng(generator: Generator) -> random.Random:
    return random.Random(int(torch.randint(2**31, (), generator=generator)))


def _words(rng: random.Random, among: Sequence[str], number: int) -> dict[Pieces, int]:
    """So many of these words as characters, each with a number of times that no other one has."""
    times = rng.sample(range(1, 4 * number), number)
    return {tuple(MARK + word): often for word, often in zip(rng.sample(among, number), times, strict=True)}


def _ids(words: Mapping[Pieces, int]) -> dict[str, int]:
    """The ids of the special tokens and of all characters: the next one is len(ids)."""
    return {piece: i for i, piece in enumerate([*SPECIAL, *sorted({part for word in words for part in word})])}


def _pair_counts(words: Mapping[Pieces, int]) -> dict[Merge, int]:
    """The pairs' counts as a plain dict, as cases and callbacks need them."""
    return dict(subwords.count_pairs(words))


# subwords.count_pairs --------------------------------------------------------------------------------------


def _count_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: play, playing, played", (PLAY,))
        yield Case("a word with three equal neighbours", ({("▁", "a", "a", "a", "b"): 2, ("b", "a"): 1},))
        yield Case("the same pair in two places", ({tuple("▁banana"): 2, tuple("▁ban"): 1},))
        yield Case("words with joined pieces", ({("▁play", "ing"): 2, ("▁play", "e", "d"): 1, ("▁s", "ing"): 4},))
        yield Case("a word of one piece", ({("▁a",): 5, ("▁", "a", "t"): 1},))
        return
    rng = _rng(generator)
    yield Case("German words", (_words(rng, _GERMAN.split(), 5),))
    yield Case("few letters", (_words(rng, _FEW_LETTERS, 6),))
    joined = {subwords.join(word, ("a", "b")): times for word, times in _words(rng, _FEW_LETTERS, 7).items()}
    yield Case("few letters, some joined", (joined,))


def _pairs_of(pieces: Pieces) -> list[Merge]:
    return list(itertools.pairwise(pieces))


def _counted(words: Mapping[Pieces, int], found: Callable[[Pieces], Iterator[Merge] | list[Merge]]) -> dict[Merge, int]:
    """How often each of the pairs that `found` finds in a word occurs."""
    counts: Counter[Merge] = Counter()
    for pieces, times in words.items():
        for pair in found(pieces):
            counts[pair] += times
    return dict(counts)


def _counted_from(
    words: Mapping[Pieces, int],
    first: Callable[[int], int] = lambda times: times,
    later: Callable[[int], int] = lambda times: times,
) -> dict[Merge, int]:
    """The counts, with something else counted where a pair is met first, or later."""
    counts: dict[Merge, int] = {}
    for pieces, times in words.items():
        for pair in _pairs_of(pieces):
            counts[pair] = counts[pair] + later(times) if pair in counts else first(times)
    return counts


def _without_overlaps(pieces: Pieces) -> list[Merge]:
    """The neighbours, but of a a a only the first two."""
    found: list[Merge] = []
    taken = -1
    for place, pair in enumerate(_pairs_of(pieces)):
        if found and pair == found[-1] and pair[0] == pair[1] and taken == place - 1:
            continue
        found.append(pair)
        taken = place
    return found


def _in_one_row(words: Mapping[Pieces, int]) -> dict[Merge, int]:
    """As if the words stood in one row without a gap."""
    row = [piece for pieces, times in words.items() for _ in range(times) for piece in pieces]
    return dict(Counter(itertools.pairwise(row)))


COUNT_PAIRS = Exercise(
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
    correct=correct.COUNT_PAIRS,
    misconceptions=(
        Misconception(
            "every_word_once",
            "Your answer counts each word once. A word that occurs three times in the text brings its pairs three "
            "times: add the word's number, not 1.",
            lambda words: _counted(dict.fromkeys(words, 1), _pairs_of),
        ),
        Misconception(
            "once_in_a_word",
            "Your answer counts a pair only once in each word. In `b a b a` the pair (b, a) is there twice: count "
            "every place.",
            lambda words: _counted(words, lambda pieces: list(dict.fromkeys(_pairs_of(pieces)))),
        ),
        Misconception(
            "last_word_only",
            "Your answer has for each pair only the last word's number: what was counted before is written over. Add "
            "to it, `+=`.",
            lambda words: {pair: times for pieces, times in words.items() for pair in _pairs_of(pieces)},
        ),
        Misconception(
            "without_overlaps",
            "Your answer counts `a a a` as one pair (a, a). Here every two neighbours count, so it has two of them: "
            "that they overlap matters only when they are joined.",
            lambda words: _counted(words, _without_overlaps),
        ),
        Misconception(
            "across_words",
            "Your answer also counts the last piece of one word and the first of the next one. Words do not touch "
            "each other: stay within a word.",
            _in_one_row,
        ),
        Misconception(
            "order_forgotten",
            "Your answer counts (a, b) and (b, a) as the same pair. Keep the left piece on the left.",
            lambda words: _counted(words, lambda pieces: [(min(pair), max(pair)) for pair in _pairs_of(pieces)]),
        ),
        Misconception(
            "not_only_neighbours",
            "Your answer counts any two pieces of a word. Count only those that stand side by side.",
            lambda words: _counted(words, lambda pieces: itertools.combinations(pieces, 2)),
        ),
        Misconception(
            "joined_strings",
            "Your answer has the joined strings as keys, such as `ay`. Then nobody knows where the pieces met: take "
            "the pair (left, right) itself, a tuple.",
            lambda words: {
                text: sum(times for pair, times in subwords.count_pairs(words).items() if "".join(pair) == text)
                for text in map("".join, subwords.count_pairs(words))
            },
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
            lambda words: _counted(words, lambda pieces: _pairs_of(pieces)[:-1]),
        ),
        Misconception(
            "begun_at_0",
            "Your answer counts a pair with 0 where it first occurs, and so loses that word's count. Begin with the "
            "word's count.",
            lambda words: _counted_from(words, first=lambda times: 0),
        ),
        Misconception(
            "begun_at_1",
            "Your answer counts a pair with 1 where it first occurs, however often the word does. Begin with the "
            "word's count.",
            lambda words: _counted_from(words, first=lambda times: 1),
        ),
        Misconception(
            "later_ones_counted_once",
            "Your answer adds 1 for a pair that it has met before, however often the word occurs. Add the word's "
            "count.",
            lambda words: _counted_from(words, later=lambda times: 1),
        ),
    ),
    withheld=WITHHELD,
)


# subwords.most_frequent_pair -------------------------------------------------------------------------------


def _choice_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: the first pair of play, playing, played", (_pair_counts(PLAY), _ids(PLAY)))
        ids = {"a": 4, "b": 5, "c": 6, "▁": 7, "ab": 8, "ca": 9}
        yield Case("one pair is ahead", ({("b", "a"): 2, ("▁", "c"): 7, ("a", "b"): 3}, ids))
        yield Case("equally frequent, another left piece", ({("c", "a"): 4, ("▁", "a"): 1, ("b", "▁"): 4}, ids))
        yield Case("equally frequent, the same left piece", ({("b", "ab"): 3, ("b", "c"): 3, ("a", "b"): 2}, ids))
        yield Case("three with the same left piece", ({("b", "c"): 3, ("b", "ab"): 3, ("b", "a"): 3}, ids))
        yield Case("a joined piece among them", ({("ab", "c"): 5, ("ca", "a"): 5, ("b", "ca"): 5, ("a", "a"): 2}, ids))
        yield Case("a piece beside itself", ({("▁", "a"): 6, ("b", "b"): 6, ("c", "ab"): 1}, ids))
        yield Case("small on the right does not help", ({("c", "▁"): 4, ("▁", "a"): 4, ("ab", "a"): 3}, ids))
        return
    rng = _rng(generator)
    for number in range(1, 4):
        words = _words(rng, _FEW_LETTERS, 6)
        ids = _ids(words)
        for pair in (("a", "b"), ("c", "ab")):
            words = {subwords.join(word, pair): times for word, times in words.items()}
            ids.setdefault("".join(pair), len(ids))
        pairs = list(subwords.count_pairs(words))
        rng.shuffle(pairs)
        yield Case(f"many ties, {number}", ({pair: rng.randint(1, 2) for pair in pairs}, ids))
    words = _words(rng, _GERMAN.split(), 6)
    yield Case("German words", (_pair_counts(words), _ids(words)))


MOST_FREQUENT_PAIR = Exercise(
    id="subwords.most_frequent_pair",
    lesson=LESSON,
    name="most_frequent_pair",
    title="Choosing a pair",
    statement=(
        "most_frequent_pair(counts: dict from pairs to numbers, ids: dict from pieces to ids) -> the most frequent "
        "pair; of several, the one whose left piece has the smallest id, and of those whose right piece has."
    ),
    points=2,
    minutes=8,
    section="Ties",
    source="Sennrich et al. (2016), section 3.2; the tie rule of the tokenizers library",
    reference=subwords.most_frequent_pair,
    cases=_choice_cases,
    correct=correct.MOST_FREQUENT_PAIR,
    misconceptions=(
        Misconception(
            "first_of_several",
            "Of equally frequent pairs your answer takes the one that comes first in `counts`. That depends on the "
            "order of the text: take the one with the smallest ids, the left piece's first.",
            lambda counts, ids: max(counts, key=lambda pair: counts[pair]),
        ),
        Misconception(
            "last_of_several",
            "Of equally frequent pairs your answer takes the one that comes last in `counts`. That depends on the "
            "order of the text: take the one with the smallest ids, the left piece's first.",
            lambda counts, ids: max(reversed(list(counts)), key=lambda pair: counts[pair]),
        ),
        Misconception(
            "alphabetical",
            "Of equally frequent pairs your answer takes the alphabetically first one. Compare ids, not letters: a "
            "joined piece is younger than every character and so has a larger id.",
            lambda counts, ids: min(counts, key=lambda pair: (-counts[pair], pair)),
        ),
        Misconception(
            "largest_ids",
            "Of equally frequent pairs your answer takes the one with the largest ids. Take the smallest ones.",
            lambda counts, ids: max(counts, key=lambda pair: (counts[pair], ids[pair[0]], ids[pair[1]])),
        ),
        Misconception(
            "right_piece_first",
            "Of equally frequent pairs your answer looks at the right piece's id first. Look at the left one's first, "
            "and at the right one's only where the left pieces are the same.",
            lambda counts, ids: min(counts, key=lambda pair: (-counts[pair], ids[pair[1]], ids[pair[0]])),
        ),
        Misconception(
            "ids_added",
            "Of equally frequent pairs your answer takes the one with the smallest sum of ids. Compare the left "
            "pieces' ids first, then the right ones'.",
            lambda counts, ids: min(counts, key=lambda pair: (-counts[pair], ids[pair[0]] + ids[pair[1]])),
        ),
        Misconception(
            "right_piece_ignored",
            "Where several most frequent pairs have the same left piece, your answer takes the first one in `counts`. "
            "Then the smaller id of the right piece decides.",
            lambda counts, ids: min(counts, key=lambda pair: (-counts[pair], ids[pair[0]])),
        ),
        Misconception(
            "largest_right_piece",
            "Where several most frequent pairs have the same left piece, your answer takes the one whose right piece "
            "has the largest id. Take the smallest there, too.",
            lambda counts, ids: min(counts, key=lambda pair: (-counts[pair], ids[pair[0]], -ids[pair[1]])),
        ),
        Misconception(
            "least_frequent",
            "Your answer is a least frequent pair. `min` takes the smallest key: put a minus before the count.",
            lambda counts, ids: min(counts, key=lambda pair: (counts[pair], ids[pair[0]], ids[pair[1]])),
        ),
        Misconception(
            "counts_ignored",
            "Your answer is the pair with the smallest ids, however rare. The count comes first, ids only where "
            "several pairs are equally frequent.",
            lambda counts, ids: min(counts, key=lambda pair: (ids[pair[0]], ids[pair[1]])),
        ),
        Misconception(
            "how_often",
            "Your answer is how often the most frequent pair occurs. Return the pair itself.",
            lambda counts, ids: max(counts.values()),
        ),
        Misconception(
            "joined",
            "Your answer is the right pair, joined to one string. Return the pair (left, right), a tuple: joining "
            "comes next.",
            lambda counts, ids: "".join(subwords.most_frequent_pair(counts, ids)),
        ),
    ),
    withheld=WITHHELD,
)


# subwords.merge --------------------------------------------------------------------------------------------


def _merge_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: a and y in playing", (tuple("▁playing"), ("a", "y")))
        yield Case("in several places", (tuple("▁banana"), ("a", "n")))
        yield Case("overlapping", (("a", "a", "a", "b"), ("a", "a")))
        yield Case("overlapping, twice", (("a", "a", "a", "a", "a"), ("a", "a")))
        yield Case("the other way round", (("a", "b", "b", "a", "b"), ("b", "a")))
        yield Case("not there", (tuple("▁play"), ("y", "s")))
        yield Case("inside of larger pieces", (("xl", "a", "l", "ay", "l", "a"), ("l", "a")))
        yield Case("the left piece alone", (("▁", "p", "l", "p", "a"), ("p", "a")))
        yield Case("one piece", (("▁play",), ("a", "y")))
        return
    rng = _rng(generator)
    for number in range(1, 6):
        letters = tuple(rng.choice(("a", "b", "ab", "▁")) for _ in range(integer(generator, 6, 12)))
        pair = (rng.choice("ab"), rng.choice("ab"))
        yield Case(f"few letters, {number}", ((*letters, *pair), pair))


def _merged_first(pieces: Pieces, pair: Merge) -> Pieces:
    for i in range(len(pieces) - 1):
        if pieces[i : i + 2] == pair:
            return (*pieces[:i], "".join(pair), *pieces[i + 2 :])
    return pieces


def _merged_overlapping(pieces: Pieces, pair: Merge) -> Pieces:
    """Joins at every place, and goes on one piece further, not two."""
    joined: list[str] = []
    i = 0
    while i < len(pieces):
        found = pieces[i : i + 2] == pair
        joined.append("".join(pair) if found else pieces[i])
        i += 2 if found and pieces[i + 1 : i + 3] != pair else 1
    return tuple(joined)


def _merged_going_on_by_one(pieces: Pieces, pair: Merge) -> Pieces:
    return tuple("".join(pair) if pieces[i : i + 2] == pair else piece for i, piece in enumerate(pieces))


def _merged_without_the_last(pieces: Pieces, pair: Merge) -> Pieces:
    """Stops before the last piece, which is there only if it was joined."""
    joined: list[str] = []
    i = 0
    while i < len(pieces) - 1:
        found = pieces[i : i + 2] == pair
        joined.append("".join(pair) if found else pieces[i])
        i += 2 if found else 1
    return tuple(joined)


def _merged_either_way(pieces: Pieces, pair: Merge) -> Pieces:
    joined: list[str] = []
    i = 0
    while i < len(pieces):
        both = pieces[i : i + 2]
        found = both in (pair, pair[::-1])
        joined.append("".join(both) if found else pieces[i])
        i += 2 if found else 1
    return tuple(joined)


def _merged_by_the_left(pieces: Pieces, pair: Merge) -> Pieces:
    joined: list[str] = []
    i = 0
    while i < len(pieces):
        found = pieces[i] == pair[0]
        joined.append("".join(pieces[i : i + 2]) if found else pieces[i])
        i += 2 if found else 1
    return tuple(joined)


def _merged_from_the_right(pieces: Pieces, pair: Merge) -> Pieces:
    joined: list[str] = []
    i = len(pieces)
    while i > 0:
        found = pieces[max(0, i - 2) : i] == pair
        joined.insert(0, "".join(pair) if found else pieces[i - 1])
        i -= 2 if found else 1
    return tuple(joined)


def _merged_to(pieces: Pieces, pair: Merge, put: tuple[Any, ...]) -> tuple[Any, ...]:
    """The pieces with `put` in the place of every occurrence of the pair."""
    joined: list[Any] = []
    i = 0
    while i < len(pieces):
        found = pieces[i : i + 2] == pair
        joined += put if found else (pieces[i],)
        i += 2 if found else 1
    return tuple(joined)


MERGE = Exercise(
    id="subwords.merge",
    lesson=LESSON,
    name="join",
    title="Joining a pair",
    statement=(
        "join(pieces: tuple of str, pair: tuple of two str) -> tuple of str: the pieces with every occurrence of the "
        "pair joined to one piece, from left to right."
    ),
    points=3,
    minutes=12,
    section="Joining",
    source="Sennrich et al. (2016), section 3.2, algorithm 1",
    reference=subwords.join,
    cases=_merge_cases,
    correct=correct.MERGE,
    misconceptions=(
        Misconception(
            "first_one_only",
            "Your answer joins the pair at its first place only. Go on to the end of the word: every occurrence is "
            "joined.",
            _merged_first,
        ),
        Misconception(
            "used_twice",
            "Your answer uses a piece twice: of `a a a` it makes `aa aa`. A piece that has been joined is gone: go on "
            "two pieces further.",
            _merged_overlapping,
        ),
        Misconception(
            "right_piece_kept",
            "Your answer goes on by one piece after joining, so that the right one of the two comes once more, behind "
            "the joined piece. Go on by two.",
            _merged_going_on_by_one,
        ),
        Misconception(
            "last_piece_lost",
            "Your answer loses the last piece of a word, unless it is joined: the walk ends one piece too early. Go on "
            "while i < len(pieces).",
            _merged_without_the_last,
        ),
        Misconception(
            "from_the_right",
            "Your answer joins from the right: of `a a a` it makes `a aa`. Begin at the left: `aa a`.",
            _merged_from_the_right,
        ),
        Misconception(
            "either_way_round",
            "Your answer joins the two pieces the other way round as well. The left one must stand on the left.",
            _merged_either_way,
        ),
        Misconception(
            "nothing_joined",
            "Your answer returns the pieces as they came. Either the pair is never found (a list never equals a "
            "tuple), or what is joined is not kept.",
            lambda pieces, pair: pieces,
        ),
        Misconception(
            "left_piece_only",
            "Your answer joins the left piece with whatever follows it. Both must be those of the pair.",
            _merged_by_the_left,
        ),
        Misconception(
            "text_replaced",
            "Your answer replaces in the text, and so finds the pair inside of larger pieces: `xl a` holds the text "
            "`l a`, but no piece `l`. Compare whole pieces.",
            lambda pieces, pair: tuple(" ".join(pieces).replace(" ".join(pair), "".join(pair)).split(" ")),
        ),
        Misconception(
            "parts_kept",
            "Your answer keeps the two pieces beside the joined one. They are used up: the joined one takes their "
            "place.",
            lambda pieces, pair: _merged_to(pieces, pair, (*pair, "".join(pair))),
        ),
        Misconception(
            "removed",
            "Your answer removes the pair and puts nothing in its place. Put the joined piece there.",
            lambda pieces, pair: _merged_to(pieces, pair, ()),
        ),
        Misconception(
            "a_list",
            "The pieces are right, but they are a list. Return a tuple: pieces are keys of a dict, and lists cannot "
            "be.",
            lambda pieces, pair: list(subwords.join(pieces, pair)),
        ),
        Misconception(
            "one_string",
            "The pieces are right, but joined to one string with spaces. Return them as a tuple.",
            lambda pieces, pair: " ".join(subwords.join(pieces, pair)),
        ),
        Misconception(
            "place_by_place",
            "Your answer looks at every place by itself: the right piece of a joined pair is used once more, and the "
            "last piece gets lost. Go on two pieces further behind a pair, and on to the end of the word.",
            lambda pieces, pair: _merged_going_on_by_one(pieces, pair)[:-1] or pieces[:0],
        ),
        Misconception(
            "pair_kept_as_a_pair",
            "Your answer puts the pair itself into the word. Join its two pieces to one: pair[0] + pair[1].",
            lambda pieces, pair: _merged_to(pieces, pair, (pair,)),
        ),
    ),
    withheld=WITHHELD,
)


# subwords.learn_merges -------------------------------------------------------------------------------------


def _chosen(counts: Mapping[Merge, int], ids: Mapping[str, int]) -> Merge:
    """`most_frequent_pair` that says what is missing in place of a bare KeyError."""
    if not counts:
        raise ValueError("there is no pair to choose from: stop when count(words) is empty")
    unknown = next((piece for pair in counts for piece in pair if piece not in ids), None)
    if unknown is not None:
        raise ValueError(f"the piece {unknown!r} has no id: give every joined piece the next one, len(ids)")
    return subwords.most_frequent_pair(counts, ids)


_COUNT = Callback("count", _pair_counts)
_CHOOSE = Callback("choose", _chosen)
_JOIN = Callback("join", subwords.join)
_NOTHING_LEFT = "when nothing is left to join"


def _learn_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    def case(name: str, words: dict[Pieces, int], merges: int, part: str = CORE) -> Case:
        return Case(name, (words, _ids(words), merges, _COUNT, _CHOOSE, _JOIN), part=part)

    rng = _rng(generator)
    if not hidden:
        yield case("worked example: play, playing, played; four pairs", PLAY, 4)
        yield case("one pair", PLAY, 1)
        yield case("none", PLAY, 0)
        lowest = {tuple("▁low"): 5, tuple("▁lower"): 2, tuple("▁newest"): 6, tuple("▁widest"): 3}
        yield case("the words of the paper", lowest, 8)
        yield case("all words once", {tuple("▁cba"): 1, tuple("▁bca"): 1}, 3)
        yield case("equally frequent: a joined piece is younger", {tuple("▁xaxb"): 1, tuple("▁xacb"): 1}, 3)
    else:
        yield case("German words", _words(rng, _GERMAN.split(), 5), 7)
        yield case("few letters", _words(rng, _FEW_LETTERS, 5), 4)
        once = dict.fromkeys(_words(rng, [word for word in _FEW_LETTERS if len(word) > 2], 5), 1)
        yield case("few letters, all words once", once, 5)
    yield case("more pairs than there are", {tuple("▁ab"): 2, tuple("▁b"): 1}, 9, _NOTHING_LEFT)
    yield case("all words are one piece", {("▁a",): 2, ("▁b",): 1}, 3, _NOTHING_LEFT)


def _learned_differently(
    words: dict[Pieces, int],
    ids: dict[str, int],
    merges: int,
    count: Callable[..., dict[Merge, int]],
    choose: Callable[..., Merge],
    join: Callable[..., Pieces],
    *,
    update: bool = True,
    keep_times: bool = True,
    recount: bool = True,
    rarest: int = 1,
    number: Callable[[dict[str, int], str], int] = lambda ids, piece: ids.get(piece, len(ids)),
) -> list[Merge]:
    """`learn_merges` with one thing done differently."""
    learned: list[Merge] = []
    pairs = count(words)
    while len(learned) < merges and pairs:
        best = choose(pairs, ids)
        if pairs[best] < rarest:
            break
        learned.append(best)
        ids = {**ids, "".join(best): number(ids, "".join(best))}
        if update:
            words = {join(pieces, best): times if keep_times else 1 for pieces, times in words.items()}
        pairs = count(words) if recount else {pair: times for pair, times in pairs.items() if pair != best}
    return learned


LEARN_MERGES = Exercise(
    id="subwords.learn_merges",
    lesson=LESSON,
    name="learn_merges",
    title="Learning the pairs",
    statement=(
        "learn_merges(words, ids, merges, count, choose, join) -> list of pairs in the order in which they are joined: "
        "count the pairs of `words`, choose one, give the joined piece the next id, join it in every word, and begin "
        "anew; `merges` pairs at most, fewer where none is left."
    ),
    points=4,
    minutes=20,
    section="The whole algorithm",
    source="Sennrich et al. (2016), section 3.2, algorithm 1; S4",
    reference=subwords.learn_merges,
    cases=_learn_cases,
    parts={CORE: 3, _NOTHING_LEFT: 1},
    correct=correct.LEARN_MERGES,
    misconceptions=(
        Misconception(
            "counted_once",
            "Your answer counts the pairs once and takes the most frequent of them. After each joining there are "
            "other neighbours: count anew in every round.",
            lambda *args: _learned_differently(*args, update=False, recount=False),
        ),
        Misconception(
            "nothing_joined",
            "Your answer learns the same pair again and again: the words stay as they were. Join the pair in every "
            "word before you count anew.",
            lambda *args: _learned_differently(*args, update=False),
        ),
        Misconception(
            "times_lost",
            "Your answer forgets, after the first joining, how often each word occurs. Keep the number: {join(pieces, "
            "pair): times for pieces, times in words.items()}.",
            lambda *args: _learned_differently(*args, keep_times=False),
        ),
        Misconception(
            "rare_pairs_left_out",
            "Your answer stops at pairs that occur only once. Here they are joined as well, as long as pairs are "
            "asked for.",
            lambda *args: _learned_differently(*args, rarest=2),
        ),
        Misconception(
            "joined_pieces_first",
            "Your answer gives a joined piece a smaller id than all others, so that it wins every tie. It is the "
            "youngest: give it the next id, which is the largest.",
            lambda *args: _learned_differently(*args, number=lambda ids, piece: min(ids.values()) - 1),
        ),
        Misconception(
            "one_too_many",
            "Your answer learns one pair too many. Stop as soon as there are `merges` of them.",
            lambda words, ids, merges, *steps: subwords.learn_merges(words, ids, merges + 1, *steps),
        ),
        Misconception(
            "one_too_few",
            "Your answer learns one pair too few. Go on until there are `merges` of them.",
            lambda words, ids, merges, *steps: subwords.learn_merges(words, ids, max(0, merges - 1), *steps),
        ),
        Misconception(
            "joined_pieces_returned",
            "Your answer lists the joined pieces. Return the pairs: of `aba` alone nobody knows whether it was (a, ba) "
            "or (ab, a).",
            lambda *args: ["".join(pair) for pair in subwords.learn_merges(*args)],
        ),
        Misconception(
            "last_first",
            "Your answer has the right pairs in reverse order. The pair that was learned first comes first.",
            lambda *args: subwords.learn_merges(*args)[::-1],
        ),
        Misconception(
            "last_pair_only",
            "Your answer is the last pair only. Collect the pairs of all rounds in a list.",
            lambda *args: subwords.learn_merges(*args)[-1:],
        ),
        Misconception(
            "choose_not_called",
            "Your answer takes the most frequent pair by itself. Where several are equally frequent it matters "
            "which: call choose(counts, ids), with the counts and the ids.",
            lambda words, ids, merges, count, choose, join: subwords.learn_merges(
                words, ids, merges, count, lambda counts, _ids: max(counts, key=counts.__getitem__), join
            ),
        ),
    ),
    withheld=WITHHELD,
    forbidden=TOKENIZERS,
)


# subwords.vocabulary_size ----------------------------------------------------------------------------------


def _size_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: GPT-2, 256 bytes, 50,000 pairs, 1 special token", (256, 50_000, 1))
        yield Case("no pairs yet", (30, 0, 4))
        yield Case("more pairs than characters", (10, 12, 4))
    for number in range(1, 4):
        drawn = (integer(generator, 20, 90), integer(generator, 3, 5000), integer(generator, 2, 6))
        yield Case(f"other sizes, {number}", drawn)


VOCABULARY_SIZE = Exercise(
    id="subwords.vocabulary_size",
    lesson=LESSON,
    name="vocabulary_size",
    title="Predict: how many pieces?",
    statement=(
        "vocabulary_size(characters, merges, special) -> int: how many pieces there are after so many pairs were "
        "joined, each to a new piece; the characters and special tokens included."
    ),
    points=1,
    minutes=5,
    section="How many pieces?",
    source="Radford et al. (2019), section 2.3: 50,257",
    reference=subwords.vocabulary_size,
    cases=predicted(_size_cases),
    correct=correct.VOCABULARY_SIZE,
    misconceptions=(
        Misconception(
            "two_become_one",
            "You expect the vocabulary to shrink, for two pieces become one. That happens in the *words*. In the "
            "vocabulary both stay, for other words may need them: each pair adds a piece.",
            lambda characters, merges, special: characters - merges + special,
        ),
        Misconception(
            "replaced",
            "You expect the vocabulary to stay as large as it is, with new pieces in the place of old ones. Old "
            "pieces stay, for other words may need them: each pair adds a piece.",
            lambda characters, merges, special: characters + special,
        ),
        Misconception(
            "special_forgotten",
            "Your answer leaves out the special tokens. They are pieces with ids, too.",
            lambda characters, merges, special: characters + merges,
        ),
        Misconception(
            "characters_forgotten",
            "Your answer leaves out the characters. They stay in the vocabulary, so that every word can be spelt.",
            lambda characters, merges, special: merges + special,
        ),
        Misconception(
            "two_for_each_pair",
            "You expect two pieces for each pair. Its two halves are in the vocabulary already: only the joined piece "
            "is new.",
            lambda characters, merges, special: characters + 2 * merges + special,
        ),
        Misconception(
            "multiplied",
            "Your answer multiplies. Each pair adds a single piece to the vocabulary: characters + merges + special.",
            lambda characters, merges, special: characters * merges + special,
        ),
        Misconception(
            "all_pairs",
            "You expect a piece for any two characters. Only the pairs that were chosen become pieces: characters + "
            "merges + special.",
            lambda characters, merges, special: characters + characters**2 + special,
        ),
    ),
    withheld=WITHHELD,
)


# subwords.encode -------------------------------------------------------------------------------------------


def _learned(words: Mapping[Pieces, int], merges: int) -> list[Merge]:
    """Pairs learned from words, up to the first piece that two pairs make.

    As long as every pair makes a new piece, joining the pairs one after the other and joining always the one that was
    learned first give the same; and both are honest readings of the paper.
    """
    learned = subwords.learn_merges(words, _ids(words), merges)
    made = ["".join(pair) for pair in learned]
    first = next((i for i, piece in enumerate(made) if piece in made[:i]), len(made))
    return learned[:first]


_RESEARCH = {
    tuple(MARK + word): times
    for word, times in {
        "gesundheit": 6,
        "gesundheitsamt": 3,
        "forschung": 5,
        "forschungsrat": 2,
        "forschungsreise": 2,
        "institut": 4,
        "institute": 2,
    }.items()
}


def _encode_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    play = _learned(PLAY, 7)
    if not hidden:
        yield Case("worked example: two words of the text, and stay, which is new", ("play played stay", play))
        yield Case("Gesundheitsforschungsinstitut", ("gesundheitsforschungsinstitut", _learned(_RESEARCH, 30)))
        yield Case("no pairs", ("A cat", []))
        yield Case("an unknown character", ("pläy play", play))
        yield Case("several spaces", ("  play   playing ", play))
        yield Case("the later pair stands further left", ("abc", [("b", "c"), ("a", "b")]))
        yield Case("the earlier pair stands further left", ("abc", [("a", "b"), ("b", "c")]))
        yield Case("the longest piece was learned last", ("abc", [("b", "c"), ("a", "b"), ("ab", "c")]))
        yield Case("the longest piece is joined from the right", ("abc", [("b", "c"), ("a", "b"), ("a", "bc")]))
        yield Case("in several places", ("banana", [("a", "n"), ("an", "a"), ("▁", "b")]))
        return
    rng = _rng(generator)
    for number in range(1, 4):
        merges = _learned(_words(rng, _FEW_LETTERS, 7), integer(generator, 4, 9))
        text = " ".join("".join(rng.choice("aabbc") for _ in range(integer(generator, 3, 8))) for _ in range(5))
        yield Case(f"few letters, {number}", (text, merges))
    merges = _learned(_words(rng, _GERMAN.split(), 8), 25)
    yield Case("compounds", (" ".join("".join(rng.sample(_GERMAN.split(), 2)) for _ in range(3)), merges))


def _last_learned_first(text: str, merges: list[Merge]) -> list[str]:
    found: list[str] = []
    for word in subwords.marked_words(text):
        pieces: Pieces = tuple(word)
        while known := [pair for pair in itertools.pairwise(pieces) if pair in merges]:
            pieces = subwords.join(pieces, max(known, key=merges.index))
        found += pieces
    return found


def _leftmost_first(text: str, merges: list[Merge]) -> list[str]:
    """Joins, place by place, whatever pair comes first in the word."""
    found: list[str] = []
    for word in subwords.marked_words(text):
        pieces: Pieces = tuple(word)
        while known := [pair for pair in itertools.pairwise(pieces) if pair in merges]:
            pieces = _merged_first(pieces, known[0])
        found += pieces
    return found


def _longest_known(text: str, merges: list[Merge]) -> list[str]:
    pieces = {*map("".join, merges)}
    found: list[str] = []
    for word in subwords.marked_words(text):
        while word:
            end = next((end for end in range(len(word), 1, -1) if word[:end] in pieces), 1)
            found.append(word[:end])
            word = word[end:]
    return found


def _each_pair_in_one_place(text: str, merges: list[Merge]) -> list[str]:
    found: list[str] = []
    for word in subwords.marked_words(text):
        pieces: Pieces = tuple(word)
        for pair in merges:
            pieces = _merged_first(pieces, pair)
        found += pieces
    return found


def _replayed(text: str, merges: list[Merge]) -> list[str]:
    """One pair after the other, each only once."""
    words = map(tuple, subwords.marked_words(text))
    return [piece for word in words for piece in functools.reduce(subwords.join, merges, word)]


def _cut_words(marked: list[str], merges: list[Merge]) -> list[str]:
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    return [piece for word in marked for piece in subwords.cut(word, ranks)]


def _mark_joined_at_once(text: str, merges: list[Merge]) -> list[str]:
    words: list[Pieces] = [(word[:2], *word[2:]) for word in subwords.marked_words(text)]
    return [piece for word in words for piece in functools.reduce(subwords.join, merges, word)]


def _without_marks(text: str, merges: list[Merge]) -> list[str]:
    return _cut_words(text.split(), merges)


def _first_word_without_mark(text: str, merges: list[Merge]) -> list[str]:
    first, *others = subwords.marked_words(text)
    return _cut_words([first.removeprefix(MARK), *others], merges)


ENCODE = Exercise(
    id="subwords.encode",
    lesson=LESSON,
    name="encode",
    title="Cutting a text into pieces",
    statement=(
        "encode(text: str, merges: list of pairs in the order in which they were learned) -> list of str: the pieces "
        "of all words, each with ▁ before it, cut into characters, and joined pair by pair in that order."
    ),
    points=4,
    minutes=15,
    section="Words that were never seen",
    source="Sennrich et al. (2016), section 3.2; S4",
    reference=subwords.encode_pieces,
    cases=_encode_cases,
    correct=correct.ENCODE,
    misconceptions=(
        Misconception(
            "not_marked",
            "Your answer has no ▁ before the words. It belongs to the word: put it there before you cut the word into "
            "characters, so that it can be joined as well.",
            _without_marks,
        ),
        Misconception(
            "first_word_not_marked",
            "Your answer has no ▁ before the first word. Here every word has one, the first too.",
            _first_word_without_mark,
        ),
        Misconception(
            "longest_piece_first",
            "Your answer takes from the left always the longest known piece. So does WordPiece. Byte-pair encoding "
            "joins pairs in the order in which they were learned.",
            _longest_known,
        ),
        Misconception(
            "leftmost_pair_first",
            "Your answer joins the known pair that stands furthest to the left. Join the one that was learned first, "
            "wherever it stands.",
            _leftmost_first,
        ),
        Misconception(
            "last_learned_first",
            "Your answer joins the pair first that was learned last. Join the one that was learned first.",
            _last_learned_first,
        ),
        Misconception(
            "reverse_order",
            "Your answer goes through the pairs from the last to the first. Begin with the one that was learned first.",
            lambda text, merges: _replayed(text, merges[::-1]),
        ),
        Misconception(
            "underscores",
            "Your answer marks the words with an underscore, _. The mark is another character, ▁: write MARK.",
            lambda text, merges: [
                piece for word in text.split() for piece in functools.reduce(subwords.join, merges, tuple("_" + word))
            ],
        ),
        Misconception(
            "one_place_only",
            "Your answer joins each pair in one place of a word only. Join it wherever it stands in the word.",
            _each_pair_in_one_place,
        ),
        Misconception(
            "characters",
            "Your answer leaves the words in single characters: nothing is joined. Either no pair is ever found (a "
            "list never equals a tuple), or what comes out of the joining is not kept.",
            lambda text, merges: list("".join(subwords.marked_words(text))),
        ),
        Misconception(
            "word_by_word",
            "The pieces are right, but each word has a list of its own. Return one list with the pieces of all words.",
            lambda text, merges: [subwords.encode_pieces(word, merges) for word in text.split()],
        ),
        Misconception(
            "a_tuple",
            "The pieces are right, but they are a tuple. Return a list.",
            lambda text, merges: tuple(subwords.encode_pieces(text, merges)),
        ),
        Misconception(
            "marked_behind",
            "Your answer puts ▁ behind each word. It stands before.",
            lambda text, merges: _cut_words([word + MARK for word in text.split()], merges),
        ),
        Misconception(
            "split_at_every_space",
            "Your answer takes each single space for a border, so that several in a row leave words that are empty. "
            "text.split() without an argument passes over them.",
            lambda text, merges: _cut_words([MARK + word for word in text.split(" ")], merges),
        ),
        Misconception(
            "lower_case",
            "Your answer writes everything in lower case. Nobody asks for it: a capital is a character of its own.",
            lambda text, merges: _cut_words(subwords.marked_words(text.lower()), merges),
        ),
        Misconception(
            "mark_joined_at_once",
            "Your answer joins ▁ to the first character of each word from the start. It is a character like the "
            "others, and joined only where a pair says so.",
            _mark_joined_at_once,
        ),
    ),
    withheld=WITHHELD,
    forbidden=TOKENIZERS,
)


# subwords.decode -------------------------------------------------------------------------------------------


def _decode_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: playing, played", (["▁play", "ing", "▁play", "ed"],))
        yield Case("one word", (["▁", "c", "at"],))
        yield Case("beginning within a word", (["ing", "▁play", "ed"],))
        yield Case("no pieces", ([],))
        yield Case("a word with a hyphen", (["▁Gesundheits", "-", "Forschungs", "-", "Institut", "▁ist", "▁zu"],))
        return
    rng = _rng(generator)
    for number in range(1, 4):
        merges = subwords.learn_merges(_RESEARCH, _ids(_RESEARCH), integer(generator, 5, 25))
        words = ["".join(word).removeprefix(MARK) for word in rng.sample(list(_RESEARCH), 4)]
        pieces = subwords.encode_pieces(" ".join(words), merges)
        yield Case(f"German words, {number}", (pieces,))
        yield Case(f"German words from the middle of one, {number}", (pieces[2:],))


DECODE = Exercise(
    id="subwords.decode",
    lesson=LESSON,
    name="decode",
    title="And back",
    statement=(
        "decode(pieces: list of str) -> str: the text that the pieces spell, with a space where a word begins, but "
        "none before the first word."
    ),
    points=1,
    minutes=6,
    section="Words that were never seen",
    source="Kudo and Richardson (2018), section 3.1, lossless tokenization",
    reference=subwords.decode_pieces,
    cases=_decode_cases,
    correct=correct.DECODE,
    misconceptions=(
        Misconception(
            "spaces_between_pieces",
            "Your answer puts a space between all pieces. Spaces are where ▁ is: join the pieces with nothing between "
            "them, and replace ▁ by a space.",
            lambda pieces: " ".join(pieces).replace(MARK, ""),
        ),
        Misconception(
            "spaces_between_pieces_with_marks",
            "Your answer puts a space between all pieces and keeps the ▁. Join them with nothing between, and replace "
            "▁ by a space.",
            lambda pieces: " ".join(pieces),
        ),
        Misconception(
            "marks_kept",
            "Your answer still has the ▁ in it. Replace each by a space.",
            lambda pieces: "".join(pieces),
        ),
        Misconception(
            "no_spaces",
            "Your answer has no spaces: the ▁ are gone without a trace. Replace each by a space.",
            lambda pieces: "".join(pieces).replace(MARK, ""),
        ),
        Misconception(
            "space_in_front",
            "Your answer begins with a space. The first word's ▁ stands for none: strip it.",
            lambda pieces: "".join(pieces).replace(MARK, " "),
        ),
        Misconception(
            "first_character_cut",
            "Your answer cuts off the first character, whatever it is. Where the pieces begin within a word, that is a "
            "letter: strip only a space.",
            lambda pieces: "".join(pieces).replace(MARK, " ")[1:],
        ),
        Misconception(
            "list_of_words",
            "Your answer is a list of words. Return one string, with a space between them.",
            lambda pieces: subwords.decode_pieces(pieces).split(" "),
        ),
    ),
    withheld=WITHHELD,
)


# subwords.wordpiece ----------------------------------------------------------------------------------------

_BERT_LIKE = [
    "p",
    "l",
    "a",
    "y",
    "##i",
    "##n",
    "##g",
    "##e",
    "##d",
    "##l",
    "##a",
    "##y",
    "play",
    "##ing",
    "##ed",
    "pla",
]


def _wordpiece_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: playing", ("playing", _BERT_LIKE))
        yield Case("the whole word", ("play", _BERT_LIKE))
        yield Case("a character that is not known", ("played!", _BERT_LIKE))
        yield Case("begins with no piece", ("ingplay", _BERT_LIKE))
        yield Case("greedy, and stuck", ("abcd", ["a", "abc", "##bcd", "##b", "##c", "ab", "##cd"]))
        yield Case("greedy, and not the fewest", ("abcde", ["ab", "abc", "##d", "##e", "##cde", "##de", "##c"]))
        yield Case("the same piece in both forms", ("ingaing", ["ing", "##ing", "##a", "a", "##aing", "i", "##i"]))
        yield Case("longest at the end", ("abcabc", ["a", "##b", "##c", "##a", "##bc", "##abc", "##cabc", "##bcabc"]))
        return
    rng = _rng(generator)
    for number in range(1, 5):
        inside = {"##" + "".join(rng.choice("abc") for _ in range(rng.randint(2, 4))) for _ in range(9)}
        begin = {"".join(rng.choice("abc") for _ in range(rng.randint(1, 3))) for _ in range(9)}
        pieces = sorted({*begin, *inside, "##a", "##b", "##c", "a", "b", "c"})
        rng.shuffle(pieces)
        yield Case(f"few letters, {number}", ("".join(rng.choice("abc") for _ in range(9)), pieces))
    yield Case("few letters and an unknown one", ("abcaxb", pieces))


def _wordpiece_differently(
    word: str,
    pieces: list[str],
    *,
    shortest: bool = False,
    mark_looked_up: bool = True,
    mark_put: bool = False,
    first_marked: bool = False,
    unknown_alone: bool = False,
) -> list[str]:
    """`longest_pieces` with one thing done differently."""
    found: list[str] = []
    begin = 0
    while begin < len(word):
        before = "##" if (begin or first_marked) and mark_looked_up else ""
        ends = list(range(begin + 1, len(word) + 1))
        fitting = [end for end in ends if before + word[begin:end] in pieces]
        if not fitting:
            if not unknown_alone:
                return ["[UNK]"]
            found.append("[UNK]")
            begin += 1
            continue
        end = min(fitting) if shortest else max(fitting)
        found.append(("##" if begin and mark_put else before) + word[begin:end])
        begin = end
    return found


def _mark_counted(word: str, pieces: list[str]) -> list[str]:
    found: list[str] = []
    begin = 0
    while begin < len(word):
        before = "##" if begin else ""
        fitting = [
            before + word[begin:end] for end in range(len(word), begin, -1) if before + word[begin:end] in pieces
        ]
        if not fitting:
            return ["[UNK]"]
        found.append(fitting[0])
        begin += len(fitting[0])
    return found


def _from_the_end(word: str, pieces: list[str]) -> list[str]:
    found: list[str] = []
    end = len(word)
    while end:
        known = (begin for begin in range(end) if ("##" if begin else "") + word[begin:end] in pieces)
        begin = next(known, None)
        if begin is None:
            return ["[UNK]"]
        found.insert(0, ("##" if begin else "") + word[begin:end])
        end = begin
    return found


def _beginning_kept(word: str, pieces: list[str]) -> list[str]:
    """The pieces up to where none fits, and [UNK] for the rest."""
    found: list[str] = []
    begin = 0
    while begin < len(word):
        before = "##" if begin else ""
        end = next((end for end in range(len(word), begin, -1) if before + word[begin:end] in pieces), None)
        if end is None:
            return [*found, "[UNK]"]
        found.append(before + word[begin:end])
        begin = end
    return found


WORDPIECE = Exercise(
    id="subwords.wordpiece",
    lesson=LESSON,
    name="wordpiece",
    title="WordPiece's cut",
    statement=(
        "wordpiece(word: str, pieces: list of str) -> list of str: from the left always the longest known piece, those "
        "behind the first with ## before them; ['[UNK]'] for the whole word where none fits."
    ),
    points=3,
    minutes=15,
    section="WordPiece",
    source="Devlin et al. (2019), section 3; S1",
    reference=wordpiece.longest_pieces,
    cases=_wordpiece_cases,
    correct=correct.WORDPIECE,
    misconceptions=(
        Misconception(
            "shortest_first",
            "Your answer takes the shortest piece that fits. Take the longest: try from the whole rest of the word "
            "downwards.",
            lambda word, pieces: _wordpiece_differently(word, pieces, shortest=True),
        ),
        Misconception(
            "from_the_end",
            "Your answer takes the longest piece at the end of the word first. Begin at its beginning.",
            _from_the_end,
        ),
        Misconception(
            "looked_up_without_mark",
            "Your answer looks up all pieces without ##, so that it finds those that begin words. Behind the first "
            "piece only those with ## fit: look up '##' + text.",
            lambda word, pieces: _wordpiece_differently(word, pieces, mark_looked_up=False),
        ),
        Misconception(
            "mark_put_afterwards",
            "Your answer looks up all pieces without ##, and puts it before them afterwards. Behind the first piece "
            "only those fit that have it in the vocabulary: look up '##' + text.",
            lambda word, pieces: _wordpiece_differently(word, pieces, mark_looked_up=False, mark_put=True),
        ),
        Misconception(
            "marks_dropped",
            "Your answer finds the right pieces and leaves out their ##. It is part of the piece: `##ing` and `ing` "
            "are two entries of the vocabulary.",
            lambda word, pieces: [piece.removeprefix("##") for piece in wordpiece.longest_pieces(word, pieces)],
        ),
        Misconception(
            "first_marked_too",
            "Your answer puts ## before the first piece as well. ## says that a piece goes on: the first one begins "
            "the word.",
            lambda word, pieces: _wordpiece_differently(word, pieces, first_marked=True),
        ),
        Misconception(
            "one_unknown_character",
            "Your answer puts [UNK] in the place of a single character and goes on. WordPiece gives up on the whole "
            "word: ['[UNK]'] and nothing else.",
            lambda word, pieces: _wordpiece_differently(word, pieces, unknown_alone=True),
        ),
        Misconception(
            "beginning_kept",
            "Your answer keeps the pieces that it has found before it gets stuck. WordPiece gives up on the whole "
            "word: ['[UNK]'] and nothing else.",
            _beginning_kept,
        ),
        Misconception(
            "unknown_as_a_string",
            "For a word that has no pieces your answer is the string [UNK]. Return a list with it: ['[UNK]'].",
            lambda word, pieces: "[UNK]" if (found := wordpiece.longest_pieces(word, pieces)) == ["[UNK]"] else found,
        ),
        Misconception(
            "empty_where_unknown",
            "For a word that has no pieces your answer is an empty list, and the word is gone. Return ['[UNK]'].",
            lambda word, pieces: [] if (found := wordpiece.longest_pieces(word, pieces)) == ["[UNK]"] else found,
        ),
        Misconception(
            "with_or_without_mark",
            "Your answer takes a piece for known if it is in the list with ## or without. Look up the first one "
            "without, and the others with ##.",
            lambda word, pieces: _wordpiece_differently(
                word,
                [
                    *pieces,
                    *("##" + piece for piece in pieces),
                    *(piece[2:] for piece in pieces if piece.startswith("##")),
                ],
            ),
        ),
        Misconception(
            "mark_counted",
            "Your answer goes on by the length of the piece with its ##, and so skips two characters. Go on by what "
            "was taken from the word.",
            _mark_counted,
        ),
    ),
    withheld=WITHHELD,
    forbidden=TOKENIZERS,
)


EXERCISES = (
    COUNT_PAIRS,
    MOST_FREQUENT_PAIR,
    MERGE,
    LEARN_MERGES,
    VOCABULARY_SIZE,
    ENCODE,
    DECODE,
    WORDPIECE,
)
"""In the order of the lesson."""
