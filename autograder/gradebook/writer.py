"""Writes nbgrader's gradebook; nothing else does.

Scores go into nbgrader's own tables, as `nbgrader autograde` would write them, so that formgrader,
`generate_feedback` and `export` find them. One process holds the gradebook while it grades, or a lesson of one
on a server; each submission is one transaction, its record included: an interruption leaves whole submissions
only.

How nbgrader says "could not be graded": it knows no such thing. A grade without a score counts as zero in its
sums. Here such a grade has no `auto_score` and `needs_manual_grade` set, with the reason as the comment of the
answer, so that formgrader lists it as work to do; a zero that was earned has `auto_score` 0 and no such flag.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from autograder.gradebook import models, store
from autograder.gradebook.changes.adjustments import Adjustments, adjusted
from autograder.gradebook.changes.recount import recount, written_scores
from autograder.gradebook.lesson import save_lesson
from autograder.gradebook.record import Change, Record
from autograder.gradebook.scores import save_grades, withhold_grades
from autograder.gradebook.session import GradebookSession

logger = logging.getLogger(__name__)

DEFAULT_COURSE = "default_course"
"""nbgrader's name for a course without one; its preprocessors use it whatever the settings say."""


class GradebookWriter:
    """A lesson of a gradebook, to be graded into. The process may fork between any two calls."""

    def __init__(self, book: GradebookSession, lesson: str, course_id: str = "") -> None:
        """Make the gradebook where there is none.

        Args:
            book: the gradebook, entered.
            lesson: nbgrader's assignment and notebook in one.
            course_id: nbgrader's name for the course; empty where it has none.

        Raises:
            BadInput: it cannot be written; nothing has been.
        """
        self._book = book
        self._lesson = lesson
        self._course_id = course_id or DEFAULT_COURSE
        book.prepare()
        with book.begin() as session:
            for name in sorted({DEFAULT_COURSE, self._course_id}):  # each run in the same order
                session.execute(models.inserting(session, models.Course).values(id=name).on_conflict_do_nothing())

    def ensure_assignment(
        self, notebook: Mapping[str, Any], adjustments: Adjustments = store.NO_ADJUSTMENTS
    ) -> list[str]:
        """Make nbgrader know the lesson: its assignment, its notebook, and every cell that has a part in grading.

        What `nbgrader generate_assignment` has written stays, with the hidden tests that only it knows. Points and
        texts that have changed are brought up to date.

        Args:
            notebook: its release, in nbformat 4.5.
            adjustments: what the course has decided about its exercises; they are in the scores that are written from
                now on, and in those of before after `apply_adjustments`.

        Returns:
            What has become of points given by hand for cells that have gone, come back or have other points, a line
            for each.
        """
        with self._book.begin() as session:
            self._rows, moved = save_lesson(session, self._course_id, self._lesson, notebook, adjustments)
        self._adjustments = adjustments
        return moved

    def apply_adjustments(self, run: int) -> list[str]:
        """Bring the scores that are there up to the adjustments of `ensure_assignment`; nothing is judged for it.

        Returns:
            What has changed, a line for each exercise.
        """
        with self._book.begin() as session:
            return recount(session, self._rows, run, self._lesson, self._adjustments)

    def set_aside(self, run: int, students: Collection[str], why: str) -> None:
        """Let the grades of these students no longer count, until they are graded again.

        In nbgrader's tables they lose their automatic scores and wait for a human; points given by hand stay. So
        whatever happens to the run that grades them again, no earlier grade is taken for one of its own.

        Args:
            run: the run that is about to grade them again.
            students: their ids; one without a grade is passed over.
            why: the reason, for their comments and their history.
        """
        with self._book.begin() as session:
            store.set_aside(session, run, self._lesson, students, why)
            for student in sorted(students):
                withhold_grades(session, self._rows, student, why)

    def record(
        self,
        run: int,
        record: Record,
        notebook: Mapping[str, Any] | None,
        why: Iterable[str] = (),
        unchanged: Collection[str] = (),
    ) -> tuple[Change, ...]:
        """Write one graded submission; writing it again replaces its automatic scores.

        Points given by hand stay. A grade with such points is marked for review only where something has changed
        under them: the automatic score, or the text that they were given for. An untouched written answer scores 0.

        Args:
            run: the number of the run.
            record: what came of it. Why an exercise, or all of it, is ungraded becomes the comment on the answer.
            notebook: the graded notebook; None where there is none.
            why: why it was graded, or graded again.
            unchanged: exercises that were not judged anew.

        Returns:
            What has changed since it was last recorded.

        Raises:
            ValueError: a score is not between 0 and the cell's points, or its cell is unknown.
        """
        scores = {one.cell: one.points for one in adjusted(record, self._adjustments).exercises}
        self._rows.check_scores(scores)
        if any(score is not None for score in scores.values()):
            scores = {**written_scores(self._rows), **scores}
        with self._book.begin() as session:
            problems = {one.exercise: one.note for one in record.ungraded}
            answers = {one.cell: one.answer for one in record.exercises}
            save_grades(session, self._rows, record, notebook, scores, record.problem, problems, answers)
            changes = store.save(session, run, record, why, unchanged, self._adjustments)
        logger.info(
            "%s, %s: %s recorded, in %.2f s", record.student, self._lesson, record.problem or "points", record.seconds
        )
        return changes
