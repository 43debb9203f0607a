"""How a model's next words are chosen: by sampling from a distribution, or by beam search on a tree.

What remains of a distribution is computed only in the script, since a lesson asks for it.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

from jaxtyping import Float
from torch import Tensor

from course_lib.show.interactive import interactive
from course_lib.show.stills import interactive_table


def sampling(words: Sequence[str], probabilities: Float[Tensor, "tokens"]) -> None:
    """Show how temperature, top-k and the nucleus change a distribution, and draw words from the result.

    Args:
        words: the possible next words.
        probabilities: their probabilities, all above 0.

    Raises:
        ValueError: there are no words, another number of probabilities, or one that is not above 0.
    """
    likely = probabilities.tolist()
    if not words or len(words) != len(likely) or min(likely) <= 0:
        raise ValueError("sampling needs a probability above 0 for each of at least one word")
    listed = [f"{word} {p:.3f}" for word, p in zip(words, likely, strict=True)]
    interactive(
        "sampling",
        {"words": list(words), "probabilities": likely},
        still=f"<p>What may come next:</p><ul>{''.join(f'<li>{escape(line)}</li>' for line in listed)}</ul>",
        alt=f"Probabilities of {len(words)} words, and what temperature, top-k and the nucleus leave of them.",
        text=", ".join(listed),
    )


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
    interactive_table(
        "searching",
        {"source": source, "tree": _below((), branches), "end": "<e>", "alpha": _ALPHA},
        *(f"What may follow, while “{source}” is translated:", ["next"], rows),
        alt=f"A tree of the words that may follow each other in a translation of “{source}”, and a beam search in it.",
    )


def _below(words: Words, branches: Mapping[Words, Mapping[str, float]]) -> list[list[Any]]:
    """Return the words that may follow, most probable first, with their probabilities and what follows, if known."""
    following = sorted(branches[words].items(), key=lambda pair: -pair[1])
    return [
        [word, float(f"{p:.4g}"), *([_below((*words, word), branches)] if (*words, word) in branches else [])]
        for word, p in following
        if p > 0
    ]
