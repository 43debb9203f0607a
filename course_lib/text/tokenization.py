"""Text to numbers and back: words between spaces, each with an id; and how two texts become one input.

`course_lib.text.subwords` cuts words into smaller pieces, `course_lib.text.fast_subwords` does so at speed. All encode
and decode through the same interface, `Vocabulary`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import dropwhile, takewhile
from typing import Protocol

PADDING, START, END, UNKNOWN = "<pad>", "<s>", "<e>", "<unk>"
SPECIAL = (PADDING, START, END, UNKNOWN)
PADDING_ID, START_ID, END_ID, UNKNOWN_ID = range(len(SPECIAL))


class Vocabulary(Protocol):
    """Turns text into ids and back."""

    def __len__(self) -> int:
        """Return the number of ids: they are from 0 to this, exclusive."""

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text, without special tokens around it."""

    def decode(self, ids: Sequence[int], *, stop: bool = True) -> str:
        """Return the text of these ids up to the first end, without start and padding; with `stop=False`, all of it."""


@dataclass(frozen=True)
class WordVocabulary:
    """A model's words, beginning with the four special ones; a word's id is its index.

    Attributes:
        words: every word, beginning with `SPECIAL`.
    """

    words: tuple[str, ...]

    def __post_init__(self) -> None:
        check_tokens(self.words)

    @classmethod
    def from_sentences(cls, sentences: Iterable[str]) -> WordVocabulary:
        """Collect the words of the sentences, most frequent first, and alphabetically if equally frequent."""
        counts = Counter(word for sentence in sentences for word in sentence.split())
        words = sorted(counts.keys() - set(SPECIAL), key=lambda word: (-counts[word], word))
        return cls(SPECIAL + tuple(words))

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def ids(self) -> dict[str, int]:
        """The id of each word."""
        return {word: i for i, word in enumerate(self.words)}

    def encode(self, text: str) -> list[int]:
        """Return the ids of a sentence's words, without <s> and <e>; unknown words get the id of <unk>."""
        return [self.ids.get(word, UNKNOWN_ID) for word in text.split()]

    def decode(self, ids: Sequence[int], *, stop: bool = True) -> str:
        """Return the words up to the first <e>, without <s> and padding; with `stop=False`, all of them.

        Raises:
            ValueError: there is no word with one of these ids.
        """
        check_ids(ids, len(self))
        if stop:
            ids = [i for i in before_end(ids, {END_ID}) if i not in (START_ID, PADDING_ID)]
        return " ".join(self.words[i] for i in ids)


@dataclass(frozen=True)
class CharacterVocabulary:
    """A model's characters, in order; a character's id is its index. There are no special tokens.

    Attributes:
        characters: each once.
    """

    characters: str

    def __post_init__(self) -> None:
        if len(set(self.characters)) != len(self.characters):
            raise ValueError("a vocabulary lists each character once")

    @classmethod
    def from_text(cls, text: str) -> CharacterVocabulary:
        """Collect the characters of the text, in the order of their code points."""
        return cls("".join(sorted(set(text))))

    def __len__(self) -> int:
        return len(self.characters)

    @cached_property
    def ids(self) -> dict[str, int]:
        """The id of each character."""
        return {character: i for i, character in enumerate(self.characters)}

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text's characters.

        Raises:
            ValueError: a character is unknown; nothing could stand in for it.
        """
        unknown = sorted(set(text) - self.ids.keys())
        if unknown:
            raise ValueError(f"the text holds {unknown[0]!r}, which is not among the {len(self)} known characters")
        return [self.ids[character] for character in text]

    def decode(self, ids: Sequence[int], *, stop: bool = True) -> str:
        """Return all the characters, since no character ends a text.

        Raises:
            ValueError: there is no character with one of these ids.
        """
        check_ids(ids, len(self))
        return "".join(self.characters[i] for i in ids)


@dataclass(frozen=True)
class JoinedPair:
    """One or two texts as one input, as BERT reads them.

    Attributes:
        ids: [CLS] first [SEP] second [SEP]; without a second, [CLS] first [SEP].
        segments: for each id, 0 up to the first [SEP] and 1 after it.
    """

    ids: list[int]
    segments: list[int]


def join_pair(
    first: Sequence[int],
    second: Sequence[int] | None = None,
    *,
    cls_id: int,
    sep_id: int,
    max_length: int | None = None,
) -> JoinedPair:
    """Join one or two encoded texts: Devlin et al. (2019), section 3.

    Args:
        first: ids of the first text.
        second: ids of the second text; None if there is only one.
        cls_id: the id of [CLS], whose vector stands for the whole input.
        sep_id: the id of [SEP], which ends each text.
        max_length: the most ids in all. Until they fit, the longer text loses its last id (the second text if both are
            equally long), as in BERT's own code.

    Raises:
        ValueError: even the special ids alone do not fit.
    """
    ours, theirs = list(first), list(second or ())
    special = 2 if second is None else 3
    if max_length is not None:
        if max_length < special:
            raise ValueError(f"max_length must leave room for {special} special tokens, got {max_length}")
        while len(ours) + len(theirs) > max_length - special:
            (ours if len(ours) > len(theirs) else theirs).pop()
    ids = [cls_id, *ours, sep_id]
    if second is None:
        return JoinedPair(ids, [0] * len(ids))
    return JoinedPair([*ids, *theirs, sep_id], [0] * len(ids) + [1] * (len(theirs) + 1))


def check_tokens(tokens: Sequence[str]) -> None:
    """Refuse a list of tokens that does not begin with `SPECIAL`, or that repeats one.

    Raises:
        ValueError: the message says which.
    """
    if tuple(tokens[: len(SPECIAL)]) != SPECIAL:
        raise ValueError(f"a vocabulary must begin with {' '.join(SPECIAL)}, not {' '.join(tokens[: len(SPECIAL)])}")
    if len(set(tokens)) != len(tokens):
        repeated = next(token for token, times in Counter(tokens).items() if times > 1)
        raise ValueError(f"a vocabulary lists each word once; {repeated!r} is there more than once")


def check_ids(ids: Sequence[int], size: int) -> None:
    """Refuse ids outside a vocabulary of this size.

    Raises:
        ValueError: the message names the first.
    """
    for i in ids:
        if not 0 <= i < size:
            raise ValueError(f"id {i} is outside the vocabulary: expected 0 to {size - 1}")


def before_end(ids: Iterable[int], ends: Collection[int]) -> list[int]:
    """Return the ids up to the first end token, skipping end tokens before everything else."""
    text = dropwhile(lambda i: i in ends, ids)
    return list(takewhile(lambda i: i not in ends, text))
