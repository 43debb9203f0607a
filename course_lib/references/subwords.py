"""What lesson 08 asks for beside `course_lib.text.subwords`: GPT-2's tokens of bytes, and a long text's bits.

The library's own byte-level tokenizer is `course_lib.text.byte_pairs`. Here its tokens are strings, in which one
printable character stands for each byte, as in GPT-2's files.
"""

from __future__ import annotations

import codecs
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from course_lib.text.subwords import Merge, Pieces


def encode_bytes(
    words: Sequence[str],
    merges: Sequence[Merge],
    letters: Sequence[str],
    join: Callable[[Pieces, Merge], Pieces],
) -> list[str]:
    """The tokens of all words, from their bytes in UTF-8: Radford et al. (2019), section 2.2.

    Args:
        words: as GPT-2's pattern cuts a text; no token crosses from one to the next.
        merges: in the order in which they were learned: of the pairs in a word, the first of them is merged first.
        letters: one character for each byte.
        join: merges every occurrence of a pair, from left to right.
    """
    ranks: Mapping[Merge, int] = {pair: rank for rank, pair in enumerate(merges)}
    found: list[str] = []
    for word in words:
        tokens: Pieces = tuple(letters[byte] for byte in word.encode())
        while known := [pair for pair in pairwise(tokens) if pair in ranks]:
            tokens = join(tokens, min(known, key=ranks.__getitem__))
        found += tokens
    return found


def decode_bytes(tokens: Sequence[str], letters: Sequence[str]) -> list[str]:
    """The text that each token completes, and what is left at the end; bytes that are not UTF-8 become �.

    Args:
        tokens: of bytes.
        letters: one character for each byte.
    """
    byte_of = {letter: byte for byte, letter in enumerate(letters)}
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    completed = [decoder.decode(bytes(byte_of[letter] for letter in token)) for token in tokens]
    return [*completed, decoder.decode(b"", final=True)]


def bits_per_byte(
    losses: Callable[[list[int]], Sequence[float]], ids: list[int], text: str, context: int, stride: int
) -> float:
    """A model's bits per byte of a text longer than its context: Gao et al. (2020), The Pile, section 3.1.

    The windows overlap, so that all tokens but the first few have at least context - stride tokens before them.

    Args:
        losses: of each token of a window after the first, in nats.
        ids: the text's tokens.
        text: its bytes are those of UTF-8; at least one.
        context: the most tokens of a window.
        stride: how much further each window begins; less than `context`.
    """
    nats, scored = 0.0, 1
    for begin in range(0, len(ids), stride):
        window = ids[begin : begin + context]
        new = begin + len(window) - scored
        if new > 0:
            nats += sum(losses(window)[-new:])
            scored += new
    return nats / math.log(2) / len(text.encode())
