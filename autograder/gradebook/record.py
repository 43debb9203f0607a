"""One record: all that grading a submission leaves behind, with everything that its grade depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.gradebook.deadlines.lateness import NOTHING_DUE, Lateness
from course_lib.judging.observation import Outcome

SET_ASIDE = "set aside by --force"
"""Why a record that is about to be replaced no longer counts."""


@dataclass(frozen=True)
class Conditions:
    """What every grade of a lesson depends on, besides the submission and the exercise's definition.

    Attributes:
        release: fingerprint of the released notebook, without the cells that are an exercise's own.
        seed: fingerprint of the secret from which the hidden inputs follow.
        versions: of Python, of the packages that run answers and compare them, and of Katze: its code that grades
            ("checks"), and the modules that the lesson's own cells can reach ("library"). Katze's version is among
            them for people to read: nothing follows from it.
        settings: the limits of a sandbox, which modules are withheld, and whether cells tagged `demo` are left out.
    """

    release: str
    seed: str
    versions: Mapping[str, str]
    settings: Mapping[str, object]


@dataclass(frozen=True)
class CaseRecord:
    """One case of an exercise, as it was called and compared.

    Attributes:
        name: what it shows.
        part: the part of the exercise that it belongs to.
        hidden: whether its inputs stay with the grader.
        outcome: the public name of how it ended.
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
    """One exercise of one submission.

    Attributes:
        exercise: its id.
        cell: the grade_id of the cell that holds its points in nbgrader's tables.
        fingerprint: of its definition, and of its own cells in the release.
        seed: the first 63 bits of that of its hidden inputs, as many as a number in SQLite has.
        level: of the sandboxes it was judged in, such as "L2"; empty where no sandbox was opened.
        outcome: the public name of how it ended.
        points: what it earned; None where it could not be graded, which is not zero.
        max_points: the most it could earn.
        misconception: the id of the mistake, where it has a name.
        note: what the student reads about the whole answer, where no case explains it.
        cases: its cases, in order; empty where the record was read without them.
        answer: digest of what the answer's cells say (`answers.py`); empty where no Katze that knew one graded it.
        worth_a_look: where its answer could hide a call of what its rule forbids, a line each; for instructors alone.
        stood: the largest share of the points that it had before the same submission was graded again, from 0 to 1.
        adjustment: what the course has decided about it, in a sentence, once that is in `points` and `max_points`.
        counts: whether it counts for anybody.
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
        """What a regrade may change."""
        return Standing(self.outcome, self.points, self.misconception)

    def notebook(self, lesson: str) -> str:
        """The notebook that its cell is in: the lesson's, unless its id says so, as it does where there are several."""
        return self.exercise.removesuffix(f".{self.cell}") if self.exercise.endswith(f".{self.cell}") else lesson


