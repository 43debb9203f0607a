"""Grades a class's submissions to any kind of assignment: finds what has changed, grades it in sandboxes, many at once,
and records it.

Read this first, then `strategy.py` (what differs between kinds of assignment), `plan.py` (what to do), `workers.py`
(how), and `publish.py` (the files it writes). Only this process writes the gradebook.
"""

import contextlib
import errno
import functools
import logging
import os
import platform
import socket
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote

from rich.console import Console

from autograder.box.confinement.levels import Level
from autograder.box.confinement.selftest import default_level
from autograder.course.course import Course
from autograder.errors import DISK_FULL, BadInput, Interrupted
from autograder.gradebook import store
from autograder.gradebook.access import open_gradebook
from autograder.gradebook.file import check_room
from autograder.gradebook.models import Run
from autograder.gradebook.record import SET_ASIDE, Record
from autograder.gradebook.results import ClassResult, Grading
from autograder.gradebook.session import GradebookSession
from autograder.gradebook.store import read_frozen
from autograder.grading.backend import Backend, LocalBackend, StartBackend
from autograder.grading.by_hand import bring_to_pages
from autograder.grading.early import looks_changed
from autograder.grading.kinds import strategy_for
from autograder.grading.plan import FIRST, SUBMITTED_AGAIN, Recorded, make_plan
from autograder.grading.publish import discard, prepare_release
from autograder.grading.strategy import Strategy, Tell
from autograder.grading.task import Finished, Task
from autograder.grading.workers import WorkersLost, error_in_words
from autograder.intake.submission import check_student_id, list_submissions, refused_submissions
from autograder.platforms.misplaced import how_to_collect
from autograder.progress import progress_bar
from autograder.words import count

logger = logging.getLogger(__name__)


def grade_assignment(
    course: Course,
    lesson: str,
    *,
    students: Sequence[str] | None = None,
    workers: int = 1,
    min_level: Level | None = None,
    level: Level | None = None,
    skip_demos: bool = True,
    feedback: bool = True,
    force: bool = False,
    solution: Path | None = None,
    console: Console | None = None,
    backend: StartBackend = LocalBackend,
) -> ClassResult:
    """Grade the submissions to an assignment that have changed; write gradebook, notebooks and feedback.

    Submissions whose folder's name is not a student id are skipped, and listed in the result.

    Args:
        course: the course.
        lesson: the assignment's folder name: a lesson with exercises, or an assignment of plain nbgrader's.
        students: grade only these; None for everyone who submitted.
        workers: the number of submissions graded at once.
        min_level: refuse to grade in weaker sandboxes than this; by default L2 on Linux.
        level: use exactly this level, even if the machine can do better.
        skip_demos: leave out cells tagged `demo` unless a later cell may need one.
        feedback: whether to write feedback pages.
        force: grade everything, changed or not; earlier grades stop counting at once.
        solution: the folder of the course's own solution, which test cells are tried on first; by default
            nbgrader's source folder.
        console: for the progress bar and messages; by default standard error.
        backend: makes the backend that grades; by default processes of this machine.

    Raises:
        BadInput: before anything is written: no such assignment, no submissions, a release or gradebook of another
            version, a gradebook that is in use or not writable, a full disk, or no sandbox of the wanted level. While
            grading: the disk is full, or all workers are gone; recorded grades stay.
    """
    start = time.perf_counter()
    console = console or Console(stderr=True)
    tell = functools.partial(console.print, highlight=False, markup=False, soft_wrap=True)
    with report_plainly(), contextlib.ExitStack() as resources:
        strategy = strategy_for(course, lesson, skip_demos=skip_demos, feedback=feedback, solution=solution)
        submissions = select_submissions(course, lesson, students)
        boxes = backend(strategy, min(workers, len(submissions)), min_level, level)
        resources.callback(boxes.close)
        if (force or looks_changed(course, lesson, students)) and not _is_frozen(course, lesson):
            boxes.begin()  # they warm up while the rest is found out
        with open_gradebook(course.gradebook, lesson) as book:
            _warn_of_an_empty_gradebook(course, lesson, tell)
            course.secret()  # made before anything follows from it
            recorded = Recorded.read(book, strategy)
            tasks = make_plan(strategy, submissions, recorded, find_weakest(level, min_level), force)
            run = _Run(strategy, book, boxes, force, console, tell)
            if recorded.frozen:
                run.notices.append(frozen_in_words(lesson, recorded.frozen, tasks, force))
            elif tasks or strategy.adjustments != recorded.adjustments:
                check_places(course, feedback)
                run.grade(tasks)
            records = run.records({student for student, _ in submissions})
            result = bring_to_pages(strategy, book, records)
            prepare_release(course, lesson, records.values())
            (course.source / lesson).mkdir(parents=True, exist_ok=True)  # else formgrader does not list the lesson
    refused = refused_submissions(course.submitted, lesson) if students is None else {}
    return replace(
        result,
        boxes=boxes.describe() if run.gradings else "",
        seconds=time.perf_counter() - start,
        gradings=run.gradings,
        refused=tuple(strategy.pass_over(shown, why) for shown, why in refused.items()),
        notices=(*strategy.notices, *book.notices, *run.notices, *result.notices),
    )


