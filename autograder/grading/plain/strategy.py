"""Grades test cells of a plain nbgrader course: runs them next to the student's code, and judges their output."""

import hashlib
import itertools
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sqlalchemy.orm import Session

from autograder.box.confinement.levels import Level
from autograder.box.fork_server.client import ForkServer
from autograder.box.fork_server.root import BoxRoot
from autograder.gradebook import store
from autograder.gradebook.record import Change, Conditions, ExerciseRecord, Record
from autograder.gradebook.scores import withhold_grades
from autograder.gradebook.session import GradebookSession
from autograder.grading.plain import files, rows
from autograder.grading.plain.assignment import PlainAssignment
from autograder.grading.plain.pages import feedback_page, problem_of
from autograder.grading.plain.solution import try_solution
from autograder.grading.plain.submission import JudgedNotebook, SubmissionGrader, unscored
from autograder.grading.publish import write_graded
from autograder.grading.strategy import Strategy, Tell
from autograder.grading.task import Finished, Task
from course_lib.judging.observation import Outcome


class PlainStrategy(Strategy):
    """An assignment of a plain nbgrader course. A submission is graded as a whole, because its tests share the state
    that its cells leave.

    Attributes:
        assignment: the assignment.
        doubts: what the sandbox refused to the course's own solution, by the test that failed because of it.
        book: the gradebook, after `open_gradebook`.
    """

    book: GradebookSession
    promise = (
        "the tests run beside the students' code: sandboxes protect this machine and the other students, but not the "
        "points; see docs/plain_nbgrader.md"
    )
    other_release = "the assignment's cells have changed"

    def __init__(
        self,
        assignment: PlainAssignment,
        solution: Path | None = None,
        doubts: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    ) -> None:
        """Run nothing yet.

        Args:
            solution: the folder of the course's own solution; None if it has run already.
            doubts: the result of that run.
        """
        super().__init__(assignment.course, assignment.name, assignment.feedback)
        self.assignment = assignment
        self.doubts = doubts
        self.notebooks = {f"/{notebook.name}": notebook.name for notebook in assignment.notebooks}
        self._rows = {notebook.name: notebook.rows for notebook in assignment.notebooks}
        self._solution = solution

    # --- what is to be done

    @property
    def conditions(self) -> Conditions:
        """The conditions that its grades depend on, besides submissions and exercises."""
        return self.assignment.conditions

    @property
    def exercises(self) -> frozenset[str]:
        """The ids of everything that is graded in it."""
        return frozenset(one.exercise(test.name) for one in self.assignment.notebooks for test in one.tests)

    # --- how it is run and judged

    def make_fork_server(self, level: Level, channels: int = 1, root: BoxRoot | None = None) -> ForkServer:
        """Make the fork server, with a channel for each worker; `root` may hold one started early."""
        return ForkServer((), level, self.course.limits, channels=channels, trains=False, stand_ins=False, root=root)

    def rehearse(self, fork_server: ForkServer, tell: Tell) -> None:
        """Run the course's own solution."""
        if self._solution is None:
            return
        lines, self.doubts = try_solution(self._grader(fork_server, 0), self._solution)
        tell("\n".join(lines))

    def begin(self, fork_server: ForkServer, channel: int) -> Callable[[Task], Finished]:
        """Return the function that grades a task."""
        grader = self._grader(fork_server, channel)
        return lambda task: self._grade(task, grader.judge(task))

    def _grader(self, fork_server: ForkServer, channel: int) -> SubmissionGrader:
        return SubmissionGrader(self.assignment, fork_server, channel, self.doubts)

    def _grade(self, task: Task, judged: list[JudgedNotebook]) -> Finished:
        read = [one.submission for one in judged if one.submission is not None]
        notebooks = {one.name: one.graded for one in judged if one.graded is not None}
        record = replace(
            self.make_record(
                task,
                tuple(exercise for one in judged for exercise in one.exercises),
                "\n".join(f"{one.name}.ipynb: {one.problem}" for one in judged if one.problem),
                [remark for one in judged for remark in one.remarks],
            ),
            notebook=hashlib.sha256("".join(one.digest for one in read).encode()).hexdigest() if read else "",
            repairs=tuple(f"{one.name}.ipynb: {repair}" for one in judged for repair in one.repaired.repairs),
        )
        written = write_graded(self, record, notebooks)
        return Finished(task, replace(record, files=written), notebooks, any(one.starved for one in judged))

    def refuse(self, task: Task, reason: str) -> Finished:
        """Return the result for a submission whose folder cannot be used: pages that say so, and no score."""
        notebooks = self.assignment.notebooks
        return self._grade(
            task, [JudgedNotebook(one.name, unscored(one, Outcome.UNREADABLE, reason), reason) for one in notebooks]
        )

    def make_unscored(self, task: Task, outcome: Outcome, problem: str) -> tuple[ExerciseRecord, ...]:
        """Return records of all its tests without a score."""
        return tuple(one for notebook in self.assignment.notebooks for one in unscored(notebook, outcome, problem))

    # --- how it is recorded

    def open_gradebook(self, book: GradebookSession) -> list[str]:
        """Prepare nbgrader's tables."""
        book.prepare()
        self.book = book
        return []

    def set_aside(self, run: int, students: Collection[str], why: str) -> None:
        """Stop counting these students' grades."""
        with self.book.begin() as session:
            store.set_aside(session, run, self.name, students, why)
            for student, rows_of_one in itertools.product(students, self._rows.values()):
                withhold_grades(session, rows_of_one, student, why)

    def save(self, run: int, finished: Finished) -> tuple[Change, ...]:
        """Write one graded submission."""
        record = finished.record
        if finished.notebooks:
            files.copy_course_files(self.assignment.course_files, self.course.autograded / record.student / self.name)
        names = [name for name in self.notebooks.values() if name not in finished.notebooks]
        problems = {name: problem_of(record, name) for name in names}
        with self.book.begin() as session:
            rows.save(session, self._rows, record, finished.notebooks, problems)
            return store.save(session, run, record, finished.task.why)

    def conclude(self, students: Collection[str]) -> None:
        """Write the late penalties."""
        rows.write_penalties(self.course, self.name, students)

    # --- what people see

    def page(self, record: Record, notebook: str, graded: Mapping[str, Any] | None, penalty: float) -> str:
        """Return the feedback page of one notebook."""
        [master] = [one for one in self.assignment.notebooks if one.name == notebook]
        return feedback_page(self.assignment, record, master, graded, penalty)

    def read_penalties(self, session: Session) -> Mapping[str, Mapping[str, float]]:
        """Return the late penalty of each notebook, by student and notebook."""
        return rows.penalties(session, self.name)
