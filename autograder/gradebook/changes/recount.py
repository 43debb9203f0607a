"""The scores of a lesson in nbgrader's tables, counted anew where the course has decided something else."""

from __future__ import annotations

from sqlalchemy import Connection, select, update

from autograder.gradebook import store
from autograder.gradebook.changes.rulings import Ruling, Rulings, read_rulings, ruled, write_rulings
from autograder.gradebook.lesson import GradedCell, LessonRows
from autograder.gradebook.record import Record
from autograder.gradebook.tables import ANSWER, GRADE, SUBMISSION, SUBMITTED
from autograder.repair.release import exercise_of


def recount(connection: Connection, rows: LessonRows, run: int, lesson: str, rulings: Rulings) -> list[str]:
    """Bring every score up to these rulings; see `GradebookWriter.apply_rulings`."""
    before = read_rulings(connection, lesson)
    changed = {name for name in before.keys() | rulings.keys() if before.get(name) != rulings.get(name)}
    if not changed:
        return []
    told = [f"{name}: {rulings.get(name, Ruling()).in_words()}" for name in sorted(changed)]
    for student, record in store.records(connection, lesson).items():
        if record.void:
            continue
        was, counted = ruled(record, before), ruled(record, rulings)
        submitted = _submitted(connection, rows, student)
        for row, cell in rows.grades.items():
            if exercise_of(cell.name) in changed:
                _rescore(connection, submitted, row, cell, counted)
        changes = store.changes_between(was, counted)
        if changes or was.max_points != counted.max_points:
            store.add_event(connection, run, counted, store.WAS_RULED, tuple(told), counted.points, changes)
    write_rulings(connection, lesson, rulings)
    return told


def written_scores(rows: LessonRows) -> dict[str, float]:
    """The scores that written answers have by a ruling, before a person has read them."""
    scores = {}
    for cell in rows.grades.values():
        if cell.solution or cell.task:
            if cell.ruling.drop:
                scores[cell.name] = 0.0
            elif cell.ruling.full_credit:
                scores[cell.name] = cell.points
    return scores


def _submitted(connection: Connection, rows: LessonRows, student: str) -> str | None:
    return connection.scalar(
        select(SUBMITTED.c.id)
        .join(SUBMISSION, SUBMISSION.c.id == SUBMITTED.c.assignment_id)
        .where(SUBMISSION.c.assignment_id == rows.id, SUBMISSION.c.student_id == student)
        .where(SUBMITTED.c.notebook_id == rows.notebook)
    )


def _rescore(connection: Connection, submitted: str | None, row: str, cell: GradedCell, counted: Record) -> None:
    """Write the automatic score of one cell of a submission, as it counts."""
    grade = connection.execute(
        select(GRADE.c.id, GRADE.c.manual_score, GRADE.c.extra_credit, ANSWER.c.checksum, ANSWER.c.given_for)
        .outerjoin(ANSWER, ANSWER.c.grade_id == GRADE.c.id)
        .where(GRADE.c.notebook_id == submitted, GRADE.c.cell_id == row)
        .with_for_update(of=GRADE)
    ).first()
    if grade is None:
        return
    by_exercise = {one.cell: one.points for one in counted.exercises}
    if cell.name in by_exercise:
        score = by_exercise[cell.name]
    elif counted.points is None:
        score = None
    else:  # a written answer that nobody has touched has nothing to read
        score = 0.0 if cell.ruling.drop or grade.checksum == cell.checksum else None
        score = cell.points if cell.ruling.full_credit else score
    values: dict[str, object] = {"auto_score": score}
    if grade.manual_score is None:
        is_changed = grade.extra_credit is not None and grade.given_for not in (None, "", grade.checksum)
        values["needs_manual_grade"] = score is None or is_changed
    connection.execute(update(GRADE).where(GRADE.c.id == grade.id).values(**values))
