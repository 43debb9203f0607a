"""nbgrader's tables, and what is done with rows of any of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from nbgrader import api
from sqlalchemy import Column, Connection, MetaData, String, Table, insert, select, update

COURSE: Table = api.Course.__table__
ASSIGNMENT: Table = api.Assignment.__table__
NOTEBOOK: Table = api.Notebook.__table__
CELL: Table = api.BaseCell.__table__
SOURCE: Table = api.SourceCell.__table__
STUDENT: Table = api.Student.__table__
SUBMISSION: Table = api.SubmittedAssignment.__table__
SUBMITTED: Table = api.SubmittedNotebook.__table__
GRADE: Table = api.Grade.__table__
COMMENT: Table = api.Comment.__table__
CELL_TABLES: dict[str, Table] = {
    "GradeCell": api.GradeCell.__table__,
    "SolutionCell": api.SolutionCell.__table__,
    "TaskCell": api.TaskCell.__table__,
}

ANSWERS = Table(
    "katze_answer", MetaData(), Column("grade_id", String(32), primary_key=True), Column("checksum", String(128))
)
"""Our own, made by `records/schema.py`: which text a written answer had when it was last recorded."""


def new_id() -> str:
    """An id for a row, of nbgrader's kind."""
    return uuid4().hex


def add(connection: Connection, table: Table, **values: Any) -> str:
    """Add a row; returns its id."""
    identity = new_id()
    connection.execute(insert(table).values(id=identity, **values))
    return identity


def upsert(
    connection: Connection, table: Table, where: Sequence[Any], key: Mapping[str, Any], values: Mapping[str, Any]
) -> str:
    """The id of the row that `where` finds, with `values`; made from `key` and `values` where there is none."""
    found = connection.scalar(select(table.c.id).where(*where))
    if found is None:
        return add(connection, table, **key, **values)
    if values:
        connection.execute(update(table).where(table.c.id == found).values(**values))
    return str(found)
