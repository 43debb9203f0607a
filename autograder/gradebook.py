"""The one writer of nbgrader's gradebook.

Scores go into nbgrader's own tables, as `nbgrader autograde` would write them, so that formgrader,
`generate_feedback` and `export` find them. One process holds the gradebook while it grades; it has one engine,
and each submission is one transaction: an interruption leaves whole submissions only.

How nbgrader says "could not be graded": it knows no such thing. A grade without a score counts as zero in its
sums. Here such a grade has no `auto_score` and `needs_manual_grade` set, with the reason as the comment of the
answer, so that formgrader lists it as work to do; a zero that was earned has `auto_score` 0 and no such flag.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import nbformat
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from nbgrader import api, dbutil
from nbgrader.utils import compute_checksum, is_locked, parse_utc
from sqlalchemy import (
    Column,
    Connection,
    Engine,
    MetaData,
    String,
    Table,
    bindparam,
    create_engine,
    delete,
    event,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from autograder.errors import BadInput

WAIT_SECONDS = 5
"""How long to wait for another program, such as formgrader, to finish its own writing."""

TIMESTAMP_CHARACTERS = 60
"""A longer text is no time."""

DEFAULT_COURSE = "default_course"
"""nbgrader's name for a course without one; its preprocessors use it whatever the settings say."""


