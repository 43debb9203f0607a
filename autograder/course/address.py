"""Finds a course's gradebook from nbgrader's `db_url`: an SQLite file or a PostgreSQL database.

c.CourseDirectory.db_url = "sqlite:///gradebook.db"                       # the default: a file in the course's folder
c.CourseDirectory.db_url = "postgresql+psycopg://ada@db.example.org/nlp"  # see docs/postgres.md
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from autograder.errors import BadInput

DEFAULT_URL = "sqlite:///gradebook.db"
"""nbgrader's own default."""

_SERVERS = ("postgresql", "postgresql+psycopg")
_FORMS = "sqlite:///FILE or postgresql+psycopg://USER@HOST/DATABASE"
_PASSWORD = re.compile(r"(://[^:/]*:).*@|(?<=password=)[^&]*", re.S)


@dataclass(frozen=True)
class Server:
    """A PostgreSQL database. Neither its text nor its `repr` contains the password.

    Attributes:
        url: the complete address, with password, for SQLAlchemy and nbgrader.
        shown: the address for people: user, host, port and database.
    """

    url: str = field(repr=False)
    shown: str

    def __str__(self) -> str:
        return self.shown


Address = Path | Server
"""The place of a gradebook."""


def address_from(root: Path, url: str, named: str = "c.CourseDirectory.db_url") -> Address:
    """Return the address of the gradebook that a course's `db_url` names.

    Args:
        root: the course's folder; file paths are relative to it.
        url: the setting.
        named: the setting's name, for messages.

    Raises:
        BadInput: it names neither a file nor a database; the message does not contain the password.
    """
    kind, separator, place = url.partition("://")
    if separator and kind in _SERVERS:
        return _server(url, named)
    if kind != "sqlite" or not separator or not place.removeprefix("/") or not place.startswith("/"):
        raise BadInput(f"{named} must be {_FORMS}, not {without_password(url)!r}")
    return root / place[1:]


def url_of(address: Address) -> str:
    """Return the complete `db_url` of a gradebook, with its password: for nbgrader, never for display."""
    return address.url if isinstance(address, Server) else f"sqlite:///{address}"


def without_password(url: str) -> str:
    """Return a URL that can be displayed, even if it cannot be parsed."""
    return _PASSWORD.sub(lambda found: f"{found[1]}***@" if found[1] else "***", url)


def _server(url: str, named: str) -> Server:
    from sqlalchemy import URL, make_url  # slow to import, and most courses use a file
    from sqlalchemy.exc import ArgumentError

    try:
        read = make_url(url)
    except (ArgumentError, ValueError):  # its message may contain the password
        raise BadInput(f"{named} cannot be read; it must be {_FORMS}") from None
    if not read.database:
        raise BadInput(f"{named} names no database; it must be {_FORMS}")
    host = read.host or read.query.get("host")
    shown = URL.create("postgresql", read.username, None, host if isinstance(host, str) else None, read.port)
    return Server(url, f"{shown.render_as_string()}/{read.database}")
