"""Computes the totals of students' lessons: weighted, with the lowest dropped.

A total is in percent of the weighted points of the lessons that count for a student. A lesson without a score is left
out, because it is not a zero; a lesson that was not handed in is a zero once it was due. A column next to each total
explains it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from autograder.course.semester import LessonTerms, Semester
from autograder.gradebook.record import Record
from autograder.words import count


@dataclass(frozen=True)
class Total:
    """A student's total.

    Attributes:
        percent: percent of the weighted points of the lessons that count, extra credit included; None if none does.
        told: what was dropped, left out, or counted as a zero; may be empty.
    """

    percent: float | None
    told: str = ""


def totals_of(
    graded: Mapping[str, Sequence[Record]], students: Iterable[str], semester: Semester, now: datetime
) -> dict[str, Total]:
    """Compute the totals of students over lessons.

    Args:
        graded: each lesson's results, from `read_grades`.
        students: the students' ids.
        semester: weights, the number of dropped lessons, and due dates.
        now: the current time, with its offset: a lesson due before it and not handed in is a zero.
    """
    results = {lesson: {one.student: one for one in records} for lesson, records in graded.items()}
    return {student: _total(student, results, semester, now) for student in students}


def _total(student: str, results: Mapping[str, Mapping[str, Record]], semester: Semester, now: datetime) -> Total:
    shares: dict[str, float] = {}
    weights: dict[str, float] = {}
    remarks = []
    for lesson, records in results.items():
        terms = semester.lesson(lesson)
        if not terms.weight:
            continue
        share, why = _share(records.get(student), terms, student, now)
        if share is not None:
            shares[lesson], weights[lesson] = share, terms.weight
        if why:
            remarks.append(f"{lesson}: {why}")
    if not shares:
        return Total(None, "; ".join(remarks))
    lowest_first = sorted(shares, key=lambda lesson: (shares[lesson], -weights[lesson]))
    for lesson in lowest_first[: min(semester.drop_lowest, len(shares) - 1)]:
        remarks.append(f"{lesson}: dropped")
        del weights[lesson]
    earned = sum(weight * shares[lesson] for lesson, weight in weights.items())
    return Total(100 * earned / sum(weights.values()), "; ".join(remarks))


def _share(record: Record | None, terms: LessonTerms, student: str, now: datetime) -> tuple[float | None, str]:
    """Return a student's share of a lesson's points (above 1 with extra credit, None if it is left out), and
    a remark.
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
    """Explain a column of totals, in sentences.

    Args:
        heading: the column's heading.
        lessons: the lessons that count in it.
        semester: weights, and the number of dropped lessons.
        totals: the totals in the column.
    """
    weights = {lesson: semester.lesson(lesson).weight for lesson in lessons}
    named = ", ".join(f"{lesson} (weight {weight:g})" for lesson, weight in weights.items())
    sentences = [f"{heading}: percent of the points of {named}."]
    if semester.drop_lowest:
        lowest = "lesson is" if semester.drop_lowest == 1 else f"{semester.drop_lowest} lessons are"
        sentences.append(f"{heading}: each student's lowest {lowest} dropped, but never all of them.")
    affected = sum("left out" in one.told or "not handed in" in one.told for one in totals)
    if affected:
        sentences.append(
            f"{heading}: for {count(affected, 'student')} a lesson is left out or a zero; the next column says which."
        )
    return sentences
