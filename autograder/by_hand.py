"""What people give and write in formgrader, brought to the feedback pages: nothing is run for it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from autograder.assignment import Assignment
from autograder.publish import rewrite_feedback
from autograder.records import GradebookFile, HandGrade, store


@dataclass(frozen=True)
class ByHand:
    """What people have given in a lesson, and where it was brought to a page.

    Attributes:
        cells: for each student the written answers, and whatever else a person has graded or commented on.
        pages: the students whose page was written anew.
        stale_pages: those whose page could not be.
    """

    cells: Mapping[str, tuple[HandGrade, ...]] = field(default_factory=dict)
    pages: tuple[str, ...] = ()
    stale_pages: tuple[str, ...] = ()


def bring_to_pages(assignment: Assignment, file: GradebookFile, students: Collection[str]) -> ByHand:
    """Write the pages of these students anew where points or comments given by hand are not on them yet.

    Args:
        assignment: the lesson; without feedback no page is written.
        file: the gradebook.
        students: who is looked at.
    """
    if not file.has_records():
        return ByHand()
    with file.begin() as connection:
        cells = store.by_hand(connection, assignment.lesson)
        shown = store.shown_by_hand(connection, assignment.lesson)
        now = {student: _digest(cells.get(student, ())) for student in shown if student in students}
        changed = [student for student in sorted(now) if now[student] != shown[student]] if assignment.feedback else []
        records = store.records(connection, assignment.lesson) if changed else {}
    written = {student: rewrite_feedback(assignment, records[student], cells.get(student, ())) for student in changed}
    if changed:
        file.prepare()
        with file.begin() as connection:
            for student, files in written.items():
                if files is not None:
                    record = replace(records[student], files={**records[student].files, **files})
                    store.save_page(connection, record, now[student])
    pages = tuple(student for student in changed if written[student] is not None)
    return ByHand(cells, pages, tuple(student for student in changed if written[student] is None))


def _digest(cells: Iterable[HandGrade]) -> str:
    """A digest of what a page shows of these cells; empty where nobody has given or written anything."""
    given = [
        (cell.cell, cell.points, cell.extra_credit, cell.comment) for cell in cells if cell.is_given or cell.comment
    ]
    return hashlib.sha256(json.dumps(given).encode()).hexdigest() if given else ""
