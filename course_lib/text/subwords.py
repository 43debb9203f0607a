"""Byte-pair encoding: words cut into pieces that are learned from a text.

It begins with single characters, and repeatedly merges the two neighbors that occur together most often: frequent words
become one piece, rare ones stay several, and no word of known characters is unknown.

Sennrich et al. (2016), "Neural Machine Translation of Rare Words with Subword Units", section 3.2; slides S1 and S4.
A word's beginning is marked with ▁, as in Kudo and Richardson (2018), so that the pieces know where the spaces were.

This module is for reading, in plain Python; `course_lib.text.byte_pairs` shows the algorithm on bytes, as in GPT-2, and
`course_lib.text.fast_subwords` is for real work. Every choice is fixed, so that the same text gives the same pieces
everywhere, in the `tokenizers` library too, ties included:

- among equally frequent pairs, the smallest id of the left piece wins, then the smallest id of the right piece;
- when encoding a word, pairs are merged in the order of learning, from left to right.

At the end is BERT's WordPiece, which learns and cuts differently: Schuster and Nakajima (2012), "Japanese and
Korean Voice Search"; Devlin et al. (2019), section 3.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

MARK = "▁"
"""Marks the beginning of every word. In a text it counts as a space."""

Pieces = tuple[str, ...]
Merge = tuple[str, str]


def marked_words(text: str) -> list[str]:
    """Split a text at spaces into words, each with `MARK` before it."""
    return [MARK + word for word in text.replace(MARK, " ").split()]


def join(tokens: Pieces, pair: Merge) -> Pieces:
    """Merge every occurrence of the pair in the tokens, from left to right: a a a and (a, a) give aa a."""
    merged: list[str] = []
    i = 0
    while i < len(tokens):
        if tokens[i : i + 2] == pair:
            merged.append(pair[0] + pair[1])
            i += 2
        else:
            merged.append(tokens[i])
            i += 1
    return tuple(merged)


def count_pairs(words: Mapping[Pieces, int]) -> Counter[Merge]:
    """Count pairs of neighboring pieces within words, given how often each word occurs."""
    counts: Counter[Merge] = Counter()
    for pieces, times in words.items():
        for pair in zip(pieces, pieces[1:], strict=False):
            counts[pair] += times
    return counts


def most_frequent_pair(counts: Mapping[Merge, int], ids: Mapping[str, int]) -> Merge:
    """Return the next pair to merge: the most frequent; of equals, the smallest ids, comparing left pieces first."""
    return min(counts, key=lambda pair: (-counts[pair], ids[pair[0]], ids[pair[1]]))


def learn_merges(
    words: Mapping[Pieces, int],
    ids: Mapping[str, int],
    merges: int,
    count: Callable[[Mapping[Pieces, int]], Mapping[Merge, int]] = count_pairs,
    choose: Callable[[Mapping[Merge, int], Mapping[str, int]], Merge] = most_frequent_pair,
    join: Callable[[Pieces, Merge], Pieces] = join,
) -> list[Merge]:
    """Learn the pairs to merge, in order: count, choose, join everywhere, and start over, until no pair is left.

    Args:
        words: the characters of each word, and how often it occurs.
        ids: the id of each character. A merged piece gets the next id, unless it already has one: abc is ab-c and a-bc.
        merges: the most pairs to learn.
        count, choose, join: functions for the three steps.
    """
    ids = dict(ids)
    learned: list[Merge] = []
    while len(learned) < merges and (pairs := count(words)):
        best = choose(pairs, ids)
        learned.append(best)
        ids.setdefault("".join(best), len(ids))
        words = {join(pieces, best): times for pieces, times in words.items()}
    return learned


def cut(word: str, ranks: Mapping[Merge, int]) -> Pieces:
    """Return a marked word's pieces: its characters, always merging the known pair with the lowest rank."""
    pieces: Pieces = tuple(word)
    while known := [pair for pair in zip(pieces, pieces[1:], strict=False) if pair in ranks]:
        pieces = join(pieces, min(known, key=ranks.__getitem__))
    return pieces


def encode_pieces(text: str, merges: Sequence[Merge]) -> list[str]:
    """Return a text's pieces, given the pairs in the order of learning."""
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    return [piece for word in marked_words(text) for piece in cut(word, ranks)]


def decode_pieces(pieces: Sequence[str]) -> str:
    """Return the text that these pieces spell, with a space where a word begins, but not before the first."""
    return "".join(pieces).replace(MARK, " ").strip(" ")


def vocabulary_size(characters: int, merges: int, special: int) -> int:
    """Return the number of pieces: a merge adds a new one, and keeps the two that it was made from.

    GPT-2's 50,257 are 256 bytes, 50,000 merged pieces and one special token: Radford et al. (2019), section 2.3.
    """
    return special + characters + merges


WITHIN = "##"
"""Marks every piece that does not begin a word."""

WORD_UNKNOWN = "[UNK]"


def longest_pieces(word: str, tokens: Collection[str]) -> list[str]:
    """Return a word's tokens: from the left, always the longest known one; only [UNK] if a piece is missing."""
    found: list[str] = []
    begin = 0
    while begin < len(word):
        before = WITHIN if begin else ""
        ends = (end for end in range(len(word), begin, -1) if before + word[begin:end] in tokens)
        end = next(ends, None)
        if end is None:
            return [WORD_UNKNOWN]
        found.append(before + word[begin:end])
        begin = end
    return found


def pair_scores(words: Mapping[Pieces, int]) -> dict[Merge, float]:
    """Return how much likelier merging each pair makes the text: count(a b) / (count(a) · count(b)).

    If pieces are drawn independently, each merge of the pair raises the log-likelihood by about the log of this score,
    plus a constant. WordPiece takes the pair with the best score, byte-pair encoding the most frequent one.
    """
    counts: Counter[str] = Counter()
    for pieces, times in words.items():
        for piece in pieces:
            counts[piece] += times
    return {pair: times / (counts[pair[0]] * counts[pair[1]]) for pair, times in count_pairs(words).items()}
