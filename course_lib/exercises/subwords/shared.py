"""What several exercises of lesson 08 use."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Generator

from course_lib.text import subwords
from course_lib.text.subwords import MARK, Merge, Pieces
from course_lib.text.tokenization import SPECIAL

LESSON = "08_subwords"


WITHHELD = ("course_lib.text.byte_pairs", "course_lib.text.fast_subwords", "course_lib.text.subwords")


PLAY = {tuple("▁play"): 3, tuple("▁playing"): 2, tuple("▁played"): 1}
"""The words of S4, as often as here: the worked example."""


GERMAN = "gesundheit gesundheits forschung forscher institut institute amt rat haus heit ung katze katzen tanz tanzte"


FEW_LETTERS = ("a", "b", "ab", "ba", "aa", "aab", "abab", "aaa", "bab", "cab", "abc", "cabc", "bca", "aaaa")


def random_source(generator: Generator) -> random.Random:
    return random.Random(int(torch.randint(2**31, (), generator=generator)))


def random_words(rng: random.Random, among: Sequence[str], number: int) -> dict[Pieces, int]:
    """`number` of these words as characters, each with a count that no other one has."""
    times = rng.sample(range(1, 4 * number), number)
    return {tuple(MARK + word): often for word, often in zip(rng.sample(among, number), times, strict=True)}


def ids_of(words: Mapping[Pieces, int]) -> dict[str, int]:
    """The ids of the special tokens and of all characters: the next one is len(ids)."""
    return {piece: i for i, piece in enumerate([*SPECIAL, *sorted({part for word in words for part in word})])}


def pair_counts(words: Mapping[Pieces, int]) -> dict[Merge, int]:
    """The pairs' counts as a plain dict, as cases and callbacks need them."""
    return dict(subwords.count_pairs(words))


def walked(
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


def replaced_in_the_text(pieces: Pieces, pair: Merge, number: int = -1) -> Pieces:
    return tuple(" ".join(pieces).replace(" ".join(pair), "".join(pair), number).split(" "))


RESEARCH = {
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


JoinRule = Callable[[Pieces, Merge], Pieces]


def join_by_while(pieces: Pieces, pair: Merge) -> Pieces:
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


def join_in_a_list(pieces: Pieces, pair: Merge, skipped: int = 0) -> Pieces:
    """Right unless pieces are skipped behind a joined one."""
    out = list(pieces)
    i = 0
    while i < len(out) - 1:
        if (out[i], out[i + 1]) == pair:
            out[i : i + 2] = [pair[0] + pair[1]]
            i += skipped
        i += 1
    return tuple(out)


def join_by_skipping(pieces: Pieces, pair: Merge) -> Pieces:
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
