"""Word vectors in a plane, one of which can be moved: which is nearest, by dot product and by cosine?

Both are computed on the page; the still has the vectors.
"""

from __future__ import annotations

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from course_lib.show.interactive import interactive
from course_lib.show.stills import still_table, still_text


def neighbours(words: Sequence[str], vectors: Float[Tensor, "tokens 2"], chosen: int) -> None:
    """Show words in their plane, and one word's neighbors, ranked by dot product and by cosine.

    Args:
        words: a name for each vector.
        vectors: float [tokens, 2].
        chosen: the word that can be moved first, counted from 0.

    Raises:
        ValueError: there is not a vector of two components for each word, or there are fewer than two words.
        IndexError: there is no such word.
    """
    if len(words) < 2 or tuple(vectors.shape) != (len(words), 2):
        raise ValueError(f"{len(words)} words need vectors of shape [{len(words)}, 2], not {list(vectors.shape)}")
    if not 0 <= chosen < len(words):
        raise IndexError(f"there is no word {chosen} among {len(words)}")
    caption = "Word vectors of two components. The script moves one, and ranks the others by how near they are to it."
    points = [[round(x, 2), round(y, 2)] for x, y in vectors.tolist()]
    rows = list(zip(words, points, strict=True))
    interactive(
        "neighbours",
        {"words": list(words), "vectors": points, "chosen": chosen, "low": -1, "high": 3},
        still=still_table(caption, ["dim 0", "dim 1"], rows),
        alt=f"Vectors of {len(words)} words in a plane; one can be moved, and its nearest words follow.",
        text=still_text(caption, ["dim 0", "dim 1"], rows),
    )
