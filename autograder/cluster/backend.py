"""Grades an assignment on a cluster: `katze grade ASSIGNMENT --scheduler ADDRESS`."""

import contextlib
import functools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.console import Console

from autograder.box.confinement.levels import Level, describe
from autograder.box.confinement.selftest import choose_level
from autograder.cluster.connecting import PATIENCE_SECONDS, check_address, connected
from autograder.cluster.examining import Examined, examine_oneself
from autograder.cluster.grading_on_worker import GradingOnWorker, Levels
from autograder.cluster.lesson_on_worker import LessonOnWorker
from autograder.cluster.messages import open_reply, pack, pack_task
from autograder.cluster.plain_on_worker import PlainOnWorker
from autograder.cluster.pool import ClusterPool, examine_workers, require_a_worker
from autograder.errors import Unreadable
from autograder.grading.backend import StartBackend
from autograder.grading.exercise_strategy import ExerciseStrategy
from autograder.grading.plain.strategy import PlainStrategy
from autograder.grading.publish import write_whole
from autograder.grading.strategy import Strategy, Tell
from autograder.grading.task import Finished, Task
from autograder.grading.workers import schedule
from autograder.intake import timestamps
from autograder.intake.archives import NOTEBOOK_BYTES, Refused
from autograder.intake.folders import TooManyFiles, walked
from autograder.intake.submission import find_submission
from autograder.words import count

MOST_BYTES = 2 * NOTEBOOK_BYTES
"""The most bytes of a submission's files that are sent to a worker."""


@dataclass
class ClusterBackend:
    """The workers of a cluster, and the client's side of a run on them; those take part that would grade as this
    machine does.

    Attributes:
        connect: connects a client to the cluster; takes the number of workers if it is local.
        wanted: the number of workers of a local cluster.
        strategy: the assignment's grading strategy.
        most: how many workers could be busy.
        min_level: the weakest acceptable sandbox level; None for grading's default.
        level: the exact sandbox level, used without a test; None to choose one.
    """

    connect: Callable[[int], contextlib.AbstractContextManager[Any]]
    wanted: int
    strategy: Strategy
    most: int
    min_level: Level | None
    level: Level | None

    def __post_init__(self) -> None:
        self._resources = contextlib.ExitStack()
        self._client: Any = None
        self._good: list[Examined] = []

    @property
    def workers(self) -> int:
        """The number of workers that take part at the beginning."""
        self.begin()
        return len(self._good)

    def describe(self) -> str:
        """Return a line about the workers and their sandboxes."""
        self.begin()
        weakest = min(Level[worker.level] for worker in self._good)
        hosts = len({worker.host for worker in self._good})
        where = f"{count(len(self._good), 'worker')} on {count(hosts, 'machine')}"
        return f"{where}; {describe(weakest, self.strategy.course.limits)}"

    def begin(self) -> None:
        """Connect, and find out which workers may take part.

        Raises:
            BadInput: the scheduler does not answer, or no worker may grade.
        """
        if self._client is not None:
            return
        self._client = self._resources.enter_context(self.connect(min(self.wanted, self.most)))
        self._here = examine_oneself(level=Level.L0.name)  # the client opens no sandbox
        self._good = require_a_worker(examine_workers(self._client, self._here, *self._levels), _tell)

    @property
    def _levels(self) -> Levels:
        return self.min_level.name if self.min_level else "", self.level.name if self.level else ""

    def grade(self, tasks: Sequence[Task], tell: Tell, tick: Callable[[], None]) -> Iterator[Finished]:
        """Grade on the workers.

        Raises:
            WorkersLost: all workers, or the connection to them, are gone.
        """
        self.begin()
        if isinstance(self.strategy, PlainStrategy):
            with self.strategy.make_fork_server(self.level or choose_level(self.min_level)) as fork_server:
                self.strategy.rehearse(fork_server, tell)
        return schedule(lambda: ClusterPool(self._client, self, _tell), self.give_up, tasks, tick)

    def on_worker(self, name: str) -> GradingOnWorker:
        """Return what each worker is to set up for the run with this name."""
        if isinstance(self.strategy, PlainStrategy):
            return PlainOnWorker(name, self.strategy, self._levels, self._here)
        assert isinstance(self.strategy, ExerciseStrategy)
        return LessonOnWorker(name, self.strategy, self._levels, self._here)

    def pack(self, task: Task) -> bytes | Finished:
        """Return the bytes to send, or the result of a submission that cannot be used."""
        if isinstance(self.strategy, PlainStrategy):
            return _pack_folder(self.strategy, task)
        assert isinstance(self.strategy, ExerciseStrategy)
        return _pack_notebook(self.strategy, task)

    def unpack(self, task: Task, reply: bytes) -> Finished:
        """Write the files of a graded submission, and return its result."""
        finished, texts = open_reply(reply, task, self.strategy.conditions)
        written = {}
        for kind, path in self.strategy.written_files(task.student).items():
            if kind in texts:
                written[kind] = write_whole(path, texts[kind])
            else:
                path.unlink(missing_ok=True)
        return replace(finished, record=replace(finished.record, files=written))

    def give_up(self, task: Task, problem: str) -> Finished:
        """Return the result for a submission that the grader itself failed on: `ungraded`, no score."""
        return self.strategy.give_up(task, problem)

    def close(self) -> None:
        """Close the connection, and stop a local cluster."""
        self._resources.close()


def _pack_notebook(strategy: ExerciseStrategy, task: Task) -> bytes | Finished:
    """Find and pack the submission's notebook; open it only if there are several; refuse if there is none."""
    try:
        found, timestamp = find_submission(task.folder, strategy.name, strategy.assignment.answers_in)
    except Unreadable as problem:
        return strategy.refuse(task, problem.reason)
    stated = timestamp if os.path.lexists(task.folder / timestamps.NAME) else None
    kept = b""
    if task.earlier is not None and strategy.exercises - task.judged:  # the other verdicts stay in the earlier notebook
        with contextlib.suppress(OSError):
            kept = strategy.written_files(task.student)["autograded"].read_bytes()
    return pack_task(task, found.content, kept, found.notes, stated)


def _pack_folder(strategy: PlainStrategy, task: Task) -> bytes | Finished:
    """Pack the regular files in the submission's folder, unopened; leave out links and whatever is too large."""
    files, left, most = dict[str, bytes](), MOST_BYTES, 2 * strategy.course.limits.files
    try:
        with timestamps.opened(task.folder) as inside, contextlib.suppress(TooManyFiles):
            for file in walked(inside, {}, most, hidden=True):
                with contextlib.suppress(Refused):
                    files[file.path] = file.content(left)
                    left -= len(files[file.path])
    except Unreadable as problem:
        return strategy.refuse(task, problem.reason)
    return pack_task(task, pack(files))


def cluster_backend(
    address: str, workers: int, patience: float = PATIENCE_SECONDS, trusted: bool = False
) -> StartBackend:
    """Return what starts a backend that grades on a cluster.

    Args:
        address: the scheduler's address, such as "tcp://10.0.0.1:8786", or "local".
        workers: the number of workers of a local cluster.
        patience: how long to wait for the scheduler, and then for a worker, in seconds.
        trusted: whether a connection to another machine may be unencrypted.

    Raises:
        BadInput: the address is invalid, or the connection would be unencrypted without being trusted.
    """
    check_address(address, trusted)
    connect = functools.partial(connected, address, patience=patience, trusted=trusted)
    return functools.partial(ClusterBackend, connect, workers)


def _tell(line: str) -> None:
    """Print a line about one worker for the instructor."""
    Console(stderr=True).print(line, highlight=False, markup=False, soft_wrap=True)
