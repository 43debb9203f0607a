"""Keeps a sandbox's clocks: how much time it has spent, and when that is too much.

Verdicts must depend on the answer and not on the machine. So three times are kept apart: processor time, time in which
the sandbox waited by its own choice (asleep, or for a lock), and time in which the grader waited for it. If the third
exceeds the sum of the others, the sandbox could not compute because the machine was busy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from autograder.box.processes import Doing, Reading
from autograder.limits import Limits


@dataclass(frozen=True)
class Spent:
    """Seconds that a sandbox has spent since some moment.

    Attributes:
        computed: processor time of all threads and processes.
        waited: time in which it did not compute, although nothing kept it from computing.
        passed: wall-clock time in which the grader waited for it.
    """

    computed: float = 0.0
    waited: float = 0.0
    passed: float = 0.0

    def __sub__(self, other: Spent) -> Spent:
        return Spent(self.computed - other.computed, self.waited - other.waited, self.passed - other.passed)

    @property
    def starved(self) -> bool:
        """Return whether the machine kept the sandbox from computing for most of the time."""
        return 2 * (self.computed + self.waited) < self.passed


@dataclass(frozen=True)
class Clock:
    """When to give up waiting.

    Attributes:
        seconds: how long a sandbox may compute, and how long it may wait without computing.
        wall: the longest to wait for it, however busy the machine is.
        setting: the limit that sets `seconds`.
        wall_setting: the limit that sets `wall`.
        out_of_time: whether it ends the whole submission.
    """

    seconds: float
    wall: float
    setting: str = ""
    wall_setting: str = ""
    out_of_time: bool = False

    @classmethod
    def of(cls, limits: Limits, setting: str) -> Clock:
        """Return the clock for one of the limits."""
        seconds = getattr(limits, setting)
        wall = limits.wall(seconds)
        wall_setting = "wall_seconds" if wall == limits.wall_seconds else "wall_factor"
        return cls(seconds, wall, setting, wall_setting, setting == "submission_seconds")

    def with_left(self, seconds: float) -> Clock:
        """Return the same clock with this many seconds left, and the wall-clock time in proportion."""
        return replace(self, seconds=seconds, wall=self.wall * seconds / self.seconds)

    def exceeded(self, spent: Spent, silent: bool) -> tuple[str, str] | None:
        """Return what was exceeded, in words, and the limit's name; None if nothing was.

        Args:
            spent: time spent since the clock was started.
            silent: whether the sandbox has sent nothing. A reply that has arrived counts, however late it is read:
                its cost to the sandbox is known.
        """
        said, setting = "", self.setting
        if spent.computed > self.seconds:
            said = f"it used more than {self.seconds:g} s of processor time"
        elif silent and spent.waited > self.seconds:
            said = f"it waited for more than {self.seconds:g} s without computing"
        elif silent and spent.passed > self.wall:
            said, setting = f"it was not finished after {self.wall:g} s", self.wall_setting
        if said and self.out_of_time:
            said = "the time limit for the whole submission ran out"
        return (said, setting) if said else None

    def share(self, spent: Spent) -> float:
        """Return how many of its seconds are used up."""
        return max(spent.computed, spent.waited, spent.passed * self.seconds / self.wall)


class Stopwatch:
    """Counts what a sandbox spends, by looking a few times a second while waiting for it. A call that takes
    milliseconds costs no look: the last request counts from the first look after it.

    Args:
        look: reads what the sandbox's processes have computed; returns None if that cannot be read.
        every: seconds between two looks.
    """

    def __init__(self, look: Callable[[], Reading | None], every: float) -> None:
        self._look = look
        self._every = every
        self._computed = 0.0
        self._waited = 0.0
        self._passed = 0.0
        self._seen = 0.0  # how much had passed at the last look
        self._begun: Spent | None = None
        self._next = time.monotonic() + every
        self.doing: Doing | None = None
        reading = look()
        self._before = 0.0 if reading is None else reading.computed  # at the grader's wish: the sandbox was opened

    @property
    def total(self) -> Spent:
        """Return the time spent since the sandbox was opened."""
        return Spent(self._computed, self._waited, self._passed)

    @property
    def lap(self) -> Spent:
        """Return the time spent since the last request."""
        return Spent() if self._begun is None else self.total - self._begun

    @property
    def rest(self) -> float:
        """Return the seconds until the next look."""
        return max(self._next - time.monotonic(), 0.0)

    def begin(self) -> None:
        """Start counting, because the sandbox gets a request."""
        self._begun = None

    @contextmanager
    def awaiting(self) -> Iterator[None]:
        """Count the duration of the block as waiting for the sandbox."""
        begin = time.monotonic()
        try:
            yield
        finally:
            self._passed += time.monotonic() - begin

    def look(self, is_silent: Callable[[], bool]) -> bool:
        """Look at what the sandbox is doing; return whether it is silent, which is asked afterwards.

        A sandbox that is asleep and silent has been waiting since the last look, minus what it computed. If this
        process itself was late to look, it assumes nothing about the time before.
        """
        before = self._computed
        self.refresh()
        silent = is_silent()
        if self._begun is not None and silent and self.doing is Doing.WAITS:
            seconds = min(self._passed - self._seen, 2 * self._every)
            self._waited += max(seconds - (self._computed - before), 0.0)
        if self._begun is None:
            self._begun = self.total
        self._seen = self._passed
        self._next = time.monotonic() + self._every
        return silent

    def refresh(self) -> None:
        """Update the processor time."""
        reading = self._look()
        if reading is None:
            self.doing = None
            return
        self.doing = reading.doing
        self._computed = max(self._computed, reading.computed - self._before)  # a child's need not come to its parent
