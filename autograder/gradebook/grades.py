"""A submission in nbgrader's tables: its grades and comments, as `nbgrader autograde` would write them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import nbformat
from nbgrader.utils import compute_checksum
from sqlalchemy import Connection, Row, bindparam, insert, select, update

from autograder.gradebook.changes.given_by_hand import remember_read_texts
from autograder.gradebook.lesson import LessonRows
from autograder.gradebook.tables import (
    ANSWER,
    COMMENT,
    GRADE,
    STUDENT,
    SUBMISSION,
    SUBMITTED,
    inserting,
    new_id,
    upsert,
)
from autograder.intake.timestamps import moment
from autograder.repair.release import exercise_of

NO_TEXTS: Mapping[str, str] = {}

_UPDATE_GRADE = (
    update(GRADE)
    .where(GRADE.c.id == bindparam("row"))
    .values(auto_score=bindparam("score"), needs_manual_grade=bindparam("review"))
)
_UPDATE_COMMENT = update(COMMENT).where(COMMENT.c.id == bindparam("row")).values(auto_comment=bindparam("comment"))


def save_grades(
    connection: Connection,
    lesson: LessonRows,
    student: str,
    notebook: Mapping[str, Any] | None,
    scores: Mapping[str, float | None],
    timestamp: datetime | str | None,
    problem: str,
    problems: Mapping[str, str] = NO_TEXTS,
    answers: Mapping[str, str] = NO_TEXTS,
) -> None:
    """Write one graded submission; see `GradebookWriter.record`.

    Args:
        connection: the transaction.
        lesson: its rows.
        student: the student's id.
        notebook: the graded notebook; None where there is none.
        scores: points by grade_id.
        timestamp: when it was handed in.
        problem: why there are no scores.
        problems: why single exercises have none, by exercise.
        answers: what the answers to checks say, as digests, by the grade_id of the check.
    """
    texts = {**answers, **_checksums(notebook)}
    connection.execute(inserting(connection, STUDENT).values(id=student).on_conflict_do_nothing())
    submission = _submission(connection, lesson, student, moment(timestamp))
    _write_grades(connection, lesson, submission, scores, texts)
    _write_comments(connection, lesson, submission, texts, problem, problems)


def _checksums(notebook: Mapping[str, Any] | None) -> dict[str, str]:
    """What each answer of a graded notebook says, by grade_id, as nbgrader's checksum; a task is about all that a
    student has written.
    """
    if notebook is None:
        return {}
    told = [(cell["metadata"].get("nbgrader", {}), cell) for cell in notebook["cells"]]
    own = "\n".join(cell["source"] for cell in notebook["cells"] if _is_own(cell))
    texts = {meta["grade_id"]: compute_checksum(_node(cell)) for meta, cell in told if meta.get("solution")}
    tasks = [meta["grade_id"] for meta, _ in told if meta.get("task")]
    return texts | dict.fromkeys(tasks, hashlib.sha256(own.encode("utf-8", "surrogatepass")).hexdigest())


def _is_own(cell: Mapping[str, Any]) -> bool:
    return bool(cell["metadata"].get("katze", {}).get("origin") == "student")


def _node(cell: Mapping[str, Any]) -> nbformat.NotebookNode:
    """What nbgrader's functions look at in a cell."""
    meta = {"nbgrader": dict(cell["metadata"].get("nbgrader", {}))}
    return nbformat.NotebookNode(cell_type=cell["cell_type"], source=cell["source"], metadata=nbformat.from_dict(meta))


def _submission(connection: Connection, lesson: LessonRows, student: str, timestamp: datetime | None) -> str:
    """The row of the submitted notebook, made where it is missing."""
    where = (SUBMISSION.c.assignment_id == lesson.id, SUBMISSION.c.student_id == student)
    key = {"assignment_id": lesson.id, "student_id": student}
    submission = upsert(connection, SUBMISSION, where, key, {"timestamp": timestamp})
    where = (SUBMITTED.c.assignment_id == submission, SUBMITTED.c.notebook_id == lesson.notebook)
    key = {"assignment_id": submission, "notebook_id": lesson.notebook}
    return upsert(connection, SUBMITTED, where, key | {"flagged": False}, {})


