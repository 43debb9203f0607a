"""nbgrader's tables and our own, as statements name them, and what is done with rows of any of them.

Only what Katze reads or writes is named here. nbgrader makes its tables itself, `schema.py` makes ours. nbgrader's own
classes would do as well, but take a second to import.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, DateTime, Interval, String, TableClause, column, insert, select, table, update
from sqlalchemy.dialects import postgresql, sqlite

_IN_LISTS = ("cell", "cell_id", "exercise", "name")
"""Columns that are looked for in lists: of an empty one, PostgreSQL must know of what it is empty."""


def _table(name: str, columns: str) -> TableClause:
    return table(name, *(column(name, String() if name in _IN_LISTS else None) for name in columns.split()))


COURSE = _table("course", "id")
ASSIGNMENT = table("assignment", *map(column, ("id", "name", "course_id")), column("duedate", DateTime()))
NOTEBOOK = _table("notebook", "id name assignment_id kernelspec")
CELL = _table("base_cell", "id name notebook_id type")
SOURCE = _table("source_cell", "id name notebook_id cell_type locked source checksum")
STUDENT = _table("student", "id")
SUBMISSION = table(
    "submitted_assignment",
    *map(column, ("id", "assignment_id", "student_id")),
    column("timestamp", DateTime()),
    column("extension", Interval()),
)
SUBMITTED = _table("submitted_notebook", "id assignment_id notebook_id flagged late_submission_penalty")
GRADE = _table("grade", "id notebook_id cell_id auto_score manual_score extra_credit needs_manual_grade")
COMMENT = _table("comment", "id notebook_id cell_id auto_comment manual_comment")
CELL_TABLES = {
    "GradeCell": _table("grade_cells", "id max_score cell_type"),
    "SolutionCell": _table("solution_cells", "id"),
    "TaskCell": _table("task_cells", "id max_score cell_type"),
}
NBGRADER_VERSION = _table("alembic_version", "version_num")

OUR_VERSION = _table("katze_schema", "version")
ANSWER = _table("katze_answer", "grade_id checksum given_for")
RUN = _table("katze_run", "id lesson started finished host platform workers boxes forced submissions")
CONDITIONS = _table("katze_conditions", "id release seed versions settings")
GRADED = _table(
    "katze_submission",
    "id lesson student run conditions graded digest notebook handed_in slot repairs problem seconds files void "
    "remarks by_hand imports",
)
EXERCISE = _table(
    "katze_exercise",
    "submission number exercise run cell fingerprint seed level outcome points max_points misconception note "
    "answer stood worth_a_look",
)
CASE = _table("katze_case", "submission exercise number name part hidden outcome message seconds")
RULING = _table("katze_ruling", "lesson exercise ruling")
FROZEN = _table("katze_frozen", "lesson since")
KEPT = _table("katze_kept", "lesson cell student grade_id points extra_credit worth comment")
WORTH = _table("katze_worth", "lesson cell points")
SHARE = _table("katze_share", "grade_id given out_of counts")
TERMS = _table("katze_terms", "lesson student due penalty")
EVENT = _table("katze_event", "id lesson student run at kind why digest handed_in points max_points")
CHANGE = _table(
    "katze_change",
    "event exercise before_outcome before_points before_misconception after_outcome after_points after_misconception",
)
OUR_TABLES = (
    *(ANSWER, RUN, CONDITIONS, GRADED, EXERCISE, CASE, EVENT, CHANGE),
    *(TERMS, RULING, FROZEN, KEPT, WORTH, SHARE),
)
"""All of ours but the one that says their version, each after those that its rows refer to."""

EVERY_TABLE = (
    *(COURSE, ASSIGNMENT, NOTEBOOK, CELL, SOURCE, STUDENT, SUBMISSION, SUBMITTED, GRADE, COMMENT),
    *CELL_TABLES.values(),
    *(NBGRADER_VERSION, OUR_VERSION, *OUR_TABLES),
)


def new_id() -> str:
    """An id for a row, of nbgrader's kind."""
    return uuid4().hex


def inserting(connection: Connection, table: TableClause) -> sqlite.Insert | postgresql.Insert:
    """An insert that may say what to do about a row that is there already, in the words of this database."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)


def insert_row(connection: Connection, table: TableClause, **values: Any) -> str:
    """Add a row; returns its id."""
    identity = new_id()
    connection.execute(insert(table).values(id=identity, **values))
    return identity


def upsert(
    connection: Connection, table: TableClause, where: Sequence[Any], key: Mapping[str, Any], values: Mapping[str, Any]
) -> str:
    """The id of the row that `where` finds, with `values`; made from `key` and `values` where there is none."""
    found = connection.scalar(select(table.c.id).where(*where))
    if found is None:
        return insert_row(connection, table, **key, **values)
    if values:
        connection.execute(update(table).where(table.c.id == found).values(**values))
    return str(found)
