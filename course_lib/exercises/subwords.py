"""The exercises of lesson 08: byte-pair encoding learned and used, and WordPiece's way to cut a word.

Built like those of `course_lib/exercises/attention.py`; read that file first. Their values are Python's own: strings,
tuples, lists and dicts.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Generator

from course_lib.checking.exercise import CORE, Callback, Case, Exercise, Misconception, Pair
from course_lib.exercises.common import integer, predicted
from course_lib.exercises.correct import subwords as correct
from course_lib.text import subwords
from course_lib.text.subwords import MARK, Merge, Pieces
from course_lib.text.tokenization import SPECIAL

LESSON = "08_subwords"
WITHHELD = ("course_lib.text.fast_subwords", "course_lib.text.subwords")
TOKENIZERS = ("tokenizers", "Tokenizer", "BpeTrainer", "WordPieceTrainer", "WordPiece")
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


def _in_one_row(words: Mapping[Pieces, int], repeated: bool = True) -> dict[Merge, int]:
    """As if the words stood in one row without a gap, each as often as it occurs or once."""
    row = [piece for pieces, times in words.items() for piece in pieces * (times if repeated else 1)]
    return dict(Counter(itertools.pairwise(row)))


def _each_in_a_row(words: Mapping[Pieces, int]) -> dict[Merge, int]:
    """As if each word stood as often as it occurs in one row of its own."""
    counts: Counter[Merge] = Counter()
    for pieces, times in words.items():
        counts.update(itertools.pairwise(pieces * times))
    return dict(counts)


def _with_seams(words: Mapping[Pieces, int]) -> dict[Merge, int]:
    """The pairs within words, and those of each word with the one before it in the dict."""
    seams = {(before[-1], pieces[0]): words[pieces] for before, pieces in itertools.pairwise(words)}
    return dict(subwords.count_pairs(words) + Counter(seams))


_TOUCHING = (
    "Your answer also counts the last piece of one word and the first of the next one. Words do not touch each other: "
    "stay within a word."
)


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
            partial(_counted, weighed=False),
        ),
        Misconception(
            "once_in_a_word",
            "Your answer counts a pair only once in each word. In `b a b a` the pair (b, a) is there twice: count "
            "every place.",
            partial(_counted, pairs=lambda pieces: dict.fromkeys(_pairs_of(pieces))),
        ),
        Misconception(
            "last_word_only",
            "Your answer has for each pair only the last word's number: what was counted before is written over. Add "
            "to it, `+=`.",
            partial(_counted, add=lambda before, times: times),
        ),
        Misconception(
            "without_overlaps",
            "Your answer counts `a a a` as one pair (a, a). Here every two neighbours count, so it has two of them: "
            "that they overlap matters only when they are joined.",
            partial(_counted, pairs=_without_overlaps),
        ),
        Misconception(
            "across_words",
            _TOUCHING,
            _in_one_row,
        ),
        Misconception(
            "across_different_words",
            _TOUCHING,
            _with_seams,
        ),
        Misconception(
            "across_the_same_word",
            "Your answer writes a word down as often as it occurs, and also counts its last piece and the first of its "
            "next copy. Words do not touch each other: add the word's number for each pair within it.",
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
            partial(_counted, pairs=lambda pieces: itertools.combinations(pieces, 2)),
        ),
        Misconception(
            "joined_strings",
            "Your answer has the joined strings as keys, such as `ay`. Then nobody knows where the pieces met: take "
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
            "Your answer forgets the first pair of each word, that of ▁ and the piece behind it. The mark is a piece "
            "like the others: begin at 0.",
            partial(_counted, pairs=lambda pieces: _pairs_of(pieces)[1:]),
        ),
        Misconception(
            "every_other_pair",
            "Your answer goes on by two pieces, so that it counts only every other pair: of `a b c` only (a, b). Every "
            "two neighbours count: go on by one.",
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
            "ing are neighbours, and so are no two letters within them.",
            partial(_counted, pairs=lambda pieces: _pairs_of(tuple("".join(pieces)))),
        ),
        Misconception(
            "begun_at_0",
            "Your answer counts a pair with 0 where it first occurs, and so loses that word's count. Begin with the "
            "word's count.",
            partial(_counted, add=lambda before, times: 0 if before is None else before + times),
        ),
        Misconception(
            "begun_at_1",
            "Your answer counts a pair with 1 where it first occurs, however often the word does. Begin with the "
            "word's count.",
            partial(_counted, add=lambda before, times: 1 if before is None else before + times),
        ),
        Misconception(
            "later_ones_counted_once",
            "Your answer adds 1 for a pair that it has met before, however often the word occurs. Add the word's "
            "count.",
            partial(_counted, add=lambda before, times: times if before is None else before + 1),
        ),
    ),
    listed_pairs=(Pair("every_word_once", "across_words", lambda words: _in_one_row(words, repeated=False)),),
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
        yield Case("the smallest of all ids on the left", ({("ca", "b"): 4, ("▁", "ca"): 1, ("a", "ca"): 4}, ids))
        ids = {"abca": 1000, "d": 120, "▁c": 1002, "b": 7, "▁": 125, "a": 1001}
        once = {("d", "abca"): 1, ("d", "▁c"): 1, ("▁", "b"): 1, ("a", "b"): 1, ("d", "a"): 1}
        yield Case("each pair once, and ids in no order", (once, ids))
        yield Case("one more, with large ids", ({("a", "▁c"): 3, ("b", "d"): 2, ("▁c", "abca"): 3}, ids))
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


_Tie = Callable[[int, int], tuple[int, ...]]


def _chosen_differently(
    counts: Mapping[Merge, int],
    ids: Mapping[str, int],
    *,
    frequent: Callable[[int], int] = lambda times: -times,
    tie: _Tie = lambda left, right: (left, right),
    numbers: Callable[[Mapping[str, int]], Mapping[str, int]] = dict,
    largest: bool = False,
    returned: Callable[[Merge, int], Any] = lambda pair, times: pair,
) -> Any:
    """`most_frequent_pair` with one thing, or several, done differently."""
    number = numbers(ids)
    pairs = list(counts)
    pairs.sort(key=lambda pair: tie(number[pair[0]], number[pair[1]]), reverse=largest)
    pairs.sort(key=lambda pair: frequent(counts[pair]))
    return returned(pairs[0], counts[pairs[0]])


def _in_the_order_of(key: Callable[[str, int], Any]) -> Callable[[Mapping[str, int]], Mapping[str, int]]:
    """Numbers the pieces by something else than their ids."""
    return lambda ids: {piece: i for i, piece in enumerate(sorted(ids, key=lambda piece: key(piece, ids[piece])))}


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
            partial(_chosen_differently, tie=lambda left, right: ()),
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
            partial(_chosen_differently, numbers=_in_the_order_of(lambda piece, number: piece)),
        ),
        Misconception(
            "largest_ids",
            "Of equally frequent pairs your answer takes the one with the largest ids. Take the smallest ones.",
            partial(_chosen_differently, largest=True),
        ),
        Misconception(
            "right_piece_first",
            "Of equally frequent pairs your answer looks at the right piece's id first. Look at the left one's first, "
            "and at the right one's only where the left pieces are the same.",
            partial(_chosen_differently, tie=lambda left, right: (right, left)),
        ),
        Misconception(
            "smaller_of_the_two_first",
            "Of equally frequent pairs your answer looks at the smaller of a pair's two ids first, on whichever side "
            "it is. Look at the left piece's first, even where it is the larger one.",
            partial(_chosen_differently, tie=lambda left, right: (min(left, right), max(left, right))),
        ),
        Misconception(
            "left_piece_ignored",
            "Of equally frequent pairs your answer compares the right pieces' ids alone. The left piece's id decides; "
            "the right one's only where the left pieces are the same.",
            partial(_chosen_differently, tie=lambda left, right: (right,)),
        ),
        Misconception(
            "shortest_first",
            "Of equally frequent pairs your answer takes the one that makes the shortest piece. Length does not "
            "matter: compare the ids, the left piece's first.",
            lambda counts, ids: min(
                counts, key=lambda pair: (-counts[pair], len("".join(pair)), ids[pair[0]], ids[pair[1]])
            ),
        ),
        Misconception(
            "ids_as_text",
            "Your answer compares ids as strings, where '10' comes before '9'. Compare them as the numbers that they "
            "are.",
            partial(_chosen_differently, numbers=_in_the_order_of(lambda piece, number: str(number))),
        ),
        Misconception(
            "ids_added",
            "Of equally frequent pairs your answer takes the one with the smallest sum of ids. Compare the left "
            "pieces' ids first, then the right ones'.",
            partial(_chosen_differently, tie=lambda left, right: (left + right,)),
        ),
        Misconception(
            "right_piece_ignored",
            "Where several most frequent pairs have the same left piece, your answer takes the first one in `counts`. "
            "Then the smaller id of the right piece decides.",
            partial(_chosen_differently, tie=lambda left, right: (left,)),
        ),
        Misconception(
            "largest_right_piece",
            "Where several most frequent pairs have the same left piece, your answer takes the one whose right piece "
            "has the largest id. Take the smallest there, too.",
            partial(_chosen_differently, tie=lambda left, right: (left, -right)),
        ),
        Misconception(
            "least_frequent",
            "Your answer is a least frequent pair. `min` takes the smallest key: put a minus before the count.",
            partial(_chosen_differently, frequent=lambda times: times),
        ),
        Misconception(
            "counts_ignored",
            "Your answer is the pair with the smallest ids, however rare. The count comes first, ids only where "
            "several pairs are equally frequent.",
            partial(_chosen_differently, frequent=lambda times: 0),
        ),
        Misconception(
            "left_piece_before_the_count",
            "Your answer compares the left pieces' ids before it looks at the counts. The count comes first, ids only "
            "where several pairs are equally frequent.",
            lambda counts, ids: min(counts, key=lambda pair: (ids[pair[0]], -counts[pair], ids[pair[1]])),
        ),
        Misconception(
            "how_often",
            "Your answer is how often the most frequent pair occurs. Return the pair itself.",
            partial(_chosen_differently, returned=lambda pair, times: times),
        ),
        Misconception(
            "with_its_count",
            "Your answer returns the pair together with its count. Return the pair alone.",
            partial(_chosen_differently, returned=lambda pair, times: (pair, times)),
        ),
        Misconception(
            "joined",
            "Your answer joins the pair to one string. Return the pair (left, right), a tuple: joining comes next.",
            partial(_chosen_differently, returned=lambda pair, times: "".join(pair)),
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
        yield Case("spelt alike, of other pieces", (("a", "bc", "ab", "c", "abc"), ("ab", "c")))
        yield Case("a full stop is a character", (("a", "b", ".", "b", "c", "b"), (".", "b")))
        return
    rng = _rng(generator)
    for number in range(1, 6):
        letters = tuple(rng.choice(("a", "b", "ab", "▁")) for _ in range(integer(generator, 6, 12)))
        pair = (rng.choice("ab"), rng.choice("ab"))
        yield Case(f"few letters, {number}", ((*letters, *pair), pair))
    letters = tuple(rng.choice(("a", "b", "ab", "ba")) for _ in range(8))
    for pair in (("ab", "a"), ("a", "ba")):
        yield Case(f"{pair[0]} and {pair[1]}", (("a", "ba", *letters, "ab", "a", "b"), pair))


def _merged_first(pieces: Pieces, pair: Merge) -> Pieces:
    for i in range(len(pieces) - 1):
        if pieces[i : i + 2] == pair:
            return (*pieces[:i], "".join(pair), *pieces[i + 2 :])
    return pieces


def _once_used(pieces: Pieces, pair: Merge, i: int) -> int:
    """How far to go on where a piece may be joined twice."""
    return 1 if pieces[i + 1 : i + 3] == pair else 2


def _walked(
    pieces: Pieces,
    pair: Merge,
    *,
    found: Callable[[Pieces, Merge], bool] = lambda both, pair: both == pair,
    put: Callable[[Pieces], tuple[Any, ...]] = lambda both: ("".join(both),),
    on: Callable[[Pieces, Merge, int], int] = lambda pieces, pair, i: 2,
    end: int = 0,
    once: bool = False,
    backwards: bool = False,
    made: Callable[[list[Any]], Any] = tuple,
) -> Any:
    """`join` with one thing, or several, done differently."""
    if backwards:
        pieces = pieces[::-1]
    joined: list[Any] = []
    i, times = 0, 0
    while i < len(pieces) - end:
        both = pieces[i : i + 2][::-1] if backwards else pieces[i : i + 2]
        if len(both) == 2 and found(both, pair) and not (once and times):
            joined += put(both)[:: -1 if backwards else 1]
            i += on(pieces, pair, i)
            times += 1
        else:
            joined.append(pieces[i])
            i += 1
    return made(joined[::-1] if backwards else joined)


def _replaced_in_the_text(pieces: Pieces, pair: Merge, number: int = -1) -> Pieces:
    return tuple(" ".join(pieces).replace(" ".join(pair), "".join(pair), number).split(" "))


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
            partial(_walked, once=True),
        ),
        Misconception(
            "used_twice",
            "Your answer uses a piece twice: of `a a a` it makes `aa aa`. A piece that has been joined is gone: go on "
            "two pieces further.",
            partial(_walked, on=_once_used),
        ),
        Misconception(
            "right_piece_kept",
            "Your answer goes on by one piece after joining, so that the right one of the two comes once more, behind "
            "the joined piece. Go on by two.",
            partial(_walked, on=lambda pieces, pair, i: 1),
        ),
        Misconception(
            "last_piece_lost",
            "Your answer loses the last piece of a word, unless it is joined: the walk ends one piece too early. Go on "
            "while i < len(pieces).",
            partial(_walked, end=1),
        ),
        Misconception(
            "from_the_right",
            "Your answer joins from the right: of `a a a` it makes `a aa`. Begin at the left: `aa a`.",
            partial(_walked, backwards=True),
        ),
        Misconception(
            "either_way_round",
            "Your answer joins the two pieces the other way round as well. The left one must stand on the left.",
            partial(_walked, found=lambda both, pair: both in (pair, pair[::-1])),
        ),
        Misconception(
            "both_of_the_pair",
            "Your answer joins any two neighbours that both belong to the pair, `a a` for (a, b) as well. The left one "
            "must be pair[0] and the right one pair[1].",
            partial(_walked, found=lambda both, pair: both[0] in pair and both[1] in pair),
        ),
        Misconception(
            "same_letters",
            "Your answer joins whatever spells the same: `a bc` as well for the pair (ab, c). A pair is two whole "
            "pieces: compare each of them.",
            partial(_walked, found=lambda both, pair: "".join(both) == "".join(pair)),
        ),
        Misconception(
            "nothing_joined",
            "Your answer returns the pieces as they came. Either the pair is never found (a list never equals a "
            "tuple), or what is joined is not kept.",
            partial(_walked, found=lambda both, pair: False),
        ),
        Misconception(
            "left_piece_only",
            "Your answer joins the left piece with whatever follows it. Both must be those of the pair.",
            partial(_walked, found=lambda both, pair: both[0] == pair[0]),
        ),
        Misconception(
            "text_replaced",
            "Your answer replaces in the text, and so finds the pair inside of larger pieces: `xl a` holds the text "
            "`l a`, but no piece `l`. Compare whole pieces.",
            _replaced_in_the_text,
        ),
        Misconception(
            "end_of_the_left_piece",
            "Your answer looks at the end of the left piece only, and so finds (l, a) in `xl a`. Compare whole pieces.",
            partial(_walked, found=lambda both, pair: both[0].endswith(pair[0]) and both[1] == pair[1]),
        ),
        Misconception(
            "beginning_of_the_right_piece",
            "Your answer looks at the beginning of the right piece only, and so finds (l, a) in `l ay`. Compare whole "
            "pieces.",
            partial(_walked, found=lambda both, pair: both[0] == pair[0] and both[1].startswith(pair[1])),
        ),
        Misconception(
            "parts_kept",
            "Your answer keeps the two pieces beside the joined one. They are used up: the joined one takes their "
            "place.",
            partial(_walked, put=lambda both: (*both, "".join(both))),
        ),
        Misconception(
            "removed",
            "Your answer removes the pair and puts nothing in its place. Put the joined piece there.",
            partial(_walked, put=lambda both: ()),
        ),
        Misconception(
            "space_between",
            "Your answer keeps a space between the two halves of the joined piece. Join them with nothing between.",
            partial(_walked, put=lambda both: (" ".join(both),)),
        ),
        Misconception(
            "a_list",
            "Your answer is a list. Return a tuple: pieces are keys of a dict, and lists cannot be.",
            partial(_walked, made=list),
        ),
        Misconception(
            "one_string",
            "Your answer is one string with spaces. Return the pieces as a tuple.",
            partial(_walked, made=" ".join),
        ),
        Misconception(
            "pair_kept_as_a_pair",
            "Your answer puts the pair itself into the word. Join its two pieces to one: pair[0] + pair[1].",
            partial(_walked, put=lambda both: (both,)),
        ),
    ),
    listed_pairs=(
        Pair("first_one_only", "text_replaced", lambda pieces, pair: _replaced_in_the_text(pieces, pair, 1)),
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
_KNOWN_PIECE = "a piece that is there already"


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
    a, b, x, y, z = "abxyz" if not hidden else sorted(rng.sample("abcdefghij", 5))
    tied: dict[Pieces, int] = {(x, y): 9, (x, y, b): 2, (y, x): 6, (y, x, a): 2}
    yield case("equally frequent: the older one of two joined pieces", tied, 4)
    known: dict[Pieces, int] = {(x, y + z): 9, (x, y + z, b): 2, (z, y): 6, (z, y, a): 2, (x + y, z): 4}
    yield case("x + yz and xy + z are one piece", known, 4, _KNOWN_PIECE)
    yield case("more pairs than there are", {tuple("▁ab"): 2, tuple("▁b"): 1}, 9, _NOTHING_LEFT)
    yield case("all words are one piece", {("▁a",): 2, ("▁b",): 1}, 3, _NOTHING_LEFT)


def _next_id(ids: Mapping[str, int], piece: str, done: int) -> int:
    return ids.get(piece, len(ids))


def _learned_differently(
    words: dict[Pieces, int],
    ids: dict[str, int],
    merges: int,
    count: Callable[..., dict[Merge, int]],
    choose: Callable[..., Merge],
    join: Callable[..., Pieces],
    *,
    update: bool = True,
    times: Callable[[int, bool], int] = lambda times, joined: times,
    kept: bool = False,
    recount: bool = True,
    stop: Callable[[Mapping[Merge, int], Iterable[Pieces]], bool] = lambda counts, words: False,
    number: Callable[[dict[str, int], str, int], int] = _next_id,
    rounds: int = 0,
    listed: Callable[[Merge, Mapping[str, int]], bool] = lambda pair, ids: True,
    own_choice: bool = False,
    returned: Callable[[list[Merge]], list[Any]] = list,
) -> list[Any]:
    """`learn_merges` with one thing, or several, done differently."""
    learned: list[Merge] = []
    pairs = count(words)
    for done in range(merges + rounds):
        if not pairs or stop(pairs, words):
            break
        best = max(pairs, key=pairs.__getitem__) if own_choice else choose(pairs, ids)
        if listed(best, ids):
            learned.append(best)
        ids = {**ids, "".join(best): number(ids, "".join(best), done)}
        if update:
            joined = {pieces: join(pieces, best) for pieces in words}
            following = {new: times(words[old], new != old) for old, new in joined.items()}
            words = {**(words if kept else {}), **{new: often for new, often in following.items() if often}}
        pairs = count(words) if recount else {pair: often for pair, often in pairs.items() if pair != best}
    return returned(learned)


LEARN_MERGES = Exercise(
    id="subwords.learn_merges",
    lesson=LESSON,
    name="learn_merges",
    title="Learning the pairs",
    statement=(
        "learn_merges(words, ids, merges, count, choose, join) -> list of pairs in the order in which they are joined: "
        "count the pairs of `words`, choose one, give the joined piece the next id, join it in every word, and begin "
        "anew; `merges` pairs at most, fewer where none is left. A piece that has an id keeps it."
    ),
    points=4,
    minutes=20,
    section="The whole algorithm",
    source="Sennrich et al. (2016), section 3.2, algorithm 1; S4",
    reference=subwords.learn_merges,
    cases=_learn_cases,
    parts={CORE: 2, _KNOWN_PIECE: 1, _NOTHING_LEFT: 1},
    correct=correct.LEARN_MERGES,
    misconceptions=(
        Misconception(
            "counted_once",
            "Your answer counts the pairs once and takes the most frequent of them. After each joining there are "
            "other neighbours: count anew in every round.",
            partial(_learned_differently, update=False, recount=False),
        ),
        Misconception(
            "nothing_joined",
            "Your answer learns the same pair again and again, for what it counts stays as it was. In every round join "
            "the pair in all words, and count these anew.",
            partial(_learned_differently, update=False),
        ),
        Misconception(
            "times_lost",
            "Your answer forgets, after the first joining, how often each word occurs. Keep the number: {join(pieces, "
            "pair): times for pieces, times in words.items()}.",
            partial(_learned_differently, times=lambda times, joined: 1),
        ),
        Misconception(
            "words_dropped",
            "Your answer goes on with those words alone that have the pair. The others stay in the text as they are: "
            "keep them for the next round.",
            partial(_learned_differently, times=lambda times, joined: times if joined else 0),
        ),
        Misconception(
            "old_words_kept",
            "Your answer keeps the words as they were beside those in which the pair is joined, and counts both. The "
            "new ones take their place: build a new dict in every round.",
            partial(_learned_differently, kept=True),
        ),
        Misconception(
            "rare_pairs_left_out",
            "Your answer stops at pairs that occur only once. Here they are joined as well, as long as pairs are "
            "asked for.",
            partial(_learned_differently, stop=lambda counts, words: max(counts.values()) < 2),
        ),
        Misconception(
            "stops_at_the_first_whole_word",
            "Your answer stops as soon as one word is a single piece. Go on as long as any word has two.",
            partial(_learned_differently, stop=lambda counts, words: any(len(pieces) == 1 for pieces in words)),
        ),
        Misconception(
            "stops_at_one_pair",
            "Your answer stops when a single pair is left to choose from. That one is joined as well: stop when there "
            "is none.",
            partial(_learned_differently, stop=lambda counts, words: len(counts) == 1),
        ),
        Misconception(
            "joined_pieces_first",
            "Your answer gives a joined piece a smaller id than all others, so that it wins every tie. It is the "
            "youngest: give it the next id, which is the largest.",
            partial(_learned_differently, number=lambda ids, piece, done: min(ids.values()) - 1),
        ),
        Misconception(
            "ids_from_zero",
            "Your answer numbers the joined pieces from 0, so that they win ties against characters. The ids go on "
            "where the given ones end: the next one is len(ids).",
            partial(_learned_differently, number=lambda ids, piece, done: ids.get(piece, done)),
        ),
        Misconception(
            "one_id_for_all_joined_pieces",
            "Your answer gives all joined pieces the same id. Each gets the next one: len(ids), counted anew in every "
            "round.",
            partial(_learned_differently, number=lambda ids, piece, done: ids.get(piece, len(ids) - done)),
        ),
        Misconception(
            "known_piece_gets_a_new_id",
            "Your answer is right as long as each pair makes a new piece. A piece that has an id already keeps it: "
            "ids.setdefault(piece, len(ids)) leaves it alone.",
            partial(_learned_differently, number=lambda ids, piece, done: len(ids)),
            alone=True,
        ),
        Misconception(
            "known_piece_not_listed",
            "Your answer is right as long as each pair makes a new piece. A pair whose piece has an id already is "
            "joined and listed like any other.",
            partial(_learned_differently, listed=lambda pair, ids: "".join(pair) not in ids),
            alone=True,
        ),
        Misconception(
            "one_too_many",
            "Your answer learns one pair too many. Stop as soon as there are `merges` of them.",
            partial(_learned_differently, rounds=1),
        ),
        Misconception(
            "one_too_few",
            "Your answer learns one pair too few. Go on until there are `merges` of them.",
            partial(_learned_differently, rounds=-1),
        ),
        Misconception(
            "joined_pieces_returned",
            "Your answer lists the joined pieces. Return the pairs: of `aba` alone nobody knows whether it was (a, ba) "
            "or (ab, a).",
            partial(_learned_differently, returned=lambda learned: ["".join(pair) for pair in learned]),
        ),
        Misconception(
            "last_first",
            "Your answer has the pairs in reverse order. The pair that was learned first comes first.",
            partial(_learned_differently, returned=lambda learned: learned[::-1]),
        ),
        Misconception(
            "last_pair_only",
            "Your answer is the last pair only. Collect the pairs of all rounds in a list.",
            partial(_learned_differently, returned=lambda learned: learned[-1:]),
        ),
        Misconception(
            "choose_not_called",
            "Your answer takes the most frequent pair by itself. Where several are equally frequent it matters "
            "which: call choose(counts, ids), with the counts and the ids.",
            partial(_learned_differently, own_choice=True),
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
        yield Case("no special tokens", (20, 7, 0))
    for number in range(1, 4):
        drawn = (integer(generator, 20, 90), integer(generator, 3, 5000), integer(generator, 2, 6))
        yield Case(f"other sizes, {number}", drawn)


def _size(
    characters: int, merges: int, special: int, *, kept: int = 1, new: int = 1, tokens: int = 1, off: int = 0
) -> int:
    """So many times the characters, the pairs and the special tokens, and one more or less."""
    return kept * characters + new * merges + tokens * special + off


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
            partial(_size, new=-1),
        ),
        Misconception(
            "replaced",
            "You expect the vocabulary to stay as large as it is, with new pieces in the place of old ones. Old "
            "pieces stay, for other words may need them: each pair adds a piece.",
            partial(_size, new=0),
        ),
        Misconception(
            "special_forgotten",
            "Your answer leaves out the special tokens. They are pieces with ids, too.",
            partial(_size, tokens=0),
        ),
        Misconception(
            "special_taken_off",
            "Your answer takes the special tokens off. They are pieces with ids, too: add them.",
            partial(_size, tokens=-1),
        ),
        Misconception(
            "characters_forgotten",
            "Your answer leaves out the characters. They stay in the vocabulary, so that every word can be spelt.",
            partial(_size, kept=0),
        ),
        Misconception(
            "two_for_each_pair",
            "You expect two pieces for each pair. Its two halves are in the vocabulary already: only the joined piece "
            "is new.",
            partial(_size, new=2),
        ),
        Misconception(
            "one_too_few",
            "Your answer is one too small. Every round makes a piece, the first and the last one, too.",
            partial(_size, off=-1),
        ),
        Misconception(
            "one_too_many",
            "Your answer is one too large. Nothing comes in but one piece in each round: the mark is among the "
            "characters already.",
            partial(_size, off=1),
            alone=True,
        ),
        Misconception(
            "one_special_token",
            "Your answer has one special token, whatever `special` is. GPT-2 has one, others have more: add `special`.",
            lambda characters, merges, special: characters + merges + 1,
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
        yield Case("several spaces", ("  play   playing play ", play))
        yield Case("the later pair stands further left", ("abc", [("b", "c"), ("a", "b")]))
        yield Case("the earlier pair stands further left", ("abc", [("a", "b"), ("b", "c")]))
        yield Case("the longest piece is joined from the right", ("abc", [("b", "c"), ("a", "b"), ("a", "bc")]))
        yield Case("in several places", ("banana", [("a", "n"), ("an", "a"), ("▁", "b")]))
        yield Case("three equal characters in a row", ("aaa baaaaa", [("a", "a")]))
        return
    rng = _rng(generator)
    for number in range(1, 4):
        merges = _learned(_words(rng, _FEW_LETTERS, 7), integer(generator, 4, 9))
        words = ["".join(rng.choice("aabbc") for _ in range(integer(generator, 3, 8))) for _ in range(5)]
        text = " ".join([*words, words[0], "baaa"])
        yield Case(f"few letters, {number}", (text, merges))
    merges = _learned({("▁", *"aaa"): rng.randint(3, 9), ("▁", *"baaaab"): 2}, 3)
    yield Case("equal characters in a row", (" ".join("b" * (n % 2) + "a" * n for n in range(2, 8)), merges))
    merges = _learned(_words(rng, _GERMAN.split(), 8), 25)
    yield Case("compounds", (" ".join("".join(rng.sample(_GERMAN.split(), 2)) for _ in range(3)), merges))


_Join = Callable[[Pieces, Merge], Pieces]
_Cut = Callable[[Pieces, Sequence[Merge], _Join], Sequence[str]]


def _replayed(pieces: Pieces, merges: Sequence[Merge], join: _Join) -> Pieces:
    """One pair after the other, each only once."""
    return functools.reduce(join, merges, pieces)


def _known(pieces: Pieces, merges: Sequence[Merge]) -> list[Merge]:
    return [pair for pair in itertools.pairwise(pieces) if pair in merges]


def _last_learned_first(pieces: Pieces, merges: Sequence[Merge], join: _Join) -> Pieces:
    while known := _known(pieces, merges):
        pieces = subwords.join(pieces, max(known, key=merges.index))
    return pieces


def _leftmost_first(pieces: Pieces, merges: Sequence[Merge], join: _Join) -> Pieces:
    """Joins, place by place, whatever pair comes first in the word."""
    while known := _known(pieces, merges):
        pieces = _merged_first(pieces, known[0])
    return pieces


def _all_pairs_at_each_place(pieces: Pieces, merges: Sequence[Merge], join: _Join) -> Pieces:
    """The two loops exchanged: at each place all pairs are tried in their order."""
    found = list(pieces)
    i = 0
    while i < len(found) - 1:
        for pair in merges:
            if tuple(found[i : i + 2]) == pair:
                found[i : i + 2] = ["".join(pair)]
        i += 1
    return tuple(found)


def _longest_known(pieces: Pieces, merges: Sequence[Merge], join: _Join) -> list[str]:
    word, known = "".join(pieces), {*map("".join, merges)}
    found: list[str] = []
    while word:
        end = next((end for end in range(len(word), 1, -1) if word[:end] in known), 1)
        found.append(word[:end])
        word = word[end:]
    return found


def _stops_at_a_missing_pair(pieces: Pieces, merges: Sequence[Merge], join: _Join) -> Pieces:
    for pair in merges:
        if pair not in itertools.pairwise(pieces):
            break
        pieces = join(pieces, pair)
    return pieces


def _skips_behind_a_joined_piece(pieces: Pieces, pair: Merge) -> Pieces:
    found = list(pieces)
    i = 0
    while i < len(found) - 1:
        if tuple(found[i : i + 2]) == pair:
            found[i : i + 2] = ["".join(pair)]
            i += 1
        i += 1
    return tuple(found)


def _encoded(
    text: str,
    merges: Sequence[Merge],
    *,
    words: Callable[[str], list[str]] = str.split,
    marked: Callable[[int, str], Pieces] = lambda number, word: (MARK, *word),
    order: Callable[[Sequence[Merge]], Sequence[Merge]] = list,
    join: _Join = subwords.join,
    cut: _Cut = _replayed,
    made: Callable[[list[Sequence[str]]], Any] = lambda cuts: list(itertools.chain(*cuts)),
) -> Any:
    """`encode` with one thing, or several, done differently."""
    pairs = order(merges)
    return made([cut(marked(number, word), pairs, join) for number, word in enumerate(words(text))])


ENCODE = Exercise(
    id="subwords.encode",
    lesson=LESSON,
    name="encode",
    title="Cutting a text into pieces",
    statement=(
        "encode(text: str, merges: list of pairs in the order in which they were learned) -> list of str: the pieces "
        "of all words, each with ▁ before it, cut into characters, and joined pair by pair in that order, "
        "each from left to right."
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
            partial(_encoded, marked=lambda number, word: tuple(word)),
        ),
        Misconception(
            "first_word_not_marked",
            "Your answer has no ▁ before the first word. Here every word has one, the first too.",
            partial(_encoded, marked=lambda number, word: (MARK, *word) if number else tuple(word)),
        ),
        Misconception(
            "only_first_word_marked",
            "Your answer has ▁ before the first word only. Every word has one.",
            partial(_encoded, marked=lambda number, word: tuple(word) if number else (MARK, *word)),
        ),
        Misconception(
            "marked_afterwards",
            "Your answer puts ▁ before a word's pieces when they are joined already. It is a piece like the others: "
            "put it there before you join, so that pairs with it are found.",
            partial(
                _encoded,
                marked=lambda number, word: tuple(word),
                made=lambda cuts: [MARK * (not i) + piece for pieces in cuts for i, piece in enumerate(pieces)],
            ),
        ),
        Misconception(
            "mark_added_afterwards",
            "Your answer joins the pieces of a word first and adds ▁ as a piece of its own. Put it there before you "
            "join, so that pairs with it are found.",
            partial(
                _encoded,
                marked=lambda number, word: tuple(word),
                made=lambda cuts: [piece for pieces in cuts for piece in (MARK, *pieces)],
            ),
        ),
        Misconception(
            "longest_piece_first",
            "Your answer takes from the left always the longest known piece. So does WordPiece. Byte-pair encoding "
            "joins pairs in the order in which they were learned.",
            partial(_encoded, cut=_longest_known),
        ),
        Misconception(
            "leftmost_pair_first",
            "Your answer joins the known pair that stands furthest to the left. Join the one that was learned first, "
            "wherever it stands.",
            partial(_encoded, cut=_leftmost_first),
        ),
        Misconception(
            "loops_exchanged",
            "Your answer goes along a word once and joins at each place whatever known pair begins there. The order of "
            "learning decides: the loop over the pairs is the outer one.",
            partial(_encoded, cut=_all_pairs_at_each_place),
        ),
        Misconception(
            "stops_at_a_missing_pair",
            "Your answer stops at the first pair that a word does not have. Go on with the next one: a later pair may "
            "be there.",
            partial(_encoded, cut=_stops_at_a_missing_pair),
        ),
        Misconception(
            "last_learned_first",
            "Your answer joins the pair first that was learned last. Join the one that was learned first.",
            partial(_encoded, cut=_last_learned_first),
        ),
        Misconception(
            "reverse_order",
            "Your answer goes through the pairs from the last to the first. Begin with the one that was learned first.",
            partial(_encoded, order=lambda merges: merges[::-1]),
        ),
        Misconception(
            "alphabetical_order",
            "Your answer goes through the pairs in alphabetical order. Take them in the order in which they were "
            "learned.",
            partial(_encoded, order=sorted),
        ),
        Misconception(
            "underscores",
            "Your answer marks the words with an underscore, _. The mark is another character, ▁: write MARK.",
            partial(_encoded, marked=lambda number, word: ("_", *word)),
        ),
        Misconception(
            "one_place_only",
            "Your answer joins each pair in one place of a word only. Join it wherever it stands in the word.",
            partial(_encoded, join=_merged_first),
        ),
        Misconception(
            "joined_from_the_right",
            "Your answer joins from right to left: of `a a a` it makes `a aa`. Go from left to right: `aa a`.",
            partial(_encoded, join=partial(_walked, backwards=True)),
        ),
        Misconception(
            "text_replaced",
            "Your answer replaces in the text, and so finds a pair inside of larger pieces. Compare whole pieces.",
            partial(_encoded, join=_replaced_in_the_text),
        ),
        Misconception(
            "skips_behind_a_joined_piece",
            "Your answer goes on by two in a list that has just become shorter, and so skips the piece behind a joined "
            "one. There the next piece is only one further.",
            partial(_encoded, join=_skips_behind_a_joined_piece),
        ),
        Misconception(
            "characters",
            "Your answer leaves the words in single characters: nothing is joined. Either no pair is ever found (a "
            "list never equals a tuple), or what comes out of the joining is not kept.",
            partial(_encoded, join=lambda pieces, pair: pieces),
        ),
        Misconception(
            "word_by_word",
            "Your answer has a list of its own for each word. Return one list with the pieces of all words.",
            partial(_encoded, made=lambda cuts: [list(pieces) for pieces in cuts]),
        ),
        Misconception(
            "last_word_only",
            "Your answer has the pieces of the last word only. Begin the list before the loop over the words, and add "
            "to it in each round.",
            partial(_encoded, made=lambda cuts: [piece for pieces in cuts[-1:] for piece in pieces]),
        ),
        Misconception(
            "repeated_words_once",
            "Your answer has a word that comes again only once. A text is its words in order, each as often as it "
            "stands there.",
            partial(_encoded, words=lambda text: list(dict.fromkeys(text.split()))),
        ),
        Misconception(
            "a_tuple",
            "Your answer is a tuple. Return a list.",
            partial(_encoded, made=lambda cuts: tuple(piece for pieces in cuts for piece in pieces)),
        ),
        Misconception(
            "marked_behind",
            "Your answer puts ▁ behind each word. It stands before.",
            partial(_encoded, marked=lambda number, word: (*word, MARK)),
        ),
        Misconception(
            "split_at_every_space",
            "Your answer takes each single space for a border, so that several in a row leave words that are empty. "
            "text.split() without an argument passes over them.",
            partial(_encoded, words=lambda text: text.split(" ")),
        ),
        Misconception(
            "lower_case",
            "Your answer writes everything in lower case. Nobody asks for it: a capital is a character of its own.",
            partial(_encoded, words=lambda text: text.lower().split()),
        ),
        Misconception(
            "mark_joined_at_once",
            "Your answer joins ▁ to the first character of each word from the start. It is a character like the "
            "others, and joined only where a pair says so.",
            partial(_encoded, marked=lambda number, word: (MARK + word[:1], *word[1:])),
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


def _stripped(text: str) -> str:
    return text.strip(" ")


def _decoded(
    pieces: list[str],
    *,
    between: str = "",
    mark: str = " ",
    ends: Callable[[str], str] = _stripped,
    first: Callable[[str], str] = str,
) -> str:
    """`decode` with one thing, or several, done differently."""
    return ends(first(between.join(pieces)).replace(MARK, mark))


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
            partial(_decoded, between=" ", mark="", ends=str),
        ),
        Misconception(
            "spaces_between_pieces_with_marks",
            "Your answer puts a space between all pieces and keeps the ▁. Join them with nothing between, and replace "
            "▁ by a space.",
            partial(_decoded, between=" ", mark=MARK),
        ),
        Misconception(
            "spaces_between_pieces_and_words",
            "Your answer puts a space between all pieces, and one more where ▁ is. Join the pieces with nothing "
            "between them, and replace ▁ by a space.",
            lambda pieces: _decoded(pieces, between=" "),
        ),
        Misconception(
            "marks_kept",
            "Your answer still has the ▁ in it. Replace each by a space.",
            partial(_decoded, mark=MARK),
        ),
        Misconception(
            "later_marks_kept",
            "Your answer does something about the first ▁ only. Replace each by a space; only the one at the very "
            "beginning stands for none.",
            partial(_decoded, first=lambda text: text.removeprefix(MARK), mark=MARK),
        ),
        Misconception(
            "no_spaces",
            "Your answer has no spaces: the ▁ are gone without a trace. Replace each by a space.",
            partial(_decoded, mark=""),
        ),
        Misconception(
            "space_in_front",
            "Your answer begins with a space. The first word's ▁ stands for none: strip it.",
            partial(_decoded, ends=str),
        ),
        Misconception(
            "space_behind_words",
            "Your answer has a space behind each word, and so one at the end. It stands where ▁ does, before a word.",
            partial(_decoded, first=lambda text: text.removeprefix(MARK), ends=lambda text: text + " " * bool(text)),
        ),
        Misconception(
            "space_at_both_ends",
            "Your answer has a space before the first word and one behind the last. Neither belongs there: strip them.",
            partial(_decoded, ends=lambda text: text + " " * bool(text)),
        ),
        Misconception(
            "beginning_dropped",
            "Your answer drops what stands before the first ▁. A model may begin in the middle of a word: its letters "
            "stay.",
            partial(_decoded, first=lambda text: MARK + text.partition(MARK)[2]),
        ),
        Misconception(
            "first_character_cut",
            "Your answer cuts off the first character, whatever it is. Where the pieces begin within a word, that is a "
            "letter: strip only a space.",
            partial(_decoded, ends=lambda text: text[1:]),
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
        yield Case("capitals, and a long word", ("Ab" * 60 + "b", ["Ab", "A", "a", "##b", "##A", "##a", "##ab"]))
        yield Case("a piece that only begins words", ("abxcd", ["ab", "x", "c", "cd", "##d", "##xc", "##c", "xcd"]))
        yield Case("the longest of all stands further right", ("xabcd", ["x", "xa", "##abcd", "##b", "##c", "##d"]))
        yield Case("known without its mark alone", ("abx", ["ab", "x", "##b", "a"]))
        yield Case("the same piece again and again", ("ababab", ["ab", "##ab", "##a", "##b"]))
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


def _as_a_whole(found: list[str], rest: str) -> tuple[list[str], int]:
    """What comes out, and how many characters are passed over, where nothing fits: WordPiece gives up."""
    return ["[UNK]"], len(rest)


def _wordpiece_differently(
    word: str,
    pieces: list[str],
    *,
    choose: Callable[[list[int]], int] = max,
    ends: Callable[[int, int], Iterable[int]] = lambda begin, size: range(begin + 1, size + 1),
    known: Callable[[str, str, list[str]], bool] = lambda mark, text, pieces: mark + text in pieces,
    mark: Callable[[int], str] = lambda begin: "##" if begin else "",
    written: Callable[[str, str, list[str]], str] = lambda mark, text, pieces: mark + text,
    taken: Callable[[str, str], int] = lambda mark, text: len(text),
    stuck: Callable[[list[str], str], tuple[list[str], int]] = _as_a_whole,
    returned: Callable[[list[str]], Any] = list,
) -> Any:
    """`longest_pieces` with one thing, or several, done differently."""
    found: list[str] = []
    begin = 0
    while begin < len(word):
        fitting = [end for end in ends(begin, len(word)) if known(mark(begin), word[begin:end], pieces)]
        if fitting:
            end = choose(fitting)
            found.append(written(mark(begin), word[begin:end], pieces))
            begin += taken(mark(begin), word[begin:end])
        else:
            found, passed = stuck(found, word[begin:])
            begin += passed
    return returned(found)


def _with_or_without(mark: str, text: str, pieces: list[str]) -> bool:
    return text in pieces or "##" + text in pieces


def _first_in_the_list(word: str, pieces: list[str]) -> list[str]:
    found: list[str] = []
    while word:
        mark = "##" if found else ""
        texts = [piece.removeprefix(mark) for piece in pieces if piece.startswith("##") == bool(found)]
        text = next((text for text in texts if text and word.startswith(text)), "")
        if not text:
            return ["[UNK]"]
        found.append(mark + text)
        word = word.removeprefix(text)
    return found


def _without_mark_if_need_be(word: str, pieces: list[str], written: bool) -> list[str]:
    """A piece with ## where one fits, else the longest without; `written`: with ## before it."""
    found: list[str] = []
    begin = 0
    while begin < len(word):
        marks = ("##", "") if begin else ("",)
        tried = ((mark, end) for mark in marks for end in range(len(word), begin, -1))
        mark, end = next(((mark, end) for mark, end in tried if mark + word[begin:end] in pieces), ("", 0))
        if not end:
            return ["[UNK]"]
        found.append(("##" * bool(begin) if written else mark) + word[begin:end])
        begin = end
    return found


