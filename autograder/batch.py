"""Grading a class: read, repair, box, check, record; many submissions at once, one gradebook writer.

Workers are forks of this process, which has torch and the exercises loaded. They share nothing but the
zygote, to which each owns a channel. What they find comes back as plain results, and this process alone writes the
gradebook.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from autograder.box import Level, Limits, Zygote, choose_level, describe
from autograder.course import Course
from autograder.errors import BadInput, Unreadable
from autograder.feedback import render_feedback
from autograder.grading import AnswerKeys, Graded, grade_cells
from autograder.repair import CellKind, Release, Repaired, repair
from autograder.results import ClassResult, ExerciseResult, SubmissionResult
from autograder.submission import Submission, check_student_id, list_submissions, read_submission
from course_lib import exercises
from course_lib.checking import Exercise, Outcome, Verdict

if TYPE_CHECKING:
    from autograder.gradebook import GradebookWriter

AHEAD = 3
"""Submissions handed out at a time for each worker: enough that none waits, few enough that memory stays flat."""

TICK_SECONDS = 0.2
"""Time between two drawings of the progress bar."""

OVERTIME_SECONDS = 60.0
"""What a worker may take for one submission beyond the submission's own time, before it is ended."""

WORKER_MEMORY = 4 << 30
"""Bytes of address space that a worker may take beyond what it starts with."""


@dataclass(frozen=True)
class Assignment:
    """A lesson as the workers need it.

    Attributes:
        course: where everything lies.
        lesson: the lesson.
        release: its released notebook.
        level: the level of the boxes.
        limits: what each submission may use.
        skip_demos: leave out cells tagged `demo`.
        feedback: write feedback pages.
    """

    course: Course
    lesson: str
    release: Release
    level: Level
    limits: Limits
    skip_demos: bool
    feedback: bool

    @property
    def exercises(self) -> list[Exercise]:
        """The lesson's exercises, in order."""
        return exercises.of_lesson(self.lesson)

    @property
    def withheld(self) -> tuple[str, ...]:
        """The modules that no box of this lesson may have: those that any of its exercises withholds."""
        return tuple(sorted({module for exercise in self.exercises for module in exercise.withheld}))


@dataclass(frozen=True)
class _Graded:
    """What a worker hands back: the result, and what the gradebook needs beside it."""

    result: SubmissionResult
    notebook: dict[str, Any] | None = None
    scores: Mapping[str, float | None] = field(default_factory=dict)
    timestamp: str = ""


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
    console: Console | None = None,
) -> ClassResult:
    """Grade the submissions to a lesson, and write gradebook, autograded notebooks and feedback.

    Args:
        course: the course.
        lesson: the lesson's folder name.
        students: only these; None for everyone who submitted.
        workers: submissions graded at once.
        min_level: refuse to grade in weaker boxes than this; by default L2 on Linux.
        level: grade at exactly this level, whatever the machine could do.
        limits: what each submission may use; by default what the course says.
        skip_demos: leave out cells tagged `demo`, unless a later cell needs one.
        feedback: write feedback pages.
        console: where the progress bar goes; by default standard error.

    Raises:
        BadInput: before anything is written: no such lesson, no submissions, an unusable student id, a
            gradebook that is in use or was made by another version, or no box of the level wanted.
    """
    start = time.perf_counter()
    course.require_exercises(exercise.id for exercise in exercises.all())
    release = Release.load(course.release_notebook(lesson))
    submissions = _selected(list_submissions(course.submitted, lesson), students, course, lesson)
    level = choose_level(min_level) if level is None else level
    assignment = Assignment(course, lesson, release, level, limits or course.limits, skip_demos, feedback)
    workers = min(workers, len(submissions))
    with contextlib.ExitStack() as resources:
        zygote = Zygote(assignment.withheld, level, assignment.limits, channels=workers)
        resources.callback(zygote.close)
        from autograder.gradebook import GradebookWriter  # takes a second, while the zygote warms up

        gradebook = resources.enter_context(GradebookWriter(course.gradebook, course.course_id))
        gradebook.ensure_assignment(lesson, release.notebook)
        zygote.ready()
        progress = resources.enter_context(_progress(console or Console(stderr=True)))
        bar = progress.add_task(lesson, total=len(submissions))
        results = []
        for graded in _in_parallel(assignment, zygote, submissions, workers, progress.refresh):
            results.append(_recorded(gradebook, assignment, graded))
            progress.advance(bar)
    results.sort(key=lambda result: result.student)
    boxes = describe(assignment.level, assignment.limits)
    return ClassResult(lesson, boxes, tuple(results), time.perf_counter() - start)


