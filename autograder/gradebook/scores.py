"""Writes a submission's grades and comments into nbgrader's tables, as `nbgrader autograde` would."""

import hashlib
from collections.abc import Mapping
from typing import Any

from nbgrader.utils import compute_checksum
from sqlalchemy import select, update
from sqlalchemy.orm import Session, load_only

from autograder.gradebook import models
from autograder.gradebook.changes.given_by_hand import remember_read_texts
from autograder.gradebook.lesson import LessonRows, node_of
from autograder.gradebook.models import Answer, add_new, new_id, put, put_all, submitted_notebook
from autograder.gradebook.record import Record
from autograder.intake.timestamps import moment
from autograder.repair.release import exercise_of

_IN_PLACE = ("cell_id", "notebook_id")  # the key of a grade, and of a comment


def save_grades(
    session: Session,
    lesson: LessonRows,
    record: Record,
    notebook: Mapping[str, Any] | None,
    scores: Mapping[str, float | None],
    problem: str,
    problems: Mapping[str, str],
    answers: Mapping[str, str],
) -> None:
    """Write one graded submission; see `GradebookWriter.record`.

    Args:
        record: the submission's record, for its student and time. If the time is invalid, nbgrader gets none: an
            earlier submission's would be wrong.
        notebook: the graded notebook; None where there is none.
        scores: points by grade_id. A cell that is missing or None has no score, and waits for a person.
        problem: why there are no scores at all; empty otherwise.
        problems: why single exercises have no score, by exercise.
        answers: digests of the answers to checks, by the check's grade_id.
    """
    texts = {**answers, **_checksums(notebook)}
    add_new(session, models.Student, id=record.student)
    key = {"assignment_id": lesson.id, "student_id": record.student}
    submission = put(session, models.SubmittedAssignment, key, timestamp=moment(record.handed_in))
    submitted = put(session, models.SubmittedNotebook, {"assignment_id": submission, "notebook_id": lesson.notebook})
    _write_grades(session, lesson, submitted, scores, texts)
    _write_comments(session, lesson, submitted, texts, problem, problems)


def _checksums(notebook: Mapping[str, Any] | None) -> dict[str, str]:
    """Return nbgrader's checksum of each answer in a graded notebook, by grade_id. A task's covers everything that the
    student has written.
    """
    if notebook is None:
        return {}
    told = [(cell["metadata"].get("nbgrader", {}), cell) for cell in notebook["cells"]]
    origins = [(cell["metadata"].get("katze", {}).get("origin"), cell["source"]) for cell in notebook["cells"]]
    own = "\n".join(source for origin, source in origins if origin == "student")
    texts = {meta["grade_id"]: compute_checksum(node_of(cell)) for meta, cell in told if meta.get("solution")}
    tasks = [meta["grade_id"] for meta, _ in told if meta.get("task")]
    return texts | dict.fromkeys(tasks, hashlib.sha256(own.encode("utf-8", "surrogatepass")).hexdigest())


def _write_grades(
    session: Session, lesson: LessonRows, submitted: str, scores: Mapping[str, float | None], texts: Mapping[str, str]
) -> None:
    known = read_grades(session, lesson, submitted)
    grades, answers = [], []
    for cell_id, cell in lesson.grades.items():
        score = scores.get(cell.name)
        text = texts.get(cell.name, "")
        if score is None and cell.solution and text == cell.checksum:
            score = 0.0
        grade, answer = known.get(cell_id, (None, None))
        number, given_for, review = new_id(), "", score is None
        if grade is not None:
            number, given_for = grade.id, _given_for(grade, answer, text)
            if grade.manual_score is not None:  # it waited already, and not for a text that is as it was again
                waited = grade.needs_manual_grade and (answer is None or answer.checksum in (None, answer.given_for))
                review = grade.auto_score != score or given_for != text or waited
            elif grade.extra_credit is not None:
                review = review or given_for not in ("", text)
        place = {"id": number, "cell_id": cell_id, "notebook_id": submitted}
        grades.append({**place, "auto_score": score, "needs_manual_grade": review})
        if cell.solution or cell.name in texts:
            answers.append({"grade_id": number, "checksum": text, "given_for": given_for})
    put_all(session, models.Grade, _IN_PLACE, grades)
    put_all(session, Answer, ("grade_id",), answers)


def read_grades(session: Session, lesson: LessonRows, submitted: str | None) -> dict[str, tuple[Any, Answer | None]]:
    """Return the grades of a submitted notebook with our rows about their answers, by cell, and lock them."""
    grade = models.Grade
    columns = (grade.cell_id, grade.auto_score, grade.manual_score, grade.extra_credit, grade.needs_manual_grade)
    rows = session.execute(
        select(grade, Answer)
        .outerjoin(Answer, Answer.grade_id == grade.id)
        .where(grade.notebook_id == submitted, grade.cell_id.in_(lesson.grades))  # by the index, no scan
        .options(load_only(*columns))  # and nothing that nbgrader looks up in other tables
        .with_for_update(of=grade)
    )
    return {grade.cell_id: (grade, answer) for grade, answer in rows}


def _given_for(grade: Any, answer: Answer | None, text: str) -> str:
    """Return the checksum of the text that a person gave points for: the previous one, unless it waits for a person."""
    if answer is None or answer.checksum is None:  # nobody knows which that was
        return text
    is_given = grade.manual_score is not None or grade.extra_credit is not None
    return answer.checksum if is_given and not grade.needs_manual_grade else answer.given_for


def _write_comments(
    session: Session,
    lesson: LessonRows,
    submitted: str,
    texts: Mapping[str, str],
    problem: str,
    problems: Mapping[str, str],
) -> None:
    comments = []
    for cell_id, cell in lesson.comments.items():
        untouched = texts.get(cell.name) == cell.checksum and not cell.task
        comment = problem or problems.get(exercise_of(cell.name)) or ("No response." if untouched else None)
        comments.append({"cell_id": cell_id, "notebook_id": submitted, "auto_comment": comment})
    put_all(session, models.Comment, _IN_PLACE, comments)


def withhold_grades(session: Session, lesson: LessonRows, student: str, why: str) -> None:
    """Take back a submission's automatic scores, if it has any, with the reason as its comments.

    Points given by hand stay, and count.
    """
    submitted = submitted_notebook(session, lesson.notebook, student)
    if submitted is None:
        return
    grade, comment = models.Grade, models.Comment
    remember_read_texts(session, grade.notebook_id == submitted)
    grades = (grade.notebook_id == submitted, grade.cell_id.in_(lesson.grades), grade.manual_score.is_(None))
    session.execute(update(grade).where(*grades).values(auto_score=None, needs_manual_grade=True))
    comments = (comment.notebook_id == submitted, comment.cell_id.in_(lesson.comments))
    session.execute(update(comment).where(*comments).values(auto_comment=why))
