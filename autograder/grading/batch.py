"""Grading a class: see what has changed, grade that in boxes, many at once, and record it.

Read this first, then `plan.py` (what is to be done), `workers.py` (how it is done), `recording.py` and `publish.py`
(what comes of it). This process alone writes the gradebook.
"""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import socket
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rich.console import Console

from autograder.box import ForkServer, Level, Limits, choose_level, describe
from autograder.box.confinement.selftest import default_level
from autograder.course.course import Course
from autograder.errors import DISK_FULL, BadInput, Interrupted
from autograder.gradebook import store
from autograder.gradebook.access import is_new, look, open_gradebook
from autograder.gradebook.changes.adjustments import adjusted
from autograder.gradebook.file import check_room
from autograder.gradebook.record import SET_ASIDE, Record, RunRecord
from autograder.gradebook.results import ClassResult, Grading
from autograder.gradebook.session import GradebookSession
from autograder.gradebook.store import read_frozen
from autograder.grading.assignment import Assignment
from autograder.grading.by_hand import bring_to_pages
from autograder.grading.exchange import prepare_release
from autograder.grading.plan import FIRST, SUBMITTED_AGAIN, Plan, Recorded, Task, make_plan
from autograder.grading.publish import discard, list_in_formgrader
from autograder.grading.recording import Finished, record_passed_over, record_without_score
from autograder.grading.submission import AnswerKeys
from autograder.grading.workers import WorkersLost, error_in_words, grade_in_parallel
from autograder.intake.submission import check_student_id, list_submissions, refused_submissions
from autograder.platforms.misplaced import how_to_collect
from autograder.progress import progress_bar
from autograder.words import count
from course_lib.checking import Outcome

if TYPE_CHECKING:
    from autograder.gradebook.writer import GradebookWriter


def grade_lesson(
    course: Course,
    lesson: str,
    *,
    students: Sequence[str] | None = None,
    workers: int = 1,
    min_level: Level | None = None,
    level: Level | None = None,
    limits: Limits | None = None,
    skip_demos: bool = True,
    feedback: bool = True,
    force: bool = False,
    console: Console | None = None,
    hire: Hire | None = None,
) -> ClassResult:
    """Grade what has changed among the submissions to a lesson; write gradebook, autograded notebooks and feedback.

    A submission whose folder is not a student id is passed over, and named in the result.

    Args:
        course: the course.
        lesson: the lesson's folder name.
        students: only these; None for everyone who submitted.
        workers: submissions graded at once.
        min_level: refuse to grade in weaker boxes than this; by default L2 on Linux.
        level: grade at exactly this level, whatever the machine could do.
        limits: what each submission may use; by default what the course says.
        skip_demos: leave out cells tagged `demo`, unless a later cell may need one.
        feedback: write feedback pages.
        force: grade everything, changed or not; what was graded before stops counting at the start.
        console: where the line on the boxes and the progress bar go; by default standard error.
        hire: who grades; by default processes of this machine.

    Raises:
        BadInput: before anything is written: no such lesson, no submissions, a release or a
            gradebook of another version, a gradebook that is in use or cannot be written, no room on the disk, or no
            box of the level wanted. While grading: the disk is full, or all workers are gone; what was recorded stays.
    """
    start = time.perf_counter()
    course.require_exercises()
    console = console or Console(stderr=True)
    with tell_plainly(), contextlib.ExitStack() as resources:
        assignment = Assignment.load(course, lesson, limits or course.limits, skip_demos, feedback)
        submissions = select_submissions(course, lesson, students)
        boxes = (hire or LocalWorkforce)(assignment, min(workers, len(submissions)), min_level, level)
        resources.callback(boxes.close)
        if (force or _looks_changed(course, submissions)) and not _is_frozen(course, lesson):
            boxes.begin()  # they warm up while the rest is found out
        with open_gradebook(course.gradebook, lesson) as book:
            _warn_of_an_empty_gradebook(assignment, console)
            course.secret()  # made before anything follows from it
            recorded = read_recorded(book, lesson)
            plan = make_plan(assignment, submissions, recorded, find_weakest(level, min_level), force)
            done = _Done()
            if recorded.frozen:
                done.notices.append(frozen_in_words(lesson, recorded.frozen, plan, force))
                plan = plan.without_tasks()
            elif plan.tasks or assignment.adjustments != recorded.adjustments:
                check_places(course, feedback)
                done = _grade(assignment, plan, book, boxes, force, console)
            records = _collect_records(assignment, plan, book, done)
            given = bring_to_pages(assignment, book, records.keys())
            prepare_release(course, lesson, records.values())
            list_in_formgrader(assignment)
    return ClassResult(
        lesson=lesson,
        boxes=boxes.described() if plan.tasks else "",
        submissions=tuple(given.complete(record) for _, record in sorted(records.items())),
        seconds=time.perf_counter() - start,
        gradings=done.gradings,
        refused=_list_refused(assignment) if students is None else (),
        notices=(*assignment.outdated, *book.notices, *done.notices, *given.notices),
        pages=given.pages,
        due_pages=given.due_pages,
        replaced_pages=given.replaced_pages,
        stale_pages=given.stale_pages,
    )


