"""Byte-pair encoding of bytes, as GPT-2 and everything after it cut texts: nothing is unknown, and nothing is lost.

A text becomes UTF-8, 256 different bytes at most, and the pieces that are learned are strings of bytes. Where
`course_lib.text.subwords` counts all pairs anew after each joined one, here only the words that hold it are counted
again, so that a megabyte takes seconds. This is the algorithm to read; `course_lib.text.fast_subwords` has the one to
work with, which learns the same pairs.

- Words are what GPT-2's pattern finds: letters, digits or other marks, each with the space before it.
- The first 256 ids are the bytes, in GPT-2's order: those that print first. A joined piece gets the next id, and the
  special tokens come last.
- Of several most frequent pairs, the one with the smallest ids is joined first, the left one's before the right one's.

Radford et al. (2019), "Language Models are Unsupervised Multitask Learners", section 2.2.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Literal

from tokenizers import Regex, pre_tokenizers

from course_lib.ground.refusals import require_at_least, require_texts, require_unicode
from course_lib.text.tokenization import check_ids

PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""GPT-2's words."""

LOOKED_AHEAD = 3
"""So many characters after a word can still change where it ends: 're is one, as long as it is not 'r."""

_WORDS = pre_tokenizers.Split(Regex(PATTERN), "isolated")

Pair = tuple[int, int]
Special = Collection[str] | Literal["all"]


def _prints(byte: int) -> bool:
    return 33 <= byte <= 126 or 161 <= byte <= 172 or 174 <= byte <= 255


BYTES = tuple(bytes([byte]) for byte in sorted(range(256), key=lambda byte: (not _prints(byte), byte)))
"""The first 256 pieces: each byte, those that print in Latin-1 first."""

_IDS_OF_BYTES = {piece[0]: i for i, piece in enumerate(BYTES)}


def byte_words(text: str) -> list[str]:
    """A text cut into words, none of its characters left out: *the cat's* gives the, " cat" and 's."""
    return [word for word, _ in _WORDS.pre_tokenize_str(text)]


def byte_ids(word: str) -> list[int]:
    """The ids of a word's bytes."""
    return [_IDS_OF_BYTES[byte] for byte in word.encode()]


# --- Learning --------------------------------------------------------------------------------------------------


def merge_pair(ids: Sequence[int], pair: Pair, joined: int) -> list[int]:
    """The ids with every occurrence of the pair as one, from left to right."""
    found: list[int] = []
    i = 0
    while i < len(ids):
        if tuple(ids[i : i + 2]) == pair:
            found.append(joined)
            i += 2
        else:
            found.append(ids[i])
            i += 1
    return found


def learn_byte_pairs(words: Mapping[str, int], merges: int) -> list[Pair]:
    """The pairs to join, in order; fewer where none is left.

    How often each pair occurs is kept from one step to the next, with the words that hold it. The most frequent is on
    top of a heap; an entry whose count has changed since is passed over, since a newer one was pushed.

    Args:
        words: how often each occurs.
        merges: how many pairs at most.
    """
    cut, times = [byte_ids(word) for word in words], list(words.values())
    counts: Counter[Pair] = Counter()
    holders: defaultdict[Pair, set[int]] = defaultdict(set)
    for i, ids in enumerate(cut):
        for pair in pairwise(ids):
            counts[pair] += times[i]
            holders[pair].add(i)
    pieces = {piece: i for i, piece in enumerate(BYTES)}
    spelt = list(BYTES)
    heap = [(-count, pair) for pair, count in counts.items()]
    heapify(heap)
    learned: list[Pair] = []
    while heap and len(learned) < merges:
        count, best = heappop(heap)
        if counts[best] != -count:
            continue
        learned.append(best)
        joined = pieces.setdefault(spelt[best[0]] + spelt[best[1]], len(pieces))  # a-bc may be ab-c once more
        spelt += [spelt[best[0]] + spelt[best[1]]] * (joined == len(spelt))
        changed: set[Pair] = set()
        for i in holders.pop(best):
            before, cut[i] = cut[i], merge_pair(cut[i], best, joined)
            counts.subtract({pair: n * times[i] for pair, n in Counter(pairwise(before)).items()})
            for pair in pairwise(cut[i]):
                counts[pair] += times[i]
                holders[pair].add(i)
            changed.update(pairwise(before), pairwise(cut[i]))
        for pair in changed:
            if counts[pair]:
                heappush(heap, (-counts[pair], pair))
    return learned


# --- Special tokens --------------------------------------------------------------------------------------------


def allowed_and_refused(
    known: Collection[str], allowed_special: Special, disallowed_special: Special
) -> tuple[list[str], list[str]]:
    """Which special tokens a text may hold, and which it must not spell; the longest first.

    Raises:
        ValueError: one of them is not known.
    """
    chosen = set(known) if allowed_special == "all" else set(allowed_special)
    refused = set(known) - chosen if disallowed_special == "all" else set(disallowed_special)
    if unknown := sorted((chosen | refused) - set(known)):
        raise ValueError(f"there is no special token {unknown[0]!r}, only {', '.join(known) or 'none at all'}")
    return sorted(chosen, key=len, reverse=True), sorted(refused - chosen, key=len, reverse=True)


def refuse_special(text: str, refused: Iterable[str]) -> None:
    """Refuse a text that spells a special token: whoever wrote it could otherwise end a document, or seem to.

    Raises:
        ValueError: it says how to take it all the same.
    """
    for token in refused:
        if token in text:
            raise ValueError(
                f"the text spells the special token {token!r}: give allowed_special={{{token!r}}} to take it for one, "
                "or disallowed_special=() to cut it like any other text"
            )


