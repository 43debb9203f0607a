"""A gradebook in PostgreSQL: several runs may use it at a time, each for another lesson.

A run writes through a single connection, and the lock on its lesson belongs to that connection: if it ends, so does the
lock, and nothing is written without it. Rows that lessons share, such as a student's, are written by statements that
may run concurrently; rows that formgrader may change meanwhile are read `FOR UPDATE`.
"""

import contextlib
import hashlib
import os
import re
import socket
from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import Connection, Engine, and_, create_engine, event, func, inspect, make_url, select, text
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

from autograder.course.address import Server
from autograder.errors import BadInput, lacks_extra
from autograder.gradebook import migrations, models
from autograder.gradebook.migrations import LOCKS
from autograder.gradebook.session import GradebookSession, left_to_this_process

WAIT_SECONDS = 30
"""How long to wait for another program, such as formgrader, to finish writing."""

_CONNECT_SECONDS = 10
_KEEPALIVE_SECONDS = 60  # between two submissions, so that no firewall takes the connection for dead
_ALL_LESSONS = -1  # shared by those that have one lesson
_ONE_MOMENT = "REPEATABLE READ"
_BY_ONE_SUBMISSION = (DataError, IntegrityError)
"""Errors that only one submission's rows can cause."""


class GradebookServer(GradebookSession):
    """A gradebook on a server; this run locks one lesson, or all of them.

    Attributes:
        server: its address; the database must exist.
        lesson: the lesson that the run locks; None for all of them.
    """

    def __init__(self, server: Server, lesson: str | None) -> None:
        super().__init__(str(server))
        self.server = server
        self.lesson = lesson

    def _take(self, resources: contextlib.ExitStack) -> None:
        with self.telling():
            engine = _engine(self.server)
            if self.lesson is None:
                engine = engine.execution_options(isolation_level=_ONE_MOMENT)
            self._connection = resources.enter_context(engine.connect())
            driver = self._connection.connection.driver_connection
            assert driver is not None
            resources.enter_context(left_to_this_process(driver.fileno()))
        with self.begin() as session:
            self._lock(session.connection())
        with self.begin() as session:
            _check(self.server, session.connection())

    def _bind(self) -> Connection:
        if self._connection.invalidated:  # it would connect anew, without the lock
            raise BadInput(_cannot(self.server, _ENDED))
        return self._connection

    def _keep_copy(self) -> str:
        return "no copy was made: `pg_dump` makes one"

    def _lock(self, connection: Connection) -> None:
        """Take the lock on the lesson, or on all of them, or say who has it. The lock ends with the connection."""
        connection.exec_driver_sql(f"SET lock_timeout = '{WAIT_SECONDS}s'")
        if self.lesson is None:
            self._try(connection, func.pg_try_advisory_lock, _ALL_LESSONS, "grading into")
        else:
            self._try(connection, func.pg_try_advisory_lock_shared, _ALL_LESSONS, "copying from or to")
            self._try(connection, func.pg_try_advisory_lock, _number(self.lesson), f"grading {self.lesson} into")

    def _try(self, connection: Connection, lock: Callable[[int, int], Any], key: int, doing: str) -> None:
        if not connection.scalar(select(lock(LOCKS, key))):
            owner = connection.scalar(_OWNER, {"locks": LOCKS, "key": key}) or "process unknown"
            raise BadInput(
                f"another run is {doing} {self.server} ({owner}); wait until it has finished, then run this again"
            )

    def check(self) -> None:
        """Refuse a database that cannot be used, does not answer, or does not let this user in."""
        with self.telling(), _engine(self.server).begin() as connection:
            _check(self.server, connection)

    def is_new(self) -> bool:
        """Return whether its tables do not exist yet."""
        with self.telling(), _engine(self.server).connect() as connection:
            return not _there(connection)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Connection]:
        engine = _engine(self.server).execution_options(isolation_level=_ONE_MOMENT)
        with engine.connect() as connection:
            migrations.check_our_version(self.server, connection)
            migrations.migrate(connection)  # for this moment only: it is never committed
            connection.exec_driver_sql("SET TRANSACTION READ ONLY")
            yield connection

    @contextlib.contextmanager
    def making(self) -> Iterator[Session]:
        """Create its tables in one transaction."""
        with self.begin() as session:
            migrations.one_at_a_time(session.connection())
            if not _there(session.connection()):  # another run may have made it while this one waited
                migrations.make_tables(session.connection())
            yield session

    @contextlib.contextmanager
    def telling(self) -> Iterator[None]:
        """Turn a PostgreSQL error into a one-line message, unless only one submission causes it."""
        try:
            yield
        except _BY_ONE_SUBMISSION:
            raise
        except DBAPIError as error:
            raise BadInput(_in_words(self.server, error)) from error


_OWNER = text("""
    SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND granted AND classid = CAST(:locks AS oid) AND objid = CAST(:key AS oid)
    AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
""")


