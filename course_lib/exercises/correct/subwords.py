"""Right answers to the exercises of lesson 08 (`course_lib/exercises/subwords.py`)."""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import pairwise

Pieces = tuple[str, ...]
Merge = tuple[str, str]

# subwords.count_pairs


def _count_by_index(words: dict[Pieces, int]) -> dict[Merge, int]:
    counts: dict[Merge, int] = {}
    for pieces, times in words.items():
        for i in range(len(pieces) - 1):
            pair = (pieces[i], pieces[i + 1])
            counts[pair] = counts.get(pair, 0) + times
    return counts


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


def _count_from_behind(words: dict[Pieces, int]) -> dict[Merge, int]:
    counts: dict[Merge, int] = {}
    for pieces, times in words.items():
        last = None
        for piece in pieces:
            if last is not None:
                counts[last, piece] = counts.setdefault((last, piece), 0) + times
            last = piece
    return counts


COUNT_PAIRS = (
    _count_by_index,
    _count_in_a_defaultdict,
    _count_with_a_counter,
    _count_from_behind,
    lambda words: Counter(pair for pieces, times in words.items() for _ in range(times) for pair in pairwise(pieces)),
    lambda words: {
        pair: sum(times * list(pairwise(pieces)).count(pair) for pieces, times in words.items())
        for pair in {pair for pieces in words for pair in pairwise(pieces)}
    },
)


# subwords.most_frequent_pair


def _choose_by_loop(counts: dict[Merge, int], ids: dict[str, int]) -> Merge | None:
    best, best_key = None, None
    for (left, right), times in counts.items():
        key = (times, -ids[left], -ids[right])
        if best_key is None or key > best_key:
            best, best_key = (left, right), key
    return best


def _choose_in_steps(counts: dict[Merge, int], ids: dict[str, int]) -> Merge:
    most = max(counts.values())
    pairs = [pair for pair, times in counts.items() if times == most]
    left = min((pair[0] for pair in pairs), key=lambda piece: ids[piece])
    return left, min((pair[1] for pair in pairs if pair[0] == left), key=lambda piece: ids[piece])


MOST_FREQUENT_PAIR = (
    _choose_by_loop,
    _choose_in_steps,
    lambda counts, ids: sorted(counts, key=lambda pair: (-counts[pair], ids[pair[0]], ids[pair[1]]))[0],
    lambda counts, ids: max(counts.items(), key=lambda item: (item[1], [-ids[piece] for piece in item[0]]))[0],
    lambda counts, ids: max(
        sorted(counts, key=lambda pair: (ids[pair[0]], ids[pair[1]])), key=lambda pair: counts[pair]
    ),
    lambda counts, ids: functools.reduce(
        lambda a, b: (
            a if (-counts[a], ids[a[0]] * 10**6 + ids[a[1]]) < (-counts[b], ids[b[0]] * 10**6 + ids[b[1]]) else b
        ),
        counts,
    ),
)


# subwords.merge


def _join_by_while(pieces: Pieces, pair: Merge) -> Pieces:
    out: list[str] = []
    i = 0
    while i < len(pieces):
        if i + 1 < len(pieces) and pieces[i] == pair[0] and pieces[i + 1] == pair[1]:
            out.append(pair[0] + pair[1])
            i += 2
        else:
            out.append(pieces[i])
            i += 1
    return tuple(out)


def _join_by_recursion(pieces: Pieces, pair: Merge) -> Pieces:
    if len(pieces) < 2:
        return tuple(pieces)
    if tuple(pieces[:2]) == tuple(pair):
        return ("".join(pair), *_join_by_recursion(pieces[2:], pair))
    return (pieces[0], *_join_by_recursion(pieces[1:], pair))


def _join_in_a_list(pieces: Pieces, pair: Merge) -> Pieces:
    out = list(pieces)
    i = 0
    while i < len(out) - 1:
        if (out[i], out[i + 1]) == pair:
            out[i : i + 2] = [pair[0] + pair[1]]
        i += 1
    return tuple(out)


def _join_by_regular_expression(pieces: Pieces, pair: Merge) -> Pieces:
    """As in the paper: pieces with spaces between them, and a pattern that respects them."""
    pattern = r"(?<!\S)" + re.escape(" ".join(pair)) + r"(?!\S)"
    return tuple(re.sub(pattern, "".join(pair), " ".join(pieces)).split(" "))


