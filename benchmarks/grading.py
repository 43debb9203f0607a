"""How fast a class is graded, beside plain `nbgrader autograde` on the same notebooks.

    python -m benchmarks.grading [--submissions 200] [--rounds 3] [--workers 2] [--json FILE]

Makes ordinary submissions of lesson 01 (right in several styles, half done, mistaken), and has both programs
grade them as their users would: one command, start to finish, everything in nbgrader's gradebook. nbgrader
grades one after another, so it gets one submission of each kind a round; the rates are compared. Twice: without
the cells tagged `demo` (removed from the notebooks for both), and with every cell run in both, where ours gets
three of each kind. Rounds alternate between the two programs; the medians count.

Hostile submissions are timed apart, by ours alone: plain nbgrader stops at some of them.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.batch import grade_lesson
from autograder.box import Box, Level, Limits, Zygote, choose_level
from autograder.course import Course
from autograder.demo.student import Group, Student
from autograder.demo.students import STUDENTS
from autograder.feedback import render_feedback
from autograder.gradebook import GradebookWriter
from autograder.grading import AnswerKeys, grade_cells
from autograder.release import release
from autograder.repair import Release, repair
from autograder.submission import read_submission
from benchmarks.table import Row, report
from course_lib import exercises
from course_lib.checking import Case, Observation

Students = Mapping[str, Student]

LESSON = "01_attention"
ORDINARY = (Group.RIGHT, Group.UNFINISHED, Group.MISTAKEN)
KINDS = [student for student in STUDENTS[LESSON] if student.group in ORDINARY]
ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Cost:
    """What one run of a command took."""

    submissions: int
    wall: float
    processor: float

    @property
    def per_minute(self) -> float:
        return 60 * self.submissions / self.wall

    @property
    def processor_each(self) -> float:
        return self.processor / self.submissions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, default=200, help="ordinary submissions (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="medians over so many rounds (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="katze-benchmark-") as folder:
        many, few = ordinary(options.submissions, options.seed), ordinary(3 * len(KINDS), options.seed)
        rows = [*against_nbgrader(Path(folder), many, options.rounds, options.workers, demos=False)]
        rows += against_nbgrader(Path(folder), few, options.rounds, options.workers, demos=True)
        course = make_course(Path(folder) / "phases", ordinary(24, options.seed), keep_demos=False)
        rows += where_the_time_goes(course)
        rows += [hostile(Path(folder), options.workers)]
    report(f"Grading {LESSON}: {options.workers} workers, boxes at level {choose_level().name}", rows, options.json)


def ordinary(count: int, seed: int) -> Students:
    """So many ordinary students by a name of their own, in an order drawn from the seed."""
    chosen = list(itertools.islice(itertools.cycle(KINDS), count))
    random.Random(seed).shuffle(chosen)
    return {f"{number:04d}_{student.name}": student for number, student in enumerate(chosen)}


def make_course(folder: Path, students: Students, *, keep_demos: bool) -> Course:
    """A course of its own, released by nbgrader's pipeline, with these submissions."""
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    shutil.copytree(ROOT / "solutions", folder / "solutions")
    course = Course.find(folder)
    release(course, [LESSON])
    paths = [course.release_notebook(LESSON), course.source / LESSON / f"{LESSON}.ipynb"]
    if not keep_demos:
        for path in paths:
            notebook = json.loads(path.read_text(encoding="utf-8"))
            notebook["cells"] = [cell for cell in notebook["cells"] if "demo" not in cell["metadata"].get("tags", [])]
            path.write_text(json.dumps(notebook), encoding="utf-8")
    released = json.loads(paths[0].read_text(encoding="utf-8"))
    for name, student in students.items():
        target = course.submitted / name / LESSON
        target.mkdir(parents=True)
        student.hand_in(released, LESSON, target / f"{LESSON}.ipynb")
    return course


def against_nbgrader(folder: Path, students: Students, rounds: int, workers: int, *, demos: bool) -> Iterator[Row]:
    """Throughput and processor time of both, in turn; nbgrader grades one submission of each kind."""
    what = "every cell run" if demos else "demo cells left out"
    ours, theirs = [], []
    for turn in range(rounds):
        course = make_course(folder / f"ours-{demos}-{turn}", students, keep_demos=demos)
        share = ordinary(len(KINDS), seed=turn)
        peer = make_course(folder / f"peer-{demos}-{turn}", share, keep_demos=demos)
        run(peer, "nbgrader", "generate_assignment", LESSON, "--force", "--create")
        theirs.append(cost(peer, len(share), "nbgrader", "autograde", LESSON))
        extra = ["--all-cells"] if demos else []
        arguments = ["--workers", str(workers), "--no-feedback", *extra]
        ours.append(cost(course, len(students), "katze", "grade", LESSON, *arguments))
        print(f"{what}, round {turn + 1}: {ours[-1].per_minute:.0f} and {theirs[-1].per_minute:.1f} a minute")
    goal = None if demos else 20.0
    rate, peer_rate = (statistics.median(c.per_minute for c in costs) for costs in (ours, theirs))
    yield Row.of(f"throughput, {what}", rate, peer_rate, "submissions/minute", more=True, goal=goal)
    used, peer_used = (statistics.median(c.processor_each for c in costs) for costs in (ours, theirs))
    yield Row.of(f"processor time, {what}", used, peer_used, "s/submission", more=False)


