"""Computes how late a submission is, and what that costs.

A course sets the terms in `course.toml` (`semester.py`). A penalty is in points, never more than there are, and rounded
to hundredths of a point.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from autograder.course.semester import Late, LessonTerms
from autograder.words import count

DAY = timedelta(days=1).total_seconds()
DIGITS = 2
"""Decimal places of a penalty."""

Plugin = Callable[[str, float, float], float]
"""nbgrader's `late_submission_penalty`: of a student's id, points and seconds late, the points that are lost."""


@dataclass(frozen=True)
class Lateness:
    """A submission and its deadline: how late it is, and what that costs.

    Attributes:
        due: the due date, extension included; None where none is set.
        handed_in: when it was handed in, in the due date's time zone; None if unknown.
        extended: whether the student has a due date of their own.
        grace: how long after the due date a submission still counts as in time.
        seconds: how long after the due date it was handed in; 0 if it was in time, or if that is unknown.
        penalty: the points lost.
        rule: the rule behind the penalty, worded to follow a colon; may be empty.
        is_written: whether `katze grade` has written it into nbgrader's tables.
        is_kept: whether a frozen lesson keeps the written terms although `course.toml` now has others.
        marked_late: whether the platform called it late; None if it does not say.
    """

    due: datetime | None = None
    handed_in: datetime | None = None
    extended: bool = False
    grace: timedelta = timedelta()
    seconds: float = 0.0
    penalty: float = 0.0
    rule: str = ""
    is_written: bool = True
    is_kept: bool = False
    marked_late: bool | None = None

    @property
    def is_late(self) -> bool:
        """Return whether it was handed in after the due date and its grace period."""
        return self.seconds > self.grace.total_seconds()

    @property
    def is_unknown(self) -> bool:
        """Return whether it had a due date but no known submission time; it then counts as in time."""
        return self.due is not None and self.handed_in is None and self.marked_late is not False


NOTHING_DUE = Lateness()


def lateness_of(
    terms: LessonTerms, student: str, handed_in: datetime | None, points: float | None, most: float, plugin: Plugin
) -> Lateness:
    """Compute how late a submission is by the course's terms, and what that costs.

    Args:
        handed_in: the time, in UTC and without a zone, as nbgrader keeps it.
        points: all points earned; None without a score, and then nothing is lost.
        plugin: nbgrader's plugin, for the policy of that name.
    """
    due = terms.due_for(student)
    if due is None:
        return NOTHING_DUE
    then = None if handed_in is None else handed_in.replace(tzinfo=UTC).astimezone(due.tzinfo)
    seconds = 0.0 if then is None else max(0.0, (then - due).total_seconds())
    found = Lateness(due, then, student in terms.extensions, terms.late.grace, seconds)
    if not found.is_late:
        return found
    lost = 0.0 if points is None else _lost(terms.late, student, points, most, seconds, plugin)
    penalty = max(0.0, min(points or 0.0, round(lost, DIGITS)))
    return replace(found, penalty=penalty, rule=_rule(terms.late, most))


def _lost(late: Late, student: str, points: float, most: float, seconds: float, plugin: Plugin) -> float:
    match late.policy:
        case "linear":
            return most / 100 * min(late.at_most, late.per_day * math.ceil(seconds / DAY))
        case "cap":
            return max(0.0, points - most / 100 * late.cap)
        case "nbgrader":
            return plugin(student, points, seconds)
        case "none":
            return 0.0


def _rule(late: Late, most: float) -> str:
    of_all = f"of the lesson's {count(most, 'point')}"
    match late.policy:
        case "linear":
            bound = f", {late.at_most:g}% at most" if late.at_most < 100 else ""
            return f"each day, or part of a day, costs {late.per_day:g}% {of_all}{bound}"
        case "cap":
            return f"late work can get at most {late.cap:g}% {of_all}"
        case _:
            return ""
