"""Migrates a gradebook's tables, nbgrader's and ours, with alembic; each has its own version table.

nbgrader's is in `alembic_version`, and `nbgrader db upgrade` follows it. Ours is in `katze_version`; before version 8
it was a number in `katze_schema`. A new gradebook is made from the models, and `versions/` brings an earlier one up to
date.
"""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, func, inspect, select, text

from autograder.course.address import Address
from autograder.errors import BadInput
from autograder.gradebook import models

VERSION_TABLE = "katze_version"
LOCKS = 0x4B61747A
""""Katz": the first half of the key of each of our locks on a server."""

_ALL_TABLES = 0
NO_TABLES = 0
"""The version of a gradebook with nbgrader's tables alone."""

_CONFIG = Config()
_CONFIG.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
_OURS = ScriptDirectory(str(Path(__file__).parent))

LATEST = int(_OURS.get_current_head() or 0)
"""The version that this Katze writes."""

_READABLE = {NO_TABLES, *(int(script.revision) for script in _OURS.walk_revisions())}


def version(connection: Connection) -> int:
    """Return the version of our tables in a gradebook.

    Raises:
        ValueError: it is not a number.
    """
    found = _context(connection).get_current_revision()
    if found is None and inspect(connection).has_table("katze_schema"):
        found = connection.scalar(text("SELECT version FROM katze_schema"))
    return int(found or NO_TABLES)


def make_tables(connection: Connection) -> None:
    """Make nbgrader's tables and ours in an empty database, with their versions."""
    models.nbgrader_metadata().create_all(connection)
    MigrationContext.configure(connection, opts={"version_table_pk": False}).stamp(_nbgrader(), "head")  # as nbgrader
    migrate(connection)


def one_at_a_time(connection: Connection) -> None:
    """Keep other runs from creating or changing tables until this transaction ends. A file needs nothing: it allows one
    transaction at a time.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(LOCKS, _ALL_TABLES)))


def migrate(connection: Connection) -> None:
    """Bring our tables up to date within the open transaction."""
    if version(connection) == LATEST:
        return
    one_at_a_time(connection)
    found = version(connection)
    if found == NO_TABLES:
        models.Base.metadata.create_all(connection)
        _context(connection).stamp(_OURS, "head")
    elif found != LATEST:
        _context(connection).stamp(_OURS, str(found))
        _CONFIG.attributes["connection"] = connection
        command.upgrade(_CONFIG, "head")


def check_versions(address: Address, connection: Connection) -> None:
    """Refuse a gradebook whose version does not fit.

    Raises:
        BadInput: it belongs to another version of nbgrader, to a newer Katze, or to one that was never released.
    """
    heads = MigrationContext.configure(connection).get_current_heads()
    known = [script.revision for script in _nbgrader().walk_revisions()]
    if not heads:
        raise BadInput(f"{address} is not a complete gradebook of nbgrader; move it away, or restore it from a copy")
    if heads[0] not in known:
        raise BadInput(f"the gradebook {address} was made by a newer nbgrader; update nbgrader, then grade")
    if heads != (known[0],):
        raise BadInput(
            f"the gradebook {address} was made by an older nbgrader; copy it, run `nbgrader db upgrade` in the "
            "course's folder, then grade"
        )
    check_our_version(address, connection)


def check_our_version(address: Address, connection: Connection) -> None:
    """Check the version of our tables only."""
    try:
        found = version(connection)
    except ValueError:
        found = LATEST + 1
    if found > LATEST:
        raise BadInput(
            f"the gradebook {address} holds records of a newer Katze (version {found} of its tables; this one supports "
            f"{LATEST}); update Katze, then run this again"
        )
    if found not in _READABLE:
        raise BadInput(
            f"the gradebook {address} holds records of a Katze that was never released (version {found} of its "
            "tables); grade with that, or move the gradebook away and grade again"
        )


def _context(connection: Connection) -> MigrationContext:
    return MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})


def _nbgrader() -> ScriptDirectory:
    from nbgrader.dbutil import ALEMBIC_DIR  # takes a second

    return ScriptDirectory(ALEMBIC_DIR)
