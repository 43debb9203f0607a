"""Records: everything that grading a submission leaves behind, and everything that its grade depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.gradebook.deadlines.lateness import NOTHING_DUE, Lateness
from course_lib.judging.observation import Outcome

SET_ASIDE = "set aside by --force"
"""The reason why a record that is about to be replaced no longer counts."""


@dataclass(frozen=True)
class Conditions:
    """Everything that the grades of a lesson depend on, besides the submission and the exercise's definition.

    Attributes:
        release: fingerprint of the released notebook, without the exercises' own cells.
        seed: fingerprint of the secret that determines the hidden inputs.
        versions: of Python, of the packages that run answers and compare them, and of Katze: its code that grades
            ("checks"), and the modules that the lesson's own cells can reach ("library"). Katze's version number is
            only for people to read: a new one alone regrades nothing.
        settings: a sandbox's limits, the withheld modules, and whether cells tagged `demo` are left out.
    """

    release: str
    seed: str
    versions: Mapping[str, str]
    settings: Mapping[str, object]


@dataclass(frozen=True)
class CaseRecord:
    """The result of one case of an exercise.

    Attributes:
        name: what the case tests.
        part: the part of the exercise it belongs to.
        hidden: whether its inputs are hidden from students.
        outcome: the public name of its outcome.
        message: what the student reads; empty where it passed.
        seconds: wall-clock time of the call.
    """

    name: str
    part: str
    hidden: bool
    outcome: Outcome
    message: str
    seconds: float


@dataclass(frozen=True)
class ExerciseRecord:
    """The result of one exercise of a submission.

    Attributes:
        exercise: its id.
        cell: the grade_id of the cell that holds its points in nbgrader's tables.
        fingerprint: of its definition and its own cells in the release.
        seed: the first 63 bits of the seed of its hidden inputs: SQLite's integers hold no more.
        level: of the sandboxes it ran in, such as "L2"; empty if none was opened.
        outcome: the public name of its outcome.
        points: the points earned; None if it could not be graded, which is not zero.
        max_points: the maximum.
        misconception: the id of the mistake, if it was recognized.
        note: what the student reads about the answer as a whole, if no case explains it.
        cases: its cases in order; empty if the record was read without them.
        answer: digest of the answer's cells; empty if a version of Katze before digests graded it.
        worth_a_look: lines where the answer could hide a forbidden call; for instructors only.
        stood: the largest share of the points, from 0 to 1, that the same submission had in an earlier grading.
        adjustment: the course's decision about it in a sentence, once `points` and `max_points` include it.
        counts: whether it counts at all.
    """

    exercise: str
    cell: str
    fingerprint: str
    seed: int
    level: str
    outcome: Outcome
    points: float | None
    max_points: float
    misconception: str | None = None
    note: str = ""
    cases: tuple[CaseRecord, ...] = ()
    answer: str = ""
    worth_a_look: str = ""
    stood: float = 0.0
    adjustment: str = ""
    counts: bool = True

    @property
    def standing(self) -> Standing:
        """The part of the result that a regrade may change."""
        return Standing(self.outcome, self.points, self.misconception)

    def notebook(self, lesson: str) -> str:
        """Return the notebook that its cell is in: the lesson's, unless the exercise's id names another."""
        return self.exercise.removesuffix(f".{self.cell}") if self.exercise.endswith(f".{self.cell}") else lesson


@dataclass(frozen=True)
class Record:
    """A graded submission.

    Attributes:
        student: the student's id.
        lesson: the lesson.
        digest: fingerprint of the submission.
        notebook: SHA-256 of the notebook file; empty if it could not be read.
        handed_in: the time in nbgrader's `timestamp.txt`; empty if it has none.
        slot: which of the class's sets of hidden inputs the student got.
        conditions: what its grades depend on.
        exercises: one result per exercise, in the lesson's order.
        repairs: what was repaired, one sentence each.
        problem: why it could not be graded; empty otherwise.
        remarks: for the instructor, one per line: limits that were hit, cells that ended their sandbox, an invalid
            submission time.
        seconds: wall-clock time that grading took.
        files: the SHA-256 and size in bytes of each file written ("autograded", "feedback").
        void: why this record no longer counts; empty while it does.
        imports: the library names that its cells use and the lesson's do not, with a fingerprint of each.
        by_hand: its written answers, and all points and comments that people have given; these are stored in
            nbgrader's tables only, and empty unless read with it.
        adjustments: the course's decisions about its exercises, a sentence or two each, once the points include
            them.
        decided: the same in an instructor's words, for the whole class.
        lateness: how late it is by `course.toml`, if read with it.
        weight: the lesson's weight in a student's total, from `course.toml`.
        drop_lowest: how many of a student's lowest lessons do not count in the total.
        is_withdrawn: whether the submission has disappeared from the course's folder, if that was checked.
    """

    student: str
    lesson: str
    digest: str
    notebook: str
    handed_in: str
    slot: int
    conditions: Conditions
    exercises: tuple[ExerciseRecord, ...]
    repairs: tuple[str, ...] = ()
    problem: str = ""
    remarks: tuple[str, ...] = ()
    seconds: float = 0.0
    files: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    void: str = ""
    imports: Mapping[str, str] = field(default_factory=dict)
    by_hand: tuple[HandGrade, ...] = ()
    adjustments: tuple[str, ...] = ()
    decided: tuple[str, ...] = ()
    lateness: Lateness = NOTHING_DUE
    weight: float = 1.0
    drop_lowest: int = 0
    is_withdrawn: bool = False

    @property
    def level(self) -> str:
        """The level of the sandboxes it ran in, such as "L2"; empty if none was opened."""
        return max((one.level for one in self.exercises), default="")

    @property
    def points(self) -> float | None:
        """The sum of the automatic points; None if no exercise has a score, 0 if there are no exercises."""
        scores = [one.points for one in self.exercises if one.points is not None]
        return sum(scores) if scores or not (self.exercises or self.problem) else None

    @property
    def max_points(self) -> float:
        """The exercises' maximum points."""
        return sum(one.max_points for one in self.exercises)

    @property
    def earned(self) -> float | None:
        """All points, automatic and by hand, as nbgrader adds them up; None if there are neither."""
        if self.points is None and not any(cell.is_given for cell in self.by_hand):
            return None
        return (self.points or 0.0) + sum(cell.gained for cell in self.by_hand)

    @property
    def total(self) -> float | None:
        """The points earned minus the late penalty; never below 0, as in nbgrader's export."""
        return None if self.earned is None else max(0.0, self.earned - self.lateness.penalty)

    @property
    def most(self) -> float:
        """The maximum points, written answers included."""
        return self.max_points + sum(cell.max_points for cell in self.by_hand if cell.written)

    @property
    def max_total(self) -> float:
        """The maximum points without exercises that could not be graded and written answers nobody has read yet."""
        graded = self.max_points - sum(one.max_points for one in self.ungraded)
        return graded + sum(cell.max_points for cell in self.by_hand if cell.written and not cell.is_open)

    @property
    def ungraded(self) -> tuple[ExerciseRecord, ...]:
        """The exercises of a graded submission that could not be graded, and that no person has given points for."""
        given = {cell.cell for cell in self.by_hand if cell.points is not None}
        graded = self.points is not None
        return tuple(one for one in self.exercises if graded and one.points is None and one.cell not in given)

    @property
    def waiting(self) -> tuple[HandGrade, ...]:
        """The written answers that a person still has to read; empty if the submission was not graded."""
        return () if self.points is None else tuple(cell for cell in self.by_hand if cell.is_open)

    @property
    def changed(self) -> tuple[HandGrade, ...]:
        """The cells that have changed since a person gave points: the points count, but a person has to look again."""
        return tuple(cell for cell in self.by_hand if cell.is_changed)

    def in_json(self) -> list[dict[str, Any]]:
        """Return one JSON record per exercise."""
        return [
            {
                "student": self.student,
                "lesson": self.lesson,
                "exercise": one.exercise,
                "points": one.points,
                "max_points": one.max_points,
                "outcome": str(one.outcome),
                "misconception": one.misconception,
                "ruling": one.adjustment,
                "worth_a_look": one.worth_a_look.splitlines(),
                "level": self.level,
                "repairs": list(self.repairs),
                "problem": self.problem,
                "remarks": list(self.remarks),
                "total": {
                    "points": self.total,
                    "max_points": self.max_total,
                    "late_penalty": self.lateness.penalty,
                    "given_by_hand": sum(cell.gained for cell in self.by_hand if cell.is_given),
                    "waiting_by_hand": sum(cell.max_points for cell in self.waiting),
                    "changed_since_read": [cell.cell for cell in self.changed],
                },
            }
            for one in self.exercises
        ]


