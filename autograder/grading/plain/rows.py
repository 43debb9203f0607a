"""A plain assignment in nbgrader's tables: reads the rows that `nbgrader generate_assignment` wrote, and writes those
of submissions.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from nbgrader.api import Gradebook
from sqlalchemy import select
from sqlalchemy.orm import Session

from autograder.course.address import url_of
from autograder.course.course import Course
from autograder.gradebook import models
from autograder.gradebook.deadlines.plugin import plugin_of
from autograder.gradebook.lesson import GradedCell, LessonRows
from autograder.gradebook.models import of_submissions
from autograder.gradebook.record import Record
from autograder.gradebook.scores import save_grades
from autograder.grading.digests.answers import of_source


def read_notebooks(session: Session, assignment: str) -> dict[str, tuple[LessonRows, dict[str, GradedCell]]]:
    """Return the notebooks of an assignment by name; empty if the gradebook does not know it.

    Returns:
        The rows that every submission mirrors; and all cells that nbgrader knows, by grade_id, with hidden tests in
        their source.
    """
    found = {}
    for notebook in session.scalars(select(models.Notebook).where(models.Notebook.assignment.has(name=assignment))):
        cells = list(_cells(notebook))
        rows = LessonRows.load(session, notebook.assignment_id, notebook.id, cells)
        found[notebook.name] = rows, {cell.name: cell for cell in cells}
    return found


def _cells(notebook: Any) -> Iterator[GradedCell]:
    points = {one.name: one.max_score for one in (*notebook.task_cells, *notebook.grade_cells)}
    graded, solutions, tasks = (
        {one.name for one in cells} for cells in (notebook.grade_cells, notebook.solution_cells, notebook.task_cells)
    )
    for row in notebook.source_cells:
        yield GradedCell(
            name=row.name,
            kind=row.cell_type,
            grade=row.name in graded,
            solution=row.name in solutions,
            task=row.name in tasks,
            locked=bool(row.locked),
            points=points.get(row.name) or 0.0,
            source=row.source or "",
            checksum=row.checksum or "",
        )


def penalties(session: Session, assignment: str) -> dict[str, dict[str, float]]:
    """Return late penalties by student and notebook."""
    penalty = models.SubmittedNotebook.late_submission_penalty.label("penalty")
    columns = (models.SubmittedAssignment.student_id, models.Notebook.name, penalty)
    rows = session.execute(of_submissions(assignment, *columns))
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        found[row.student_id][row.name] = row.penalty or 0.0
    return found


def write_penalties(course: Course, assignment: str, students: Collection[str]) -> None:
    """Write these students' late penalties after their submissions were recorded, as `nbgrader autograde` does: from
    nbgrader's plugin and its own due date.

    Raises:
        BadInput: the course's plugin cannot be used; grades are recorded without its penalties.
    """
    plugin = plugin_of(course)
    with Gradebook(url_of(course.gradebook), course.course_id or "default_course") as gradebook:
        if gradebook.find_assignment(assignment).duedate is None:
            return
        for student in students:
            submission = gradebook.find_submission(assignment, student)
            late = submission.total_seconds_late
            for notebook in submission.notebooks:
                lost = plugin(student, notebook.score, late) if late > 0 else 0.0
                notebook.late_submission_penalty = min(max(lost, 0.0), notebook.score)
        gradebook.db.commit()


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
        record: the result.
        graded: the graded notebooks by name, without those that could not be graded.
        problems: why the others could not be graded, by name.
    """
    for name, rows in notebooks.items():
        scores = {one.cell: one.points for one in record.exercises if one.exercise == f"{name}.{one.cell}"}
        answers = dict(_answers(graded.get(name, {"cells": []})["cells"]))
        save_grades(session, rows, record, graded.get(name), scores, problems.get(name, ""), {}, answers)


def _answers(cells: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield each test's name, and a digest of the answers right above it or above neighboring tests."""
    above: list[str] = []
    is_tested = False
    for cell in cells:
        meta = cell["metadata"].get("nbgrader", {})
        if meta.get("solution"):
            above, is_tested = [*([] if is_tested else above), cell["source"]], False
        elif meta.get("grade"):
            is_tested = True
            yield meta["grade_id"], of_source("\n".join(above))
