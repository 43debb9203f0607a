"""Byte-pair encoding: pairs learned from a reader's own text, and a text cut by learned pairs, one pair at a time.

The learning itself is only in the script, since a lesson asks for it.
"""

from collections.abc import Callable, Sequence
from typing import Final

from course_lib.show.figures import pictured
from course_lib.show.interactive import interactive
from course_lib.show.pictures.pieces import draw_piece_rows
from course_lib.show.stills import interactive_table

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
    interactive_table(
        "merging",
        {"text": " ".join(words), "mark": _MARK},
        *(caption, columns, rows),
        alt="A text cut into characters, whose most frequent pairs of neighbors are merged one after the other; their "
        "counts as bars, and how many tokens there are, next to the characters and the words.",
    )


Pair = tuple[str, str]


def cutting(
    cut: Callable[[str, Sequence[Pair]], Sequence[str]],
    text: str,
    merges: Sequence[Pair],
    numbers: Sequence[int],
    *,
    title: str,
    alt: str,
) -> None:
    """Show how more and more learned pairs cut a text, with a field for other texts.

    Args:
        cut: cuts a text by these pairs; most likely the student's own function.
        text: the text in the picture.
        merges: the pairs, in the order of learning.
        numbers: the numbers of pairs to use, with a row of the picture for each.
        title: what the picture shows.
        alt: one sentence for readers who cannot see it.
    """
    rows = [(f"{number} pairs", cut(text, merges[:number])) for number in numbers]
    interactive(
        "cutting",
        {"text": text, "merges": [list(pair) for pair in merges], "mark": _MARK},
        still=pictured(draw_piece_rows(rows, title), alt).html(),
        alt=alt,
        text="\n".join([alt, *(f"{label}: {' '.join(pieces)}" for label, pieces in rows)]),
    )
