"""Ours next to nbgrader: submissions per minute, and processor time for each."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path

from benchmarks.grading.commands import OURS, run
from benchmarks.grading.courses import KINDS, LESSON, make_course, ordinary
from benchmarks.grading.peer import nbgrader_cost
from benchmarks.table import Row


def throughput(
    folder: Path, nbgrader: Path, submissions: int, rounds: int, workers: int, seed: int, *, demos: bool
) -> Iterator[Row]:
    """Both grade in turn, by a command each; medians.

    Args:
        folder: an empty folder to work in.
        nbgrader: where the peer's programs are.
        submissions: how many ours grades; the peer gets one of each kind, since it grades one after another.
        rounds: of both.
        workers: of ours.
        seed: of the submissions.
        demos: whether both run the cells that only draw or measure, too.
    """
    rates: dict[str, list[float]] = {"ours": [], "nbgrader": []}
    costs: dict[str, list[float]] = {"ours": [], "nbgrader": []}
    for turn in range(rounds):
        share, students = ordinary(len(KINDS), seed + turn), ordinary(submissions, seed)
        course = make_course(folder / f"{turn}-nbgrader", share, keep_demos=demos)
        mine = make_course(folder / f"{turn}-ours", students, keep_demos=demos)
        options = ["--workers", str(workers), "--no-feedback", *(["--all-cells"] if demos else [])]
        for who, count, spent in (
            ("nbgrader", len(share), nbgrader_cost(nbgrader, course, share)),
            ("ours", len(students), run(OURS, mine.root, "katze", "grade", LESSON, *options)),
        ):
            rates[who].append(60 * count / spent.wall)
            costs[who].append(spent.processor / count)
    name = "every cell run" if demos else "demo cells left out"
    goal = 10.0 if demos else 40.0
    rate, cost = ({who: statistics.median(found) for who, found in each.items()} for each in (rates, costs))
    unit = "submissions/minute"
    yield Row.of(f"throughput, {name}", rate["ours"], rate["nbgrader"], unit, more=True, goal=goal)
    yield Row.of(f"processor time, {name}", cost["ours"], cost["nbgrader"], "s/submission", more=False)
