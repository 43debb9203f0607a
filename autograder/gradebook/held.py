"""What a run does with a gradebook that it holds, wherever that is: in a file (`file.py`) or on a server (`server.py`).

Nothing here needs nbgrader's own modules, which take a second to import, unless a gradebook must be made.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, MetaData, TableClause, insert, inspect, select

from autograder.course.address import Address
from autograder.errors import BadInput
from autograder.gradebook import schema
from autograder.gradebook.tables import NBGRADER_VERSION, OUR_VERSION


class HeldGradebook(ABC):
    """nbgrader's database: to be looked at, or entered, and then held by one run.

        with hold(course.gradebook, lesson) as book:
            ...                                # look at it; nothing has been written
            book.prepare()                     # make it, or bring our tables up to date
            with book.begin() as connection:   # one transaction
                ...

    The process may fork between two transactions: what holds the gradebook stays with the process that took it.

    Attributes:
        notices: what its owner should know of what was done with it, a line each.
    """

    def __init__(self) -> None:
        """Nothing happens before it is entered."""
        self.notices: list[str] = []
        self._resources = contextlib.ExitStack()

    def __enter__(self) -> Self:
        """Take the lock, and check the gradebook if there is one.

        Raises:
            BadInput: another run has it, it cannot be used, or the disk is full; nothing has been written.
        """
        with contextlib.ExitStack() as resources:
            self._take(resources)
            self._resources = resources.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the gradebook back."""
        self._resources.close()

    @abstractmethod
    def _take(self, resources: contextlib.ExitStack) -> None:
        """Take the lock and check the gradebook; what is put into `resources` is closed when it is given back."""

    @abstractmethod
    def check(self) -> None:
        """Refuse a gradebook that cannot be used; one that is still to be made can be. Nothing is written.

        Raises:
            BadInput: why not.
        """

    @abstractmethod
    def looking(self) -> contextlib.AbstractContextManager[Connection | None]:
        """Read it, held or not, even while another run writes it; None where it is still to be made.

        Raises:
            BadInput: it cannot be read.
        """

    @abstractmethod
    def prepare(self) -> None:
        """Make the gradebook where there is none, and bring our tables in it up to date.

        Raises:
            BadInput: it cannot be written; it is as it was.
        """

    @abstractmethod
    def making(self) -> contextlib.AbstractContextManager[Connection]:
        """Make the gradebook where there is none, with what is written through this connection: all of it, or nothing.

        Raises:
            BadInput: it cannot be written; there is still none.
        """

    @abstractmethod
    def begin(self) -> contextlib.AbstractContextManager[Connection]:
        """One transaction, whose failures are told in one line."""

    @abstractmethod
    def telling(self) -> contextlib.AbstractContextManager[None]:
        """What the database says of a failure is told in one line."""

    def is_new(self) -> bool:
        """Whether it is still to be made."""
        with self.looking() as connection:
            return connection is None

    def has_records(self) -> bool:
        """Whether it holds records that can be read: not if it is new, or from a Katze that kept none."""
        with self.looking() as connection:
            return connection is not None and schema.version(connection) >= schema.WITH_RECORDS


def nbgrader_tables() -> MetaData:
    """nbgrader's tables, with the types of their columns."""
    from nbgrader import api  # takes a second

    metadata: MetaData = api.Base.metadata
    return metadata


def add_tables(connection: Connection) -> None:
    """Make nbgrader's tables and ours in an empty database, with their versions."""
    nbgrader_tables().create_all(connection)
    connection.exec_driver_sql("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
    connection.execute(insert(NBGRADER_VERSION).values(version_num=_versions()[-1]))
    schema.migrate(connection)


def read_versions(connection: Connection) -> tuple[list[Any], list[Any]]:
    """What a gradebook says of the version of nbgrader's tables, and of ours; nothing where it does not say."""
    nbgrader, ours = (_in_table(connection, table) for table in (NBGRADER_VERSION, OUR_VERSION))
    return nbgrader, ours


def _in_table(connection: Connection, table: TableClause) -> list[Any]:
    return list(connection.scalars(select(table))) if inspect(connection).has_table(table.name) else []


def check_versions(address: Address, nbgrader: Sequence[str], ours: Sequence[Any]) -> None:
    """Refuse a gradebook of another version.

    Args:
        address: the gradebook.
        nbgrader: what it says of the version of nbgrader's tables.
        ours: what it says of ours.

    Raises:
        BadInput: it is of another version of nbgrader, or of a newer Katze.
    """
    if not nbgrader:
        raise BadInput(f"{address} is not a complete gradebook of nbgrader; move it away, or restore it from a copy")
    if nbgrader[0] not in _versions():
        raise BadInput(f"the gradebook {address} was made by a newer nbgrader; update nbgrader, then grade")
    if list(nbgrader) != [_versions()[-1]]:
        raise BadInput(
            f"the gradebook {address} was made by an older nbgrader; copy it, run `nbgrader db upgrade` in the "
            "course's folder, then grade"
        )
    if any(not isinstance(version, int) or version > schema.LATEST for version in ours):
        raise BadInput(newer(address, ours[0]))


def newer(address: Address, version: object) -> str:
    """Why a gradebook of a newer Katze is refused."""
    return (
        f"the gradebook {address} holds records of a newer Katze (version {version} of its tables; this one knows "
        f"{schema.LATEST}); update Katze, then run this again"
    )


def brought_up_to_date(address: str, found: int, before: str) -> str:
    """That our tables of an earlier version are of the latest by now.

    Args:
        address: the gradebook.
        found: the version that they had.
        before: where the gradebook is as it was before.
    """
    return (
        f"the gradebook {address} was brought from version {found} of Katze's tables to version {schema.LATEST}; "
        f"{before}"
    )


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
