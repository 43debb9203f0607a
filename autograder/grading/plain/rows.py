"""A plain assignment in nbgrader's tables: its rows as `nbgrader generate_assignment` has written them, and what
grading writes into those of its submissions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, and_, func, select

from autograder.gradebook.grades import save_grades, withhold_grades
from autograder.gradebook.lesson import GradedCell, LessonRows
from autograder.gradebook.record import Record
from autograder.gradebook.tables import (
    ASSIGNMENT,
    CELL,
    CELL_TABLES,
    GRADE,
    NOTEBOOK,
    SOURCE,
    SUBMISSION,
    SUBMITTED,
)
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


def read_notebooks(connection: Connection, assignment: str) -> dict[str, NotebookRows]:
    """The notebooks of an assignment, by their names; nothing where the gradebook does not know it."""
    notebooks = connection.execute(
        select(NOTEBOOK.c.id, NOTEBOOK.c.name, ASSIGNMENT.c.id.label("assignment"))
        .join(ASSIGNMENT, ASSIGNMENT.c.id == NOTEBOOK.c.assignment_id)
        .where(ASSIGNMENT.c.name == assignment)
    ).all()
    found = {}
    for notebook in notebooks:
        cells = list(_cells(connection, notebook.id))
        rows = LessonRows.load(connection, notebook.assignment, notebook.id, cells)
        found[notebook.name] = NotebookRows(rows, {cell.name: cell for cell in cells})
    return found


def _cells(connection: Connection, notebook: str) -> Iterator[GradedCell]:
    kinds: defaultdict[str, set[str]] = defaultdict(set)
    points: dict[str, float] = {}
    with_grade, task = CELL_TABLES["GradeCell"], CELL_TABLES["TaskCell"]
    rows = connection.execute(
        select(CELL.c.name, CELL.c.type, func.coalesce(with_grade.c.max_score, task.c.max_score).label("points"))
        .outerjoin(with_grade, with_grade.c.id == CELL.c.id)
        .outerjoin(task, task.c.id == CELL.c.id)
        .where(CELL.c.notebook_id == notebook)
    )
    for row in rows:
        kinds[row.name].add(row.type)
        if row.points is not None:
            points[row.name] = row.points
    for row in connection.execute(select(SOURCE).where(SOURCE.c.notebook_id == notebook)):
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


def overwritten(connection: Connection, assignment: str, records: Mapping[str, Record]) -> set[str]:
    """The students whose automatic scores in nbgrader's tables are not those that were recorded."""
    rows = connection.execute(
        select(SUBMISSION.c.student_id, NOTEBOOK.c.name.label("notebook"), CELL.c.name, GRADE.c.auto_score)
        .select_from(ASSIGNMENT)
        .join(SUBMISSION, SUBMISSION.c.assignment_id == ASSIGNMENT.c.id)
        .join(SUBMITTED, SUBMITTED.c.assignment_id == SUBMISSION.c.id)
        .join(NOTEBOOK, NOTEBOOK.c.id == SUBMITTED.c.notebook_id)
        .join(GRADE, GRADE.c.notebook_id == SUBMITTED.c.id)
        .join(CELL, and_(CELL.c.id == GRADE.c.cell_id, CELL.c.type == "GradeCell"))
        .where(ASSIGNMENT.c.name == assignment)
    )
    there: defaultdict[str, dict[str, float | None]] = defaultdict(dict)
    for row in rows:
        there[row.student_id][f"{row.notebook}.{row.name}"] = row.auto_score
    missing = object()
    return {
        student
        for student, record in records.items()
        if any(there[student].get(one.exercise, missing) != one.points for one in record.exercises)
    }


def penalties(connection: Connection, assignment: str) -> dict[str, dict[str, float]]:
    """What being late has cost, by student and notebook."""
    rows = connection.execute(
        select(SUBMISSION.c.student_id, NOTEBOOK.c.name, SUBMITTED.c.late_submission_penalty.label("penalty"))
        .select_from(ASSIGNMENT)
        .join(SUBMISSION, SUBMISSION.c.assignment_id == ASSIGNMENT.c.id)
        .join(SUBMITTED, SUBMITTED.c.assignment_id == SUBMISSION.c.id)
        .join(NOTEBOOK, NOTEBOOK.c.id == SUBMITTED.c.notebook_id)
        .where(ASSIGNMENT.c.name == assignment)
    )
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        found[row.student_id][row.name] = row.penalty or 0.0
    return found


def save(
    connection: Connection,
    notebooks: Mapping[str, LessonRows],
    record: Record,
    graded: Mapping[str, Mapping[str, Any]],
    problems: Mapping[str, str],
) -> None:
    """Write one graded submission into nbgrader's tables, as `nbgrader autograde` would.

    Args:
        connection: the transaction.
        notebooks: the rows of the assignment's notebooks, by name.
        record: how it came out.
        graded: the graded notebooks, by name; one that could not be graded is missing.
        problems: why, by name.
    """
    for name, rows in notebooks.items():
        scores = {one.cell: one.points for one in record.exercises if one.exercise == f"{name}.{one.cell}"}
        answers = dict(_answers(graded.get(name, {"cells": []})["cells"]))
        save_grades(
            connection,
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


def withhold(connection: Connection, notebooks: Mapping[str, LessonRows], student: str, why: str) -> None:
    """Take back the automatic scores of a submission."""
    for rows in notebooks.values():
        withhold_grades(connection, rows, student, why)
