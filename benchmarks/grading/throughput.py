"""Compares ours with nbgrader, in submissions per minute and processor time, and grades a large class alone."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path

from autograder.course.course import Course
from benchmarks.grading.commands import OURS, Cost, run
from benchmarks.grading.courses import KINDS, LESSON, make_course, ordinary
from benchmarks.grading.peer import nbgrader_cost
from benchmarks.table import Row


def _grade(course: Course, workers: int, *more: str) -> Cost:
    return run(OURS, course.root, "katze", "grade", LESSON, "--workers", str(workers), "--no-feedback", *more)


def throughput(
    folder: Path, nbgrader: Path, submissions: int, rounds: int, workers: int, seed: int, *, demos: bool
) -> Iterator[Row]:
    """Have both grade in turn, with one command each; yield the medians.

    Args:
        folder: an empty folder to work in.
        nbgrader: the folder of the peer's programs.
        submissions: how many ours grades; the peer gets one of each kind, because it grades one after another.
        rounds: how often both grade.
        workers: how many workers ours has.
        seed: for drawing the submissions.
        demos: whether both also run the cells that only draw or measure.
    """
    rates: dict[str, list[float]] = {"ours": [], "nbgrader": []}
    costs: dict[str, list[float]] = {"ours": [], "nbgrader": []}
    for turn in range(rounds):
        share, students = ordinary(len(KINDS), seed + turn), ordinary(submissions, seed)
        course = make_course(folder / f"{turn}-nbgrader", share, keep_demos=demos)
        mine = make_course(folder / f"{turn}-ours", students, keep_demos=demos)
        options = ["--all-cells"] if demos else []
        for who, count, spent in (
            ("nbgrader", len(share), nbgrader_cost(nbgrader, course, share)),
            ("ours", len(students), _grade(mine, workers, *options)),
        ):
            rates[who].append(60 * count / spent.wall)
            costs[who].append(spent.processor / count)
    name = "every cell run" if demos else "demo cells left out"
    goal = 10.0 if demos else 40.0
    rate, cost = ({who: statistics.median(found) for who, found in each.items()} for each in (rates, costs))
    unit = "submissions/minute"
    yield Row.of(f"throughput, {name}", rate["ours"], rate["nbgrader"], unit, more=True, goal=goal)
    yield Row.of(f"processor time, {name}", cost["ours"], cost["nbgrader"], "s/submission", more=False)


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
    """Return the end of the first fifth, after processes start, and the beginning of the last, before they stop."""
    fifth = max(len(memory) // 5, 2)
    return memory[fifth // 2 : fifth], memory[-fifth : -fifth // 2]
