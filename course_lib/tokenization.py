"""Text to numbers and back: words between spaces, each with an id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

PADDING, START, END, UNKNOWN = "<pad>", "<s>", "<e>", "<unk>"
SPECIAL = (PADDING, START, END, UNKNOWN)
PADDING_ID, START_ID, END_ID, UNKNOWN_ID = range(len(SPECIAL))


@dataclass(frozen=True)
class WordVocabulary:
    """The words that a model knows, the four special ones first; a word's id is its index.

    Attributes:
        words: every word, beginning with `SPECIAL`.
    """

    words: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.words[: len(SPECIAL)] != SPECIAL:
            raise ValueError(f"a vocabulary must begin with {' '.join(SPECIAL)}, not {' '.join(self.words[:4])}")
        if len(set(self.words)) != len(self.words):
            repeated = next(word for word, times in Counter(self.words).items() if times > 1)
            raise ValueError(f"a vocabulary lists each word once; {repeated!r} is there more than once")

    @classmethod
    def from_sentences(cls, sentences: Iterable[str]) -> WordVocabulary:
        """Every word of the sentences, the most frequent first, equally frequent ones in alphabetical order."""
        counts = Counter(word for sentence in sentences for word in sentence.split())
        words = sorted(counts.keys() - set(SPECIAL), key=lambda word: (-counts[word], word))
        return cls(SPECIAL + tuple(words))

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def ids(self) -> dict[str, int]:
        """The id of each word."""
        return {word: i for i, word in enumerate(self.words)}

    def encode(self, sentence: str) -> list[int]:
        """The ids of a sentence's words, without <s> and <e>; <unk>'s for words that are not known."""
        return [self.ids.get(word, UNKNOWN_ID) for word in sentence.split()]

    def decode(self, ids: Sequence[int]) -> str:
        """The words up to the first <e>, without <s> and padding."""
        words = []
        for i in ids:
            if i == END_ID:
                break
            if i not in (START_ID, PADDING_ID):
                words.append(self.words[i])
        return " ".join(words)
