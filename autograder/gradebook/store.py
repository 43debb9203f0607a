"""Writes records into our tables, and reads them.

Everything is written in the caller's transaction, together with nbgrader's own rows: a submission is recorded in both
or in neither.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, String, and_, cast, delete, exists, func, or_, select, update
from sqlalchemy.orm import Session, aliased

from autograder.gradebook import models
from autograder.gradebook.changes.adjustments import Adjustment, Adjustments, adjusted
from autograder.gradebook.changes.given_by_hand import is_given
from autograder.gradebook.models import (
    Answer,
    Case,
    Event,
    Exercise,
    Frozen,
    Run,
    Share,
    Submission,
    add_new,
    of_submissions,
    put,
    put_all,
)
from autograder.gradebook.record import CaseRecord, Change, Conditions, ExerciseRecord, HandGrade, Record, Standing

NO_ADJUSTMENTS: Adjustments = {}
WAS_GRADED, WAS_SET_ASIDE, WAS_ADJUSTED = "graded", "set aside", "counted anew"
"""The kinds of events in a grade's history."""

_OF_A_RECORD = "digest notebook handed_in slot problem seconds void repairs remarks files imports".split()
_NOT_OF_IT = ("cases", "adjustment", "counts")
_OF_AN_EXERCISE = [field.name for field in fields(ExerciseRecord) if field.name not in _NOT_OF_IT]
_OF_A_CASE = [field.name for field in fields(CaseRecord)]
_OF_A_STANDING, _WHEN = [field.name for field in fields(Standing)], ("before", "after")
"""Fields that are stored unchanged, in columns of the same name."""


def begin_run(session: Session, run: Run) -> int:
    """Record that a run begins; return its number."""
    run.started = _now()
    session.add(run)
    session.flush()
    return run.id


def end_run(session: Session, run: int) -> None:
    """Record that a run has finished."""
    session.execute(update(Run).where(Run.id == run).values(finished=_now()))


def save(
    session: Session,
    run: int,
    record: Record,
    why: Iterable[str] = (),
    unchanged: Collection[str] = (),
    adjustments: Adjustments = NO_ADJUSTMENTS,
) -> tuple[Change, ...]:
    """Replace a submission's record, add the changes to its history, and return them.

    Args:
        why: the reasons why it was graded, or graded again, a sentence each.
        unchanged: exercises that were not graded again: their records stay.
        adjustments: the course's decisions; history and changes have the points with these applied.
    """
    earlier = records(session, record.lesson, record.student).get(record.student)
    submission = put(
        session,
        Submission,
        {"lesson": record.lesson, "student": record.student},
        run=run,
        conditions=_conditions_id(session, record.conditions),
        graded=_now(),
        by_hand="",  # the page has been written without
        **{name: getattr(record, name) for name in _OF_A_RECORD},
    )
    for model in (Case, Exercise) if earlier is not None else ():
        session.execute(delete(model).where(model.submission == submission, model.exercise.not_in(unchanged)))
    _save_exercises(session, run, submission, record, unchanged)
    counted = adjusted(record, adjustments)
    changes = changes_between(None if earlier is None else adjusted(earlier, adjustments), counted)
    told = () if earlier is None else changes
    add_event(session, run, counted, WAS_GRADED, tuple(why), counted.points, counted.max_points, told)
    return changes


def changes_between(before: Record | None, after: Record) -> tuple[Change, ...]:
    """Return the exercises whose results differ between two records."""
    old = {} if before is None else {one.exercise: one.standing for one in before.exercises}
    new = {one.exercise: one.standing for one in after.exercises}
    return tuple(
        Change(exercise, old.get(exercise), new.get(exercise))
        for exercise in new | old
        if old.get(exercise) != new.get(exercise)
    )


def set_aside(session: Session, run: int, lesson: str, students: Collection[str], why: str) -> None:
    """Stop counting these students' records. Their contents stay until they are graded again."""
    for record in records(session, lesson).values():
        if record.student in students and not record.void:
            session.execute(update(Submission).where(*_of(lesson, record.student)).values(void=why))
            add_event(session, run, record, WAS_SET_ASIDE, (why,), None, record.max_points)