class GradebookWriter:
    """nbgrader's gradebook, open for grading one lesson after another.

        with GradebookWriter(course.gradebook, course.course_id) as gradebook:
            gradebook.ensure_assignment(lesson, release)
            gradebook.record(student, lesson, notebook, scores)

    Entering takes the lock, checks everything that can be wrong with the file, and makes the file where there is
    none. No connection is open between two calls, so that the process may fork at any such moment.
    """

    def __init__(self, path: Path, course_id: str = "") -> None:
        """Nothing happens before the gradebook is entered.

        Args:
            path: the database file, such as `gradebook.db`; its folder must exist.
            course_id: nbgrader's name for the course; empty where it has none.
        """
        self.path = path
        self.course_id = course_id or DEFAULT_COURSE
        self._cells: dict[str, _Assignment] = {}
        self._resources = contextlib.ExitStack()

    def __enter__(self) -> Self:
        """Take the gradebook.

        Raises:
            BadInput: another run has it, or the file cannot be used; nothing has been written.
        """
        with contextlib.ExitStack() as resources:
            resources.enter_context(_lock(self.path))
            if _is_new(self.path):
                _create(self.path)
            else:
                _check(self.path)
            self._engine = _engine(self.path)
            resources.callback(self._engine.dispose)
            with self._begin() as connection:
                _ANSWERS.create(connection, checkfirst=True)
                for name in {DEFAULT_COURSE, self.course_id}:
                    connection.execute(insert(_COURSE).prefix_with("OR IGNORE").values(id=name))
            self._resources = resources.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the gradebook back."""
        self._resources.close()

    def ensure_assignment(self, lesson: str, notebook: Mapping[str, Any]) -> None:
        """Make nbgrader know a lesson: its assignment, its notebook, and every cell that has a part in grading.

        What `nbgrader generate_assignment` has written stays, with the hidden tests that only it knows. Points and
        texts that have changed are brought up to date.

        Args:
            lesson: the lesson, nbgrader's assignment and notebook in one.
            notebook: its release, in nbformat 4.5.

        Raises:
            BadInput: the release no longer has a cell for which somebody has given points by hand.
        """
        cells = _graded_cells(notebook)
        with self._begin() as connection:
            assignment = self._assignment(connection, lesson)
            notebook_id = _notebook(connection, assignment, lesson, notebook)
            _remove_old_cells(connection, self.path, lesson, notebook_id, cells)
            for cell in cells:
                _save_cell(connection, notebook_id, cell)
            self._cells[lesson] = _Assignment.load(connection, assignment, notebook_id, cells)

    def record(
        self,
        student: str,
        lesson: str,
        notebook: Mapping[str, Any] | None,
        scores: Mapping[str, float | None],
        timestamp: datetime | str | None = None,
        problem: str = "",
    ) -> None:
        """Write one graded submission; writing it again replaces its automatic scores.

        Points given by hand stay. A grade with such points is marked for review only where something has changed
        under them: the automatic score, or the text of a written answer. An untouched written answer scores 0.

        Args:
            student: the student's id; see `submission.check_student_id`.
            lesson: a lesson that `ensure_assignment` has been called for.
            notebook: the graded notebook; None where there is none.
            scores: points by grade_id. A cell that is missing, or None, has no score and needs a human.
            timestamp: when it was handed in, in UTC or with its zone; nbgrader's text form is understood.
            problem: why there are no scores; it becomes the comment on the answers.

        Raises:
            ValueError: a score is not between 0 and the cell's points, or its cell is unknown.
        """
        assignment = self._cells[lesson]
        assignment.check_scores(scores)
        texts = _checksums(notebook)
        with self._begin() as connection:
            connection.execute(insert(_STUDENT).prefix_with("OR IGNORE").values(id=student))
            submission = _submission(connection, assignment, student, _utc(timestamp))
            _write_grades(connection, assignment, submission, scores, texts)
            _write_comments(connection, assignment, submission, texts, problem)

    def totals(self, lesson: str) -> dict[str, float]:
        """The points of each student, as nbgrader adds them up: by hand where given, else automatic."""
        with self._begin() as connection:
            rows = connection.execute(
                select(api.SubmittedAssignment.student_id, api.SubmittedAssignment.score.label("points"))
                .join(api.Assignment, api.Assignment.id == api.SubmittedAssignment.assignment_id)
                .where(api.Assignment.name == lesson)
            )
            return {row.student_id: float(row.points) for row in rows}

    @contextlib.contextmanager
    def _begin(self) -> Iterator[Connection]:
        """One transaction, whose failures are told in one line."""
        try:
            with self._engine.begin() as connection:
                yield connection
        except DBAPIError as error:
            raise BadInput(_advice(self.path, str(error.orig))) from error

    def _assignment(self, connection: Connection, lesson: str) -> str:
        found = connection.scalar(select(_ASSIGNMENT.c.id).where(_ASSIGNMENT.c.name == lesson))
        return str(found) if found else _add(connection, _ASSIGNMENT, name=lesson, course_id=self.course_id)


# --- the file


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold the lock beside the gradebook, or say who has it. The lock ends with this process, however it ends."""
    if not path.parent.is_dir():
        raise BadInput(f"there is no folder {path.parent} for the gradebook")
    beside = path.with_name(f".{path.name}.lock")
    try:
        handle = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise BadInput(f"cannot write beside the gradebook {path}: {error.strerror}; check its folder") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(handle, 20, 0).decode("ascii", "replace").strip() or "unknown"
            raise BadInput(
                f"another run is grading into {path} (process {owner}); wait until it has finished, then run this again"
            ) from None
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        _held.add(handle)
        yield
    finally:
        _held.discard(handle)
        os.close(handle)


_held: set[int] = set()
"""Locks of this process. A fork closes its copies: the lock must not outlive the process that took it."""


def _drop_locks_in_child() -> None:
    for handle in _held:
        os.close(handle)
    _held.clear()


os.register_at_fork(after_in_child=_drop_locks_in_child)


def _is_new(path: Path) -> bool:
    return not path.exists() or (path.is_file() and path.stat().st_size == 0)


