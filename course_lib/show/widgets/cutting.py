"""A text cut into pieces, with a field to type another one, and the learned pairs to add one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from course_lib.show.figures import pictured
from course_lib.show.interactive import interactive
from course_lib.show.pictures.pieces import draw_piece_rows

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
        {"text": text, "merges": [list(pair) for pair in merges], "mark": "▁"},
        still=pictured(draw_piece_rows(rows, title), alt).html(),
        alt=alt,
        text="\n".join([alt, *(f"{label}: {' '.join(pieces)}" for label, pieces in rows)]),
    )