def _of(lesson: str, student: str | None) -> list[ColumnElement[bool]]:
    """Return the SQL conditions for a lesson's submissions, or one student's."""
    return [Submission.lesson == lesson, *([] if student is None else [Submission.student == student])]


def _save_exercises(session: Session, run: int, submission: int, record: Record, unchanged: Collection[str]) -> None:
    exercises, cases = [], []
    for number, one in enumerate(record.exercises):
        if one.exercise in unchanged:
            row = (Exercise.submission == submission, Exercise.exercise == one.exercise)
            session.execute(update(Exercise).where(*row).values(number=number))
            continue
        own = {name: getattr(one, name) for name in _OF_AN_EXERCISE}
        exercises.append({"submission": submission, "number": number, "run": run, **own})
        place = {"submission": submission, "exercise": one.exercise}
        cases += [
            {**place, "number": number, **vars(case), "hidden": int(case.hidden)}
            for number, case in enumerate(one.cases)
        ]
    put_all(session, Exercise, ("submission", "exercise"), exercises)
    put_all(session, Case, ("submission", "exercise", "number"), cases)


def _conditions_id(session: Session, conditions: Conditions) -> int:
    which = select(models.Conditions.id).filter_by(**vars(conditions))
    known: int | None = session.scalar(which)
    if known is None:
        add_new(session, models.Conditions, **vars(conditions))
    return session.execute(which).scalar_one() if known is None else known


def add_event(
    session: Session,
    run: int,
    record: Record,
    kind: str,
    why: Sequence[str],
    points: float | None,
    max_points: float,
    changes: Iterable[Change] = (),
) -> None:
    """Add an event to the history of a submission's grade.

    Args:
        record: the submission's record from then on.
        kind: `WAS_GRADED` and the like.
        points: the points from then on, or None.
    """
    event = Event(
        lesson=record.lesson,
        student=record.student,
        run=run,
        at=_now(),
        kind=kind,
        why=why,
        digest=record.digest,
        handed_in=record.handed_in,
        points=points,
        max_points=max_points,
    )
    session.add(event)
    session.flush()
    for one in changes:
        standings = {
            f"{when}_{name}": getattr(getattr(one, when), name, None) for when in _WHEN for name in _OF_A_STANDING
        }
        session.add(models.Change(event=event.id, exercise=one.exercise, **standings))


# --- reading


def records(session: Session, lesson: str, student: str | None = None) -> dict[str, Record]:
    """Return a lesson's records, or one student's, by student, without their cases."""
    which = _of(lesson, student)
    found = session.scalars(select(Submission).where(*which).order_by(Submission.student)).all()
    if not found:
        return {}
    conditions = {
        row.id: Conditions(row.release, row.seed, row.versions, row.settings)
        for row in session.scalars(select(models.Conditions))
    }
    exercises: dict[int, list[ExerciseRecord]] = {}
    columns = (Exercise.submission, *(getattr(Exercise, name) for name in _OF_AN_EXERCISE))
    rows = select(*columns).join(Submission, Submission.id == Exercise.submission).where(*which)
    for submission, *own in session.execute(rows.order_by(Exercise.submission, Exercise.number)):
        exercises.setdefault(submission, []).append(ExerciseRecord(**dict(zip(_OF_AN_EXERCISE, own, strict=True))))
    return {
        row.student: Record(
            student=row.student,
            lesson=row.lesson,
            conditions=conditions[row.conditions],
            exercises=tuple(exercises.get(row.id, ())),
            **{name: _immutable(getattr(row, name)) for name in _OF_A_RECORD},
        )
        for row in found
    }


def _immutable(value: Any) -> Any:
    """Return plain data with tuples in place of lists."""
    if isinstance(value, dict):
        return {name: _immutable(one) for name, one in value.items()}
    return tuple(value) if isinstance(value, list) else value


def counted(session: Session, lesson: str, student: str | None = None) -> dict[str, Record]:
    """Return the same records with the adjustments applied that the scores include."""
    adjustments = read_adjustments(session, lesson)
    return {name: adjusted(record, adjustments) for name, record in records(session, lesson, student).items()}


