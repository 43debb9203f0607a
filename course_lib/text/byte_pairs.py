"""Byte-level byte-pair encoding, as in GPT-2: the units are bytes, so nothing in a text is unknown.

Radford et al. (2019), "Language Models are Unsupervised Multitask Learners", section 2.2. A text is first cut into
words, each with the space before it, by GPT-2's pattern or by GPT-4's; no piece crosses from one word to the next.

This module is for reading, in plain Python; `course_lib.text.fast_subwords` is for real work. It differs from
`course_lib.text.subwords` in its units, and it counts all pairs only once: merging a pair changes only the words that
contain it, so only their pairs are recounted. Every choice is fixed as in the `tokenizers` library, ties included:

- the ids: the 256 bytes in GPT-2's order, which begins with the printable ones, then the merged pieces in the order in
  which they were learned, then the special tokens;
- among equally frequent pairs, the smallest id of the left piece wins, then the smallest id of the right piece (or,
  with `ties="largest"`, the pair whose pieces are largest as bytes).
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Literal

from tokenizers import Regex, pre_tokenizers

from course_lib.ground.validation import check_at_least, check_one_of, check_texts
from course_lib.text.gpt2_files import BYTES, read_gpt2_ids, read_gpt2_pairs, read_piece, written
from course_lib.text.special_tokens import Choice, Part, SpecialTokens, without_special
from course_lib.text.tokenization import before_end, check_ids

GPT2_END = "<|endoftext|>"
"""GPT-2's only special token: it separates two documents."""

ENDINGS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")

Pattern = Literal["gpt2", "gpt4"]
"""Whose pattern splits a text into words: GPT-2's, or GPT-4's."""

Ties = Literal["smallest", "largest"]
"""Which of equally frequent pairs is merged: the one with the smallest ids, or with the largest bytes."""

PATTERNS: dict[Pattern, str] = {
    "gpt2": "|".join(ENDINGS) + r"| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "gpt4": "(?i:" + "|".join(ENDINGS) + r")|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}
"""A word: an English ending, letters, digits or other characters, with a space before them, or spaces.

Of several spaces, the last goes to the word that follows them. GPT-4's pattern (also Llama 3's) finds endings in
capitals, too, puts any single character before letters into their word, allows at most three digits in a word, and ends
a word at the end of a line.
"""

# Python's own `re` does not know \p{L}.
_WORDS = {name: pre_tokenizers.Split(Regex(pattern), "isolated") for name, pattern in PATTERNS.items()}

_BEGUN_ENDINGS = {ending[:2] for ending in ENDINGS if len(ending) > 2}

Pair = tuple[int, int]
Merge = tuple[bytes, bytes]


def split_words(text: str, pattern: Pattern = "gpt2") -> list[str]:
    """Split a text into words by a pattern. Nothing is lost: joined, the words are the text."""
    return [word for word, _ in _WORDS[pattern].pre_tokenize_str(text)]


def settled_words(text: str, pattern: Pattern = "gpt2") -> tuple[list[str], str]:
    """Return the words at a text's beginning that no continuation can change, and the rest of the text.

    The rest is the last word, which may grow unless it is an ending; the apostrophe before it, since 'l may become 'll;
    and all words with one of the text's final spaces, which the end of a line may join.
    """
    words = split_words(text, pattern)
    if not words or words[-1] in ENDINGS:
        return words, ""
    if "".join(words[-2:]) in _BEGUN_ENDINGS:
        return words[:-2], "".join(words[-2:])
    begun = min(len(text.rstrip()), len(text) - 1)  # the last character, or the first of the spaces at the end
    settled = sum(end <= begun for end in accumulate(map(len, words)))
    return words[:settled], "".join(words[settled:])


def stream_words(parts: Iterable[Part], pattern: Pattern) -> Iterator[list[str] | int]:
    """Yield a text's words as its parts come in, once they are certain, with the ids of special tokens between."""
    rest = ""
    for part in parts:
        if isinstance(part, int):
            yield split_words(rest, pattern)
            yield part
            rest = ""
        else:
            words, rest = settled_words(rest + part, pattern)
            yield words
    yield split_words(rest, pattern)


