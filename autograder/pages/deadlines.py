"""Describes deadlines in words: for the student, for the instructor, and for a platform's file.

Times are in the due date's time zone, as in `course.toml`.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from shlex import quote

from autograder.course.semester import SEMESTER_NAME
from autograder.gradebook.deadlines.lateness import Lateness
from autograder.gradebook.record import Record
from autograder.words import count, lasting, some


def moment_in_words(moment: datetime) -> str:
    """Return a time with its zone: "Friday, 20 November 2026, 18:00 (UTC+01:00)"."""
    seconds = f":{moment:%S}" if moment.second else ""
    return f"{moment:%A}, {moment.day} {moment:%B %Y, %H:%M}{seconds} ({moment.tzname()})"


def deadline_for_student(record: Record) -> list[str]:
    """Return what a student reads about the deadline: due date, time of submission, lateness and its cost; and how the
    lesson counts in the total.
    """
    late, sentences = record.lateness, []
    if late.due is not None:
        own = ", which is your own extension" if late.extended else ""
        sentences.append(f"Due {moment_in_words(late.due)}{own}. {_handed_in(late)}")
    share = share_in_words(record, "your")
    return [*sentences, *filter(None, [_cost(record), share[:1].upper() + share[1:]])]


def share_in_words(record: Record, whose: str) -> str:
    """Return how the lesson counts in the total; empty if the course sets nothing about that.

    Args:
        record: any record of the lesson.
        whose: "your" or "each student's".
    """
    clauses = []
    if record.weight != 1:
        clauses.append(
            f"its weight in the total is {record.weight:g}" if record.weight else "it does not count in the total"
        )
    if record.drop_lowest and record.weight:
        lowest = "lowest lesson is" if record.drop_lowest == 1 else f"{record.drop_lowest} lowest lessons are"
        clauses.append(f"{whose} {lowest} left out of the total")
    return f"{', and '.join(clauses)}." if clauses else ""


def _handed_in(late: Lateness) -> str:
    if late.handed_in is None and late.marked_late is False:
        return "Handed in on time."
    if late.handed_in is None:
        return "Nobody knows when it was handed in, so it counts as on time."
    when = f"Handed in {moment_in_words(late.handed_in)}"
    if late.is_late:
        return f"{when}: {lasting(late.seconds)} late."
    if late.seconds:
        grace = lasting(late.grace.total_seconds())
        return f"{when}: {lasting(late.seconds)} late, which is within the grace period of {grace}."
    return f"{when}: on time."


def _cost(record: Record) -> str:
    """Return the cost of being late, in words; empty if nothing can be lost."""
    late, rule = record.lateness, f": {record.lateness.rule}" if record.lateness.rule else ""
    if late.penalty and record.earned is not None:
        return f"Being late costs {late.penalty:g} of your {count(record.earned, 'point')}{rule}."
    if late.is_late and record.earned is not None:
        return f"Being late costs nothing{rule}."
    return ""


def late_in_brief(record: Record) -> str:
    """Return lateness and its cost for a table: "1 day 3 hours, −4"; empty if on time."""
    late = record.lateness
    if late.is_unknown:
        return "late, time unknown" if late.marked_late else "time unknown"
    parts = [lasting(late.seconds)] if late.is_late else []
    if late.penalty:
        parts.append(f"−{late.penalty:g}")
    return ", ".join(parts)


def remarks_on_deadlines(lesson: str, results: Sequence[Record]) -> Iterator[str]:
    """Yield what the points of a lesson do not show about its deadline, in sentences.

    Args:
        lesson: the lesson.
        results: from `read_grades`, which may include withdrawn submissions.
    """
    unknown = [one.student for one in results if one.lateness.is_unknown]
    if unknown:
        yield (
            f"{lesson}: nobody knows when it was handed in, so it counts as on time: {some(unknown)}. "
            f"[lessons.{lesson}.handed_in] in {SEMESTER_NAME} says when."
        )
    lost = [one for one in results if one.lateness.penalty]
    if lost:
        points = count(sum(one.lateness.penalty for one in lost), "point")
        yield f"{lesson}: {points} taken off for being late: {some([one.student for one in lost])}."
    yield from remarks_on_frozen(lesson, results)
    stale = [one.student for one in results if not one.lateness.is_written]
    if stale:
        yield (
            f"{lesson}: deadlines or points have changed since the feedback pages and nbgrader's tables were written, "
            f"for {some(stale)}: run `katze grade {quote(lesson)}`, which updates them without grading anything."
        )


def remarks_on_frozen(lesson: str, results: Iterable[Record]) -> Iterator[str]:
    """Yield a remark about students for whom a new deadline has no effect, because the lesson is frozen."""
    kept = [one.student for one in results if one.lateness.is_kept]
    if kept:
        yield (
            f"{lesson}: its deadline in {SEMESTER_NAME} has changed, but the lesson is frozen, so nothing changes for "
            f"{some(kept)}; run `katze thaw {quote(lesson)}` first."
        )