def _create(path: Path) -> None:
    """Make an empty gradebook with nbgrader's tables and version, in one step: it is there whole, or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        engine = _engine(draft)
        with engine.begin() as connection:
            api.Base.metadata.create_all(connection)
            connection.exec_driver_sql("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
            connection.exec_driver_sql("INSERT INTO alembic_version VALUES (?)", (_versions().get_current_head(),))
        engine.dispose()
        os.replace(draft, path)
    except (OSError, DBAPIError) as error:
        raise BadInput(f"cannot make the gradebook {path}: {error}; check its folder") from error
    finally:
        draft.unlink(missing_ok=True)


def _check(path: Path) -> None:
    """Refuse a gradebook that cannot be used.

    Raises:
        BadInput: it is damaged, locked, read-only, or of another version of nbgrader.
    """
    if not path.is_file() or not os.access(path, os.R_OK | os.W_OK):
        raise BadInput(f"the gradebook {path} cannot be written; check what it is and who may write it")
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None)) as connection:
            fault = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
            connection.execute("BEGIN IMMEDIATE")
            names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            versions = connection.execute("SELECT * FROM alembic_version") if "alembic_version" in names else ()
            found = [str(row[0]) for row in versions]
            connection.execute("ROLLBACK")
    except sqlite3.Error as error:
        raise BadInput(_advice(path, str(error))) from error
    if fault != "ok":
        raise BadInput(_advice(path, f"malformed: {fault}"))
    _check_version(path, found)


def _check_version(path: Path, found: Sequence[str]) -> None:
    wanted = str(_versions().get_current_head())
    if list(found) == [wanted]:
        return
    if not found:
        raise BadInput(f"{path} is no complete gradebook of nbgrader; move it away, or restore it from a copy")
    try:
        _versions().get_revision(found[0])
    except CommandError:
        raise BadInput(f"the gradebook {path} was made by a newer nbgrader; update nbgrader, then grade") from None
    raise BadInput(
        f"the gradebook {path} was made by an older nbgrader; copy it, run `nbgrader db upgrade` in its folder, "
        "then grade"
    )


def _advice(path: Path, error: str) -> str:
    """One line for what SQLite says, with the next step."""
    for part, advice in (
        ("locked", "another program is writing it: close it (formgrader?), then run this again"),
        ("readonly", "it may only be read: check who may write the file and its folder"),
        ("read-only", "it may only be read: check who may write the file and its folder"),
        ("full", "the disk is full: make room and run this again; what was recorded stays"),
        ("not a database", "it is not a gradebook: move it away, or restore it from a copy"),
        ("malformed", "it is damaged: restore it from a copy"),
    ):
        if part in error:
            return f"cannot use the gradebook {path}: {advice}"
    return f"cannot use the gradebook {path}: {error.splitlines()[0]}"


@cache
def _versions() -> ScriptDirectory:
    """The versions that this nbgrader knows. Asked in this process: the `alembic` command may not be on PATH."""
    return ScriptDirectory(dbutil.ALEMBIC_DIR)


def _engine(path: Path) -> Engine:
    """An engine whose transactions take the write lock when they begin, and which keeps no connection."""
    engine = create_engine(
        "sqlite://",
        creator=lambda: sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None),
        poolclass=NullPool,
    )

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


# --- the lesson


@dataclass(frozen=True)
class _GradedCell:
    """A cell of the release that nbgrader has rows for."""

    name: str
    kind: str
    grade: bool
    solution: bool
    task: bool
    locked: bool
    points: float
    source: str
    checksum: str


@dataclass(frozen=True)
class _Assignment:
    """A lesson as the database has it: the rows that every submission mirrors.

    Attributes:
        id: the assignment.
        notebook: its notebook.
        grades: each cell that has a grade, by the id of its row.
        comments: each cell that has a comment, by the id of its row.
    """

    id: str
    notebook: str
    grades: Mapping[str, _GradedCell]
    comments: Mapping[str, _GradedCell]

    @classmethod
    def load(cls, connection: Connection, assignment: str, notebook: str, cells: Sequence[_GradedCell]) -> _Assignment:
        rows = connection.execute(select(_CELL).where(_CELL.c.notebook_id == notebook)).all()
        by_name = {cell.name: cell for cell in cells}
        grades = {row.id: by_name[row.name] for row in rows if row.type in ("GradeCell", "TaskCell")}
        comments = {row.id: by_name[row.name] for row in rows if row.type in ("SolutionCell", "TaskCell")}
        return cls(assignment, notebook, grades, comments)

    def check_scores(self, scores: Mapping[str, float | None]) -> None:
        points = {cell.name: cell.points for cell in self.grades.values()}
        for name, score in scores.items():
            if name not in points:
                raise ValueError(f"{name} is no graded cell of the lesson")
            if score is not None and not 0 <= score <= points[name]:
                raise ValueError(f"{name}: a score of {score} is not between 0 and {points[name]}")


def _graded_cells(notebook: Mapping[str, Any]) -> list[_GradedCell]:
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
                _GradedCell(
                    name=meta["grade_id"],
                    kind=cell["cell_type"],
                    grade=bool(meta.get("grade")),
                    solution=bool(meta.get("solution")),
                    task=task,
                    locked=bool(is_locked(node)),
                    points=float(meta.get("points", 0)),
                    source=cell["source"],
                    checksum=compute_checksum(node),
                )
            )
    return cells


def _notebook(connection: Connection, assignment: str, lesson: str, notebook: Mapping[str, Any]) -> str:
    kernel = json.dumps(notebook["metadata"].get("kernelspec", {}))
    where = (_NOTEBOOK.c.assignment_id == assignment, _NOTEBOOK.c.name == lesson)
    return _upsert(connection, _NOTEBOOK, where, {"assignment_id": assignment, "name": lesson}, {"kernelspec": kernel})


def _remove_old_cells(
    connection: Connection, path: Path, lesson: str, notebook: str, cells: Sequence[_GradedCell]
) -> None:
    """Remove rows of cells that the release no longer has, unless somebody has worked on them."""
    kept = {(cell.name, kind) for cell in cells for kind in _row_kinds(cell)}
    rows = connection.execute(select(_CELL).where(_CELL.c.notebook_id == notebook)).all()
    for row in rows:
        if (row.name, row.type) in kept:
            continue
        by_hand = connection.scalar(
            select(func.count()).where(_GRADE.c.cell_id == row.id, _GRADE.c.manual_score.is_not(None))
        )
        if by_hand:
            raise BadInput(
                f"the release of {lesson} no longer has the cell {row.name}, and {path} holds points given by hand for "
                f"it; put the cell back, or start a new gradebook"
            )
        for table in (_GRADE, _COMMENT):
            connection.execute(delete(table).where(table.c.cell_id == row.id))
        for table in (*_CELL_TABLES.values(), _CELL):
            connection.execute(delete(table).where(table.c.id == row.id))
    names = [cell.name for cell in cells]
    connection.execute(delete(_SOURCE).where(_SOURCE.c.notebook_id == notebook, _SOURCE.c.name.not_in(names)))


def _row_kinds(cell: _GradedCell) -> list[str]:
    """The rows that nbgrader keeps for a cell: a written answer is graded and commented on, so it has two."""
    if cell.task:
        return ["TaskCell"]
    return [kind for kind, wanted in (("GradeCell", cell.grade), ("SolutionCell", cell.solution)) if wanted]


def _save_cell(connection: Connection, notebook: str, cell: _GradedCell) -> None:
    for kind in _row_kinds(cell):
        table = _CELL_TABLES[kind]
        row_where = (_CELL.c.notebook_id == notebook, _CELL.c.name == cell.name, _CELL.c.type == kind)
        row = _upsert(connection, _CELL, row_where, {"notebook_id": notebook, "name": cell.name, "type": kind}, {})
        values = {} if kind == "SolutionCell" else {"max_score": cell.points, "cell_type": cell.kind}
        if connection.scalar(select(table.c.id).where(table.c.id == row)) is None:
            connection.execute(insert(table).values(id=row, **values))
        elif values:
            connection.execute(update(table).where(table.c.id == row).values(**values))
    where = (_SOURCE.c.notebook_id == notebook, _SOURCE.c.name == cell.name)
    known = connection.execute(select(_SOURCE).where(*where)).first()
    if known is not None and _visible(known.source or "") == _visible(cell.source) and known.cell_type == cell.kind:
        return
    values = {"cell_type": cell.kind, "locked": cell.locked, "source": cell.source, "checksum": cell.checksum}
    _upsert(connection, _SOURCE, where, {"notebook_id": notebook, "name": cell.name}, values)


def _visible(source: str) -> str:
    """A source without nbgrader's hidden tests and without blank edges."""
    return _HIDDEN.sub("", source).strip()


