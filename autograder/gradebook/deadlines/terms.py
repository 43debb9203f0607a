"""Deadlines and late penalties in nbgrader's tables, and what `course.toml` makes of them.

nbgrader has a due date for each assignment, an extension for each submission, and a penalty for each submitted
notebook; its formgrader and its export read them there. Where `course.toml` sets a due date, `write_terms` brings all
three up to date; what it has written is remembered, so that it can be taken back. Where it sets none, what nbgrader's
own autograde or formgrader has written stands. In a lesson that is frozen, whatever was written stands.
"""

from __future__ import annotations

import contextlib
import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, ScalarSelect, delete, func, insert, inspect, select, update

from autograder.course.course import Course
from autograder.course.kept.collected import read_collected
from autograder.course.semester import SEMESTER_NAME, LessonTerms, utc
from autograder.errors import BadInput
from autograder.gradebook.changes.frozen import read_frozen
from autograder.gradebook.deadlines.lateness import Lateness, lateness_of
from autograder.gradebook.deadlines.plugin import plugin_of
from autograder.gradebook.record import Record
from autograder.gradebook.tables import (
    ASSIGNMENT,
    EVENT,
    GRADED,
    NOTEBOOK,
    STUDENT,
    SUBMISSION,
    SUBMITTED,
    TERMS,
    inserting,
)

LATE_PENALTY = "late penalty"
"""What happens to a grade when its penalty changes, for its history."""

_ALL = ""
"""In place of a student's id: the lesson's own due date."""


@dataclass(frozen=True)
class _Row:
    """What nbgrader's tables say of a submission, and of the lesson's due date."""

    due: datetime | None
    extension: timedelta | None
    handed_in: datetime | None
    penalty: float


@dataclass(frozen=True)
class _Written:
    """What was last written for a student: when it is due, as `course.toml` says it, and the penalty."""

    due: str
    penalty: float


def with_lateness(course: Course, connection: Connection, lesson: str, records: Iterable[Record]) -> list[Record]:
    """These records of a lesson, with how each stands to its deadline, and how the lesson counts in the total, as
    things are now. Nothing is written.

    Args:
        course: whose `course.toml` counts.
        connection: of its gradebook.
        lesson: the lesson.
        records: with what was given by hand, since a penalty may depend on it.

    Raises:
        BadInput: nbgrader's plugin for late penalties cannot be used.
    """
    terms, plugin = course.semester.lesson(lesson), plugin_of(course)
    rows, written = _rows(connection, lesson), _written(connection, lesson)
    is_frozen, marks = lesson in read_frozen(connection), _marks(course, lesson)
    found = []
    for record in records:
        row, before = rows.get(record.student), written.get(record.student)
        if row is None:
            found.append(record)
            continue
        if terms.due is not None:
            points = None if record.void else record.earned
            late = lateness_of(
                terms, record.student, _handed_in(terms, record.student, row), points, record.most, plugin
            )
            late = replace(late, is_written=_is_written(terms, record.student, late.penalty, row, before))
        elif before is not None:  # written for a due date that is not set any more, unless nbgrader has come since
            taken_back = before.penalty == row.penalty
            late = Lateness(penalty=0.0 if taken_back or record.earned is None else row.penalty, is_written=False)
        else:
            late = _as_it_stands(row, None, record)
        if is_frozen and not late.is_written:
            late = replace(_as_it_stands(row, before, record), is_kept=True)
        if late.due is not None:
            late = replace(late, marked_late=marks.get(record.student))
        found.append(replace(record, lateness=late, weight=terms.weight, drop_lowest=course.semester.drop_lowest))
    return found


def _marks(course: Course, lesson: str) -> dict[str, bool | None]:
    """Whom the platform calls late, or in time, as far as what was collected is on record."""
    with contextlib.suppress(BadInput):  # a damaged record is told by those who need it
        return {student: one.late for student, one in read_collected(course, lesson).students.items()}
    return {}


def _handed_in(terms: LessonTerms, student: str, row: _Row) -> datetime | None:
    """When a student handed in, in UTC and without a zone: as `course.toml` has it, else as the submission says."""
    return utc(terms.handed_in[student]) if student in terms.handed_in else row.handed_in


