"""Keeps deadlines and late penalties in nbgrader's tables in step with `course.toml`.

nbgrader has a due date for each assignment, an extension for each submission, and a penalty for each submitted
notebook; its formgrader and its export read them there. Where `course.toml` sets a due date, `write_terms` brings all
three up to date, and remembers what it wrote, so that it can take it back. Where `course.toml` sets none, anything that
nbgrader's own autograde or formgrader wrote stays. In a frozen lesson, nothing changes.
"""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session, joinedload, load_only, selectinload

from autograder.course.course import Course
from autograder.course.semester import SEMESTER_NAME, LessonTerms, utc
from autograder.course.store.collected import readable_deliveries
from autograder.gradebook import models
from autograder.gradebook.deadlines.lateness import Lateness, lateness_of
from autograder.gradebook.deadlines.plugin import plugin_of
from autograder.gradebook.models import Submission, Terms
from autograder.gradebook.record import Record
from autograder.gradebook.store import add_event, read_frozen

LATE_PENALTY = "late penalty"
"""The kind of event in a grade's history when its penalty changes."""

_ALL = ""
"""In place of a student's id: the lesson's own due date."""


def with_lateness(course: Course, session: Session, lesson: str, records: Iterable[Record]) -> list[Record]:
    """Return these records with their lateness, and with the lesson's weight in the total, by the current
    `course.toml`. Nothing is written.

    Args:
        records: including the points given by hand, since a penalty may depend on them.

    Raises:
        BadInput: nbgrader's plugin for late penalties cannot be used.
    """
    terms, plugin = course.semester.lesson(lesson), plugin_of(course)
    submissions, written = _submissions(session, lesson), _written(session, lesson)
    is_frozen, deliveries = lesson in read_frozen(session), readable_deliveries(course, lesson)
    found = []
    for record in records:
        submission, before = submissions.get(record.student), written.get(record.student)
        if submission is None:
            found.append(record)
            continue
        if terms.due is not None:
            points = None if record.void else record.earned
            given = terms.handed_in.get(record.student)
            then = utc(given) if given else submission.timestamp
            late = lateness_of(terms, record.student, then, points, record.most, plugin)
            late = replace(late, is_written=_is_written(terms, late.penalty, submission, before))
        elif before is not None:  # written for a due date that is not set any more, unless nbgrader has come since
            stands = _penalty(submission)
            taken_back = before.penalty == stands or record.earned is None
            late = Lateness(penalty=0.0 if taken_back else stands, is_written=False)
        else:
            late = _as_it_stands(submission, None, record)
        if is_frozen and not late.is_written:
            late = replace(_as_it_stands(submission, before, record), is_kept=True)
        if late.due is not None and record.student in deliveries:
            late = replace(late, marked_late=deliveries[record.student].late)
        found.append(replace(record, lateness=late, weight=terms.weight, drop_lowest=course.semester.drop_lowest))
    return found


def _as_it_stands(submission: Any, before: Terms | None, record: Record) -> Lateness:
    """Return the lateness that nbgrader's tables hold, in our due date's time zone if they have that date."""
    due = submission.assignment.duedate and submission.duedate.replace(tzinfo=UTC)
    if due and before is not None and datetime.fromisoformat(before.due) == due:
        due = datetime.fromisoformat(before.due)
    then = submission.timestamp and submission.timestamp.replace(tzinfo=UTC)
    if due and then:
        then = then.astimezone(due.tzinfo)
    seconds = max(0.0, (then - due).total_seconds()) if due and then else 0.0
    penalty = 0.0 if record.earned is None else _penalty(submission)
    return Lateness(due, then, bool(submission.extension), timedelta(), seconds, penalty)


def _is_written(terms: LessonTerms, penalty: float, submission: Any, before: Terms | None) -> bool:
    due = terms.due_for(submission.student_id)
    assert terms.due is not None
    assert due is not None
    stands = (submission.assignment.duedate, submission.extension or timedelta(), _penalty(submission))
    return (
        stands == (utc(terms.due), due - terms.due, penalty)
        and before is not None
        and (before.due, before.penalty) == (due.isoformat(), penalty)
    )


