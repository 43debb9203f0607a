"""The result of a grading run: the records of a class, and what has changed in them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from autograder.gradebook.record import Change, Record
from course_lib.judging.observation import Outcome


@dataclass(frozen=True)
class Grading:
    """How a run graded one submission.

    Attributes:
        why: the reasons why it was graded, or graded again, a sentence each.
        changes: the differences from the last grading; empty if it was the first.
        first: whether this was its first grading.
    """

    why: tuple[str, ...]
    changes: tuple[Change, ...] = ()
    first: bool = True


@dataclass(frozen=True)
class ClassResult:
    """A graded class.

    Attributes:
        lesson: the lesson.
        boxes: one line about the sandboxes that the answers ran in; empty if none did.
        submissions: their records, sorted by student.
        seconds: wall-clock time of the whole run.
        gradings: for each student that this run graded, why and what changed; the other records come from earlier
            runs.
        refused: the submissions skipped because their folder's name is not a student id; no gradebook has them.
        pages: the students whose feedback page was rewritten because a person has given points or a comment.
        due_pages: those whose page was rewritten only because of a deadline or a late penalty.
        replaced_pages: those whose page was rewritten because it was missing or had been changed.
        stale_pages: those whose page could not be rewritten, because their notebook in autograded/ has been changed.
        notices: whatever else the reader should know, a line each.
    """

    lesson: str
    boxes: str
    submissions: tuple[Record, ...]
    seconds: float
    gradings: Mapping[str, Grading] = field(default_factory=dict)
    refused: tuple[Record, ...] = ()
    pages: tuple[str, ...] = ()
    due_pages: tuple[str, ...] = ()
    replaced_pages: tuple[str, ...] = ()
    stale_pages: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def left_ungraded(self) -> bool:
        """Return whether this run left anything ungraded."""
        return any(
            result.outcome is Outcome.UNGRADED
            for one in self.submissions
            if one.student in self.gradings
            for result in one.exercises
        )

    def records(self) -> list[dict[str, Any]]:
        """Return one JSON record per student and exercise, with `before` if a regrade has changed it.

        Skipped submissions are included as unreadable, under a printable form of their folder's name.
        """
        records = []
        for submission in (*self.submissions, *self.refused):
            grading = self.gradings.get(submission.student)
            changes = {} if grading is None else {change.exercise: change for change in grading.changes}
            for record in submission.in_json():
                change = changes.get(record["exercise"])
                before = asdict(change.before) if change and change.before else None
                why = [] if grading is None else list(grading.why)
                records.append({**record, "graded_now": grading is not None, "why": why, "before": before})
        return records
