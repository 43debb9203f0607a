"""The attention stepper: worked example A, where you can ask every number how it came about.

The matrices below were computed once and are kept as plain numbers; a test recomputes them with
`course_lib.attention`. The stepper only looks them up and writes out the arithmetic.

Slides S2, "Attention: Working Example": *the cat danced* -> *die Katze tanzte*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from course_lib.show.live import show_above_its_page

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
EXPONENTIALS: Final[Matrix] = (
    (4842.959957444093, 14.177418175411692, 0.0004997523422479715),
    (7.213541526967151e-07, 0.00029405963129882447, 67742405.82225445),
)
"""exp(scaled), which alpha's arithmetic shows on the way."""

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
_BUTTON: Final = "5.2em"
_ROWS: Final = {
    "q": QUERIES,
    "k": KEYS,
    "v": KEYS,
    "scores": QUERIES,
    "scaled": QUERIES,
    "alpha": QUERIES,
    "out": QUERIES,
}
_COLUMNS: Final = {
    "q": DIMENSIONS,
    "k": DIMENSIONS,
    "v": DIMENSIONS,
    "scores": KEYS,
    "scaled": KEYS,
    "alpha": KEYS,
    "out": DIMENSIONS,
}


@dataclass(frozen=True)
class Step:
    """How one cell came about.

    Attributes:
        question: what the cell answers, in words.
        arithmetic: the cell, its formula in numbers, and the result.
        uses: the cells that it was made from.
    """

    question: str
    arithmetic: str
    uses: tuple[Cell, ...]


def step(matrix: str, row: int, column: int) -> Step:
    """The arithmetic behind one cell of worked example A.

    Args:
        matrix: "q", "k", "v", "scores", "scaled", "alpha" or "out".
        row: counted from 0.
        column: counted from 0.

    Raises:
        KeyError: no such matrix.
        IndexError: no such cell.
    """
    value = MATRICES[matrix][row][column]
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
        return Step(
            f"The same match, independent of how long the vectors are: divided by √d_head = √{D_HEAD}.",
            f"{cell} = {_number(MATRICES['scores'][row][column])} / √{D_HEAD} = {_number(value)}",
            (("scores", row, column),),
        )
    if matrix == "alpha":
        exponents = [f"exp({_number(scaled)})" for scaled in MATRICES["scaled"][row]]
        powers = [_number(power) for power in EXPONENTIALS[row]]
        return Step(
            f"What share of its attention does “{QUERIES[row]}” give to “{KEYS[column]}”?",
            f"{cell} = {exponents[column]} / ({' + '.join(exponents)})"
            f" = {powers[column]} / ({' + '.join(powers)}) = {_number(value)}",
            tuple(("scaled", row, key) for key in range(len(KEYS))),
        )
    if matrix == "out":
        shares, parts = MATRICES["alpha"][row], [value[column] for value in MATRICES["v"]]
        terms = [share * part for share, part in zip(shares, parts, strict=True)]
        products = _products([_number(share) for share in shares], [_given(part) for part in parts], terms)
        return Step(
            f"What does “{QUERIES[row]}” bring home in dimension {column}? A weighted average of the values.",
            f"{cell} = alpha[{row}] · v[:,{column}] = {products} = {_number(value)}",
            tuple(("alpha", row, key) for key in range(len(KEYS)))
            + tuple(("v", key, column) for key in range(len(KEYS))),
        )
    word = _ROWS[matrix][row]
    return Step(f"Dimension {column} of “{word}” in {FORMULAS[matrix]}: given.", f"{cell} = {_given(value)}", ())


class AttentionStepper:
    """Worked example A as a widget, and below it as a plain page that needs nothing.

    The page holds all matrices and the arithmetic of every cell, to unfold. It is what remains in a saved or
    printed notebook, in a repository's viewer, and wherever there is no kernel behind the widget.
    """

    def __init__(self) -> None:
        self.selected: Cell = ("scaled", 1, 0)

    @property
    def step(self) -> Step:
        """The step behind the selected cell."""
        return step(*self.selected)

    def html(self) -> str:
        """The plain page."""
        tables = "".join(_table(matrix) for matrix in MATRICES)
        lists = "".join(_unfolding(matrix) for matrix in COMPUTED)
        return f'<div><div style="display:flex;flex-wrap:wrap;gap:1.2em">{tables}</div>{lists}</div>'

    def text(self) -> str:
        """The arithmetic of every cell, one line each."""
        return "\n".join(step(*cell).arithmetic for matrix in COMPUTED for cell in _cells(matrix))

    def widget(self) -> Any:
        """The clickable form, made of core ipywidgets.

        Raises:
            ImportError: ipywidgets is not installed.
        """
        import ipywidgets as widgets

        explanation = widgets.HTML()
        buttons = {cell: self._button(cell, widgets) for matrix in MATRICES for cell in _cells(matrix)}

        def update() -> None:
            chosen = self.step
            for cell, button in buttons.items():
                used = "info" if cell in chosen.uses else ""
                button.button_style = "primary" if cell == self.selected else used
            explanation.value = _explanation(self.selected[0], chosen)

        def select(cell: Cell) -> None:
            self.selected = cell
            update()

        for cell, button in buttons.items():
            button.on_click(lambda _button, cell=cell: select(cell))
        update()
        rows = [
            _line([_grid(matrix, buttons, widgets) for matrix in names], widgets)
            for names in (("q", "k", "v"), COMPUTED)
        ]
        return widgets.VBox([*rows, explanation])

    def _button(self, cell: Cell, widgets: Any) -> Any:
        return widgets.Button(
            description=_fixed(cell),
            tooltip=step(*cell).arithmetic,
            layout=widgets.Layout(width=_BUTTON, margin="1px", padding="0"),
        )

    def _ipython_display_(self) -> None:
        show_above_its_page(
            self.widget,
            "The clickable matrices need a running kernel: run this cell.",
            page=self.html(),
            text=self.text(),
            summary="All cells on one page, to read without clicking",
        )


