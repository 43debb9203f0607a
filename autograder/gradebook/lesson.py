"""A lesson in nbgrader's tables: its assignment, its notebook, and every cell that has a part in grading."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import nbformat
from nbgrader.utils import compute_checksum, is_locked
from sqlalchemy import Connection, delete, insert, select, update

from autograder.gradebook.changes.given_by_hand import HandGradesMoved, keep, restore, share_out_cell
from autograder.gradebook.changes.rulings import Ruling, Rulings
from autograder.gradebook.tables import (
    ASSIGNMENT,
    CELL,
    CELL_TABLES,
    COMMENT,
    GRADE,
    NOTEBOOK,
    SOURCE,
    WORTH,
    insert_row,
    upsert,
)
from autograder.repair.release import exercise_of

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
        locked: whether its text is the release's.
        points: what it gives.
        source: its text.
        checksum: nbgrader's, of it.
        ruling: what the course has decided about its exercise.
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
    ruling: Ruling = Ruling()

    @property
    def most(self) -> float:
        """Its points among those that can be had, as nbgrader adds them up."""
        return self.points if self.ruling.counts_in_all else 0.0


@dataclass(frozen=True)
class LessonRows:
    """A lesson as the database has it: the rows that every submission mirrors.

    Attributes:
        id: the assignment.
        notebook: its notebook.
        grades: each cell that has a grade, by the id of its row.
        comments: each cell that has a comment, by the id of its row.
    """

    id: str
    notebook: str
    grades: Mapping[str, GradedCell]
    comments: Mapping[str, GradedCell]

    @classmethod
    def load(cls, connection: Connection, assignment: str, notebook: str, cells: Sequence[GradedCell]) -> LessonRows:
        """Read the rows of these cells."""
        rows = connection.execute(select(CELL).where(CELL.c.notebook_id == notebook)).all()
        by_name = {cell.name: cell for cell in cells}
        grades = {row.id: by_name[row.name] for row in rows if row.type in ("GradeCell", "TaskCell")}
        comments = {row.id: by_name[row.name] for row in rows if row.type in ("SolutionCell", "TaskCell")}
        return cls(assignment, notebook, grades, comments)

    def check_scores(self, scores: Mapping[str, float | None]) -> None:
        """Refuse scores that no submission can have.

        Raises:
            ValueError: a score is not between 0 and the cell's points, or its cell is unknown.
        """
        points = {cell.name: cell.points for cell in self.grades.values()}
        for name, score in scores.items():
            if name not in points:
                raise ValueError(f"{name} is not a graded cell of the lesson")
            if score is not None and not 0 <= score <= points[name]:
                raise ValueError(f"{name}: a score of {score} is not between 0 and {points[name]}")


def _graded_cells(notebook: Mapping[str, Any], rulings: Rulings) -> list[GradedCell]:
    """The cells of a release that have a part in grading."""
    cells = []
    for cell in notebook["cells"]:
        meta = cell["metadata"].get("nbgrader", {})
        node = nbformat.from_dict(
            {"cell_type": cell["cell_type"], "source": cell["source"], "metadata": {"nbgrader": meta}}
        )
        task = bool(meta.get("task"))
        if meta.get("grade") or meta.get("solution") or meta.get("locked") or task:
            cells.append(
                GradedCell(
                    name=meta["grade_id"],
                    kind=cell["cell_type"],
                    grade=bool(meta.get("grade")),
                    solution=bool(meta.get("solution")),
                    task=task,
                    locked=bool(is_locked(node)),
                    points=float(meta.get("points", 0)),
                    source=cell["source"],
                    checksum=compute_checksum(node),
                    ruling=rulings.get(exercise_of(meta["grade_id"]), Ruling()),
                )
            )
    return cells


def save_lesson(
    connection: Connection, course_id: str, lesson: str, notebook: Mapping[str, Any], rulings: Rulings
) -> tuple[LessonRows, HandGradesMoved]:
    """Bring a lesson's rows up to date with its release; see `GradebookWriter.ensure_assignment`."""
    cells = _graded_cells(notebook, rulings)
    found = connection.scalar(select(ASSIGNMENT.c.id).where(ASSIGNMENT.c.name == lesson))
    assignment = str(found) if found else insert_row(connection, ASSIGNMENT, name=lesson, course_id=course_id)
    notebook_id = _notebook(connection, assignment, lesson, notebook)
    worth, moved = _read_worth(connection, lesson, notebook_id), HandGradesMoved()
    _remove_old_cells(connection, lesson, notebook_id, cells, worth, moved)
    for cell in cells:
        _save_cell(connection, notebook_id, cell)
    rows = LessonRows.load(connection, assignment, notebook_id, cells)
    _move_hand_grades(connection, lesson, rows, worth, moved)
    return rows, moved