@dataclass(frozen=True)
class Record:
    """One graded submission.

    Attributes:
        student: the student's id.
        lesson: the lesson.
        digest: fingerprint of what was handed in.
        notebook: SHA-256 of the notebook's file; empty where it could not be read.
        handed_in: when, according to nbgrader's `timestamp.txt`; empty if it does not say.
        slot: which of the class's sets of hidden inputs the student got.
        conditions: what its grades depend on.
        exercises: one for each exercise, in the lesson's order.
        repairs: what was repaired, a sentence each.
        problem: why it could not be graded; empty otherwise.
        remarks: for the instructor: the limits that were hit, the cells that ended their sandbox, and an invalid
            submission time; one per line.
        seconds: wall-clock time that grading took.
        files: for each file that was written ("autograded", "feedback") its SHA-256 and its size in bytes.
        void: why this record no longer counts; empty while it does.
        imports: what its own cells name of the library beside the lesson's cells, with a fingerprint of each.
        by_hand: its written answers, and all that a person has given or written, where that was read with it: it is
            recorded in nbgrader's tables alone.
        adjustments: what the course has decided about its exercises, a sentence or two each, once that is in their
            points.
        decided: the same for the instructor, about everyone.
        lateness: whether it met its deadline, where that was read with it: it follows from `course.toml`.
        weight: how much the lesson counts in a student's total; by `course.toml`, as `lateness` is.
        drop_lowest: how many of a student's lessons, the lowest, do not count in it.
        is_withdrawn: whether the submission is gone from where it was handed in, where that was looked for.
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
        """The level of the sandboxes it was graded in, such as "L2"; empty where no sandbox was opened."""
        return max((one.level for one in self.exercises), default="")

    @property
    def points(self) -> float | None:
        """The sum of the automatic points; None where no exercise has a score, 0 where there is none to have one."""
        scores = [one.points for one in self.exercises if one.points is not None]
        return sum(scores) if scores or not (self.exercises or self.problem) else None

    @property
    def max_points(self) -> float:
        """The most that the exercises give."""
        return sum(one.max_points for one in self.exercises)

    @property
    def earned(self) -> float | None:
        """All points, automatic and by hand, as nbgrader adds them up; None where there are none of either kind."""
        if self.points is None and not any(cell.is_given for cell in self.by_hand):
            return None
        return (self.points or 0.0) + sum(cell.gained for cell in self.by_hand)

    @property
    def total(self) -> float | None:
        """What was earned, less what is lost by being late; never below 0, as nbgrader's export has it."""
        return None if self.earned is None else max(0.0, self.earned - self.lateness.penalty)

    @property
    def most(self) -> float:
        """The most that everything gives, written answers included."""
        return self.max_points + sum(cell.max_points for cell in self.by_hand if cell.written)

    @property
    def max_total(self) -> float:
        """The most that everything gives, except exercises that could not be graded, and written answers that nobody
        has read yet.
        """
        graded = self.max_points - sum(one.max_points for one in self.ungraded)
        return graded + sum(cell.max_points for cell in self.by_hand if cell.written and not cell.is_open)

    @property
    def ungraded(self) -> tuple[ExerciseRecord, ...]:
        """The exercises that could not be graded in a submission that was, and for which no person has given points."""
        given = {cell.cell for cell in self.by_hand if cell.points is not None}
        graded = self.points is not None
        return tuple(one for one in self.exercises if graded and one.points is None and one.cell not in given)

    @property
    def waiting(self) -> tuple[HandGrade, ...]:
        """The written answers that a person has to read; those of a submission that was graded."""
        return () if self.points is None else tuple(cell for cell in self.by_hand if cell.is_open)

    @property
    def changed(self) -> tuple[HandGrade, ...]:
        """What has changed since a person read it and gave points, which count: a person has to read it again."""
        return tuple(cell for cell in self.by_hand if cell.is_changed)

    def in_json(self) -> list[dict[str, Any]]:
        """One JSON record for each exercise."""
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
    """A cell whose points a person gives, or has changed, in nbgrader's tables.

    Attributes:
        cell: its grade_id.
        written: whether it is graded by a person alone, as a written answer is, and not an exercise's.
        automatic: the automatic score; None where there is none.
        points: what a person has given in its place; None where nobody has.
        extra_credit: what a person has added.
        max_points: the most it can earn without that.
        waits: whether nbgrader lists it for a person to look at.
        comment: what a person has written to the student.
        notebook: the notebook that it is in, where the lesson has several; else empty.
        shared: what a person gave, and out of how much, where the cell has other points since and `points` is the same
            share of these; None elsewhere.
        is_changed: whether a person gave points for another text than the one that is there now, and has not looked at
            this one. The points count.
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
        """Whether it is a written answer that nobody has read yet."""
        return self.written and self.waits and self.points is None

    @property
    def is_settled(self) -> bool:
        """Whether it is a written answer with points, and no person has to read it: it is empty, or adjusted."""
        return self.written and self.automatic is not None and not self.waits

    @property
    def is_given(self) -> bool:
        """Whether a person has given points."""
        return self.points is not None or bool(self.extra_credit)

    @property
    def given(self) -> float:
        """The points that a person has given, extra credit included."""
        return (self.points or 0.0) + (self.extra_credit or 0.0)

    @property
    def gained(self) -> float:
        """What it adds to the automatic points of the exercises, so that nbgrader's sum comes out."""
        automatic = self.automatic or 0.0
        score = automatic if self.points is None else self.points
        return score - (0.0 if self.written else automatic) + (self.extra_credit or 0.0)


@dataclass(frozen=True)
class Standing:
    """How an exercise stands: what a regrade may change."""

    outcome: Outcome
    points: float | None
    misconception: str | None = None


@dataclass(frozen=True)
class Change:
    """What grading again changed in one exercise of one submission.

    Attributes:
        exercise: its id.
        before: how it stood; None where it had not been graded.
        after: how it stands now; None where the lesson no longer has it.
    """

    exercise: str
    before: Standing | None
    after: Standing | None