def between_special(text: str, allowed: Sequence[str]) -> list[str]:
    """A text cut at its special tokens: plain text, special token, plain text, and so on."""
    return re.split(f"({'|'.join(map(re.escape, allowed))})", text) if allowed else [text]


def in_whole_words(texts: Iterable[str], allowed: Sequence[str] = (), refused: Sequence[str] = ()) -> Iterator[str]:
    """A text that comes in parts, cut anywhere, as one whose parts are whole words: each can be encoded by itself.

    No more is held back than a word that may still grow, and the characters after it that decide where it ends.

    Raises:
        TypeError: one string in place of its parts.
        ValueError: the text spells a special token that is refused.
    """
    require_texts(texts)
    ahead = LOOKED_AHEAD + max(map(len, [*allowed, *refused]), default=0)
    waiting = ""
    for text in texts:
        waiting += text
        refuse_special(waiting, refused)
        end, begin = 0, 0
        for part in between_special(waiting, allowed):
            for word in [part] if part in allowed else byte_words(part):
                begin += len(word)
                if begin <= len(waiting) - ahead:
                    end = begin
        if end:
            yield waiting[:end]
            waiting = waiting[end:]
    if waiting:
        yield waiting


# --- A vocabulary ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ByteVocabulary:
    """What was learned: pieces of bytes, a piece's id being its index, then the special tokens.

    Attributes:
        merges: the pairs of ids, in the order they were joined.
        special: what stands for no text, such as <|endoftext|>.
    """

    merges: tuple[Pair, ...]
    special: tuple[str, ...] = ()

    @classmethod
    def learn(cls, texts: Iterable[str], merges: int, special: Sequence[str] = ()) -> ByteVocabulary:
        """Learn this many pairs from texts; fewer if every word is a single piece before.

        Raises:
            TypeError: one string in place of texts.
            ValueError: `merges` is negative, or a text is no Unicode.
        """
        require_at_least(0, merges=merges)
        require_texts(texts)
        words: Counter[str] = Counter()
        for text in texts:
            require_unicode(text)
            words.update(byte_words(text))
        return cls(tuple(learn_byte_pairs(words, merges)), tuple(special))

    @cached_property
    def pieces(self) -> tuple[bytes, ...]:
        """The bytes of each piece, without the special tokens."""
        pieces = list(BYTES)
        known = set(pieces)
        for left, right in self.merges:
            piece = pieces[left] + pieces[right]
            pieces += [piece] * (piece not in known)
            known.add(piece)
        return tuple(pieces)

    def __len__(self) -> int:
        return len(self.pieces) + len(self.special)

    @cached_property
    def ids(self) -> dict[bytes | str, int]:
        """The id of each piece and of each special token."""
        pieces: list[bytes | str] = [*self.pieces, *self.special]
        return {piece: i for i, piece in enumerate(pieces)}

    @cached_property
    def ranks(self) -> dict[Pair, int]:
        """When each pair was learned: the smaller, the earlier."""
        return {pair: rank for rank, pair in enumerate(self.merges)}

    @cached_property
    def cut(self) -> Callable[[str], list[int]]:
        """A word's ids: its bytes, joined pair by pair, always the one of the lowest rank; frequent words once."""

        @lru_cache(maxsize=2**16)
        def cut(word: str) -> list[int]:
            ids = byte_ids(word)
            while known := [pair for pair in pairwise(ids) if pair in self.ranks]:
                best = min(known, key=self.ranks.__getitem__)
                ids = merge_pair(ids, best, self.ids[self.pieces[best[0]] + self.pieces[best[1]]])
            return ids

        return cut

    def encode(self, text: str, *, allowed_special: Special = (), disallowed_special: Special = "all") -> list[int]:
        """The ids of a text's pieces.

        Args:
            text: any Unicode.
            allowed_special: special tokens that become one id where the text spells them; "all" for all of them.
            disallowed_special: those that the text must not spell; "all" for all that are not allowed. What is in
                neither is cut like any other text.

        Raises:
            ValueError: the text spells a special token that is not allowed, or is no Unicode.
        """
        require_unicode(text)
        allowed, refused = allowed_and_refused(self.special, allowed_special, disallowed_special)
        refuse_special(text, refused)
        ids: list[int] = []
        for part in between_special(text, allowed):
            ids += [self.ids[part]] if part in allowed else [i for word in byte_words(part) for i in self.cut(word)]
        return ids

    def encode_stream(
        self, texts: Iterable[str], *, allowed_special: Special = (), disallowed_special: Special = "all"
    ) -> Iterator[int]:
        """The ids of a text that comes in parts, such as an open file's lines: the same as of all of it at once.

        Only a word that may still grow is kept, so that a text of any length needs little memory.

        Raises:
            TypeError, ValueError: as for `encode`; one string in place of its parts.
        """
        for words in in_whole_words(texts, *allowed_and_refused(self.special, allowed_special, disallowed_special)):
            yield from self.encode(words, allowed_special=allowed_special, disallowed_special=disallowed_special)

    def decode(self, ids: Sequence[int]) -> str:
        """The text that these ids spell; bytes that are no UTF-8 become �.

        Raises:
            ValueError: there is no piece with one of these ids.
        """
        check_ids(ids, len(self))
        plain = len(self.pieces)
        spelt = [self.pieces[i] if i < plain else self.special[i - plain].encode() for i in ids]
        return b"".join(spelt).decode("utf-8", errors="replace")
