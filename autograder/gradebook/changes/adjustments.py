"""Applies what a course decides about an exercise after the fact: dropped, full credit, accepted, and so on.

The recorded verdict never changes. An adjustment only says how it counts, so applying, changing or undoing one is
arithmetic: nothing is graded again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from autograder.course.semester import Decision
from autograder.gradebook.record import ExerciseRecord, Record
from autograder.words import count
from course_lib.judging.observation import Outcome


@dataclass(frozen=True)
class Adjustment(Decision):
    """A course's decision about one exercise.

    Attributes:
        tolerance: how close to the reference an answer must be, in words; the verdict already includes it.
    """

    tolerance: str = ""

    @property
    def counts_in_all(self) -> bool:
        """Return whether its points are part of the maximum."""
        return not (self.drop or self.extra_credit)

    def in_words(self) -> str:
        """Return the adjustment in an instructor's words: "dropped", "extra credit, never lower"."""
        words = {
            "dropped": self.drop,
            "full credit for everyone": self.full_credit,
            "extra credit": self.extra_credit,
            "never lower": self.never_lower,
            f"{count(len(self.accept), 'accepted answer')}": bool(self.accept),
            self.tolerance: bool(self.tolerance),
        }
        return ", ".join(word for word, holds in words.items() if holds) or "as judged"

    def of_everyone(self) -> list[str]:
        """Return the sentences that every student reads about it."""
        sentences = {
            "This exercise was dropped: it counts for nobody.": self.drop,
            "Everyone gets full points for this exercise.": self.full_credit,
            "This exercise is extra credit: its points count on top of the maximum.": self.extra_credit,
            f"A result may be {self.tolerance} away from the reference.": self.tolerance,
        }
        return [sentence for sentence, holds in sentences.items() if holds]


Adjustments = Mapping[str, Adjustment]
"""Decisions by exercise or written task; only those that have one."""


def adjusted(record: Record, adjustments: Adjustments) -> Record:
    """Return the record with the adjustments applied; a record without any score stays without one."""
    if not adjustments:
        return record
    graded = record.points is not None
    exercises = tuple(
        _adjusted(one, adjustments[one.exercise], graded) if one.exercise in adjustments else one
        for one in record.exercises
    )
    told = [f"{one.exercise}: {one.adjustment}" for one in exercises if one.adjustment]
    known = {one.exercise for one in exercises}
    told += [f"{name}: {' '.join(one.of_everyone())}" for name, one in adjustments.items() if name not in known]
    decided = tuple(f"{name}: {adjustment.in_words()}" for name, adjustment in adjustments.items())
    return replace(record, exercises=exercises, adjustments=tuple(told), decided=decided)


def _adjusted(one: ExerciseRecord, adjustment: Adjustment, graded: bool) -> ExerciseRecord:
    points, told = one.points, adjustment.of_everyone()
    if graded and adjustment.drop:
        points = 0.0
    elif graded and adjustment.full_credit:
        points = float(one.max_points)
    elif graded and one.answer in adjustment.accept and one.outcome is not Outcome.NOT_ATTEMPTED:
        points = float(one.max_points)
        told.append("Your answer was accepted, whatever the check says.")
    elif graded and adjustment.never_lower and one.stood * one.max_points > (points or 0.0):
        again = "no score" if points is None else count(points, "point")
        points = one.stood * one.max_points
        told.append(f"It keeps the {count(points, 'point')} that it had; graded again, it would have {again}.")
    most = one.max_points if adjustment.counts_in_all else 0
    return replace(one, points=points, max_points=most, adjustment=" ".join(told), counts=not adjustment.drop)
