"""Running a command as its user would, and what it took."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

OURS = Path(sys.executable).parent
"""The programs of the environment that this one runs in."""


@dataclass(frozen=True)
class Cost:
    """What one run of a command, or several, took.

    Attributes:
        submissions: how many were graded.
        wall: seconds from start to finish.
        processor: seconds of processor time, of all the processes that it started.
    """

    submissions: int
    wall: float
    processor: float

    @property
    def per_minute(self) -> float:
        """Submissions graded in a minute."""
        return 60 * self.submissions / self.wall

    @property
    def processor_each(self) -> float:
        """Seconds of processor time for each submission."""
        return self.processor / self.submissions


def run(programs: Path, folder: Path, command: str, *arguments: str) -> None:
    """Run a command of an environment.

    Args:
        programs: the environment's folder of programs, which comes first on the path.
        folder: where it runs.
        command: its name.
        arguments: what follows.

    Raises:
        RuntimeError: it failed; with the end of what it said.
    """
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"}
    if programs != OURS:
        environment.pop("PYTHONPATH", None)  # a peer sees its own packages
    done = subprocess.run(
        [str(programs / command), *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{command} {' '.join(arguments)}: {done.stdout[-500:]}{done.stderr[-2000:]}")


def cost(submissions: int, programs: Path, folder: Path, *commands: Sequence[str]) -> Cost:
    """What these commands took, one after another, with all the processes that they started."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    for command in commands:
        run(programs, folder, *command)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(submissions, wall, processor)
