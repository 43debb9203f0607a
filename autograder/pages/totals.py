"""Computes the total of a student's lessons: weights, and the lowest dropped.

A total is in percent of the weighted points of the lessons that count for a student. A lesson without a score is left
out, since it is no zero; one that was not handed in is a zero once it was due. A column beside
each total says which is which.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from autograder.course.semester import LessonTerms, Semester
from autograder.gradebook.record import Record
from autograder.words import count


@dataclass(frozen=True)
class Total:
    """What a student's lessons come to.

    Attributes:
        percent: of the weighted points of those that count, extra credit included; None where none does.
        told: what was dropped, left out, or counted as a zero; empty where nothing was.
    """

    percent: float | None
    told: str = ""


def totals_of(
    graded: Mapping[str, Sequence[Record]], students: Iterable[str], semester: Semester, now: datetime
) -> dict[str, Total]:
    """The totals of these students, over these lessons.

    Args:
        graded: for each lesson its results, from `read_grades`.
        students: whose.
        semester: says the weights, what is dropped, and what was due.
        now: with its offset: what was due before, and not handed in, is a zero.
    """
    results = {lesson: {one.student: one for one in records} for lesson, records in graded.items()}
    return {student: _total(student, results, semester, now) for student in students}


def _total(student: str, results: Mapping[str, Mapping[str, Record]], semester: Semester, now: datetime) -> Total:
    shares: dict[str, float] = {}
    weights: dict[str, float] = {}
    said = []
    for lesson, records in results.items():
        terms = semester.lesson(lesson)
        if not terms.weight:
            continue
        share, why = _share(records.get(student), terms, student, now)
        if share is not None:
            shares[lesson], weights[lesson] = share, terms.weight
        if why:
            said.append(f"{lesson}: {why}")
    if not shares:
        return Total(None, "; ".join(said))
    lowest_first = sorted(shares, key=lambda lesson: (shares[lesson], -weights[lesson]))
    for lesson in lowest_first[: min(semester.drop_lowest, len(shares) - 1)]:
        said.append(f"{lesson}: dropped")
        del weights[lesson]
    earned = sum(weight * shares[lesson] for lesson, weight in weights.items())
    return Total(100 * earned / sum(weights.values()), "; ".join(said))


def _share(record: Record | None, terms: LessonTerms, student: str, now: datetime) -> tuple[float | None, str]:
    """A student's share of a lesson's points, above 1 with extra credit, and None where it is left out; and what should
    be known about it.
    """
    if record is None:
        due = terms.due_for(student)
        if due is None:
            return None, "not handed in and never due, left out"
        if due + terms.late.grace < now:
            return 0.0, "not handed in, 0"
        return None, "not due yet, left out"
    if record.total is None:
        return None, "no score, left out"
    if not record.most:
        return None, "worth no points, left out"
    missing = [f"{one.exercise} could not be graded, its points missing" for one in record.ungraded]
    missing += ["a written answer not read yet, its points missing"] if record.waiting else []
    missing += ["an answer changed since it was read"] if record.changed else []
    return record.total / record.most, ", ".join(missing)


def remarks_on_totals(heading: str, lessons: Iterable[str], semester: Semester, totals: Iterable[Total]) -> list[str]:
    """How a column of totals came about, a sentence each.

    Args:
        heading: the column's.
        lessons: those that are in it.
        semester: says the weights, and what is dropped.
        totals: what is in it.
    """
    weights = {lesson: semester.lesson(lesson).weight for lesson in lessons}
    named = ", ".join(f"{lesson} (weight {weight:g})" for lesson, weight in weights.items())
    said = [f"{heading}: percent of the points of {named}."]
    if semester.drop_lowest:
        said.append(
            f"{heading}: each student's lowest {count(semester.drop_lowest, 'lesson')} dropped, never all of them."
        )
    told = sum("left out" in one.told or "not handed in" in one.told for one in totals)
    if told:
        said.append(
            f"{heading}: for {count(told, 'student')} a lesson is left out or a zero; the next column says which."
        )
    return said
