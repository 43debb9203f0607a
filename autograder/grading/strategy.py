"""What the engine needs from an assignment. Only this knows its kind: Katze's exercises (`exercise_strategy.py`) or
nbgrader's test cells (`plain/strategy.py`).
"""

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
from course_lib.judging.observation import Outcome

Tell = Callable[[str], None]
"""Takes a line for the instructor."""

_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
_BOX_FOLDER = re.compile(r"/[^\s'\"]*/katze-box-\w+(?:/boxes/\w+)?")


class Strategy(ABC):
    """An assignment as graded in one run.

    Attributes:
        course: the course; its limits are those of each notebook of a submission.
        name: the assignment's folder name.
        feedback: whether to write feedback pages.
        promise: a line about the sandboxes before anything runs; may be empty.
        notebooks: the notebooks of a submission, by the ending of their files' names in records.
        other_release: what to say if the release has changed.
        notices: lines for the instructor about the course's settings.
    """

    promise = ""
    notebooks: Mapping[str, str]
    other_release = "the released notebook has changed"
    notices: Collection[str] = ()

    def __init__(self, course: Course, name: str, feedback: bool) -> None:
        self.course = course
        self.name = name
        self.feedback = feedback

    # --- what is to be done

    @property
    @abstractmethod
    def conditions(self) -> Conditions:
        """The conditions that its grades depend on, besides submissions and exercises."""

    @property
    @abstractmethod
    def exercises(self) -> frozenset[str]:
        """The ids of everything that is graded in it."""

    @property
    def adjustments(self) -> Adjustments:
        """The course's decisions about its exercises."""
        return {}

    def find_changes(self, record: Record) -> Iterator[str]:
        """Yield reasons of this kind of assignment to grade a whole submission again."""
        return iter(())

    def find_redefined(self, record: Record) -> dict[str, str]:
        """Return the exercises that have changed since they were graded, or are new, each with the reason."""
        return {}

    def arrange(self, tasks: Iterable[Task]) -> list[Task]:
        """Return the tasks by their set of hidden inputs: a worker keeps the keys of one set."""
        return sorted(tasks, key=lambda task: self.slot(task.student))

    # --- how it is run and judged

    @abstractmethod
    def make_fork_server(self, level: Level, channels: int = 1, root: BoxRoot | None = None) -> ForkServer:
        """Make the fork server, with a channel for each worker; `root` may hold one started early."""

    def rehearse(self, fork_server: ForkServer, tell: Tell) -> None:
        """Try out whatever can be tried in a sandbox before grading begins."""
        return

    @abstractmethod
    def begin(self, fork_server: ForkServer, channel: int) -> Callable[[Task], Finished]:
        """Return the function that grades a task; called once in each worker, which owns this channel."""

    # --- its records

    @abstractmethod
    def make_unscored(self, task: Task, outcome: Outcome, problem: str) -> tuple[ExerciseRecord, ...]:
        """Return records of all its exercises without a score."""

    def slot(self, student: str) -> int:
        """Return which of the class's sets of hidden inputs a student gets; 0 if there are none."""
        return 0

    def make_record(
        self, task: Task, exercises: tuple[ExerciseRecord, ...], problem: str = "", remarks: Sequence[str] = ()
    ) -> Record:
        """Make the record of a submission. What was read and written is added later.

        Args:
            task: the submission.
            exercises: the results.
            problem: why it could not be graded.
            remarks: for the instructor only; a fault in the submission's `timestamp.txt` is added.
        """
        return Record(
            student=task.student,
            lesson=self.name,
            digest=task.digest,
            notebook="",
            handed_in=timestamps.stated_in(task.folder),
            slot=self.slot(task.student),
            conditions=self.conditions,
            exercises=exercises,
            problem=stable(problem),
            remarks=tuple(map(stable, filter(None, [*remarks, timestamps.fault(task.folder)]))),
        )

    def give_up(self, task: Task, problem: str, outcome: Outcome = Outcome.UNGRADED) -> Finished:
        """Return the result for a submission that the grader itself failed on: `ungraded`, no score."""
        record = self.make_record(task, self.make_unscored(task, outcome, problem), problem)
        return Finished(replace(task, judged=self.exercises), record)

    def pass_over(self, student: str, why: str) -> Record:
        """Return the record of a submission skipped because its folder's name is not a student id."""
        exercises = self.make_unscored(Task(student, Path(), "", (), self.exercises), Outcome.UNREADABLE, "")
        return Record(student, self.name, "", "", "", self.slot(student), self.conditions, exercises, problem=why)

    # --- how it is recorded

    @abstractmethod
    def open_gradebook(self, book: GradebookSession) -> list[str]:
        """Prepare nbgrader's tables for its grades; return lines for the instructor."""

    def recount(self, run: int) -> list[str]:
        """Apply the adjustments to existing scores; return the changes, a line each."""
        return []

    @abstractmethod
    def set_aside(self, run: int, students: Collection[str], why: str) -> None:
        """Stop counting these students' grades until they are graded again."""

    @abstractmethod
    def save(self, run: int, finished: Finished) -> tuple[Change, ...]:
        """Write one graded submission in one transaction; return the changes since it was last recorded."""

    def conclude(self, students: Collection[str]) -> None:
        """Write what depends on these students' grades, which have all been recorded."""
        return

    # --- what people see

    @abstractmethod
    def page(self, record: Record, notebook: str, graded: Mapping[str, Any] | None, penalty: float) -> str:
        """Return the feedback page of one notebook of a submission, as HTML.

        Args:
            record: of the submission.
            notebook: the name of the notebook.
            graded: the graded notebook; None if it could not be graded.
            penalty: the late penalty in this notebook, from `read_penalties`.
        """

    def read_penalties(self, session: Session) -> Mapping[str, Mapping[str, float]]:
        """Return the late penalty of each notebook, by student and notebook, if it differs between notebooks."""
        return {}

    def written_files(self, student: str) -> dict[str, Path]:
        """Return the paths of a graded submission's files in nbgrader's layout, by their names in records."""
        found = {}
        for ending, notebook in self.notebooks.items():
            found[f"autograded{ending}"] = self.course.autograded / student / self.name / f"{notebook}.ipynb"
            found[f"feedback{ending}"] = self.course.feedback / student / self.name / f"{notebook}.html"
        return found


def stable(text: str) -> str:
    """Return a message without what differs from run to run: addresses of objects, and the sandbox's folder."""
    return _ADDRESS.sub("0x…", _BOX_FOLDER.sub("~", text))
