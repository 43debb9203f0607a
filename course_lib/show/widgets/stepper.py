"""The attention stepper: worked example A, in which every number shows how it was computed.

The matrices below were computed once and are stored as plain numbers; a test recomputes them with
`course_lib.attention`. The stepper only looks them up and writes out the arithmetic: by the formula, and with the
slide's error of dividing by the number of keys.

Slides S2, "Attention: Working Example": *the cat danced* -> *die Katze tanzte*.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from course_lib.show.interactive import Interactive
from course_lib.show.stills import still_table

Matrix = tuple[tuple[float, ...], ...]
Cell = tuple[str, int, int]
"""A matrix's name, a row and a column."""

QUERIES: Final = ("die", "Katze")
KEYS: Final = ("the", "cat", "danced")
DIMENSIONS: Final = ("0", "1")
D_HEAD: Final = 2

MATRICES: Final[dict[str, Matrix]] = {
    "q": ((-1.0, -2.5), (4.0, 3.0)),
    "k": ((-2.0, -4.0), (-2.5, -0.5), (4.5, 2.5)),
    "v": ((-2.0, -4.0), (-2.5, -0.5), (4.5, 2.5)),
    "scores": ((12.0, 3.75, -10.75), (-20.0, -11.5, 25.5)),
    "scaled": (
        (8.48528137423857, 2.651650429449553, -7.601397897755385),
        (-14.14213562373095, -8.131727983645296, 18.031222920256962),
    ),
    "alpha": (
        (0.9970810139033436, 0.0029188832063628254, 1.0289029364020516e-07),
        (1.0648487368256433e-14, 4.340850132620212e-12, 0.9999999999956486),
    ),
    "out": ((-2.001458772816273, -3.9897832399908215), (4.499999999969545, 2.4999999999869087)),
}
SLIDE: Final[dict[str, Matrix]] = {
    **{name: MATRICES[name] for name in ("q", "k", "v", "scores")},
    "scaled": ((4.0, 1.25, -3.5833333333333335), (-6.666666666666667, -3.8333333333333335, 8.5)),
    "alpha": (
        (0.9394640169995959, 0.06005792528744613, 0.000478057712957878),
        (2.589395168699016e-07, 4.402500007890718e-06, 0.9999953385604753),
    ),
    "out": ((-2.026921587509497, -3.7866898863597123), (4.499967499393085, 2.499985109393117)),
}
"""The same with the slide's error: the scores are divided by 3, the number of keys."""

COMPUTED: Final = ("scores", "scaled", "alpha", "out")
FORMULAS: Final = {
    "q": "the queries",
    "k": "the keys",
    "v": "the values",
    "scores": "q kᵀ",
    "scaled": "scores / √d_head",
    "alpha": "softmax(scaled), along the keys",
    "out": "alpha v",
}
_ALT: Final = "Worked example A: q, k, v, scores, scaled, alpha and out; each cell shows how it is computed."
_LABELS: Final = ("by the formula", f"with a slip: divided by {len(KEYS)}, the number of keys")
_NOTES: Final = (
    "Divided by √2 = √d_head, as in the paper.",
    "Divided by 3, the number of keys: scaled is smaller, so alpha is less sharp (0.94 instead of 0.997), and out "
    "moves a little. With another sentence the divisor would be different.",
)
_ROWS: Final = {name: KEYS if name in ("k", "v") else QUERIES for name in MATRICES}
_COLUMNS: Final = {name: KEYS if name in ("scores", "scaled", "alpha") else DIMENSIONS for name in MATRICES}


@dataclass(frozen=True)
class Step:
    """The computation of one cell.

    Attributes:
        question: the question that the cell answers, in words.
        arithmetic: the cell, its formula in numbers, and the result.
        uses: the cells that it was computed from.
    """

    question: str
    arithmetic: str
    uses: tuple[Cell, ...]


