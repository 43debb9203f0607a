"""Points and comments in a table that a platform has exported: what is not filled in stays as it was, byte for byte.

A spreadsheet, or Python's `csv`, would write the whole table anew: with other quotes, other ends of lines, and numbers
that have lost their leading zeros.
"""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.errors import BadInput
from autograder.platforms.platform import Platform
from autograder.platforms.roster import TABLE_BYTES, number_in, parse_table
from autograder.words import printable, some


@dataclass(frozen=True)
class WorksheetRow:
    """What is filled in for a student.

    Attributes:
        student: the id.
        number: the platform's; empty where it has none.
        ids: the student's id, in every spelling.
        email: the address; empty where nothing tells.
        points: all points.
        most: what the lesson gives at most.
        comment: HTML; empty where there is none.
        earlier_comment: whether a comment is one that was filled in before, and may be replaced.
    """

    student: str
    number: str
    ids: frozenset[str]
    email: str
    points: float
    most: float
    comment: str = ""
    earlier_comment: Callable[[str], bool] = field(default=lambda _said: False, repr=False)


@dataclass(frozen=True)
class Filled:
    """A table that was filled in.

    Attributes:
        content: its file.
        points: the students whose points are in it.
        comments: those whose comment is.
        remarks: a sentence each.
    """

    content: bytes = field(repr=False)
    points: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def fill(path: Path, platform: Platform, entries: Sequence[WorksheetRow], scale: bool = False) -> Filled:
    """Fill in a table that a platform has exported: Moodle's grading worksheet, or Gradescope's grades.

    Args:
        path: the table.
        platform: one that has a `worksheet`.
        entries: what to fill in.
        scale: where the platform gives another number of points at most, write the same share of those.

    Raises:
        BadInput: it cannot be read, is no such table, or gives another number of points at most than the lesson.
    """
    try:
        with path.open("rb") as file:
            content = file.read(TABLE_BYTES + 1)
    except OSError as error:
        raise BadInput(f"cannot read the worksheet {path}: {error.strerror}; name the CSV file") from error
    table = parse_table(content, str(path))
    cells = _Cells(path, content.decode(table.encoding).removeprefix(table.preface), table.delimiter)
    columns = _columns(path, platform, cells.rows[0])
    rows = _rows_by(columns, cells.rows)
    points, comments, missing, kept = [], [], [], []
    for entry in entries:
        row = _row_of(entry, columns, rows)
        if row is None:
            missing.append(entry.student)
            continue
        earned = _points(path, entry, cells.read(row, columns.get("most")), scale)
        if number_in(cells.read(row, columns["points"])) != number_in(earned):
            cells.write(row, columns["points"], earned)
        points.append(entry.student)
        said = cells.read(row, columns.get("comment"))
        if entry.comment and "comment" in columns and said != entry.comment:
            if said.strip() and not entry.earlier_comment(said):
                kept.append(entry.student)
                continue
            cells.write(row, columns["comment"], entry.comment)
        if entry.comment and "comment" in columns:
            comments.append(entry.student)
    remarks = []
    if missing:
        remarks.append(f"No row of their own in {path.name}, so no points in it: {some(missing)}.")
    if kept:
        remarks.append(f"Another comment stands in {path.name}, and stays: {some(kept)}.")
    if "comment" not in columns and any(entry.comment for entry in entries):
        remarks.append(f"{path.name} has no column for comments: they are on the pages alone.")
    text = table.preface + cells.text()  # comments are HTML, which can spell every character
    return Filled(text.encode(table.encoding, "xmlcharrefreplace"), tuple(points), tuple(comments), tuple(remarks))


def _columns(path: Path, platform: Platform, headings: Sequence[str]) -> dict[str, int]:
    """Where what is."""
    places = {heading.strip().casefold(): place for place, heading in reversed(list(enumerate(headings)))}
    known = platform.worksheet
    columns = {
        role: places[name.casefold()]
        for role, names in known.items()
        for name in reversed(names)
        if name.casefold() in places
    }
    if "scale" in columns and "most" not in columns:
        raise BadInput(
            f"the assignment of the worksheet {path} is graded by a scale: choose Point as its type of grade in Moodle"
        )
    if "points" not in columns or not {"number", "id", "email"} & columns.keys():
        there = some([printable(heading[:40]) for heading in headings])
        wanted = f"{known['number'][0]} and {known['points'][0]}"
        raise BadInput(
            f"the worksheet {path} has no columns {wanted} (it has {there}); export it from {platform} in English"
        )
    return columns


