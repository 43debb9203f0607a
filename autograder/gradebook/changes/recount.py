"""Recounts a lesson's scores in nbgrader's tables after the course has changed its adjustments."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from autograder.gradebook import store
from autograder.gradebook.changes.adjustments import Adjustment, Adjustments, adjusted
from autograder.gradebook.lesson import GradedCell, LessonRows
from autograder.gradebook.models import Answer, submitted_notebook
from autograder.gradebook.record import Record
from autograder.gradebook.scores import read_grades
from autograder.repair.release import exercise_of


def recount(session: Session, rows: LessonRows, run: int, lesson: str, adjustments: Adjustments) -> list[str]:
    """Bring every score up to these adjustments; see `GradebookWriter.apply_adjustments`."""
    before = store.read_adjustments(session, lesson)
    changed = {name for name in before.keys() | adjustments.keys() if before.get(name) != adjustments.get(name)}
    if not changed:
        return []
    told = [f"{name}: {adjustments.get(name, Adjustment()).in_words()}" for name in sorted(changed)]
    for student, record in store.records(session, lesson).items():
        if record.void:
            continue
        was, counted = adjusted(record, before), adjusted(record, adjustments)
        submitted = submitted_notebook(session, rows.notebook, student)
        for row, (grade, answer) in read_grades(session, rows, submitted).items():
            if exercise_of(rows.grades[row].name) in changed:
                _rescore(grade, answer, rows.grades[row], counted)
        changes = store.changes_between(was, counted)
        if changes or was.max_points != counted.max_points:
            store.add_event(
                session, run, counted, store.WAS_ADJUSTED, tuple(told), counted.points, counted.max_points, changes
            )
    store.write_adjustments(session, lesson, adjustments)
    return told


def written_scores(rows: LessonRows) -> dict[str, float]:
    """Return the scores that an adjustment gives to written answers before a person has read them."""
    written = {cell.name: cell.decided for cell in rows.grades.values() if cell.solution or cell.task}
    return {name: score for name, score in written.items() if score is not None}


def _rescore(grade: Any, answer: Answer | None, cell: GradedCell, counted: Record) -> None:
    """Write the automatic score of one cell of a submission, with the adjustment applied."""
    by_exercise = {one.cell: one.points for one in counted.exercises}
    if cell.name in by_exercise:
        score = by_exercise[cell.name]
    elif counted.points is None:
        score = None
    else:  # a written answer that nobody has touched has nothing to read
        is_untouched = answer is not None and answer.checksum == cell.checksum
        score = 0.0 if cell.decided is None and is_untouched else cell.decided
    grade.auto_score = score
    if grade.manual_score is None:
        is_other = answer is not None and answer.given_for not in ("", answer.checksum)
        grade.needs_manual_grade = score is None or (grade.extra_credit is not None and is_other)
