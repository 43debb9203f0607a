"""A course's gradebook, wherever it is: held for writing, looked at, checked. Begin here.

`file.py` is for one in a file, `server.py` for one in PostgreSQL, and `held.py` for what they have in common.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Connection

from autograder.course.address import Address
from autograder.errors import BadInput
from autograder.gradebook import schema
from autograder.gradebook.file import GradebookFile
from autograder.gradebook.held import HeldGradebook, newer
from autograder.gradebook.server import GradebookServer


def hold(address: Address, lesson: str | None) -> HeldGradebook:
    """A gradebook for one run over a lesson, to be entered. A file is held whole; of a server, the lesson alone, or all
    of it where no lesson is named.
    """
    return GradebookFile(address) if isinstance(address, Path) else GradebookServer(address, lesson)


def check_gradebook(address: Address) -> None:
    """Refuse a gradebook that cannot be used; one that is still to be made can be. Nothing is written.

    Raises:
        BadInput: it is not there, cannot be written, or is of another version of nbgrader or of Katze.
    """
    hold(address, None).check()


def is_new(address: Address) -> bool:
    """Whether a gradebook is still to be made: there is no file, an empty one, or a database without its tables."""
    return hold(address, None).is_new()


_PLAIN = " (in a plain nbgrader course, `katze autograde ASSIGNMENT`)"


@contextlib.contextmanager
def read_only(address: Address) -> Iterator[Connection]:
    """Read a gradebook that has records, even while another run writes it. Nothing can be written.

    Raises:
        BadInput: there is no gradebook, it has no records, or they are from another version of Katze.
    """
    with reading(address) as connection:
        if schema.version(connection) < schema.WITH_RECORDS:
            raise BadInput(
                f"the gradebook {address} has no records of this Katze yet; run `katze grade LESSON`{_PLAIN}"
            )
        yield connection


@contextlib.contextmanager
def reading(address: Address) -> Iterator[Connection]:
    """The same for a gradebook that has been made, whether or not it has records.

    Raises:
        BadInput: there is no gradebook, or its records are from a newer version of Katze.
    """
    with _looking(address) as connection:
        if connection is None:
            raise BadInput(f"there is no gradebook {address} yet; grade a lesson with `katze grade LESSON`{_PLAIN}")
        yield connection


@contextlib.contextmanager
def look(address: Address) -> Iterator[Connection | None]:
    """The same for a gradebook that may be missing, or have no records yet: then there is nothing to read.

    Raises:
        BadInput: it cannot be read, or its records are from a newer version of Katze.
    """
    with _looking(address) as connection:
        has_records = connection is not None and schema.version(connection) >= schema.WITH_RECORDS
        yield connection if has_records else None


@contextlib.contextmanager
def _looking(address: Address) -> Iterator[Connection | None]:
    with hold(address, None).looking() as connection:
        found = 0 if connection is None else schema.version(connection)
        if found > schema.LATEST:
            raise BadInput(newer(address, found))
        yield connection
