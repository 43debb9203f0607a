"""Reads where a course's gradebook is, from nbgrader's `db_url`: a file of SQLite, or a database in PostgreSQL.

c.CourseDirectory.db_url = "sqlite:///gradebook.db"                       # the default: a file in the course's folder
c.CourseDirectory.db_url = "postgresql+psycopg://ada@db.example.org/nlp"  # see docs/postgres.md
"""

from __future__ import annotations

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
    """A database in PostgreSQL. Neither its text nor its `repr` has the password in it.

    Attributes:
        url: its address with everything that is in it, for SQLAlchemy and nbgrader.
        shown: the same for people: user, host, port and database.
    """

    url: str = field(repr=False)
    shown: str

    def __str__(self) -> str:
        return self.shown


Address = Path | Server
"""Where a gradebook is."""


def address_from(root: Path, url: str, named: str = "c.CourseDirectory.db_url") -> Address:
    """The gradebook that a course's `db_url` names.

    Args:
        root: the course's folder, which the path of a file is relative to.
        url: the setting.
        named: what the setting is called, for messages.

    Raises:
        BadInput: it names neither a file nor a database; the message does not have its password in it.
    """
    kind, separator, place = url.partition("://")
    if separator and kind in _SERVERS:
        return _server(url, named)
    if kind != "sqlite" or not separator or not place.removeprefix("/") or not place.startswith("/"):
        raise BadInput(f"{named} must be {_FORMS}, not {without_password(url)!r}")
    return root / place[1:]


def url_of(address: Address) -> str:
    """The `db_url` of a gradebook, with everything that is in it: for nbgrader, and never to be shown."""
    return address.url if isinstance(address, Server) else f"sqlite:///{address}"


def without_password(url: str) -> str:
    """A URL for people, even one that cannot be read."""
    return _PASSWORD.sub(lambda found: f"{found[1]}***@" if found[1] else "***", url)


def _server(url: str, named: str) -> Server:
    from sqlalchemy import URL, make_url  # takes a while, and most courses have a file
    from sqlalchemy.exc import ArgumentError

    try:
        read = make_url(url)
    except (ArgumentError, ValueError):  # what it says may have the password in it
        raise BadInput(f"{named} cannot be read; it must be {_FORMS}") from None
    if not read.database:
        raise BadInput(f"{named} names no database; it must be {_FORMS}")
    host = read.host or read.query.get("host")
    shown = URL.create("postgresql", read.username, None, host if isinstance(host, str) else None, read.port)
    return Server(url, f"{shown.render_as_string()}/{read.database}")
