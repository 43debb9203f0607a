"""What a command took is counted with all its processes, and a command that fails says why."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.grading.commands import run

pytestmark = pytest.mark.usefixtures("processes")

COMPUTES = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'sum(range(40_000_000))'], check=True)"


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    for name, body in {"work": COMPUTES, "fail": "import sys; sys.exit('the disk is full')"}.items():
        path = tmp_path / name
        path.write_text(f"#!{sys.executable}\n{body}\n")
        path.chmod(0o755)
    return tmp_path


def test_a_command_is_watched_with_all_its_processes(programs: Path) -> None:
    spent = run(programs, programs, "work")
    assert (spent.wall > 0, spent.processor > 0.02, max(spent.memory) > 1) == (True, True, True)


def test_a_command_that_fails_says_why(programs: Path) -> None:
    with pytest.raises(RuntimeError, match="fail now: the disk is full"):
        run(programs, programs, "fail", "now")
