"""A lesson in nbgrader's tables: its assignment, its notebook, and every cell that matters for grading."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import nbformat
from nbgrader.utils import compute_checksum, is_locked
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from autograder.gradebook import models
from autograder.gradebook.changes.adjustments import Adjustment, Adjustments
from autograder.gradebook.changes.given_by_hand import keep, restore, share_out_cell
from autograder.gradebook.models import Worth, put
from autograder.repair.release import exercise_of
from autograder.words import count

_HIDDEN = re.compile(r"^[^\n]*BEGIN HIDDEN TESTS[^\n]*\n.*?END HIDDEN TESTS[^\n]*\n?", re.M | re.S)


@dataclass(frozen=True)
class GradedCell:
    """A cell of the release that nbgrader has rows for.

    Attributes:
        name: its grade_id.
        kind: "code" or "markdown".
        grade: whether it has points.
        solution: whether students write in it.
        task: whether it is one of nbgrader's tasks.
        locked: whether its text must stay as released.
        points: its maximum.
        source: its text.
        checksum: nbgrader's checksum of it.
        adjustment: the course's decision about its exercise.
    """

    name: str
    kind: str
    grade: bool
    solution: bool
    task: bool
    locked: bool
    points: float
    source: str
    checksum: str
    adjustment: Adjustment = Adjustment()

    @property
    def most(self) -> float:
        """The points that it adds to the maximum in nbgrader's sums."""
        return self.points if self.adjustment.counts_in_all else 0.0

    @property
    def decided(self) -> float | None:
        """The score that an adjustment gives to everyone, whatever they answered; None without one."""
        if self.adjustment.drop:
            return 0.0
        return self.points if self.adjustment.full_credit else None


@dataclass(frozen=True)
class LessonRows:
    """A lesson's rows in the database, which every submission mirrors.

    Attributes:
        id: of the assignment.
        notebook: the id of its notebook.
        grades: the cells that get a grade, by row id.
        comments: the cells that get a comment, by row id.
    """

    id: str
    notebook: str
    grades: Mapping[str, GradedCell]
    comments: Mapping[str, GradedCell]

    @classmethod
    def load(cls, session: Session, assignment: str, notebook: str, cells: Sequence[GradedCell]) -> LessonRows:
        """Read the rows of these cells."""
        cell = models.BaseCell
        rows = session.execute(select(cell.id, cell.name, cell.type).where(cell.notebook_id == notebook)).all()
        by_name = {cell.name: cell for cell in cells}
        grades = {row.id: by_name[row.name] for row in rows if row.type in ("GradeCell", "TaskCell")}
        comments = {row.id: by_name[row.name] for row in rows if row.type in ("SolutionCell", "TaskCell")}
        return cls(assignment, notebook, grades, comments)

    def check_scores(self, scores: Mapping[str, float | None]) -> None:
        """Refuse impossible scores.

        Raises:
            ValueError: a score is not between 0 and the cell's points, or its cell is unknown.
        """
        points = {cell.name: cell.points for cell in self.grades.values()}
        for name, score in scores.items():
            if name not in points:
                raise ValueError(f"{name} is not a graded cell of the lesson")
            if score is not None and not 0 <= score <= points[name]:
                raise ValueError(f"{name}: a score of {score} is not between 0 and {points[name]}")


def node_of(cell: Mapping[str, Any]) -> nbformat.NotebookNode:
    """Convert a cell to the form that nbgrader's functions take."""
    meta = {"nbgrader": cell["metadata"].get("nbgrader", {})}
    plain = {"cell_type": cell["cell_type"], "source": cell["source"], "metadata": meta}
    node: nbformat.NotebookNode = nbformat.from_dict(plain)
    return node


def _graded_cells(notebook: Mapping[str, Any], adjustments: Adjustments) -> Iterator[GradedCell]:
    """Yield the cells of a release that matter for grading."""
    for node in map(node_of, notebook["cells"]):
        meta = node.metadata.nbgrader
        if any(meta.get(part) for part in ("grade", "solution", "locked", "task")):
            yield GradedCell(
                name=meta.grade_id,
                kind=node.cell_type,
                grade=bool(meta.get("grade")),
                solution=bool(meta.get("solution")),
                task=bool(meta.get("task")),
                locked=bool(is_locked(node)),
                points=float(meta.get("points", 0)),
                source=node.source,
                checksum=compute_checksum(node),
                adjustment=adjustments.get(exercise_of(meta.grade_id), Adjustment()),
            )