# --- a submission


def _checksums(notebook: Mapping[str, Any] | None) -> dict[str, str]:
    """What each answer of a graded notebook says, by grade_id, as nbgrader's checksum."""
    if notebook is None:
        return {}
    cells = [cell for cell in notebook["cells"] if cell["metadata"].get("nbgrader", {}).get("solution")]
    return {cell["metadata"]["nbgrader"]["grade_id"]: compute_checksum(_node(cell)) for cell in cells}


def _node(cell: Mapping[str, Any]) -> nbformat.NotebookNode:
    """What nbgrader's functions look at in a cell."""
    meta = {"nbgrader": dict(cell["metadata"].get("nbgrader", {}))}
    return nbformat.NotebookNode(cell_type=cell["cell_type"], source=cell["source"], metadata=nbformat.from_dict(meta))


def _submission(connection: Connection, assignment: _Assignment, student: str, timestamp: datetime | None) -> str:
    """The row of the submitted notebook, made where it is missing."""
    where = (_SUBMISSION.c.assignment_id == assignment.id, _SUBMISSION.c.student_id == student)
    handed_in = {} if timestamp is None else {"timestamp": timestamp}
    key = {"assignment_id": assignment.id, "student_id": student}
    submission = _upsert(connection, _SUBMISSION, where, key, handed_in)
    where = (_SUBMITTED.c.assignment_id == submission, _SUBMITTED.c.notebook_id == assignment.notebook)
    key = {"assignment_id": submission, "notebook_id": assignment.notebook}
    return _upsert(connection, _SUBMITTED, where, key, {})


