"""Beam search that grows on a tree of next words, step by step, with other branches to take by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from course_lib.show.interactive import interactive
from course_lib.show.stills import still_table, still_text

Words = tuple[str, ...]

_ALPHA: Final = 0.6
"""Of the length penalty: the transformer paper's."""
_SHOWN: Final = 30
"""How many beginnings the still picture has."""


def searching(branches: Mapping[Words, Mapping[str, float]], source: str) -> None:
    """Show how a beam search goes through a tree; the reader chooses its width, a length penalty and the branches.

    Args:
        branches: from the words so far, without <s>, to the probabilities of those that may follow, of which only the
            likeliest are needed: as many as the search is to have beams, at most 4. Where there is no entry, nothing is
            known, and the search ends there.
        source: the sentence that is translated.

    Raises:
        ValueError: nothing is known of the first word.
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
    """The words that may follow, the likeliest first: each with its probability and, where known, what follows it."""
    following = sorted(branches[words].items(), key=lambda pair: -pair[1])
    return [
        [word, float(f"{p:.4g}"), *([_below((*words, word), branches)] if (*words, word) in branches else [])]
        for word, p in following
        if p > 0
    ]