def attention_stepper() -> AttentionStepper:
    """Worked example A, to click through: leave it as the last line of a cell."""
    return AttentionStepper()


def _cells(matrix: str) -> list[Cell]:
    return [(matrix, row, column) for row in range(len(_ROWS[matrix])) for column in range(len(_COLUMNS[matrix]))]


def _number(value: float) -> str:
    """A computed number: four decimals, or a power of ten where four decimals would say little."""
    if value == 0 or abs(value) >= 0.001:
        return f"{value:.4f}"
    return f"{value:.2e}"


def _given(value: float) -> str:
    """A number of the example itself, written as short as it is."""
    return f"{value:g}"


def _fixed(cell: Cell) -> str:
    """A cell as it stands in its matrix."""
    matrix, row, column = cell
    value = MATRICES[matrix][row][column]
    return f"{value:.4f}" if matrix in COMPUTED else _given(value)


def _products(left: Sequence[str], right: Sequence[str], terms: Sequence[float]) -> str:
    """(a × b) + (c × d) = ab + cd"""
    factors = " + ".join(f"({a} × {b})" for a, b in zip(left, right, strict=True))
    return f"{factors} = {' + '.join(_number(term) for term in terms)}"


def _table(matrix: str) -> str:
    """One matrix as an HTML table with words at its rows and columns."""
    border = "border:1px solid rgba(128,128,128,.4);padding:.2em .6em;text-align:right"
    head = "".join(f'<th style="padding:.2em .6em;text-align:right">{escape(name)}</th>' for name in _COLUMNS[matrix])
    body = "".join(
        f'<tr><th style="padding:.2em .6em;text-align:left">{escape(name)}</th>'
        + "".join(
            f'<td style="{border}">{_fixed((matrix, row, column))}</td>' for column in range(len(_COLUMNS[matrix]))
        )
        + "</tr>"
        for row, name in enumerate(_ROWS[matrix])
    )
    caption = f"<b>{matrix}</b> = {escape(FORMULAS[matrix])}"
    return f"<div>{caption}<table><tr><th></th>{head}</tr>{body}</table></div>"


def _unfolding(matrix: str) -> str:
    """The arithmetic of all cells of a matrix, folded away until it is asked for."""
    lines = "".join(f"<li><code>{escape(step(*cell).arithmetic)}</code></li>" for cell in _cells(matrix))
    return f"<details><summary><b>{matrix}</b>, cell by cell</summary><ul>{lines}</ul></details>"


def _explanation(matrix: str, chosen: Step) -> str:
    return (
        '<div style="line-height:1.6;padding:.5em .2em">'
        f"<div><b>{matrix}</b> = {escape(FORMULAS[matrix])}</div>"
        f"<div>{escape(chosen.question)}</div>"
        f'<div style="font-family:monospace;font-size:1.05em">{escape(chosen.arithmetic)}</div></div>'
    )


def _grid(matrix: str, buttons: dict[Cell, Any], widgets: Any) -> Any:
    """A matrix of buttons under its name, with words at its rows and columns."""
    narrow = widgets.Layout(width="4.4em")
    centred = widgets.Layout(width=_BUTTON, margin="1px", display="flex", justify_content="center")
    names = [widgets.Label(name, layout=centred) for name in _COLUMNS[matrix]]
    lines = [widgets.HBox([widgets.Label("", layout=narrow), *names])]
    for row, name in enumerate(_ROWS[matrix]):
        cells = [buttons[matrix, row, column] for column in range(len(_COLUMNS[matrix]))]
        lines.append(widgets.HBox([widgets.Label(name, layout=narrow), *cells]))
    title = widgets.HTML(f"<b>{matrix}</b> = {escape(FORMULAS[matrix])}")
    return widgets.VBox([title, *lines], layout=widgets.Layout(margin="0 1.5em .6em 0"))


def _line(children: list[Any], widgets: Any) -> Any:
    return widgets.Box(children, layout=widgets.Layout(display="flex", flex_flow="row wrap"))
