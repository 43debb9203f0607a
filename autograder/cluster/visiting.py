"""A lesson on a worker: the station that grades its submissions.

The course itself stays where it is. What its grades depend on comes as data, the secret in memory alone; what a worker
writes goes into a folder of its own and from there to the client.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.cluster.examining import Examined, examine_oneself, exercises_digest, why_not
from autograder.cluster.station import Station, StationRefused
from autograder.course.course import Course
from autograder.course.own_exercises import files_of_own
from autograder.course.semester import ExerciseTerms, Semester, Tolerance
from autograder.limits import Allowance, Limits
from course_lib.exercises import COURSE
from course_lib.exercises.catalogue import CONFIG_NAME, Catalogue

if TYPE_CHECKING:
    from autograder.cluster.parcels import Arrived
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
        sources: the files of that module and of what it imports from the course's folder, in base 64, by their places.
        min_level: the weakest boxes that will do; empty for what grading takes by itself.
        level: boxes of exactly this level; empty for the strongest that hold.
    """

    lesson: str
    release: Mapping[str, Any]
    cells: Mapping[str, str]
    limits: Mapping[str, Any]
    exercise_limits: Mapping[str, Mapping[str, Any]]
    tolerances: Mapping[str, tuple[float | None, float | None]]
    skip_demos: bool
    feedback: bool
    definitions: str
    module: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)
    min_level: str = ""
    level: str = ""

    @classmethod
    def of(cls, assignment: Assignment, min_level: str, level: str) -> Order:
        """The order to grade a lesson."""
        course = assignment.course
        own = course.exercises.folder is not None
        sources = files_of_own(course.exercises, assignment.lesson)
        return cls(
            lesson=assignment.lesson,
            release=assignment.release.notebook,
            cells=assignment.cells,
            limits=asdict(assignment.limits),
            exercise_limits={name: one.changes() for name, one in course.exercise_limits.items()},
            tolerances={name: (one.relative, one.absolute) for name, one in assignment.tolerances.items()},
            skip_demos=assignment.skip_demos,
            feedback=assignment.feedback,
            module=course.exercises.modules[assignment.lesson] if own else "",
            sources={name: base64.b64encode(content).decode() for name, content in sources},
            definitions=exercises_digest(assignment.exercises),
            min_level=min_level,
            level=level,
        )

    def pack(self) -> bytes:
        """As bytes."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def unpack(cls, content: bytes) -> Order:
        """From `pack`."""
        plain: dict[str, Any] = json.loads(content)
        return cls(**plain)


class LessonStation(Station):
    """Grades a lesson's submissions on a worker, with a fork server of its own.

    Args:
        name: of the run.
        order: from `Order.pack`.
        secret: the course's, from which the hidden inputs follow.
        client: what the client would grade with, from `Examined.pack`.
    """

    def __init__(self, name: str, order: bytes, secret: bytes, client: bytes) -> None:
        super().__init__(name)
        self._order = order
        self._secret = secret
        self._client = client

    def open(self, scratch: Path) -> None:
        """Examine this worker, and start a fork server."""
        order = Order.unpack(self._order)
        examined = examine_oneself(order.min_level, order.level)
        problem = why_not(examined, Examined.unpack(self._client))
        if problem:
            raise StationRefused(problem)
        import torch

        from autograder.box import Level
        from autograder.grading.batch import fork_server_of
        from autograder.grading.submission import AnswerKeys
        from autograder.grading.workers import LessonGrader, limit_own_memory

        limit_own_memory()
        torch.set_num_threads(1)  # as on one machine: a worker has one core
        self._resources = contextlib.ExitStack()
        lesson = self._assignment = _assignment(order, self._secret, scratch)
        if exercises_digest(lesson.exercises) != order.definitions:
            raise StationRefused("the exercises are others there; install the same versions there")
        fork_server = self._resources.enter_context(fork_server_of(lesson, Level[examined.level]))
        keys = AnswerKeys(self._secret, lesson.tolerances)
        self._grader = LessonGrader(lesson, fork_server, keys, self._read)
        self._grade = self._grader.start(0)

    def grade(self, task: bytes, notebook: bytes, kept: bytes) -> bytes:
        """Grade one submission."""
        from autograder.box.endings import ForkServerEnded
        from autograder.cluster import parcels
        from autograder.grading.plan import written_files
        from autograder.grading.workers import grade_watched

        lesson = self._assignment
        self._arrived = arrived = self._unpack(task)
        self._notebook = notebook
        files = written_files(lesson, arrived.task.student)
        try:
            if kept:
                files["autograded"].parent.mkdir(parents=True)
                files["autograded"].write_bytes(kept)
            try:
                finished = grade_watched(self._grader, self._grade, arrived.task)
            except ForkServerEnded:
                self._grader.fork_server.revive()
                finished = grade_watched(self._grader, self._grade, arrived.task)
            texts = {kind: files[kind].read_text(encoding="utf-8") for kind in finished.record.files}
            return parcels.pack_reply(finished, texts)
        finally:
            _empty(lesson.course.root)

    def close(self) -> None:
        """End the fork server."""
        self._resources.close()

    def _unpack(self, task: bytes) -> Arrived:
        from autograder.cluster import parcels
        from autograder.intake import timestamps

        lesson = self._assignment
        arrived = parcels.open_task(task, lesson.course.submitted, lesson.conditions)
        folder = lesson.course.submitted / arrived.task.student / lesson.lesson
        folder.mkdir(parents=True)
        if arrived.timestamp is not None:
            (folder / timestamps.NAME).write_text(arrived.timestamp, encoding="utf-8")
        return replace(arrived, task=replace(arrived.task, folder=folder))

    def _read(self, _task: object, _assignment: object) -> Submission:
        from autograder.intake.submission import read_notebook

        read = read_notebook(self._notebook)
        return replace(read, timestamp=self._arrived.timestamp or "", repairs=(*self._arrived.notes, *read.repairs))


@dataclass(frozen=True)
class Visited(Course):
    """A course whose secret is in memory alone."""

    held: bytes = field(repr=False, compare=False)

    def secret(self, make: bool = True) -> bytes:
        """32 random bytes from which hidden inputs are derived."""
        return self.held


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        shutil.rmtree(path)


def _assignment(order: Order, secret: bytes, folder: Path) -> Assignment:
    """The lesson as the client has it, in a course without files."""
    from autograder.grading.assignment import Assignment
    from autograder.repair import Release

    return Assignment(
        course=_course(order, secret, folder),
        lesson=order.lesson,
        release=Release(order.release),
        limits=Limits(**order.limits),
        skip_demos=order.skip_demos,
        feedback=order.feedback,
        cells=order.cells,
    )


def _course(order: Order, secret: bytes, folder: Path) -> Visited:
    """A course in an empty folder, with the settings of another."""
    root = folder / "course"
    root.mkdir()
    (root / CONFIG_NAME).touch()
    empty = Course.find(root)
    (root / CONFIG_NAME).unlink()
    terms = {name: ExerciseTerms(tolerance=Tolerance(*one)) for name, one in order.tolerances.items()}
    settings = {one.name: getattr(empty, one.name) for one in dataclasses.fields(Course)} | {
        "limits": Limits(**order.limits),
        "exercise_limits": {name: Allowance(**one) for name, one in order.exercise_limits.items()},
        "semester": Semester(exercises=terms),
        "exercises": COURSE,
    }
    if order.module:
        settings["exercises"] = Catalogue({order.lesson: order.module}, _unpacked(order.sources, folder / "exercises"))
    return Visited(**settings, held=secret)


def _unpacked(sources: Mapping[str, str], folder: Path) -> Path:
    """The folder, with the files of a course's own exercises in it."""
    for name, content in sources.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(content))
    return folder
