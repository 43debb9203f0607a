"""A gradebook copied from a file to a server and back: every row, and grading goes on; all of it, or nothing."""

import contextlib
import itertools
import multiprocessing
import os
import signal
import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from nbgrader.api import Gradebook

from autograder.course.address import Address, Server
from autograder.errors import BadInput
from autograder.gradebook import copying, migrations
from autograder.gradebook.access import open_gradebook
from autograder.gradebook.copying import copy_gradebook, copy_to_file
from tests.autograder.gradebook.earlier import bring_back, change
from tests.autograder.gradebook.toy_lesson import LESSON, give, grade
from tests.autograder.plain_rows import plain_rows
from tests.postgres import Cluster

NEXT = "02_toy"


@pytest.fixture
def path(path: Path) -> Path:
    """A gradebook of two lessons, with points given by hand and an extension."""
    for lesson in (LESSON, NEXT):
        grade(path, lesson, ["zoe", "gus"])
    give(path, "zoe", manual_score=1.1)
    with Gradebook(f"sqlite:///{path}", "toy") as book:
        book.find_submission(LESSON, "gus").extension = timedelta(days=40, hours=2, microseconds=7)
        book.db.commit()
    return path


def all_rows(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every value of every table, ids and times as well."""
    with contextlib.closing(sqlite3.connect(path)) as book:
        names = [name for (name,) in book.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: sorted(book.execute(f"SELECT * FROM {name}").fetchall(), key=repr) for name in names}


# --- what is copied


def test_there_and_back_every_row_is_what_it_was(
    path: Path, server: Server, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_ROWS_AT_ONCE", 3)
    other = cluster.server(cluster.create(f"other_{uuid4().hex}"))
    places = [path, server, other, tmp_path / "1.db", tmp_path / "2.db"]
    copies = [copy_gradebook(source, target) for source, target in itertools.pairwise(places)]
    before = all_rows(path)
    assert all_rows(tmp_path / "1.db") == all_rows(tmp_path / "2.db") == before
    versions = {"alembic_version", migrations.VERSION_TABLE}
    numbers = {name: len(rows) for name, rows in before.items() if name not in versions}
    assert [copied.rows for copied in copies] == [numbers] * len(copies)
    assert sum(numbers.values()) > 50
    assert [copied.left for copied in copies] == [()] * len(copies)


@pytest.mark.parametrize("times", [1, 2], ids=["on the server", "back in a file"])
def test_grading_goes_on_where_it_stopped(path: Path, server: Server, tmp_path: Path, times: int) -> None:
    """Numbers go on after those that were copied, also where a table has no rows."""
    places: list[Address] = [path, server, tmp_path / "back.db"]
    for source, target in zip(places[:times], places[1:], strict=False):
        copy_gradebook(source, target)
    for address in (path, places[times]):
        grade(address, LESSON, ["zoe", "mia"])
        grade(address, "03_toy", ["mia"])
    copy_to_file(places[times], tmp_path / "copy.db")
    assert plain_rows(tmp_path / "copy.db") == plain_rows(path)


def test_what_the_other_place_does_not_keep_is_told(path: Path, server: Server) -> None:
    """A NUL, for which another character comes, and what others have put into the file, which stays there."""
    change(
        path,
        "UPDATE katze_exercise SET note = 'a' || char(0) || 'b' WHERE exercise = 'toy.zero'",
        "CREATE TABLE notes (a)",
        "INSERT INTO notes VALUES (1)",
        "ALTER TABLE student ADD COLUMN nickname TEXT",
    )
    copies = [copy_gradebook(path, server, dry_run=dry_run) for dry_run in (True, False)]
    assert [(copied.changed, copied.left) for copied in copies] == [(4, ("notes", "student.nickname"))] * 2
    copy_to_file(server, path.with_name("copy.db"))
    notes = {row[12] for row in all_rows(path.with_name("copy.db"))["katze_exercise"]}
    assert notes == {"", "a\ufffdb"}


@pytest.mark.parametrize("version", [migrations.LATEST, 5, 0])
def test_a_dry_run_finds_the_same_and_writes_nothing_and_an_earlier_version_is_brought_up_to_date_first(
    path: Path, server: Server, tmp_path: Path, version: int
) -> None:
    if version != migrations.LATEST:
        bring_back(path, version)
    before, files = all_rows(path), sorted(tmp_path.iterdir())
    planned = copy_gradebook(path, server, dry_run=True)
    assert open_gradebook(server).is_new()
    assert (all_rows(path), sorted(tmp_path.iterdir())) == (before, files)
    assert copy_gradebook(path, server) == planned
    if version != migrations.LATEST:
        assert all_rows(path.with_name(f"gradebook.db.before-{migrations.LATEST}")) == before
    copy_to_file(server, tmp_path / "copy.db")
    assert all_rows(tmp_path / "copy.db") == all_rows(path)


# --- what is refused


def refused(source: Address, target: Address, match: str, *, in_a_dry_run: bool = True) -> None:
    for dry_run in (True, False) if in_a_dry_run else (False,):
        with pytest.raises(BadInput, match=match) as raised:
            copy_gradebook(source, target, dry_run=dry_run)
        assert "\n" not in str(raised.value)


def test_a_place_that_is_not_empty_is_refused(
    cluster: Cluster, database: str, path: Path, server: Server, tmp_path: Path
) -> None:
    for target in (path, tmp_path / "x" / ".." / "gradebook.db"):
        refused(path, target, "is already the course's gradebook; name the place to copy it to")
    (tmp_path / "other.db").write_text("a file")
    for target in (tmp_path / "other.db", tmp_path):
        refused(path, target, "is not empty; name a file that does not exist yet, or an empty database")
    assert (tmp_path / "other.db").read_text() == "a file"
    cluster.administer("CREATE TABLE student (x text)", database=database)
    refused(path, server, f"{server} is not empty")
    cluster.administer("DROP TABLE student", database=database)
    copy_gradebook(path, server)
    refused(path, server, "is not empty")
    refused(server, server, "is already the course's gradebook")
    refused(server, cluster.server(database, "ben"), "is not empty")


def test_what_cannot_be_used_is_refused(cluster: Cluster, path: Path, tmp_path: Path) -> None:
    refused(path, tmp_path / "nowhere" / "gradebook.db", "there is no folder .*nowhere for the gradebook")
    refused(path, cluster.server("nowhere"), "there is no such database: make it with `createdb`")
    change(path, "UPDATE katze_version SET version_num = '99'")
    refused(path, tmp_path / "other.db", "newer Katze .version 99")
    assert not (tmp_path / "other.db").exists()


def test_where_there_is_none_nothing_is_copied(address: Address, tmp_path: Path) -> None:
    copy_to_file(address, tmp_path / "copy.db")
    refused(address, tmp_path / "copy.db", "there is no gradebook .* yet, so there is nothing to copy")
    assert list(tmp_path.iterdir()) == []


def test_nobody_grades_meanwhile(cluster: Cluster, database: str, path: Path, server: Server, tmp_path: Path) -> None:
    with open_gradebook(path, LESSON):
        refused(path, server, "another run is grading into", in_a_dry_run=False)
    copy_gradebook(path, server)
    with open_gradebook(server, NEXT):
        said = rf"another run is grading into {server} \(process {os.getpid()} on .*\); wait until it has finished"
        refused(server, tmp_path / "other.db", said, in_a_dry_run=False)
    ben = cluster.server(database, "ben")
    with open_gradebook(server, None):
        said = rf"another run is copying from or to {ben} \(process {os.getpid()} on .*\); wait until it has finished"
        with pytest.raises(BadInput, match=said), open_gradebook(ben, LESSON):
            pass
    assert not (tmp_path / "other.db").exists()


# --- all of it, or nothing


@pytest.mark.parametrize(
    ("statement", "match"),
    [
        ("DELETE FROM base_cell WHERE name = 'toy-why-written'", 'does not fit .* not present in table "base_cell"'),
        ("UPDATE student SET first_name = printf('%200c', 'x')", "table student does not fit into .*: value too long"),
        ("UPDATE katze_run SET workers = 'many'", "the table katze_run does not fit into"),
        ("UPDATE grade_cells SET cell_type = 'x'", "a value in the table grade_cells cannot be read"),
        ("UPDATE submitted_assignment SET timestamp = 'soon'", "a value in the table submitted_assignment cannot be"),
    ],
)
def test_what_does_not_fit_leaves_the_database_empty(
    cluster: Cluster, database: str, path: Path, server: Server, statement: str, match: str
) -> None:
    change(path, statement)
    before = all_rows(path)
    refused(path, server, f"{match}.*nothing was copied", in_a_dry_run=False)
    with cluster.connect(database) as connection:
        assert connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall() == []
    assert all_rows(path) == before


def test_a_row_that_does_not_arrive_leaves_nothing(
    path: Path, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = copying._write

    def lose(made: Any, table: Any, rows: list[dict[str, Any]], target: Address) -> None:
        write(made, table, rows[1:] if table.name == "katze_event" else rows, target)

    monkeypatch.setattr(copying, "_write", lose)
    for target in (server, tmp_path / "other.db"):
        refused(path, target, "the rows of katze_event in .* are not those .* .3 of 4.", in_a_dry_run=False)
        assert open_gradebook(target).is_new()


def test_a_server_that_fails_is_told_as_the_one_that_it_is(
    cluster: Cluster, database: str, path: Path, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_gradebook(path, server)
    ends = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'"
    write = copying._write

    def end(*arguments: Any) -> None:
        cluster.administer(ends)
        write(*arguments)

    monkeypatch.setattr(copying, "_write", end)
    said = f"cannot use the gradebook {server}: the server has ended the connection"
    refused(server, tmp_path / "other.db", said, in_a_dry_run=False)
    assert not (tmp_path / "other.db").exists()


@pytest.mark.parametrize("to_server", [True, False], ids=["server", "file"])
def test_a_run_that_is_killed_leaves_nothing_and_the_next_one_copies(
    path: Path, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to_server: bool
) -> None:
    target: Address = server if to_server else tmp_path / "other.db"
    write = copying._write

    def die(made: Any, table: Any, rows: list[dict[str, Any]], target: Address) -> None:
        write(made, table, rows, target)
        if table.name == "katze_event":
            os.kill(os.getpid(), signal.SIGKILL)

    with monkeypatch.context() as patch:
        patch.setattr(copying, "_write", die)
        process = multiprocessing.get_context("fork").Process(target=copy_gradebook, args=(path, target))
        process.start()
        process.join()
        assert process.exitcode == -signal.SIGKILL
    assert open_gradebook(target).is_new()
    assert any(copies(path, target) for _ in range(1000))  # a server needs a moment to see that the process has gone
    copy_to_file(target, tmp_path / "copy.db")
    assert all_rows(tmp_path / "copy.db") == all_rows(path)
    assert {one.name for one in tmp_path.iterdir() if one.name.startswith(".")} <= {
        f".{name}.lock" for name in ("gradebook.db", "other.db", "copy.db")
    }


def copies(source: Address, target: Address) -> bool:
    try:
        copy_gradebook(source, target)
        return True
    except BadInput:
        return False
