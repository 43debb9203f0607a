"""Keeps a sandbox's clocks: what it has spent, and when that is enough.

Three things are kept apart, so that a verdict is about the answer and not about the machine: what a sandbox has
computed, how long it has waited by its own doing (asleep, for a lock), and how long it was awaited. Whatever the third
has beyond the other two is time in which the sandbox could not compute: the machine was busy.
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
    """Seconds of a sandbox, from some moment on.

    Attributes:
        computed: processor time, threads and processes summed.
        waited: in which it did not compute, and nothing kept it from computing.
        passed: by the wall clock, while it was awaited.
    """

    computed: float = 0.0
    waited: float = 0.0
    passed: float = 0.0

    def __sub__(self, other: Spent) -> Spent:
        return Spent(self.computed - other.computed, self.waited - other.waited, self.passed - other.passed)

    @property
    def starved(self) -> bool:
        """Whether the sandbox was kept from computing for most of the time."""
        return 2 * (self.computed + self.waited) < self.passed


@dataclass(frozen=True)
class Clock:
    """When to give up waiting.

    Attributes:
        seconds: how long a sandbox may compute; and how long it may wait, without computing.
        wall: how long it is awaited at most, however busy the machine is.
        setting: the limit that gives the seconds.
        wall_setting: the limit that the wall-clock time follows from.
        out_of_time: whether it ends the whole submission.
    """

    seconds: float
    wall: float
    setting: str = ""
    wall_setting: str = ""
    out_of_time: bool = False

    @classmethod
    def of(cls, limits: Limits, setting: str) -> Clock:
        """The clock of one of the limits."""
        seconds = getattr(limits, setting)
        wall = limits.wall(seconds)
        wall_setting = "wall_seconds" if wall == limits.wall_seconds else "wall_factor"
        return cls(seconds, wall, setting, wall_setting, setting == "submission_seconds")

    def with_left(self, seconds: float) -> Clock:
        """The same, with this many of its seconds left, and the time on the wall in proportion."""
        return replace(self, seconds=seconds, wall=self.wall * seconds / self.seconds)

    def exceeded(self, spent: Spent, silent: bool) -> tuple[str, str] | None:
        """What was exceeded, in words, and the limit that this is; None where nothing was.

        Args:
            spent: since the clock was started.
            silent: whether the sandbox says nothing at this moment. An answer that is there is taken, however late it
                is read: what it has cost the sandbox is known.
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
        """How many of its seconds are used up."""
        return max(spent.computed, spent.waited, spent.passed * self.seconds / self.wall)


class Stopwatch:
    """Counts what a sandbox spends. It looks a few times a second, as long as the sandbox is awaited, so that nothing
    is measured of a call that takes milliseconds: the last request counts from the first look after it.

    Args:
        look: reads what the sandbox's processes have computed; None where that cannot be read.
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
        """Since the sandbox was opened."""
        return Spent(self._computed, self._waited, self._passed)

    @property
    def lap(self) -> Spent:
        """Since the sandbox last got a request."""
        return Spent() if self._begun is None else self.total - self._begun

    @property
    def rest(self) -> float:
        """Seconds until the next look."""
        return max(self._next - time.monotonic(), 0.0)

    def begin(self) -> None:
        """Begin to count: the sandbox gets a request."""
        self._begun = None

    @contextmanager
    def awaiting(self) -> Iterator[None]:
        """The sandbox is awaited while this lasts."""
        begin = time.monotonic()
        try:
            yield
        finally:
            self._passed += time.monotonic() - begin

    def look(self, is_silent: Callable[[], bool]) -> bool:
        """See what the sandbox does; whether it is silent, asked after that.

        A sandbox that was seen asleep, and had said nothing yet, has waited since the last look, less what it
        computed. If this process itself came late to look, it knows nothing of the time before.
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
        """Take note of what was computed until now."""
        reading = self._look()
        if reading is None:
            self.doing = None
            return
        self.doing = reading.doing
        self._computed = max(self._computed, reading.computed - self._before)  # a child's need not come to its parent