class Workforce(Protocol):
    """Who grades a run's submissions, and in what boxes."""

    @property
    def workers(self) -> int:
        """How many submissions are graded at once."""

    def described(self) -> str:
        """Level and limits of the boxes, in a line."""

    def begin(self) -> None:
        """Make ready, perhaps in the background.

        Raises:
            BadInput: nobody can grade.
        """

    def grade(self, keys: AnswerKeys, tasks: Sequence[Task], tick: Callable[[], None]) -> Iterator[Finished]:
        """Grade, and call `tick` a few times a second.

        Raises:
            WorkersLost: those who grade are gone; what they have handed back stays.
        """

    def close(self) -> None:
        """End what was begun."""


Hire = Callable[[Assignment, int, Level | None, Level | None], Workforce]
"""Makes one of a lesson, the most workers that could be busy, the weakest boxes that will do, and the only ones."""


@dataclass
class _Done:
    """What a run keeps of what it has graded, until it is reported: the records themselves are in the gradebook.

    Attributes:
        gradings: for each student whose submission was graded, why, and what changed.
        unrecorded: the records that could not be written into the gradebook, by student.
        notices: what else its reader should know, a line each.
    """

    gradings: dict[str, Grading] = field(default_factory=dict)
    unrecorded: dict[str, Record] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)


def read_recorded(book: GradebookSession, lesson: str) -> Recorded:
    """What the gradebook holds of a lesson; it may be still to be made."""
    if book.is_new():
        return Recorded()
    with book.begin() as connection:
        return Recorded.read(connection, lesson)


def _is_frozen(course: Course, lesson: str) -> bool:
    with look(course.gradebook) as connection:
        return connection is not None and lesson in read_frozen(connection)


def frozen_in_words(lesson: str, since: str, plan: Plan, force: bool) -> str:
    """That nothing is graded in a frozen lesson, and what waits for that.

    Raises:
        BadInput: it was to be graded by force.
    """
    if force:
        raise BadInput(f"{lesson} is frozen, and --force does not change that; run `katze thaw {lesson}` first")
    new = sum(task.why[0] in (FIRST, SUBMITTED_AGAIN) for task in plan.tasks)
    waits = f"; {count(new, 'submission')} handed in since {'waits' if new == 1 else 'wait'}" if new else ""
    return f"{lesson} is frozen since {since}: nothing is graded{waits}; to grade, run `katze thaw {lesson}`"


def _collect_records(assignment: Assignment, plan: Plan, book: GradebookSession, done: _Done) -> dict[str, Record]:
    """The records of all submissions of the plan, by student, as they stand at the end of the run."""
    wanted = {record.student for record in plan.unchanged} | done.gradings.keys()
    if not wanted:
        return {}
    with book.begin() as connection:
        records = store.counted(connection, assignment.lesson)
    return {student: record for student, record in records.items() if student in wanted} | done.unrecorded


def _list_refused(assignment: Assignment) -> tuple[Record, ...]:
    """The records of submissions that were passed over because of their folder's name; they go into no gradebook."""
    keys = AnswerKeys(assignment.course.secret())
    refused = refused_submissions(assignment.course.submitted, assignment.lesson)
    return tuple(record_passed_over(assignment, keys, shown, why) for shown, why in refused.items())


def fork_server_of(assignment: Assignment, level: Level, channels: int = 1) -> ForkServer:
    """Where the boxes of a lesson come from, to be entered: it lacks what the lesson withholds, and has what it needs.

    Args:
        assignment: the lesson.
        level: of the boxes.
        channels: one for each worker.
    """
    return ForkServer(
        assignment.withheld,
        level,
        assignment.limits,
        channels=channels,
        trains=assignment.trains,
        own={module.partition(".")[0] for module in assignment.course.exercises.modules.values()},
        held=assignment.held,
    )


