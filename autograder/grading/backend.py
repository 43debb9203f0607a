"""Grades a run's submissions in processes of this machine, unless a cluster does."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from autograder.box.confinement.levels import Level, describe
from autograder.box.confinement.selftest import choose_level
from autograder.box.fork_server.client import ForkServer
from autograder.box.fork_server.root import BoxRoot
from autograder.grading.strategy import Strategy, Tell
from autograder.grading.task import Finished, Task
from autograder.grading.workers import grade_in_parallel


class Backend(Protocol):
    """Grades a run's submissions in sandboxes, here or elsewhere."""

    @property
    def workers(self) -> int:
        """The number of submissions graded at once."""

    def describe(self) -> str:
        """Describe the sandboxes' level and limits in one line."""

    def begin(self) -> None:
        """Get ready, perhaps in the background.

        Raises:
            BadInput: no worker can grade.
        """

    def grade(self, tasks: Sequence[Task], tell: Tell, tick: Callable[[], None]) -> Iterator[Finished]:
        """Grade these submissions, and call `tick` a few times a second.

        Raises:
            WorkersLost: the workers are gone; the results so far stay.
        """

    def close(self) -> None:
        """Stop everything."""


StartBackend = Callable[[Strategy, int, Level | None, Level | None], Backend]
"""Makes a backend for an assignment, given the most workers that could be busy, the weakest level to accept, and the
only level to use.
"""


@dataclass
class LocalBackend:
    """Grades in processes of this machine, at the best level that works here. Warming up takes two seconds, in the
    background.

    Attributes:
        strategy: sets the sandboxes' limits and makes their fork server.
        workers: the largest number of processes that open sandboxes.
        min_level: the weakest level to accept.
        only_level: use exactly this level, without trying it.
        root: an early-started fork server for as many workers, at a level that was tried.
    """

    strategy: Strategy
    workers: int
    min_level: Level | None
    only_level: Level | None
    root: BoxRoot | None = None
    _fork_server: ForkServer | None = field(default=None, init=False)

    @cached_property
    def level(self) -> Level:
        """The level.

        Raises:
            BadInput: no level that works here is strong enough.
        """
        level = self.only_level if self.root is None else self.root.level
        return choose_level(self.min_level) if level is None else level

    def describe(self) -> str:
        """Describe level and limits in one line."""
        return describe(self.level, self.strategy.course.limits)

    def begin(self) -> None:
        """Start the fork server, which warms up in the background."""
        if self._fork_server is None:
            self._fork_server = self.strategy.make_fork_server(self.level, self.workers, self.root)

    def grade(self, tasks: Sequence[Task], tell: Tell, tick: Callable[[], None]) -> Iterator[Finished]:
        """Grade in forks of this process."""
        self.begin()
        assert self._fork_server is not None
        _ = self.strategy.conditions  # while sandboxes warm up: else every worker would read all sources
        self._fork_server.ready()
        self.strategy.rehearse(self._fork_server, tell)
        return grade_in_parallel(self.strategy, self._fork_server, tasks, min(self.workers, len(tasks)), tick)

    def close(self) -> None:
        """Stop everything."""
        if self._fork_server is not None:
            self._fork_server.close()
