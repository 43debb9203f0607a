"""Copies a gradebook to another place: for good, or into a file to try something on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Table, func, insert, inspect, select
from sqlalchemy.exc import DataError, IntegrityError
from sqlalchemy.orm import Session

from autograder.course.address import Address, Server
from autograder.errors import BadInput
from autograder.gradebook import migrations, models
from autograder.gradebook.access import open_gradebook, read_only
from autograder.gradebook.file import copy_pages
from autograder.gradebook.server import storable
from autograder.gradebook.session import GradebookSession

_ROWS_AT_ONCE = 1000
_Row = dict[str, Any]


@dataclass(frozen=True)
class GradebookCopy:
    """The result of copying, or of a dry run.

    Attributes:
        rows: the number of rows copied, by table.
        changed: how many texts had a character that the target cannot store.
        left: tables and columns that are neither nbgrader's nor Katze's, and were not copied.
    """

    rows: Mapping[str, int]
    changed: int
    left: tuple[str, ...]


def copy_gradebook(source: Address, target: Address, *, dry_run: bool = False) -> GradebookCopy:
    """Copy a whole gradebook, as it is at one moment, to a place that has none: a file that does not exist yet, or an
    empty database. On failure, nothing is copied. No run can write meanwhile. Every row is read back and compared
    before the copy is kept. A dry run only reports what would be copied.

    Raises:
        BadInput: one of them cannot be used, or the data does not fit into the target; nothing was copied.
    """
    old, new = open_gradebook(source), open_gradebook(target)
    _refuse_places(source, target, old, new)
    with read_only(source) as session:
        left = _others(session)
        if dry_run:
            return GradebookCopy(*_copy_rows(old, session, target, None), left)
    with old, new, old.begin() as session, new.making() as made:
        return GradebookCopy(*_copy_rows(old, session, target, made), left)


def copy_to_file(address: Address, path: Path) -> None:
    """Copy a gradebook into a new file in an existing folder, even while a run writes it; do nothing if it does not
    exist yet.

    Raises:
        BadInput: it cannot be read.
        sqlite3.Error: the file cannot be written.
    """
    old = open_gradebook(address)
    if old.is_new():
        return
    if isinstance(address, Path):
        copy_pages(address, path)
        return
    with read_only(address) as session, open_gradebook(path) as new, new.making() as made:
        _copy_rows(old, session, path, made)


# --- what is refused, and what is left


def _refuse_places(source: Address, target: Address, old: GradebookSession, new: GradebookSession) -> None:
    if source == target or (
        isinstance(source, Path) and isinstance(target, Path) and source.resolve() == target.resolve()
    ):
        raise BadInput(f"{target} is already the course's gradebook; name the place to copy it to")
    if old.is_new():
        raise BadInput(f"there is no gradebook {source} yet, so there is nothing to copy")
    old.check()
    if not new.is_new():
        raise BadInput(f"{target} is not empty; name a file that does not exist yet, or an empty database")
    new.check()


def _others(session: Session) -> tuple[str, ...]:
    """Return the tables and columns that are neither nbgrader's nor ours."""
    known = {table.name: set(table.c.keys()) for table in _tables()}
    found = inspect(session.connection())
    names = sorted(set(found.get_table_names()) - {"alembic_version", migrations.VERSION_TABLE})
    columns = ((name, column["name"]) for name in names if name in known for column in found.get_columns(name))
    added = [f"{name}.{column}" for name, column in columns if column not in known[name]]
    return (*(name for name in names if name not in known), *added)


# --- the rows


def _tables() -> list[Table]:
    """Return the tables to copy, each after those that it refers to."""
    return [*models.nbgrader_metadata().sorted_tables, *models.Base.metadata.sorted_tables]


def _copy_rows(
    old: GradebookSession, source: Session, target: Address, made: Session | None
) -> tuple[dict[str, int], int]:
    """Copy all rows into an empty gradebook, and compare them; without a session to write to, only count them. Return
    the number of rows by table, and how many texts had to change.
    """
    numbers, changed = {}, 0
    for table in _tables():
        number = total = 0
        for rows in _read(old, source, table):
            kept = rows
            if isinstance(target, Server):
                kept = [{name: storable(value) for name, value in row.items()} for row in rows]
            changed += sum(row[name] != now[name] for row, now in zip(rows, kept, strict=True) for name in row)
            number, total = number + len(kept), total + _sum(kept)
            if made is not None:
                _write(made, table, kept, target)
        if made is not None:
            _continue_numbers(made, table)
            arrived = [(len(rows), _sum(rows)) for rows in _read(open_gradebook(target), made, table)]
            there = sum(rows for rows, _ in arrived)
            if (there, sum(total for _, total in arrived)) != (number, total):
                raise BadInput(
                    f"the rows of {table.name} in {target} are not those that were copied there ({there} of {number}); "
                    "check its disk, then run this again"
                )
        numbers[table.name] = number
    return numbers, changed


def _sum(rows: Sequence[_Row]) -> int:
    """Return a checksum of rows that does not depend on their order."""
    return sum(hash(repr(list(row.values()))) for row in rows)


def _read(book: GradebookSession, session: Session, table: Table) -> Iterator[list[_Row]]:
    statement = select(table).execution_options(yield_per=_ROWS_AT_ONCE)
    with book.telling():
        try:
            for rows in session.execute(statement).mappings().partitions():
                yield [dict(row) for row in rows]
        except (LookupError, ValueError) as error:  # a file of SQLite holds no value to its type
            raise BadInput(f"a value in the table {table.name} cannot be read: {error}; nothing was copied") from error


def _write(made: Session, table: Table, rows: Sequence[_Row], target: Address) -> None:
    try:
        made.execute(insert(table), rows)
    except (DataError, IntegrityError) as error:  # nor to its length, nor a reference to what it refers to
        said = " ".join(str(error.orig).split())
        raise BadInput(f"the table {table.name} does not fit into {target}: {said}; nothing was copied") from error


def _continue_numbers(made: Session, table: Table) -> None:
    """Make PostgreSQL number new rows after the copied ones, as SQLite does by itself."""
    if made.get_bind().dialect.name == "postgresql" and table.metadata is models.Base.metadata and "id" in table.c:
        made.execute(select(func.setval(func.pg_get_serial_sequence(table.name, "id"), func.max(table.c.id))))
