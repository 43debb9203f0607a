"""BERT's WordPiece beside byte-pair encoding: another choice in learning, and another way to cut a word.

Schuster and Nakajima (2012), "Japanese and Korean Voice Search"; Devlin et al. (2019), section 3. At speed:
`course_lib.fast_subwords`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from course_lib.subwords import Merge, Pieces, count_pairs

WITHIN = "##"
"""Stands before every piece that does not begin a word."""

WORD_UNKNOWN = "[UNK]"


def longest_pieces(word: str, pieces: Collection[str]) -> list[str]:
    """A word's pieces: from the left always the longest one that is known; [UNK] for all of it where none is."""
    found: list[str] = []
    begin = 0
    while begin < len(word):
        before = WITHIN if begin else ""
        ends = (end for end in range(len(word), begin, -1) if before + word[begin:end] in pieces)
        end = next(ends, None)
        if end is None:
            return [WORD_UNKNOWN]
        found.append(before + word[begin:end])
        begin = end
    return found


def pair_scores(words: Mapping[Pieces, int]) -> dict[Merge, float]:
    """How much likelier joining a pair makes the text: count(a b) / (count(a) · count(b)).

    With pieces drawn independently, the log-likelihood gains about log of this (and of a constant) for each time the
    pair is joined; WordPiece takes the pair of the best score where byte-pair encoding takes the most frequent one.
    """
    counts: Counter[str] = Counter()
    for pieces, times in words.items():
        for piece in pieces:
            counts[piece] += times
    return {pair: times / (counts[pair[0]] * counts[pair[1]]) for pair, times in count_pairs(words).items()}
