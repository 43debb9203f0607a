"""What a language model expects: under a cat that covers one word of a sentence, and after a beginning."""

import textwrap
from collections.abc import Callable, Sequence
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


_WIDTH = 84
"""Longer lines would be broken inside a word in a narrow window."""


def prompts(go_on: Callable[[str], str], beginnings: Sequence[str], times: int = 3) -> None:
    """Show how a model continues some beginnings.

    Args:
        go_on: returns the whole text for a beginning, or a sentence that says why not.
        beginnings: at least one.
        times: how often the model continues each.

    Raises:
        ValueError: there is no beginning.
    """
    if not beginnings:
        raise ValueError("a model continues a beginning: give at least one")
    texts = [[go_on(beginning).removeprefix(beginning).strip() for _ in range(times)] for beginning in beginnings]
    whole = [f"{beginning} … {text}" for beginning, [text, *_more] in zip(beginnings, texts, strict=True)]
    interactive(
        "prompts",
        {"beginnings": list(beginnings), "texts": [[text.split() for text in drawn] for drawn in texts]},
        still="".join(f"<p>{escape(text)}</p>" for text in whole),
        alt="Beginnings, and how the model continues them.",
        text="\n\n".join(textwrap.fill(text, _WIDTH) for text in whole),
    )