@dataclass
class _Run:
    """One run over an assignment. The records are in the gradebook; this keeps what the run has to report about them.

    Attributes:
        gradings: why each graded submission was graded, and what changed, by student.
        unrecorded: the records that could not be written into the gradebook, by student.
        notices: other lines for the instructor.
    """

    strategy: Strategy
    book: GradebookSession
    boxes: Backend
    force: bool
    console: Console
    tell: Tell
    gradings: dict[str, Grading] = field(default_factory=dict)
    unrecorded: dict[str, Record] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)

    def grade(self, tasks: Sequence[Task]) -> None:
        """Apply the course's adjustments, grade these submissions, and record each at once."""
        strategy, boxes = self.strategy, self.boxes
        if tasks:
            self.tell("\n".join(filter(None, [boxes.describe(), strategy.promise])))
            boxes.begin()
        self.notices += strategy.open_gradebook(self.book)
        with self.book.begin() as session:
            run = store.begin_run(session, self._describe(len(tasks)))
        logger.info("run %d begins", run)
        self.notices += strategy.recount(run)
        if tasks:
            if self.force:
                self._set_aside(tasks, run)
            self._grade_all(tasks, run)
        with self.book.begin() as session:
            store.end_run(session, run)
        logger.info("run %d has ended", run)
        if tasks:
            strategy.conclude([task.student for task in tasks])

    def _describe(self, submissions: int) -> Run:
        return Run(
            lesson=self.strategy.name,
            host=socket.gethostname(),
            platform=platform.platform(),
            workers=min(self.boxes.workers, submissions) if submissions else 0,
            boxes=self.boxes.describe() if submissions else "",
            forced=int(self.force),
            submissions=submissions,
        )

    def _set_aside(self, tasks: Sequence[Task], run: int) -> None:
        """Stop counting earlier grades before a forced regrade, first in the gradebook and then on disk."""
        again = [task.student for task in tasks if task.earlier is not None]
        self.strategy.set_aside(run, again, SET_ASIDE)
        for student in again:
            discard(self.strategy, student)

    def _grade_all(self, tasks: Sequence[Task], run: int) -> None:
        name, tasks = self.strategy.name, self.strategy.arrange(tasks)
        progress = progress_bar(self.console)
        try:
            graded = self.boxes.grade(tasks, self.tell, progress.refresh)
            with progress:
                bar = progress.add_task(name, total=len(tasks))
                for finished in graded:
                    self._record(run, finished)
                    progress.advance(bar)
        except KeyboardInterrupt:
            raise Interrupted(
                f"stopped: {len(self.gradings)} of {len(tasks)} done, and recorded; run `katze grade {quote(name)}` to "
                "continue"
            ) from None
        except WorkersLost as problem:
            raise BadInput(
                f"{problem}; {len(self.gradings)} of {len(tasks)} done, and recorded; run this again to continue"
            ) from problem

    def _record(self, run: int, finished: Finished) -> None:
        """Write a worker's result into the gradebook.

        If that fails for one submission, the class goes on: the submission is ungraded, and its earlier grade goes.
        """
        if not finished.record.files:  # else they are of this grading, even where an exercise of it has no score
            discard(self.strategy, finished.task.student)
        problem = self._write(run, finished)
        if not problem:
            return
        discard(self.strategy, finished.task.student)
        failed = self.strategy.give_up(finished.task, problem)
        failed = replace(failed, record=replace(failed.record, seconds=finished.record.seconds))
        if self._write(run, failed):  # without its files the submission is graded again by the next run
            self.gradings[failed.task.student] = Grading(failed.task.why)
            self.unrecorded[failed.task.student] = failed.record

    def _write(self, run: int, finished: Finished) -> str:
        """Write a result into the gradebook; return why that failed, if it did."""
        try:
            changes = self.strategy.save(run, finished)
        except BadInput:
            raise
        except Exception as error:
            return f"The gradebook could not be written: {error_in_words(error)}"
        task, first = finished.task, finished.task.earlier is None
        self.gradings[task.student] = Grading(task.why, () if first else changes, first)
        return ""

    def records(self, students: Collection[str]) -> dict[str, Record]:
        """Return these students' records at the end of the run, by student; in a frozen lesson, some may have none."""
        with self.book.begin() as session:
            records = store.counted(session, self.strategy.name)
        return {student: record for student, record in records.items() if student in students} | self.unrecorded


