"""Learns pairs with somebody's own `learn_merges`, if that does not take too long.

    words = word_counts(texts)
    merges = learn_in_time(learn_merges, words, 900, seconds=120, count=..., choose=..., join=...)
    vocabulary = vocabulary_of(words, merges)      # the library's, with exactly these pieces

The simple form of byte-pair encoding recounts all pairs in every round. That takes minutes for a thousand different
words and hours for a hundred thousand, so the first rounds are timed, and the rest is estimated from them.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tokenizers import models

from course_lib.text.fast_subwords import SubwordVocabulary, marked_tokenizer
from course_lib.text.subwords import Merge, Pieces
from course_lib.text.tokenization import SPECIAL, UNKNOWN

TIMED = 20
"""The number of rounds that are timed before the rest is estimated."""


class TooSlow(RuntimeError):
    """Learning would take longer than allowed; the message says how long."""


def word_counts(texts: Iterable[str]) -> dict[Pieces, int]:
    """Count each word, as a tuple of characters; a punctuation mark is a separate word.

    Args:
        texts: the texts to learn pieces from.

    Raises:
        ValueError: the texts have no words.
    """
    cut = marked_tokenizer(models.BPE(), split_punctuation=True)
    counts: Counter[str] = Counter()
    for text in texts:
        if plain := cut.normalizer.normalize_str(text):
            counts.update(word for word, _ in cut.pre_tokenizer.pre_tokenize_str(plain))
    if not counts:
        raise ValueError("there is nothing to learn pieces from: the texts have no words")
    return {tuple(word): times for word, times in counts.items()}


def first_ids(words: Iterable[Pieces]) -> dict[str, int]:
    """Return the ids of the special tokens and of these words' characters, as the library numbers them."""
    return {piece: i for i, piece in enumerate((*SPECIAL, *sorted({piece for word in words for piece in word})))}


def learn_in_time(
    learn: Callable[..., Any],
    words: dict[Pieces, int],
    merges: int,
    seconds: float,
    *,
    count: Callable[[dict[Pieces, int]], Any],
    choose: Callable[..., Merge],
    join: Callable[..., Pieces],
) -> list[Merge]:
    """Return the result of `learn(words, ids, merges, count, choose, join)`, written as in lesson 08.

    Args:
        learn: `learn_merges` from lesson 08, the student's or another.
        words: how often each word occurs.
        merges: the number of pairs to learn.
        seconds: how long it may take, estimated from the first rounds.
        count: `count_pairs` from lesson 08.
        choose: `most_frequent_pair` from lesson 08.
        join: `merge` from lesson 08.

    Raises:
        TooSlow: learning would take longer.
    """
    began, rounds = time.perf_counter(), 0

    def timed(pieces: dict[Pieces, int]) -> Any:
        nonlocal rounds
        rounds += 1
        passed = time.perf_counter() - began
        if rounds > TIMED and passed / (rounds - 1) * merges > seconds:
            foretold = passed / (rounds - 1) * merges / 60
            raise TooSlow(f"{merges:,} pairs would take about {foretold:.0f} minutes; {seconds / 60:.0f} are allowed")
        return count(pieces)

    return [tuple(pair) for pair in learn(words, first_ids(words), merges, timed, choose, join)]


def vocabulary_of(words: Mapping[Pieces, int], merges: Sequence[Merge]) -> SubwordVocabulary:
    """Return the library's vocabulary with these pieces: it cuts texts the same way, and fast.

    Args:
        words: the words that the pairs were learned from; their characters are pieces, too.
        merges: the pairs, in the order of learning.

    Raises:
        ValueError: a pair contains a piece that is neither a character nor already merged.
    """
    ids = first_ids(words)
    for pair in merges:
        unknown = [piece for piece in pair if piece not in ids]
        if unknown:
            raise ValueError(f"a pair is merged from {unknown[0]!r}, which is not among the pieces before it")
        ids.setdefault("".join(pair), len(ids))
    tokenizer = marked_tokenizer(models.BPE(ids, list(merges), unk_token=UNKNOWN), split_punctuation=True)
    tokenizer.add_special_tokens(list(SPECIAL))
    return SubwordVocabulary(tokenizer)
