"""Exports grades for a learning platform: CSV with a row for each student and a column for each lesson.

"Could not be graded" is an empty cell, never a zero; so is a withdrawn submission. With a roster, which is a file
exported by the platform, the result is that file with the points filled in: its columns, its students, its order.
"""

import difflib
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from autograder.course.semester import Semester
from autograder.errors import BadInput
from autograder.gradebook.grades import most_points
from autograder.gradebook.record import Record
from autograder.pages.changes import remarks_on_changes
from autograder.pages.deadlines import remarks_on_deadlines
from autograder.pages.totals import Total, remarks_on_totals, totals_of
from autograder.platforms.registry import PLATFORMS
from autograder.platforms.roster import CsvTable, Person, Roster, kind_of, number_in, read_table
from autograder.words import some

STUDENT = "student"
"""The heading of the column of student ids, unless the user names another."""

DEADLINE_COLUMNS = ("due", "handed in", "seconds late", "before lateness", "late penalty")
"""The columns that `--deadlines` adds for each lesson, each heading after that of the lesson's points."""


@dataclass(frozen=True)
class Export:
    """Grades as a table, with remarks for its reader.

    Attributes:
        table: the grades.
        remarks: sentences.
        matches: whether any row belongs to a student with a grade.
    """

    table: CsvTable
    remarks: list[str] = field(default_factory=list)
    matches: bool = True


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
    people: Roster | None = None,
    scale: bool = False,
    add_columns: bool = False,
) -> Export:
    """Return the grades of lessons as a table.

    Args:
        graded: each lesson's results, from `read_grades`, which may include withdrawn submissions.
        roster: a CSV file exported by the learning platform; its rows and columns are kept.
        student_heading: the heading of the column of student ids.
        headings: the heading of each lesson's column; by default the lesson's name.
        semester: the course's weights and deadlines, for the totals.
        total_heading: the heading of a column with totals in percent, and of one that explains them.
        deadlines: whether to add each lesson's due date, times of submission, and costs of being late.
        withdrawn: whether to export submissions that are no longer in the course's folder.
        now: the current time, with its offset, for the totals.
        people: the known people, so that students can also be found by a platform's number, an address or a name.
        scale: whether to scale points if the roster has another maximum for a lesson.
        add_columns: whether to add columns for lessons that the roster lacks.

    Raises:
        BadInput: the roster cannot be read, lacks a column, or has another maximum than the lesson; or a heading is for
            a lesson that is not exported.
    """
    named = {lesson: (headings or {}).get(lesson, lesson) for lesson in graded}
    for lesson in (headings or {}).keys() - graded.keys():
        raise BadInput(f"a heading is given for {lesson}, which is not exported; there are: {', '.join(graded)}")
    counting = {
        lesson: [one for one in results if withdrawn or not one.is_withdrawn] for lesson, results in graded.items()
    }
    records = {lesson: {one.student: one for one in results} for lesson, results in counting.items()}
    graded_students = {student for column in records.values() for student in column}
    remarks = [remark for lesson, results in counting.items() for remark in _remarks(lesson, results)]
    remarks += [remark for lesson, results in graded.items() for remark in _withdrawn(lesson, results, withdrawn)]
    if roster is None:
        students = sorted(graded_students)
        table = CsvTable([student_heading], [[student] for student in students])
    else:
        table = read_table(roster)
        students = _ids(roster, table, student_heading, graded_students, people or Roster())
        remarks += _strangers(graded_students, set(students) - {""})
    for lesson, heading in named.items():
        if roster is not None and not add_columns and heading not in table.headings:
            is_named = lesson in (headings or {})
            advice = "name another" if is_named else f"name one with --lesson-column {lesson!r}=NAME"
            raise BadInput(
                f"the roster {roster} has no column {heading!r}{_near(heading, table.headings)}; {advice}, or add it "
                "with --add-columns"
            )
        _fill(table, heading, list(_cells_of(roster, table, heading, records[lesson], students, scale)))
        if deadlines:
            rows = [_deadline_cells(records[lesson].get(student)) for student in students]
            for place, name in enumerate(DEADLINE_COLUMNS):
                _fill(table, f"{heading} {name}", [cells[place] for cells in rows])
    if total_heading:
        semester = semester or Semester()
        totals = totals_of(counting, filter(None, students), semester, now or datetime.now(UTC))
        columns = [totals.get(student, Total(None)) for student in students]  # a row may belong to nobody
        _fill(table, total_heading, [None if one.percent is None else f"{one.percent:.2f}" for one in columns])
        _fill(table, f"{total_heading} remarks", [one.told or None for one in columns])
        remarks += remarks_on_totals(total_heading, counting, semester, totals.values())
    if roster is None:
        table.headings = [_plain(heading) for heading in table.headings]
        table.rows = [[_plain(student), *cells] for student, *cells in table.rows]
    return Export(table, remarks, roster is None or bool(graded_students.intersection(students)))