def _join_by_skipping(pieces: Pieces, pair: Merge) -> Pieces:
    out: list[str] = []
    skip = False
    for piece, following in zip(pieces, (*pieces[1:], None), strict=True):
        if skip:
            skip = False
        elif (piece, following) == pair:
            out.append("".join(pair))
            skip = True
        else:
            out.append(piece)
    return tuple(out)


def _join_looking_back(pieces: Pieces, pair: Merge) -> Pieces:
    out: list[str] = []
    fresh = False
    for piece in pieces:
        if out and not fresh and (out[-1], piece) == pair:
            out[-1] += piece
            fresh = True
        else:
            out.append(piece)
            fresh = False
    return tuple(out)


MERGE = (
    _join_by_while,
    _join_by_recursion,
    _join_in_a_list,
    _join_by_regular_expression,
    _join_by_skipping,
    _join_looking_back,
)


# subwords.learn_merges

_Words = dict[Pieces, int]
_Count = Callable[[_Words], dict[Merge, int]]
_Choose = Callable[[dict[Merge, int], dict[str, int]], Merge]
_Join = Callable[[Pieces, Merge], Pieces]


def _learn_by_for(
    words: _Words, ids: dict[str, int], merges: int, count: _Count, choose: _Choose, join: _Join
) -> list[Merge]:
    words, ids = dict(words), dict(ids)
    learned: list[Merge] = []
    for _ in range(merges):
        counts = count(words)
        if not counts:
            break
        pair = choose(counts, ids)
        learned.append(pair)
        if pair[0] + pair[1] not in ids:
            ids[pair[0] + pair[1]] = max(ids.values()) + 1
        words = {join(pieces, pair): times for pieces, times in words.items()}
    return learned


def _learn_by_recursion(
    words: _Words, ids: dict[str, int], merges: int, count: _Count, choose: _Choose, join: _Join
) -> list[Merge]:
    counts = count(words)
    if merges == 0 or not counts:
        return []
    pair = choose(counts, ids)
    joined = {join(pieces, pair): times for pieces, times in words.items()}
    more = ids if "".join(pair) in ids else {**ids, "".join(pair): len(ids)}
    return [pair, *_learn_by_recursion(joined, more, merges - 1, count, choose, join)]


def _learn_with_own_steps(
    words: _Words, ids: dict[str, int], merges: int, count: _Count, choose: _Choose, join: _Join
) -> list[Merge]:
    pieces = [(list(word), times) for word, times in words.items()]
    known = sorted(ids, key=lambda piece: ids[piece])
    learned: list[Merge] = []
    while len(learned) < merges:
        counts: Counter[Merge] = Counter()
        for word, times in pieces:
            for pair in pairwise(word):
                counts[pair] += times
        if not counts:
            return learned
        best = min(counts, key=lambda pair: (-counts[pair], known.index(pair[0]), known.index(pair[1])))
        learned.append(best)
        if "".join(best) not in known:
            known.append("".join(best))
        pieces = [(list(_join_in_a_list(tuple(word), best)), times) for word, times in pieces]
    return learned


def _learn_until_an_error(
    words: _Words, ids: dict[str, int], merges: int, count: _Count, choose: _Choose, join: _Join
) -> list[Merge]:
    """Stops when every word is one piece, and builds the next words one by one."""
    ids = ids.copy()
    learned: list[Merge] = []
    while len(learned) < merges and any(len(pieces) > 1 for pieces in words):
        learned += [choose(count(words), ids)]
        ids.setdefault("".join(learned[-1]), len(ids))
        following: _Words = {}
        for pieces in words:
            following[join(pieces, learned[-1])] = words[pieces]
        words = following
    return learned


LEARN_MERGES = (_learn_by_for, _learn_by_recursion, _learn_with_own_steps, _learn_until_an_error)


# subwords.vocabulary_size


def _size_by_growing(characters: int, merges: int, special: int) -> int:
    size = special + characters
    for _ in range(merges):
        size += 1
    return size


VOCABULARY_SIZE = (
    _size_by_growing,
    lambda characters, merges, special: sum((characters, merges, special)),
    lambda characters, merges, special: len(range(-special, characters + merges)),
)


# subwords.encode


def _encode_pair_after_pair(text: str, merges: list[Merge]) -> list[str]:
    found: list[str] = []
    for word in text.split():
        pieces: Pieces = ("▁", *word)
        for pair in merges:
            pieces = _join_by_while(pieces, pair)
        found.extend(pieces)
    return found


