"""Runs the workers that grade submissions, many at once.

Workers are forks of this process, which has torch and the exercises loaded. They share only the fork server, to which
each has its own channel. Their results come back as plain data, but they write a graded submission's files themselves.
`grade_in_parallel` is for workers of this machine, `schedule` for workers anywhere.
"""

import contextlib
import multiprocessing
import resource
import signal
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Protocol

import torch

from autograder.box import processes
from autograder.box.confinement.levels import mapped_bytes
from autograder.box.endings import ForkServerEnded
from autograder.box.fork_server.client import ForkServer
from autograder.errors import DISK_FULL
from autograder.grading.strategy import Strategy
from autograder.grading.task import Finished, Task

AHEAD = 3
"""Submissions queued per worker: enough that none waits, few enough that memory stays flat."""

TICK_SECONDS = 0.2
"""Seconds between two updates of the progress bar."""

OWN_SECONDS = 60.0
"""Processor seconds that a worker itself may use for one submission before it is ended; sandboxes have their own."""

OVERTIME_FACTOR = 2.0
"""A worker is ended after this many times a submission's time limit, by the clock."""

TRIED_AGAIN = (
    "a time limit was hit while the machine was busy, so the whole submission was graded a second time, by itself"
)
"""Remark for the instructor on a submission that got a second try."""

WORKER_MEMORY = 4 << 30
"""Bytes of address space that a worker may take in addition to what it starts with."""

DIED_TWICE = "The grader's own process crashed on this submission, twice."
"""The reason why a submission is ungraded."""


class WorkersLost(Exception):
    """No worker is left, or none can be reached; the message says which."""


class WorkerDied(Exception):
    """A worker died while grading a submission; others are still alive."""


class Pool(Protocol):
    """Workers that take submissions."""

    @property
    def ahead(self) -> int:
        """Return how many submissions they may have at a time; 0 while none is ready.

        Raises:
            WorkersLost: none ever will be.
        """

    def submit(self, task: Task) -> Future[Finished]:
        """Give them a submission.

        Its future may raise `WorkerDied`, or `BrokenProcessPool`, after which the pool takes no more.
        """


def grade_in_parallel(
    strategy: Strategy, fork_server: ForkServer, tasks: Iterable[Task], workers: int, tick: Callable[[], None]
) -> Iterator[Finished]:
    """Grade in worker processes of this machine, in this order, and call `tick` a few times a second.

    Args:
        strategy: of the assignment.
        fork_server: opens the sandboxes; it has a channel for each worker.
        tasks: the submissions.
        workers: the number of submissions graded at once.
        tick: draws the progress.
    """
    return schedule(lambda: _open_workers(strategy, fork_server, workers), strategy.give_up, tasks, tick)


def schedule(
    open_pool: Callable[[], AbstractContextManager[Pool]],
    give_up: Callable[[Task, str], Finished],
    tasks: Iterable[Task],
    tick: Callable[[], None],
) -> Iterator[Finished]:
    """Have submissions graded, in this order, and call `tick` a few times a second.

    No submission is lost when a worker or the fork server dies: submissions under way are tried once more, one at a
    time, and only one that kills a worker again goes ungraded. Nor does a busy machine cost anybody a point: a
    submission that may have hit a time limit because of it is graded once more after the others, alone.

    Args:
        open_pool: starts the workers, and starts them again if they all break down.
        give_up: returns the result for a submission that the grader itself failed on.
        tasks: the submissions.
        tick: draws the progress.

    Raises:
        WorkersLost: the workers are gone and cannot be restarted from here.
    """
    waiting, died, starved = deque(tasks), set[str](), set[str]()

    def fail(task: Task) -> Iterator[Finished]:
        if task.student in died:
            yield give_up(task, DIED_TWICE)
        else:
            died.add(task.student)
            waiting.append(task)

    while waiting:
        running: dict[Future[Finished], Task] = {}
        try:
            with open_pool() as pool:
                while waiting or running:
                    ahead = pool.ahead
                    while waiting and len(running) < min(ahead, 1 if waiting[0].student in died | starved else ahead):
                        task = waiting.popleft()
                        running[pool.submit(task)] = task
                    if not running:
                        time.sleep(TICK_SECONDS)
                    finished, _ = wait(running, TICK_SECONDS, FIRST_COMPLETED)
                    for future in finished:
                        try:
                            graded = future.result()
                        except WorkerDied:
                            yield from fail(running.pop(future))
                            continue
                        task = running.pop(future)
                        if graded.starved and task.student not in starved:
                            starved.add(task.student)
                            waiting.append(task)
                        elif task.student in starved:
                            remarks = (*graded.record.remarks, TRIED_AGAIN)
                            yield replace(graded, record=replace(graded.record, remarks=remarks))
                        else:
                            yield graded
                    tick()
        except (BrokenProcessPool, ForkServerEnded):  # a new pool has both
            for task in running.values():
                yield from fail(task)