def read_adjustments(session: Session, lesson: str) -> dict[str, Adjustment]:
    """Return the adjustments that a lesson's scores include."""
    row = models.Adjustment
    rows = session.scalars(select(row).where(row.lesson == lesson).order_by(row.exercise))
    return {one.exercise: Adjustment(**_immutable(one.ruling)) for one in rows}


def write_adjustments(session: Session, lesson: str, adjustments: Adjustments) -> None:
    """Record the adjustments that a lesson's scores include from now on."""
    session.execute(delete(models.Adjustment).where(models.Adjustment.lesson == lesson))
    session.add_all(
        models.Adjustment(lesson=lesson, exercise=name, ruling=vars(one)) for name, one in adjustments.items()
    )


def read_frozen(session: Session) -> dict[str, str]:
    """Return the frozen lessons with the times they were frozen."""
    return {row.lesson: row.since for row in session.scalars(select(Frozen).order_by(Frozen.lesson))}


def cases(session: Session, lesson: str, student: str) -> dict[str, tuple[CaseRecord, ...]]:
    """Return the cases of a submission, by exercise."""
    found: dict[str, list[CaseRecord]] = {}
    for exercise, *own in session.execute(
        select(Case.exercise, *(getattr(Case, name) for name in _OF_A_CASE))
        .join(Submission, Submission.id == Case.submission)
        .where(*_of(lesson, student))
        .order_by(Case.exercise, Case.number)
    ):
        case = CaseRecord(*own)
        found.setdefault(exercise, []).append(replace(case, hidden=bool(case.hidden)))
    return {exercise: tuple(seen) for exercise, seen in found.items()}


def runs(session: Session) -> dict[int, dict[str, Any]]:
    """Return all grading runs, by number."""
    return {row.id: dict(row._mapping) for row in session.execute(select(*Run.__table__.c))}


def graded_by(session: Session, lesson: str, student: str) -> tuple[str, int, dict[str, int]]:
    """Return when the current submission was graded, by which run, and which run graded each exercise."""
    which = select(Submission.id, Submission.graded, Submission.run).where(*_of(lesson, student))
    submission = session.execute(which).one()
    judged = select(Exercise.exercise, Exercise.run).where(Exercise.submission == submission.id)
    return submission.graded, submission.run, {row.exercise: row.run for row in session.execute(judged)}


def graded_lessons(session: Session) -> list[str]:
    """Return the lessons that have grades, in order."""
    return list(session.scalars(select(Submission.lesson).distinct().order_by(Submission.lesson)))


def known_students(session: Session) -> set[str]:
    """Return the students that nbgrader knows."""
    return set(session.scalars(select(models.Student.id)))


def history(session: Session, lesson: str, student: str) -> list[tuple[dict[str, Any], list[Change]]]:
    """Return the history of a submission's grade: each event with its changes, in order."""
    of_it = select(*Event.__table__.c).where(Event.lesson == lesson, Event.student == student).order_by(Event.id)
    found = []
    for event in session.execute(of_it).all():
        rows = select(models.Change).filter_by(event=event.id).order_by(models.Change.exercise)
        changes = [Change(row.exercise, *(_standing(row, when) for when in _WHEN)) for row in session.scalars(rows)]
        found.append((dict(event._mapping), changes))
    return found


def _standing(row: models.Change, when: str) -> Standing | None:
    columns = [getattr(row, f"{when}_{name}") for name in _OF_A_STANDING]
    return None if columns[0] is None else Standing(*columns)


