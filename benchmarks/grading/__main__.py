"""How fast a class is graded, next to plain `nbgrader autograde` and `otter run` on the same notebooks.

    python -m benchmarks.grading [--only PART ...] [--submissions 200] [--rounds 3] [--workers 2] [--json FILE]

Makes ordinary submissions of lesson 01 (right in several styles, half done, mistaken) from a seed, and has each
program grade them as its users would: one command, start to finish, rows in the gradebook. nbgrader and Otter grade
one after another, so they get one submission of each kind per round; the rates are compared. Rounds alternate
between the programs; medians count. The parts:

    throughput   against both peers without the cells tagged `demo`; against nbgrader with every cell run in both,
                 also against the limit: the cells' own processor time on the workers' cores
    phases       where the time of one submission goes
    boxes        what a level costs over the one below it, and the memory of each additional box
    hostile      hostile submissions, ours only: plain nbgrader stops at some of them
    class        a large class in one run: time, memory, and a second run with nothing changed

The peers run from their own packages, in environments of their own, which are made once under `--peers`.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from autograder.box import Level, choose_level
from autograder.demo.students import STUDENTS
from autograder.grading.batch import grade_lesson
from benchmarks.grading import phases
from benchmarks.grading.courses import LESSON, ORDINARY, ROOT, make_course, ordinary
from benchmarks.grading.peers import environments
from benchmarks.grading.scale import large_class
from benchmarks.grading.throughput import in_words, throughput
from benchmarks.table import Row, report

PARTS = ("throughput", "phases", "boxes", "hostile", "class")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.grading",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help="only these parts")
    parser.add_argument("--submissions", type=int, default=200, help="ordinary submissions (default: %(default)s)")
    parser.add_argument("--students", type=int, default=3000, help="of the large class (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds; the medians count (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--peers", type=Path, default=ROOT / "build" / "peers", help="the peers' environments (default: build/peers)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="katze-benchmark-") as folder:
        rows = list(_measured(options, Path(folder)))
    report(f"Grading {LESSON}: {options.workers} workers, boxes at level {choose_level().name}", rows, options.json)
    print(in_words(rows))


def _measured(options: argparse.Namespace, folder: Path) -> Iterator[Row]:
    if "throughput" in options.only:
        programs = environments(options.peers)
        place = folder / "throughput"
        yield from throughput(place, programs, options.submissions, options.rounds, options.workers, options.seed)
    if {"phases", "boxes"} & set(options.only):
        course = make_course(folder / "phases", ordinary(24, options.seed), keep_demos=False)
        if "phases" in options.only:
            yield from phases.where_the_time_goes(course)
        if "boxes" in options.only:
            yield from phases.cost_of_levels(course)
            yield from phases.memory_of_a_box(course)
    if "hostile" in options.only:
        yield _hostile(folder / "hostile", options.workers)
    if "class" in options.only:
        yield from large_class(folder / "class", options.students, options.workers, options.seed)


def _hostile(folder: Path, workers: int) -> Row:
    """The hostile and broken part of the bundled class, ours only; two of them use up a limit of 10 s."""
    students = {
        student.name: student
        for student in STUDENTS[LESSON]
        if student.group not in ORDINARY and student.level <= Level.L2
    }
    course = make_course(folder, students, keep_demos=True)
    start = time.perf_counter()
    grade_lesson(course, LESSON, workers=workers)
    rate = 60 * len(students) / (time.perf_counter() - start)
    return Row.of("throughput, hostile submissions", rate, None, "submissions/minute", more=True)


if __name__ == "__main__":
    main()