def merge_ids(ids: Sequence[int], pair: Pair, merged: int) -> list[int]:
    """Return the ids with every occurrence of the pair replaced by one id, from left to right."""
    result: list[int] = []
    i = 0
    while i < len(ids):
        if tuple(ids[i : i + 2]) == pair:
            result.append(merged)
            i += 2
        else:
            result.append(ids[i])
            i += 1
    return result


class PairCounts:
    """Counts of neighboring pieces, kept up to date while pairs are merged.

    Attributes:
        words: each word's pieces, as ids.
        times: how often each word occurs.
        counts: how often each pair occurs.
        holders: for each pair, the indices of the words that contain it, or once did.
    """

    def __init__(self, words: Mapping[Sequence[int], int], order: Callable[[Pair], Any] = tuple) -> None:
        """Count all pairs; of equally frequent ones, the first in this order is merged."""
        self._order = order
        self.words = [list(word) for word in words]
        self.times = list(words.values())
        self.counts: Counter[Pair] = Counter()
        self.holders: defaultdict[Pair, set[int]] = defaultdict(set)
        for index in range(len(self.words)):
            for pair in pairwise(self.words[index]):
                self.counts[pair] += self.times[index]
                self.holders[pair].add(index)
        self._queue = [(-count, order(pair), pair) for pair, count in self.counts.items()]
        heapify(self._queue)

    def most_frequent(self) -> Pair | None:
        """Return the next pair to merge: the most frequent; of equals, the first in their order; None if there is none.

        Every new count of a pair goes into the queue; outdated entries are skipped.
        """
        while self._queue:
            count, _, pair = heappop(self._queue)
            if -count == self.counts[pair]:
                return pair
        return None

    def merge(self, pair: Pair, merged: int) -> None:
        """Replace the pair by one id wherever it occurs, and recount the pairs of these words."""
        changes: Counter[Pair] = Counter()
        for index in self.holders.pop(pair):
            before = self.words[index]
            after = self.words[index] = merge_ids(before, pair, merged)
            for lost in pairwise(before):
                changes[lost] -= self.times[index]
            for gained in pairwise(after):
                changes[gained] += self.times[index]
                self.holders[gained].add(index)
        for changed, change in changes.items():
            if change:
                self.counts[changed] += change
                if self.counts[changed]:
                    heappush(self._queue, (-self.counts[changed], self._order(changed), changed))


class _Reversed(Merge):
    """A pair of pieces that sorts in reverse: the larger comes first."""

    def __lt__(self, other: Any) -> bool:
        return tuple.__gt__(self, other)


def learn_byte_merges(words: Mapping[bytes, int], merges: int, ties: Ties = "smallest") -> list[Merge]:
    """Learn the pairs to merge, in order; fewer if no pairs are left.

    Args:
        words: the bytes of each word, and how often it occurs.
        merges: the most pairs to learn.
        ties: which of equally frequent pairs comes first.

    Raises:
        ValueError: there is no such rule for ties.
    """
    check_one_of(Ties, ties=ties)
    pieces = [bytes([byte]) for byte in BYTES]
    ids = {piece: i for i, piece in enumerate(pieces)}
    counts = PairCounts(
        {tuple(BYTES.index(byte) for byte in word): times for word, times in words.items()},
        tuple if ties == "smallest" else lambda pair: _Reversed((pieces[pair[0]], pieces[pair[1]])),
    )
    learned: list[Merge] = []
    while len(learned) < merges and (pair := counts.most_frequent()):
        left, right = pieces[pair[0]], pieces[pair[1]]
        learned.append((left, right))
        if left + right not in ids:  # abc is ab-c as well as a-bc
            ids[left + right] = len(pieces)
            pieces.append(left + right)
        counts.merge(pair, ids[left + right])
    return learned