def _encode_by_rank(text: str, merges: list[Merge]) -> list[str]:
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    found: list[str] = []
    for word in text.split():
        pieces = list("▁" + word)
        while True:
            known = [(ranks[pair], pair) for pair in pairwise(pieces) if pair in ranks]
            if not known:
                break
            pieces = list(_join_in_a_list(tuple(pieces), min(known)[1]))
        found += pieces
    return found


def _encode_all_words_at_once(text: str, merges: list[Merge]) -> list[str]:
    """In one row: a pair never reaches across a ▁, for none has it on its right."""
    pieces: Pieces = tuple("".join("▁" + word for word in text.split()))
    for pair in merges:
        pieces = _join_by_skipping(pieces, pair)
    return list(pieces)


def _encode_by_regular_expressions(text: str, merges: list[Merge]) -> list[str]:
    row = " ".join("".join("▁" + word for word in text.split()))
    for pair in merges:
        row = re.sub(r"(?<!\S)" + re.escape(" ".join(pair)) + r"(?!\S)", "".join(pair), row)
    return row.split()


def _encode_one_place_at_a_time(text: str, merges: list[Merge]) -> list[str]:
    found = []
    for word in text.split():
        pieces = ["▁", *word]
        pairs = list(pairwise(pieces))
        while any(pair in merges for pair in pairs):
            place = min(range(len(pairs)), key=lambda i: merges.index(pairs[i]) if pairs[i] in merges else len(merges))
            pieces[place : place + 2] = [pieces[place] + pieces[place + 1]]
            pairs = list(pairwise(pieces))
        found += pieces
    return found


ENCODE = (
    _encode_pair_after_pair,
    _encode_by_rank,
    _encode_all_words_at_once,
    _encode_by_regular_expressions,
    _encode_one_place_at_a_time,
)


# subwords.decode


def _decode_by_loop(pieces: list[str]) -> str:
    text = ""
    for piece in pieces:
        for character in piece:
            text += " " if character == "▁" else character
    return text.lstrip(" ")


DECODE = (
    _decode_by_loop,
    lambda pieces: "".join(pieces).replace("▁", " ").strip(),
    lambda pieces: "".join(pieces).removeprefix("▁").replace("▁", " "),
    lambda pieces: " ".join("".join(pieces).split("▁")).strip(),
    lambda pieces: re.sub("▁", " ", re.sub("^▁", "", "".join(pieces))),
    lambda pieces: "".join(piece.replace("▁", " ") for piece in pieces).lstrip(),
)


# subwords.wordpiece


def _cut_by_recursion(word: str, pieces: list[str]) -> list[str]:
    def rest(begin: int) -> list[str] | None:
        if begin == len(word):
            return []
        for end in range(len(word), begin, -1):
            piece = ("" if begin == 0 else "##") + word[begin:end]
            if piece in pieces:
                behind = rest(end)
                return None if behind is None else [piece, *behind]
        return None

    found = rest(0)
    return ["[UNK]"] if found is None else found


def _cut_by_shortening(word: str, pieces: list[str]) -> list[str]:
    known, found, mark = set(pieces), [], ""
    while word:
        text = word
        while text and mark + text not in known:
            text = text[:-1]
        if not text:
            return ["[UNK]"]
        found.append(mark + text)
        word, mark = word[len(text) :], "##"
    return found


def _cut_by_trying_long_pieces(word: str, pieces: list[str]) -> list[str]:
    found: list[str] = []
    while word:
        marked = "##" + word if found else word
        fitting = [piece for piece in pieces if marked.startswith(piece) and piece.startswith("##") == bool(found)]
        if not fitting or len(max(fitting, key=len)) == 2 * bool(found):
            return ["[UNK]"]
        found.append(max(fitting, key=len))
        word = marked[len(found[-1]) :]
    return found


def _cut_by_pattern(word: str, pieces: list[str]) -> list[str]:
    by_length = sorted(pieces, key=len, reverse=True)
    begin = "|".join(re.escape(piece) for piece in by_length if not piece.startswith("##")) or "(?!)"
    within = "|".join(re.escape(piece[2:]) for piece in by_length if piece.startswith("##")) or "(?!)"
    found: list[str] = []
    place = 0
    while place < len(word):
        match = re.compile(within if found else begin).match(word, place)
        if match is None:
            return ["[UNK]"]
        found.append("##" * bool(found) + match[0])
        place = match.end()
    return found


WORDPIECE = (_cut_by_recursion, _cut_by_shortening, _cut_by_trying_long_pieces, _cut_by_pattern)
