"""From what a worker found to the record of a submission."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autograder.gradebook.record import CaseRecord, Conditions, ExerciseRecord, Record
from autograder.grading.assignment import Assignment
from autograder.grading.plan import Task
from autograder.grading.submission import AnswerKeys, Graded
from autograder.intake import timestamps
from course_lib.checking import Exercise, Outcome, Verdict
from course_lib.checking.render import case_message
from course_lib.checking.verdict import CaseResult

_SEED_BITS = 256
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
NO_IMPORTS: Mapping[str, str] = {}
_BOX_FOLDER = re.compile(r"/[^\s'\"]*/katze-box-\w+(?:/boxes/\w+)?")


@dataclass(frozen=True)
class Finished:
    """What a worker hands back.

    Attributes:
        task: what it was to do.
        record: what came of it.
        notebook: the graded notebook; None where there is none.
        starved: whether a time limit was hit while the machine was busy.
    """

    task: Task
    record: Record
    notebook: Mapping[str, Any] | None = None
    starved: bool = False

    @property
    def kept(self) -> frozenset[str]:
        """The exercises that were not judged anew."""
        return frozenset(one.exercise for one in self.record.exercises) - self.task.judged


def record_judged(
    assignment: Assignment,
    keys: AnswerKeys,
    task: Task,
    level: str,
    graded: Graded,
    answers: Mapping[str, str],
) -> tuple[ExerciseRecord, ...]:
    """The records of a lesson's exercises, in its order: new ones for the verdicts, earlier ones for the others."""
    return tuple(
        replace(
            _record_exercise(assignment, keys, task, level, graded.verdicts[name]),
            answer=answers.get(name, ""),
            stood=_stood(task, name),
            worth_a_look="\n".join(graded.worth_a_look.get(name, ())),
        )
        if name in graded.verdicts
        else _earlier(task)[name]
        for name in assignment.fingerprints
    )


def _earlier(task: Task) -> dict[str, ExerciseRecord]:
    return {} if task.earlier is None else {one.exercise: one for one in task.earlier.exercises}


def _stood(task: Task, exercise: str) -> float:
    """The largest share of an exercise's points that the same submission had before it was graded again."""
    before = _earlier(task).get(exercise)
    if task.earlier is None or task.earlier.digest != task.digest or before is None:
        return 0.0
    return max(before.stood, (before.points or 0.0) / before.max_points)


def _record_exercise(
    assignment: Assignment, keys: AnswerKeys, task: Task, level: str, verdict: Verdict
) -> ExerciseRecord:
    return replace(
        _unscored(assignment, keys, task.student, verdict.exercise, verdict.outcome),
        level=level,
        points=verdict.points,
        misconception=verdict.misconception.id if verdict.misconception else None,
        note=stable(verdict.note),
        cases=tuple(_record_case(result, case_message(verdict, result)) for result in verdict.cases),
    )


def _record_case(result: CaseResult, told: str) -> CaseRecord:
    case = result.case
    return CaseRecord(case.name, case.part, result.hidden, result.outcome, stable(told), result.actual.seconds)


def record_without_score(
    assignment: Assignment, keys: AnswerKeys, task: Task, outcome: Outcome, problem: str
) -> Finished:
    """A submission that could not be graded: no exercise has a score."""
    exercises = tuple(
        replace(_unscored(assignment, keys, task.student, one, outcome), stood=_stood(task, one.id))
        for one in assignment.exercises
    )
    slot = keys.slot(task.student)
    record = make_record(task, assignment.lesson, assignment.conditions, exercises, slot=slot, problem=problem)
    return Finished(replace(task, judged=frozenset(assignment.fingerprints)), record)


def record_passed_over(assignment: Assignment, keys: AnswerKeys, student: str, why: str) -> Record:
    """The record of a submission that is not looked at because its folder's name is not a student id."""
    return Record(
        student=student,
        lesson=assignment.lesson,
        digest="",
        notebook="",
        handed_in="",
        slot=keys.slot(student),
        conditions=assignment.conditions,
        exercises=tuple(_unscored(assignment, keys, student, one, Outcome.UNREADABLE) for one in assignment.exercises),
        problem=why,
    )


def _unscored(
    assignment: Assignment, keys: AnswerKeys, student: str, exercise: Exercise, outcome: Outcome
) -> ExerciseRecord:
    return ExerciseRecord(
        exercise=exercise.id,
        cell=assignment.cells[exercise.id],
        fingerprint=assignment.fingerprints[exercise.id],
        seed=keys.seed(exercise.id, keys.slot(student)) >> _SEED_BITS - 63,
        level="",
        outcome=outcome,
        points=None,
        max_points=exercise.points,
    )


def make_record(
    task: Task,
    lesson: str,
    conditions: Conditions,
    exercises: tuple[ExerciseRecord, ...],
    *,
    slot: int = 0,
    notebook: str = "",
    handed_in: str = "",
    repairs: tuple[str, ...] = (),
    problem: str = "",
    remarks: Sequence[str] = (),
    imports: Mapping[str, str] = NO_IMPORTS,
) -> Record:
    """The record of a submission. Its files and its time are added when they are known.

    Args:
        task: says what was handed in.
        lesson: the lesson, or the plain assignment.
        conditions: what its grades depend on.
        exercises: how each of them came out.
        slot: which of the class's sets of hidden inputs the student got; 0 where there are none.
        notebook: SHA-256 of the notebook's file.
        handed_in: when.
        repairs: what was mended.
        problem: why it could not be graded.
        remarks: what only the instructor reads; a fault of the submission's `timestamp.txt` is added.
        imports: what its own cells name of the library.
    """
    return Record(
        student=task.student,
        lesson=lesson,
        digest=task.digest,
        notebook=notebook,
        handed_in=handed_in,
        slot=slot,
        conditions=conditions,
        exercises=exercises,
        repairs=repairs,
        problem=stable(problem),
        imports=imports,
        remarks=tuple(map(stable, filter(None, [*remarks, timestamps.fault(task.folder)]))),
    )


def stable(text: str) -> str:
    """A message without what differs from run to run: addresses of objects, and the name of the box's folder."""
    return _ADDRESS.sub("0x…", _BOX_FOLDER.sub("~", text))