class LocalWorkforce:
    """The boxes of a run, of a level that is found by trying. They take two seconds to warm up, in the background."""

    def __init__(self, assignment: Assignment, workers: int, min_level: Level | None, level: Level | None) -> None:
        """Nothing is started yet.

        Args:
            assignment: says what each box may use, and which modules are withheld from it.
            workers: processes that open boxes, at most.
            min_level: the weakest level to accept.
            level: this level exactly, untried.
        """
        self._assignment = assignment
        self._min_level = min_level
        self._level = level
        self._fork_server: ForkServer | None = None
        self.workers = workers

    def level(self) -> Level:
        """The level.

        Raises:
            BadInput: this machine has none that is good enough.
        """
        if self._level is None:
            self._level = choose_level(self._min_level)
        return self._level

    def described(self) -> str:
        """Level and limits, in a line."""
        return describe(self.level(), self._assignment.limits)

    def begin(self) -> None:
        """Start what boxes come from; it warms up in the background."""
        if self._fork_server is None:
            self._fork_server = fork_server_of(self._assignment, self.level(), self.workers)

    def grade(self, keys: AnswerKeys, tasks: Sequence[Task], tick: Callable[[], None]) -> Iterator[Finished]:
        """Grade in processes that are forks of this one."""
        self.begin()
        assert self._fork_server is not None
        self._fork_server.ready()
        return grade_in_parallel(self._assignment, self._fork_server, keys, tasks, min(self.workers, len(tasks)), tick)

    def close(self) -> None:
        """End what was begun."""
        if self._fork_server is not None:
            self._fork_server.close()


def _looks_changed(course: Course, submissions: Sequence[tuple[str, Path]]) -> bool:
    """Whether anything was handed in since the gradebook was written: a guess, to begin early with what takes time."""
    if not isinstance(course.gradebook, Path) or not course.gradebook.is_file():
        return True
    written = course.gradebook.stat().st_mtime
    return any(folder.stat().st_mtime > written for _, folder in submissions)


def _warn_of_an_empty_gradebook(assignment: Assignment, console: Console) -> None:
    """Say that grades may have been lost, where the gradebook is there and empty, next to graded notebooks."""
    course, lesson = assignment.course, assignment.lesson
    address = course.gradebook
    is_there = not isinstance(address, Path) or address.is_file()
    if is_there and is_new(address) and any(course.autograded.glob(f"*/{lesson}/{lesson}.ipynb")):
        console.print(
            f"the gradebook {address} is empty, though {course.autograded.name}/ holds graded notebooks: everything is "
            "graded anew; points given by hand come back only with a copy of the gradebook",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )


def find_weakest(level: Level | None, minimum: Level | None) -> Level:
    """The weakest level whose grades are good enough."""
    if level is not None:
        return level
    return default_level() if minimum is None else minimum


def check_places(course: Course, feedback: bool) -> None:
    """Refuse to begin where what is graded could not be written: each submission would fail on its own.

    Raises:
        BadInput: the disk is full, or a folder may not be written.
    """
    for folder in (course.root, Path(tempfile.gettempdir())):
        check_room(folder)
    for folder in (course.autograded, *([course.feedback] if feedback else [])):
        there = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
        if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
            raise BadInput(f"cannot write into {there}; check that it is a folder, and who may write there")


