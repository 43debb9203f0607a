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

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from autograder.course.course import Course
from autograder.course.semester import SEMESTER_NAME, LessonTerms, utc
from autograder.course.store.collected import read_collected
from autograder.errors import BadInput
from autograder.gradebook import models
from autograder.gradebook.deadlines.lateness import Lateness, lateness_of
from autograder.gradebook.deadlines.plugin import plugin_of
from autograder.gradebook.models import Event, Submission, Terms, of_submissions
from autograder.gradebook.record import Record
from autograder.gradebook.store import read_frozen

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


def with_lateness(course: Course, session: Session, lesson: str, records: Iterable[Record]) -> list[Record]:
    """These records of a lesson, with how each stands to its deadline, and how the lesson counts in the total, as
    things are now. Nothing is written.

    Args:
        course: whose `course.toml` counts.
        session: of its gradebook.
        lesson: the lesson.
        records: with what was given by hand, since a penalty may depend on it.

    Raises:
        BadInput: nbgrader's plugin for late penalties cannot be used.
    """
    terms, plugin = course.semester.lesson(lesson), plugin_of(course)
    rows, written = _rows(session, lesson), _written(session, lesson)
    is_frozen, marks = lesson in read_frozen(session), _marks(course, lesson)
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
        return {student: one.late for student, one in read_collected(course, lesson).items()}
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


def _rows(session: Session, lesson: str) -> dict[str, _Row]:
    submission, assignment = models.SubmittedAssignment, models.Assignment
    penalty = func.coalesce(func.sum(models.SubmittedNotebook.late_submission_penalty), 0.0)  # as nbgrader adds them up
    columns = (submission.student_id, assignment.duedate, submission.extension, submission.timestamp, penalty)
    found = session.execute(of_submissions(lesson, *columns).group_by(submission.id, assignment.id))
    return {student: _Row(*row) for student, *row in found}


def _written(session: Session, lesson: str) -> dict[str, _Written]:
    rows = session.scalars(select(Terms).where(Terms.lesson == lesson))
    return {row.student: _Written(row.due, row.penalty) for row in rows}


def is_due_date_written(course: Course, session: Session, lesson: str) -> bool:
    """Whether nbgrader's tables have the due date that `course.toml` sets for a lesson, or none of ours.

    In a lesson that is frozen, whatever they have is right.
    """
    if lesson in read_frozen(session):
        return True
    due = course.semester.lesson(lesson).due
    if due is None:
        return _ALL not in _written(session, lesson)
    assignment = models.Assignment
    return bool(session.scalar(select(assignment.duedate).where(assignment.name == lesson)) == utc(due))


def write_terms(course: Course, session: Session, lesson: str, records: Iterable[Record]) -> None:
    """Bring nbgrader's tables up to date with `course.toml`, and write each change of a penalty into the history.

    Args:
        course: the course.
        session: the transaction.
        lesson: the lesson.
        records: from `with_lateness`.
    """
    terms, rows = course.semester.lesson(lesson), _rows(session, lesson)
    changed = [record for record in records if not record.lateness.is_written]
    if terms.due is None:
        _take_back(session, lesson, rows)
    else:
        _assignment(session, lesson).duedate = utc(terms.due)
        session.merge(Terms(lesson=lesson, student=_ALL, due=terms.due.isoformat(), penalty=0.0))
        for record in changed:
            student, penalty = record.student, record.lateness.penalty
            due = terms.due_for(student) or terms.due
            submission = _submission(session, lesson, student)
            submission.extension = _extension(terms, student) or None
            _penalise(submission, lesson, penalty or None)
            session.merge(Terms(lesson=lesson, student=student, due=due.isoformat(), penalty=penalty))
    for record in changed:
        if record.lateness.penalty != rows[record.student].penalty:
            _add_event(session, record, rows[record.student].penalty)


def _take_back(session: Session, lesson: str, rows: Mapping[str, _Row]) -> None:
    """Take back what was written for a lesson that has no due date any more: all of it, since nbgrader cannot read an
    extension of none. What nbgrader has written since stays.
    """
    written, assignment = _written(session, lesson), _assignment(session, lesson)
    for student in written.keys() & rows.keys():
        submission = _submission(session, lesson, student)
        submission.extension = None
        if rows[student].penalty == written[student].penalty:
            _penalise(submission, lesson, None)
    if _ALL in written and assignment.duedate == utc(datetime.fromisoformat(written[_ALL].due)):
        assignment.duedate = None
    session.execute(delete(Terms).where(Terms.lesson == lesson))


def _assignment(session: Session, lesson: str) -> Any:
    return session.scalars(select(models.Assignment).where(models.Assignment.name == lesson)).one()


def _submission(session: Session, lesson: str, student: str) -> Any:
    submission = models.SubmittedAssignment
    mine = select(submission).join(models.Assignment, models.Assignment.id == submission.assignment_id)
    return session.scalars(mine.where(models.Assignment.name == lesson, submission.student_id == student)).one()


def _penalise(submission: Any, lesson: str, penalty: float | None) -> None:
    """Write a penalty to the lesson's notebook, and none to any other that nbgrader has for the submission."""
    for page in submission.notebooks:
        page.late_submission_penalty = penalty if page.name == lesson else None


def _add_event(session: Session, record: Record, before: float) -> None:
    """Write a changed penalty into the history, under the run that has graded the submission."""
    late = record.lateness
    due = f"; due {late.due.isoformat()}" if late.due else "; no longer due"
    then = f", handed in {late.handed_in.isoformat()}" if late.handed_in else ""
    session.add(
        Event(
            lesson=record.lesson,
            student=record.student,
            run=session.scalars(select(Submission.run).filter_by(lesson=record.lesson, student=record.student)).one(),
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            kind=LATE_PENALTY,
            why=json.dumps([f"{before:g} -> {late.penalty:g} points off{due}{then}"]),
            digest=record.digest,
            handed_in=record.handed_in,
            points=record.total,
            max_points=record.max_total,
        )
    )


def warnings_about_students(course: Course, session: Session, lesson: str) -> list[str]:
    """Who has a date of their own in `course.toml` and has never handed anything in: perhaps the id is misspelt."""
    folders = course.submitted.iterdir() if course.submitted.is_dir() else ()
    known = {*session.scalars(select(models.Student.id)), *(folder.name for folder in folders)}
    terms, said = course.semester.lesson(lesson), []
    for named, students in (("an extension", terms.extensions), ("a time", terms.handed_in)):
        for student in sorted(students.keys() - known):
            near = difflib.get_close_matches(student, known, n=1)
            meant = f": did you mean {near[0]}?" if near else "; check the id"
            said.append(f"{SEMESTER_NAME}: {lesson} has {named} for {student}, who has handed in nothing{meant}")
    return said
