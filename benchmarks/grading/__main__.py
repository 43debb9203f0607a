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

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from nbgrader.api import Gradebook

from autograder.box.confinement.selftest import choose_level
from autograder.course.course import Course
from autograder.demo.student import Group
from benchmarks.grading import phases
from benchmarks.grading.commands import OURS, Cost, run
from benchmarks.grading.courses import KINDS, LESSON, ROOT, Students, make_course, ordinary
from benchmarks.table import Row, arguments, report
from course_lib import exercises

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
            yield from throughput(folder / part, options, demos=part == "demos")
    if "phases" in options.only:
        course = make_course(folder / "phases", ordinary(24, seed), keep_demos=False)
        yield from phases.where_the_time_goes(course)
        yield from phases.memory_of_a_box(course)
    if "class" in options.only:
        yield from large_class(folder / "class", options.students, workers, seed)


# --- ours beside nbgrader


def _grade(course: Course, workers: int, *more: str) -> Cost:
    return run(OURS, course.root, "katze", "grade", LESSON, "--workers", str(workers), "--no-feedback", *more)


def throughput(folder: Path, options: argparse.Namespace, *, demos: bool) -> Iterator[Row]:
    """Have both grade in turn, with one command each; yield the medians.

    Args:
        folder: an empty folder to work in.
        options: the command's.
        demos: whether both also run the cells that only draw or measure.
    """
    nbgrader = environment(options.peer)
    rates: dict[str, list[float]] = {"ours": [], "nbgrader": []}
    costs: dict[str, list[float]] = {"ours": [], "nbgrader": []}
    for turn in range(options.rounds):
        # nbgrader gets one of each kind, because it grades one after another.
        share, students = ordinary(len(KINDS), options.seed + turn), ordinary(options.submissions, options.seed)
        course = make_course(folder / f"{turn}-nbgrader", share, keep_demos=demos)
        mine = make_course(folder / f"{turn}-ours", students, keep_demos=demos)
        for who, count, spent in (
            ("nbgrader", len(share), nbgrader_cost(nbgrader, course, share)),
            ("ours", len(students), _grade(mine, options.workers, *["--all-cells"] * demos)),
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


# --- nbgrader, in its own environment


NBGRADER = "nbgrader==0.9.6"
"""The version that pip installs; the figures in the README are for this one."""

_COURSE_NEEDS = ("ipykernel", "torch", "matplotlib", "jaxtyping", "ipywidgets", "pillow")
"""The packages that the lessons need to run, in the versions that are installed here."""


def environment(folder: Path) -> Path:
    """Create nbgrader's environment, if it does not exist yet; return its folder of programs.

    It sees this repository, so that notebooks can import `course_lib`, but nothing of the environment in use here.

    Raises:
        RuntimeError: pip could not install it.
    """
    programs, done = folder / "bin", folder / "installed"
    wanted = " ".join([NBGRADER, *_COURSE_NEEDS, str(ROOT)])
    if done.exists() and done.read_text() == wanted:
        return programs
    print(f"installing {NBGRADER} in {folder} (some minutes, once)", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    constraints = ["--constraint", str(ROOT / "constraints.txt")]
    run(programs, folder, "pip", "install", "--quiet", *constraints, NBGRADER, *_COURSE_NEEDS)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "katze.pth").write_text(f"{ROOT}\n")
    done.write_text(wanted)
    return programs


def nbgrader_cost(programs: Path, course: Course, students: Students) -> Cost:
    """Return the cost of plain `nbgrader autograde` on all submissions of a course.

    Raises:
        RuntimeError: it failed, or gave a right submission less than full marks.
    """
    run(programs, course.root, "nbgrader", "generate_assignment", LESSON, "--force", "--create")
    spent = run(programs, course.root, "nbgrader", "autograde", LESSON)
    wanted = float(sum(exercise.points for exercise in exercises.of_lesson(LESSON)))
    with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}") as gradebook:
        for name, student in students.items():
            score = gradebook.find_submission(LESSON, name).score
            if student.group is Group.RIGHT and score < wanted:
                raise RuntimeError(f"nbgrader gave {name} {score:g} of {wanted:g} points: it has not done its work")
    return spent


if __name__ == "__main__":
    main()
