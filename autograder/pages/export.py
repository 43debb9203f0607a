"""Grades for a learning platform: CSV with one row for each student and one column for each lesson.

"Could not be graded" is an empty cell, never a zero. With a roster, a file that the platform itself has exported,
that file comes back with the points filled in: its columns, its students, its order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.course.roster import CsvTable, read_table
from autograder.errors import BadInput
from autograder.gradebook.record import Record
from autograder.gradebook.standings import most_points
from autograder.words import some

STUDENT = "student"
"""The heading of the students' ids, unless another is asked for."""

Points = Mapping[str, Mapping[str, float | None]]
"""By lesson and student, all points, automatic and by hand; None where there is no score."""


@dataclass(frozen=True)
class Export:
    """Grades as a table, and what its reader should know.

    Attributes:
        table: the grades.
        remarks: a sentence each.
    """

    table: CsvTable
    remarks: list[str] = field(default_factory=list)


def export(
    graded: Mapping[str, Sequence[Record]],
    roster: Path | None = None,
    student_heading: str = STUDENT,
    headings: Mapping[str, str] | None = None,
) -> Export:
    """The grades of these lessons as a table.

    Args:
        graded: for each lesson its results, from `standings`.
        roster: a CSV file that the learning platform has exported; its rows and columns are kept.
        student_heading: the heading of the column with the students' ids.
        headings: by lesson, the heading of its column; by default its name. A column of the roster that has this
            heading is filled, else there is one more.

    Raises:
        BadInput: the roster cannot be read, or has no such column; a heading is for a lesson that is not exported.
    """
    named = {lesson: (headings or {}).get(lesson, lesson) for lesson in graded}
    for lesson in (headings or {}).keys() - graded.keys():
        raise BadInput(f"a heading is given for {lesson}, which is not exported; there are: {', '.join(graded)}")
    points = {lesson: {one.student: one.total for one in results} for lesson, results in graded.items()}
    remarks = [remark for lesson, results in graded.items() for remark in _remarks(lesson, results)]
    if roster is None:
        students = sorted({student for column in points.values() for student in column})
        table = CsvTable([student_heading], [[student] for student in students])
    else:
        table = read_table(roster)
        students = _ids(roster, table, student_heading)
        remarks += _strangers(points, students)
    for lesson, heading in named.items():
        _fill(table, heading, [points[lesson].get(student) for student in students])
    if roster is None:
        table.headings = [_plain(heading) for heading in table.headings]
        table.rows = [[_plain(student), *cells] for student, *cells in table.rows]
    return Export(table, remarks)


def _remarks(lesson: str, results: Sequence[Record]) -> list[str]:
    """What the numbers of a lesson don't say."""
    said = [f"{lesson}: {len(results)} graded, out of {most_points(results):g} points."]
    lost = [one.student for one in results if one.total is None]
    if lost:
        said.append(f"{lesson}: no score, so nothing is written: {some(lost)}.")
    waiting = sum(bool(one.waiting) for one in results)
    if waiting:
        said.append(f"{lesson}: {waiting} with a written answer that has not been read yet; its points are missing.")
    return said


def _strangers(points: Points, students: Sequence[str]) -> list[str]:
    """Who has a grade and no row in the roster, and who has a row and no grade."""
    known = set(students) - {""}
    graded = {student for column in points.values() for student in column}
    said = []
    if graded - known:
        said.append(f"Not in the roster, and left out: {some(sorted(graded - known))}.")
    if known - graded:
        said.append(f"In the roster, and nothing handed in: {some(sorted(known - graded))}.")
    return said


def _ids(path: Path, table: CsvTable, heading: str) -> list[str]:
    """The student of each row of a roster; empty in rows that are nobody's, such as Canvas's possible points."""
    if heading not in table.headings:
        known = ", ".join(filter(None, table.headings))
        raise BadInput(f"the roster {path} has no column {heading!r}; choose one with --student-column: {known}")
    place = table.headings.index(heading)
    students = [row[place].strip() for row in table.rows]
    twice = [student for student, times in Counter(filter(None, students)).items() if times > 1]
    if twice:
        raise BadInput(f"the roster {path} has {twice[0]!r} in two rows of its column {heading!r}; remove one")
    return students


def _fill(table: CsvTable, heading: str, points: Sequence[float | None]) -> None:
    """Write points into the column of this name; where there is no score, the cell stays as it is."""
    if heading not in table.headings:
        table.headings.append(heading)
        for row in table.rows:
            row.append("")
    place = table.headings.index(heading)
    for row, score in zip(table.rows, points, strict=True):
        if score is not None:
            row[place] = f"{score:g}"


def _plain(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@")) else cell
