"""What goes to a worker and comes back: a submission to grade, and its result."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.gradebook.record import ExerciseRecord, Record


@dataclass(frozen=True)
class Task:
    """A submission to grade.

    Attributes:
        student: the student's id.
        folder: the submission's folder.
        digest: fingerprint of its contents.
        why: the reasons why it is graded, or graded again, a sentence each.
        judged: the exercises to grade; the others keep their results in `earlier`.
        earlier: the earlier record, or None.
    """

    student: str
    folder: Path
    digest: str
    why: tuple[str, ...]
    judged: frozenset[str]
    earlier: Record | None = None

    @property
    def before(self) -> dict[str, ExerciseRecord]:
        """The earlier results of its exercises, by id."""
        return {} if self.earlier is None else {one.exercise: one for one in self.earlier.exercises}

    def best_share(self, exercise: str) -> float:
        """Return the largest share of an exercise's points, from 0 to 1, that the same submission has had so far."""
        before = self.before.get(exercise)
        if self.earlier is None or self.earlier.digest != self.digest or before is None:
            return 0.0
        return max(before.stood, (before.points or 0.0) / before.max_points)


@dataclass(frozen=True)
class Finished:
    """A worker's result.

    Attributes:
        task: the task.
        record: the submission's new record.
        notebooks: the graded notebooks by name, without those that could not be graded.
        starved: whether a time limit was hit while the machine was busy.
    """

    task: Task
    record: Record
    notebooks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    starved: bool = False

    @property
    def unchanged(self) -> frozenset[str]:
        """The exercises that were not graded again."""
        return frozenset(one.exercise for one in self.record.exercises) - self.task.judged
