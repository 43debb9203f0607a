"""The gradebook's file: one process has it at a time, and writes it through one engine once it has been checked.

Nothing here needs nbgrader's own modules, which take a second to import, unless a gradebook must be made.
"""

from __future__ import annotations

import ast
import contextlib
import fcntl
import importlib.util
import os
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from sqlalchemy import Connection, Engine, TableClause, create_engine, event, insert, inspect, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from autograder.errors import BadInput
from autograder.gradebook import schema
from autograder.gradebook.tables import NBGRADER_VERSION, OUR_VERSION
from autograder.limits import size

WAIT_SECONDS = 5
"""How long to wait for another program, such as formgrader, to finish its own writing."""

FREE_BYTES = 64 << 20
"""Room on the disk below which nothing is started."""


class GradebookFile:
    """nbgrader's database, open for one process.

        with GradebookFile(course.gradebook) as file:
            ...                                # look at it; nothing has been written
            file.prepare()                     # make it, or bring our tables up to date
            with file.begin() as connection:   # one transaction
                ...

    No connection is open between two transactions, so that the process may fork at any such moment.

    Attributes:
        path: the database file.
        notices: what its owner should know of what was done with it, a line each.
    """

    def __init__(self, path: Path) -> None:
        """Nothing happens before it is entered.

        Args:
            path: the database file, such as `gradebook.db`; its folder must exist.
        """
        self.path = path
        self.notices: list[str] = []
        self._resources = contextlib.ExitStack()

    def __enter__(self) -> Self:
        """Take the lock, and check the file if there is one.

        Raises:
            BadInput: another run has it, it cannot be used, or the disk is full; nothing has been written.
        """
        with contextlib.ExitStack() as resources:
            resources.enter_context(_lock(self.path))
            check_gradebook(self.path)
            self._engine = _engine(self.path)
            resources.callback(self._engine.dispose)
            self._resources = resources.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the gradebook back."""
        self._resources.close()

    def prepare(self) -> None:
        """Make the gradebook where there is none, and bring our tables in it up to date. Before tables of an earlier
        version are touched, the file is copied.

        Raises:
            BadInput: it cannot be written or copied; it is as it was.
        """
        check_room(self.path.parent)
        if _is_new(self.path):
            _create(self.path)
            found = schema.LATEST
        else:
            with self.begin() as connection:
                found = schema.version(connection)
        copy = _copy(self.path) if found < schema.LATEST else None
        with self.begin() as connection:
            schema.migrate(connection)
        if copy is not None:
            self.notices.append(
                f"the gradebook {self.path.name} was brought from version {found} of Katze's tables to version "
                f"{schema.LATEST}; as it was before, it is in {copy.name}"
            )

    @contextlib.contextmanager
    def begin(self) -> Iterator[Connection]:
        """One transaction, whose failures are told in one line."""
        try:
            with self._engine.begin() as connection:
                yield connection
        except DBAPIError as error:
            raise BadInput(_advice(self.path, str(error.orig))) from error

    def has_records(self) -> bool:
        """Whether the file holds records that can be read: not if it is new, or from a Katze that kept none."""
        if _is_new(self.path):
            return False
        with self.begin() as connection:
            return schema.version(connection) >= schema.WITH_RECORDS


@contextlib.contextmanager
def read_only(path: Path) -> Iterator[Connection]:
    """Read a gradebook that has records, even while another run writes it. Nothing can be written.

    Raises:
        BadInput: there is no gradebook, it has no records, or they are from another version of Katze.
    """
    if not path.is_file():
        raise BadInput(f"there is no gradebook {path} yet; grade a lesson with `katze grade LESSON`")
    with look(path) as connection:
        if connection is None:
            raise BadInput(f"the gradebook {path} has no records of this Katze yet; run `katze grade LESSON`")
        yield connection


@contextlib.contextmanager
def look(path: Path) -> Iterator[Connection | None]:
    """The same for a gradebook that may be missing, or have no records yet: then there is nothing to read.

    Raises:
        BadInput: it cannot be read, or its records are from a newer version of Katze.
    """
    if _is_new(path):
        yield None
        return
    place = f"file:{quote(str(path))}?mode=ro"
    engine = create_engine(
        "sqlite://", creator=lambda: sqlite3.connect(place, uri=True, timeout=WAIT_SECONDS), poolclass=NullPool
    )
    try:
        with engine.connect() as connection:
            found = schema.version(connection)
            if found > schema.LATEST:
                raise BadInput(_newer(path, found))
            yield connection if found >= schema.WITH_RECORDS else None
    except DBAPIError as error:
        raise BadInput(_advice(path, str(error.orig))) from error


def check_room(folder: Path) -> None:
    """Refuse to begin where the disk is nearly full.

    Raises:
        BadInput: there is too little room in this folder.
    """
    free = shutil.disk_usage(folder).free
    if free < FREE_BYTES:
        raise BadInput(
            f"the disk is nearly full: {size(free)} are left in {folder}, and {size(FREE_BYTES)} are needed to begin; "
            "make room, then run this again"
        )


# --- the lock


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold the lock next to the gradebook, or say who has it. The lock ends with this process, however it ends."""
    if not path.parent.is_dir():
        raise BadInput(f"there is no folder {path.parent} for the gradebook")
    beside = path.with_name(f".{path.name}.lock")
    try:
        handle = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise BadInput(f"cannot write next to the gradebook {path}: {error.strerror}; check its folder") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(handle, 20, 0).decode("ascii", "replace").strip() or "unknown"
            raise BadInput(
                f"another run is grading into {path} (process {owner}); wait until it has finished, then run this again"
            ) from None
        with contextlib.suppress(OSError):  # on a full disk the lock holds, but does not say whose it is
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