def _there(connection: Connection) -> list[str]:
    """Return the existing tables that are named like a gradebook's."""
    ours = {*models.nbgrader_metadata().tables, *models.Base.metadata.tables}
    ours |= {"alembic_version", migrations.VERSION_TABLE}
    return sorted(ours.intersection(inspect(connection).get_table_names()))


def _check(server: Server, connection: Connection) -> None:
    """Refuse a database that cannot be used."""
    found = connection.execute(_SETTINGS).one()
    if found.encoding != "UTF8":
        raise BadInput(
            f"the database of {server} is encoded in {found.encoding}; make one with `createdb --encoding UTF8 "
            "--template template0`"
        )
    if found.read_only == "on":
        raise BadInput(_cannot(server, _READ_ONLY))
    tables = _there(connection)
    if not tables:
        if not found.may_create:
            raise BadInput(
                f"{found.name} may not make tables in {server}; run there, as the owner of the database, "
                f"`GRANT CREATE ON SCHEMA {found.schema or 'public'} TO {found.name}`"
            )
        return
    for table in tables:
        rights = (func.has_table_privilege(table, right) for right in ("SELECT", "INSERT", "UPDATE", "DELETE"))
        if not connection.scalar(select(and_(*rights))):
            raise BadInput(
                f"{found.name} may not read and write the table {table} of {server}; let all instructors act as one "
                "role (docs/postgres.md)"
            )
    migrations.check_versions(server, connection)


_SETTINGS = text("""
    SELECT current_setting('server_encoding') AS encoding, current_setting('transaction_read_only') AS read_only,
        current_user AS name, current_schema() AS schema,
        coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may_create
""")


# --- the connection


def _engine(server: Server) -> Engine:
    """Return an engine that keeps no connection and shows our name on the server."""
    url = make_url(server.url).set(drivername="postgresql+psycopg")
    ours = {
        "application_name": f"process {os.getpid()} on {socket.gethostname()[:40]}",
        "connect_timeout": _CONNECT_SECONDS,
        "keepalives_idle": _KEEPALIVE_SECONDS,
    }
    asked = {name: value for name, value in ours.items() if name not in url.query}
    try:
        engine = create_engine(url, poolclass=NullPool, connect_args=asked)
    except ImportError:
        raise lacks_extra(f"{server} needs a driver that is not installed", "postgres") from None
    event.listen(engine, "before_cursor_execute", _without_nul, retval=True)
    return engine


def _without_nul(
    connection: object, cursor: object, statement: str, values: Any, context: object, many: bool
) -> tuple[str, Any]:
    """Replace NUL, which a student may have written: SQLite stores it, and PostgreSQL does not."""
    if isinstance(values, dict):
        return statement, {name: storable(value) for name, value in values.items()}
    return statement, [{name: storable(value) for name, value in row.items()} for row in values]


def storable(value: Any) -> Any:
    """Return the value as PostgreSQL stores it."""
    return value.replace("\0", "\ufffd") if isinstance(value, str) and "\0" in value else value


def _number(lesson: str) -> int:
    """Return the second half of a lesson's lock key, from 1 to 2^31 - 1."""
    return int.from_bytes(hashlib.sha256(lesson.encode()).digest()[:4]) % (2**31 - 1) + 1


# --- what it says


_ENDED = "the server has ended the connection: run this again; what has been recorded is kept"
_READ_ONLY = "it is read-only: name the primary server, not a replica of it"
_BUSY = "another program is writing it: close it (formgrader?), then run this again"

_BY_CODE = {
    "55P03": _BUSY,
    "40P01": _BUSY,
    "53100": "the server's disk is full: make room and run this again; what has been recorded is kept",
    "53300": "the server has no connections left: run this again later, or raise its max_connections",
    "25006": _READ_ONLY,
    "42501": "this user may not do that: let all instructors act as one role (docs/postgres.md)",
}

_BY_TEXT = (
    ("password authentication failed", "the server refuses the password: check it in db_url, or in ~/.pgpass"),
    ("no password supplied", "the server asks for a password: write it into ~/.pgpass"),
    ("pg_hba.conf", "the server does not allow this login: see its pg_hba.conf"),
    ('database ".*" does not exist', "there is no such database: make it with `createdb`"),
    ('role ".*" does not exist', "there is no such user: make it with `createuser`"),
)
"""Matches what a server that refuses to log us in says in English; other languages are shown as they are."""


def _in_words(server: Server, error: DBAPIError) -> str:
    """Say in one line what PostgreSQL reported, and what to do next."""
    code, said = getattr(error.orig, "sqlstate", None), str(error.orig)
    if code in _BY_CODE:
        return _cannot(server, _BY_CODE[code])
    if error.connection_invalidated:
        return _cannot(server, _ENDED)
    for pattern, then in _BY_TEXT:
        if re.search(pattern, said):
            return _cannot(server, then)
    if code is None and "FATAL" not in said:
        return _cannot(server, f"it cannot be reached: check its address, and that it is running ({_first_line(said)})")
    return _cannot(server, _first_line(said))


def _first_line(said: str) -> str:
    return said.strip().partition("\n")[0]


def _cannot(server: Server, then: str) -> str:
    return f"cannot use the gradebook {server}: {then}"