def _as_it_stands(row: _Row, before: _Written | None, record: Record) -> Lateness:
    """What stands in nbgrader's tables; on our own due date's clock, where that is what was written."""
    due = row.due and (row.due + (row.extension or timedelta())).replace(tzinfo=UTC)
    if due and before is not None and datetime.fromisoformat(before.due) == due:
        due = datetime.fromisoformat(before.due)
    then = row.handed_in and row.handed_in.replace(tzinfo=UTC)
    if due and then:
        then = then.astimezone(due.tzinfo)
    seconds = max(0.0, (then - due).total_seconds()) if due and then else 0.0
    penalty = 0.0 if record.earned is None else row.penalty
    return Lateness(due, then, bool(row.extension), timedelta(), seconds, penalty)


def _is_written(terms: LessonTerms, student: str, penalty: float, row: _Row, before: _Written | None) -> bool:
    due = terms.due_for(student)
    assert due is not None
    told = (row.due, row.extension or timedelta(), row.penalty)
    return told == (utc(terms.due or due), _extension(terms, student), penalty) and before == _Written(
        due.isoformat(), penalty
    )


def _extension(terms: LessonTerms, student: str) -> timedelta:
    due = terms.due_for(student)
    return due - terms.due if due and terms.due else timedelta()


def _rows(connection: Connection, lesson: str) -> dict[str, _Row]:
    found = connection.execute(
        select(
            SUBMISSION.c.student_id,
            ASSIGNMENT.c.duedate,
            SUBMISSION.c.extension,
            SUBMISSION.c.timestamp,
            func.coalesce(func.sum(SUBMITTED.c.late_submission_penalty), 0.0),  # as nbgrader adds them up
        )
        .select_from(ASSIGNMENT)
        .join(SUBMISSION, SUBMISSION.c.assignment_id == ASSIGNMENT.c.id)
        .join(SUBMITTED, SUBMITTED.c.assignment_id == SUBMISSION.c.id)
        .where(ASSIGNMENT.c.name == lesson)
        .group_by(SUBMISSION.c.id, ASSIGNMENT.c.id)
    )
    return {student: _Row(*row) for student, *row in found}


def _written(connection: Connection, lesson: str) -> dict[str, _Written]:
    if not inspect(connection).has_table(TERMS.name):  # a gradebook of an earlier version
        return {}
    rows = connection.execute(select(TERMS).where(TERMS.c.lesson == lesson))
    return {row.student: _Written(row.due, row.penalty) for row in rows}


def is_due_date_written(course: Course, connection: Connection, lesson: str) -> bool:
    """Whether nbgrader's tables have the due date that `course.toml` sets for a lesson, or none of ours.

    In a lesson that is frozen, whatever they have is right.
    """
    if lesson in read_frozen(connection):
        return True
    due = course.semester.lesson(lesson).due
    if due is None:
        return _ALL not in _written(connection, lesson)
    return connection.scalar(select(ASSIGNMENT.c.duedate).where(ASSIGNMENT.c.name == lesson)) == utc(due)


def write_terms(course: Course, connection: Connection, lesson: str, records: Iterable[Record]) -> None:
    """Bring nbgrader's tables up to date with `course.toml`, and write each change of a penalty into the history.

    Args:
        course: the course.
        connection: the transaction.
        lesson: the lesson.
        records: from `with_lateness`.
    """
    terms, rows = course.semester.lesson(lesson), _rows(connection, lesson)
    changed = [record for record in records if not record.lateness.is_written]
    if terms.due is None:
        _take_back(connection, lesson, rows)
    else:
        values = {"duedate": utc(terms.due)}
        connection.execute(update(ASSIGNMENT).where(ASSIGNMENT.c.name == lesson).values(**values))
        _remember(connection, lesson, _ALL, _Written(terms.due.isoformat(), 0.0))
        for record in changed:
            student, penalty = record.student, record.lateness.penalty
            _extend(connection, lesson, student, _extension(terms, student) or None)
            _penalise(connection, lesson, student, penalty or None)
            _remember(connection, lesson, student, _Written((terms.due_for(student) or terms.due).isoformat(), penalty))
    for record in changed:
        if record.lateness.penalty != rows[record.student].penalty:
            _add_event(connection, record, rows[record.student].penalty)


