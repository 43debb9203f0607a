"""Fills in points and comments in a table that a platform has exported, and keeps all other bytes as they were.

A spreadsheet or Python's `csv` would rewrite the whole table, with different quotes, different line ends, and numbers
without their leading zeros.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.delivery.history import digest_of_text
from autograder.errors import BadInput
from autograder.platforms.platform import Platform
from autograder.platforms.roster import Columns, CsvTable, number_in, read_table
from autograder.words import printable, some


@dataclass(frozen=True, kw_only=True)
class WorksheetRow:
    """The points and the comment to fill in for a student.

    Attributes:
        student: the student's id.
        number: the platform's number; empty if unknown.
        ids: all spellings of the student's id.
        email: the address; empty if unknown.
        points: the total.
        most: the lesson's maximum.
        comment: HTML; empty if there is none.
        earlier: SHA-256, in hexadecimal, of the comment that was filled in before and may be replaced; empty if there
            is none.
    """

    student: str
    number: str = field(default="", repr=False)
    ids: frozenset[str] = field(default=frozenset(), repr=False)
    email: str = field(default="", repr=False)
    points: float
    most: float
    comment: str = ""
    earlier: str = field(default="", repr=False)


@dataclass(frozen=True)
class Filled:
    """A table that was filled in.

    Attributes:
        content: the file's bytes.
        points: the students whose points were filled in.
        comments: the students whose comment was filled in.
        remarks: sentences for the instructor.
    """

    content: bytes = field(repr=False)
    points: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def fill(path: Path, platform: Platform, entries: Sequence[WorksheetRow], scale: bool = False) -> Filled:
    """Fill in a table that a platform has exported: Moodle's grading worksheet, or Gradescope's grades. If asked to
    scale, turn points into shares of the platform's maximum where that is different.

    Raises:
        BadInput: it cannot be read, is not such a table, or has another maximum than the lesson.
    """
    table = read_table(path)
    columns = _columns(path, platform, table.headings)
    cells = Cells(table.text, table.delimiter)
    width = len(table.headings)
    if [row + [""] * (width - len(row)) for row in cells.rows()] != [table.headings, *table.rows]:
        raise BadInput(f"the worksheet {path} has quotes inside a cell; export it again as CSV")
    has_comments = "comment" in columns.places
    whose = _rows_by(columns, platform, table)
    points, comments, missing, kept = [], [], [], []
    for entry in entries:
        row = _row_of(entry, platform, whose)
        if row is None:
            missing.append(entry.student)
            continue
        earned = _points(path, entry, columns.read(table.rows[row], "most"), scale)
        if number_in(columns.read(table.rows[row], "points")) != number_in(earned):
            cells.write(row + 1, columns.places["points"][0], earned)
        points.append(entry.student)
        if entry.comment and has_comments:
            said = table.rows[row][columns.places["comment"][0]]
            if said.strip() and said != entry.comment and digest_of_text(said) != entry.earlier:
                kept.append(entry.student)
            else:
                cells.write(row + 1, columns.places["comment"][0], entry.comment)
                comments.append(entry.student)
    remarks = {
        f"No row in {path.name}, so no points there: {some(missing)}.": missing,
        f"{path.name} has another comment already, which was kept: {some(kept)}.": kept,
        f"{path.name} has no column for comments: they are only on the pages.": (
            not has_comments and any(entry.comment for entry in entries)
        ),
    }
    text = table.preface + cells.text()  # comments are HTML, which can spell every character
    told = tuple(remark for remark, holds in remarks.items() if holds)
    return Filled(text.encode(table.encoding, "xmlcharrefreplace"), tuple(points), tuple(comments), told)


def _columns(path: Path, platform: Platform, headings: Sequence[str]) -> Columns:
    columns = Columns(platform, headings)
    if "scale" in columns.places and "most" not in columns.places:
        raise BadInput(
            f"the assignment of the worksheet {path} is graded on a scale: choose Point as its grade type in Moodle"
        )
    if "points" not in columns.places or not {"number", "id", "email"} & columns.places.keys():
        there = some([printable(heading[:40]) for heading in headings])
        wanted = " and ".join(platform.table_columns[role][0] for role in ("number", "points"))
        raise BadInput(
            f"the worksheet {path} has no columns {wanted} (it has {there}); export it from {platform} in English"
        )
    return columns


def _rows_by(columns: Columns, platform: Platform, table: CsvTable) -> dict[tuple[str, str], list[int]]:
    """Return a table's row indices by what identifies the student: number, id, or e-mail address."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, row in enumerate(table.rows):
        person = columns.person(row)
        number = person.numbers.get(platform.name, "")
        for role, key in (("number", number), ("id", person.id), ("email", person.email)):
            found[role, key.casefold()].append(place)
    return found


def _row_of(entry: WorksheetRow, platform: Platform, rows: Mapping[tuple[str, str], list[int]]) -> int | None:
    """Return the index of a student's row; None if there is none, or several could be.

    A submission's number is tried last, because the members of a group share it.
    """
    asked = [("id", entry.ids), ("email", {entry.email})]
    asked.insert(0 if platform.numbers_students else 2, ("number", {entry.number}))
    for role, keys in asked:
        found = {row for key in keys if key for row in rows.get((role, key.casefold()), ())}
        if len(found) == 1:
            return found.pop()
    return None


def _points(path: Path, entry: WorksheetRow, most: str, scale: bool) -> str:
    """Return points in the platform's notation, with a decimal comma if its maximum has one."""
    possible, points = number_in(most), entry.points
    if possible is not None and possible != entry.most:
        if not scale:
            raise BadInput(
                f"the maximum is {possible:g} points in the worksheet {path} and {entry.most:g} in the lesson: set the "
                f"assignment to {entry.most:g} points, or scale the points with --scale"
            )
        points *= possible / entry.most if entry.most else 0
    written = f"{points:.5f}".rstrip("0").rstrip(".")
    return written.replace(".", ",") if possible is not None and "," in most else written


class Cells:
    """The cells of a CSV file with their exact spelling; writing one leaves the others unchanged."""

    def __init__(self, text: str, delimiter: str) -> None:
        self._delimiter = delimiter
        self._lines: list[list[str]] = [[]]  # each line's cells, with their quotes, then its line end
        between = re.escape(delimiter)
        for cell, end in re.findall(rf'("(?:[^"]|"")*+"|[^{between}\r\n]*+)({between}|\r\n|\r|\n|\Z)', text):
            self._lines[-1].append(cell)
            if end != delimiter:
                self._lines[-1].append(end)
                self._lines.append([])
        self._rows = [line for line in self._lines[:-1] if line[:-1] != [""]]

    def rows(self) -> list[list[str]]:
        """Return the cells' values, without empty lines."""
        return [[_plain(cell) for cell in line[:-1]] for line in self._rows]

    def write(self, row: int, column: int, text: str) -> None:
        """Write a cell, quoted as before; if it has this value already, leave its bytes alone."""
        *cells, end = self._rows[row]
        cells += [""] * (column + 1 - len(cells))
        if _plain(cells[column]) != text:
            quoted = cells[column].startswith('"') or re.search(r"[\s\"" + re.escape(self._delimiter) + "]", text)
            cells[column] = '"' + text.replace('"', '""') + '"' if quoted else text
            self._rows[row][:] = [*cells, end]

    def text(self) -> str:
        """Return the file's text."""
        return "".join(self._delimiter.join(line[:-1]) + line[-1] for line in self._lines[:-1])


def _plain(cell: str) -> str:
    return cell[1:-1].replace('""', '"') if cell.startswith('"') else cell
