"""Two widgets to play with attention: a query to drag, and the softmax of larger and larger scores.

Their results are computed on the page; those in the stills were computed once.
"""

from __future__ import annotations

from typing import Final

from course_lib.show.interactive import interactive
from course_lib.show.stills import still_table, still_text
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
    interactive(
        "query_explorer",
        {"keys": KEYS, "vectors": MATRICES["k"], "query": MATRICES["q"][0], "reach": 6},
        still=still_table(caption, columns, rows),
        alt="The three keys of worked example A as points in a plane, and a query as an arrow that can be moved.",
        text=still_text(caption, columns, rows),
    )


def softmax_gradient() -> None:
    """Show alpha and softmax's derivative for one row of scores, by the divisor, the temperature and d_head."""
    caption = "One row of scores, d_head = 64, divided in three ways: alpha, and the size of softmax's derivative."
    columns = [*(f"key {index}" for index in range(len(PRODUCTS))), "size of ∂alpha / ∂scaled"]
    rows = [(f"divided {how}", [f"{n:.3f}" for n in (*alpha, size)]) for how, (alpha, size) in AT_64.items()]
    interactive(
        "softmax_gradient",
        {
            "products": PRODUCTS,
            "d_heads": D_HEADS,
            "divisors": ["1 (not at all)", "√d_head", "d_head"],
            "start": D_HEADS.index(64),
        },
        still=still_table(caption, columns, rows),
        alt="Bars of alpha and the matrix of softmax's derivative, for scores divided by 1, √d_head or d_head.",
        text=still_text(caption, columns, rows),
    )
