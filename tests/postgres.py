"""A PostgreSQL of the tests' own: made in a folder, reached by a socket there, gone with the process that started it.

It is what Debian's package installs.
Two instructors have names and passwords there, and act as one role: by the statements of `docs/postgres.md`.
"""

import ctypes
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg

from autograder.course.address import Server, address_from

INSTALL = "make postgres"
"""The README's command that installs it."""

ADMIN, TEAM, INSTRUCTORS = "postgres", "instructors", ("ada", "ben")
PASSWORD = "p@ss/word:1%"
"""Everybody's; with all that means something in an address."""

SECONDS_TO_WAIT = 120
"""How long it may take to begin, on the busiest machine."""

PAGE = Path(__file__).parents[1] / "docs" / "postgres.md"

_SPEED = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off", "shared_buffers=16MB")
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


def find_programs() -> Path | None:
    """The folder with its programs; None where it is not installed."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    found = installed[-1] if installed else shutil.which("initdb")
    return Path(found).parent if found else None


@dataclass(frozen=True)
class Cluster:
    """A running server.

    Attributes:
        folder: where its socket and its data are.
        process: what runs it.
    """

    folder: Path
    process: subprocess.Popen[bytes]

    def url(self, database: str, user: str = INSTRUCTORS[0], password: str = PASSWORD) -> str:
        """nbgrader's `db_url` of a database."""
        return f"postgresql+psycopg://{user}:{quote(password, safe='')}@/{database}?host={quote(str(self.folder))}"

    def server(self, database: str, user: str = INSTRUCTORS[0], password: str = PASSWORD) -> Server:
        """The same as an address of a gradebook."""
        found = address_from(self.folder, self.url(database, user, password))
        assert isinstance(found, Server)
        return found

    def administer(self, *statements: str, database: str = "postgres") -> None:
        """Run statements as the one who may do anything."""
        with self.connect(database) as connection:
            for statement in statements:
                connection.execute(statement)

    def connect(self, database: str) -> psycopg.Connection[tuple[object, ...]]:
        """A connection of the one who may do anything."""
        where = {"host": str(self.folder), "dbname": database, "user": ADMIN, "password": PASSWORD}
        return psycopg.connect(**where, autocommit=True)

    def create(self, database: str) -> str:
        """Make a database for a course, in which all instructors act as its owner; returns its name."""
        self.administer(*(one.replace("nlp", f'"{database}"') for one in statements()[1]))
        return database


@contextmanager
def running() -> Iterator[Cluster]:
    """Make a server, start it, and stop it in the end; it ends by itself when this process does."""
    programs = find_programs()
    assert programs is not None
    folder = Path(tempfile.mkdtemp(prefix="katze-postgres-"))
    owner: dict[str, object] = {}
    if os.geteuid() == 0:  # it refuses to be run by root
        user = next(name for name in (ADMIN, "nobody") if name in {one.pw_name for one in pwd.getpwall()})
        owner = {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []}
    secret = folder / "password"
    secret.write_text(PASSWORD)
    if owner:
        for path in (folder, secret):
            shutil.chown(path, owner["user"])
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "LC_ALL": "C"}
    locale = ["--encoding=UTF8", "--locale=C"]
    if "--icu-locale" in subprocess.run(["initdb", "--help"], env=environment, text=True, capture_output=True).stdout:
        locale += ["--locale-provider=icu", "--icu-locale=en"]  # which sorts as SQLite does not; since PostgreSQL 15
    made = ["initdb", "--no-sync", "--auth=scram-sha-256", f"--username={ADMIN}", f"--pwfile={secret}", *locale]
    data = folder / "data"
    try:
        subprocess.run(
            [*made, f"--pgdata={data}"], env=environment, cwd=folder, check=True, capture_output=True, **owner
        )
        settings = [f"-c{setting}" for setting in (*_SPEED, "listen_addresses=", f"unix_socket_directories={folder}")]
        with (folder / "log.txt").open("wb") as log:
            process = subprocess.Popen(
                ["postgres", f"-D{data}", *settings],
                env=environment,
                cwd=folder,
                stdout=log,
                stderr=log,
                preexec_fn=_end_with_parent,
                **owner,
            )
        try:
            cluster = Cluster(folder, process)
            _wait(cluster)
            cluster.administer(*(re.sub("PASSWORD '.*'", f"PASSWORD '{PASSWORD}'", one) for one in statements()[0]))
            yield cluster
        finally:
            process.send_signal(signal.SIGINT)  # its word for "now, in order"
            process.wait()
    finally:
        shutil.rmtree(folder)


def statements() -> tuple[list[str], list[str]]:
    """What the page has an administrator do, once, and for each course."""
    roles, database = re.findall(r"```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    return roles.splitlines(), database.splitlines()


def _end_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGQUIT)


def _wait(cluster: Cluster) -> None:
    """Wait until the server answers."""
    end = time.monotonic() + SECONDS_TO_WAIT
    while True:
        try:
            cluster.administer()
            return
        except psycopg.OperationalError:
            log = (cluster.folder / "log.txt").read_text()
            assert cluster.process.poll() is None, log
            assert time.monotonic() < end, log
            time.sleep(0.05)
