"""Grades a lesson on a worker. All that its grades depend on arrives as data; the secret is kept only in memory."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.cluster.examining import Examined, exercises_digest
from autograder.cluster.grading_on_worker import GradingOnWorker, Levels, empty_course, write_files
from autograder.cluster.worker import WorkerRefused
from autograder.course.course import Course
from autograder.course.own_exercises import files_of_own
from autograder.course.semester import ExerciseTerms, Semester
from autograder.repair import Release
from course_lib.exercises import COURSE
from course_lib.exercises.catalogue import Catalogue

if TYPE_CHECKING:
    from autograder.cluster.messages import Opened
    from autograder.grading.exercise_strategy import ExerciseStrategy
    from autograder.grading.strategy import Strategy
    from autograder.intake.submission import Submission


class LessonOnWorker(GradingOnWorker):
    """Grades a lesson's submissions on a worker; the course's secret gives the hidden inputs."""

    def __init__(self, name: str, strategy: ExerciseStrategy, levels: Levels, client: Examined) -> None:
        """Collect everything that the lesson's grades depend on."""
        super().__init__(name, levels, client)
        assignment, course, lesson = strategy.assignment, strategy.course, strategy.name
        tolerances = {exercise.id: course.semester.exercise(exercise.id).tolerance for exercise in assignment.exercises}
        terms = {
            exercise: ExerciseTerms(tolerance=tolerance) for exercise, tolerance in tolerances.items() if tolerance
        }
        is_own = course.exercises.folder is not None
        self._course: dict[str, Any] = {
            "limits": course.limits,
            "exercise_limits": course.exercise_limits,
            "semester": Semester(exercises=terms),
            "exercises": Catalogue({lesson: course.exercises.modules[lesson]}) if is_own else COURSE,
        }
        self._lesson: dict[str, Any] = {
            "lesson": lesson,
            "release": Release(assignment.release.notebook),
            "skip_demos": assignment.skip_demos,
            "feedback": assignment.feedback,
            "cells": assignment.cells,
        }
        self._definitions = exercises_digest(assignment.exercises)
        self._sources = dict(files_of_own(course.exercises, lesson))
        self._secret = course.secret()

    def make_strategy(self, scratch: Path) -> Strategy:
        """Return the strategy to grade the lesson, and require the same exercises as the client's."""
        from autograder.grading.assignment import Assignment
        from autograder.grading.exercise_strategy import ExerciseStrategy

        empty = empty_course(scratch)
        settings = {setting.name: getattr(empty, setting.name) for setting in fields(Course)} | self._course
        if self._sources:
            write_files(self._sources, scratch / "exercises")
            settings["exercises"] = replace(settings["exercises"], folder=scratch / "exercises")
        lesson = Assignment(course=CourseOnWorker(**settings, held=self._secret), **self._lesson)
        if exercises_digest(lesson.exercises) != self._definitions:
            raise WorkerRefused("the exercises are different there; install the same versions there")
        return ExerciseStrategy(lesson, self._read)

    def lay_out(self, opened: Opened) -> None:
        """Write the timestamp and the earlier notebook; the submitted notebook stays bytes until it is read."""
        from autograder.intake import timestamps

        self._opened = opened
        if opened.timestamp is not None:
            (opened.task.folder / timestamps.NAME).write_text(opened.timestamp, encoding="utf-8")
        if opened.kept:
            path = self.strategy.written_files(opened.task.student)["autograded"]
            path.parent.mkdir(parents=True)
            path.write_bytes(opened.kept)

    def _read(self, _task: object) -> Submission:
        from autograder.intake.submission import read_notebook

        read = read_notebook(self._opened.handed_in)
        return replace(read, timestamp=self._opened.timestamp or "", repairs=(*self._opened.notes, *read.repairs))


@dataclass(frozen=True)
class CourseOnWorker(Course):
    """A course whose secret is only in memory."""

    held: bytes = field(repr=False, compare=False)

    def secret(self, make: bool = True) -> bytes:
        """Return the 32 random bytes from which hidden inputs are derived."""
        return self.held