def _notebook(connection: Connection, assignment: str, lesson: str, notebook: Mapping[str, Any]) -> str:
    kernel = json.dumps(notebook["metadata"].get("kernelspec", {}))
    where = (NOTEBOOK.c.assignment_id == assignment, NOTEBOOK.c.name == lesson)
    return upsert(connection, NOTEBOOK, where, {"assignment_id": assignment, "name": lesson}, {"kernelspec": kernel})


def _read_worth(connection: Connection, lesson: str, notebook: str) -> dict[str, float]:
    """The points of each graded cell until now: as we know them, else as nbgrader does."""
    known: dict[str, float] = {}
    for table in (CELL_TABLES["GradeCell"], CELL_TABLES["TaskCell"]):
        rows = select(CELL.c.name, table.c.max_score).join(table, table.c.id == CELL.c.id)
        known |= {row.name: row.max_score for row in connection.execute(rows.where(CELL.c.notebook_id == notebook))}
    return known | {row.cell: row.points for row in connection.execute(select(WORTH).where(WORTH.c.lesson == lesson))}


def _move_hand_grades(
    connection: Connection, lesson: str, rows: LessonRows, worth: Mapping[str, float], moved: HandGradesMoved
) -> None:
    """Let what was given by hand follow its cells: to other points, out of what counts, and back again."""
    connection.execute(delete(WORTH).where(WORTH.c.lesson == lesson))
    for row, cell in rows.grades.items():
        connection.execute(insert(WORTH).values(lesson=lesson, cell=cell.name, points=cell.points))
        before = worth.get(cell.name, cell.points)
        students = share_out_cell(connection, row, before, cell.points)
        if students:
            moved.shared[cell.name] = (students, before, cell.points)
        if cell.ruling.drop and (students := keep(connection, lesson, row, cell.name, cell.points)):
            moved.kept[cell.name] = students
    counting = {cell.name: cell.points for cell in (*rows.comments.values(), *rows.grades.values())}
    dropped = {cell.name for cell in rows.grades.values() if cell.ruling.drop}
    moved.restored |= restore(connection, lesson, {name: counting[name] for name in counting.keys() - dropped})


def _remove_old_cells(
    connection: Connection,
    lesson: str,
    notebook: str,
    cells: Sequence[GradedCell],
    worth: Mapping[str, float],
    moved: HandGradesMoved,
) -> None:
    """Remove rows of cells that the release no longer has; what somebody has given for them is kept."""
    kept = {(cell.name, kind) for cell in cells for kind in _row_kinds(cell)}
    rows = connection.execute(select(CELL).where(CELL.c.notebook_id == notebook)).all()
    for row in rows:
        if (row.name, row.type) in kept:
            continue
        students = keep(connection, lesson, row.id, row.name, worth.get(row.name, 0.0), with_comments=True)
        if students:
            moved.kept[row.name] = max(students, moved.kept.get(row.name, 0))
        for table in (GRADE, COMMENT):
            connection.execute(delete(table).where(table.c.cell_id == row.id))
        for table in (*CELL_TABLES.values(), CELL):
            connection.execute(delete(table).where(table.c.id == row.id))
    names = [cell.name for cell in cells]
    connection.execute(delete(SOURCE).where(SOURCE.c.notebook_id == notebook, SOURCE.c.name.not_in(names)))


def _row_kinds(cell: GradedCell) -> list[str]:
    """The rows that nbgrader keeps for a cell: a written answer is graded and commented on, so it has two."""
    if cell.task:
        return ["TaskCell"]
    return [kind for kind, wanted in (("GradeCell", cell.grade), ("SolutionCell", cell.solution)) if wanted]


def _save_cell(connection: Connection, notebook: str, cell: GradedCell) -> None:
    for kind in _row_kinds(cell):
        table = CELL_TABLES[kind]
        row_where = (CELL.c.notebook_id == notebook, CELL.c.name == cell.name, CELL.c.type == kind)
        row = upsert(connection, CELL, row_where, {"notebook_id": notebook, "name": cell.name, "type": kind}, {})
        values = {} if kind == "SolutionCell" else {"max_score": cell.most, "cell_type": cell.kind}
        if connection.scalar(select(table.c.id).where(table.c.id == row)) is None:
            connection.execute(insert(table).values(id=row, **values))
        elif values:
            connection.execute(update(table).where(table.c.id == row).values(**values))
    where = (SOURCE.c.notebook_id == notebook, SOURCE.c.name == cell.name)
    known = connection.execute(select(SOURCE).where(*where)).first()
    if known is not None and _visible(known.source or "") == _visible(cell.source) and known.cell_type == cell.kind:
        return
    values = {"cell_type": cell.kind, "locked": cell.locked, "source": cell.source, "checksum": cell.checksum}
    upsert(connection, SOURCE, where, {"notebook_id": notebook, "name": cell.name}, values)


def _visible(source: str) -> str:
    """A source without nbgrader's hidden tests and without blank edges."""
    return _HIDDEN.sub("", source).strip()
