"""A small table that reads well in a terminal and in a notebook."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Table:
    """Rows of text under a header; every column but the first is aligned to the right.

    Attributes:
        header: the columns' names.
        rows: the cells of each row, as many as the header has.
        notes: lines below the table.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.header):
                raise ValueError(f"a row of {len(row)} cells does not fit a header of {len(self.header)}: {row}")

    def __str__(self) -> str:
        """Return the table for a terminal."""
        lines = [self.header, *self.rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.header))]
        rule = ["-" * width for width in widths]
        return "\n".join([*(_aligned(line, widths) for line in (self.header, rule, *self.rows)), *self.notes])

    def _repr_html_(self) -> str:
        """Return the table for a notebook; everything in it is escaped."""
        head = _html_row(self.header, "th")
        body = "".join(_html_row(row, "td") for row in self.rows)
        notes = "".join(f"<div><small>{escape(note)}</small></div>" for note in self.notes)
        return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>{notes}"


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    texts = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
    return "  ".join(texts).rstrip()


def _html_row(cells: Sequence[str], tag: str) -> str:
    alignments = ["left", *["right"] * (len(cells) - 1)]
    texts = (
        f'<{tag} style="text-align: {alignment}">{escape(cell)}</{tag}>'
        for cell, alignment in zip(cells, alignments, strict=True)
    )
    return f"<tr>{''.join(texts)}</tr>"