def by_hand(session: Session, lesson: str, student: str | None = None) -> dict[str, tuple[HandGrade, ...]]:
    """Return what people have given and written in formgrader, and what waits for them, by student; optionally for one.

    Written answers are all included, an exercise's cell only if somebody has touched it.
    """
    cell, grade, comment = models.BaseCell, models.Grade, models.Comment
    with_points, task, beside = models.GradeCell.__table__, models.TaskCell.__table__, aliased(cell)
    same = (beside.notebook_id == cell.notebook_id, beside.name == cell.name)
    is_answer = exists(select(beside.id).where(*same, beside.type == "SolutionCell"))
    written = or_(is_answer, task.c.id.is_not(None), cast(with_points.c.cell_type, String) == "markdown")
    touched = or_(
        and_(written, grade.id.is_not(None)),
        is_given(),
        grade.needs_manual_grade.is_(True),
        comment.manual_comment != "",
    )
    submission, submitted = models.SubmittedAssignment, models.SubmittedNotebook
    rows = session.execute(
        of_submissions(
            lesson,
            submission.student_id.label("student"),
            cell.name.label("cell"),
            cell.type.label("kind"),
            models.Notebook.name.label("notebook"),
            written.label("written"),
            *grade.__table__.c,
            func.coalesce(with_points.c.max_score, task.c.max_score, 0).label("max_points"),
            comment.manual_comment,
            and_(grade.needs_manual_grade, is_given(), Answer.given_for != Answer.checksum).label("is_changed"),
        )
        .join(cell, cell.notebook_id == submitted.notebook_id)
        .outerjoin(with_points, with_points.c.id == cell.id)
        .outerjoin(task, task.c.id == cell.id)
        .outerjoin(grade, and_(grade.cell_id == cell.id, grade.notebook_id == submitted.id))
        .outerjoin(Answer, Answer.grade_id == grade.id)
        .outerjoin(comment, and_(comment.cell_id == cell.id, comment.notebook_id == submitted.id))
        .where(touched, *([] if student is None else [submission.student_id == student]))
    )
    found: dict[str, dict[tuple[str, str], HandGrade]] = {}
    shares = {share.grade_id: share for share in session.scalars(select(Share))}
    for row in sorted(rows, key=lambda row: (row.student, row.notebook, row.cell, row.kind)):  # not as the server sorts
        share = shares.get(row.id)
        cells, key = found.setdefault(row.student, {}), (row.notebook, row.cell)
        comment = row.manual_comment or (cells[key].comment if key in cells else "")
        graded = row.id is not None
        if graded or key not in cells:  # a written answer has a row for its points, one for its comment
            cells[key] = HandGrade(
                row.cell,
                bool(row.written and graded),
                row.auto_score,
                row.manual_score,
                row.extra_credit,
                row.max_points,
                bool(row.needs_manual_grade),
                comment,
                "" if row.notebook == lesson else row.notebook,
                None if share is None or share.counts != row.manual_score else (share.given, share.out_of),
                bool(row.is_changed),
            )
        else:
            cells[key] = replace(cells[key], comment=comment)
    return {name: tuple(cells.values()) for name, cells in found.items()}


def pages(session: Session, lesson: str) -> dict[str, Row[str, str, str]]:
    """Return the feedback pages of all students whose grade counts, by student: which points by hand each page shows
    (`by_hand`, a digest), and when the submission was graded (`graded`). The page may have been rewritten since.
    """
    columns = select(Submission.student, Submission.by_hand, Submission.graded)
    found = session.execute(columns.where(Submission.lesson == lesson, Submission.void == ""))
    return {row.student: row for row in found}


def save_page(session: Session, record: Record, by_hand: str) -> None:
    """Record that a feedback page was rewritten with these points by hand."""
    where = _of(record.lesson, record.student)
    session.execute(update(Submission).where(*where).values(files=record.files, by_hand=by_hand))


def overwritten(session: Session, lesson: str, counted: Mapping[str, Record]) -> set[str]:
    """Return the students whose automatic scores in nbgrader's tables do not match our records.

    Args:
        counted: the records by student, with adjustments applied.
    """
    columns = (models.SubmittedAssignment.student_id, models.Notebook.name, models.BaseCell.name)
    rows = session.execute(
        of_submissions(lesson, *columns, models.Grade.auto_score)
        .join(models.SubmittedNotebook.grades)
        .join(models.Grade.cell)
        .where(models.BaseCell.type == "GradeCell")
    )
    scores, missing = {tuple(cell): score for *cell, score in rows}, object()
    return {
        student
        for student, record in counted.items()
        if not record.void
        and any(
            scores.get((student, one.notebook(lesson), one.cell), missing) != one.points for one in record.exercises
        )
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
