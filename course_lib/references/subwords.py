"""What lesson 08 asks for besides `course_lib.text.subwords`: GPT-2's byte tokens, and bits per byte of a long text.

The library's own byte-level tokenizer is `course_lib.text.byte_pairs`. Here its tokens are strings, in which one
printable character stands for each byte, as in GPT-2's files.
"""

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
    """Return the tokens of all words, from their bytes in UTF-8: Radford et al. (2019), section 2.2.

    Args:
        words: a text, cut by GPT-2's pattern; no token crosses from one word to the next.
        merges: the pairs, in the order of learning; of the pairs in a word, the one learned first is merged first.
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
    """Return the text that each token completes, and what is left at the end; bytes that are not UTF-8 become �.

    Args:
        tokens: tokens of bytes.
        letters: one character for each byte.
    """
    byte_of = {letter: byte for byte, letter in enumerate(letters)}
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    completed = [decoder.decode(bytes(byte_of[letter] for letter in token)) for token in tokens]
    return [*completed, decoder.decode(b"", final=True)]


def bits_per_byte(
    losses: Callable[[list[int]], Sequence[float]], ids: list[int], text: str, context: int, stride: int
) -> float:
    """Return a model's bits per byte on a text longer than its context: Gao et al. (2020), The Pile, section 3.1.

    Windows overlap, so that all tokens but the first few have at least context - stride tokens before them.

    Args:
        losses: returns the loss of each token of a window after the first, in nats.
        ids: the text's tokens.
        text: the text itself, of at least one byte in UTF-8.
        context: the most tokens of a window.
        stride: the distance between the starts of windows; less than `context`.
    """
    nats, scored = 0.0, 1
    for begin in range(0, len(ids), stride):
        window = ids[begin : begin + context]
        new = begin + len(window) - scored
        if new > 0:
            nats += sum(losses(window)[-new:])
            scored += new
    return nats / math.log(2) / len(text.encode())