@dataclass(frozen=True)
class _Executor:
    """Workers of this machine, each with its own channel to the fork server."""

    executor: Executor
    ahead: int

    def submit(self, task: Task) -> Future[Finished]:
        return self.executor.submit(_grade_one, task)


@contextlib.contextmanager
def _open_workers(strategy: Strategy, fork_server: ForkServer, workers: int) -> Iterator[Pool]:
    """Start workers as forks of this process where sandboxes are forks, too.

    Elsewhere (macOS), torch makes forking unsafe: sandboxes are fresh processes, and workers are threads, which mostly
    wait for them.
    """
    fork_server.revive()
    forks = multiprocessing.get_context("fork") if fork_server.start == "fork" else None
    channels: Any = SimpleQueue() if forks is None else forks.SimpleQueue()
    for channel in range(workers):
        channels.put(channel)
    own = (strategy, fork_server, channels)
    executor = (
        ThreadPoolExecutor(workers, initializer=_begin_worker, initargs=own)
        if forks is None
        else ProcessPoolExecutor(workers, forks, _begin_worker, own)
    )
    with executor:
        yield _Executor(executor, AHEAD * workers)


_here = threading.local()  # `_here.strategy` and `_here.grade` are what this process or thread works with


def _begin_worker(strategy: Strategy, fork_server: ForkServer, channels: Any) -> None:
    _here.is_process = multiprocessing.parent_process() is not None
    if _here.is_process and sys.platform.startswith("linux"):
        processes.end_with_parent()  # a run that is killed leaves nobody writing
        limit_own_memory()
    torch.set_num_threads(1)  # threads do not survive the fork: a parallel region here could wait for them for ever
    channel = channels.get()
    fork_server.take_over(channel)
    _here.strategy, _here.grade = strategy, strategy.begin(fork_server, channel)


def limit_own_memory() -> None:
    """Limit this process to `WORKER_MEMORY` more than it has now, if the system tells how much that is."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (mapped_bytes() + WORKER_MEMORY, most))


def _grade_one(task: Task) -> Finished:
    """Grade one submission in a worker."""
    return grade_watched(_here.strategy, _here.grade, task, ends_process=_here.is_process)


def grade_watched(
    strategy: Strategy, grade: Callable[[Task], Finished], task: Task, ends_process: bool = True
) -> Finished:
    """Grade one submission. The grader's own failures are results too: `ungraded`, no score.

    Args:
        strategy: makes the result if grading fails.
        grade: returned by `strategy.begin`.
        task: the submission.
        ends_process: whether to end this process, which must be the worker's own, if grading takes too long.

    Raises:
        OSError: the disk is full, so every submission would fail.
        ForkServerEnded: the fork server is gone; its owner can start another one.
    """
    start = time.perf_counter()
    limits = strategy.course.limits
    passed = OVERTIME_FACTOR * limits.wall(limits.submission_seconds * len(strategy.notebooks))
    try:
        with _alarm(OWN_SECONDS, passed) if ends_process else contextlib.nullcontext():
            finished = grade(task)
    except ForkServerEnded:  # it would be every submission's failure
        raise
    except Exception as error:  # whatever it is, it must not stop the class
        if isinstance(error, OSError) and error.errno in DISK_FULL:
            raise
        finished = strategy.give_up(task, f"The grader failed: {error_in_words(error)}")
    return replace(finished, record=replace(finished.record, seconds=time.perf_counter() - start))


@contextlib.contextmanager
def _alarm(computed: float, passed: float) -> Iterator[None]:
    """End this process unless the block finishes in time.

    No other clock limits the grader's own work on a hostile notebook, and none could stop C code.

    Args:
        computed: the limit in seconds of processor time.
        passed: the limit in wall-clock seconds.
    """
    alarms = ((signal.SIGPROF, signal.ITIMER_PROF, computed), (signal.SIGALRM, signal.ITIMER_REAL, passed))
    for number, timer, seconds in alarms:
        if threading.current_thread() is threading.main_thread():  # elsewhere it stays what it was: this, by default
            signal.signal(number, signal.SIG_DFL)
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for _, timer, _ in alarms:
            signal.setitimer(timer, 0)


def error_in_words(error: Exception) -> str:
    """Describe an error of the grader itself, with the place where it happened."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {str(error)[:300]} ({Path(where.filename).name}:{where.lineno})"