def _is_frozen(course: Course, lesson: str) -> bool:
    with open_gradebook(course.gradebook).looking() as session:
        return session is not None and lesson in read_frozen(session)


def frozen_in_words(lesson: str, since: str, tasks: Iterable[Task], force: bool) -> str:
    """Say that a frozen lesson is not graded, and how many submissions wait.

    Raises:
        BadInput: the run was forced.
    """
    if force:
        raise BadInput(f"{lesson} is frozen, and --force does not change that; run `katze thaw {quote(lesson)}` first")
    new = sum(task.why[0] in (FIRST, SUBMITTED_AGAIN) for task in tasks)
    waits = f"; {count(new, 'submission')} handed in since {'waits' if new == 1 else 'wait'}" if new else ""
    return f"{lesson} is frozen since {since}: nothing is graded{waits}; to grade, run `katze thaw {quote(lesson)}`"


def _warn_of_an_empty_gradebook(course: Course, lesson: str, tell: Tell) -> None:
    """Warn that grades may have been lost, if the gradebook is empty but there are graded notebooks."""
    address = course.gradebook
    is_there = not isinstance(address, Path) or address.is_file()
    if is_there and open_gradebook(address).is_new() and any(course.autograded.glob(f"*/{lesson}/{lesson}.ipynb")):
        tell(
            f"the gradebook {address} is empty, though {course.autograded.name}/ holds graded notebooks: everything is "
            "graded again; points given by hand are lost unless you restore a copy of the gradebook",
        )


def find_weakest(level: Level | None, minimum: Level | None) -> Level:
    """Return the weakest level whose grades are good enough."""
    if level is not None:
        return level
    return default_level() if minimum is None else minimum


def check_places(course: Course, feedback: bool) -> None:
    """Refuse to begin if results could not be written: otherwise each submission would fail on its own.

    Raises:
        BadInput: the disk is full, or a folder is not writable.
    """
    for folder in (course.root, Path(tempfile.gettempdir())):
        check_room(folder)
    for folder in (course.autograded, *([course.feedback] if feedback else [])):
        there = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
        if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
            raise BadInput(f"cannot write into {there}; check that it is a folder that you may write to")


def select_submissions(course: Course, lesson: str, students: Sequence[str] | None) -> list[tuple[str, Path]]:
    """Return the students who handed in and their submissions' folders, optionally only for these students.

    Raises:
        BadInput: there are none, or one of these students has none.
    """
    submitted = course.submitted
    submissions = list_submissions(submitted, lesson)
    if students is not None:
        for student in students:
            check_student_id(student)
        missing = sorted(set(students) - {student for student, _ in submissions})
        if missing:
            raise BadInput(f"no submission of {', '.join(missing)} to {lesson} in {submitted}")
        submissions = [(student, folder) for student, folder in submissions if student in students]
    if not submissions:
        for why in refused_submissions(submitted, lesson).values():
            raise BadInput(why)
        instead = how_to_collect(course)
        raise BadInput(f"no submissions to {lesson} in {submitted}/STUDENT/{lesson}/{instead and f'; {instead}'}")
    return submissions


@contextlib.contextmanager
def report_plainly() -> Iterator[None]:
    """Turn a full disk, or a file that may not be read or written, into a one-line message."""
    try:
        yield
    except OSError as error:
        if error.errno in DISK_FULL:
            raise BadInput(
                "the disk is full: make room, then run this again; what has been recorded is kept, and is not graded "
                "again"
            ) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS) and error.filename:
            raise BadInput(f"cannot use {error.filename}: {error.strerror}; check its permissions") from error
        raise
