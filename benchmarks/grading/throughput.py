"""Ours next to nbgrader and Otter: submissions per minute, and processor time for each."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.grading import peers
from benchmarks.grading.commands import OURS, Cost, cost
from benchmarks.grading.courses import KINDS, LESSON, make_course, ordinary
from benchmarks.grading.phases import cells_alone
from benchmarks.table import Row


@dataclass
class Costs:
    """What each round of one contest took, by program."""

    by_program: dict[str, list[Cost]] = field(default_factory=dict)

    def add(self, program: str, spent: Cost) -> None:
        self.by_program.setdefault(program, []).append(spent)

    def rate(self, program: str) -> float:
        """The median of the submissions graded in a minute."""
        return statistics.median(spent.per_minute for spent in self.by_program[program])

    def processor(self, program: str) -> float:
        """The median of the processor time of a submission, in seconds."""
        return statistics.median(spent.processor_each for spent in self.by_program[program])


def throughput(
    folder: Path, environments: dict[str, Path], submissions: int, rounds: int, workers: int, seed: int
) -> Iterator[Row]:
    """All contests, a round of each in turn.

    Args:
        folder: an empty folder to work in.
        environments: where the peers' programs are, by name.
        submissions: how many ours grades; a peer gets one of each kind, since it grades one after another.
        rounds: of each contest.
        workers: of ours.
        seed: of the submissions.
    """
    plain, full = Costs(), Costs()
    for turn in range(rounds):
        place = folder / f"round-{turn}"
        share = ordinary(len(KINDS), seed + turn)
        course = make_course(place / "nbgrader", share, keep_demos=False)
        plain.add("nbgrader", peers.nbgrader_cost(environments["nbgrader"], course, share))
        plain.add("ours", _ours(place / "ours", submissions, seed, workers, demos=False))
        plain.add("otter", peers.otter_cost(environments["otter"], course, share, place / "otter"))
        course = make_course(place / "nbgrader-full", share, keep_demos=True)
        full.add("nbgrader", peers.nbgrader_cost(environments["nbgrader"], course, share))
        full.add("ours", _ours(place / "ours-full", submissions, seed, workers, demos=True))
        print(f"round {turn + 1}: {_said(plain)}; every cell run: {_said(full)}", flush=True)
    yield from _rows(plain, "demo cells left out", {"nbgrader": 30.0, "otter": 60.0})
    yield from _rows(full, "every cell run", {"nbgrader": 10.0})
    yield _share_of_the_limit(folder / "limit", full.rate("ours"), workers, seed)


def _ours(folder: Path, submissions: int, seed: int, workers: int, *, demos: bool) -> Cost:
    students = ordinary(submissions, seed)
    course = make_course(folder, students, keep_demos=demos)
    command = ["katze", "grade", LESSON, "--workers", str(workers), "--no-feedback"]
    return cost(submissions, OURS, course.root, [*command, *(["--all-cells"] if demos else [])])


def _said(costs: Costs) -> str:
    return ", ".join(f"{name} {runs[-1].per_minute:.1f} a minute" for name, runs in costs.by_program.items())


def _rows(costs: Costs, what: str, goals: dict[str, float]) -> Iterator[Row]:
    for peer, goal in goals.items():
        name = f"throughput, {what}, against {peer}"
        yield Row.of(name, costs.rate("ours"), costs.rate(peer), "submissions/minute", more=True, goal=goal)
        name = f"processor time, {what}, against {peer}"
        yield Row.of(name, costs.processor("ours"), costs.processor(peer), "s/submission", more=False)


def _share_of_the_limit(folder: Path, rate: float, workers: int, seed: int) -> Row:
    """What we reach of the rate at which the cells alone, run by nobody's machinery, would keep the cores busy."""
    course = make_course(folder, ordinary(len(KINDS), seed), keep_demos=True)
    seconds = statistics.mean(cells_alone(course))
    limit = workers * 60 / seconds
    return Row.of("share of the limit, every cell run", rate, limit, "submissions/minute", more=True, goal=0.7)


def in_words(rows: Sequence[Row]) -> str:
    """Which goals were missed, in a line."""
    missed = [row.name for row in rows if row.met is False]
    return f"missed: {'; '.join(missed)}" if missed else "every goal with a figure was reached"