def save_lesson(
    session: Session, course_id: str, lesson: str, notebook: Mapping[str, Any], adjustments: Adjustments
) -> tuple[LessonRows, list[str]]:
    """Bring a lesson's rows up to date with its release; see `GradebookWriter.ensure_assignment`."""
    cells = list(_graded_cells(notebook, adjustments))
    which = select(models.Assignment.id).where(models.Assignment.name == lesson)
    assignment = session.scalar(which) or put(session, models.Assignment, {"name": lesson}, course_id=course_id)
    kernel = json.dumps(notebook["metadata"].get("kernelspec", {}))
    notebook_id = put(session, models.Notebook, {"assignment_id": assignment, "name": lesson}, kernelspec=kernel)
    worth = {  # the previous maximum of each graded cell: from our tables, else from nbgrader's
        cell.name: cell.max_score
        for model in (models.GradeCell, models.TaskCell)
        for cell in session.scalars(select(model).where(model.notebook_id == notebook_id))
    }
    worth |= {row.cell: row.points for row in session.scalars(select(Worth).where(Worth.lesson == lesson))}
    kept = _remove_old_cells(session, lesson, notebook_id, cells, worth)
    for cell in cells:
        _save_cell(session, notebook_id, cell)
    rows = LessonRows.load(session, assignment, notebook_id, cells)
    return rows, _move_hand_grades(session, lesson, rows, worth, kept)


def _move_hand_grades(
    session: Session, lesson: str, rows: LessonRows, worth: Mapping[str, float], kept: dict[str, int]
) -> list[str]:
    """Let points given by hand follow their cells: to another maximum, out of what counts, and back. Return a line per
    cell for the instructor; `kept` says how many students' points are put aside already, by cell.
    """
    session.execute(delete(Worth).where(Worth.lesson == lesson))
    scaled = []
    for row, cell in rows.grades.items():
        session.add(Worth(lesson=lesson, cell=cell.name, points=cell.points))
        before = worth.get(cell.name, cell.points)
        students = share_out_cell(session, row, before, cell.points)
        if students:
            scaled.append(
                f"{cell.name} is now worth {count(cell.points, 'point')}, not {before:g}; points given by hand to "
                f"{count(students, 'student')} are scaled: {before:g} of {before:g} become {cell.points:g} of "
                f"{cell.points:g}"
            )
        if cell.adjustment.drop and (students := keep(session, lesson, row, cell.name, cell.points)):
            kept[cell.name] = students
    counting = {cell.name: cell.points for cell in (*rows.comments.values(), *rows.grades.values())}
    dropped = {cell.name for cell in rows.grades.values() if cell.adjustment.drop}
    restored = restore(session, lesson, rows.notebook, {name: counting[name] for name in counting.keys() - dropped})
    return [
        *(
            f"{cell} no longer counts; the points given by hand to {count(students, 'student')} are kept in case it "
            "counts again"
            for cell, students in kept.items()
        ),
        *(
            f"{cell} counts again, with the points given by hand to {count(students, 'student')}"
            for cell, students in restored.items()
        ),
        *scaled,
    ]


def _remove_old_cells(
    session: Session, lesson: str, notebook: str, cells: Sequence[GradedCell], worth: Mapping[str, float]
) -> dict[str, int]:
    """Remove the rows of cells that the release no longer has, and keep what was given for them by hand. Return how
    many students had some, by cell.
    """
    kept: dict[str, int] = {}
    there = {(cell.name, model.__name__) for cell in cells for model in _models_of(cell)}
    for row in session.scalars(select(models.BaseCell).where(models.BaseCell.notebook_id == notebook)).all():
        if (row.name, row.type) in there:
            continue
        students = keep(session, lesson, row.id, row.name, worth.get(row.name, 0.0), with_comments=True)
        if students:
            kept[row.name] = max(students, kept.get(row.name, 0))
        for model in (models.Grade, models.Comment):
            session.execute(delete(model).where(model.cell_id == row.id))
        session.delete(row)
    source, names = models.SourceCell, [cell.name for cell in cells]
    session.execute(delete(source).where(source.notebook_id == notebook, source.name.not_in(names)))
    return kept


def _models_of(cell: GradedCell) -> list[Any]:
    """Return nbgrader's rows for a cell: a written answer is graded and commented on, so it has two."""
    if cell.task:
        return [models.TaskCell]
    return [model for model, wanted in ((models.GradeCell, cell.grade), (models.SolutionCell, cell.solution)) if wanted]


def _save_cell(session: Session, notebook: str, cell: GradedCell) -> None:
    key = {"notebook_id": notebook, "name": cell.name}
    for model in _models_of(cell):
        row = session.scalar(select(model).filter_by(**key)) or model(**key)
        session.add(row)
        if model is not models.SolutionCell:
            row.max_score, row.cell_type = cell.most, cell.kind
    known = session.scalar(select(models.SourceCell).filter_by(**key))
    if known is not None and _visible(known.source or "") == _visible(cell.source) and known.cell_type == cell.kind:
        return
    values = {"cell_type": cell.kind, "locked": cell.locked, "source": cell.source, "checksum": cell.checksum}
    put(session, models.SourceCell, key, **values)


def _visible(source: str) -> str:
    """Return a source without nbgrader's hidden tests and surrounding blank lines."""
    return _HIDDEN.sub("", source).strip()