def _recorded(gradebook: GradebookWriter, assignment: Assignment, graded: _Graded) -> SubmissionResult:
    """Write a result into the gradebook. What goes wrong with one submission is that submission's, not the class's."""
    result = graded.result
    try:
        gradebook.record(
            result.student, result.lesson, graded.notebook, graded.scores, graded.timestamp or None, result.problem
        )
    except BadInput:
        raise
    except Exception as error:
        return _ungraded(assignment, result.student, f"The gradebook could not be written: {_told(error)}")
    return result


def _selected(
    submissions: list[tuple[str, Path]], students: Sequence[str] | None, course: Course, lesson: str
) -> list[tuple[str, Path]]:
    if students is not None:
        for student in students:
            check_student_id(student)
        missing = sorted(set(students) - {student for student, _ in submissions})
        if missing:
            raise BadInput(f"no submission of {', '.join(missing)} to {lesson} in {course.submitted}")
        submissions = [(student, folder) for student, folder in submissions if student in students]
    if not submissions:
        raise BadInput(f"no submissions to {lesson} in {course.submitted}/STUDENT/{lesson}/")
    return submissions


def _progress(console: Console) -> Progress:
    """A progress bar that is drawn when it is told to: a thread of its own would not survive the workers' fork."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        auto_refresh=False,
    )


def _in_parallel(
    assignment: Assignment,
    zygote: Zygote,
    submissions: list[tuple[str, Path]],
    workers: int,
    tick: Callable[[], None],
) -> Iterator[_Graded]:
    """Grade in worker processes, and call `tick` a few times a second.

    A worker that dies takes nobody with it: whatever was under way is tried once more, one at a time, so that
    only the submission over which it dies again goes ungraded.
    """
    keys = AnswerKeys(assignment.course.secret())
    waiting, died = deque(submissions), set[str]()
    while waiting:
        running: dict[Future[_Graded], tuple[str, Path]] = {}
        try:
            with _pool(assignment, zygote, keys, workers) as pool:
                while waiting or running:
                    while waiting and len(running) < (1 if waiting[0][0] in died else AHEAD * workers):
                        student, folder = waiting.popleft()
                        running[pool.submit(_grade_one, student, folder)] = (student, folder)
                    finished, _ = wait(running, TICK_SECONDS, FIRST_COMPLETED)
                    for future in finished:
                        graded = future.result()
                        del running[future]
                        yield graded
                    tick()
        except BrokenProcessPool:
            for student, folder in running.values():
                if student in died:
                    problem = "The grader's own process died over this submission, twice."
                    yield _Graded(_ungraded(assignment, student, problem))
                else:
                    died.add(student)
                    waiting.append((student, folder))


def _pool(assignment: Assignment, zygote: Zygote, keys: AnswerKeys, workers: int) -> Executor:
    """Workers, each with one of the zygote's channels: forks of this process where boxes are forks as well.

    Elsewhere (macOS) torch makes a fork unsafe. There boxes are fresh processes, and workers are threads, which
    mostly wait for them.
    """
    if zygote.start == "fork":
        context = multiprocessing.get_context("fork")
        channels = _numbered(context.SimpleQueue(), workers)
        return ProcessPoolExecutor(workers, context, _begin_worker, (assignment, zygote, keys, channels))
    channels = _numbered(SimpleQueue(), workers)
    return ThreadPoolExecutor(workers, initializer=_begin_worker, initargs=(assignment, zygote, keys, channels))


def _numbered(channels: Any, count: int) -> Any:
    """A queue from which each worker takes the number of its channel."""
    for channel in range(count):
        channels.put(channel)
    return channels


_here = threading.local()  # `_here.worker` is the worker that this process or thread is


@dataclass(frozen=True)
class _Worker:
    assignment: Assignment
    zygote: Zygote
    keys: AnswerKeys
    channel: int


def _begin_worker(assignment: Assignment, zygote: Zygote, keys: AnswerKeys, channels: Any) -> None:
    _here.is_process = multiprocessing.parent_process() is not None
    if _here.is_process and sys.platform.startswith("linux"):
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (mapped + WORKER_MEMORY, most))
    torch.set_num_threads(1)  # threads do not survive the fork: a parallel region here could wait for them for ever
    channel = channels.get()
    zygote.take_over(channel)
    _here.worker = _Worker(assignment, zygote, keys, channel)


def _grade_one(student: str, folder: Path) -> _Graded:
    """Grade one submission in a worker. The grader's own failures are results too: `ungraded`, no score."""
    start = time.perf_counter()
    assignment = _here.worker.assignment
    try:
        with _alarm(assignment.limits.submission_seconds + OVERTIME_SECONDS):
            graded = _grade(_here.worker, student, folder)
    except Exception as error:  # whatever it is, it must not stop the class
        graded = _Graded(_ungraded(assignment, student, f"The grader failed: {_told(error)}"))
    return replace(graded, result=replace(graded.result, seconds=time.perf_counter() - start))


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """End this process, if it is a worker's own, unless the block is left in time.

    The grader's own work on a hostile notebook has no other clock, and none that would stop C code.
    """
    if not _here.is_process:
        yield
        return
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _told(error: Exception) -> str:
    """An error of the grader's own, with the place where it happened."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {str(error)[:300]} ({Path(where.filename).name}:{where.lineno})"


def _ungraded(assignment: Assignment, student: str, problem: str) -> SubmissionResult:
    return SubmissionResult.without_score(student, assignment.lesson, assignment.exercises, Outcome.UNGRADED, problem)


def _grade(worker: _Worker, student: str, folder: Path) -> _Graded:
    assignment, lesson = worker.assignment, worker.assignment.lesson
    try:
        submission = read_submission(folder, lesson)
        repaired = repair(submission, assignment.release)
    except Unreadable as problem:
        result = SubmissionResult.without_score(
            student, lesson, assignment.exercises, Outcome.UNREADABLE, problem.reason
        )
        _discard(assignment.course.autograded, student, lesson, f"{lesson}.ipynb")
        _write_feedback(assignment, result, None, {})
        return _Graded(result)
    graded = grade_cells(
        repaired.cells,
        open_box=lambda seconds: worker.zygote.open_box(channel=worker.channel, seconds=seconds),
        key_for=lambda exercise: worker.keys.key(exercise, student),
        limits=assignment.limits,
        skip_demos=assignment.skip_demos,
        allowances=assignment.course.exercise_limits,
    )
    return _written(assignment, student, submission, repaired, graded)


def _written(
    assignment: Assignment, student: str, submission: Submission, repaired: Repaired, graded: Graded
) -> _Graded:
    """Write the autograded notebook and the feedback page, and return what the gradebook needs."""
    lesson = assignment.lesson
    result = SubmissionResult(
        student,
        lesson,
        assignment.level.name,
        tuple(ExerciseResult.of(verdict) for verdict in graded.verdicts.values()),
        repairs=repaired.repairs,
    )
    notebook = repaired.notebook(_outputs(graded), _check_outputs(graded.verdicts))
    text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    _publish(assignment.course.autograded, student, lesson, f"{lesson}.ipynb", text)
    _write_feedback(assignment, result, notebook, graded.verdicts)
    scores = {
        str(cell.nbgrader["grade_id"]): graded.verdicts[cell.exercise].points
        for cell in repaired.cells
        if cell.kind is CellKind.CHECK and cell.exercise in graded.verdicts
    }
    return _Graded(result, notebook, scores, submission.timestamp)


def _write_feedback(
    assignment: Assignment,
    result: SubmissionResult,
    notebook: Mapping[str, Any] | None,
    verdicts: Mapping[str, Verdict],
) -> None:
    if not assignment.feedback:
        return
    page = render_feedback(
        notebook,
        result.student,
        result.lesson,
        {exercise: verdict.html() for exercise, verdict in verdicts.items()},
        result.points,
        result.max_points,
        result.repairs,
        result.exercises,
        result.problem,
    )
    _publish(assignment.course.feedback, result.student, result.lesson, f"{result.lesson}.html", page)


def _outputs(graded: Graded) -> dict[int, list[dict[str, Any]]]:
    """What the cells put out, and below it a notice where one has hit a limit."""
    outputs = dict(graded.outputs)
    for place, notice in graded.notices.items():
        said = {"output_type": "stream", "name": "stderr", "text": f"[katze] {notice}\n"}
        outputs[place] = [*outputs.get(place, []), said]
    return outputs


def _check_outputs(verdicts: Mapping[str, Verdict]) -> dict[str, list[dict[str, Any]]]:
    return {
        exercise: [
            {
                "output_type": "display_data",
                "data": {"text/html": verdict.html(), "text/plain": verdict.text()},
                "metadata": {},
            }
        ]
        for exercise, verdict in verdicts.items()
    }


def _publish(root: Path, student: str, lesson: str, name: str, text: str) -> None:
    """Write a file in nbgrader's layout, whole or not at all."""
    folder = root / student / lesson
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f".{name}.{os.getpid()}"
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(folder / name)


def _discard(root: Path, student: str, lesson: str, name: str) -> None:
    """Remove what an earlier run left, so that no stale grade is shown."""
    (root / student / lesson / name).unlink(missing_ok=True)
