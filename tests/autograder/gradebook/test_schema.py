"""Our tables, made from every earlier state of a gradebook."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.gradebook import schema
from autograder.gradebook.file import GradebookFile
from autograder.gradebook.writer import GradebookWriter

VERSION_0 = """
    CREATE TABLE katze_answer (grade_id VARCHAR(32) NOT NULL, checksum VARCHAR(128), PRIMARY KEY (grade_id));
    INSERT INTO katze_answer VALUES ('0123456789abcdef0123456789abcdef', 'ab12');
"""
"""The only table of the first Katze, as it was made then."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A gradebook with nbgrader's tables alone."""
    path = tmp_path / "gradebook.db"
    with GradebookWriter(path):
        pass
    run(path, *(f"DROP TABLE {name}" for name in ours(path)))
    return path


def run(path: Path, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.executescript(statement)


def ours(path: Path) -> list[str]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'katze_%'")
        return sorted(name for (name,) in found)


def definition(path: Path) -> list[tuple[str, str]]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return sorted(connection.execute("SELECT name, sql FROM sqlite_master WHERE sql LIKE '%katze_%'").fetchall())


def migrate(path: Path) -> int:
    with GradebookFile(path) as file:
        file.prepare()
        with file.begin() as connection:
            return schema.version(connection)


def test_nbgrader_s_own_gradebook_gets_our_tables(path: Path):
    assert ours(path) == []
    assert migrate(path) == schema.LATEST
    assert len(ours(path)) == 15


def test_the_table_of_version_0_is_adopted_with_what_it_holds(path: Path):
    run(path, VERSION_0)
    assert migrate(path) == schema.LATEST
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT * FROM katze_answer").fetchall() == [
            ("0123456789abcdef0123456789abcdef", "ab12", "")
        ]
    assert len(ours(path)) == 15


@pytest.mark.parametrize("steps", range(schema.LATEST + 1))
def test_every_version_leads_to_the_latest(path: Path, steps: int, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:steps])
        patch.setattr(schema, "LATEST", steps)
        assert migrate(path) == steps
    assert migrate(path) == schema.LATEST
    whole = definition(path)
    assert migrate(path) == schema.LATEST
    assert definition(path) == whole


def test_a_step_that_fails_leaves_the_version_before(path: Path, monkeypatch: pytest.MonkeyPatch):
    run(path, VERSION_0)
    before = definition(path)
    broken = (*schema.MIGRATIONS, ("CREATE TABLE katze_more (id INTEGER)", "CREATE TABLE katze_run (again INTEGER)"))
    monkeypatch.setattr(schema, "MIGRATIONS", broken)
    monkeypatch.setattr(schema, "LATEST", len(broken))
    with pytest.raises(Exception, match="already exists"):
        migrate(path)
    assert definition(path) == before


@pytest.mark.usefixtures("processes")
def test_nbgrader_can_upgrade_a_gradebook_with_our_tables(path: Path):
    migrate(path)
    before = definition(path)
    nbgrader = Path(sys.executable).with_name("nbgrader")
    environment = {"PATH": f"{nbgrader.parent}:/usr/bin:/bin", "HOME": str(path.parent)}
    subprocess.run([nbgrader, "db", "upgrade"], cwd=path.parent, env=environment, check=True, capture_output=True)
    assert definition(path) == before
    assert migrate(path) == schema.LATEST
