"""Measures how the time of one submission is spent, in one process and without a peer."""

import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from autograder.box.box import Box
from autograder.box.confinement.selftest import choose_level
from autograder.box.endings import BoxLost
from autograder.box.fork_server.client import ForkServer
from autograder.course.course import Course
from autograder.gradebook.record import Conditions, Record
from autograder.grading.answer_keys import AnswerKeys
from autograder.grading.notebook_runner import Graded, grade_notebook
from autograder.intake.submission import read_submission
from autograder.pages.feedback import render_feedback
from autograder.repair import Release, Repaired, answers_in, repair
from benchmarks.grading.courses import LESSON
from benchmarks.table import Row
from course_lib import exercises
from course_lib.judging.exercise import Case
from course_lib.judging.observation import Observation

WITHHELD = sorted({module for exercise in exercises.of_lesson(LESSON) for module in exercise.withheld})
"""The modules that no sandbox of the lesson may have."""


@dataclass
class Clock:
    """Adds up the seconds that each kind of work took, for one submission after another."""

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

    def total(self) -> float:
        """Return the seconds of the current submission."""
        return sum(kind[-1] for kind in self.seconds.values())

    def median(self, kind: str) -> float:
        return 1000 * statistics.median(self.seconds[kind])


@dataclass
class TimedBox:
    """A sandbox that separates the student's own time from the time that the sandbox adds."""

    _box: Box
    _clock: Clock

    def __getattr__(self, name: str) -> Any:
        return getattr(self._box, name)

    def run_cell(self, source: str, *arguments: Any, **options: Any) -> Any:
        start = time.perf_counter()
        result = self._box.run_cell(source, *arguments, **options)
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
    """Yield the median milliseconds of each part of grading a submission, in one process at the machine's level."""
    torch.set_num_threads(1)  # as in a worker
    released = Release.load(course.release_notebook(LESSON))
    keys, clock = AnswerKeys(course.secret()), Clock()
    with ForkServer(WITHHELD, choose_level()) as fork_server:
        for folder in sorted(course.submitted.iterdir()):
            clock.begin()
            with clock.time("read and repair"):
                repaired = _repaired(folder, released)
            inside, start = clock.total(), time.perf_counter()
            graded = _graded(repaired, fork_server, keys, folder.name, clock)
            clock.add("compare and diagnose", time.perf_counter() - start - (clock.total() - inside))
            with clock.time("write the pages"):
                notebook = repaired.notebook(graded.outputs)
                record = Record(folder.name, LESSON, "", "", "", 0, Conditions("", "", {}, {}), (), repaired.repairs)
                render_feedback(notebook, record, {name: one.html() for name, one in graded.verdicts.items()})
    for kind in clock.seconds:
        yield Row.of(f"one submission: {kind}", clock.median(kind), None, "ms", more=False)


def _repaired(folder: Path, released: Release) -> Repaired:
    answers = answers_in(released, LESSON, exercises.COURSE)
    return repair(read_submission(folder / LESSON, LESSON, answers), released)


def _graded(repaired: Repaired, fork_server: ForkServer, keys: AnswerKeys, student: str, clock: Clock) -> Graded:
    @contextmanager
    def open_box(seconds: float) -> Iterator[Any]:
        with clock.time("box: open and close"):
            box = fork_server.open_box(seconds=seconds)
        yield TimedBox(box, clock)
        with clock.time("box: open and close"):
            box.close()

    return grade_notebook(
        repaired.cells, exercises.COURSE, open_box, lambda exercise: keys.key(exercise, student), fork_server.limits
    )


def memory_of_a_box(course: Course) -> Iterator[Row]:
    """Yield the median of the private memory of a sandbox after it has run an ordinary submission."""
    released = Release.load(course.release_notebook(LESSON))
    private: list[float] = []
    with ForkServer(WITHHELD, choose_level()) as fork_server:
        for folder in sorted(course.submitted.iterdir()):
            cells = _repaired(folder, released).cells
            with suppress(BoxLost), fork_server.open_box() as box:  # a sandbox out of time has no memory left
                for cell in cells:
                    if cell.runs:
                        box.run_cell(cell.source)
                for exercise in exercises.of_lesson(LESSON):
                    list(box.observe_cases(exercise.name, exercise.visible_cases()))
                private.append(_private_megabytes(box.process))
    yield Row.of("memory of each additional sandbox", statistics.median(private), 60.0, "MB", more=False, goal=1.0)


def _private_megabytes(process: int) -> float:
    """Return the megabytes of a process's unshared pages and its page tables."""
    kilobytes = 0
    for name, wanted in (("smaps_rollup", ("Private_Clean:", "Private_Dirty:")), ("status", ("VmPTE:",))):
        for line in Path(f"/proc/{process}/{name}").read_text().splitlines():
            if line.startswith(wanted):
                kilobytes += int(line.split()[1])
    return kilobytes / 1000
