"""What the engine asks of an assignment. Its two kinds answer differently, and nothing else knows which it is: Katze's
exercises (`exercise_strategy.py`) and nbgrader's test cells (`plain/strategy.py`).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from autograder.box.confinement.levels import Level
from autograder.box.fork_server.client import ForkServer
from autograder.box.fork_server.root import BoxRoot
from autograder.course.course import Course
from autograder.gradebook.changes.adjustments import Adjustments
from autograder.gradebook.record import Change, Conditions, ExerciseRecord, Record
from autograder.gradebook.session import GradebookSession
from autograder.grading.task import Finished, Task
from autograder.intake import timestamps
from autograder.limits import Limits
from course_lib.judging.observation import Outcome

Tell = Callable[[str], None]
"""Takes a line for the instructor."""

_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
_BOX_FOLDER = re.compile(r"/[^\s'\"]*/katze-box-\w+(?:/boxes/\w+)?")


class Strategy(ABC):
    """An assignment as it is graded in one run.

    Attributes:
        course: where everything is.
        name: the assignment's folder name.
        limits: what each notebook of a submission may use.
        feedback: write feedback pages.
        promise: what is said of the sandboxes before anything runs; may be empty.
        notebooks: the notebooks of a submission, by what the names of their files in records end with.
        differences: what is said of a part of the conditions that has changed and that nobody reads, by its name.
        notices: what the instructor should know of the course's settings, a line each.
    """

    promise = ""
    notebooks: Mapping[str, str]
    differences: Mapping[str, str]
    notices: Collection[str] = ()

    def __init__(self, course: Course, name: str, limits: Limits, feedback: bool) -> None:
        self.course = course
        self.name = name
        self.limits = limits
        self.feedback = feedback

    # --- what is to be done

    @property
    @abstractmethod
    def conditions(self) -> Conditions:
        """What its grades depend on, besides submissions and exercises."""

    @property
    @abstractmethod
    def exercises(self) -> frozenset[str]:
        """The ids of all that is judged in it."""

    @property
    def adjustments(self) -> Adjustments:
        """What the course has decided about its exercises."""
        return {}

    def find_changes(self, record: Record) -> Iterator[str]:
        """Why a submission is graded again as a whole, beside what holds for every kind of assignment."""
        return iter(())

    def find_redefined(self, record: Record) -> dict[str, str]:
        """The exercises that are not, or no longer, those that were graded, each with the reason."""
        return {}

    def arrange(self, tasks: Iterable[Task]) -> list[Task]:
        """The tasks in the order in which they are graded soonest."""
        return list(tasks)

    # --- how it is run and judged

    @abstractmethod
    def make_fork_server(self, level: Level, channels: int = 1, root: BoxRoot | None = None) -> ForkServer:
        """Where sandboxes come from, with a channel for each worker, perhaps begun earlier."""

    def rehearse(self, fork_server: ForkServer, tell: Tell) -> None:
        """Try out on a sandbox of it what can be tried before anybody is judged."""
        return

    @abstractmethod
    def begin(self, fork_server: ForkServer, channel: int) -> Callable[[Task], Finished]:
        """What a worker does with each task; asked for once in each worker, which owns this channel."""

    # --- its records

    @abstractmethod
    def make_unscored(self, task: Task, outcome: Outcome, problem: str) -> tuple[ExerciseRecord, ...]:
        """The records of all its exercises, without a score."""

    def slot(self, student: str) -> int:
        """Which of the class's sets of hidden inputs a student gets; 0 where there are none."""
        return 0

    def make_record(
        self, task: Task, exercises: tuple[ExerciseRecord, ...], problem: str = "", remarks: Sequence[str] = ()
    ) -> Record:
        """The record of a submission. What was read and written of it is added when it is known.

        Args:
            task: says what was handed in.
            exercises: how each of them came out.
            problem: why it could not be graded.
            remarks: what only the instructor reads; a fault of the submission's `timestamp.txt` is added.
        """
        return Record(
            student=task.student,
            lesson=self.name,
            digest=task.digest,
            notebook="",
            handed_in="",
            slot=self.slot(task.student),
            conditions=self.conditions,
            exercises=exercises,
            problem=stable(problem),
            remarks=tuple(map(stable, filter(None, [*remarks, timestamps.fault(task.folder)]))),
        )

    def give_up(self, task: Task, problem: str, outcome: Outcome = Outcome.UNGRADED) -> Finished:
        """What comes of a submission over which the grader itself has failed: `ungraded`, no score."""
        record = self.make_record(task, self.make_unscored(task, outcome, problem), problem)
        return Finished(replace(task, judged=self.exercises), record)

    def pass_over(self, student: str, why: str) -> Record:
        """The record of a submission that is not looked at because its folder's name is not a student id."""
        exercises = self.make_unscored(Task(student, Path(), "", (), self.exercises), Outcome.UNREADABLE, "")
        return Record(student, self.name, "", "", "", self.slot(student), self.conditions, exercises, problem=why)

    # --- how it is recorded

    @abstractmethod
    def open_gradebook(self, book: GradebookSession) -> list[str]:
        """Make nbgrader's tables ready for its grades; what the instructor should know of that, a line each."""

    def recount(self, run: int) -> list[str]:
        """Bring the scores that are there up to the adjustments; what has changed, a line each."""
        return []

    @abstractmethod
    def set_aside(self, run: int, students: Collection[str], why: str) -> None:
        """Let the grades of these students no longer count, until they are graded again."""

    @abstractmethod
    def save(self, run: int, finished: Finished) -> tuple[Change, ...]:
        """Write one graded submission in one transaction; what has changed since it was last recorded."""

    def conclude(self, students: Collection[str]) -> None:
        """Write what follows from the grades of these students, which have all been recorded."""
        return

    # --- what people see

    @abstractmethod
    def page(self, record: Record, notebook: str, graded: Mapping[str, Any] | None, penalty: float) -> str:
        """The feedback page of one notebook of a submission, as HTML.

        Args:
            record: of the submission.
            notebook: the name of the notebook.
            graded: the notebook, as it was graded; None where it could not be.
            penalty: what being late costs in this notebook, where `read_penalties` knows it.
        """

    def read_penalties(self, session: Session) -> Mapping[str, Mapping[str, float]]:
        """What being late costs in each notebook, by student and notebook, where that differs between notebooks."""
        return {}

    def written_files(self, student: str) -> dict[str, Path]:
        """Where the files of a graded submission go, in nbgrader's layout, by their names in records."""
        found = {}
        for ending, notebook in self.notebooks.items():
            found[f"autograded{ending}"] = self.course.autograded / student / self.name / f"{notebook}.ipynb"
            found[f"feedback{ending}"] = self.course.feedback / student / self.name / f"{notebook}.html"
        return found


def stable(text: str) -> str:
    """A message without what differs from run to run: addresses of objects, and the name of the sandbox's folder."""
    return _ADDRESS.sub("0x…", _BOX_FOLDER.sub("~", text))
