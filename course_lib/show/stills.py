"""Tables for the stills of widgets."""

from collections.abc import Sequence
from html import escape
from typing import Any

from jaxtyping import Float
from torch import Tensor

from course_lib.show.interactive import interactive

Rows = Sequence[tuple[str, Sequence[object]]]
"""Names with the texts beside them."""


def interactive_table(name: str, data: Any, caption: str, columns: Sequence[str], rows: Rows, *, alt: str) -> None:
    """Put a widget on the page that is a table where no script runs, in HTML or in text."""
    still, text = still_table(caption, columns, rows), still_text(caption, columns, rows)
    interactive(name, data, still=still, alt=alt, text=text)


def weight_rows(words: Sequence[str], weights: Float[Tensor, "rows columns"]) -> Rows:
    """Return weights to two decimals, with a row for each word."""
    return [(word, [f"{weight:.2f}" for weight in row]) for word, row in zip(words, weights.tolist(), strict=True)]


def still_table(caption: str, columns: Sequence[str], rows: Rows) -> str:
    """Return a table as HTML, with words for its rows and columns."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(
        f"<tr><th>{escape(name)}</th>{''.join(f'<td>{escape(str(cell))}</td>' for cell in cells)}</tr>"
        for name, cells in rows
    )
    return f"<p>{escape(caption)}</p><table><tr><th></th>{head}</tr>{body}</table>"


def still_text(caption: str, columns: Sequence[str], rows: Rows) -> str:
    """Return the same table as text."""
    lines = [("", columns), *rows]
    return "\n".join([caption, *(" | ".join([name, *map(str, cells)]) for name, cells in lines)])
