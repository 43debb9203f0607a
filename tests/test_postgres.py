"""The PostgreSQL that tests start is there where it must be, and never outlives them."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.postgres import PASSWORD, find_programs

pytest_plugins = ["pytester"]

FOLDER_OF_TESTS = """
from tests import postgres
postgres.find_programs = lambda: None
from tests.conftest import cluster, database, processes

def test_a_gradebook(database):
    pass
"""


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize(("required", "outcome"), [("", "skipped"), ("required", "errors")])
def test_without_it_tests_are_skipped_or_fail_and_say_what_to_do(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    required: str,
    outcome: str,
) -> None:
    pytester.makepyfile(FOLDER_OF_TESTS)
    monkeypatch.setenv("KATZE_POSTGRES", required)
    monkeypatch.setenv("PYTHONPATH", str(request.config.rootpath))
    result = pytester.runpytest_subprocess("-ra", "-p", "no:cacheprovider", "-p", "no:xdist")
    result.assert_outcomes(**{outcome: 1})
    result.stdout.fnmatch_lines(["*PostgreSQL is not installed; install it with: make postgres*"])


STARTED = "from tests.postgres import running\nwith running() as c: print(c.folder, flush=True); input()"


@pytest.mark.usefixtures("processes")
@pytest.mark.skipif(find_programs() is None, reason="PostgreSQL is not installed")
@pytest.mark.parametrize("how", [signal.SIGKILL, None])
def test_it_ends_with_the_process_that_started_it(how: signal.Signals | None, request: pytest.FixtureRequest) -> None:
    started = subprocess.Popen(
        [sys.executable, "-c", STARTED],
        cwd=request.config.rootpath,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout is not None
    folder = Path(started.stdout.readline().strip())
    try:
        assert answers(folder)
        if how is None:
            started.communicate("\n")
            assert not folder.exists()
        else:
            started.send_signal(how)
            started.communicate()
        while answers(folder):  # a killed one cannot wait for it
            pass
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def answers(folder: Path) -> bool:
    try:
        with psycopg.connect(host=str(folder), dbname="postgres", user="postgres", password=PASSWORD):
            return True
    except psycopg.OperationalError:
        return False
