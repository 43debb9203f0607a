"""Grades a run's submissions in processes of this machine, unless a cluster does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from autograder.box.confinement.levels import Level, describe
from autograder.box.confinement.selftest import choose_level
from autograder.box.fork_server.client import ForkServer
from autograder.box.fork_server.root import BoxRoot
from autograder.grading.strategy import Strategy, Tell
from autograder.grading.task import Finished, Task
from autograder.grading.workers import grade_in_parallel


class Backend(Protocol):
    """Who grades a run's submissions, and in what sandboxes."""

    @property
    def workers(self) -> int:
        """How many submissions are graded at once."""

    def describe(self) -> str:
        """Level and limits of the sandboxes, in a line."""

    def begin(self) -> None:
        """Make ready, perhaps in the background.

        Raises:
            BadInput: nobody can grade.
        """

    def grade(self, tasks: Sequence[Task], tell: Tell, tick: Callable[[], None]) -> Iterator[Finished]:
        """Grade, and call `tick` a few times a second.

        Raises:
            WorkersLost: those who grade are gone; what they have handed back stays.
        """

    def close(self) -> None:
        """End what was begun."""


StartBackend = Callable[[Strategy, int, Level | None, Level | None], Backend]
"""Makes one for an assignment, the most workers that could be busy, the weakest sandboxes that will do, and the only
ones.
"""


class LocalBackend:
    """A run's sandboxes, of a level that is found by trying. They take two seconds to warm up, in the background."""

    def __init__(
        self,
        strategy: Strategy,
        workers: int,
        min_level: Level | None,
        level: Level | None,
        root: BoxRoot | None = None,
    ) -> None:
        """Nothing is started yet.

        Args:
            strategy: says what each sandbox may use, and where it comes from.
            workers: processes that open sandboxes, at most.
            min_level: the weakest level to accept.
            level: this level exactly, untried.
            root: where sandboxes have been begun already, for as many workers, at a level that was tried.
        """
        self._strategy = strategy
        self._min_level = min_level
        self._level = level if root is None else root.level
        self._root = root
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

    def describe(self) -> str:
        """Level and limits, in a line."""
        return describe(self.level(), self._strategy.limits)

    def begin(self) -> None:
        """Start what sandboxes come from; it warms up in the background."""
        if self._fork_server is None:
            self._fork_server = self._strategy.make_fork_server(self.level(), self.workers, self._root)

    def grade(self, tasks: Sequence[Task], tell: Tell, tick: Callable[[], None]) -> Iterator[Finished]:
        """Grade in processes that are forks of this one."""
        self.begin()
        assert self._fork_server is not None
        _ = self._strategy.conditions  # while sandboxes warm up: else every worker would read all sources
        self._fork_server.ready()
        self._strategy.rehearse(self._fork_server, tell)
        return grade_in_parallel(self._strategy, self._fork_server, tasks, min(self.workers, len(tasks)), tick)

    def close(self) -> None:
        """End what was begun."""
        if self._fork_server is not None:
            self._fork_server.close()
