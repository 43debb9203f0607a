"""Byte-pair encoding on a reader's own text, one pair at a time.

The learning itself is in the script alone, since a lesson asks for it.
"""

from __future__ import annotations

from html import escape

from course_lib.show.interactive import interactive


def merging(text: str, *, mark: str = "▁") -> None:
    """Show how pieces are learned from a text, which the reader can change, one merged pair after the other.

    Args:
        text: one or more words, in one line.
        mark: what stands at the beginning of every word.

    Raises:
        ValueError: there is no word.
    """
    words = text.split()
    if not words:
        raise ValueError("pieces are learned from a text of at least one word")
    characters = [character for word in words for character in mark + word]
    rows = (("characters", characters), ("words", words))
    lines = "".join(f"<tr><th>{name}</th><td>{len(all_)}</td><td>{len(set(all_))}</td></tr>" for name, all_ in rows)
    interactive(
        "merging",
        {"text": " ".join(words), "mark": mark},
        still=f"<p>{escape(' '.join(mark + word for word in words))}</p>"
        f"<table><tr><td></td><th>in the text</th><th>different ones</th></tr>{lines}</table>",
        alt="A text cut into characters, whose most frequent pairs of neighbours are merged one after the other; their "
        "counts as bars, and how many tokens there are, next to the characters and the words.",
        text="\n".join(f"{name}: {len(all_)} in the text, {len(set(all_))} different" for name, all_ in rows),
    )
