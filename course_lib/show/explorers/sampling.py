"""A distribution over the next word, where the reader sets temperature, top-k and the nucleus, and draws words.

The remaining distribution is computed only in the script, since a lesson asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from jaxtyping import Float
from torch import Tensor

from course_lib.show.interactive import interactive


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
