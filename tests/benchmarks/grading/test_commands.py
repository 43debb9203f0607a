"""What a command took is counted with all its processes, and a command that fails says why."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.grading.commands import Cost, cost, family, run, watched

pytestmark = pytest.mark.usefixtures("processes")


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    for name, body in {
        "work": "import subprocess, sys; subprocess.run([sys.executable, '-c', 'sum(range(3_000_000))'], check=True)",
        "fail": "import sys; sys.exit('the disk is full')",
    }.items():
        path = tmp_path / name
        path.write_text(f"#!{sys.executable}\n{body}\n")
        path.chmod(0o755)
    return tmp_path


def test_processes_that_a_command_starts_are_counted(programs: Path) -> None:
    spent = cost(2, programs, programs, ["work"], ["work"])
    assert spent.submissions == 2
    assert spent.processor > 0
    assert spent.wall > 0


def test_a_command_that_fails_says_why(programs: Path) -> None:
    with pytest.raises(RuntimeError, match="fail now: the disk is full"):
        run(programs, programs, "fail", "now")


def test_a_command_is_watched_while_it_runs(programs: Path) -> None:
    seen = watched(programs, programs, "work")
    assert (seen.wall > 0, seen.processor > 0, max(seen.memory) > 1) == (True, True, True)
    with pytest.raises(RuntimeError, match="fail now: the disk is full"):
        watched(programs, programs, "fail", "now")


def test_rates_follow_from_what_was_measured() -> None:
    spent = Cost(submissions=30, wall=60.0, processor=15.0)
    assert spent.per_minute == 30
    assert spent.processor_each == 0.5


def test_a_family_is_a_process_and_all_below_it() -> None:
    code = "import subprocess, sys; c = subprocess.Popen(['sleep', '60']); print(c.pid, flush=True); c.wait()"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        grandchild = int(child.stdout.readline())
        try:
            assert {child.pid, grandchild} <= set(family(os.getpid()))
            assert family(child.pid) == [child.pid, grandchild]
        finally:
            os.kill(grandchild, 9)
