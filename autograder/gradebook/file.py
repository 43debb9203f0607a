"""A gradebook in an SQLite file: one process locks it, checks it, and only then writes."""

import contextlib
import fcntl
import functools
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool, StaticPool

from autograder.errors import BadInput
from autograder.gradebook import migrations
from autograder.gradebook.session import GradebookSession, left_to_this_process
from autograder.limits import size

WAIT_SECONDS = 5
"""Seconds to wait for another program, such as formgrader, to finish writing."""

FREE_BYTES = 64 << 20
"""Free bytes on the disk below which nothing starts."""


class GradebookFile(GradebookSession):
    """A gradebook in a file, for one run at a time. No connection stays open between transactions.

    Attributes:
        path: the database file, such as `gradebook.db`; its folder must exist.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path.name)
        self.path = path

    def _take(self, resources: contextlib.ExitStack) -> None:
        resources.enter_context(_lock(self.path))
        self.check()

    def _bind(self) -> Engine:
        return _engine(self.path)

    def _keep_copy(self) -> str:
        check_room(self.path.parent)
        return f"a copy of the old one is in {_copy(self.path).name}"

    def check(self) -> None:
        """Refuse a gradebook that cannot be used. One that does not exist yet is fine if its folder does."""
        if self.is_new():
            _check_folder(self.path)
            return
        if not self.path.is_file() or not os.access(self.path, os.R_OK | os.W_OK):
            raise BadInput(
                f"the gradebook {self.path} cannot be written; check that it is a file that you may write to"
            )
        with self.telling(), _engine(self.path).begin() as connection:
            fault = str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one())
            if fault != "ok":
                raise BadInput(_in_words(self.path, f"malformed: {fault}"))
            migrations.check_versions(self.path, connection)

    def is_new(self) -> bool:
        """Return whether there is no file yet, or only an empty one, without opening it."""
        return not self.path.exists() or (self.path.is_file() and self.path.stat().st_size == 0)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Connection]:
        if not self.path.is_file():
            raise BadInput(f"the gradebook {self.path} is not a file; check c.CourseDirectory.db_url")
        place = f"file:{quote(str(self.path))}?mode=ro&uri=true"
        engine = create_engine(f"sqlite:///{place}", connect_args={"timeout": WAIT_SECONDS}, poolclass=NullPool)
        with engine.connect() as connection:
            migrations.check_our_version(self.path, connection)
            if migrations.version(connection) == migrations.LATEST:
                yield connection
            else:
                with _up_to_date(connection).connect() as copy:
                    yield copy

    @contextlib.contextmanager
    def making(self) -> Iterator[Session]:
        """Build the file under a temporary name, and rename it in the end."""
        check_room(self.path.parent)
        draft = self.path.with_name(f".{self.path.name}.new")
        try:
            draft.unlink(missing_ok=True)  # of a run that was killed: while the lock is held, no other run has one
            with Session(_engine(draft)) as session, session.begin():
                migrations.make_tables(session.connection())
                yield session
            if not self.is_new():
                raise BadInput(f"another program has just made {self.path}; look at it, then run this again")
            os.replace(draft, self.path)
        except (OSError, DBAPIError) as error:
            raise BadInput(f"cannot make the gradebook {self.path}: {_cause(error)}; check its folder") from error
        finally:
            draft.unlink(missing_ok=True)

    @contextlib.contextmanager
    def telling(self) -> Iterator[None]:
        """Turn an SQLite error into a one-line message."""
        try:
            yield
        except DBAPIError as error:
            raise BadInput(_in_words(self.path, str(error.orig))) from error
        except ValueError as error:  # flipped bytes in what it holds, which SQLite cannot see
            raise BadInput(_in_words(self.path, "malformed")) from error


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
    """Hold the lock file next to the gradebook, or say who has it. The lock ends with this process, even by a crash."""
    _check_folder(path)
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
        with left_to_this_process(handle):
            yield
    finally:
        os.close(handle)


# --- copying and checking


def _check_folder(path: Path) -> None:
    if not path.parent.is_dir():
        raise BadInput(f"there is no folder {path.parent} for the gradebook")


def _copy(path: Path) -> Path:
    """Copy the gradebook next to itself, under a name that says which upgrade it precedes; return the copy."""
    name = f"{path.name}.before-{migrations.LATEST}"
    names = (name, *(f"{name}.{number}" for number in range(2, 1000)))
    copy = next(path.with_name(name) for name in names if not os.path.lexists(path.with_name(name)))
    draft = path.with_name(f".{path.name}.{os.getpid()}.copy")
    try:
        copy_pages(path, draft)
        shutil.copymode(path, draft)
        os.replace(draft, copy)
    except (OSError, sqlite3.Error) as error:
        raise BadInput(f"cannot copy the gradebook {path} before it is changed: {error}; check its folder") from error
    finally:
        draft.unlink(missing_ok=True)
    return copy


def copy_pages(path: Path, target: Path) -> None:
    """Copy a database of any version into a new file, as it is at one moment, foreign tables included.

    Raises:
        sqlite3.Error: it cannot be read, or the file cannot be written.
    """
    with (
        contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=WAIT_SECONDS)) as source,
        contextlib.closing(sqlite3.connect(target)) as copy,
    ):
        source.backup(copy)


def _cause(error: OSError | DBAPIError) -> str:
    return str(error.orig if isinstance(error, DBAPIError) else error.strerror).partition("\n")[0]


def _in_words(path: Path, error: str) -> str:
    """Say in one line what SQLite reported, and what to do next."""
    for part, then in (
        ("locked", "another program is writing it: close it (formgrader?), then run this again"),
        ("read-?only", "it is read-only: check the permissions of the file and of its folder"),
        ("full", "the disk is full: make room and run this again; what has been recorded is kept"),
        ("disk I/O", "the disk is failing or full: check it and run this again; what has been recorded is kept"),
        ("not a database", "it is not a gradebook: move it away, or restore it from a copy"),
        ("malformed", "it is damaged: restore it from a copy"),
    ):
        if re.search(part, error):
            return f"cannot use the gradebook {path}: {then}"
    return f"cannot use the gradebook {path}: {error.splitlines()[0]}"


@functools.cache  # it remembers how statements are compiled
def _engine(path: Path) -> Engine:
    """Return an engine that keeps no connection and whose transactions take the write lock at once."""
    engine = create_engine(
        "sqlite://",
        creator=lambda: sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None),
        poolclass=NullPool,
    )

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _up_to_date(connection: Connection) -> Engine:
    """Return an in-memory copy with its tables brought up to the latest version."""
    memory = create_engine("sqlite://", poolclass=StaticPool)
    source, target = (one.connection.driver_connection for one in (connection, memory.connect()))
    assert source is not None
    source.backup(target)
    with memory.begin() as copy:
        migrations.migrate(copy)
        copy.exec_driver_sql("PRAGMA query_only = ON")
    return memory
