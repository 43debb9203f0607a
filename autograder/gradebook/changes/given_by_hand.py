"""What people have given in formgrader, while cells come and go and their points change.

It is nobody's but theirs: it is never lost with a cell, and never worth less because the cell is worth more. Where the
text that it was given for has changed, it counts, and waits for them again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, insert, or_, select, update

from autograder.gradebook.tables import (
    ANSWER,
    ASSIGNMENT,
    CELL,
    COMMENT,
    GRADE,
    KEPT,
    NOTEBOOK,
    SHARE,
    SUBMISSION,
    SUBMITTED,
    new_id,
)
from autograder.words import count


@dataclass
class HandGradesMoved:
    """What has happened to points given by hand, by cell and how many students' they are.

    Attributes:
        kept: of cells that do not count, until they count again.
        restored: of cells that count again.
        shared: of cells that give other points, with the points before and now.
    """

    kept: dict[str, int] = field(default_factory=dict)
    restored: dict[str, int] = field(default_factory=dict)
    shared: dict[str, tuple[int, float, float]] = field(default_factory=dict)

    def in_words(self) -> list[str]:
        """A line for each cell, for the instructor."""
        return [
            *(
                f"{cell} does not count any more: what {count(students, 'student')} got for it by hand is kept, and "
                "comes back with it"
                for cell, students in self.kept.items()
            ),
            *(
                f"{cell} counts again: what {count(students, 'student')} got for it by hand is back"
                for cell, students in self.restored.items()
            ),
            *(
                f"{cell} gives {count(now, 'point')} where it gave {before:g}: what {count(students, 'student')} got "
                f"for it by hand counts in the same share, so that {before:g} of {before:g} are {now:g} of {now:g}"
                for cell, (students, before, now) in self.shared.items()
            ),
        ]


def remember_read_texts(connection: Connection, *which: ColumnElement[bool]) -> None:
    """Write down, where a person has given points and nothing has changed since, which text they were given for."""
    given = or_(GRADE.c.manual_score.is_not(None), GRADE.c.extra_credit.is_not(None))
    read = select(GRADE.c.id).where(*which, given, GRADE.c.needs_manual_grade.is_(False))
    connection.execute(update(ANSWER).where(ANSWER.c.grade_id.in_(read)).values(given_for=ANSWER.c.checksum))


def keep(connection: Connection, lesson: str, row_id: str, cell: str, worth: float, with_comments: bool = False) -> int:
    """Put aside what was given for a cell, so that it does not count; returns how many students' that was.

    Args:
        connection: the transaction.
        lesson: the lesson.
        row_id: the cell's row in nbgrader's tables; a written answer has two, which are put aside one after the other.
        cell: its grade_id.
        worth: the points that it was given out of.
        with_comments: whether the cell goes, and comments with it.
    """
    remember_read_texts(connection, GRADE.c.cell_id == row_id)
    found: dict[str, dict[str, Any]] = {}
    for row in connection.execute(
        select(GRADE, SUBMISSION.c.student_id)
        .join(SUBMITTED, SUBMITTED.c.id == GRADE.c.notebook_id)
        .join(SUBMISSION, SUBMISSION.c.id == SUBMITTED.c.assignment_id)
        .where(GRADE.c.cell_id == row_id, or_(GRADE.c.manual_score.is_not(None), GRADE.c.extra_credit.is_not(None)))
        .with_for_update(of=GRADE)
    ):
        found[row.student_id] = {"grade_id": row.id, "points": row.manual_score, "extra_credit": row.extra_credit}
    comments = (
        select(COMMENT.c.manual_comment, SUBMISSION.c.student_id)
        .join(SUBMITTED, SUBMITTED.c.id == COMMENT.c.notebook_id)
        .join(SUBMISSION, SUBMISSION.c.id == SUBMITTED.c.assignment_id)
        .where(COMMENT.c.cell_id == row_id, COMMENT.c.manual_comment != "")
    )
    for row in connection.execute(comments) if with_comments else ():
        found.setdefault(row.student_id, {})["comment"] = row.manual_comment
    for student, given in found.items():
        where = (KEPT.c.lesson == lesson, KEPT.c.cell == cell, KEPT.c.student == student)
        if connection.execute(update(KEPT).where(*where).values(**given)).rowcount == 0:
            none = {"grade_id": new_id(), "points": None, "extra_credit": None, "comment": ""}
            values = {"lesson": lesson, "cell": cell, "student": student, "worth": worth, **none, **given}
            connection.execute(insert(KEPT).values(**values))
    connection.execute(update(GRADE).where(GRADE.c.cell_id == row_id).values(manual_score=None, extra_credit=None))
    return len(found)


def restore(connection: Connection, lesson: str, counting: Mapping[str, float]) -> dict[str, int]:
    """Bring back what was kept for cells that count again; returns how many students' that was, by cell.

    Args:
        connection: the transaction.
        lesson: the lesson.
        counting: the cells that count, with the points that they give.
    """
    restored: dict[str, int] = {}
    for kept in connection.execute(select(KEPT).where(KEPT.c.lesson == lesson, KEPT.c.cell.in_(list(counting)))).all():
        submitted = connection.scalar(
            select(SUBMITTED.c.id)
            .join(SUBMISSION, SUBMISSION.c.id == SUBMITTED.c.assignment_id)
            .join(NOTEBOOK, NOTEBOOK.c.id == SUBMITTED.c.notebook_id)
            .join(ASSIGNMENT, ASSIGNMENT.c.id == SUBMISSION.c.assignment_id)
            .where(ASSIGNMENT.c.name == lesson, NOTEBOOK.c.name == lesson, SUBMISSION.c.student_id == kept.student)
        )
        if submitted is None:
            continue
        cells = connection.execute(
            select(CELL)
            .join(SUBMITTED, SUBMITTED.c.notebook_id == CELL.c.notebook_id)
            .where(SUBMITTED.c.id == submitted, CELL.c.name == kept.cell)
        )
        for cell in cells:
            if cell.type in ("GradeCell", "TaskCell") and (kept.points is not None or kept.extra_credit is not None):
                grade = _restore_points(connection, kept, cell.id, submitted)
                share_out_grade(connection, grade, kept.worth, counting[kept.cell])
            if cell.type in ("SolutionCell", "TaskCell") and kept.comment:
                _restore_comment(connection, kept, cell.id, submitted)
        of_it = (KEPT.c.lesson == lesson, KEPT.c.cell == kept.cell, KEPT.c.student == kept.student)
        connection.execute(delete(KEPT).where(*of_it))
        restored[kept.cell] = restored.get(kept.cell, 0) + 1
    return restored


def _restore_points(connection: Connection, kept: Any, cell: str, submitted: str) -> str:
    """Give a student's points back, unless a person has given others since; returns the row's id."""
    where = (GRADE.c.cell_id == cell, GRADE.c.notebook_id == submitted)
    known = connection.execute(select(GRADE).where(*where).with_for_update()).first()
    read = (ANSWER.c.grade_id == (known.id if known else kept.grade_id), ANSWER.c.given_for != "")
    is_changed = connection.scalar(select(ANSWER.c.given_for != ANSWER.c.checksum).where(*read))
    values = {"manual_score": kept.points, "extra_credit": kept.extra_credit, "needs_manual_grade": bool(is_changed)}
    if known is None:
        row = {"id": kept.grade_id, "cell_id": cell, "notebook_id": submitted, "auto_score": None}
        connection.execute(insert(GRADE).values(**row, **values))
        return str(kept.grade_id)
    if known.manual_score is None:
        connection.execute(update(GRADE).where(GRADE.c.id == known.id).values(**values))
    return str(known.id)


def _restore_comment(connection: Connection, kept: Any, cell: str, submitted: str) -> None:
    where = (COMMENT.c.cell_id == cell, COMMENT.c.notebook_id == submitted)
    known = connection.execute(select(COMMENT).where(*where)).first()
    if known is None:
        row = {"id": new_id(), "cell_id": cell, "notebook_id": submitted, "auto_comment": None}
        connection.execute(insert(COMMENT).values(**row, manual_comment=kept.comment))
    elif not known.manual_comment:
        connection.execute(update(COMMENT).where(COMMENT.c.id == known.id).values(manual_comment=kept.comment))


def share_out_cell(connection: Connection, cell: str, before: float, now: float) -> int:
    """Let the points that were given for a cell count in the same share of what it gives now; returns how many."""
    grades = connection.scalars(select(GRADE.c.id).where(GRADE.c.cell_id == cell, GRADE.c.manual_score.is_not(None)))
    return sum(share_out_grade(connection, grade, before, now) for grade in grades.all())


def share_out_grade(connection: Connection, grade: str, before: float, now: float) -> bool:
    """The same for one grade. It is counted from what the person gave, so that points that change and change back
    leave no trace.
    """
    score = connection.scalar(select(GRADE.c.manual_score).where(GRADE.c.id == grade).with_for_update())
    if score is None or before == now:
        return False
    known = connection.execute(select(SHARE).where(SHARE.c.grade_id == grade)).first()
    given, out_of = (known.given, known.out_of) if known is not None and known.counts == score else (score, before)
    if not out_of:
        return False
    counts = given if out_of == now else given * now / out_of
    connection.execute(delete(SHARE).where(SHARE.c.grade_id == grade))
    if out_of != now:
        connection.execute(insert(SHARE).values(grade_id=grade, given=given, out_of=out_of, counts=counts))
    connection.execute(update(GRADE).where(GRADE.c.id == grade).values(manual_score=counts))
    return True