def _write_grades(
    connection: Connection,
    lesson: LessonRows,
    submitted: str,
    scores: Mapping[str, float | None],
    texts: Mapping[str, str],
) -> None:
    rows = connection.execute(
        select(GRADE, ANSWER.c.checksum, ANSWER.c.given_for)
        .outerjoin(ANSWER, ANSWER.c.grade_id == GRADE.c.id)
        .where(GRADE.c.notebook_id == submitted, GRADE.c.cell_id.in_(lesson.grades))  # by the index, not a scan
        .with_for_update(of=GRADE)
    )
    known = {row.cell_id: row for row in rows}
    new, changed, answers = [], [], []
    for cell_id, cell in lesson.grades.items():
        score = scores.get(cell.name)
        text = texts.get(cell.name, "")
        if score is None and cell.solution and text == cell.checksum:
            score = 0.0
        row = known.get(cell_id)
        grade_id = row.id if row else new_id()
        given_for = "" if row is None else _given_for(row, text)
        if row is None:
            new.append(
                {
                    "id": grade_id,
                    "cell_id": cell_id,
                    "notebook_id": submitted,
                    "auto_score": score,
                    "needs_manual_grade": score is None,
                }
            )
        else:
            review = score is None
            if row.manual_score is not None:  # it waited already, and not for a text that is as it was again
                waited = row.needs_manual_grade and row.checksum in (None, row.given_for)
                review = row.auto_score != score or given_for != text or waited
            elif row.extra_credit is not None:
                review = review or given_for not in ("", text)
            changed.append({"row": grade_id, "score": score, "review": review})
        if cell.solution or cell.name in texts:
            answers.append({"grade_id": grade_id, "checksum": text, "given_for": given_for})
    answer = inserting(connection, ANSWER)
    values_of = {name: answer.excluded[name] for name in ("checksum", "given_for")}
    answer = answer.on_conflict_do_update(index_elements=["grade_id"], set_=values_of)
    for statement, values in ((insert(GRADE), new), (_UPDATE_GRADE, changed), (answer, answers)):
        if values:
            connection.execute(statement, values)


def _given_for(row: Row[Any], text: str) -> str:
    """Which text a person has given points for: where they wait for nobody, the one that was there until now."""
    if row.checksum is None:  # nobody knows which that was
        return text
    is_given = row.manual_score is not None or row.extra_credit is not None
    return str(row.checksum if is_given and not row.needs_manual_grade else row.given_for)


def _write_comments(
    connection: Connection,
    lesson: LessonRows,
    submitted: str,
    texts: Mapping[str, str],
    problem: str,
    problems: Mapping[str, str],
) -> None:
    rows = connection.execute(
        select(COMMENT).where(COMMENT.c.notebook_id == submitted, COMMENT.c.cell_id.in_(lesson.comments))
    )
    known = {row.cell_id: row.id for row in rows}
    new, changed = [], []
    for cell_id, cell in lesson.comments.items():
        untouched = texts.get(cell.name) == cell.checksum and not cell.task
        comment = problem or problems.get(exercise_of(cell.name)) or ("No response." if untouched else None)
        if cell_id in known:
            changed.append({"row": known[cell_id], "comment": comment})
        else:
            new.append({"id": new_id(), "cell_id": cell_id, "notebook_id": submitted, "auto_comment": comment})
    if new:
        connection.execute(insert(COMMENT), new)
    if changed:
        connection.execute(_UPDATE_COMMENT, changed)


def withhold_grades(connection: Connection, lesson: LessonRows, student: str, why: str) -> None:
    """Take back the automatic scores of a submission, with the reason as its comments; nothing where it has none.

    Points given by hand count instead, and stay as they are.
    """
    submitted = connection.scalar(
        select(SUBMITTED.c.id)
        .join(SUBMISSION, SUBMISSION.c.id == SUBMITTED.c.assignment_id)
        .where(SUBMISSION.c.assignment_id == lesson.id, SUBMISSION.c.student_id == student)
        .where(SUBMITTED.c.notebook_id == lesson.notebook)
    )
    if submitted is None:
        return
    remember_read_texts(connection, GRADE.c.notebook_id == submitted)
    grades = (GRADE.c.notebook_id == submitted, GRADE.c.cell_id.in_(lesson.grades))
    automatic = GRADE.c.manual_score.is_(None)
    connection.execute(update(GRADE).where(*grades, automatic).values(auto_score=None, needs_manual_grade=True))
    comments = (COMMENT.c.notebook_id == submitted, COMMENT.c.cell_id.in_(lesson.comments))
    connection.execute(update(COMMENT).where(*comments).values(auto_comment=why))
