"""A lesson on a worker, which grades its submissions.

The course itself stays where it is. What its grades depend on comes as data, the secret in memory alone; what a worker
writes goes into a folder of its own and from there to the client.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.cluster.examining import Examined, examine_oneself, exercises_digest, why_not
from autograder.cluster.worker import RunOnWorker, WorkerRefused
from autograder.course.course import Course
from autograder.course.own_exercises import files_of_own
from autograder.course.semester import ExerciseTerms, Semester, Tolerance
from autograder.limits import Allowance, Limits
from course_lib.exercises import COURSE
from course_lib.exercises.catalogue import CONFIG_NAME, Catalogue

if TYPE_CHECKING:
    from autograder.grading.assignment import Assignment
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


class LessonOnWorker(RunOnWorker):
    """Grades a lesson's submissions on a worker, with a fork server of its own.

    Args:
        name: of the run.
        order: what the lesson's grades depend on.
        secret: the course's, from which the hidden inputs follow.
        client: what the client would grade with.
    """

    def __init__(self, name: str, order: Order, secret: bytes, client: Examined) -> None:
        super().__init__(name)
        self._order = order
        self._secret = secret
        self._client = client

    def open(self, scratch: Path) -> None:
        """Examine this worker, and start a fork server."""
        order = self._order
        examined = examine_oneself(order.min_level, order.level)
        problem = why_not(examined, self._client)
        if problem:
            raise WorkerRefused(problem)
        import torch

        from autograder.box.confinement.levels import Level
        from autograder.grading.exercise_strategy import ExerciseStrategy
        from autograder.grading.workers import limit_own_memory

        limit_own_memory()
        torch.set_num_threads(1)  # as on one machine: a worker has one core
        self._resources = contextlib.ExitStack()
        lesson = self._assignment = _assignment(order, self._secret, scratch)
        if exercises_digest(lesson.exercises) != order.definitions:
            raise WorkerRefused("the exercises are others there; install the same versions there")
        self._strategy = ExerciseStrategy(lesson, self._read)
        fork_server = self._strategy.make_fork_server(Level[examined.level])
        self._fork_server = self._resources.enter_context(fork_server)
        self._grade = self._strategy.begin(self._fork_server, 0)

    def grade(self, task: bytes, notebook: bytes, kept: bytes) -> bytes:
        """Grade one submission."""
        from autograder.box.endings import ForkServerEnded
        from autograder.cluster import messages
        from autograder.grading.workers import grade_watched
        from autograder.intake import timestamps

        lesson = self._assignment
        opened = self._opened = messages.open_task(task, lesson.course.submitted, lesson.conditions)
        self._notebook = notebook
        student = opened.task.student
        task_here = replace(opened.task, folder=lesson.course.submitted / student / lesson.lesson)
        task_here.folder.mkdir(parents=True)
        if opened.timestamp is not None:
            (task_here.folder / timestamps.NAME).write_text(opened.timestamp, encoding="utf-8")
        files = self._strategy.written_files(student)
        try:
            if kept:
                files["autograded"].parent.mkdir(parents=True)
                files["autograded"].write_bytes(kept)
            try:
                finished = grade_watched(self._strategy, self._grade, task_here)
            except ForkServerEnded:
                self._fork_server.revive()
                finished = grade_watched(self._strategy, self._grade, task_here)
            texts = {kind: files[kind].read_text(encoding="utf-8") for kind in finished.record.files}
            return messages.pack_reply(finished, texts)
        finally:
            for folder in lesson.course.root.iterdir():
                shutil.rmtree(folder)

    def close(self) -> None:
        """End the fork server."""
        self._resources.close()

    def _read(self, _task: object, _assignment: object) -> Submission:
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
    root = folder / "course"
    root.mkdir()
    (root / CONFIG_NAME).touch()
    empty = Course.find(root)
    (root / CONFIG_NAME).unlink()
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