def _submissions(session: Session, lesson: str) -> dict[str, Any]:
    """Return nbgrader's rows of the submissions to a lesson, by student."""
    submission, notebook = models.SubmittedAssignment, models.SubmittedNotebook
    rows = session.scalars(
        select(submission)
        .where(submission.assignment.has(name=lesson))
        .options(
            load_only(submission.student_id, submission.timestamp, submission.extension),
            joinedload(submission.assignment).load_only(models.Assignment.duedate),
            selectinload(submission.notebooks).load_only(notebook.late_submission_penalty, notebook.notebook_id),
        )
    )
    return {row.student_id: row for row in rows}


def _penalty(submission: Any) -> float:
    """Return what nbgrader takes off in all notebooks of a submission."""
    return sum((page.late_submission_penalty or 0.0 for page in submission.notebooks), 0.0)


def _written(session: Session, lesson: str) -> dict[str, Terms]:
    """Return what was last written for each student: the due date as `course.toml` had it, and the penalty."""
    return {row.student: row for row in session.scalars(select(Terms).where(Terms.lesson == lesson))}


def is_due_date_written(course: Course, session: Session, lesson: str) -> bool:
    """Return whether nbgrader's tables have the due date that `course.toml` sets, or none of ours if it sets none.

    For a frozen lesson, always True.
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
    The records are from `with_lateness`.
    """
    terms, submissions = course.semester.lesson(lesson), _submissions(session, lesson)
    changed = [record for record in records if not record.lateness.is_written]
    before = {record.student: _penalty(submissions[record.student]) for record in changed}
    if terms.due is None:
        _take_back(session, lesson, submissions)
    else:
        _assignment(session, lesson).duedate = utc(terms.due)
        session.merge(Terms(lesson=lesson, student=_ALL, due=terms.due.isoformat(), penalty=0.0))
        for record in changed:
            penalty, due = record.lateness.penalty, terms.due_for(record.student) or terms.due
            submissions[record.student].extension = (due - terms.due) or None
            _penalise(submissions[record.student], lesson, penalty or None)
            session.merge(Terms(lesson=lesson, student=record.student, due=due.isoformat(), penalty=penalty))
    for record in changed:
        late = record.lateness
        if late.penalty != before[record.student]:
            due_on = f"due {late.due.isoformat()}" if late.due else "no longer due"
            then = f", handed in {late.handed_in.isoformat()}" if late.handed_in else ""
            why = f"{before[record.student]:g} -> {late.penalty:g} points off; {due_on}{then}"
            run = select(Submission.run).filter_by(lesson=lesson, student=record.student)  # that has graded it
            add_event(session, session.scalars(run).one(), record, LATE_PENALTY, (why,), record.total, record.max_total)


def _take_back(session: Session, lesson: str, submissions: Mapping[str, Any]) -> None:
    """Take back everything written for a lesson that no longer has a due date: nbgrader cannot read an extension
    without one. What nbgrader has written since stays.
    """
    written, assignment = _written(session, lesson), _assignment(session, lesson)
    for student in written.keys() & submissions.keys():
        submissions[student].extension = None
        if _penalty(submissions[student]) == written[student].penalty:
            _penalise(submissions[student], lesson, None)
    if _ALL in written and assignment.duedate == utc(datetime.fromisoformat(written[_ALL].due)):
        assignment.duedate = None
    session.execute(delete(Terms).where(Terms.lesson == lesson))


def _assignment(session: Session, lesson: str) -> Any:
    return session.scalars(select(models.Assignment).where(models.Assignment.name == lesson)).one()


def _penalise(submission: Any, lesson: str, penalty: float | None) -> None:
    """Set the penalty on the lesson's notebook, and clear it on the submission's other notebooks."""
    for page in submission.notebooks:
        page.late_submission_penalty = penalty if page.name == lesson else None


def warnings_about_students(course: Course, session: Session, lesson: str) -> list[str]:
    """Warn about ids that have their own date in `course.toml` but never handed anything in: they may be misspelled."""
    folders = course.submitted.iterdir() if course.submitted.is_dir() else ()
    known = {*session.scalars(select(models.Student.id)), *(folder.name for folder in folders)}
    terms, said = course.semester.lesson(lesson), []
    for named, students in (("an extension", terms.extensions), ("a time", terms.handed_in)):
        for student in sorted(students.keys() - known):
            near = difflib.get_close_matches(student, known, n=1)
            meant = f": did you mean {near[0]}?" if near else "; check the id"
            said.append(f"{SEMESTER_NAME}: {lesson} has {named} for {student}, who has handed in nothing{meant}")
    return said
