"""Grading one submission: each of its notebooks is read, put back into shape, run in boxes, and its tests judged.

What goes wrong with one notebook is no reason not to grade the others.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from autograder.box import ForkServer
from autograder.errors import Unreadable
from autograder.gradebook.record import Conditions, ExerciseRecord
from autograder.grading.plain import files, publish
from autograder.grading.plain.assignment import MasterCell, MasterNotebook, PlainAssignment
from autograder.grading.plain.judging import Judged, judge
from autograder.grading.plain.publish import GradedNotebook, graded_notebook
from autograder.grading.plain.refusals import refusals
from autograder.grading.plain.repairing import answers_in, put_back
from autograder.grading.plain.running import Ran, run_cells
from autograder.grading.plan import Task
from autograder.grading.recording import Finished, make_record, stable
from autograder.intake.submission import Submission, read_submission
from autograder.limits import Limits
from autograder.repair.cells import Cell, CellKind, Repaired
from course_lib.checking import Outcome


@dataclass(frozen=True)
class PlainFinished(Finished):
    """What a worker hands back.

    Attributes:
        graded: the notebooks that were graded, by name.
        problems: why the others were not, by name.
    """

    graded: Mapping[str, GradedNotebook] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PlainGrader:
    """Grades the submissions to an assignment; see `grading.workers.Grader`.

    Attributes:
        assignment: the assignment.
        conditions: what its grades depend on.
        fork_server: where boxes come from.
        course_files: what every submission gets beside its notebooks.
        doubts: what the sandbox has refused to the course's own solution, by the tests that it failed for it.
    """

    assignment: PlainAssignment
    conditions: Conditions
    fork_server: ForkServer
    course_files: dict[str, Path]
    doubts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def limits(self) -> Limits:
        """Of a submission: each of its notebooks has its own time."""
        limits = self.assignment.limits
        return replace(limits, submission_seconds=limits.submission_seconds * len(self.assignment.notebooks))

    def start(self, channel: int) -> Callable[[Task], Finished]:
        """What a worker does with each submission."""
        return partial(_grade, self, channel)

    def give_up(self, task: Task, problem: str) -> PlainFinished:
        """A submission over which the grader itself has failed."""
        problems = {notebook.name: problem for notebook in self.assignment.notebooks}
        exercises = tuple(
            _record(notebook, test, Judged(Outcome.UNGRADED, None), "")
            for notebook in self.assignment.notebooks
            for test in notebook.tests
        )
        record = make_record(task, self.assignment.name, self.conditions, exercises, problem=problem)
        return PlainFinished(task, record, problems=problems)


@dataclass(frozen=True)
class JudgedNotebook:
    """A notebook of a submission, judged.

    Attributes:
        master: as it was released.
        exercises: the verdicts on its tests, in the release's order.
        problem: why it could not be read; then all that follows is empty.
        refused: for each of the verdicts, what the sandbox has refused to the test, and to what is no test before it.
        submission: as it was read.
        answers: its cells for answers.
        graded: as it is written.
        remarks: what the instructor reads.
        starved: whether a box was stopped for taking too long while the machine was busy.
    """

    master: MasterNotebook
    exercises: tuple[ExerciseRecord, ...]
    problem: str = ""
    refused: tuple[tuple[str, ...], ...] = ()
    submission: Submission | None = None
    answers: tuple[Cell, ...] = ()
    graded: GradedNotebook | None = None
    remarks: tuple[str, ...] = ()
    starved: bool = False


def _grade(grader: PlainGrader, channel: int, task: Task) -> PlainFinished:
    assignment, seen = grader.assignment, judge_notebooks(grader, channel, task)
    read = [one.submission for one in seen if one.submission is not None]
    graded = {one.master.name: one.graded for one in seen if one.graded is not None}
    problems = {one.master.name: one.problem for one in seen if one.problem}
    record = make_record(
        task,
        assignment.name,
        grader.conditions,
        tuple(exercise for one in seen for exercise in one.exercises),
        notebook=hashlib.sha256("".join(one.digest for one in read).encode()).hexdigest() if read else "",
        handed_in=next((one.timestamp for one in read), ""),
        repairs=_told(assignment, {name: one.repairs for name, one in graded.items()}),
        problem="\n".join(_told(assignment, {name: (why,) for name, why in problems.items()})),
        remarks=[remark for one in seen for remark in one.remarks],
    )
    written = publish.write_graded(assignment, record, graded, problems, grader.course_files)
    starved = any(one.starved for one in seen)
    return PlainFinished(task, replace(record, files=written), None, starved, graded, problems)


def judge_notebooks(grader: PlainGrader, channel: int, task: Task) -> list[JudgedNotebook]:
    """Run and judge the notebooks of a submission; nothing is written."""
    seen: list[JudgedNotebook] = []
    with tempfile.TemporaryDirectory(prefix="katze-files-") as folder:
        for number, master in enumerate(grader.assignment.notebooks):
            try:
                submission, repaired = _read(grader.assignment, master, task)
            except Unreadable as problem:
                unread = Judged(Outcome.UNREADABLE, None, problem.reason)
                seen.append(
                    JudgedNotebook(
                        master, tuple(_record(master, test, unread, "") for test in master.tests), problem.reason
                    )
                )
                continue
            is_first = not any(one.submission for one in seen)
            left_out = _lay_out(grader, task, Path(folder)) if is_first else []
            ran = _run(grader, channel, task, number, repaired, Path(folder))
            exercises, refused = _judged(grader, task, master, repaired, ran)
            seen.append(
                JudgedNotebook(
                    master,
                    exercises,
                    refused=refused,
                    submission=submission,
                    answers=tuple(cell for cell in repaired.cells if cell.kind is CellKind.ANSWER),
                    graded=graded_notebook(master, repaired, ran),
                    remarks=(*left_out, *_remarks(master, repaired, ran)),
                    starved=ran.starved,
                )
            )
    return seen


def _read(assignment: PlainAssignment, master: MasterNotebook, task: Task) -> tuple[Submission, Repaired]:
    """A notebook of the submission, and what is graded of it.

    Raises:
        Unreadable: it cannot be.
    """
    others = {f"{one.name}.ipynb" for one in assignment.notebooks} - {f"{master.name}.ipynb"}
    submission = read_submission(task.folder, master.name, answers_in(master), others)
    return submission, put_back(submission, master)


def _lay_out(grader: PlainGrader, task: Task, folder: Path) -> list[str]:
    """Gather the files that lie beside the notebooks; what had to be left out."""
    course, name = grader.assignment.course, grader.assignment.name
    left_out = files.copy_student_files(course, task.folder, folder, grader.assignment.limits)
    files.copy_course_files(grader.course_files, folder, files.exclude_overwriting(course, name))
    return left_out


def _run(grader: PlainGrader, channel: int, task: Task, number: int, repaired: Repaired, folder: Path) -> Ran:
    limits = grader.assignment.limits
    there = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    limits = replace(limits, folder_bytes=limits.folder_bytes + sum(there), files=limits.files + 2 * len(there))
    digest = hashlib.sha256(f"{grader.assignment.name} {task.student} {number}".encode()).digest()
    seed = int.from_bytes(digest[:8], "big") >> 1  # the same in every run, and torch's seeds have 63 bits
    return run_cells(
        repaired.cells,
        lambda seconds: grader.fork_server.open_box(channel, seed=seed, seconds=seconds, limits=limits, files=folder),
        limits.submission_seconds,
    )


def _judged(
    grader: PlainGrader, task: Task, master: MasterNotebook, repaired: Repaired, ran: Ran
) -> tuple[tuple[ExerciseRecord, ...], tuple[tuple[str, ...], ...]]:
    """The verdicts on a notebook's test cells, in the release's order; for each, what was refused to it, and before."""
    assignment, level = grader.assignment, grader.fork_server.level.name
    folder = assignment.course.autograded / task.student / assignment.name
    refused = {place: refusals(result, folder) for place, result in sorted(ran.results.items())}
    tests = {cell.exercise: place for place, cell in enumerate(repaired.cells) if cell.kind is CellKind.CHECK}
    verdicts, until = [], []
    for test in master.tests:
        place = tests[master.exercise(test.name)]
        ended = ran.results.get(place) or ran.lost.get(place) or ran.unreached
        before = [n for n in refused if n < place and n not in tests.values()]
        needed = [one for n in (*before, place) if n == place or not ran.results[n].ok for one in refused.get(n, ())]
        needed += grader.doubts.get(master.exercise(test.name), ())
        verdicts.append(_record(master, test, judge(test, ended, assignment.ignored_stderr, needed), level))
        until.append(tuple(one for n in (*before, place) for one in refused.get(n, ())))
    return tuple(verdicts), tuple(until)


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
    """What the instructor reads about cells that have ended their box."""
    found = []
    for place, lost in sorted(ran.lost.items()):
        number = sum(cell.is_code for cell in repaired.cells[: place + 1])
        limit = f" ({lost.setting})" if lost.setting else ""
        found.append(f"{master.name}: cell {number} ended its box: {lost.reason}{limit}")
    return [*found, *([f"{master.name}: {ran.unreached} its last test"] if ran.unreached else [])]


def _told(assignment: PlainAssignment, sentences: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Sentences about notebooks, each with the name of its notebook in front."""
    names = [notebook.name for notebook in assignment.notebooks if notebook.name in sentences]
    return tuple(f"{name}.ipynb: {sentence}" for name in names for sentence in sentences[name])