def select_submissions(course: Course, lesson: str, students: Sequence[str] | None) -> list[tuple[str, Path]]:
    """The students who handed in, and the folders of their submissions; or only those of these students.

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


def _grade(
    assignment: Assignment,
    plan: Plan,
    book: GradebookSession,
    boxes: Workforce,
    force: bool,
    console: Console,
) -> _Done:
    """Count anew what was decided about exercises; grade what the plan says, and record each submission as soon as it
    is graded.
    """
    lesson, done = assignment.lesson, _Done()
    keys = AnswerKeys(assignment.course.secret())
    with contextlib.ExitStack() as resources:
        if plan.tasks:
            console.print(boxes.described(), highlight=False, soft_wrap=True)
            boxes.begin()
        from autograder.gradebook.writer import GradebookWriter  # takes a second, while the fork server warms up

        gradebook = resources.enter_context(GradebookWriter(book, assignment.course.course_id))
        done.notices += gradebook.ensure_assignment(lesson, assignment.release.notebook, assignment.adjustments)
        run = gradebook.begin_run(_run(assignment, boxes, force, len(plan.tasks)))
        done.notices += [f"counted anew, {told}" for told in gradebook.apply_adjustments(run, lesson)]
        if not plan.tasks:
            gradebook.end_run(run)
            return done
        if force:
            _set_aside(gradebook, assignment, plan, run)
        tasks = sorted(plan.tasks, key=lambda task: keys.slot(task.student))  # a worker keeps the keys of one slot
        progress = resources.enter_context(progress_bar(console))
        bar = progress.add_task(lesson, total=len(plan.tasks))
        try:
            for finished in boxes.grade(keys, tasks, progress.refresh):
                _record(gradebook, assignment, keys, run, finished, done)
                progress.advance(bar)
        except KeyboardInterrupt:
            raise Interrupted(
                f"stopped: {len(done.gradings)} of {len(plan.tasks)} done, and recorded; run `katze grade {lesson}` to "
                "go on"
            ) from None
        except WorkersLost as problem:
            raise BadInput(
                f"{problem}; {len(done.gradings)} of {len(plan.tasks)} done, and recorded; run this again to go on"
            ) from problem
        gradebook.end_run(run)
    return done


def _run(assignment: Assignment, boxes: Workforce, force: bool, submissions: int) -> RunRecord:
    return RunRecord(
        lesson=assignment.lesson,
        host=socket.gethostname(),
        platform=platform.platform(),
        workers=min(boxes.workers, submissions) if submissions else 0,
        boxes=boxes.described() if submissions else "",
        forced=force,
        submissions=submissions,
    )


def _set_aside(gradebook: GradebookWriter, assignment: Assignment, plan: Plan, run: int) -> None:
    """Stop counting what is graded again by force, first in the gradebook and then on the disk."""
    again = [task.student for task in plan.tasks if task.earlier is not None]
    gradebook.set_aside(run, assignment.lesson, again, SET_ASIDE)
    for student in again:
        discard(assignment, student)


def _record(
    gradebook: GradebookWriter,
    assignment: Assignment,
    keys: AnswerKeys,
    run: int,
    finished: Finished,
    done: _Done,
) -> None:
    """Write what a worker found into the gradebook.

    What goes wrong with one submission is that submission's, not the class's: it is ungraded, and its earlier grade
    goes as well.
    """
    student = finished.task.student
    if not finished.record.files:  # else they are of this grading, even where an exercise of it has no score
        discard(assignment, student)
    try:
        done.gradings[student] = _write(gradebook, assignment, run, finished)
        return
    except BadInput:
        raise
    except Exception as error:
        problem = f"The gradebook could not be written: {error_in_words(error)}"
    discard(assignment, student)
    failed = record_without_score(assignment, keys, finished.task, Outcome.UNGRADED, problem)
    failed = replace(failed, record=replace(failed.record, seconds=finished.record.seconds))
    try:
        done.gradings[student] = _write(gradebook, assignment, run, failed)
    except BadInput:
        raise
    except Exception:  # told already; without its files the submission is graded again by the next run
        done.gradings[student] = Grading(failed.task.why)
        done.unrecorded[student] = failed.record


def _write(gradebook: GradebookWriter, assignment: Assignment, run: int, finished: Finished) -> Grading:
    from autograder.gradebook.writer import Entry

    record, task = finished.record, finished.task
    changes = gradebook.record(
        record.student,
        record.lesson,
        finished.notebook,
        {one.cell: one.points for one in adjusted(record, assignment.adjustments).exercises},
        record.handed_in or None,
        record.problem,
        Entry(run, record, task.why, finished.kept),
    )
    first = task.earlier is None
    return Grading(task.why, () if first else changes, first)


@contextlib.contextmanager
def tell_plainly() -> Iterator[None]:
    """Say in one line that the disk is full, or that a file may not be read or written."""
    try:
        yield
    except OSError as error:
        if error.errno in DISK_FULL:
            raise BadInput(
                "the disk is full: make room, then run this again; what was recorded stays, and is not graded twice"
            ) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS) and error.filename:
            raise BadInput(f"cannot use {error.filename}: {error.strerror}; check who may read and write it") from error
        raise