def _rows_by(columns: Mapping[str, int], rows: Sequence[Sequence[str]]) -> dict[tuple[str, str], list[int]]:
    """The rows of a table by what says whose they are."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, row in enumerate(rows[1:], 1):
        for role in ("id", "email", "number"):
            if role in columns and columns[role] < len(row) and (key := _key(role, row[columns[role]])):
                found[role, key].append(place)
    return found


def _key(role: str, cell: str) -> str:
    if role != "number":
        return cell.strip().casefold()
    digits = re.search(r"\d+\s*$", cell)  # "Participant 12345"
    return digits.group().strip() if digits else ""


def _row_of(entry: WorksheetRow, columns: Mapping[str, int], rows: Mapping[tuple[str, str], list[int]]) -> int | None:
    """The one row that is a student's; None where there is none, or nobody can tell which."""
    asked = {"number": {entry.number}, "email": {entry.email}, "id": entry.ids}
    for role in columns:
        if role in asked:
            found = {row for key in asked[role] if key for row in rows.get((role, key.casefold()), ())}
            if len(found) == 1:
                return found.pop()
    return None


def _points(path: Path, entry: WorksheetRow, most: str, scale: bool) -> str:
    """Points as a platform takes them, written as it writes those that can be had."""
    possible, points = number_in(most), entry.points
    if possible is not None and possible != entry.most:
        if not scale:
            raise BadInput(
                f"the worksheet {path} gives {possible:g} points at most, the lesson {entry.most:g}: set the "
                f"assignment to {entry.most:g} points there, or write the same share of {possible:g} with --scale"
            )
        points *= possible / entry.most if entry.most else 0
    written = f"{points:.5f}".rstrip("0").rstrip(".")
    return written.replace(".", ",") if possible is not None and "," in most else written


class _Cells:
    """A CSV file whose cells can be written one by one.

    Attributes:
        rows: what its cells say, without empty lines.
    """

    def __init__(self, path: Path, text: str, delimiter: str) -> None:
        self._delimiter = delimiter
        self._lines = list(_lines(text, delimiter))
        self._places = [place for place, line in enumerate(self._lines) if line[:-1] != [""]]
        self.rows = [[_plain(cell) for cell in self._lines[place][:-1]] for place in self._places]
        read = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        if self.rows != [row for row in read if row]:
            raise BadInput(f"the worksheet {path} has quotes inside a cell; export it again as CSV")

    def read(self, row: int, column: int | None) -> str:
        """What a cell says; nothing where there is no such column."""
        return self.rows[row][column] if column is not None and column < len(self.rows[row]) else ""

    def write(self, row: int, column: int, text: str) -> None:
        """Write a cell, quoted as it was; where it says that already, its bytes stay."""
        *cells, end = self._lines[self._places[row]]
        cells += [""] * (column + 1 - len(cells))
        if _plain(cells[column]) != text:
            quoted = cells[column].startswith('"') or re.search(r"[\s\"" + re.escape(self._delimiter) + "]", text)
            cells[column] = '"' + text.replace('"', '""') + '"' if quoted else text
            self._lines[self._places[row]] = [*cells, end]
            self.rows[row] = [_plain(cell) for cell in cells]

    def text(self) -> str:
        """The file."""
        return "".join(self._delimiter.join(cells) + end for *cells, end in self._lines)


def _lines(text: str, delimiter: str) -> Iterator[list[str]]:
    """The lines of a CSV file: their cells, with quotes, and how each line ends."""
    one = re.compile(rf'("(?:[^"]|"")*+"|[^{re.escape(delimiter)}\r\n]*+)({re.escape(delimiter)}|\r\n|\r|\n|\Z|)')
    cells: list[str] = []
    place = 0
    while place < len(text) or cells:
        match = one.match(text, place)
        assert match is not None  # it matches nothing as well
        place = match.end()
        cells.append(match[1])
        if match[2] != delimiter:
            yield [*cells, match[2]]
            cells = []
            if place == len(text):
                return


def _plain(cell: str) -> str:
    return cell[1:-1].replace('""', '"') if cell.startswith('"') else cell