def _cells_of(
    roster: Path | None,
    table: CsvTable,
    heading: str,
    records: Mapping[str, Record],
    students: Sequence[str],
    scale: bool,
) -> Iterator[str | None]:
    """Yield each student's cell with the points of a lesson; out of the platform's maximum, if it states one."""
    places = {name: place for place, name in reversed(list(enumerate(table.headings)))}
    column, most_of = places.get(heading), places.get(_MOST.get(heading, f"{heading} - Max Points"))
    above = itertools.takewhile(lambda one: not one[1], zip(table.rows, students, strict=True))  # Points Possible
    of_all = [] if column is None else [most for row, _ in above if (most := number_in(row[column])) is not None]
    for row, student in zip(table.rows, students, strict=True):
        record = records.get(student)
        if record is None or record.total is None:
            yield None
            continue
        possible = number_in(row[most_of]) if most_of is not None else of_all[0] if of_all else None
        if possible is None or possible == record.most:
            yield f"{record.total:g}"
        elif scale:
            yield f"{record.total * possible / record.most if record.most else 0:.5f}".rstrip("0").rstrip(".")
        else:
            raise BadInput(
                f"the maximum for {heading!r} is {possible:g} points in the roster {roster} and {record.most:g} in the "
                f"lesson: set it to {record.most:g} points there, or scale the points with --scale"
            )


_MOST = {
    points: most
    for platform in PLATFORMS
    for points, most in zip(*(platform.table_columns.get(role, ()) for role in ("points", "most")), strict=False)
}
"""For each column of points in a platform's table of an assignment, the column with the maximum in each row."""


def _near(heading: str, known: Iterable[str]) -> str:
    """Return the most similar heading, as a question; empty if there is none."""
    spelt = {one.casefold(): one for one in known if one.strip()}
    held = [one for folded, one in spelt.items() if heading.casefold() in folded]
    near = held or [spelt[one] for one in difflib.get_close_matches(heading.casefold(), spelt, n=1)]
    return f" (did you mean {near[0]!r}?)" if near else ""


def _remarks(lesson: str, results: Sequence[Record]) -> Iterator[str]:
    """Yield what the numbers of a lesson do not show."""
    yield f"{lesson}: {len(results)} graded, out of {most_points(results):g} points."
    lost = [one.student for one in results if one.total is None]
    if lost:
        yield f"{lesson}: no score, so nothing is written: {some(lost)}."
    waiting = sum(bool(one.waiting) for one in results)
    if waiting:
        yield f"{lesson}: {waiting} with a written answer that has not been read yet; its points are missing."
    yield from remarks_on_changes(lesson, results)
    yield from remarks_on_deadlines(lesson, results)


def _withdrawn(lesson: str, results: Sequence[Record], exported: bool) -> Iterator[str]:
    """Yield a remark about withdrawn submissions, if any, and whether they were exported."""
    gone = [one.student for one in results if one.is_withdrawn]
    if gone:
        done = "but exported anyway" if exported else "so nothing is written (--withdrawn exports it anyway)"
        yield f"{lesson}: withdrawn (the submission is no longer there), {done}: {some(gone)}."


def _deadline_cells(record: Record | None) -> list[str | None]:
    """Return the cells for `DEADLINE_COLUMNS`; None leaves a cell empty."""
    if record is None:
        return [None] * len(DEADLINE_COLUMNS)
    late, earned = record.lateness, record.earned
    return [
        late.due.isoformat() if late.due else None,
        late.handed_in.isoformat() if late.handed_in else None,
        f"{late.seconds:.0f}" if late.due and late.handed_in else None,
        None if earned is None else f"{earned:g}",
        None if earned is None else f"{late.penalty:g}",
    ]


def _strangers(graded: Set[str], known: Set[str]) -> Iterator[str]:
    """Yield remarks about students with a grade but no row in the roster, and about rows without a grade."""
    if graded - known:
        yield f"Not in the roster, and left out: {some(sorted(graded - known))}."
    if known - graded:
        yield f"In the roster, but nothing handed in: {some(sorted(known - graded))}."


def _ids(path: Path, table: CsvTable, heading: str, graded: Set[str], people: Roster) -> list[str]:
    """Return the student of each roster row; "" for a row that is not a student's, such as Canvas's possible points."""
    if heading not in table.headings:
        known = ", ".join(filter(None, table.headings))
        raise BadInput(
            f"the roster {path} has no column {heading!r}{_near(heading, table.headings)}; choose one with "
            f"--student-column: {known}"
        )
    place, platform = table.headings.index(heading), str(kind_of(table))
    students = [row[place].strip() for row in table.rows]
    for number, cell in enumerate(students):
        if cell and cell not in graded:
            found = people.find(Person(cell, cell, cell, {platform: cell}))
            students[number] = found[0].id if len(found) == 1 else cell
    twice = [student for student, times in Counter(filter(None, students)).items() if times > 1]
    if twice:
        raise BadInput(f"the roster {path} has {twice[0]!r} in two rows of its column {heading!r}; remove one")
    return students


def _fill(table: CsvTable, heading: str, cells: Sequence[str | None]) -> None:
    """Write cells into the column with this heading; None leaves a cell as it is."""
    if heading not in table.headings:
        table.headings.append(heading)
        for row in table.rows:
            row.append("")
    place = table.headings.index(heading)
    for row, cell in zip(table.rows, cells, strict=True):
        if cell is not None:
            row[place] = cell


def _plain(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@")) else cell
