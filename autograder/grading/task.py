"""A submission to grade, and what came of it: what goes to a worker and comes back."""

from __future__ import annotations

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
        folder: where the submission lies.
        digest: fingerprint of what is in it.
        why: why it is graded, or graded again; a sentence each.
        judged: the exercises whose answers are to be judged; the others keep what `earlier` says of them.
        earlier: the record of before; None where there is none.
    """

    student: str
    folder: Path
    digest: str
    why: tuple[str, ...]
    judged: frozenset[str]
    earlier: Record | None = None

    @property
    def before(self) -> dict[str, ExerciseRecord]:
        """What was recorded of its exercises, by id."""
        return {} if self.earlier is None else {one.exercise: one for one in self.earlier.exercises}

    def best_share(self, exercise: str) -> float:
        """The largest share of an exercise's points that the same submission has had until now, from 0 to 1."""
        before = self.before.get(exercise)
        if self.earlier is None or self.earlier.digest != self.digest or before is None:
            return 0.0
        return max(before.stood, (before.points or 0.0) / before.max_points)


@dataclass(frozen=True)
class Finished:
    """What a worker hands back.

    Attributes:
        task: what it was to do.
        record: what came of it.
        notebooks: the graded notebooks, by name; one that could not be graded is missing.
        starved: whether a time limit was hit while the machine was busy.
    """

    task: Task
    record: Record
    notebooks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    starved: bool = False

    @property
    def unchanged(self) -> frozenset[str]:
        """The exercises that were not judged anew."""
        return frozenset(one.exercise for one in self.record.exercises) - self.task.judged
