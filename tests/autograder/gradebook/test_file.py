"""The gradebook's file: made whole or not at all, refused where it cannot be used, held by one run at a time."""

import contextlib
import os
import signal
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbgrader import api
from sqlalchemy.exc import OperationalError

from autograder.errors import BadInput
from autograder.gradebook import file
from autograder.gradebook.access import read_only
from autograder.gradebook.file import GradebookFile
from tests.autograder.gradebook.toy_lesson import make_gradebook


@contextlib.contextmanager
def prepared(path: Path) -> Iterator[GradebookFile]:
    """The gradebook as a run that is going to write has it."""
    with GradebookFile(path) as opened:
        opened.prepare()
        yield opened


def test_a_gradebook_is_made_whole_or_not_at_all(path: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(*arguments: object) -> None:
        raise OperationalError("x", {}, sqlite3.OperationalError("database or disk is full"))

    monkeypatch.setattr(api.Base.metadata, "create_all", fail)
    with pytest.raises(BadInput, match="cannot make the gradebook"), prepared(path):
        pass
    assert {found.name for found in path.parent.iterdir()} <= {".gradebook.db.lock"}


def refused(path: Path, match: str) -> None:
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(BadInput, match=match) as raised, prepared(path):
        pass
    assert "\n" not in str(raised.value)
    assert before == (path.read_bytes() if path.is_file() else b"")


def test_a_file_that_is_no_gradebook_is_refused(path: Path):
    path.write_bytes(b"student,points\nada,100\n" * 100)
    refused(path, "not a gradebook")
    path.unlink()
    path.mkdir()
    refused(path, "cannot be written")
    with pytest.raises(BadInput, match="is not a file; check"), read_only(path):
        pass
    refused(path.parent / "nowhere" / "gradebook.db", "no folder")


def test_a_gradebook_that_is_damaged_or_that_another_program_has_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.touch()  # an empty file becomes one
    make_gradebook(path)
    with monkeypatch.context() as patch:
        patch.setattr(file.os, "access", lambda *arguments: False)
        refused(path, "cannot be written")
    monkeypatch.setattr(file, "WAIT_SECONDS", 0.05)
    with sqlite3.connect(path, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        refused(path, "another program is writing it")
        other.execute("ROLLBACK")
    with prepared(path):
        refused(path, f"another run is grading .*process {os.getpid()}")
    make_gradebook(path)  # which does nothing
    content = bytearray(path.read_bytes())
    content[4096:12288] = bytes(8192)
    path.write_bytes(content)
    refused(path, "damaged")


def test_nothing_is_begun_on_a_full_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "FREE_BYTES", 1 << 60)
    refused(path, "nearly full.*make room, then run this again")


@pytest.mark.usefixtures("processes")
def test_the_lock_ends_with_the_process_that_took_it(path: Path):
    """A worker forked while grading goes on living when the grader is killed; the gradebook is free then."""
    grader = os.fork()
    if grader == 0:
        with prepared(path):
            if os.fork() == 0:
                time.sleep(30)
            else:
                path.with_name("ready").touch()
                time.sleep(30)
        os._exit(0)
    os.setpgid(grader, grader)
    try:
        while not path.with_name("ready").exists():
            time.sleep(0.01)
        refused(path, "another run is grading")
        os.kill(grader, signal.SIGKILL)
        os.waitpid(grader, 0)
        make_gradebook(path)
    finally:
        os.killpg(grader, signal.SIGKILL)
