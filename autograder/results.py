"""What grading leaves behind: one result for each submission, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.checking import Exercise, Outcome, Verdict


@dataclass(frozen=True)
class ExerciseResult:
    """How one exercise of one submission ended.

    Attributes:
        exercise: the exercise's id.
        points: what it earned; None where it could not be graded, which is not zero.
        max_points: the most it could earn.
        outcome: the public name of how it ended.
        misconception: the id of the mistake, where it has a name.
    """

    exercise: str
    points: float | None
    max_points: int
    outcome: Outcome
    misconception: str | None = None

    @classmethod
    def of(cls, verdict: Verdict) -> ExerciseResult:
        """The result that a verdict stands for."""
        misconception = verdict.misconception.id if verdict.misconception else None
        return cls(verdict.exercise.id, verdict.points, verdict.max_points, verdict.outcome, misconception)


@dataclass(frozen=True)
class SubmissionResult:
    """One graded submission.

    Attributes:
        student: the student's id.
        lesson: the lesson.
        level: the level of the boxes it was graded in, such as "L2"; empty where no box was opened.
        exercises: one result for each exercise, in the lesson's order.
        repairs: what was mended in the notebook before it was graded, a sentence each.
        problem: why it is unreadable or ungraded; empty otherwise.
        seconds: wall-clock time that grading took.
    """

    student: str
    lesson: str
    level: str
    exercises: tuple[ExerciseResult, ...]
    repairs: tuple[str, ...] = ()
    problem: str = ""
    seconds: float = 0.0

    @classmethod
    def without_score(
        cls, student: str, lesson: str, exercises: Sequence[Exercise], outcome: Outcome, problem: str
    ) -> SubmissionResult:
        """The result of a submission that could not be graded: every exercise has no score."""
        results = tuple(ExerciseResult(exercise.id, None, exercise.points, outcome) for exercise in exercises)
        return cls(student, lesson, "", results, problem=problem)

    @property
    def points(self) -> float | None:
        """The sum of the points; None where no exercise has a score."""
        scores = [result.points for result in self.exercises if result.points is not None]
        return sum(scores) if scores else None

    @property
    def max_points(self) -> int:
        """The most that the exercises give."""
        return sum(result.max_points for result in self.exercises)

    def records(self) -> list[dict[str, Any]]:
        """One JSON record for each exercise."""
        return [
            {
                "student": self.student,
                "lesson": self.lesson,
                "exercise": result.exercise,
                "points": result.points,
                "max_points": result.max_points,
                "outcome": str(result.outcome),
                "misconception": result.misconception,
                "level": self.level,
                "repairs": list(self.repairs),
            }
            for result in self.exercises
        ]


@dataclass(frozen=True)
class ClassResult:
    """A graded class.

    Attributes:
        lesson: the lesson.
        boxes: one line that says in what boxes the answers ran.
        submissions: one result for each submission, sorted by student.
        seconds: wall-clock time of the whole run.
    """

    lesson: str
    boxes: str
    submissions: tuple[SubmissionResult, ...]
    seconds: float

    @property
    def grader_failed(self) -> bool:
        """Whether the grader itself failed on some submission."""
        return any(result.outcome is Outcome.UNGRADED for one in self.submissions for result in one.exercises)

    def records(self) -> list[dict[str, Any]]:
        """One JSON record for each student and exercise."""
        return [record for submission in self.submissions for record in submission.records()]
