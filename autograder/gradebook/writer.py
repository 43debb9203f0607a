"""The only writer of nbgrader's gradebook.

Scores go into nbgrader's own tables, as `nbgrader autograde` would write them, so that formgrader,
`generate_feedback` and `export` find them. While it grades, one process locks the gradebook, or one lesson of it on a
server. Each submission, its record included, is one transaction, so an interruption leaves whole submissions only.

nbgrader has no way to say "could not be graded", and its sums count a grade without a score as zero. So such a grade
gets no `auto_score`, `needs_manual_grade`, and the reason as the answer's comment: formgrader then lists it as work to
do. An earned zero has `auto_score` 0 and no such flag.
"""

import logging
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from autograder.gradebook import models, store
from autograder.gradebook.changes.adjustments import Adjustment, Adjustments, adjusted
from autograder.gradebook.lesson import GradedCell, save_lesson
from autograder.gradebook.models import Answer, submitted_notebook
from autograder.gradebook.record import Change, Record
from autograder.gradebook.scores import read_grades, save_grades, withhold_grades
from autograder.gradebook.session import GradebookSession
from autograder.repair.release import exercise_of

logger = logging.getLogger(__name__)

DEFAULT_COURSE = "default_course"
"""nbgrader's name for a course without one; its preprocessors use it whatever the settings say."""


class GradebookWriter:
    """Writes the grades of one lesson. The process may fork between any two calls."""

    def __init__(self, book: GradebookSession, lesson: str, course_id: str = "") -> None:
        """Create the gradebook if it does not exist.

        Args:
            book: the gradebook, already entered.
            lesson: nbgrader's assignment and notebook in one.
            course_id: nbgrader's name for the course; empty if it has none.

        Raises:
            BadInput: it cannot be written; nothing was.
        """
        self._book = book
        self._lesson = lesson
        self._course_id = course_id or DEFAULT_COURSE
        book.prepare()
        with book.begin() as session:
            for name in sorted({DEFAULT_COURSE, self._course_id}):  # each run in the same order
                models.add_new(session, models.Course, id=name)

    def ensure_assignment(
        self, notebook: Mapping[str, Any], adjustments: Adjustments = store.NO_ADJUSTMENTS
    ) -> list[str]:
        """Bring the lesson in nbgrader's tables up to date: assignment, notebook, and every cell that matters for
        grading. Return what happened to points by hand for cells that went, came back or changed their points.

        What `nbgrader generate_assignment` wrote stays, hidden tests included; changed points and texts are updated.

        Args:
            notebook: its release, in nbformat 4.5.
            adjustments: the course's decisions about its exercises. Scores written from now on include them; call
                `apply_adjustments` for earlier scores.
        """
        with self._book.begin() as session:
            self._rows, moved = save_lesson(session, self._course_id, self._lesson, notebook, adjustments)
        self._adjustments = adjustments
        return moved

    def apply_adjustments(self, run: int) -> list[str]:
        """Apply the adjustments of `ensure_assignment` to the existing scores, without grading anything. Return the
        changes, a line per exercise.
        """
        now, rows = self._adjustments, self._rows
        with self._book.begin() as session:
            before = store.read_adjustments(session, self._lesson)
            changed = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
            if not changed:
                return []
            told = [f"{name}: {now.get(name, Adjustment()).in_words()}" for name in changed]
            for student, record in store.records(session, self._lesson).items():
                if record.void:
                    continue
                was, counted = adjusted(record, before), adjusted(record, now)
                submitted = submitted_notebook(session, rows.notebook, student)
                for row, (grade, answer) in read_grades(session, rows, submitted).items():
                    if exercise_of(rows.grades[row].name) in changed:
                        _rescore(grade, answer, rows.grades[row], counted)
                changes = store.changes_between(was, counted)
                if changes or was.max_points != counted.max_points:
                    event = (store.WAS_ADJUSTED, told, counted.points, counted.max_points, changes)
                    store.add_event(session, run, counted, *event)
            store.write_adjustments(session, self._lesson, now)
        return told

    def set_aside(self, run: int, students: Collection[str], why: str) -> None:
        """Stop counting these students' grades until they are graded again.

        In nbgrader's tables they lose their automatic scores and wait for a person; points given by hand stay. So even
        if the run that grades them again fails, no earlier grade passes for a new one.

        Args:
            run: the run that is about to grade them again.
            students: their ids; those without a grade are skipped.
            why: the reason, for their comments and history.
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
        """Write one graded submission, replacing earlier automatic scores; return the changes since it was recorded.

        Points given by hand stay. Such a grade is marked for review only if its automatic score or its text has
        changed. An untouched written answer scores 0.

        Args:
            record: the result. The reason why an exercise, or all of it, is ungraded becomes the answer's comment.
            notebook: the graded notebook; None where there is none.
            why: the reasons why it was graded, or graded again.
            unchanged: exercises that were not graded again.

        Raises:
            ValueError: a score is not between 0 and the cell's points, or its cell is unknown.
        """
        scores = {one.cell: one.points for one in adjusted(record, self._adjustments).exercises}
        self._rows.check_scores(scores)
        if any(score is not None for score in scores.values()):
            for cell in self._rows.grades.values():
                if (cell.solution or cell.task) and cell.decided is not None:  # before a person has read it
                    scores.setdefault(cell.name, cell.decided)
        with self._book.begin() as session:
            problems = {one.exercise: one.note for one in record.ungraded}
            answers = {one.cell: one.answer for one in record.exercises}
            save_grades(session, self._rows, record, notebook, scores, record.problem, problems, answers)
            changes = store.save(session, run, record, why, unchanged, self._adjustments)
        logger.info(
            "%s, %s: %s recorded, in %.2f s", record.student, self._lesson, record.problem or "points", record.seconds
        )
        return changes


def _rescore(grade: Any, answer: Answer | None, cell: GradedCell, counted: Record) -> None:
    """Write the automatic score of one cell of a submission, with the adjustment applied."""
    by_exercise = {one.cell: one.points for one in counted.exercises}
    if cell.name in by_exercise:
        score = by_exercise[cell.name]
    elif counted.points is None:
        score = None
    else:  # a written answer that nobody has touched has nothing to read
        is_untouched = answer is not None and answer.checksum == cell.checksum
        score = 0.0 if cell.decided is None and is_untouched else cell.decided
    grade.auto_score = score
    if grade.manual_score is None:
        is_other = answer is not None and answer.given_for not in ("", answer.checksum)
        grade.needs_manual_grade = score is None or (grade.extra_credit is not None and is_other)
