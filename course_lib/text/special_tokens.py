"""Special tokens that a text spells: allowed, refused or plain text, as the caller decides.

A special token such as <|endoftext|> tells a model something that a text should not be able to tell it. Where a text
spells one, the caller decides, as in OpenAI's `tiktoken`: it becomes the token, it is refused, or it is cut like any
other text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from course_lib.ground.validation import check_texts, check_unicode

Choice = Collection[str] | Literal["all"]
"""Some special tokens, or all of a vocabulary."""

Part = str | int
"""A part of a text: plain text, or the id of a special token."""


def without_special(texts: Iterable[str], special: Collection[str]) -> Iterator[str]:
    """Yield the parts of texts before, between and after the special tokens that they spell.

    A vocabulary is learned from these parts, because a special token is not text: no merge may be inside it or across
    it.

    Raises:
        TypeError: given one string instead of several texts.
        ValueError: a text is not valid Unicode.
    """
    check_texts(texts)
    tokens = SpecialTokens(dict.fromkeys(special, 0), frozenset())
    for text in texts:
        yield from (part for part in tokens.split(text) if isinstance(part, str))


@dataclass(frozen=True)
class SpecialTokens:
    """The special tokens to look for in texts; any others are plain text.

    Attributes:
        allowed: the spellings that become a token, with its id.
        refused: the tokens that no text may spell.
    """

    allowed: Mapping[str, int]
    refused: frozenset[str]

    @classmethod
    def choose(cls, ids: Mapping[str, int], allowed_special: Choice, disallowed_special: Choice) -> SpecialTokens:
        """Choose from a vocabulary the special tokens that the caller allows and refuses.

        Args:
            ids: every special token of the vocabulary with its id.
            allowed_special: the spellings that become a token, or "all".
            disallowed_special: the tokens to refuse; "all" for all that are not allowed.

        Raises:
            TypeError: given one string instead of several.
            ValueError: a token is not in the vocabulary.
        """
        for choice in (allowed_special, disallowed_special):
            if choice != "all":
                check_texts(choice)
                if unknown := [token for token in choice if token not in ids]:
                    raise ValueError(
                        f"{unknown[0]!r} is not a special token of this vocabulary, which has "
                        f"{', '.join(ids) or 'none'}"
                    )
        allowed = ids if allowed_special == "all" else {token: ids[token] for token in allowed_special}
        refused = ids.keys() - allowed.keys() if disallowed_special == "all" else disallowed_special
        return cls(allowed, frozenset(refused))

    def split(self, text: str) -> list[Part]:
        """Split a text at the special tokens, from the left; of several that begin at one place, take the longest.

        Raises:
            ValueError: the text is not valid Unicode, or spells a token that is refused.
        """
        check_unicode(text)
        return self._split(text, may_go_on=False)[0]

    def split_stream(self, chunks: Iterable[str]) -> Iterator[Part]:
        """Yield the parts of a text that comes in chunks; a possible beginning of a token waits for the next chunk.

        Raises:
            TypeError: a chunk is not a string.
            ValueError: a chunk is not valid Unicode, or the text spells a refused token; raised after the parts before
                it.
        """
        rest = ""
        for chunk in chunks:
            if not isinstance(chunk, str):
                raise TypeError(f"a text comes in strings, not in {type(chunk).__name__}; open a file as text")
            check_unicode(chunk)
            parts, rest = self._split(rest + chunk, may_go_on=True)
            yield from parts
        yield from self._split(rest, may_go_on=False)[0]

    def _split(self, text: str, *, may_go_on: bool) -> tuple[list[Part], str]:
        """Return the parts that are certain, and the rest of the text."""
        parts: list[Part] = []
        begin = 0
        while True:
            end = self._possible_token(text, begin) if may_go_on else len(text)
            found = self._pattern.search(text, begin)
            if not found or found.start() >= end:
                return [part for part in (*parts, text[begin:end]) if part != ""], text[end:]
            parts += [text[begin : found.start()], self._id(found.group())]
            begin = found.end()

    def _possible_token(self, text: str, begin: int) -> int:
        """Return the first position from which the text may begin a token; the text's length if there is none."""
        longest = max(map(len, self._tokens), default=0)
        for position in range(max(begin, len(text) - longest + 1), len(text)):
            rest = text[position:]
            if any(token.startswith(rest) and token != rest for token in self._tokens):
                return position
        return len(text)

    def _id(self, token: str) -> int:
        if token in self.refused:
            raise ValueError(
                f"the text spells the special token {token!r}: add it to allowed_special to have it become one id, "
                "or give disallowed_special=() to have it cut as plain text"
            )
        return self.allowed[token]

    @cached_property
    def _tokens(self) -> list[str]:
        return sorted({*self.allowed, *self.refused}, key=len, reverse=True)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        # Without tokens, use a pattern that never matches.
        return re.compile("|".join(map(re.escape, self._tokens)) or "(?!)")