def _any_cut(word: str, pieces: list[str], best: Callable[[list[list[str]]], list[str]]) -> list[str]:
    """One of all ways to cut a word, the longest first pieces first; ["[UNK]"] where there is none."""
    cuts: list[list[list[str]]] = [[] for _ in word] + [[[]]]
    for begin in range(len(word) - 1, -1, -1):
        for end in range(len(word), begin, -1):
            piece = ("##" if begin else "") + word[begin:end]
            if piece in pieces and cuts[end]:
                cuts[begin].append([piece, *best(cuts[end])])
    return best(cuts[0]) if cuts[0] else ["[UNK]"]


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
    reference=subwords.longest_pieces,
    cases=_wordpiece_cases,
    correct=correct.WORDPIECE,
    misconceptions=(
        Misconception(
            "shortest_first",
            "Your answer takes the shortest piece that fits. Take the longest: try from the whole rest of the word "
            "downwards.",
            partial(_wordpiece_differently, choose=min),
        ),
        Misconception(
            "first_in_the_list",
            "Your answer takes the piece that comes first in the list. Take the longest one that fits, wherever it "
            "stands in the list.",
            _first_in_the_list,
        ),
        Misconception(
            "from_the_end",
            "Your answer takes the longest piece at the end of the word first. Begin at its beginning.",
            _from_the_end,
        ),
        Misconception(
            "goes_back",
            "Your answer goes back and tries a shorter piece where the longest one leads nowhere. WordPiece never goes "
            "back: where nothing fits behind the longest piece, the word is ['[UNK]'].",
            partial(_any_cut, best=lambda cuts: cuts[0]),
        ),
        Misconception(
            "fewest_pieces",
            "Your answer finds the fewest pieces of all ways to cut the word. WordPiece does not look ahead: it takes "
            "from the left always the longest piece, whatever is left then.",
            partial(_any_cut, best=lambda cuts: min(cuts, key=len)),
        ),
        Misconception(
            "looked_up_without_mark",
            "Your answer looks up all pieces without ##, so that it finds those that begin words. Behind the first "
            "piece only those with ## fit: look up '##' + text.",
            partial(_wordpiece_differently, mark=lambda begin: ""),
        ),
        Misconception(
            "mark_put_afterwards",
            "Your answer looks up all pieces without ##, and puts it before them afterwards. Behind the first piece "
            "only those fit that have it in the vocabulary: look up '##' + text.",
            partial(
                _wordpiece_differently,
                known=lambda mark, text, pieces: text in pieces,
                written=lambda mark, text, pieces: mark + text,
            ),
        ),
        Misconception(
            "marks_dropped",
            "Your answer leaves out the ## of the pieces. It is part of them: `##ing` and `ing` are two entries of the "
            "vocabulary.",
            partial(_wordpiece_differently, written=lambda mark, text, pieces: text),
        ),
        Misconception(
            "first_marked_too",
            "Your answer puts ## before the first piece as well. ## says that a piece goes on: the first one begins "
            "the word.",
            partial(_wordpiece_differently, mark=lambda begin: "##"),
        ),
        Misconception(
            "one_unknown_character",
            "Your answer puts [UNK] in the place of a single character and goes on. WordPiece gives up on the whole "
            "word: ['[UNK]'] and nothing else.",
            partial(_wordpiece_differently, stuck=lambda found, rest: ([*found, "[UNK]"], 1)),
        ),
        Misconception(
            "unknown_character_kept",
            "Your answer leaves a character that is not known as it is, and goes on. So does byte-pair encoding; "
            "WordPiece gives up on the whole word: ['[UNK]'] and nothing else.",
            partial(_wordpiece_differently, stuck=lambda found, rest: ([*found, rest[0]], 1)),
        ),
        Misconception(
            "unknown_for_each_character",
            "Your answer has an [UNK] for each character of a word that has no pieces. One stands for the whole word: "
            "['[UNK]'].",
            lambda word, pieces: (
                ["[UNK]"] * len(word) if (found := subwords.longest_pieces(word, pieces)) == ["[UNK]"] else found
            ),
        ),
        Misconception(
            "beginning_kept",
            "Your answer keeps the pieces that it has found before it gets stuck. WordPiece gives up on the whole "
            "word: ['[UNK]'] and nothing else.",
            partial(_wordpiece_differently, stuck=lambda found, rest: ([*found, "[UNK]"], len(rest))),
        ),
        Misconception(
            "stops_where_stuck",
            "Your answer returns what it has found so far where nothing fits, and the rest is gone. WordPiece gives up "
            "on the whole word: ['[UNK]'].",
            partial(_wordpiece_differently, stuck=lambda found, rest: (found, len(rest))),
        ),
        Misconception(
            "unknown_as_a_string",
            "For a word that has no pieces your answer is the string [UNK]. Return a list with it: ['[UNK]'].",
            partial(_wordpiece_differently, returned=lambda found: "[UNK]" if found == ["[UNK]"] else found),
        ),
        Misconception(
            "other_unknown",
            "For a word that has no pieces your answer has <unk>, the token of earlier lessons. BERT's is [UNK].",
            partial(_wordpiece_differently, stuck=lambda found, rest: (["<unk>"], len(rest))),
        ),
        Misconception(
            "empty_where_unknown",
            "For a word that has no pieces your answer is an empty list, and the word is gone. Return ['[UNK]'].",
            partial(_wordpiece_differently, stuck=lambda found, rest: ([], len(rest))),
        ),
        Misconception(
            "with_or_without_mark",
            "Your answer takes a piece for known if it is in the list with ## or without. Look up the first one "
            "without, and the others with ##.",
            partial(_wordpiece_differently, known=_with_or_without),
        ),
        Misconception(
            "without_mark_if_need_be",
            "Where no piece with ## fits, your answer takes one without it. Such a piece begins words: behind the "
            "first one only those with ## fit, and where none does the word is ['[UNK]'].",
            partial(_without_mark_if_need_be, written=False),
        ),
        Misconception(
            "mark_put_if_need_be",
            "Where no piece with ## fits, your answer takes one without it and puts ## before it. The vocabulary has "
            "no such piece: where none with ## fits the word is ['[UNK]'].",
            partial(_without_mark_if_need_be, written=True),
        ),
        Misconception(
            "single_characters_left_out",
            "Your answer never tries a piece of a single character. Go down to it: the smallest end is begin + 1.",
            partial(_wordpiece_differently, ends=lambda begin, size: range(begin + 2, size + 1)),
        ),
        Misconception(
            "whole_rest_left_out",
            "Your answer never tries the whole rest of the word. Begin with it: the largest end is len(word), and "
            "word[begin:end] stops before end.",
            partial(_wordpiece_differently, ends=lambda begin, size: range(begin + 1, size)),
        ),
        Misconception(
            "mark_counted",
            "Your answer goes on by the length of the piece with its ##, and so skips two characters. Go on by what "
            "was taken from the word.",
            partial(_wordpiece_differently, taken=lambda mark, text: len(mark + text)),
        ),
        Misconception(
            "lower_case",
            "Your answer writes the word in lower case. Nobody asks for it here: a capital is a character of its own.",
            lambda word, pieces: subwords.longest_pieces(word.lower(), pieces),
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