def _take_back(connection: Connection, lesson: str, rows: Mapping[str, _Row]) -> None:
    """Take back what was written for a lesson that has no due date any more: all of it, since nbgrader cannot read an
    extension of none. What nbgrader has written since stays.
    """
    written = _written(connection, lesson)
    for student in written.keys() & rows.keys():
        _extend(connection, lesson, student, None)
        if rows[student].penalty == written[student].penalty:
            _penalise(connection, lesson, student, None)
    if _ALL in written:
        ours = (ASSIGNMENT.c.name == lesson, ASSIGNMENT.c.duedate == utc(datetime.fromisoformat(written[_ALL].due)))
        connection.execute(update(ASSIGNMENT).where(*ours).values(duedate=None))
    connection.execute(delete(TERMS).where(TERMS.c.lesson == lesson))


def _extend(connection: Connection, lesson: str, student: str, extension: timedelta | None) -> None:
    submission = _submission(lesson, student)
    connection.execute(update(SUBMISSION).where(SUBMISSION.c.id == submission).values(extension=extension))


def _penalise(connection: Connection, lesson: str, student: str, penalty: float | None) -> None:
    """Write a penalty to the lesson's notebook, and none to any other that nbgrader has for the submission."""
    pages = SUBMITTED.c.assignment_id == _submission(lesson, student)
    own = select(NOTEBOOK.c.id).where(NOTEBOOK.c.name == lesson)
    connection.execute(update(SUBMITTED).where(pages).values(late_submission_penalty=None))
    connection.execute(
        update(SUBMITTED).where(pages, SUBMITTED.c.notebook_id.in_(own)).values(late_submission_penalty=penalty)
    )


def _submission(lesson: str, student: str) -> ScalarSelect[Any]:
    mine = select(SUBMISSION.c.id).join(ASSIGNMENT, ASSIGNMENT.c.id == SUBMISSION.c.assignment_id)
    return mine.where(ASSIGNMENT.c.name == lesson, SUBMISSION.c.student_id == student).scalar_subquery()


def _remember(connection: Connection, lesson: str, student: str, written: _Written) -> None:
    statement = inserting(connection, TERMS).values(lesson=lesson, student=student, **vars(written))
    statement = statement.on_conflict_do_update(index_elements=["lesson", "student"], set_=vars(written))
    connection.execute(statement)


def _add_event(connection: Connection, record: Record, before: float) -> None:
    """Write a changed penalty into the history, under the run that has graded the submission."""
    late = record.lateness
    due = f"; due {late.due.isoformat()}" if late.due else "; no longer due"
    then = f", handed in {late.handed_in.isoformat()}" if late.handed_in else ""
    values: dict[str, Any] = {
        "lesson": record.lesson,
        "student": record.student,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "kind": LATE_PENALTY,
        "why": json.dumps([f"{before:g} -> {late.penalty:g} points off{due}{then}"]),
        "digest": record.digest,
        "handed_in": record.handed_in,
        "points": record.total,
        "max_points": record.max_total,
    }
    run = select(GRADED.c.run).where(GRADED.c.lesson == record.lesson, GRADED.c.student == record.student)
    connection.execute(insert(EVENT).values(run=run.scalar_subquery(), **values))


def warnings_about_students(course: Course, connection: Connection, lesson: str) -> list[str]:
    """Who has a date of their own in `course.toml` and has never handed anything in: perhaps the id is misspelt."""
    folders = course.submitted.iterdir() if course.submitted.is_dir() else ()
    known = {*connection.scalars(select(STUDENT.c.id)), *(folder.name for folder in folders)}
    terms, said = course.semester.lesson(lesson), []
    for named, students in (("an extension", terms.extensions), ("a time", terms.handed_in)):
        for student in sorted(students.keys() - known):
            near = difflib.get_close_matches(student, known, n=1)
            meant = f": did you mean {near[0]}?" if near else "; check the id"
            said.append(f"{SEMESTER_NAME}: {lesson} has {named} for {student}, who has handed in nothing{meant}")
    return said
