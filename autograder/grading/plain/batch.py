"""Grading a class's submissions to a plain assignment: begin here.

`assignment.py` reads what was released, `plan.py` finds what has changed, `submission.py` grades one submission (in
worker processes), and here it is recorded: by this process alone, into nbgrader's tables and ours, one transaction for
each submission.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import platform
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console
from sqlalchemy.orm import Session

from autograder.box import ForkServer, Level, choose_level, describe
from autograder.course.course import Course
from autograder.errors import BadInput, Interrupted
from autograder.gradebook import store
from autograder.gradebook.access import open_gradebook
from autograder.gradebook.deadlines import terms
from autograder.gradebook.lesson import LessonRows
from autograder.gradebook.record import SET_ASIDE, Conditions, ExerciseRecord, Record, RunRecord
from autograder.gradebook.results import ClassResult, Grading
from autograder.gradebook.session import GradebookSession
from autograder.grading.batch import check_places, find_weakest, frozen_in_words, select_submissions, tell_plainly
from autograder.grading.exchange import prepare_release
from autograder.grading.plain import files, publish, rows
from autograder.grading.plain.assignment import PlainAssignment, released, require_gradebook
from autograder.grading.plain.late import write_penalties
from autograder.grading.plain.plan import conditions_of, make_plan, read_recorded
from autograder.grading.plain.solution import find_solution, try_solution
from autograder.grading.plain.submission import PlainFinished, PlainGrader
from autograder.grading.plan import Plan
from autograder.grading.workers import error_in_words, share_out
from autograder.intake.submission import refused_submissions
from autograder.pages.deadlines import deadline_for_student
from autograder.progress import progress_bar
from course_lib.checking import Outcome

PROMISE = (
    "the tests run beside the students' code: boxes keep this machine and the other students safe, and not the points; "
    "see docs/plain_nbgrader.md"
)
"""What is said before anything runs."""


def grade_assignment(
    course: Course,
    name: str,
    *,
    students: Sequence[str] | None = None,
    workers: int = 1,
    min_level: Level | None = None,
    level: Level | None = None,
    feedback: bool = True,
    force: bool = False,
    solution: Path | None = None,
    console: Console | None = None,
) -> ClassResult:
    """Grade what has changed among the submissions to an assignment; write gradebook, notebooks and feedback.

    Args:
        course: the course.
        name: the assignment's folder name.
        students: only these; None for everyone who submitted.
        workers: submissions graded at once.
        min_level: refuse to grade in weaker boxes than this; by default L2 on Linux.
        level: grade at exactly this level, whatever the machine could do.
        feedback: write feedback pages.
        force: grade everything, changed or not; what was graded before stops counting at the start.
        solution: the folder of the course's own solution, which is tried first; by default that of nbgrader's source.
        console: where lines about the boxes and the progress bar go; by default standard error.

    Raises:
        BadInput: before anything is written: no such assignment, one that the gradebook does not know as it is, another
            kernel than Python's, no submissions, a gradebook that cannot be used, or no box of the level wanted. While
            grading: the disk is full; what was recorded stays.
    """
    start = time.perf_counter()
    console = console or Console(stderr=True)
    with tell_plainly():
        released(course, name)
        submissions = select_submissions(course, name, students)
        require_gradebook(course, name)
        with open_gradebook(course.gradebook, name) as book:
            with book.begin() as connection:
                assignment = PlainAssignment.load(course, name, feedback, connection)
                recorded = read_recorded(connection, name)
            course_files = files.of_course(course, name)
            conditions = conditions_of(assignment, course_files)
            plan = make_plan(assignment, conditions, submissions, recorded, find_weakest(level, min_level), force)
            if recorded.frozen:
                book.notices.append(frozen_in_words(name, recorded.frozen, plan, force))
                plan = plan.without_tasks()
            solved = find_solution(course, name, solution)
            run = _Run(assignment, conditions, course_files, book, plan, force, workers, solved)
            if plan.tasks:
                check_places(course, feedback)
                chosen = level or choose_level(min_level)
                run.boxes = describe(chosen, assignment.limits)
                console.print(f"{run.boxes}\n{PROMISE}", highlight=False, soft_wrap=True)
                run.grade(chosen, console)
                write_penalties(course, name, [task.student for task in plan.tasks])
            run.bring_to_pages()
            records = run.records()
            prepare_release(course, name, records.values())
    return ClassResult(
        lesson=name,
        boxes=run.boxes,
        submissions=tuple(record for _, record in sorted(records.items())),
        seconds=time.perf_counter() - start,
        gradings=run.gradings,
        refused=_refused(assignment, conditions) if students is None else (),
        notices=tuple(book.notices),
        pages=tuple(run.pages),
        stale_pages=tuple(run.stale_pages),
        command="katze autograde",
    )


@dataclass
class _Run:
    """One run over an assignment, and what it leaves behind.

    Attributes:
        boxes: one line that says in what boxes the cells ran; empty where none did.
        gradings: for each student whose submission was graded, why, and what changed.
        unrecorded: the records that could not be written into the gradebook.
        pages: the students whose pages were written anew because of what was given by hand.
        stale_pages: those whose pages could not be.
    """

    assignment: PlainAssignment
    conditions: Conditions
    course_files: dict[str, Path]
    book: GradebookSession
    plan: Plan
    force: bool
    workers: int
    solution: Path
    boxes: str = ""
    gradings: dict[str, Grading] = field(default_factory=dict)
    unrecorded: dict[str, Record] = field(default_factory=dict)
    pages: list[str] = field(default_factory=list)
    stale_pages: list[str] = field(default_factory=list)

    @property
    def _rows(self) -> dict[str, LessonRows]:
        return {notebook.name: notebook.rows for notebook in self.assignment.notebooks}

    def grade(self, level: Level, console: Console) -> None:
        """Grade what the plan says, and record each submission as soon as it is graded."""
        name, tasks = self.assignment.name, self.plan.tasks
        workers = min(self.workers, len(tasks))
        with contextlib.ExitStack() as resources:
            fork_server = ForkServer((), level, self.assignment.limits, channels=workers, trains=False, stand_ins=False)
            resources.callback(fork_server.close)
            with self.book.begin() as connection:
                run = store.begin_run(connection, self._described(workers))
                if self.force:
                    self._set_aside(connection, run)
            fork_server.ready()
            grader = PlainGrader(self.assignment, self.conditions, fork_server, self.course_files)
            tried = try_solution(grader, self.solution)
            console.print("\n".join(tried.told), highlight=False, markup=False, soft_wrap=True)
            grader = replace(grader, doubts=tried.doubts)
            progress = resources.enter_context(progress_bar(console))
            bar = progress.add_task(name, total=len(tasks))
            try:
                for finished in share_out(grader, tasks, workers, progress.refresh):
                    assert isinstance(finished, PlainFinished)
                    self._record(grader, run, finished)
                    progress.advance(bar)
            except KeyboardInterrupt:
                raise Interrupted(
                    f"stopped: {len(self.gradings)} of {len(tasks)} done, and recorded; run `katze autograde {name}` "
                    "to go on"
                ) from None
            with self.book.begin() as connection:
                store.end_run(connection, run)

    def _described(self, workers: int) -> RunRecord:
        return RunRecord(
            lesson=self.assignment.name,
            host=socket.gethostname(),
            platform=platform.platform(),
            workers=workers,
            boxes=self.boxes,
            forced=self.force,
            submissions=len(self.plan.tasks),
        )

    def _set_aside(self, connection: Session, run: int) -> None:
        """Stop counting what is graded again by force."""
        again = [task.student for task in self.plan.tasks if task.earlier is not None]
        store.set_aside(connection, run, self.assignment.name, again, SET_ASIDE)
        for student in again:
            rows.withhold(connection, self._rows, student, SET_ASIDE)
            publish.discard(self.assignment, student)

    def _record(self, grader: PlainGrader, run: int, finished: PlainFinished) -> None:
        """Write what a worker found into the gradebook; a failure there is that submission's, not the class's."""
        student = finished.task.student
        if not finished.graded:
            publish.discard(self.assignment, student)
            if finished.record.files:
                made = publish.write_feedback(self.assignment, finished.record, {}, finished.problems)
                finished = replace(finished, record=replace(finished.record, files=made))
        try:
            self.gradings[student] = self._write(run, finished)
            return
        except BadInput:
            raise
        except Exception as error:
            problem = f"The gradebook could not be written: {error_in_words(error)}"
        publish.discard(self.assignment, student)
        failed = grader.give_up(finished.task, problem)
        try:
            self.gradings[student] = self._write(run, failed)
        except BadInput:
            raise
        except Exception:  # told already; without its files the submission is graded again by the next run
            self.gradings[student] = Grading(failed.task.why)
            self.unrecorded[student] = failed.record

    def _write(self, run: int, finished: PlainFinished) -> Grading:
        record, task = finished.record, finished.task
        contents = {name: notebook.content for name, notebook in finished.graded.items()}
        with self.book.begin() as connection:
            rows.save(connection, self._rows, record, contents, finished.problems)
            changes = store.save(connection, run, record, task.why)
        first = task.earlier is None
        return Grading(task.why, () if first else changes, first)

    def records(self) -> dict[str, Record]:
        """The records of all submissions of the plan, as they stand, with what was given by hand."""
        wanted = {record.student for record in self.plan.unchanged} | self.gradings.keys()
        with self.book.begin() as connection:
            found = store.records(connection, self.assignment.name)
            by_hand = store.by_hand(connection, self.assignment.name)
            complete = terms.with_lateness(
                self.assignment.course,
                connection,
                self.assignment.name,
                [replace(one, by_hand=by_hand.get(student, ())) for student, one in found.items() if student in wanted],
            )
        return {record.student: record for record in complete} | self.unrecorded

    def bring_to_pages(self) -> None:
        """Write pages anew where points or comments that people have given are not on them yet; nothing is run."""
        if not self.assignment.feedback:
            return
        with self.book.begin() as connection:
            written = store.pages(connection, self.assignment.name)
            penalties = rows.penalties(connection, self.assignment.name)
        changed = {}
        for student, record in self.records().items():
            now = _digest(record)
            if student in written and written[student].by_hand != now:
                made = publish.rewrite_feedback(self.assignment, record, penalties[student])
                if made is None:
                    self.stale_pages.append(student)
                else:
                    changed[student] = (replace(record, files={**record.files, **made}), now)
                    self.pages.append(student)
        if changed:
            with self.book.begin() as connection:
                for record, now in changed.values():
                    store.save_page(connection, record, now)


def _digest(record: Record) -> str:
    """Which state of what was given by hand, and of the deadline, pages show; empty where there is nothing."""
    given = [
        (
            cell.notebook,
            cell.cell,
            cell.points,
            cell.extra_credit,
            cell.comment,
            *["changed"] * cell.is_changed,
        )
        for cell in record.by_hand
        if cell.is_given or cell.comment
    ]
    late = deadline_for_student(record)
    return hashlib.sha256(json.dumps([given, late]).encode()).hexdigest() if given or late else ""


def _refused(assignment: PlainAssignment, conditions: Conditions) -> tuple[Record, ...]:
    """The records of submissions that are passed over because of their folder's name; they go into no gradebook."""
    refused = refused_submissions(assignment.course.submitted, assignment.name)
    return tuple(_passed_over(assignment, conditions, shown, why) for shown, why in refused.items())


def _passed_over(assignment: PlainAssignment, conditions: Conditions, student: str, why: str) -> Record:
    exercises = tuple(
        ExerciseRecord(notebook.exercise(test.name), test.name, "", 0, "", Outcome.UNREADABLE, None, test.points)
        for notebook in assignment.notebooks
        for test in notebook.tests
    )
    return Record(student, assignment.name, "", "", "", 0, conditions, exercises, problem=why)
