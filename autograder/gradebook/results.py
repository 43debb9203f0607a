"""What grading leaves behind: one result for each submission, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.gradebook.record import Change, HandGrade, Record, Standing
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
        remarks: for the instructor: the limits that were hit, the cells that ended their box, and a time of handing in
            that is none; a line each.
        by_hand: its written answers, and all that a person has given or written in nbgrader's tables.
        seconds: wall-clock time that grading took.
    """

    student: str
    lesson: str
    level: str
    exercises: tuple[ExerciseResult, ...]
    repairs: tuple[str, ...] = ()
    problem: str = ""
    remarks: tuple[str, ...] = ()
    by_hand: tuple[HandGrade, ...] = ()
    seconds: float = 0.0

    @classmethod
    def without_score(
        cls, student: str, lesson: str, exercises: Sequence[Exercise], outcome: Outcome, problem: str
    ) -> SubmissionResult:
        """The result of a submission that could not be graded: every exercise has no score."""
        results = tuple(ExerciseResult(exercise.id, None, exercise.points, outcome) for exercise in exercises)
        return cls(student, lesson, "", results, problem=problem)

    @classmethod
    def recorded(cls, record: Record) -> SubmissionResult:
        """The result that a record stands for."""
        results = tuple(
            ExerciseResult(one.exercise, one.points, one.max_points, one.outcome, one.misconception)
            for one in record.exercises
        )
        level = max((one.level for one in record.exercises), default="")
        return cls(
            record.student,
            record.lesson,
            level,
            results,
            record.repairs,
            record.problem,
            record.remarks,
            seconds=record.seconds,
        )

    @property
    def points(self) -> float | None:
        """The sum of the automatic points; None where no exercise has a score."""
        scores = [result.points for result in self.exercises if result.points is not None]
        return sum(scores) if scores else None

    @property
    def max_points(self) -> int:
        """The most that the exercises give."""
        return sum(result.max_points for result in self.exercises)

    @property
    def total(self) -> float | None:
        """All points, automatic and by hand, as nbgrader adds them up; None where there are none of either kind."""
        if self.points is None and not any(cell.is_given for cell in self.by_hand):
            return None
        return (self.points or 0.0) + sum(cell.gained for cell in self.by_hand)

    @property
    def max_total(self) -> float:
        """The most that everything gives but the written answers that nobody has read yet."""
        return self.max_points + sum(cell.max_points for cell in self.by_hand if cell.written and not cell.is_open)

    @property
    def waiting(self) -> tuple[HandGrade, ...]:
        """The written answers that a person has to read; those of a submission that was graded."""
        return () if self.points is None else tuple(cell for cell in self.by_hand if cell.is_open)

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
                "problem": self.problem,
                "remarks": list(self.remarks),
                "total": {
                    "points": self.total,
                    "max_points": self.max_total,
                    "given_by_hand": sum(cell.gained for cell in self.by_hand if cell.is_given),
                    "waiting_by_hand": sum(cell.max_points for cell in self.waiting),
                },
            }
            for result in self.exercises
        ]


@dataclass(frozen=True)
class Grading:
    """That a run has graded a submission, and what came of it.

    Attributes:
        why: why it was graded, or graded again; a sentence each.
        changes: what is other than when it was last graded; empty where it never was.
        first: whether it was graded for the first time.
    """

    why: tuple[str, ...]
    changes: tuple[Change, ...] = ()
    first: bool = True


@dataclass(frozen=True)
class ClassResult:
    """A graded class.

    Attributes:
        lesson: the lesson.
        boxes: one line that says in what boxes the answers ran; empty where none did.
        submissions: one result for each submission, sorted by student.
        seconds: wall-clock time of the whole run.
        gradings: for each student whose submission this run has graded, why and what changed; that of others stands
            as an earlier run has recorded it.
        refused: the submissions that were passed over, for their folder's name is no student's id; they are in no
            gradebook.
        pages: the students whose feedback page was written anew because a person has given points or a comment.
        replaced_pages: those whose page was written anew because another program had put its own in its place.
        stale_pages: those whose page could not be, because their notebook in autograded/ is not what was written.
    """

    lesson: str
    boxes: str
    submissions: tuple[SubmissionResult, ...]
    seconds: float
    gradings: Mapping[str, Grading] = field(default_factory=dict)
    refused: tuple[SubmissionResult, ...] = ()
    pages: tuple[str, ...] = ()
    replaced_pages: tuple[str, ...] = ()
    stale_pages: tuple[str, ...] = ()

    @property
    def grader_failed(self) -> bool:
        """Whether the grader itself failed on some submission."""
        return any(result.outcome is Outcome.UNGRADED for one in self.submissions for result in one.exercises)

    def records(self) -> list[dict[str, Any]]:
        """One JSON record for each student and exercise; `before` where a regrade has changed it.

        Who was passed over is among them, unreadable, under the name of the folder as it can be shown.
        """
        records = []
        for submission in (*self.submissions, *self.refused):
            grading = self.gradings.get(submission.student)
            changes = {} if grading is None else {change.exercise: change for change in grading.changes}
            for record in submission.records():
                change = changes.get(record["exercise"])
                before = None if change is None or change.before is None else _standing(change.before)
                why = [] if grading is None else list(grading.why)
                records.append({**record, "graded_now": grading is not None, "why": why, "before": before})
        return records


def _standing(standing: Standing) -> dict[str, Any]:
    return {
        "points": standing.points,
        "outcome": str(standing.outcome),
        "misconception": standing.misconception,
    }