# --- making and checking


def _is_new(path: Path) -> bool:
    return not path.exists() or (path.is_file() and path.stat().st_size == 0)


def _create(path: Path) -> None:
    """Make an empty gradebook with nbgrader's tables and version, in one step: it is there whole, or not at all."""
    from nbgrader import api  # takes a second

    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        engine = _engine(draft)
        with engine.begin() as connection:
            api.Base.metadata.create_all(connection)
            connection.exec_driver_sql("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
            connection.execute(insert(NBGRADER_VERSION).values(version_num=_versions()[-1]))
        engine.dispose()
        os.replace(draft, path)
    except (OSError, DBAPIError) as error:
        raise BadInput(f"cannot make the gradebook {path}: {_cause(error)}; check its folder") from error
    finally:
        draft.unlink(missing_ok=True)


def _copy(path: Path) -> Path:
    """Copy a gradebook beside itself, whole, under a name that says before which version it was; returns the copy."""
    name = f"{path.name}.before-{schema.LATEST}"
    names = (name, *(f"{name}.{number}" for number in range(2, 1000)))
    copy = next(path.with_name(name) for name in names if not os.path.lexists(path.with_name(name)))
    draft = path.with_name(f".{path.name}.{os.getpid()}.copy")
    try:
        with (
            contextlib.closing(sqlite3.connect(path, timeout=WAIT_SECONDS)) as source,
            contextlib.closing(sqlite3.connect(draft)) as target,
        ):
            source.backup(target)
        shutil.copymode(path, draft)
        os.replace(draft, copy)
    except (OSError, sqlite3.Error) as error:
        raise BadInput(f"cannot copy the gradebook {path} before it is changed: {error}; see to its folder") from error
    finally:
        draft.unlink(missing_ok=True)
    return copy


def _cause(error: OSError | DBAPIError) -> str:
    return str(error.orig if isinstance(error, DBAPIError) else error.strerror).partition("\n")[0]


def check_gradebook(path: Path) -> None:
    """Refuse a gradebook that cannot be used; one that is still to be made can be. Nothing is written.

    Raises:
        BadInput: it is damaged, locked, read-only, or of another version of nbgrader or of Katze.
    """
    if _is_new(path):
        return
    if not path.is_file() or not os.access(path, os.R_OK | os.W_OK):
        raise BadInput(f"the gradebook {path} cannot be written; check what it is and who may write it")
    try:
        with _engine(path).begin() as connection:
            fault = str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one())
            found, ours = (_in_table(connection, table) for table in (NBGRADER_VERSION, OUR_VERSION))
    except DBAPIError as error:
        raise BadInput(_advice(path, str(error.orig))) from error
    if fault != "ok":
        raise BadInput(_advice(path, f"malformed: {fault}"))
    _check_version(path, found)
    if any(not isinstance(version, int) or version > schema.LATEST for version in ours):
        raise BadInput(_newer(path, ours[0]))


def _in_table(connection: Connection, table: TableClause) -> list[Any]:
    """What the only column of a table holds; nothing where there is no such table."""
    return list(connection.scalars(select(table))) if inspect(connection).has_table(table.name) else []


def _newer(path: Path, version: object) -> str:
    return (
        f"the gradebook {path} holds records of a newer Katze (version {version} of its tables; this one knows "
        f"{schema.LATEST}); update Katze, then run this again"
    )


def _check_version(path: Path, found: Sequence[str]) -> None:
    if list(found) == [_versions()[-1]]:
        return
    if not found:
        raise BadInput(f"{path} is not a complete gradebook of nbgrader; move it away, or restore it from a copy")
    if found[0] not in _versions():
        raise BadInput(f"the gradebook {path} was made by a newer nbgrader; update nbgrader, then grade")
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
        ("disk I/O", "the disk is failing or full: see to it and run this again; what was recorded stays"),
        ("not a database", "it is not a gradebook: move it away, or restore it from a copy"),
        ("malformed", "it is damaged: restore it from a copy"),
    ):
        if part in error:
            return f"cannot use the gradebook {path}: {advice}"
    return f"cannot use the gradebook {path}: {error.splitlines()[0]}"


@cache
def _versions() -> tuple[str, ...]:
    """The versions of a gradebook that this nbgrader knows, oldest first, read from its migration scripts.

    They are not run, as alembic would: that imports all of nbgrader.
    """
    nbgrader = importlib.util.find_spec("nbgrader")
    assert nbgrader is not None
    assert nbgrader.origin is not None
    scripts = (Path(nbgrader.origin).parent / "alembic" / "versions").glob("*.py")
    after = {was: now for was, now in map(_step, scripts) if now}
    versions = [after[None]]
    while versions[-1] in after:
        versions.append(after[versions[-1]])
    return tuple(versions)


def _step(script: Path) -> tuple[str | None, str | None]:
    """The versions before and after a migration."""
    names: dict[str, str | None] = {}
    for node in ast.parse(script.read_bytes()).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = node.value.value if isinstance(node.value, ast.Constant) else None
            names[node.targets[0].id] = value if isinstance(value, str) else None
    return names.get("down_revision"), names.get("revision")


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