def step(matrix: str, row: int, column: int, *, slide: bool = False) -> Step:
    """Return the arithmetic behind one cell of worked example A.

    Args:
        matrix: "q", "k", "v", "scores", "scaled", "alpha" or "out".
        row: counted from 0.
        column: counted from 0.
        slide: compute as on the slide, with its error.

    Raises:
        KeyError: there is no such matrix.
        IndexError: there is no such cell.
    """
    matrices = SLIDE if slide else MATRICES
    value = matrices[matrix][row][column]
    cell = f"{matrix}[{row},{column}]"
    if matrix == "scores":
        query, key = MATRICES["q"][row], MATRICES["k"][column]
        terms = [query[i] * key[i] for i in range(D_HEAD)]
        products = _products([_given(part) for part in query], [_given(part) for part in key], terms)
        return Step(
            f"How well does the query “{QUERIES[row]}” match the key “{KEYS[column]}”?",
            f"{cell} = q[{row}] · k[{column}] = {products} = {_number(value)}",
            tuple(("q", row, i) for i in range(D_HEAD)) + tuple(("k", column, i) for i in range(D_HEAD)),
        )
    if matrix == "scaled":
        right = f"The same match, however many components the vectors have: divided by √d_head = √{D_HEAD}."
        slip = f"The same match, divided by the number of keys, {len(KEYS)}: a slip."
        divisor = f"{len(KEYS)}" if slide else f"√{D_HEAD}"
        return Step(
            slip if slide else right,
            f"{cell} = {_number(matrices['scores'][row][column])} / {divisor} = {_number(value)}",
            (("scores", row, column),),
        )
    if matrix == "alpha":
        exponents = [f"exp({_number(scaled)})" for scaled in matrices["scaled"][row]]
        powers = [_number(math.exp(scaled)) for scaled in matrices["scaled"][row]]
        return Step(
            f"How much of its attention does “{QUERIES[row]}” give to “{KEYS[column]}”?",
            f"{cell} = {exponents[column]} / ({' + '.join(exponents)})"
            f" = {powers[column]} / ({' + '.join(powers)}) = {_number(value)}",
            tuple(("scaled", row, key) for key in range(len(KEYS))),
        )
    if matrix == "out":
        weights, parts = matrices["alpha"][row], [value[column] for value in MATRICES["v"]]
        terms = [weight * part for weight, part in zip(weights, parts, strict=True)]
        products = _products([_number(weight) for weight in weights], [_given(part) for part in parts], terms)
        return Step(
            f"What does “{QUERIES[row]}” get in dimension {column}? A weighted average of the values.",
            f"{cell} = alpha[{row}] · v[:,{column}] = {products} = {_number(value)}",
            tuple(("alpha", row, key) for key in range(len(KEYS)))
            + tuple(("v", key, column) for key in range(len(KEYS))),
        )
    word = _ROWS[matrix][row]
    return Step(f"Dimension {column} of “{word}” in {FORMULAS[matrix]}: given.", f"{cell} = {_given(value)}", ())


def attention_stepper() -> Interactive:
    """Return worked example A, to click through; leave it as the last line of a cell.

    Without a script it shows all matrices, and the arithmetic of every cell to unfold.
    """
    tables = "".join(_table(matrix) for matrix in MATRICES)
    lists = "".join(_unfolding(matrix) for matrix in COMPUTED)
    still = f'<div style="display:flex;flex-wrap:wrap;gap:1.2em">{tables}</div>{lists}'
    text = "\n".join(step(*cell).arithmetic for matrix in COMPUTED for cell in _cells(matrix))
    return Interactive("attention_stepper", _data(), still, _ALT, text)


def _data() -> dict[str, Any]:
    """Return the script's data: the labels of the matrices, and each cell of both versions."""
    matrices = {
        name: {
            "formula": FORMULAS[name],
            "rows": _ROWS[name],
            "columns": _COLUMNS[name],
            "most": max(abs(value) for row in values for value in row),
        }
        for name, values in MATRICES.items()
    }
    versions = [
        {
            "label": label,
            "note": note,
            "cells": {
                name: [[_cell(name, r, c, slide) for c in range(len(row))] for r, row in enumerate(values)]
                for name, values in MATRICES.items()
            },
        }
        for label, note, slide in zip(_LABELS, _NOTES, (False, True), strict=True)
    ]
    return {"matrices": matrices, "versions": versions}


def _cell(matrix: str, row: int, column: int, slide: bool) -> dict[str, Any]:
    """Return one cell in the form that the script needs."""
    how = step(matrix, row, column, slide=slide)
    value = (SLIDE if slide else MATRICES)[matrix][row][column]
    written = _fixed(matrix, value)
    return {"value": value, "text": written, "question": how.question, "arithmetic": how.arithmetic, "uses": how.uses}


def _cells(matrix: str) -> list[Cell]:
    return [(matrix, row, column) for row in range(len(_ROWS[matrix])) for column in range(len(_COLUMNS[matrix]))]


def _number(value: float) -> str:
    """Format a computed number: with four decimals, or as a power of ten if four decimals would show little."""
    if value == 0 or abs(value) >= 0.001:
        return f"{value:.4f}"
    return f"{value:.2e}"


def _given(value: float) -> str:
    """Format a number of the example itself, as short as it is."""
    return f"{value:g}"


def _fixed(matrix: str, value: float) -> str:
    """Format a number as in its matrix."""
    return f"{value:.4f}" if matrix in COMPUTED else _given(value)


def _products(left: Sequence[str], right: Sequence[str], terms: Sequence[float]) -> str:
    """Return (a × b) + (c × d) = ab + cd as text."""
    factors = " + ".join(f"({a} × {b})" for a, b in zip(left, right, strict=True))
    return f"{factors} = {' + '.join(_number(term) for term in terms)}"


def _table(matrix: str) -> str:
    """Return one matrix with words for its rows and columns."""
    rows = zip(_ROWS[matrix], MATRICES[matrix], strict=True)
    cells = [(name, [_fixed(matrix, value) for value in values]) for name, values in rows]
    return f"<div>{still_table(f'{matrix} = {FORMULAS[matrix]}', _COLUMNS[matrix], cells)}</div>"


def _unfolding(matrix: str) -> str:
    """Return the arithmetic of all cells of a matrix, folded."""
    lines = "".join(f"<li><code>{escape(step(*cell).arithmetic)}</code></li>" for cell in _cells(matrix))
    return f"<details><summary><b>{matrix}</b>, cell by cell</summary><ul>{lines}</ul></details>"
