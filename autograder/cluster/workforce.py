"""A lesson graded on a cluster: `katze grade LESSON --scheduler ADDRESS`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.console import Console

from autograder.box import Level, describe
from autograder.cluster.connecting import PATIENCE_SECONDS, check_address, connected
from autograder.cluster.examining import Examined, examine_oneself
from autograder.cluster.parcels import Parcel, open_reply, pack_task
from autograder.cluster.pool import ClusterPool, examine_workers, require_a_worker, workers_of
from autograder.cluster.visiting import LessonStation, Order
from autograder.errors import Unreadable
from autograder.grading.assignment import Assignment
from autograder.grading.batch import Hire
from autograder.grading.plan import Task, written_files
from autograder.grading.publish import write_whole
from autograder.grading.recording import Finished, record_without_score
from autograder.grading.submission import AnswerKeys
from autograder.grading.workers import give_back_unread, hand_out
from autograder.intake import timestamps
from autograder.intake.submission import find_submission
from autograder.words import count
from course_lib.checking import Outcome


@dataclass(frozen=True)
class LessonDesk:
    """The client's side of a lesson's grading.

    Attributes:
        assignment: the lesson.
        keys: the answer keys.
        order: what workers are to do, from `Order.pack`.
        here: what this process would grade with.
    """

    assignment: Assignment
    keys: AnswerKeys
    order: bytes
    here: Examined

    def station(self, name: str) -> LessonStation:
        """What each worker is to keep ready."""
        return LessonStation(name, self.order, self.assignment.course.secret(), self.here.pack())

    def pack(self, task: Task) -> Parcel | Finished:
        """The submission's notebook, found, and not opened unless there are several; or that there is none."""
        assignment = self.assignment
        try:
            found, timestamp = find_submission(task.folder, assignment.lesson, assignment.answers_in)
        except Unreadable as problem:
            return give_back_unread(assignment, self.keys, task, problem.reason)
        stated = timestamp if os.path.lexists(task.folder / timestamps.NAME) else None
        return Parcel(pack_task(task, found.notes, stated), found.content, self._kept(task))

    def unpack(self, task: Task, reply: bytes) -> Finished:
        """Write the files of a graded submission."""
        returned = open_reply(reply, task, self.assignment.conditions)
        written = {}
        for kind, path in written_files(self.assignment, task.student).items():
            if kind in returned.texts:
                written[kind] = write_whole(path, returned.texts[kind])
            else:
                path.unlink(missing_ok=True)
        finished = returned.finished
        return replace(finished, record=replace(finished.record, files=written))

    def give_up(self, task: Task, problem: str) -> Finished:
        """What comes of a submission over which the grader itself has failed: `ungraded`, no score."""
        return record_without_score(self.assignment, self.keys, task, Outcome.UNGRADED, problem)

    def _kept(self, task: Task) -> bytes:
        """The notebook of before, where only some of its exercises are judged anew."""
        if task.earlier is None or not self.assignment.fingerprints.keys() - task.judged:
            return b""
        try:
            return written_files(self.assignment, task.student)["autograded"].read_bytes()
        except OSError:
            return b""


def hire_at(
    address: str,
    workers: int,
    patience: float = PATIENCE_SECONDS,
    trusted: bool = False,
    console: Console | None = None,
) -> Hire:
    """Have a cluster grade.

    Args:
        address: of its scheduler, such as "tcp://10.0.0.1:8786", or "local".
        workers: how many workers a local cluster has.
        patience: how long to wait for the scheduler, and then for a worker, in seconds.
        trusted: whether a connection to another machine may be unencrypted.
        console: where lines on single workers go; by default standard error.

    Raises:
        BadInput: the address is none, or the way there is open to others.
    """
    check_address(address, trusted)
    console = console or Console(stderr=True)

    def tell(line: str) -> None:
        console.print(line, highlight=False, markup=False, soft_wrap=True)

    def hire(assignment: Assignment, most: int, min_level: Level | None, level: Level | None) -> ClusterWorkforce:
        return ClusterWorkforce(address, assignment, min(workers, most), min_level, level, tell, patience, trusted)

    return hire


class ClusterWorkforce:
    """The workers of a cluster, of which those take part that grade as this machine would.

    Args:
        address: of the scheduler, or "local".
        assignment: the lesson.
        wanted: how many workers a local cluster has.
        min_level: the weakest boxes that will do; None for what grading takes by itself.
        level: boxes of exactly this level, untried.
        tell: takes a line for the instructor.
        patience: how long to wait for the scheduler, and then for a worker, in seconds.
        trusted: whether a connection to another machine may be unencrypted.
    """

    def __init__(
        self,
        address: str,
        assignment: Assignment,
        wanted: int,
        min_level: Level | None,
        level: Level | None,
        tell: Callable[[str], None],
        patience: float,
        trusted: bool,
    ) -> None:
        self._address = address
        self._assignment = assignment
        self._wanted = wanted
        self._levels = ("" if min_level is None else min_level.name, "" if level is None else level.name)
        self._tell = tell
        self._patience = patience
        self._trusted = trusted
        self._resources = contextlib.ExitStack()
        self._client: Any = None
        self._good: dict[str, Examined] = {}

    @property
    def workers(self) -> int:
        """How many take part at the beginning."""
        self.begin()
        return len(self._good)

    def described(self) -> str:
        """Where, and in what boxes, in a line."""
        self.begin()
        weakest = min(Level[one.level] for one in self._good.values())
        hosts = len({one.host for one in self._good.values()})
        where = f"{count(len(self._good), 'worker')} on {count(hosts, 'machine')}"
        return f"{where}; {describe(weakest, self._assignment.limits)}"

    def begin(self) -> None:
        """Connect, and find out who may take part.

        Raises:
            BadInput: nobody answers, or no worker may.
        """
        if self._client is not None:
            return
        reached = connected(self._address, self._wanted, self._patience, self._trusted)
        self._client = self._resources.enter_context(reached)
        self._here = examine_oneself(level=Level.L0.name)  # here no box is opened
        examined = examine_workers(self._client, *self._levels)
        self._good = require_a_worker(workers_of(self._client), examined, self._here, self._tell)

    def grade(self, keys: AnswerKeys, tasks: Sequence[Task], tick: Callable[[], None]) -> Iterator[Finished]:
        """Grade on the workers.

        Raises:
            WorkersLost: they are gone.
        """
        self.begin()
        order = Order.of(self._assignment, *self._levels).pack()
        desk = LessonDesk(self._assignment, keys, order, self._here)
        return hand_out(lambda: ClusterPool(self._client, desk, self._tell), desk.give_up, tasks, tick)

    def close(self) -> None:
        """End the connection, and a local cluster."""
        self._resources.close()
