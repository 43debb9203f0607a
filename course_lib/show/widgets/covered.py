"""A sentence with a cat on one of its words, and a model's guesses of the word below."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from course_lib.show.interactive import interactive

Guesses = Sequence[tuple[str, float]]
"""Words with their probabilities, the most probable first."""

CAT = "🐈"


def covered(words: Sequence[str], guesses: Sequence[Guesses]) -> None:
    """Show a sentence to cover word by word.

    Args:
        words: the sentence.
        guesses: for each word, what may be under the cat there, most probable first.

    Raises:
        ValueError: there are no words, or a word has no guesses.
    """
    if not words or len(words) != len(guesses):
        raise ValueError(f"{len(words)} words need guesses for each of them, not for {len(guesses)}")
    lines = [_line(words, position, found) for position, found in enumerate(guesses)]
    rows = "".join(f"<tr><td>{escape(sentence)}</td><td>{escape(said)}</td></tr>" for sentence, said in lines)
    interactive(
        "covered",
        {"words": list(words), "guesses": guesses, "position": min(2, len(words) - 1), "cat": CAT},
        still=f"<table>{rows}</table>",
        alt="A sentence with a cat on one of its words, and what the model says is under it.",
        text="\n".join(f"{sentence.replace(CAT, '[MASK]')}: {said}" for sentence, said in lines),
    )


def _line(words: Sequence[str], position: int, guesses: Guesses) -> tuple[str, str]:
    """Return the sentence with this word covered, and the guesses."""
    sentence = " ".join(CAT if i == position else word for i, word in enumerate(words))
    return sentence, ", ".join(f"{word} {p:.0%}" for word, p in guesses)
