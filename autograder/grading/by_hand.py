"""What people give and write in formgrader, brought to the feedback pages: nothing is run for it.

A page that another program has replaced with its own, as `nbgrader generate_feedback` does, is written anew as well.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.gradebook import store
from autograder.gradebook.file import GradebookFile
from autograder.gradebook.record import HandGrade, WrittenPage
from autograder.grading.assignment import Assignment
from autograder.grading.plan import written_files
from autograder.grading.publish import rewrite_feedback


@dataclass(frozen=True)
class ByHand:
    """What people have given in a lesson, and where it was brought to a page.

    Attributes:
        cells: for each student the written answers, and whatever else a person has graded or commented on.
        pages: the students whose page was written anew because of it.
        replaced_pages: those whose page was written anew because it was no longer the one that was written.
        stale_pages: those whose page could not be.
    """

    cells: Mapping[str, tuple[HandGrade, ...]] = field(default_factory=dict)
    pages: tuple[str, ...] = ()
    replaced_pages: tuple[str, ...] = ()
    stale_pages: tuple[str, ...] = ()


def bring_to_pages(assignment: Assignment, file: GradebookFile, students: Collection[str]) -> ByHand:
    """Write the pages of these students anew where points or comments given by hand are not on them yet, and where
    they are not what was written.

    Args:
        assignment: the lesson; without feedback no page is written.
        file: the gradebook.
        students: whom to look at.
    """
    if not file.has_records():
        return ByHand()
    with file.begin() as connection:
        cells = store.by_hand(connection, assignment.lesson)
        if not assignment.feedback:
            return ByHand(cells)
        written = store.pages(connection, assignment.lesson)
        now = {student: _digest(cells.get(student, ())) for student in sorted(written) if student in students}
        changed = [student for student in now if now[student] != written[student].by_hand]
        replaced = [
            student
            for student in now
            if student not in changed and _is_another(written_files(assignment, student)["feedback"], written[student])
        ]
        records = store.records(connection, assignment.lesson) if changed or replaced else {}
    files = {
        student: rewrite_feedback(assignment, records[student], cells.get(student, ()))
        for student in (*changed, *replaced)
    }
    if files:
        file.prepare()
        with file.begin() as connection:
            for student, made in files.items():
                if made is not None:
                    record = replace(records[student], files={**records[student].files, **made})
                    store.save_page(connection, record, now[student])
    return ByHand(
        cells,
        pages=tuple(student for student in changed if files[student] is not None),
        replaced_pages=tuple(student for student in replaced if files[student] is not None),
        stale_pages=tuple(sorted(student for student, made in files.items() if made is None)),
    )


def _is_another(path: Path, written: WrittenPage) -> bool:
    """Whether a page is no longer the one that was written. Its bytes are read only where it may have changed since."""
    try:
        status = path.stat()
        if status.st_size != written.size:
            return True
        if status.st_mtime < written.graded + 1:  # that is known to the second
            return False
        return hashlib.sha256(path.read_bytes()).hexdigest() != written.sha256
    except FileNotFoundError:
        return True


def _digest(cells: Iterable[HandGrade]) -> str:
    """A digest of what a page shows of these cells; empty where nobody has given or written anything."""
    given = [
        (cell.cell, cell.points, cell.extra_credit, cell.comment) for cell in cells if cell.is_given or cell.comment
    ]
    return hashlib.sha256(json.dumps(given).encode()).hexdigest() if given else ""
