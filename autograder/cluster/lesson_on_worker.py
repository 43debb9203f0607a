"""A lesson on a worker. What its grades depend on comes as data, the secret in memory alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.cluster.examining import Examined, exercises_digest
from autograder.cluster.grading_on_worker import GradingOnWorker, empty_course
from autograder.cluster.worker import WorkerRefused
from autograder.course.course import Course
from autograder.course.own_exercises import files_of_own
from autograder.course.semester import ExerciseTerms, Semester, Tolerance
from autograder.limits import Allowance, Limits
from course_lib.exercises import COURSE
from course_lib.exercises.catalogue import Catalogue

if TYPE_CHECKING:
    from autograder.cluster.messages import Opened
    from autograder.grading.assignment import Assignment
    from autograder.grading.strategy import Strategy
    from autograder.intake.submission import Submission


@dataclass(frozen=True)
class Order:
    """What the grades of a lesson depend on, as plain data.

    Attributes:
        lesson: the lesson's folder name.
        release: its released notebook.
        cells: for each exercise, the grade_id of its check cell.
        limits: of a submission.
        exercise_limits: what single exercises may use instead, by id.
        tolerances: how near to the reference answers must be, by exercise: relative and absolute.
        skip_demos: leave out cells tagged `demo`.
        feedback: write feedback pages.
        definitions: the digest of its exercises.
        module: with exercises of the course's own, for this lesson; empty where they are course_lib's.
        sources: the files of that module and of what it imports from the course's folder, by their places.
        min_level: the weakest boxes that will do; empty for what grading takes by itself.
        level: boxes of exactly this level; empty for the strongest that hold.
    """

    lesson: str
    release: Mapping[str, Any]
    cells: Mapping[str, str]
    limits: Limits
    exercise_limits: Mapping[str, Allowance]
    tolerances: Mapping[str, Tolerance]
    skip_demos: bool
    feedback: bool
    definitions: str
    module: str = ""
    sources: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    min_level: str = ""
    level: str = ""

    @classmethod
    def of(cls, assignment: Assignment, min_level: str, level: str) -> Order:
        """The order to grade a lesson."""
        course = assignment.course
        own = course.exercises.folder is not None
        terms = {exercise.id: course.semester.exercise(exercise.id).tolerance for exercise in assignment.exercises}
        return cls(
            lesson=assignment.lesson,
            release=assignment.release.notebook,
            cells=assignment.cells,
            limits=assignment.limits,
            exercise_limits=course.exercise_limits,
            tolerances={name: one for name, one in terms.items() if one is not None},
            skip_demos=assignment.skip_demos,
            feedback=assignment.feedback,
            module=course.exercises.modules[assignment.lesson] if own else "",
            sources=dict(files_of_own(course.exercises, assignment.lesson)),
            definitions=exercises_digest(assignment.exercises),
            min_level=min_level,
            level=level,
        )


class LessonOnWorker(GradingOnWorker):
    """Grades a lesson's submissions.

    Args:
        name: of the run.
        order: what the lesson's grades depend on.
        secret: the course's, from which the hidden inputs follow.
        client: what the client would grade with.
    """

    def __init__(self, name: str, order: Order, secret: bytes, client: Examined) -> None:
        super().__init__(name, order.min_level, order.level, client)
        self._order = order
        self._secret = secret

    def make_strategy(self, scratch: Path) -> Strategy:
        """How the lesson is graded, by the same exercises."""
        from autograder.grading.exercise_strategy import ExerciseStrategy

        lesson = _assignment(self._order, self._secret, scratch)
        if exercises_digest(lesson.exercises) != self._order.definitions:
            raise WorkerRefused("the exercises are others there; install the same versions there")
        return ExerciseStrategy(lesson, self._read)

    def lay_out(self, opened: Opened, handed_in: bytes, kept: bytes) -> None:
        """Write the time and the notebook of before; the notebook itself stays bytes until it is read."""
        from autograder.intake import timestamps

        self._opened, self._notebook = opened, handed_in
        if opened.timestamp is not None:
            (opened.task.folder / timestamps.NAME).write_text(opened.timestamp, encoding="utf-8")
        if kept:
            path = self.strategy.written_files(opened.task.student)["autograded"]
            path.parent.mkdir(parents=True)
            path.write_bytes(kept)

    def _read(self, _task: object) -> Submission:
        from autograder.intake.submission import read_notebook

        read = read_notebook(self._notebook)
        return replace(read, timestamp=self._opened.timestamp or "", repairs=(*self._opened.notes, *read.repairs))


@dataclass(frozen=True)
class CourseOnWorker(Course):
    """A course whose secret is in memory alone."""

    held: bytes = field(repr=False, compare=False)

    def secret(self, make: bool = True) -> bytes:
        """32 random bytes from which hidden inputs are derived."""
        return self.held


def _assignment(order: Order, secret: bytes, folder: Path) -> Assignment:
    """The lesson as the client has it, in a course without files."""
    from autograder.grading.assignment import Assignment
    from autograder.repair import Release

    return Assignment(
        course=_course(order, secret, folder),
        lesson=order.lesson,
        release=Release(order.release),
        limits=order.limits,
        skip_demos=order.skip_demos,
        feedback=order.feedback,
        cells=order.cells,
    )


def _course(order: Order, secret: bytes, folder: Path) -> CourseOnWorker:
    """A course in an empty folder, with the settings of another."""
    empty = empty_course(folder)
    terms = {name: ExerciseTerms(tolerance=one) for name, one in order.tolerances.items()}
    settings = {one.name: getattr(empty, one.name) for one in dataclasses.fields(Course)} | {
        "limits": order.limits,
        "exercise_limits": order.exercise_limits,
        "semester": Semester(exercises=terms),
        "exercises": COURSE,
    }
    if order.module:
        own = folder / "exercises"
        for name, content in order.sources.items():
            (own / name).parent.mkdir(parents=True, exist_ok=True)
            (own / name).write_bytes(content)
        settings["exercises"] = Catalogue({order.lesson: order.module}, own)
    return CourseOnWorker(**settings, held=secret)
