"""A large class in one run: does the time grow with the class, does the memory stay, does a second run do nothing?"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path

from autograder.course.course import Course
from benchmarks.grading.commands import OURS, Cost, run
from benchmarks.grading.courses import LESSON, make_course, ordinary
from benchmarks.table import Row


def large_class(folder: Path, students: int, workers: int, seed: int) -> Iterator[Row]:
    """Grade a third of a class, the whole class, and the whole class once more."""
    third = _grade(make_course(folder / "third", ordinary(students // 3, seed), keep_demos=False), workers)
    course = make_course(folder / "class", ordinary(students, seed), keep_demos=False)
    whole = _grade(course, workers)
    each, each_of_third = 1000 * whole.wall / students, 1000 * third.wall / (students // 3)
    name = f"time of one of {students}, against one of {students // 3}"
    yield Row.of(name, each, each_of_third, "ms", more=False, goal=0.95)
    early, late = (statistics.median(part) for part in _ends(whole.memory))
    yield Row.of(f"memory at the end of {students}, against the beginning", late, early, "MB", more=False, goal=0.95)
    again = _grade(course, workers).wall
    yield Row.of(f"second run, {students} unchanged", again, 3.0, "s", more=False, goal=1.0)


def _ends(memory: tuple[float, ...]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The first fifth, without its first half in which processes start, and the last fifth, without their ending."""
    fifth = max(len(memory) // 5, 2)
    return memory[fifth // 2 : fifth], memory[-fifth : -fifth // 2]


def _grade(course: Course, workers: int) -> Cost:
    """Grade a class in its own folder."""
    return run(OURS, course.root, "katze", "grade", LESSON, "--workers", str(workers), "--no-feedback")
