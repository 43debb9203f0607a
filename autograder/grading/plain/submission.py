"""Grades one submission: reads each of its notebooks, repairs it, runs it in sandboxes, and judges its tests.

A problem with one notebook does not keep the others from being graded.
"""

import hashlib
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.box.fork_server.client import ForkServer
from autograder.errors import Unreadable
from autograder.gradebook.record import ExerciseRecord
from autograder.grading.plain import files
from autograder.grading.plain.assignment import MasterCell, MasterNotebook, PlainAssignment
from autograder.grading.plain.judging import Judged, judge, refusals
from autograder.grading.plain.pages import graded_notebook
from autograder.grading.plain.repairing import answers_in, put_back
from autograder.grading.plain.running import Ran, run_cells
from autograder.grading.strategy import stable
from autograder.grading.task import Task
from autograder.intake.submission import Submission, read_submission
from autograder.repair.cells import CellKind, Repaired
from course_lib.judging.observation import Outcome


@dataclass(frozen=True)
class JudgedNotebook:
    """A graded notebook of a submission.

    Attributes:
        name: the notebook's name.
        exercises: the results of its tests, in the release's order.
        problem: why it could not be read; then everything below is empty.
        refused: what the sandbox refused to each test and to the ordinary cells before it, by exercise.
        submission: the notebook as read.
        repaired: the same, repaired.
        graded: the notebook to write, in nbformat 4.5.
        remarks: lines for the instructor.
        starved: whether a sandbox hit a time limit while the machine was busy.
    """

    name: str
    exercises: tuple[ExerciseRecord, ...]
    problem: str = ""
    refused: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    submission: Submission | None = None
    repaired: Repaired = Repaired((), ())
    graded: Mapping[str, Any] | None = None
    remarks: tuple[str, ...] = ()
    starved: bool = False


@dataclass(frozen=True)
class SubmissionGrader:
    """Runs and judges the notebooks of one submission after another, without writing anything.

    Attributes:
        assignment: the assignment.
        fork_server: opens the sandboxes.
        channel: this worker's channel to the fork server.
        doubts: what the sandbox refused to the course's own solution, by the test that failed because of it.
    """

    assignment: PlainAssignment
    fork_server: ForkServer
    channel: int
    doubts: Mapping[str, tuple[str, ...]]

    def judge(self, task: Task) -> list[JudgedNotebook]:
        """Grade the notebooks of a submission, in the order of their names."""
        seen: list[JudgedNotebook] = []
        with tempfile.TemporaryDirectory(prefix="katze-files-") as folder:
            for number, master in enumerate(self.assignment.notebooks):
                others = {f"{one.name}.ipynb" for one in self.assignment.notebooks if one is not master}
                try:
                    submission = read_submission(task.folder, master.name, answers_in(master), others)
                    repaired = put_back(submission, master)
                except Unreadable as problem:
                    exercises = unscored(master, Outcome.UNREADABLE, problem.reason)
                    seen.append(JudgedNotebook(master.name, exercises, problem.reason))
                    continue
                is_first = not any(one.submission for one in seen)
                left_out = self._lay_out(task, Path(folder)) if is_first else []
                ran = self._run(task, number, repaired, Path(folder))
                exercises, refused = self._judge(task, master, repaired, ran)
                seen.append(
                    JudgedNotebook(
                        master.name,
                        exercises,
                        refused=refused,
                        submission=submission,
                        repaired=repaired,
                        graded=graded_notebook(repaired, ran),
                        remarks=(*left_out, *_remarks(master, repaired, ran)),
                        starved=ran.starved,
                    )
                )
        return seen

    def _lay_out(self, task: Task, folder: Path) -> list[str]:
        """Gather the files next to the notebooks; return what had to be left out."""
        one = self.assignment
        left_out = files.copy_student_files(one.course, task.folder, folder, one.course.limits)
        files.copy_course_files(one.course_files, folder, files.exclude_overwriting(one.course, one.name))
        return left_out

    def _run(self, task: Task, number: int, repaired: Repaired, folder: Path) -> Ran:
        limits = self.assignment.course.limits
        there = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
        limits = replace(limits, folder_bytes=limits.folder_bytes + sum(there), files=limits.files + 2 * len(there))
        digest = hashlib.sha256(f"{self.assignment.name} {task.student} {number}".encode()).digest()
        seed = int.from_bytes(digest[:8], "big") >> 1  # the same in every run, and torch's seeds have 63 bits
        return run_cells(
            repaired.cells,
            lambda seconds: self.fork_server.open_box(
                self.channel, seed=seed, seconds=seconds, limits=limits, files=folder
            ),
            limits.submission_seconds,
        )

    def _judge(
        self, task: Task, master: MasterNotebook, repaired: Repaired, ran: Ran
    ) -> tuple[tuple[ExerciseRecord, ...], dict[str, tuple[str, ...]]]:
        """Return the results of a notebook's test cells, in the release's order, and `JudgedNotebook.refused`."""
        assignment, level = self.assignment, self.fork_server.level.name
        folder = assignment.course.autograded / task.student / assignment.name
        refused = {place: refusals(result, folder) for place, result in sorted(ran.results.items())}
        tests = {cell.exercise: place for place, cell in enumerate(repaired.cells) if cell.kind is CellKind.CHECK}
        verdicts, until = [], {}
        for test in master.tests:
            name = master.exercise(test.name)
            place = tests[name]
            ended = ran.results.get(place) or ran.lost.get(place) or ran.unreached
            above = [n for n in refused if n == place or (n < place and n not in tests.values())]
            needed = [one for n in above if n == place or not ran.results[n].ok for one in refused[n]]
            judged = judge(test, ended, assignment.ignored_stderr, [*needed, *self.doubts.get(name, ())])
            verdicts.append(_record(master, test, judged, level))
            until[name] = tuple(one for n in above for one in refused[n])
        return tuple(verdicts), until


def unscored(master: MasterNotebook, outcome: Outcome, problem: str) -> tuple[ExerciseRecord, ...]:
    """Return results without a score for a notebook's tests, and why."""
    note = problem if outcome is Outcome.UNREADABLE else ""
    return tuple(_record(master, test, Judged(outcome, None, note), "") for test in master.tests)


def _record(master: MasterNotebook, test: MasterCell, judged: Judged, level: str) -> ExerciseRecord:
    return ExerciseRecord(
        exercise=master.exercise(test.name),
        cell=test.name,
        fingerprint=hashlib.sha256(test.source.encode()).hexdigest(),
        seed=0,
        level=level,
        outcome=judged.outcome,
        points=judged.points,
        max_points=test.points,
        note=stable(judged.note),
    )


def _remarks(master: MasterNotebook, repaired: Repaired, ran: Ran) -> list[str]:
    """Return lines for the instructor about cells that ended their sandbox."""
    found = []
    for place, lost in sorted(ran.lost.items()):
        number = sum(cell.is_code for cell in repaired.cells[: place + 1])
        limit = f" ({lost.setting})" if lost.setting else ""
        found.append(f"{master.name}: cell {number} ended its sandbox: {lost.reason}{limit}")
    return [*found, *([f"{master.name}: {ran.unreached} its last test"] if ran.unreached else [])]