def _write_grades(
    connection: Connection,
    assignment: _Assignment,
    submitted: str,
    scores: Mapping[str, float | None],
    texts: Mapping[str, str],
) -> None:
    rows = connection.execute(
        select(_GRADE, _ANSWERS.c.checksum)
        .outerjoin(_ANSWERS, _ANSWERS.c.grade_id == _GRADE.c.id)
        .where(_GRADE.c.notebook_id == submitted)
    )
    known = {row.cell_id: row for row in rows}
    new, changed, answers = [], [], []
    for cell_id, cell in assignment.grades.items():
        score = scores.get(cell.name)
        text = texts.get(cell.name, "")
        if score is None and cell.solution and text == cell.checksum:
            score = 0.0
        row = known.get(cell_id)
        grade_id = row.id if row else _new_id()
        if row is None:
            new.append(
                {
                    "id": grade_id,
                    "cell_id": cell_id,
                    "notebook_id": submitted,
                    "auto_score": score,
                    "needs_manual_grade": score is None,
                }
            )
        else:
            review = score is None
            if row.manual_score is not None:
                touched = row.auto_score != score or (cell.solution and row.checksum != text)
                review = touched or row.needs_manual_grade
            changed.append({"row": grade_id, "score": score, "review": review})
        if cell.solution:
            answers.append({"grade_id": grade_id, "checksum": text})
    for statement, values in (
        (insert(_GRADE), new),
        (_UPDATE_GRADE, changed),
        (insert(_ANSWERS).prefix_with("OR REPLACE"), answers),
    ):
        if values:
            connection.execute(statement, values)


