"""A large class in one run: does the time grow with the class, does the memory stay, does a second run do nothing?"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.course.course import Course
from benchmarks.grading.commands import OURS, family
from benchmarks.grading.courses import LESSON, make_course, ordinary
from benchmarks.table import Row

_LOOK_SECONDS = 1.0


@dataclass(frozen=True)
class Run:
    """One `katze grade`.

    Attributes:
        wall: seconds.
        memory: megabytes of all its processes together, looked at about every second.
    """

    wall: float
    memory: tuple[float, ...]


def large_class(folder: Path, students: int, workers: int, seed: int) -> Iterator[Row]:
    """Grade a third of a class, the whole class, and the whole class once more."""
    third = _grade(make_course(folder / "third", ordinary(students // 3, seed), keep_demos=False), workers)
    course = make_course(folder / "class", ordinary(students, seed), keep_demos=False)
    whole = _grade(course, workers)
    again = _grade(course, workers)
    each, each_of_third = 1000 * whole.wall / students, 1000 * third.wall / (students // 3)
    name = f"time of one of {students}, against one of {students // 3}"
    yield Row.of(name, each, each_of_third, "ms", more=False, goal=0.95)
    early, late = (statistics.median(part) for part in _ends(whole.memory))
    yield Row.of(f"memory at the end of {students}, against the beginning", late, early, "MB", more=False, goal=0.95)
    yield Row.of(f"second run, {students} unchanged", again.wall, 5.0, "s", more=False, goal=1.0)


def _ends(memory: tuple[float, ...]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The first fifth, without its first half in which processes start, and the last fifth, without their ending."""
    fifth = max(len(memory) // 5, 2)
    return memory[fifth // 2 : fifth], memory[-fifth : -fifth // 2]


def _grade(course: Course, workers: int) -> Run:
    """Grade a class in its own folder.

    Raises:
        RuntimeError: it failed.
    """
    log = course.root / "log"
    start = time.perf_counter()
    with log.open("w") as file:
        command = [str(OURS / "katze"), "grade", LESSON, "--workers", str(workers), "--no-feedback"]
        running = subprocess.Popen(command, cwd=course.root, stdout=file, stderr=file)
        memory = []
        while running.poll() is None:
            memory.append(sum(_megabytes(process) for process in family(running.pid)))
            _wait_a_little(running)
    wall = time.perf_counter() - start
    if running.returncode:
        raise RuntimeError(f"katze grade: {log.read_text()[-2000:]}")
    print(f"{course.root.name}: {wall:.1f} s, at most {max(memory):.0f} MB", file=sys.stderr, flush=True)
    return Run(wall, tuple(memory))


def _wait_a_little(running: subprocess.Popen[bytes]) -> None:
    """Wait until it is time for another look, or the end."""
    try:
        running.wait(_LOOK_SECONDS)
    except subprocess.TimeoutExpired:
        return


def _megabytes(process: int) -> float:
    """The process's share of memory: pages that several processes hold count in parts."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1000
