"""Holds what a run of the grader leaves behind: the records of a class, and what has changed in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.gradebook.record import Change, Record, Standing
from course_lib.judging.observation import Outcome


@dataclass(frozen=True)
class Grading:
    """What became of a submission that a run has graded.

    Attributes:
        why: why it was graded, or graded again; a sentence each.
        changes: what differs from when it was last graded; empty if it never was.
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
        boxes: one line that says in what sandboxes the answers ran; empty where none did.
        submissions: their records, sorted by student.
        seconds: wall-clock time of the whole run.
        gradings: for each student whose submission this run has graded, why and what changed; the others stand
            as an earlier run has recorded them.
        refused: the submissions that were passed over because their folder's name is not a student id; they are in no
            gradebook.
        pages: the students whose feedback page was written anew because a person has given points or a comment.
        due_pages: those whose page was written anew because of a deadline or a late penalty alone.
        replaced_pages: those whose page was written anew because it was missing, or not the one that was written.
        stale_pages: those whose page could not be, because their notebook in autograded/ is not what was written.
        notices: what else has happened or has not, a line each.
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
        """Whether something that this run was to grade could not be graded."""
        return any(
            result.outcome is Outcome.UNGRADED
            for one in self.submissions
            if one.student in self.gradings
            for result in one.exercises
        )

    def records(self) -> list[dict[str, Any]]:
        """One JSON record for each student and exercise; `before` where a regrade has changed it.

        Anyone passed over is among them, unreadable, under the name of the folder as it can be shown.
        """
        records = []
        for submission in (*self.submissions, *self.refused):
            grading = self.gradings.get(submission.student)
            changes = {} if grading is None else {change.exercise: change for change in grading.changes}
            for record in submission.in_json():
                change = changes.get(record["exercise"])
                before = None if change is None else _in_json(change.before)
                why = [] if grading is None else list(grading.why)
                records.append({**record, "graded_now": grading is not None, "why": why, "before": before})
        return records


def _in_json(before: Standing | None) -> dict[str, Any] | None:
    if before is None:
        return None
    return {"points": before.points, "outcome": str(before.outcome), "misconception": before.misconception}
