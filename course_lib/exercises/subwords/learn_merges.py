"""Lesson 08, subwords.learn_merges: Learning the merges."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from torch import Generator

from course_lib.exercises.common import edits_of, hints, mistake, slips
from course_lib.exercises.subwords import shared
from course_lib.judging.exercise import CORE, Callback, Case, Exercise
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


_STEPS = (Callback("count", shared.pair_counts), Callback("choose", _chosen), Callback("join", subwords.join))
_NOTHING_LEFT, _KNOWN_PIECE = "when nothing is left to merge", "a token that already exists"


def _learn_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    def case(name: str, words: dict[Pieces, int], merges: int, part: str = CORE) -> Case:
        return Case(name, (words, shared.ids_of(words), merges, *_STEPS), part=part)

    rng = shared.random_source(generator)
    if not hidden:
        yield case("worked example: play, playing, played; four pairs", shared.PLAY, 4)
        yield case("one pair", shared.PLAY, 1)
        yield case("none", shared.PLAY, 0)
        lowest = {tuple("▁low"): 5, tuple("▁lower"): 2, tuple("▁newest"): 6, tuple("▁widest"): 3}
        yield case("the words of the paper", lowest, 8)
        yield case("all words once", {tuple("▁cba"): 1, tuple("▁bca"): 1}, 3)
        yield case("equally frequent: a merged token is younger", {tuple("▁xaxb"): 1, tuple("▁xacb"): 1}, 3)
    else:
        yield case("German words", shared.random_words(rng, shared.GERMAN.split(), 5), 7)
        yield case("few letters", shared.random_words(rng, shared.FEW_LETTERS, 5), 4)
        once = dict.fromkeys(shared.random_words(rng, [word for word in shared.FEW_LETTERS if len(word) > 2], 5), 1)
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
_Ids = dict[str, int]
_Pairs = list[Merge]
_Count = Callable[[_Words], dict[Merge, int]]
_Choose = Callable[[dict[Merge, int], _Ids], Merge]
_Join = shared.JoinRule


def _learn_in_rounds(words: _Words, ids: _Ids, merges: int, count: _Count, choose: _Choose, join: _Join) -> _Pairs:
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


_slip = edits_of(_learn_in_rounds)


def _learn_by_recursion(words: _Words, ids: _Ids, merges: int, count: _Count, choose: _Choose, join: _Join) -> _Pairs:
    counts = count(words)
    if merges == 0 or not counts:
        return []
    pair = choose(counts, ids)
    merged = {join(tokens, pair): times for tokens, times in words.items()}
    more = ids if "".join(pair) in ids else {**ids, "".join(pair): len(ids)}
    return [pair, *_learn_by_recursion(merged, more, merges - 1, count, choose, join)]


def _learn_with_own_steps(words: _Words, ids: _Ids, merges: int, count: _Count, choose: _Choose, join: _Join) -> _Pairs:
    cut, known = list(words.items()), sorted(ids, key=lambda token: ids[token])
    learned: list[Merge] = []
    while len(learned) < merges:
        counts: Counter[Merge] = Counter()
        for tokens, times in cut:
            for pair in pairwise(tokens):
                counts[pair] += times
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], known.index(pair[0]), known.index(pair[1])))
        learned.append(best)
        if "".join(best) not in known:
            known.append("".join(best))
        cut = [(shared.join_in_a_list(tokens, best), times) for tokens, times in cut]
    return learned


EXERCISE = Exercise(
    id="subwords.learn_merges",
    title="Learning the merges",
    statement=(
        "learn_merges(words, ids, merges, count, choose, join) -> list of pairs in the order in which they are merged. "
        "Count the pairs of `words`, choose one, give the merged token the next id, merge the pair everywhere, and "
        "repeat, at most `merges` times, until no pairs are left. A token that already has an id keeps it."
    ),
    minutes=20,
    difficulty=3,
    importance=5,
    section="The whole algorithm",
    source="Sennrich et al. (2016), section 3.2, algorithm 1; S4",
    reference=subwords.learn_merges,
    cases=_learn_cases,
    parts={CORE: 2, _KNOWN_PIECE: 1, _NOTHING_LEFT: 1},
    correct=(_learn_in_rounds, _learn_by_recursion, _learn_with_own_steps),
    hints=hints(
        idea="Count, choose, merge, and repeat, because every merge changes the counts.",
        shapes=(
            "In every round, build a new dict that maps the merged tuples to the same counts. `ids` is a dict from "
            "tokens to ids, in which a new token gets the next number. Return a list of pairs, in the order in "
            "which they were merged.",
            ("times_lost", "words_dropped", "joined_pieces_returned", "ids_from_zero"),
        ),
        outline=(
            "Copy the dict of ids.\n"
            "While you have fewer than `merges` pairs: count the pairs of the words as they are now.\n"
            "Stop if there are none; an empty dict counts as False.\n"
            "Choose a pair, store it, and give the merged token the next id unless it has one.\n"
            "Merge the pair in every word, and keep the word's count.",
            ("counted_once", "nothing_joined", "known_piece_gets_a_new_id", "known_piece_not_listed"),
        ),
    ),
    misconceptions=(
        *slips(
            _learn_in_rounds,
            counted_once=(
                "Your answer counts the pairs only once. Every merge creates new neighbors: count in every round.",
                ("= count(words)", "= {p: n for p, n in counts.items() if p != pair} if learned else count(words)"),
            ),
            nothing_joined=(
                "Your answer learns the same pair over and over, because the words never change. Merge the pair in "
                "all words.",
                ("join(tokens, pair)", "tokens"),
            ),
            rare_pairs_left_out=(
                "Your answer stops at pairs that occur only once. Merge them as well, up to `merges` pairs.",
                ("not counts", "max(counts.values(), default=0) < 2"),
            ),
            one_too_many=(
                "Your answer learns one pair too many. Stop as soon as you have `merges` pairs.",
                ("range(merges)", "range(merges + 1)"),
            ),
            joined_pieces_returned=(
                "Your answer lists merged tokens. Return the pairs: `aba` may come from (a, ba) or from (ab, a).",
                ("return learned", "return [''.join(pair) for pair in learned]"),
            ),
            choose_not_called=(
                "Your answer picks one of the most frequent pairs itself. Ties need a rule: call choose(counts, ids).",
                ("choose(counts, ids)", "max(counts, key=counts.get)"),
            ),
        ),
        *mistake(
            "Your answer loses words or their counts after a merge. Keep every word, with its own count.",
            times_lost=_slip((": times for", ": 1 for")),
            words_dropped=_slip(("words.items()", "words.items() if join(tokens, pair) != tokens")),
        ),
        *mistake(
            "Your answer gives merged tokens the wrong ids. In every round, the next id is the current len(ids).",
            ids_from_zero=_slip(("len(ids)", "len(learned) - 1")),
            one_id_for_all_joined_pieces=_slip(("len(ids)", "len(ids) - len(learned) + 1")),
        ),
        *mistake(
            "Your answer is wrong for pairs whose merged token already has an id. List such a pair, too, and keep the "
            "token's id.",
            known_piece_gets_a_new_id=_slip(("ids.get(token, len(ids))", "len(ids)"), paired=False),
            known_piece_not_listed=_slip(
                ("learned.append(pair)", "learned += [pair] if ''.join(pair) not in ids else []"), paired=False
            ),
        ),
    ),
    forbidden=(TOKENIZERS,),
)
