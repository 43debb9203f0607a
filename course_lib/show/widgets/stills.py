"""Tables of numbers for the stills of widgets."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

Rows = Sequence[tuple[str, Sequence[object]]]
"""A name and what stands beside it."""


def still_table(caption: str, columns: Sequence[str], rows: Rows) -> str:
    """A table as HTML, with words at its rows and columns."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(
        f"<tr><th>{escape(name)}</th>{''.join(f'<td>{escape(str(cell))}</td>' for cell in cells)}</tr>"
        for name, cells in rows
    )
    return f"<p>{escape(caption)}</p><table><tr><th></th>{head}</tr>{body}</table>"


def still_text(caption: str, columns: Sequence[str], rows: Rows) -> str:
    """The same table as text."""
    lines = [("", columns), *rows]
    return "\n".join([caption, *(" | ".join([name, *map(str, cells)]) for name, cells in lines)])
