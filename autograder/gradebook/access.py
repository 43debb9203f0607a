"""A course's gradebook, wherever it is: held for writing, looked at, checked, copied. Begin here.

`file.py` is for one in a file, `server.py` for one in PostgreSQL, and `held.py` for what they have in common.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Connection, Table, insert, select, text
from sqlalchemy.exc import DBAPIError

from autograder.course.address import Address
from autograder.errors import BadInput
from autograder.gradebook import file, schema, server
from autograder.gradebook.file import GradebookFile
from autograder.gradebook.held import HeldGradebook, newer
from autograder.gradebook.server import GradebookServer
from autograder.gradebook.tables import OUR_TABLES


def hold(address: Address, lesson: str) -> HeldGradebook:
    """A gradebook for one run over a lesson, to be entered. A file is held whole; of a server, the lesson alone."""
    return GradebookFile(address) if isinstance(address, Path) else GradebookServer(address, lesson)


def check_gradebook(address: Address) -> None:
    """Refuse a gradebook that cannot be used; one that is still to be made can be. Nothing is written.

    Raises:
        BadInput: it is not there, cannot be written, or is of another version of nbgrader or of Katze.
    """
    if isinstance(address, Path):
        file.check_gradebook_file(address)
    else:
        server.check_server(address)


def is_new(address: Address) -> bool:
    """Whether a gradebook is still to be made: there is no file, an empty one, or a database without its tables."""
    return file.is_new_file(address) if isinstance(address, Path) else server.is_new_server(address)


@contextlib.contextmanager
def read_only(address: Address) -> Iterator[Connection]:
    """Read a gradebook that has records, even while another run writes it. Nothing can be written.

    Raises:
        BadInput: there is no gradebook, it has no records, or they are from another version of Katze.
    """
    if isinstance(address, Path) and not address.is_file():
        raise BadInput(f"there is no gradebook {address} yet; grade a lesson with `katze grade LESSON`")
    with look(address) as connection:
        if connection is None:
            raise BadInput(f"the gradebook {address} has no records of this Katze yet; run `katze grade LESSON`")
        yield connection


@contextlib.contextmanager
def look(address: Address) -> Iterator[Connection | None]:
    """The same for a gradebook that may be missing, or have no records yet: then there is nothing to read.

    Raises:
        BadInput: it cannot be read, or its records are from a newer version of Katze.
    """
    if isinstance(address, Path) and file.is_new_file(address):
        yield None
        return
    with reading(address) as connection:
        yield connection if schema.version(connection) >= schema.WITH_RECORDS else None


@contextlib.contextmanager
def reading(address: Address) -> Iterator[Connection]:
    """Read a gradebook that has been made, whether or not it has records."""
    engine = file.reading_file(address) if isinstance(address, Path) else server.reading_server(address)
    try:
        with engine.connect() as connection:
            found = schema.version(connection)
            if found > schema.LATEST:
                raise BadInput(newer(address, found))
            yield connection
    except DBAPIError as error:
        said = (
            file.advice_on_file(address, error)
            if isinstance(address, Path)
            else server.advice_on_server(address, error)
        )
        raise BadInput(said) from error


def copy(address: Address, path: Path) -> None:
    """Copy a gradebook into a new file, as it is at one moment; nothing where it is still to be made.

    Args:
        address: the gradebook.
        path: the file; its folder must exist.

    Raises:
        BadInput: it cannot be read.
        sqlite3.Error: the file cannot be written.
    """
    if is_new(address):
        return
    if isinstance(address, Path):
        with (
            contextlib.closing(sqlite3.connect(f"{address.as_uri()}?mode=ro", uri=True)) as source,
            contextlib.closing(sqlite3.connect(path)) as target,
        ):
            source.backup(target)
        return
    with reading(address) as connection, GradebookFile(path) as book:
        book.prepare()
        with book.begin() as new:
            _copy_rows(connection, new)


def _copy_rows(source: Connection, target: Connection) -> None:
    """Copy all rows into a gradebook that has none."""
    from nbgrader import api  # takes a second

    nbgraders: list[Table] = list(api.Base.metadata.sorted_tables)
    for table in nbgraders:
        rows = [dict(row) for row in source.execute(select(table)).mappings()]
        if rows:
            target.execute(insert(table), rows)
    if schema.version(source) == 0:
        return
    for ours in OUR_TABLES:
        rows = [dict(row) for row in source.execute(select(text("*")).select_from(ours)).mappings()]
        if rows:
            target.execute(insert(ours), rows)