@dataclass(frozen=True)
class HandGrade:
    """A cell whose points a person gives or has changed in formgrader.

    Attributes:
        cell: its grade_id.
        written: whether only a person grades it: it is a written answer.
        automatic: the automatic score, or None.
        points: what a person gave instead, or None.
        extra_credit: what a person added, or None.
        max_points: the maximum without extra credit.
        waits: whether formgrader lists it for a person to look at.
        comment: what a person wrote to the student.
        notebook: its notebook, if the lesson has several; else empty.
        shared: what a person gave and out of how much, if the cell's maximum has changed since and `points` is
            scaled to the new one; else None.
        is_changed: whether a person gave points for an earlier text and has not seen the current one. The points
            still count.
    """

    cell: str
    written: bool
    automatic: float | None
    points: float | None
    extra_credit: float | None
    max_points: float
    waits: bool
    comment: str = ""
    notebook: str = ""
    shared: tuple[float, float] | None = None
    is_changed: bool = False

    @property
    def is_open(self) -> bool:
        """Return whether it is a written answer that nobody has read yet."""
        return self.written and self.waits and self.points is None

    @property
    def is_settled(self) -> bool:
        """Return whether it is a written answer that has points without a person: it is empty, or adjusted."""
        return self.written and self.automatic is not None and not self.waits

    @property
    def is_given(self) -> bool:
        """Return whether a person has given points."""
        return self.points is not None or bool(self.extra_credit)

    @property
    def given(self) -> float:
        """The points that a person gave, extra credit included."""
        return (self.points or 0.0) + (self.extra_credit or 0.0)

    @property
    def gained(self) -> float:
        """What it adds to the exercises' automatic points, so that the sum agrees with nbgrader's."""
        automatic = self.automatic or 0.0
        score = automatic if self.points is None else self.points
        return score - (0.0 if self.written else automatic) + (self.extra_credit or 0.0)


@dataclass(frozen=True)
class Standing:
    """The part of an exercise's result that a regrade may change."""

    outcome: Outcome
    points: float | None
    misconception: str | None = None


@dataclass(frozen=True)
class Change:
    """A change that a regrade made to one exercise of a submission.

    Attributes:
        exercise: its id.
        before: the earlier result; None if it had not been graded.
        after: the new result; None if the lesson no longer has the exercise.
    """

    exercise: str
    before: Standing | None
    after: Standing | None
