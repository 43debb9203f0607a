"""Measures how fast a class is graded, compared with plain `nbgrader autograde` on the same notebooks.

    python -m benchmarks.grading [--only PART ...] [--submissions 200] [--rounds 3] [--workers 2] [--json FILE]

Makes ordinary submissions of lesson 01 (right in several styles, half done, mistaken) from a seed, and has both
programs grade them as their users would: one command from start to end, with rows in the gradebook. nbgrader grades one
submission after another, so it gets only one of each kind per round; the rates are compared. Rounds alternate between
the programs, and medians count. The parts:

    throughput   without the cells tagged `demo`
    demos        the same with every cell run in both
    phases       how a submission's time is spent, and the memory of each additional sandbox
    class        a large class in one run: time, memory, and a second run with nothing changed

nbgrader runs in its own environment, which is created once in the folder `--peer`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from autograder.box.confinement.selftest import choose_level
from benchmarks.grading import phases
from benchmarks.grading.courses import LESSON, ROOT, make_course, ordinary
from benchmarks.grading.peer import environment
from benchmarks.grading.throughput import large_class, throughput
from benchmarks.table import Row, arguments, report

PARTS = ("throughput", "demos", "phases", "class")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help="only these parts")
    parser.add_argument("--submissions", type=int, default=200, help="ordinary submissions (default: %(default)s)")
    parser.add_argument("--students", type=int, default=3000, help="of the large class (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds; the medians count (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peer", type=Path, default=ROOT / "build" / "nbgrader", help="(default: build/nbgrader)")
    options = parser.parse_args()
    title = f"Grading {LESSON}: {options.workers} workers, sandboxes at level {choose_level().name}"
    with tempfile.TemporaryDirectory(prefix="katze-benchmark-") as folder:
        report(title, _measured(options, Path(folder)), options.json)


def _measured(options: argparse.Namespace, folder: Path) -> Iterator[Row]:
    workers, seed = options.workers, options.seed
    for part in PARTS[:2]:
        if part in options.only:
            nbgrader, demos = environment(options.peer), part == "demos"
            yield from throughput(
                folder / part, nbgrader, options.submissions, options.rounds, workers, seed, demos=demos
            )
    if "phases" in options.only:
        course = make_course(folder / "phases", ordinary(24, seed), keep_demos=False)
        yield from phases.where_the_time_goes(course)
        yield from phases.memory_of_a_box(course)
    if "class" in options.only:
        yield from large_class(folder / "class", options.students, workers, seed)


if __name__ == "__main__":
    main()
