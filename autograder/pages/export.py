"""Grades for a learning platform: CSV with one row for each student and one column for each lesson.

"Could not be graded" is an empty cell, never a zero, and so is a submission that was withdrawn. With a roster, a file
that the platform itself has exported, that file comes back with the points filled in: its columns, its students, its
order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from autograder.course.roster import CsvTable, read_table
from autograder.course.semester import Semester
from autograder.errors import BadInput
from autograder.gradebook.record import Record
from autograder.gradebook.standings import most_points
from autograder.pages.changes import told_of_changes
from autograder.pages.deadlines import told_to_instructor
from autograder.pages.totals import Total, told_of_totals, totals_of
from autograder.words import some

STUDENT = "student"
"""The heading of the students' ids, unless another is asked for."""

DEADLINE_COLUMNS = ("due", "handed in", "seconds late", "before lateness", "late penalty")
"""What `--deadlines` tells of each lesson, each heading behind that of the lesson's points."""

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
    *,
    semester: Semester | None = None,
    total_heading: str = "",
    deadlines: bool = False,
    withdrawn: bool = False,
    now: datetime | None = None,
) -> Export:
    """The grades of these lessons as a table.

    Args:
        graded: for each lesson its results, from `standings`, the withdrawn ones perhaps among them.
        roster: a CSV file that the learning platform has exported; its rows and columns are kept.
        student_heading: the heading of the column with the students' ids.
        headings: by lesson, the heading of its column; by default its name. A column of the roster that has this
            heading is filled, else there is one more.
        semester: the course's weights and deadlines, for the totals.
        total_heading: the heading of a column with totals in percent, and of one that says how they came about.
        deadlines: say of each lesson when it was due, when it was handed in, and what being late costs.
        withdrawn: export what is no longer in the course's folder of submissions, as if it were.
        now: the time, with its offset, for the totals.

    Raises:
        BadInput: the roster cannot be read, or has no such column; a heading is for a lesson that is not exported.
    """
    named = {lesson: (headings or {}).get(lesson, lesson) for lesson in graded}
    for lesson in (headings or {}).keys() - graded.keys():
        raise BadInput(f"a heading is given for {lesson}, which is not exported; there are: {', '.join(graded)}")
    standing = {
        lesson: [one for one in results if withdrawn or not one.is_withdrawn] for lesson, results in graded.items()
    }
    points = {lesson: {one.student: one.total for one in results} for lesson, results in standing.items()}
    remarks = [remark for lesson, results in standing.items() for remark in _remarks(lesson, results)]
    remarks += [remark for lesson, results in graded.items() for remark in _withdrawn(lesson, results, withdrawn)]
    if roster is None:
        students = sorted({student for column in points.values() for student in column})
        table = CsvTable([student_heading], [[student] for student in students])
    else:
        table = read_table(roster)
        students = _ids(roster, table, student_heading)
        remarks += _strangers(points, students)
    for lesson, heading in named.items():
        _fill(table, heading, [_number(points[lesson].get(student)) for student in students])
        if deadlines:
            _fill_deadlines(table, heading, standing[lesson], students)
    if total_heading:
        semester = semester or Semester()
        totals = totals_of(standing, filter(None, students), semester, now or datetime.now(UTC))
        columns = [totals.get(student, Total(None)) for student in students]  # a row may be nobody's
        _fill(table, total_heading, [None if one.percent is None else f"{one.percent:.2f}" for one in columns])
        _fill(table, f"{total_heading} remarks", [one.told or None for one in columns])
        remarks += told_of_totals(total_heading, standing, semester, totals.values())
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
    return [*said, *told_of_changes(lesson, results), *told_to_instructor(lesson, results)]


def _withdrawn(lesson: str, results: Sequence[Record], exported: bool) -> list[str]:
    """Who is no longer in the folder of submissions, and what was made of it."""
    gone = [one.student for one in results if one.is_withdrawn]
    if not gone:
        return []
    done = "but exported all the same" if exported else "so nothing is written (--withdrawn exports it all the same)"
    return [f"{lesson}: withdrawn, since the submission is no longer there, {done}: {some(gone)}."]


def _fill_deadlines(table: CsvTable, heading: str, results: Sequence[Record], students: Sequence[str]) -> None:
    """Write the columns about a lesson's deadline; a cell stays as it is where there is nothing to say."""
    by_student = {one.student: one for one in results}
    rows = [_deadline_cells(by_student[student]) if student in by_student else {} for student in students]
    for name in DEADLINE_COLUMNS:
        _fill(table, f"{heading} {name}", [cells.get(name) for cells in rows])


def _deadline_cells(record: Record) -> dict[str, str | None]:
    late = record.lateness
    cells = (
        late.due.isoformat() if late.due else None,
        late.handed_in.isoformat() if late.handed_in else None,
        f"{late.seconds:.0f}" if late.due and late.handed_in else None,
        _number(record.earned),
        _number(None if record.earned is None else late.penalty),
    )
    return dict(zip(DEADLINE_COLUMNS, cells, strict=True))


def _number(number: float | None) -> str | None:
    return None if number is None else f"{number:g}"


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


def _fill(table: CsvTable, heading: str, cells: Sequence[str | None]) -> None:
    """Write into the column of this name; where there is nothing to write, the cell stays as it is."""
    if heading not in table.headings:
        table.headings.append(heading)
        for row in table.rows:
            row.append("")
    place = table.headings.index(heading)
    for row, cell in zip(table.rows, cells, strict=True):
        if cell is not None:
            row[place] = cell


def _plain(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@")) else cell