@dataclass(frozen=True)
class ByteLevelVocabulary:
    """A learned byte-level vocabulary: pairs of pieces in the order of their merges, and special tokens.

    Attributes:
        merges: the pairs.
        special: the special tokens; their ids are the last ones.
        pattern: how a text is split into words; not stored in the files.
    """

    merges: tuple[Merge, ...]
    special: tuple[str, ...] = (GPT2_END,)
    pattern: Pattern = "gpt2"

    def __post_init__(self) -> None:
        check_one_of(Pattern, pattern=self.pattern)
        known = {bytes([byte]) for byte in BYTES}
        for left, right in self.merges:
            if absent := {left, right} - known:
                raise ValueError(f"a pair is merged from {min(absent)!r}, which no earlier pair makes")
            known.add(left + right)
        check_special(self.special, set(map(written, known)))

    @classmethod
    def learn(
        cls,
        texts: Iterable[str],
        merges: int,
        special: Sequence[str] = (GPT2_END,),
        *,
        pattern: Pattern = "gpt2",
        ties: Ties = "smallest",
    ) -> ByteLevelVocabulary:
        """Learn this many pairs from texts; fewer if every word becomes a single piece first.

        Where a text spells a special token, it is split in two: nothing is learned from the token.

        Raises:
            TypeError: given one string instead of several texts or special tokens.
            ValueError: the texts have no words, one is not valid Unicode, `merges` is negative, there is no such
                pattern or rule for ties, or a special token is empty, repeated, or spelled like a piece.
        """
        check_one_of(Pattern, pattern=pattern)
        check_texts(special)
        check_at_least(0, merges=merges)
        check_special(special, ())
        words: Counter[str] = Counter()
        for text in without_special(texts, special):
            words.update(split_words(text, pattern))
        if not any(map(str.strip, words)):
            raise ValueError("there is nothing to learn pieces from: the texts have no words")
        learned = learn_byte_merges({word.encode(): times for word, times in words.items()}, merges, ties)
        return cls(tuple(learned), tuple(special), pattern)

    @classmethod
    def load(cls, vocabulary: Path | str, merges: Path | str, *, pattern: Pattern = "gpt2") -> ByteLevelVocabulary:
        """Load what `save` wrote, or GPT-2's own `vocab.json` and `merges.txt`.

        Raises:
            ValueError: the files are not such a vocabulary, or do not belong together.
            OSError: a file cannot be read.
        """
        ids, pairs = read_gpt2_ids(Path(vocabulary)), read_gpt2_pairs(Path(merges))
        try:
            learned = tuple((read_piece(left), read_piece(right)) for left, right in pairs)
        except KeyError as error:
            raise ValueError(f"{merges} has a piece with {error.args[0]!r}, which does not stand for a byte") from None
        pieces = cls(learned, ()).pieces
        special = sorted(ids.keys() - set(map(written, pieces)), key=ids.__getitem__)
        if [*map(written, pieces), *special] != sorted(ids, key=ids.__getitem__):
            raise ValueError(f"{vocabulary} does not have the bytes, the pieces of {merges} and the rest in this order")
        return cls(learned, tuple(special), pattern)

    def save(self, vocabulary: Path | str, merges: Path | str) -> None:
        """Write the same two files as GPT-2 has, usually named `vocab.json` and `merges.txt`."""
        names = [*map(written, self.pieces), *self.special]
        ids = {name: i for i, name in enumerate(names)}
        lines = ["#version: 0.2", *(f"{written(left)} {written(right)}" for left, right in self.merges)]
        Path(vocabulary).write_text(json.dumps(ids, ensure_ascii=False), encoding="utf-8")
        Path(merges).write_text("\n".join(lines) + "\n", encoding="utf-8")

    def __len__(self) -> int:
        return len(self.pieces) + len(self.special)

    @cached_property
    def pieces(self) -> tuple[bytes, ...]:
        """The bytes, then the merged pieces; a piece's id is its index."""
        return tuple(dict.fromkeys([*(bytes([byte]) for byte in BYTES), *(a + b for a, b in self.merges)]))

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """The id of each piece."""
        return {piece: i for i, piece in enumerate(self.pieces)}

    @cached_property
    def special_ids(self) -> dict[str, int]:
        """The id of each special token."""
        return {token: len(self.pieces) + i for i, token in enumerate(self.special)}

    @cached_property
    def ranks(self) -> dict[Pair, int]:
        """The rank of each pair of ids: a pair learned earlier has a smaller rank."""
        return {(self.ids[left], self.ids[right]): rank for rank, (left, right) in enumerate(self.merges)}

    def cut(self, word: str) -> list[int]:
        """Return the ids of a word's pieces: its bytes, merged pair by pair in the order of learning."""
        ids = [self.ids[bytes([byte])] for byte in word.encode()]
        while known := [pair for pair in pairwise(ids) if pair in self.ranks]:
            pair = min(known, key=self.ranks.__getitem__)
            ids = merge_ids(ids, pair, self.ids[self.pieces[pair[0]] + self.pieces[pair[1]]])
        return ids

    def encode(self, text: str, *, allowed_special: Choice = (), disallowed_special: Choice = "all") -> list[int]:
        """Return the ids of a text's pieces.

        Args:
            text: any text.
            allowed_special: the special tokens that become one id where the text spells them, or "all".
            disallowed_special: those that the text must not spell; "all" for all that are not allowed. Others are plain
                text.

        Raises:
            ValueError: the text is not valid Unicode, or spells a special token that is refused.
        """
        parts = SpecialTokens.choose(self.special_ids, allowed_special, disallowed_special).split(text)
        words = (part if isinstance(part, int) else split_words(part, self.pattern) for part in parts)
        return list(self._encode_words(words))

    def encode_stream(
        self, texts: Iterable[str], *, allowed_special: Choice = (), disallowed_special: Choice = "all"
    ) -> Iterator[int]:
        """Return the ids of one text that comes in chunks, such as an open file; chunks may be cut anywhere.

        The ids are those of the joined text. Only a chunk's last word, and a possible beginning of a special token,
        waits for the next chunk; nothing else is kept.

        Args:
            texts: the chunks.
            allowed_special, disallowed_special: as for `encode`. A refused token raises an error where it occurs, after
                the ids before it.

        Raises:
            TypeError: given one string instead of chunks, or a chunk is not a string.
            ValueError: a chunk is not valid Unicode, or the text spells a special token that is refused.
        """
        check_texts(texts)
        special = SpecialTokens.choose(self.special_ids, allowed_special, disallowed_special)
        return self._encode_words(stream_words(special.split_stream(texts), self.pattern))

    def _encode_words(self, parts: Iterable[list[str] | int]) -> Iterator[int]:
        for part in parts:
            yield from [part] if isinstance(part, int) else (i for word in part for i in self.cut(word))

    def decode(self, ids: Sequence[int], *, stop: bool = True) -> str:
        """Return the text up to the first <|endoftext|> after its beginning; with `stop=False`, all of it.

        Bytes that are not UTF-8, such as half a character, become �.

        Raises:
            ValueError: there is no piece with one of these ids.
        """
        check_ids(ids, len(self))
        end = self.special_ids.get(GPT2_END)
        spelled = (*self.pieces, *map(str.encode, self.special))
        visible = before_end(ids, {end}) if stop and end is not None else ids
        return b"".join(spelled[i] for i in visible).decode(errors="replace")


def check_special(special: Sequence[str], pieces: Collection[str]) -> None:
    """Refuse special tokens that are empty, repeated, or spelled like another piece.

    Raises:
        ValueError: the message says which.
    """
    if "" in special or len(set(special)) != len(special):
        raise ValueError("a vocabulary lists each special token once, and none of them is empty")
    if taken := [token for token in special if token in pieces]:
        raise ValueError(
            f"{taken[0]!r} cannot be a special token, because a piece is written the same way; put it between <| and |>"
        )
