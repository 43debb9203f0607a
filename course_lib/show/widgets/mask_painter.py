"""A mask to paint, and the cheating experiment: which outputs change when the last word is replaced?"""

from __future__ import annotations

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from course_lib.show.interactive import interactive
from course_lib.show.stills import still_table, still_text


def mask_painter(words: Sequence[str], x: Float[Tensor, "tokens d_model"], other: Float[Tensor, "d_model"]) -> None:
    """Show self-attention with a mask whose cells can be painted.

    Args:
        words: the words of a sentence.
        x: float [tokens, d_model], their vectors, which are queries, keys and values.
        other: float [d_model], the vector that can replace the last word's.

    Raises:
        ValueError: there is not a vector for each word.
    """
    if x.ndim != 2 or len(words) != len(x) or other.shape != x.shape[1:]:
        raise ValueError(f"{len(words)} words need vectors of shape [{len(words)}, d_model], not {list(x.shape)}")
    caption = "A causal mask: each word may look at itself and at what comes before it. Its vector is on the right."
    rows = [
        (word, [*("✓" if column <= row else "·" for column in range(len(words))), str(x[row].tolist())])
        for row, word in enumerate(words)
    ]
    interactive(
        "mask_painter",
        {
            "words": list(words),
            "x": x.tolist(),
            "other": other.tolist(),
            "presets": ["causal", "everything", "only itself"],
        },
        still=still_table(caption, [*words, "vector"], rows),
        alt=f"A mask for {' '.join(words)} that can be painted, with alpha and the outputs that follow from it.",
        text=still_text(caption, [*words, "vector"], rows),
    )
