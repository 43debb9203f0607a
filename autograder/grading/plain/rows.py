"""A plain assignment in nbgrader's tables: its rows as `nbgrader generate_assignment` has written them, and what
grading writes into those of its submissions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from autograder.gradebook import models
from autograder.gradebook.lesson import GradedCell, LessonRows
from autograder.gradebook.models import of_submissions
from autograder.gradebook.record import Record
from autograder.gradebook.scores import save_grades, withhold_grades
from autograder.grading.digests.answers import of_source


@dataclass(frozen=True)
class NotebookRows:
    """A notebook as the gradebook knows it.

    Attributes:
        rows: the rows that every submission mirrors.
        cells: all that nbgrader knows, by grade_id: with their source, hidden tests included.
    """

    rows: LessonRows
    cells: Mapping[str, GradedCell]


def read_notebooks(session: Session, assignment: str) -> dict[str, NotebookRows]:
    """The notebooks of an assignment, by their names; nothing where the gradebook does not know it."""
    found = {}
    for notebook in session.scalars(select(models.Notebook).where(models.Notebook.assignment.has(name=assignment))):
        cells = list(_cells(session, notebook.id))
        rows = LessonRows.load(session, notebook.assignment_id, notebook.id, cells)
        found[notebook.name] = NotebookRows(rows, {cell.name: cell for cell in cells})
    return found


def _cells(session: Session, notebook: str) -> Iterator[GradedCell]:
    kinds: defaultdict[str, set[str]] = defaultdict(set)
    points: dict[str, float] = {}
    cell, with_points, task = models.BaseCell, models.GradeCell.__table__, models.TaskCell.__table__
    rows = session.execute(
        select(cell.name, cell.type, func.coalesce(with_points.c.max_score, task.c.max_score).label("points"))
        .outerjoin(with_points, with_points.c.id == cell.id)
        .outerjoin(task, task.c.id == cell.id)
        .where(cell.notebook_id == notebook)
    )
    for row in rows:
        kinds[row.name].add(row.type)
        if row.points is not None:
            points[row.name] = row.points
    for row in session.scalars(select(models.SourceCell).where(models.SourceCell.notebook_id == notebook)):
        kind = kinds[row.name]
        yield GradedCell(
            name=row.name,
            kind=row.cell_type,
            grade="GradeCell" in kind,
            solution="SolutionCell" in kind,
            task="TaskCell" in kind,
            locked=bool(row.locked),
            points=points.get(row.name, 0.0),
            source=row.source or "",
            checksum=row.checksum or "",
        )


def overwritten(session: Session, assignment: str, records: Mapping[str, Record]) -> set[str]:
    """The students whose automatic scores in nbgrader's tables are not those that were recorded."""
    notebook, grade = models.Notebook.name.label("notebook"), models.Grade
    rows = session.execute(
        of_submissions(
            assignment, models.SubmittedAssignment.student_id, notebook, models.BaseCell.name, grade.auto_score
        )
        .join(grade, grade.notebook_id == models.SubmittedNotebook.id)
        .join(models.BaseCell, models.BaseCell.id == grade.cell_id)
        .where(models.BaseCell.type == "GradeCell")
    )
    there: defaultdict[str, dict[str, float | None]] = defaultdict(dict)
    for row in rows:
        there[row.student_id][f"{row.notebook}.{row.name}"] = row.auto_score
    missing = object()
    return {
        student
        for student, record in records.items()
        if not record.void and any(there[student].get(one.exercise, missing) != one.points for one in record.exercises)
    }


def penalties(session: Session, assignment: str) -> dict[str, dict[str, float]]:
    """What being late has cost, by student and notebook."""
    penalty = models.SubmittedNotebook.late_submission_penalty.label("penalty")
    columns = (models.SubmittedAssignment.student_id, models.Notebook.name, penalty)
    rows = session.execute(of_submissions(assignment, *columns))
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        found[row.student_id][row.name] = row.penalty or 0.0
    return found


def save(
    session: Session,
    notebooks: Mapping[str, LessonRows],
    record: Record,
    graded: Mapping[str, Mapping[str, Any]],
    problems: Mapping[str, str],
) -> None:
    """Write one graded submission into nbgrader's tables, as `nbgrader autograde` would.

    Args:
        session: the transaction.
        notebooks: the rows of the assignment's notebooks, by name.
        record: how it came out.
        graded: the graded notebooks, by name; one that could not be graded is missing.
        problems: why, by name.
    """
    for name, rows in notebooks.items():
        scores = {one.cell: one.points for one in record.exercises if one.exercise == f"{name}.{one.cell}"}
        answers = dict(_answers(graded.get(name, {"cells": []})["cells"]))
        save_grades(
            session,
            rows,
            record.student,
            graded.get(name),
            scores,
            record.handed_in or None,
            problems.get(name, ""),
            answers=answers,
        )


def _answers(cells: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """For each test of a graded notebook its name, and a digest of the answers right above it, or above its like."""
    above: list[str] = []
    is_tested = False
    for cell in cells:
        meta = cell["metadata"].get("nbgrader", {})
        if meta.get("solution"):
            above, is_tested = [*([] if is_tested else above), cell["source"]], False
        elif meta.get("grade"):
            is_tested = True
            yield meta["grade_id"], of_source("\n".join(above))


def withhold(session: Session, notebooks: Mapping[str, LessonRows], student: str, why: str) -> None:
    """Take back the automatic scores of a submission."""
    for rows in notebooks.values():
        withhold_grades(session, rows, student, why)
