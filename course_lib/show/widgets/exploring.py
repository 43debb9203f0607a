"""Widgets to play with vectors and attention: a query to drag, a softmax to sharpen, a mask to paint, a word to move.

Their results are computed on the page; those in the stills were computed once.
"""

from collections.abc import Sequence
from typing import Final

from jaxtyping import Float
from torch import Tensor

from course_lib.show.stills import interactive_table
from course_lib.show.widgets.stepper import KEYS, MATRICES, QUERIES

PRODUCTS: Final = (1.3, 0.4, -0.2, -0.9, 0.1)
"""Dot products of a query and five keys, as in one dimension: of variance about 1."""

D_HEADS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)

AT_64: Final = {
    "by 1": ((0.999, 0.001, 0.000, 0.000, 0.000), 0.002),
    "by √d_head": ((0.490, 0.199, 0.109, 0.054, 0.148), 0.395),
    "by d_head": ((0.230, 0.206, 0.191, 0.175, 0.198), 0.400),
}
"""alpha, and the size of its derivative, for products in 64 dimensions with three divisors."""


def query_explorer() -> None:
    """Show the keys of worked example A in their plane, with a query to drag among them."""
    caption = "Worked example A: each key, which is its value too, and alpha for the queries die and Katze."
    columns = ["dim 0", "dim 1", *(f"alpha of {query}" for query in QUERIES)]
    rows = [
        (key, [*MATRICES["k"][index], *(f"{row[index]:.4f}" for row in MATRICES["alpha"])])
        for index, key in enumerate(KEYS)
    ]
    interactive_table(
        "query_explorer",
        {"keys": KEYS, "vectors": MATRICES["k"], "query": MATRICES["q"][0], "reach": 6},
        *(caption, columns, rows),
        alt="The three keys of worked example A as points in a plane, and a query as an arrow that can be moved.",
    )


def softmax_gradient() -> None:
    """Show alpha and softmax's derivative for one row of scores, by the divisor, the temperature and d_head."""
    caption = "One row of scores, d_head = 64, divided in three ways: alpha, and the size of softmax's derivative."
    columns = [*(f"key {index}" for index in range(len(PRODUCTS))), "size of ∂alpha / ∂scaled"]
    rows = [(f"divided {how}", [f"{n:.3f}" for n in (*alpha, size)]) for how, (alpha, size) in AT_64.items()]
    interactive_table(
        "softmax_gradient",
        {
            "products": PRODUCTS,
            "d_heads": D_HEADS,
            "divisors": ["1 (not at all)", "√d_head", "d_head"],
            "start": D_HEADS.index(64),
        },
        *(caption, columns, rows),
        alt="Bars of alpha and the matrix of softmax's derivative, for scores divided by 1, √d_head or d_head.",
    )


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
    presets = ["causal", "everything", "only itself"]
    interactive_table(
        "mask_painter",
        {"words": list(words), "x": x.tolist(), "other": other.tolist(), "presets": presets},
        *(caption, [*words, "vector"], rows),
        alt=f"A mask for {' '.join(words)} that can be painted, with alpha and the outputs that follow from it.",
    )


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
    interactive_table(
        "neighbours",
        {"words": list(words), "vectors": points, "chosen": chosen, "low": -1, "high": 3},
        *(caption, ["dim 0", "dim 1"], rows),
        alt=f"Vectors of {len(words)} words in a plane; one can be moved, and its nearest words follow.",
    )
