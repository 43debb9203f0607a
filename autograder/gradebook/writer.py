"""The one writer of nbgrader's gradebook.

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
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from autograder.gradebook import models, store
from autograder.gradebook.changes.adjustments import Adjustments
from autograder.gradebook.changes.recount import recount, written_scores
from autograder.gradebook.file import GradebookFile
from autograder.gradebook.lesson import LessonRows, save_lesson
from autograder.gradebook.record import Change, Record, RunRecord
from autograder.gradebook.scores import save_grades, withhold_grades
from autograder.gradebook.session import GradebookSession

logger = logging.getLogger(__name__)

DEFAULT_COURSE = "default_course"
"""nbgrader's name for a course without one; its preprocessors use it whatever the settings say."""


@dataclass(frozen=True)
class Entry:
    """A record to be written next to nbgrader's rows.

    Attributes:
        run: the number of the run.
        record: the record.
        why: why the submission was graded, or graded again.
        unchanged: exercises that were not judged anew.
    """

    run: int
    record: Record
    why: tuple[str, ...] = ()
    unchanged: frozenset[str] = frozenset()


class GradebookWriter:
    """nbgrader's gradebook, open for grading one lesson after another.

        with GradebookWriter(course.gradebook, course.course_id) as gradebook:
            gradebook.ensure_assignment(lesson, release)
            gradebook.record(student, lesson, notebook, scores)

    Entering takes the lock, checks everything that can be wrong with the gradebook, and makes it where there is
    none. The process may fork between any two calls.
    """

    def __init__(self, gradebook: Path | GradebookSession, course_id: str = "") -> None:
        """Nothing happens before the gradebook is entered.

        Args:
            gradebook: the database file, such as `gradebook.db`, whose folder must exist; or one that is entered
                already, which stays so.
            course_id: nbgrader's name for the course; empty where it has none.
        """
        self._is_own = isinstance(gradebook, Path)
        self._book = GradebookFile(gradebook) if isinstance(gradebook, Path) else gradebook
        self.course_id = course_id or DEFAULT_COURSE
        self._lessons: dict[str, LessonRows] = {}
        self._adjustments: dict[str, Adjustments] = {}

    def __enter__(self) -> Self:
        """Take the gradebook.

        Raises:
            BadInput: another run has it, or the file cannot be used; nothing has been written.
        """
        if self._is_own:
            self._book.__enter__()
        try:
            self._book.prepare()
            with self._book.begin() as session:
                for name in sorted({DEFAULT_COURSE, self.course_id}):  # each run in the same order
                    session.execute(models.inserting(session, models.Course).values(id=name).on_conflict_do_nothing())
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the gradebook back."""
        if self._is_own:
            self._book.__exit__(kind, error, trace)

    def ensure_assignment(
        self, lesson: str, notebook: Mapping[str, Any], adjustments: Adjustments = store.NO_ADJUSTMENTS
    ) -> list[str]:
        """Make nbgrader know a lesson: its assignment, its notebook, and every cell that has a part in grading.

        What `nbgrader generate_assignment` has written stays, with the hidden tests that only it knows. Points and
        texts that have changed are brought up to date.

        Args:
            lesson: the lesson, nbgrader's assignment and notebook in one.
            notebook: its release, in nbformat 4.5.
            adjustments: what the course has decided about its exercises; they are in the scores that are written from
                now on, and in those of before after `apply_adjustments`.

        Returns:
            What has become of points given by hand for cells that have gone, come back or have other points, a line
            for each.
        """
        with self._book.begin() as session:
            rows, moved = save_lesson(session, self.course_id, lesson, notebook, adjustments)
        self._lessons[lesson], self._adjustments[lesson] = rows, adjustments
        return moved.in_words()

    def apply_adjustments(self, run: int, lesson: str) -> list[str]:
        """Bring the scores that are there up to the adjustments of `ensure_assignment`; nothing is judged for it.

        Returns:
            What has changed, a line for each exercise.
        """
        with self._book.begin() as session:
            return recount(session, self._lessons[lesson], run, lesson, self._adjustments[lesson])

    def begin_run(self, run: RunRecord) -> int:
        """Write down that a run has begun; returns its number, for `Entry`."""
        with self._book.begin() as session:
            number = store.begin_run(session, run)
        logger.info("run %d begins on %s", number, run.host)
        return number

    def end_run(self, run: int) -> None:
        """Write down that a run has come to its end."""
        with self._book.begin() as session:
            store.end_run(session, run)
        logger.info("run %d has ended", run)

    def set_aside(self, run: int, lesson: str, students: Collection[str], why: str) -> None:
        """Let the grades of these students no longer count, until they are graded again.

        In nbgrader's tables they lose their automatic scores and wait for a human; points given by hand stay. So
        whatever happens to the run that grades them again, no earlier grade is taken for one of its own.

        Args:
            run: the run that is about to grade them again.
            lesson: a lesson that `ensure_assignment` has been called for.
            students: their ids; one without a grade is passed over.
            why: the reason, for their comments and their history.
        """
        with self._book.begin() as session:
            store.set_aside(session, run, lesson, students, why)
            for student in sorted(students):
                withhold_grades(session, self._lessons[lesson], student, why)

    def record(
        self,
        student: str,
        lesson: str,
        notebook: Mapping[str, Any] | None,
        scores: Mapping[str, float | None],
        timestamp: datetime | str | None = None,
        problem: str = "",
        entry: Entry | None = None,
    ) -> tuple[Change, ...]:
        """Write one graded submission; writing it again replaces its automatic scores.

        Points given by hand stay. A grade with such points is marked for review only where something has changed
        under them: the automatic score, or the text that they were given for. An untouched written answer scores 0.

        Args:
            student: the student's id; see `submission.check_student_id`.
            lesson: a lesson that `ensure_assignment` has been called for.
            notebook: the graded notebook; None where there is none.
            scores: points by grade_id. A cell that is missing, or None, has no score and needs a human.
            timestamp: when it was handed in, in UTC or with its zone; nbgrader's text form is understood. Where it
                is none, nbgrader is told of no time: that of an earlier submission is not this one's.
            problem: why there are no scores; it becomes the comment on the answers.
            entry: our own record of it; why it leaves a single exercise ungraded becomes the comment on its answer.

        Returns:
            What has changed since it was last recorded; nothing where there is no entry.

        Raises:
            ValueError: a score is not between 0 and the cell's points, or its cell is unknown.
        """
        rows = self._lessons[lesson]
        rows.check_scores(scores)
        if any(score is not None for score in scores.values()):
            scores = {**written_scores(rows), **scores}
        with self._book.begin() as session:
            problems = {} if entry is None else {one.exercise: one.note for one in entry.record.ungraded}
            answers = {} if entry is None else {one.cell: one.answer for one in entry.record.exercises}
            save_grades(session, rows, student, notebook, scores, timestamp, problem, problems, answers)
            if entry is None:
                return ()
            logger.info("%s, %s: %s recorded, in %.2f s", student, lesson, problem or "points", entry.record.seconds)
            adjustments = self._adjustments.get(lesson, {})
            return store.save(session, entry.run, entry.record, entry.why, entry.unchanged, adjustments)
