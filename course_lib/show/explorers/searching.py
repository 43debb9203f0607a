"""Beam search that grows on a tree of next words, step by step, with other branches to take by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from course_lib.show.interactive import interactive
from course_lib.show.stills import still_table, still_text

Words = tuple[str, ...]

_ALPHA: Final = 0.6
"""The exponent of the length penalty, as in the transformer paper."""
_SHOWN: Final = 30
"""The number of beginnings in the still picture."""


def searching(branches: Mapping[Words, Mapping[str, float]], source: str) -> None:
    """Show how beam search goes through a tree; the reader chooses its width, a length penalty and branches.

    Args:
        branches: maps the words so far, without <s>, to the probabilities of the words that may follow. Only the most
            probable are needed: as many as the search has beams, at most 4. Where there is no entry, the search ends.
        source: the sentence to translate.

    Raises:
        ValueError: there is no entry for the first word.
    """
    if () not in branches:
        raise ValueError("searching needs the probabilities of the first word: an entry for ()")
    rows = [
        (" ".join(("<s>", *words)), [", ".join(f"{word} {p:.2f}" for word, p in following.items())])
        for words, following in branches.items()
    ][:_SHOWN]
    caption = f"What may follow, while “{source}” is translated:"
    interactive(
        "searching",
        {"source": source, "tree": _below((), branches), "end": "<e>", "alpha": _ALPHA},
        still=still_table(caption, ["next"], rows),
        alt=f"A tree of the words that may follow each other in a translation of “{source}”, and a beam search in it.",
        text=still_text(caption, ["next"], rows),
    )


def _below(words: Words, branches: Mapping[Words, Mapping[str, float]]) -> list[list[Any]]:
    """Return the words that may follow, most probable first, with their probabilities and what follows, if known."""
    following = sorted(branches[words].items(), key=lambda pair: -pair[1])
    return [
        [word, float(f"{p:.4g}"), *([_below((*words, word), branches)] if (*words, word) in branches else [])]
        for word, p in following
        if p > 0
    ]