def run(course: Course, command: str, *arguments: str) -> None:
    """Run a command of this environment in a course.

    Raises:
        RuntimeError: it failed; with the end of what it said.
    """
    program = Path(sys.executable).parent / command
    environment = {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    done = subprocess.run(
        [str(program), *arguments], cwd=course.root, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{command} {' '.join(arguments)}: {done.stdout[-500:]}{done.stderr[-2000:]}")


def cost(course: Course, submissions: int, command: str, *arguments: str) -> Cost:
    """What a command took, with all the processes that it started."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    run(course, command, *arguments)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(submissions, wall, processor)


@dataclass
class Clock:
    """Adds up, for one submission after another, the seconds that each kind of work took."""

    seconds: dict[str, list[float]] = field(default_factory=dict)

    def begin(self) -> None:
        for kind in self.seconds.values():
            kind.append(0.0)

    def add(self, kind: str, seconds: float) -> None:
        self.seconds.setdefault(kind, [0.0])[-1] += seconds

    @contextmanager
    def time(self, kind: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.add(kind, time.perf_counter() - start)

    def median(self, kind: str) -> float:
        return 1000 * statistics.median(self.seconds[kind])


class TimedBox:
    """A box that tells the student's own time from what the box adds to it."""

    def __init__(self, box: Box, clock: Clock) -> None:
        self._box = box
        self._clock = clock

    def run_cell(self, source: str) -> Any:
        start = time.perf_counter()
        result = self._box.run_cell(source)
        self._account("the student's cells", time.perf_counter() - start, result.seconds)
        return result

    def observe_cases(self, name: str, cases: Sequence[Case], **options: Any) -> list[Observation]:
        start = time.perf_counter()
        seen = list(self._box.observe_cases(name, cases, **options))
        self._account("the student's answers", time.perf_counter() - start, sum(one.seconds for one in seen))
        return seen

    def _account(self, kind: str, spent: float, inside: float) -> None:
        self._clock.add(kind, inside)
        self._clock.add("box: wire", spent - inside)


def where_the_time_goes(course: Course) -> Iterator[Row]:
    """The parts of grading one submission in one process, at the machine's level; medians in milliseconds."""
    level, limits = choose_level(), Limits()
    released = Release.load(course.release_notebook(LESSON))
    withheld = sorted({module for exercise in exercises.of_lesson(LESSON) for module in exercise.withheld})
    keys, clock = AnswerKeys(course.secret()), Clock()
    with Zygote(withheld, level, limits) as zygote, GradebookWriter(course.gradebook, course.course_id) as gradebook:
        gradebook.ensure_assignment(LESSON, released.notebook)
        for folder in sorted(course.submitted.iterdir()):
            clock.begin()
            grade_timed(folder, released, zygote, keys, gradebook, clock)
    added = clock.median("box: open and close") + clock.median("box: wire")
    yield Row.of(f"what the box adds at {level.name}", added, 100.0, "ms/submission", more=False, goal=1.0)
    for kind in clock.seconds:
        yield Row.of(f"  one submission: {kind}", clock.median(kind), None, "ms", more=False)


def grade_timed(
    folder: Path, released: Release, zygote: Zygote, keys: AnswerKeys, gradebook: GradebookWriter, clock: Clock
) -> None:
    """Grade one submission as a worker does, by the clock."""
    student = folder.name
    with clock.time("read and repair"):
        repaired = repair(read_submission(folder / LESSON, LESSON), released)

    @contextmanager
    def open_box(seconds: float) -> Iterator[TimedBox]:
        with clock.time("box: open and close"):
            box = zygote.open_box(seconds=seconds)
        yield TimedBox(box, clock)
        with clock.time("box: open and close"):
            box.close()

    inside = sum(clock.seconds[kind][-1] for kind in clock.seconds)
    start = time.perf_counter()
    graded = grade_cells(
        repaired.cells, open_box, lambda exercise: keys.key(exercise, student), zygote.limits
    )
    spent = time.perf_counter() - start
    boxed = sum(clock.seconds[kind][-1] for kind in clock.seconds) - inside
    clock.add("compare and diagnose", spent - boxed)
    with clock.time("write the notebook"):
        notebook = repaired.notebook(graded.outputs)
        json.dumps(notebook, indent=1)
    with clock.time("write the feedback page"):
        html = {name: verdict.html() for name, verdict in graded.verdicts.items()}
        render_feedback(notebook, student, LESSON, html, 0.0, 1.0, repaired.repairs)
    scores = {
        str(cell.nbgrader["grade_id"]): graded.verdicts[cell.exercise].points
        for cell in repaired.cells
        if cell.kind == "check" and cell.exercise
    }
    with clock.time("write the gradebook"):
        gradebook.record(student, LESSON, notebook, scores)


def hostile(folder: Path, workers: int) -> Row:
    """The hostile and broken part of the bundled class, by ours alone; two of them use up a limit of 10 s."""
    students = {
        student.name: student
        for student in STUDENTS[LESSON]
        if student.group not in ORDINARY and student.level <= Level.L2
    }
    course = make_course(folder / "hostile", students, keep_demos=True)
    start = time.perf_counter()
    grade_lesson(course, LESSON, workers=workers)
    rate = 60 * len(students) / (time.perf_counter() - start)
    return Row.of("throughput, hostile submissions", rate, None, "submissions/minute", more=True)


if __name__ == "__main__":
    main()
