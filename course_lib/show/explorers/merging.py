"""Byte-pair encoding on a reader's own text, one pair at a time.

The learning itself is only in the script, since a lesson asks for it.
"""

from __future__ import annotations

from typing import Final

from course_lib.show.interactive import interactive
from course_lib.show.stills import still_table, still_text

_MARK: Final = "▁"
"""The mark at the beginning of every word."""


def merging(text: str) -> None:
    """Show how pieces are learned, one merged pair after another, from a text that the reader can change.

    Args:
        text: one or more words, on one line.

    Raises:
        ValueError: there is no word.
    """
    words = text.split()
    if not words:
        raise ValueError("pieces are learned from a text of at least one word")
    characters = [character for word in words for character in _MARK + word]
    caption, columns = " ".join(_MARK + word for word in words), ["in the text", "different ones"]
    rows = [(name, [len(all_), len(set(all_))]) for name, all_ in (("characters", characters), ("words", words))]
    interactive(
        "merging",
        {"text": " ".join(words), "mark": _MARK},
        still=still_table(caption, columns, rows),
        alt="A text cut into characters, whose most frequent pairs of neighbors are merged one after the other; their "
        "counts as bars, and how many tokens there are, next to the characters and the words.",
        text=still_text(caption, columns, rows),
    )