def _write_comments(
    connection: Connection, assignment: _Assignment, submitted: str, texts: Mapping[str, str], problem: str
) -> None:
    rows = connection.execute(select(_COMMENT).where(_COMMENT.c.notebook_id == submitted))
    known = {row.cell_id: row.id for row in rows}
    new, changed = [], []
    for cell_id, cell in assignment.comments.items():
        untouched = texts.get(cell.name) == cell.checksum and not cell.task
        comment = problem or ("No response." if untouched else None)
        if cell_id in known:
            changed.append({"row": known[cell_id], "comment": comment})
        else:
            new.append({"id": _new_id(), "cell_id": cell_id, "notebook_id": submitted, "auto_comment": comment})
    if new:
        connection.execute(insert(_COMMENT), new)
    if changed:
        connection.execute(_UPDATE_COMMENT, changed)


def _utc(timestamp: datetime | str | None) -> datetime | None:
    """A time in UTC, without a zone, as nbgrader keeps it; None for a text that is no time."""
    if not timestamp or (isinstance(timestamp, str) and len(timestamp) > TIMESTAMP_CHARACTERS):
        return None
    try:
        if isinstance(timestamp, str) and _OFFSET.search(timestamp):  # nbgrader takes +0200 for 200 seconds
            timestamp = datetime.fromisoformat(_OFFSET.sub(r"\1", timestamp))
        moment = parse_utc(timestamp)
    except Exception:  # students write timestamp.txt, and the parser fails in many ways
        return None
    return moment if isinstance(moment, datetime) else None


# --- rows


def _new_id() -> str:
    return uuid4().hex


def _add(connection: Connection, table: Table, **values: Any) -> str:
    identity = _new_id()
    connection.execute(insert(table).values(id=identity, **values))
    return identity


def _upsert(
    connection: Connection, table: Table, where: Sequence[Any], key: Mapping[str, Any], values: Mapping[str, Any]
) -> str:
    """The id of the row that `where` finds, with `values`; made from `key` and `values` where there is none."""
    found = connection.scalar(select(table.c.id).where(*where))
    if found is None:
        return _add(connection, table, **key, **values)
    if values:
        connection.execute(update(table).where(table.c.id == found).values(**values))
    return str(found)


_OFFSET = re.compile(r"\s*([+-]\d{2}:?\d{2})\s*$")
_HIDDEN = re.compile(r"^[^\n]*BEGIN HIDDEN TESTS[^\n]*\n.*?END HIDDEN TESTS[^\n]*\n?", re.M | re.S)

_COURSE: Table = api.Course.__table__
_ASSIGNMENT: Table = api.Assignment.__table__
_NOTEBOOK: Table = api.Notebook.__table__
_CELL: Table = api.BaseCell.__table__
_SOURCE: Table = api.SourceCell.__table__
_STUDENT: Table = api.Student.__table__
_SUBMISSION: Table = api.SubmittedAssignment.__table__
_SUBMITTED: Table = api.SubmittedNotebook.__table__
_GRADE: Table = api.Grade.__table__
_COMMENT: Table = api.Comment.__table__
_CELL_TABLES: dict[str, Table] = {
    "GradeCell": api.GradeCell.__table__,
    "SolutionCell": api.SolutionCell.__table__,
    "TaskCell": api.TaskCell.__table__,
}

_ANSWERS = Table(
    "katze_answer", MetaData(), Column("grade_id", String(32), primary_key=True), Column("checksum", String(128))
)
"""Our own table beside nbgrader's: which text a written answer had when it was last recorded."""

_UPDATE_GRADE = (
    update(_GRADE)
    .where(_GRADE.c.id == bindparam("row"))
    .values(auto_score=bindparam("score"), needs_manual_grade=bindparam("review"))
)
_UPDATE_COMMENT = update(_COMMENT).where(_COMMENT.c.id == bindparam("row")).values(auto_comment=bindparam("comment"))
