"""Lesson 08, subwords.learn_merges: Learning the merges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import pairwise

from torch import Generator

from course_lib.exercises.common import alike
from course_lib.exercises.subwords.shared import (
    FEW_LETTERS,
    GERMAN,
    PLAY,
    JoinRule,
    ids_of,
    join_in_a_list,
    pair_counts,
    random_source,
    random_words,
)
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Callback, Case, Exercise, Hint, Misconception
from course_lib.judging.ready_made import TOKENIZERS
from course_lib.text import subwords
from course_lib.text.subwords import Merge, Pieces


def _chosen(counts: Mapping[Merge, int], ids: Mapping[str, int]) -> Merge:
    """`most_frequent_pair` that says what is missing instead of raising a bare KeyError."""
    if not counts:
        raise ValueError("there is no pair to choose from: stop when count(words) is empty")
    unknown = next((token for pair in counts for token in pair if token not in ids), None)
    if unknown is not None:
        raise ValueError(f"the token {unknown!r} has no id: give every merged token the next one, len(ids)")
    return subwords.most_frequent_pair(counts, ids)


_COUNT = Callback("count", pair_counts)


_CHOOSE = Callback("choose", _chosen)


_JOIN = Callback("join", subwords.join)


_NOTHING_LEFT = "when nothing is left to merge"


_KNOWN_PIECE = "a token that is there already"


def _learn_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    def case(name: str, words: dict[Pieces, int], merges: int, part: str = CORE) -> Case:
        return Case(name, (words, ids_of(words), merges, _COUNT, _CHOOSE, _JOIN), part=part)

    rng = random_source(generator)
    if not hidden:
        yield case("worked example: play, playing, played; four pairs", PLAY, 4)
        yield case("one pair", PLAY, 1)
        yield case("none", PLAY, 0)
        lowest = {tuple("▁low"): 5, tuple("▁lower"): 2, tuple("▁newest"): 6, tuple("▁widest"): 3}
        yield case("the words of the paper", lowest, 8)
        yield case("all words once", {tuple("▁cba"): 1, tuple("▁bca"): 1}, 3)
        yield case("equally frequent: a merged token is younger", {tuple("▁xaxb"): 1, tuple("▁xacb"): 1}, 3)
    else:
        yield case("German words", random_words(rng, GERMAN.split(), 5), 7)
        yield case("few letters", random_words(rng, FEW_LETTERS, 5), 4)
        once = dict.fromkeys(random_words(rng, [word for word in FEW_LETTERS if len(word) > 2], 5), 1)
        yield case("few letters, all words once", once, 5)
    a, b, x, y, z = "abxyz" if not hidden else sorted(rng.sample("abcdefghij", 5))
    tied: dict[Pieces, int] = {(x, y): 9, (x, y, b): 2, (y, x): 6, (y, x, a): 2}
    yield case("equally frequent: the older one of two merged tokens", tied, 4)
    known: dict[Pieces, int] = {(x, y + z): 9, (x, y + z, b): 2, (z, y): 6, (z, y, a): 2, (x + y, z): 4}
    yield case("x + yz and xy + z are one token", known, 4, _KNOWN_PIECE)
    yield case("more pairs than there are", {tuple("▁ab"): 2, tuple("▁b"): 1}, 9, _NOTHING_LEFT)
    yield case("all words are one token", {("▁a",): 2, ("▁b",): 1}, 3, _NOTHING_LEFT)
    yield case("no words", {}, 2, _NOTHING_LEFT)


_Words = dict[Pieces, int]


_Count = Callable[[_Words], dict[Merge, int]]


_Choose = Callable[[dict[Merge, int], dict[str, int]], Merge]


def _learn_in_rounds(
    words: _Words, ids: dict[str, int], merges: int, count: _Count, choose: _Choose, join: JoinRule
) -> list[Merge]:
    learned: list[Merge] = []
    for _ in range(merges):
        counts = count(words)
        if not counts:
            break
        pair = choose(counts, ids)
        learned.append(pair)
        token = "".join(pair)
        ids = {**ids, token: ids.get(token, len(ids))}
        words = {join(tokens, pair): times for tokens, times in words.items()}
    return learned


_slip = partial(Edited, _learn_in_rounds)


def _learn_by_recursion(
    words: _Words, ids: dict[str, int], merges: int, count: _Count, choose: _Choose, join: JoinRule
) -> list[Merge]:
    counts = count(words)
    if merges == 0 or not counts:
        return []
    pair = choose(counts, ids)
    merged = {join(tokens, pair): times for tokens, times in words.items()}
    more = ids if "".join(pair) in ids else {**ids, "".join(pair): len(ids)}
    return [pair, *_learn_by_recursion(merged, more, merges - 1, count, choose, join)]


def _learn_with_own_steps(
    words: _Words, ids: dict[str, int], merges: int, count: _Count, choose: _Choose, join: JoinRule
) -> list[Merge]:
    tokens = [(list(word), times) for word, times in words.items()]
    known = sorted(ids, key=lambda token: ids[token])
    learned: list[Merge] = []
    while len(learned) < merges:
        counts: Counter[Merge] = Counter()
        for word, times in tokens:
            for pair in pairwise(word):
                counts[pair] += times
        if not counts:
            return learned
        best = min(counts, key=lambda pair: (-counts[pair], known.index(pair[0]), known.index(pair[1])))
        learned.append(best)
        if "".join(best) not in known:
            known.append("".join(best))
        tokens = [(list(join_in_a_list(tuple(word), best)), times) for word, times in tokens]
    return learned


EXERCISE = Exercise(
    id="subwords.learn_merges",
    name="learn_merges",
    title="Learning the merges",
    statement=(
        "learn_merges(words, ids, merges, count, choose, join) -> list of pairs in the order in which they are merged. "
        "Count the pairs of `words`, choose one, give the merged token the next id, merge the pair everywhere, and "
        "repeat, at most `merges` times, until no pairs are left. A token that already has an id keeps it."
    ),
    points=4,
    minutes=20,
    difficulty=3,
    importance=5,
    section="The whole algorithm",
    source="Sennrich et al. (2016), section 3.2, algorithm 1; S4",
    reference=subwords.learn_merges,
    cases=_learn_cases,
    parts={CORE: 2, _KNOWN_PIECE: 1, _NOTHING_LEFT: 1},
    correct=(_learn_in_rounds, _learn_by_recursion, _learn_with_own_steps),
    hints=(
        Hint(
            "idea",
            "Count, choose, merge, and repeat, because every merge changes the counts. Work on copies of the "
            "arguments, and stop early if no pairs are left.",
        ),
        Hint(
            "shapes",
            "`words` is a dict from tuples of tokens to counts. Every round builds a new dict of merged tuples with "
            "the same counts. `ids` is a dict from tokens to ids, in which a new token gets the next number. Return a "
            "list of pairs, in the order of merging.",
            answers=("times_lost", "words_dropped", "joined_pieces_returned", "ids_from_zero"),
        ),
        Hint(
            "outline",
            "Copy the dict of ids.\n"
            "While you have fewer than `merges` pairs: count the pairs of the words as they are now.\n"
            "Stop if there are none; an empty dict counts as False.\n"
            "Choose a pair, store it, and give the merged token the next id unless it has one.\n"
            "Merge the pair in every word, and keep the word's count.",
            answers=(
                "counted_once",
                "nothing_joined",
                "known_piece_gets_a_new_id",
                "known_piece_not_listed",
                "one_id_for_all_joined_pieces",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "counted_once",
            "Your answer counts the pairs once and takes the most frequent ones. Every merge creates new neighbors: "
            "count again in every round.",
            _slip(
                (
                    "= count(words)",
                    "= {each: n for each, n in counts.items() if each != pair} if learned else count(words)",
                )
            ),
        ),
        Misconception(
            "nothing_joined",
            "Your answer learns the same pair again and again, because the words never change. In every round, merge "
            "the pair in all words, then count again.",
            _slip(("join(tokens, pair)", "tokens")),
        ),
        *alike(
            "Your answer changes the text after a merge. Keep every word with its count: "
            "{join(tokens, pair): times for tokens, times in words.items()}.",
            times_lost=_slip((": times for", ": 1 for")),
            words_dropped=_slip(("words.items()", "words.items() if join(tokens, pair) != tokens")),
        ),
        Misconception(
            "rare_pairs_left_out",
            "Your answer stops at pairs that occur only once. Merge them as well, up to `merges` pairs.",
            _slip(("not counts", "max(counts.values(), default=0) < 2")),
        ),
        *alike(
            "Your answer gives merged tokens the wrong ids. Continue from the given ids: the next one is len(ids), "
            "computed in every round.",
            ids_from_zero=_slip(("len(ids)", "len(learned) - 1")),
            one_id_for_all_joined_pieces=_slip(("len(ids)", "len(ids) - len(learned) + 1")),
        ),
        *alike(
            "Your answer is wrong for pairs whose token already has an id. Merge and list them like any other, and "
            "let the token keep its id: ids.setdefault(token, len(ids)).",
            known_piece_gets_a_new_id=_slip(("ids.get(token, len(ids))", "len(ids)"), paired=False),
            known_piece_not_listed=_slip(
                ("learned.append(pair)", "learned += [pair] if ''.join(pair) not in ids else []"), paired=False
            ),
        ),
        Misconception(
            "one_too_many",
            "Your answer learns one pair too many. Stop as soon as there are `merges` of them.",
            _slip(("range(merges)", "range(merges + 1)")),
        ),
        Misconception(
            "joined_pieces_returned",
            "Your answer lists the merged tokens. Return the pairs: `aba` does not show whether it came from (a, ba) "
            "or (ab, a).",
            _slip(("return learned", "return [''.join(pair) for pair in learned]")),
        ),
        Misconception(
            "choose_not_called",
            "Your answer picks one of the most frequent pairs itself. Ties need a rule: call choose(counts, ids).",
            _slip(("choose(counts, ids)", "max(counts, key=counts.get)")),
        ),
    ),
    forbidden=(TOKENIZERS,),
)
