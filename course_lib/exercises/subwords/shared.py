"""Helpers for several exercises of lesson 08."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence

import torch
from torch import Generator

from course_lib.text import subwords
from course_lib.text.byte_pairs import ByteLevelVocabulary
from course_lib.text.gpt2_files import LETTERS
from course_lib.text.subwords import MARK, Merge, Pieces
from course_lib.text.tokenization import SPECIAL

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
    return {token: i for i, token in enumerate([*SPECIAL, *sorted({part for word in words for part in word})])}


def pair_counts(words: Mapping[Pieces, int]) -> dict[Merge, int]:
    """The pairs' counts as a plain dict, as cases and callbacks need them."""
    return dict(subwords.count_pairs(words))


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


def join_in_a_list(tokens: Pieces, pair: Merge) -> Pieces:
    out = list(tokens)
    i = 0
    while i < len(out) - 1:
        if (out[i], out[i + 1]) == pair:
            out[i : i + 2] = [pair[0] + pair[1]]
        i += 1
    return tuple(out)


def shuffled_letters(rng: random.Random) -> list[str]:
    """Other characters for the bytes than GPT-2's."""
    return rng.sample(LETTERS, 256)


def learned_merges(words: Mapping[Pieces, int], merges: int) -> list[Merge]:
    """Pairs learned from words, up to the first token that two pairs make.

    As long as every pair makes a new token, merging the pairs one after another and always merging the one that was
    learned first give the same result; and both are honest readings of the paper.
    """
    return _making_new_tokens(subwords.learn_merges(words, ids_of(words), merges))


def byte_merges(texts: Sequence[str], merges: int, letters: Sequence[str] = LETTERS) -> list[Merge]:
    """Byte-level pairs learned from texts, written with these letters, up to the first token that two pairs make."""
    pairs = ByteLevelVocabulary.learn(texts, merges).merges
    written = (["".join(letters[byte] for byte in token) for token in pair] for pair in pairs)
    return _making_new_tokens((left, right) for left, right in written)


def _making_new_tokens(pairs: Iterable[Merge]) -> list[Merge]:
    learned: dict[str, Merge] = {}
    for pair in pairs:
        if "".join(pair) in learned:
            break
        learned["".join(pair)] = pair
    return list(learned.values())
