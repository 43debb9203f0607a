"""Keeps the points that people give in formgrader, while cells come and go and their points change.

These points are never lost when a cell goes, and never shrink because the cell is worth more. If the text they were
given for changes, they still count, but the cell waits for a person again.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, Select, or_, select, update
from sqlalchemy.orm import Session

from autograder.gradebook import models
from autograder.gradebook.models import Answer, Kept, Share, new_id, submitted_notebook


def remember_read_texts(session: Session, *which: ColumnElement[bool]) -> None:
    """Record which text points were given for, wherever a person gave some and nothing has changed since."""
    grade = models.Grade
    read = select(grade.id).where(*which, is_given(), grade.needs_manual_grade.is_(False))
    session.execute(update(Answer).where(Answer.grade_id.in_(read)).values(given_for=Answer.checksum))


def is_given() -> ColumnElement[bool]:
    """Return the SQL condition that a person has given points for one of nbgrader's grades."""
    return or_(models.Grade.manual_score.is_not(None), models.Grade.extra_credit.is_not(None))


def keep(session: Session, lesson: str, row_id: str, cell: str, worth: float, with_comments: bool = False) -> int:
    """Put aside what was given for a cell, so that it does not count; return how many students had some.

    Args:
        row_id: the cell's row in nbgrader's tables; a written answer has two, so call this once for each.
        worth: the cell's maximum when it was given.
        with_comments: whether to put aside the comments too, because the cell is going.
    """
    remember_read_texts(session, models.Grade.cell_id == row_id)
    found: dict[str, Kept] = {}
    grades = _with_student(models.Grade).where(models.Grade.cell_id == row_id, is_given())
    for grade, student in session.execute(grades.with_for_update(of=models.Grade)):
        found[student] = kept = _kept(session, lesson, cell, student, worth)
        kept.grade_id, kept.points, kept.extra_credit = grade.id, grade.manual_score, grade.extra_credit
        grade.manual_score = grade.extra_credit = None
    if with_comments:
        comments = _with_student(models.Comment).where(models.Comment.cell_id == row_id)
        for comment, student in session.execute(comments.where(models.Comment.manual_comment != "")):
            found[student] = kept = _kept(session, lesson, cell, student, worth)
            kept.comment = comment.manual_comment
    return len(found)


def _kept(session: Session, lesson: str, cell: str, student: str, worth: float) -> Kept:
    kept = session.get(Kept, (lesson, cell, student))
    if kept is None:
        kept = Kept(lesson=lesson, cell=cell, student=student, worth=worth, grade_id=new_id(), comment="")
        session.add(kept)
    return kept


def _with_student(model: Any) -> Select[Any]:
    """Select nbgrader's rows of this model with the student whose submitted notebook each belongs to."""
    submission = models.SubmittedAssignment
    return select(model, submission.student_id).join(model.notebook).join(models.SubmittedNotebook.assignment)


def restore(session: Session, lesson: str, notebook: str, counting: Mapping[str, float]) -> dict[str, int]:
    """Bring back what was kept for cells that count again, which are given with their maximum points; return how many
    students had some, by cell.
    """
    restored: dict[str, int] = {}
    for kept in session.scalars(select(Kept).where(Kept.lesson == lesson, Kept.cell.in_(list(counting)))).all():
        submitted = submitted_notebook(session, notebook, kept.student)
        if submitted is None:
            continue
        for cell in session.scalars(select(models.BaseCell).filter_by(notebook_id=notebook, name=kept.cell)).all():
            if cell.type in ("GradeCell", "TaskCell") and (kept.points is not None or kept.extra_credit is not None):
                grade = _restore_points(session, kept, cell.id, submitted)
                _share_out(session, grade, kept.worth, counting[kept.cell])
            if cell.type in ("SolutionCell", "TaskCell") and kept.comment:
                key = {"cell_id": cell.id, "notebook_id": submitted}
                comment = session.scalar(select(models.Comment).filter_by(**key)) or models.Comment(**key)
                session.add(comment)
                comment.manual_comment = comment.manual_comment or kept.comment
        session.delete(kept)
        restored[kept.cell] = restored.get(kept.cell, 0) + 1
    return restored


def _restore_points(session: Session, kept: Kept, cell: str, submitted: str) -> Any:
    """Restore a student's points, unless a person has given others since; return the grade."""
    which = select(models.Grade).filter_by(cell_id=cell, notebook_id=submitted)
    grade = session.scalar(which.with_for_update(of=models.Grade))
    if grade is None:
        grade = models.Grade(id=kept.grade_id, cell_id=cell, notebook_id=submitted)
        session.add(grade)
    if grade.manual_score is None:
        answer = session.get(Answer, grade.id)
        grade.manual_score, grade.extra_credit = kept.points, kept.extra_credit
        grade.needs_manual_grade = answer is not None and answer.given_for not in ("", answer.checksum)
    return grade


def share_out_cell(session: Session, cell: str, before: float, now: float) -> int:
    """Scale the points given for a cell to its new maximum; return how many grades changed."""
    if before == now:
        return 0
    grades = select(models.Grade).where(models.Grade.cell_id == cell, models.Grade.manual_score.is_not(None))
    return sum(_share_out(session, grade, before, now) for grade in session.scalars(grades.with_for_update()).all())


def _share_out(session: Session, grade: Any, before: float, now: float) -> bool:
    """Scale one grade. Start from what the person gave, so that a maximum that changes and changes back leaves no
    trace.
    """
    score, share = grade.manual_score, session.get(Share, grade.id)
    if score is None or before == now:
        return False
    given, out_of = (share.given, share.out_of) if share is not None and share.counts == score else (score, before)
    if not out_of:
        return False
    grade.manual_score = given if out_of == now else given * now / out_of
    if out_of != now:
        session.merge(Share(grade_id=grade.id, given=given, out_of=out_of, counts=grade.manual_score))
    elif share is not None:
        session.delete(share)
    return True
